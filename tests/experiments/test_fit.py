import json

import numpy as np
import pytest

from earnshaw.descent import Outcome
from earnshaw.descent.newton.dense import NewtonEnd
from earnshaw.errors import InputError
from earnshaw.experiments import fit as fitting
from earnshaw.experiments.fit import Begin, FitPlan, check_folder, fit, name_end
from earnshaw.landscapes.logistic_data import draw
from earnshaw.landscapes.rows import Rows
from earnshaw.landscapes.streamed import StreamedRisk
from earnshaw.problems.logistic import Labels, Logistic, gaussian_weights
from earnshaw.proof import Verdict, check
from earnshaw.symmetry.assignment import aligned_error


def drawn(labels=Labels.REGRESSION, n=4000, K=2, d=5):
    problem = Logistic(gaussian_weights(K, d, seed=0), n, labels, seed=1)
    return problem, draw(problem)


@pytest.mark.parametrize("begin", [Begin.TENSOR, pytest.param(Begin.RANDOM, marks=pytest.mark.slow)])
def test_a_network_is_recovered_from_exact_labels(begin, tmp_path):
    problem, rows = drawn()
    heard = []
    found = fit(rows, FitPlan(neurons=2, begin=begin, starts=3), lambda share, what: heard.append(share))
    assert aligned_error(found.weights, problem.weights) < 1e-9
    assert found.outcome is Outcome.GLOBAL
    assert found.isolated
    assert heard == sorted(heard)
    assert heard[-1] == 1
    assert found.curve.value[0] > 1e-5
    assert found.curve.value[-1] < 1e-20
    assert found.proof.verdict is Verdict.PROVED_CONVEX
    assert check(found.proof).verified
    assert found.claim.curvature_ge <= found.spectrum[0]
    assert len(found.ends) == (1 if begin is Begin.TENSOR else 3)
    found.save(tmp_path)
    assert np.array_equal(np.load(tmp_path / "weights.npy"), found.weights)
    record = json.loads((tmp_path / "fit.json").read_text())
    assert record["isolated"]
    assert record["hessian_min"] == found.spectrum[0]
    assert sorted(np.load(tmp_path / "curve.npz")) == ["gradient_norm", "step", "value"]


@pytest.mark.slow
def test_more_rows_than_memory_allows_are_finished_by_streaming(monkeypatch):
    _, rows = drawn(Labels.CLASSIFICATION, 12_000)
    whole = fit(rows, FitPlan(neurons=2, prove=False))
    monkeypatch.setattr(fitting, "MEMORY_ROWS", 4000)
    parts = fit(rows, FitPlan(neurons=2, prove=False))
    assert whole.outcome is parts.outcome is Outcome.CONVERGED
    assert aligned_error(whole.weights, parts.weights) < 1e-8
    assert parts.gradient_norm < 1e-12
    assert parts.proof is None
    assert np.linalg.norm(StreamedRisk(rows, 2).gradient(parts.weights)) < 1e-12


@pytest.mark.slow
def test_data_without_a_minimum_in_reach_are_called_so():
    x = np.random.default_rng(0).normal(size=(60, 3))
    y = (x[:, 0] > 0).astype(float)  # the best weights are infinite
    found = fit(Rows(x, y), FitPlan(neurons=1, begin=Begin.RANDOM, starts=2))
    assert not found.isolated or np.linalg.norm(found.weights) > 20


def test_settings_and_folders_are_checked(tmp_path):
    _, rows = drawn(n=50)
    with pytest.raises(InputError, match="as many neurons"):
        fit(rows, FitPlan(neurons=9))
    with pytest.raises(InputError, match="at least 1"):
        FitPlan(neurons=2, starts=0, begin=Begin.RANDOM)
    with pytest.raises(InputError, match="from 0"):
        FitPlan(neurons=2, seed=-1)
    with pytest.raises(InputError, match="positive"):
        fit(rows, FitPlan(neurons=2, step=0.0))
    with pytest.raises(InputError, match="times one over the largest curvature"):
        fit(rows, FitPlan(neurons=2, step=1e9))
    check_folder(tmp_path / "new")
    (tmp_path / "note.txt").write_text("mine")
    with pytest.raises(InputError, match="no earlier fit"):
        check_folder(tmp_path)
    with pytest.raises(InputError, match="is a file"):
        check_folder(tmp_path / "note.txt")


@pytest.mark.parametrize(
    ("smallest", "outcome"), [(1e-3, Outcome.CONVERGED), (-1e-3, Outcome.SADDLE), (1e-20, Outcome.UNDECIDED)]
)
def test_an_end_is_named_by_its_curvature(smallest, outcome):
    end = NewtonEnd(np.zeros((1, 2)), 0.1, 0.0, np.array([smallest, 1.0]), (), ())
    assert name_end(end) is outcome
