"""Runs: one class for every network, that can be saved, loaded, compared, cut and shown as a table."""

import dataclasses

import numpy as np
import pytest

from earnshaw.descent import Outcome
from earnshaw.errors import InputError
from earnshaw.experiments import DeepTraining, Runs, Sweep, dynamics, families, fit, load, sweep, train_grid
from earnshaw.experiments.dynamics import Integration, Trajectory
from earnshaw.experiments.fit import Fit
from earnshaw.problems import ChargeLaw, Charges, RandomConvNets, TwoLayer
from earnshaw.records import encode
from earnshaw.store import read_npz, write_npz

SIX = TwoLayer(np.eye(6))
CONV = RandomConvNets(filter_size=2, patches=3, ratio=0.5)


def starts():
    """One point near the published minimum of six neurons, moved about by its symmetries, and points near the teacher."""
    weights = np.full((6, 6), -0.0504)
    np.fill_diagonal(weights, 0.9867)
    weights[0, 1:], weights[1:, 0], weights[0, 0] = 0.2245, 0.3080, -0.6015
    order = np.array([3, 1, 0, 2, 5, 4])
    near = np.eye(6) + 0.05 * np.random.default_rng(0).normal(size=(2, 6, 6))
    return np.stack([near[0], weights, near[1], weights[order], weights[:, order]])


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def six(place):
    return sweep(SIX, runs=5, start=starts(), batch=8, workers=1, out=place / "six")


@pytest.fixture(scope="module")
def conv(place):
    return sweep(CONV, runs=40, workers=1, out=place / "conv")


def test_what_was_found_is_what_was_expected(six):
    assert six.outcomes == {"GLOBAL": 2, "SPURIOUS": 3}
    assert six.spurious.run.tolist() == [1, 3, 4]
    assert six.weights.shape == (5, 6, 6)


@pytest.mark.parametrize("which", ["six", "conv"])
def test_runs_are_saved_and_loaded_without_a_loss(request, tmp_path, which):
    runs = request.getfixturevalue(which)
    runs.save(tmp_path / "deep" / "runs.npz")
    again = Runs.load(tmp_path / "deep" / "runs.npz")
    assert again == runs
    assert hash(again) == hash(runs)
    assert again.problem == runs.problem
    for name, array in runs.arrays().items():
        other = again.arrays()[name]
        assert (other.dtype, other.tobytes()) == (array.dtype, array.tobytes()), name
    assert set(again.extra) == (set() if which == "six" else {"filters", "outputs"})
    again.save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "deep" / "runs.npz").read_bytes()


def test_equality_is_about_every_number(six, conv):
    assert six == six[:]
    assert six != conv
    assert six != "runs"
    assert six != six[:4]
    for name in Runs.names():
        array = getattr(six, name).copy()
        array.flat[-1] = (
            ~array.flat[-1] if array.dtype == bool else array.flat[-1] + 1 if np.isfinite(array.flat[-1]) else 0
        )
        assert six != dataclasses.replace(six, **{name: array}), name
    filters = conv.extra["filters"].copy()
    filters[0, 0] = np.nextafter(filters[0, 0], 2)
    assert conv != dataclasses.replace(conv, extra={**conv.extra, "filters": filters})
    assert len({six, six[:], conv}) == 2


def test_the_words_for_runs_are_short(six, conv):
    assert repr(six) == "Runs(k6-n6: 5 runs, 2 GLOBAL, 3 SPURIOUS)"
    assert repr(conv).startswith("Runs(p2-k3-ratio0.5: 40 runs, ")
    assert len(repr(conv)) < 100


def test_members_of_a_family_are_runs(six):
    (family,) = families(six.spurious)
    assert family.members.tolist() == [1, 3, 4]
    members = six.of(family.members)
    assert members == six.spurious
    assert np.ptp(members.value) < 1e-14
    for alignment, weights in zip(family.alignments, members.weights, strict=True):
        assert np.abs(alignment.move(weights) - family.weights).max() < 1e-10
    assert six.of([4, 0]).run.tolist() == [4, 0]
    assert six.spurious.of([3]).run.tolist() == [3], "indices are those of the runs, not places"
    assert len(six.of([])) == 0
    assert six[six.value > 0.01] == six.where(Outcome.SPURIOUS)


