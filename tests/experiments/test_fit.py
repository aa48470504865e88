import sys

import numpy as np
import pytest

from earnshaw.descent import Outcome
from earnshaw.descent.judges.base import name_end
from earnshaw.descent.newton.dense import NewtonEnd
from earnshaw.errors import InputError
from earnshaw.experiments import fit, load
from earnshaw.landscapes.empirical import StreamedRisk
from earnshaw.landscapes.logistic_data import draw
from earnshaw.landscapes.rows import Rows
from earnshaw.problems.logistic import Labels, Logistic, gaussian_weights
from earnshaw.proof import check
from earnshaw.records import encode
from earnshaw.store import read_json
from earnshaw.symmetry.assignment import aligned_error


def drawn(labels=Labels.REGRESSION, n=4000, K=2, d=5):
    problem = Logistic(gaussian_weights(K, d, seed=0), n, labels, seed=1)
    return problem, draw(problem)


def same(first, second):
    """Assert that two fits are equal, arrays included."""
    assert encode(first) == encode(second)


@pytest.mark.parametrize("begin", ["tensor", pytest.param("random", marks=pytest.mark.slow)])
def test_a_network_is_recovered_from_exact_labels(begin, tmp_path):
    problem, rows = drawn()
    heard = []
    found = fit(
        rows, neurons=2, start=begin, starts=3, out=tmp_path / "out", progress=lambda share, what: heard.append(share)
    )
    assert aligned_error(found.weights, problem.weights) < 1e-9
    assert found.outcome is Outcome.GLOBAL
    assert found.isolated
    assert heard == sorted(heard)
    assert heard[-1] == 1
    assert found.curve.value[0] > 1e-5
    assert found.curve.value[-1] < 1e-20
    assert found.proved is not None
    assert found.proved.curvature_ge <= found.spectrum[0]
    assert len(found.ends) == (1 if begin == "tensor" else 3)
    folder = tmp_path / "out"
    assert np.array_equal(np.load(folder / "weights.npy"), found.weights)
    record = read_json(folder / "fit.json")
    assert record["isolated"]
    assert record["hessian_min"] == found.spectrum[0]
    assert sorted(np.load(folder / "curve.npz")) == ["gradient_norm", "step", "value"]
    checked = check(folder / "certificates" / "fit-convexity.json")
    assert checked.verified
    assert checked.kind == "convexity"
    assert (folder / "certificates" / "fit-convexity.json").read_text() == found.certificate
    same(load(folder), found)
    same(fit(rows.x, rows.y, neurons=2, start=begin, starts=3), found)


@pytest.mark.slow
def test_more_rows_than_memory_allows_are_finished_by_streaming(monkeypatch):
    _, rows = drawn(Labels.CLASSIFICATION, 12_000)
    whole = fit(rows, neurons=2, prove=False)
    monkeypatch.setattr(sys.modules[fit.__module__], "MEMORY_ROWS", 4000)
    parts = fit(rows, neurons=2, prove=False)
    assert whole.outcome is parts.outcome is Outcome.CONVERGED
    assert aligned_error(whole.weights, parts.weights) < 1e-8
    assert parts.gradient_norm < 1e-12
    assert parts.proved is parts.certificate is None
    assert parts.reason == "no proof was asked for"
    assert np.linalg.norm(StreamedRisk(rows, 2).gradient(parts.weights)) < 1e-12


@pytest.mark.slow
def test_data_without_a_minimum_in_reach_are_called_so():
    x = np.random.default_rng(0).normal(size=(60, 3))
    y = (x[:, 0] > 0).astype(float)  # the best weights are infinite
    found = fit(Rows(x, y), neurons=1, start="random", starts=2)
    assert not found.isolated or np.linalg.norm(found.weights) > 20


def test_settings_and_folders_are_checked(tmp_path):
    _, rows = drawn(n=50)
    with pytest.raises(InputError, match="as many neurons"):
        fit(rows, neurons=9)
    for given, said in (
        ({"starts": 0, "start": "random"}, "0 starts were asked for"),
        ({"starts": 1.5, "start": "random"}, "1.5 starts were asked for"),
        ({"max_steps": 0}, "0 steps were asked for"),
        ({"seed": -1}, "the seed is -1"),
        ({"seed": 1.5}, "the seed is 1.5"),
        ({"seed": 2**70}, "the seed is 1180591620717411303424"),
        ({"step": 0.0}, "the step is 0.0; give a positive number"),
        ({"step": float("nan")}, "the step is nan"),
    ):
        with pytest.raises(InputError, match=said):
            fit(rows, neurons=2, out=tmp_path / "refused", **given)
    assert not (tmp_path / "refused").exists()
    with pytest.raises(InputError, match="times one over the largest curvature"):
        fit(rows, neurons=2, step=1e9)
    with pytest.raises(InputError, match="choose tensor or random"):
        fit(rows, neurons=2, start="somewhere")
    (tmp_path / "note.txt").write_text("mine")
    for place in (tmp_path, tmp_path / "note.txt"):
        with pytest.raises(InputError, match="exists and is not a run folder"):
            fit(rows, neurons=2, out=place)
    assert [path.name for path in tmp_path.iterdir()] == ["note.txt"]
    assert (tmp_path / "note.txt").read_text() == "mine"


def test_a_fit_that_is_refused_on_the_way_leaves_its_folder_to_the_next(tmp_path):
    """Whether a step is too long shows only when the start is known: the folder is there by then."""
    _, rows = drawn(n=300, K=1, d=3)
    with pytest.raises(InputError, match="times one over the largest curvature"):
        fit(rows, neurons=1, step=1e9, out=tmp_path / "run")
    fit(rows, neurons=1, out=tmp_path / "run")
    with pytest.raises(InputError, match=r"plan\.step is nothing there"):
        fit(rows, neurons=1, step=1e9, out=tmp_path / "run")
    assert fit(rows, neurons=1, out=tmp_path / "run").isolated, "what is there stays"


def test_a_folder_of_another_fit_is_refused_by_what_differs(tmp_path):
    _, rows = drawn(n=300, K=1, d=3)
    found = fit(rows, neurons=1, out=tmp_path / "run")
    before = {path: path.read_bytes() for path in (tmp_path / "run").iterdir() if path.is_file()}
    with pytest.raises(InputError, match=r"another computation: plan\.seed is 0 there, and 1 was asked for"):
        fit(rows, neurons=1, seed=1, out=tmp_path / "run")
    with pytest.raises(InputError, match="another computation: rows"):
        fit(rows.part(0, 299), neurons=1, out=tmp_path / "run")
    assert {path: path.read_bytes() for path in before} == before
    same(fit(rows, neurons=1, out=tmp_path / "run"), found)


@pytest.mark.parametrize(
    ("smallest", "outcome"), [(1e-3, Outcome.CONVERGED), (-1e-3, Outcome.SADDLE), (1e-20, Outcome.UNDECIDED)]
)
def test_an_end_is_named_by_its_curvature(smallest, outcome):
    end = NewtonEnd(np.zeros((1, 2)), 0.1, 0.0, np.array([smallest, 1.0]), (), ())
    assert name_end(end) is outcome
