"""Sweeps of the convolutional network: the numbers asked for, and folders that resume to the same bytes."""

import json
import math

import numpy as np
import pytest

from earnshaw.descent import GradientDescent, Outcome
from earnshaw.errors import InputError
from earnshaw.experiments import Interrupted, Plan, Runs, best_of_four, run_plan, sweep
from earnshaw.landscapes.convnet import ConvNetLandscape
from earnshaw.numerics import two_proportions
from earnshaw.papers.convnet import REFERENCE, random_instances
from earnshaw.problems import ConvNet, RandomConvNets
from earnshaw.starts import FourSigns, SphereAndBall
from earnshaw.store import read_npz, read_sealed

TWENTY = RandomConvNets(filter_size=20, patches=25, ratio=0.5)


def plan(**changes):
    return Plan.of(TWENTY, **{"runs": 300, "batch": 32} | changes)


def share(runs):
    return len(runs.spurious) / len(runs)


@pytest.fixture(scope="module")
def runs():
    return sweep(TWENTY, runs=300, seed=0)


@pytest.mark.slow
def test_all_runs_are_decided_and_lifted_back(runs):
    assert len(runs) == 300
    assert set(runs.outcomes) == {"GLOBAL", "SPURIOUS"}
    assert 0.35 < share(runs) < 0.6
    bad = runs.outcome == Outcome.SPURIOUS.code
    filters, outputs = runs.extra["filters"], runs.extra["outputs"]
    energy = ConvNetLandscape(filters, outputs, np.ones_like(outputs))  # the full problem
    assert np.abs(energy.gradient(runs.weights)).max() < 1e-14
    assert np.allclose(energy.value(runs.weights), runs.value, atol=1e-15)
    assert (
        np.abs(np.asarray(energy.product(runs.weights))[bad] - np.asarray(energy.product(runs.weights))[bad][0]).max()
        < 1e-13
    )
    assert np.array_equal(np.asarray(energy.product(runs.last_weights)) < 0, bad)
    assert np.all(np.asarray(energy.value(runs.last_weights)) < np.asarray(energy.barrier))
    one = ConvNet(filters[0], outputs[0])
    assert one.ratio == pytest.approx(0.5, rel=1e-13)


@pytest.mark.slow
def test_a_run_depends_on_its_lane_alone(runs):
    some = sweep(TWENTY, runs=40, seed=0)
    for name in ("outcome", "steps", "extra_filters", "extra_outputs"):
        assert np.array_equal(some.arrays()[name], runs.arrays()[name][:40]), name
    assert np.abs(some.last_weights - runs.last_weights[:40]).max() < 1e-12
    assert not np.array_equal(sweep(TWENTY, runs=40, seed=1).outcome, some.outcome)


@pytest.mark.slow
def test_the_full_run_ends_like_the_reduced_one(runs):
    """Plain gradient descent in all 45 coordinates, from the same starts, for 2000 steps."""
    import jax

    filters, outputs = runs.extra["filters"][:60], runs.extra["outputs"][:60]
    starts = SphereAndBall().draw(TWENTY, 0, np.arange(60))
    energy = ConvNetLandscape(filters, outputs, np.ones_like(outputs))
    end = jax.jit(lambda x: jax.lax.fori_loop(0, 2000, lambda _, y: y - 0.1 * energy.gradient(y), x))(starts)
    assert np.array_equal(np.asarray(energy.value(end)) > 1e-6, runs.outcome[:60] == Outcome.SPURIOUS.code)


@pytest.mark.slow
@pytest.mark.parametrize("ratio", REFERENCE)
def test_the_share_of_spurious_runs(ratio):
    runs = sweep(RandomConvNets(filter_size=20, patches=25, ratio=ratio), runs=2000, seed=1)
    assert sum(runs.outcomes.get(name, 0) for name in ("GLOBAL", "SPURIOUS")) == 2000
    expected = REFERENCE[ratio]
    assert abs(two_proportions(share(runs), 2000, expected, 2000)) <= 4
    if expected:
        assert abs(share(runs) - expected) <= 4 * math.sqrt(expected * (1 - expected) / 2000)
    else:
        assert share(runs) == 0