def test_a_frame_has_one_row_for_each_run(six, conv):
    pytest.importorskip("pandas")
    frame = six.to_frame()
    assert list(frame.columns[:5]) == ["k", "n", "d", "run", "outcome"]
    assert frame["outcome"].tolist() == ["GLOBAL", "SPURIOUS", "GLOBAL", "SPURIOUS", "SPURIOUS"]
    assert frame["value"].tolist() == six.value.tolist()
    assert frame.groupby("outcome")["run"].count().to_dict() == six.outcomes
    assert list(conv.to_frame().columns[:3]) == ["p", "k", "ratio"]
    assert len(conv.to_frame()) == 40
    assert not {"weights", "last_weights"} & set(frame.columns)


def test_without_pandas_a_frame_is_one_sentence(six, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match=r"earnshaw\[frame\]"):
        six.to_frame()


def test_files_that_hold_no_runs_are_refused(six, tmp_path):
    six.save(tmp_path / "runs.npz")
    arrays = read_npz(tmp_path / "runs.npz")
    write_npz(tmp_path / "a.npz", {"weights": np.eye(2)})
    write_npz(tmp_path / "b.npz", arrays | {"problem": np.array("{")})
    write_npz(tmp_path / "c.npz", {name: array for name, array in arrays.items() if name != "steps"})
    write_npz(tmp_path / "d.npz", arrays | {"problem": np.array('{"objective": "nothing/known"}')})
    for name, message in (
        ("a", "no array 'problem'"),
        ("b", "no readable problem"),
        ("c", "steps is missing"),
        ("d", "nothing"),
    ):
        with pytest.raises(InputError, match=message):
            Runs.load(tmp_path / f"{name}.npz")
    with pytest.raises(InputError, match="cannot read"):
        Runs.load(tmp_path / "absent.npz")


# ---- what a folder holds is what was returned ------------------------------------------------------------------------


@pytest.mark.parametrize(("which", "problem"), [("six", SIX), ("conv", CONV)])
def test_a_sweep_is_loaded_from_its_folder(request, place, which, problem):
    runs = request.getfixturevalue(which)
    found = load(place / which)
    assert isinstance(found, Sweep)
    assert len(found) == 1
    assert found.runs == found[0].runs == found[problem.name].runs == runs
    assert Runs.load(place / which / f"{problem.name}.npz") == runs
    assert found[0].summary.runs == len(runs)
    assert found[0].summary.outcomes == runs.outcomes
    assert sweep(problem, runs=len(runs), out=place / which, start=starts() if which == "six" else None) == runs
    assert [family.count for family in found[0].families] == [record.count for record in found[0].summary.families]


@pytest.mark.slow
def test_a_fit_is_loaded_from_its_folder(tmp_path):
    x = np.random.default_rng(0).normal(size=(300, 3))
    y = 1 / (1 + np.exp(-x @ [1.0, -0.5, 0.2]))
    found = fit(x, y, neurons=1, out=tmp_path / "fit")
    again = load(tmp_path / "fit")
    assert isinstance(again, Fit)
    assert encode(again) == encode(found)
    assert again.outcome is found.outcome
    assert again.curve.step.tolist() == found.curve.step.tolist()


@pytest.mark.slow
def test_a_motion_is_loaded_from_its_folder(tmp_path):
    one = Charges(np.zeros((1, 3)), electron_charges=[1.0], law=ChargeLaw("coulomb"))
    found = dynamics(one, np.array([[0.0, 0.0, 1.0]]), Integration(until=10.0, stored=5), tmp_path / "motion")
    again = load(tmp_path / "motion")
    assert isinstance(again, Trajectory)
    assert again.problem == one
    assert again.captures == found.captures
    assert np.array_equal(again.positions, found.positions)
    assert np.array_equal(again.energies, found.energies, equal_nan=True)


@pytest.mark.slow
def test_deep_students_are_loaded_from_their_folder(tmp_path):
    tiny = DeepTraining(teachers=2, steps=4, samples=4, records=2, dimension=3, tests=8)
    found = train_grid([(2, 2), (2, 3)], tiny, tmp_path / "deep")
    again = load(tmp_path / "deep")
    assert [(one.depth, one.width) for one in again] == [(2, 2), (2, 3)]
    for one, other in zip(found, again, strict=True):
        assert np.array_equal(one.errors, other.errors)
        assert np.array_equal(one.steps, other.steps)


def test_parts_are_joined_without_a_change(six):
    again = Runs.join([six[:1], six[1:]])
    assert again == six
    assert {name: array.dtype for name, array in again.arrays().items()} == {
        name: array.dtype for name, array in six.arrays().items()
    }