@pytest.mark.slow
def test_the_best_of_four_signs_is_global_for_2000_random_instances():
    problems = random_instances(2000, seed=0)
    sizes = {(problem.filter_size, problem.patches) for problem in problems}
    assert len(sizes) > 500
    assert np.all(best_of_four(problems) == Outcome.GLOBAL.code)


@pytest.mark.slow
def test_four_signs_keep_the_best(runs):
    four = sweep(TWENTY, runs=300, seed=0, start=FourSigns())
    assert four == sweep(TWENTY, runs=300, seed=0, start="four-signs", workers=1)
    assert four.outcomes == {"GLOBAL": 300}
    first = runs.outcome == Outcome.GLOBAL.code
    assert np.all(four.extra["signs"][first] == 0)
    assert np.all(four.extra["signs"][~first] > 0)
    assert np.all(four.steps > runs.steps)


CONTRACT = {
    "p", "k", "ratio", "runs", "seed", "outcomes", "spurious_percent", "spurious_interval", "mean_objective",
    "mean_min_eigenvalue", "families", "steps", "seconds", "compile_seconds", "objective", "optimizer", "undecided",
}  # fmt: skip


@pytest.mark.slow
def test_a_folder_resumes_to_the_same_bytes(tmp_path, monkeypatch):
    (whole,) = run_plan(plan(), tmp_path / "whole")
    line = whole.to_json()
    assert set(line) >= CONTRACT
    assert (line["p"], line["k"], line["ratio"], line["runs"], line["seed"]) == (20, 25, 0.5, 300, 0)
    assert (line["objective"], line["optimizer"]) == ("random-convnet/relu", "gd:0.1")
    assert json.loads(json.dumps(line, allow_nan=False)) == line
    assert line["families"][0]["objective"] == pytest.approx(0.13664243308739, rel=1e-12)
    assert line["spurious_interval"][0] < line["spurious_percent"] < line["spurious_interval"][1]

    calls, compute = [], Plan.compute

    def dies(work, piece, context):
        if calls:
            raise KeyboardInterrupt
        calls.append(piece.low)
        return compute(work, piece, context)

    monkeypatch.setattr(Plan, "compute", dies)
    with pytest.raises(Interrupted):
        run_plan(plan(), tmp_path / "killed", workers=1)
    assert not (tmp_path / "killed" / "p20-k25-ratio0.5.json").exists()
    monkeypatch.setattr(Plan, "compute", compute)
    seen = []
    (again,) = run_plan(plan(), tmp_path / "killed", progress=lambda share, what: seen.append(share))
    assert calls == [0]
    assert seen[0] > 0.8, "the first piece is there"
    assert seen[-1] == 1
    assert again.summary.to_json() == whole.summary.to_json()
    for name in ("p20-k25-ratio0.5.json", "p20-k25-ratio0.5.npz", "manifest.json"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert run_plan(plan(), tmp_path / "whole") == [whole]  # finished: nothing is computed again
    arrays, header = read_sealed(tmp_path / "whole" / "p20-k25-ratio0.5.npz")
    assert set(arrays) >= {*Runs.names(), "problem", "family", "family_weights", "extra_filters", "extra_outputs"}
    assert (header["setting"], header["low"], header["high"]) == ("p20-k25-ratio0.5", 0, 300)
    assert Runs.load(tmp_path / "whole" / "p20-k25-ratio0.5.npz") == whole.runs == sweep(TWENTY, runs=300, batch=32)
    assert read_npz(tmp_path / "whole" / "p20-k25-ratio0.5.npz")["weights"].shape == (300, 45)
    with pytest.raises(InputError, match="another computation: seed is 0 there, and 1 was asked for"):
        run_plan(plan(seed=1), tmp_path / "whole")


@pytest.mark.parametrize(
    ("changes", "says"),
    [({"runs": 0}, "0 runs"), ({"seed": -1}, "seed"), ({"descent": GradientDescent(step=0.3)}, "proved for steps up to 0.2")],
)  # fmt: skip
def test_impossible_plans_are_refused(changes, says):
    with pytest.raises(InputError, match=says):
        plan(**changes)
    with pytest.raises(InputError, match="proved for steps"):
        best_of_four([ConvNet([1.0, 0.0], np.full(200, 0.1))])
