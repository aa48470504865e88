"""Sweeps of the convolutional network: the numbers asked for, and folders that resume to the same bytes."""

import json
import math

import numpy as np
import pytest

import earnshaw.experiments.convnet as module
from earnshaw.descent import GradientDescent, Outcome
from earnshaw.errors import InputError
from earnshaw.experiments.convnet import ConvPlan, ConvRuns, Tries, best_of_four, conv_sweep, run_conv_plan
from earnshaw.landscapes.convnet import ConvNetLandscape
from earnshaw.numerics import two_proportions
from earnshaw.papers.convnet import REFERENCE, random_instances
from earnshaw.problems.convnet import ConvNet
from earnshaw.starts.signs import RandomTeachers
from earnshaw.store import read_npz


def plan(**changes):
    return ConvPlan(**{"teachers": RandomTeachers(filter_size=20, patches=25, ratio=0.5), "runs": 300} | changes)


@pytest.fixture(scope="module")
def runs():
    return conv_sweep(20, 25, 0.5, runs=300, seed=0)


@pytest.mark.slow
def test_all_runs_are_decided_and_lifted_back(runs):
    assert len(runs) == 300
    assert set(runs.outcomes) == {"GLOBAL", "SPURIOUS"}
    assert 0.35 < runs.spurious_share < 0.6
    bad = runs.outcome == Outcome.SPURIOUS.code
    energy = ConvNetLandscape(runs.filters, runs.outputs, np.ones_like(runs.outputs))  # the full problem
    assert np.abs(energy.gradient(runs.points)).max() < 1e-14
    assert np.allclose(energy.value(runs.points), runs.value, atol=1e-15)
    assert (
        np.abs(np.asarray(energy.product(runs.points))[bad] - np.asarray(energy.product(runs.points))[bad][0]).max()
        < 1e-13
    )
    assert np.array_equal(np.asarray(energy.product(runs.last_points)) < 0, bad)
    assert np.all(np.asarray(energy.value(runs.last_points)) < np.asarray(energy.barrier))
    one = ConvNet(runs.filters[0], runs.outputs[0])
    assert one.ratio == pytest.approx(0.5, rel=1e-13)


@pytest.mark.slow
def test_a_run_depends_on_its_lane_alone(runs):
    some = conv_sweep(20, 25, 0.5, runs=40, seed=0)
    for name in ("outcome", "steps", "filters", "outputs"):
        assert np.array_equal(getattr(some, name), getattr(runs, name)[:40]), name
    assert np.abs(some.last_points - runs.last_points[:40]).max() < 1e-12
    assert not np.array_equal(conv_sweep(20, 25, 0.5, runs=40, seed=1).outcome, some.outcome)


@pytest.mark.slow
def test_the_full_run_ends_like_the_reduced_one(runs):
    """Plain gradient descent in all 45 coordinates, from the same starts, for 2000 steps."""
    import jax

    from earnshaw.starts.signs import SphereAndBall

    filters, outputs = runs.filters[:60], runs.outputs[:60]
    starts = SphereAndBall().draw_each(filters, outputs, 0, np.arange(60))
    energy = ConvNetLandscape(filters, outputs, np.ones_like(outputs))
    end = jax.jit(lambda x: jax.lax.fori_loop(0, 2000, lambda _, y: y - 0.1 * energy.gradient(y), x))(starts)
    assert np.array_equal(np.asarray(energy.value(end)) > 1e-6, runs.outcome[:60] == Outcome.SPURIOUS.code)


@pytest.mark.slow
@pytest.mark.parametrize("ratio", REFERENCE)
def test_the_share_of_spurious_runs(ratio):
    runs = conv_sweep(20, 25, ratio, runs=2000, seed=1)
    assert sum(runs.outcomes.get(name, 0) for name in ("GLOBAL", "SPURIOUS")) == 2000
    expected = REFERENCE[ratio]
    assert abs(two_proportions(runs.spurious_share, 2000, expected, 2000)) <= 4
    if expected:
        assert abs(runs.spurious_share - expected) <= 4 * math.sqrt(expected * (1 - expected) / 2000)
    else:
        assert runs.spurious_share == 0


@pytest.mark.slow
def test_the_best_of_four_signs_is_global_for_2000_random_instances():
    problems = random_instances(2000, seed=0)
    sizes = {(problem.filter_size, problem.patches) for problem in problems}
    assert len(sizes) > 500
    assert np.all(best_of_four(problems) == Outcome.GLOBAL.code)


@pytest.mark.slow
def test_four_signs_keep_the_best(runs):
    four = conv_sweep(20, 25, 0.5, runs=300, seed=0, tries=Tries.FOUR)
    assert four.outcomes == {"GLOBAL": 300}
    first = runs.outcome == Outcome.GLOBAL.code
    assert np.all(four.signs[first] == 0)
    assert np.all(four.signs[~first] > 0)
    assert np.all(four.steps > runs.steps)


CONTRACT = {
    "k", "n", "d", "runs", "seed", "outcomes", "spurious_percent", "spurious_interval", "mean_objective",
    "mean_min_eigenvalue", "families", "steps", "seconds", "compile_seconds", "p", "ratio", "starts",
}  # fmt: skip


@pytest.mark.slow
def test_a_folder_resumes_to_the_same_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PIECE", 128)
    whole = run_conv_plan(plan(), tmp_path / "whole")
    line = whole.timed()
    assert set(line) >= CONTRACT
    assert (line["k"], line["n"], line["d"], line["p"], line["starts"]) == (25, 25, 20, 20, "one")
    assert json.loads(json.dumps(line, allow_nan=False)) == line
    assert line["families"][0]["objective"] == pytest.approx(0.13664243308739, rel=1e-12)
    assert line["spurious_interval"][0] < line["spurious_percent"] < line["spurious_interval"][1]

    calls = []
    compute = module._compute

    def dies(work, lanes):
        if len(calls) == 2:
            raise KeyboardInterrupt
        calls.append(lanes[0])
        return compute(work, lanes)

    monkeypatch.setattr(module, "_compute", dies)
    with pytest.raises(KeyboardInterrupt):
        run_conv_plan(plan(), tmp_path / "killed")
    assert not (tmp_path / "killed" / "p20-k25-ratio0.5.json").exists()
    monkeypatch.setattr(module, "_compute", compute)
    seen = []
    again = run_conv_plan(plan(), tmp_path / "killed", lambda share, what: seen.append(share))
    assert calls == [0, 128]
    assert seen[-1] == 1
    assert again.to_json() == whole.to_json()
    for name in ("p20-k25-ratio0.5.json", "p20-k25-ratio0.5.npz", "manifest.json"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert run_conv_plan(plan(), tmp_path / "whole").timed() == whole.timed()  # finished: nothing is computed again
    arrays = read_npz(tmp_path / "whole" / "p20-k25-ratio0.5.npz")
    assert set(arrays) == set(ConvRuns.names())
    with pytest.raises(InputError, match="another computation"):
        run_conv_plan(plan(seed=1), tmp_path / "whole")


@pytest.mark.parametrize(
    ("changes", "says"),
    [({"runs": 0}, "0 runs"), ({"seed": -1}, "seed"), ({"descent": GradientDescent(step=0.3)}, "proved for steps up to 0.2")],
)  # fmt: skip
def test_impossible_plans_are_refused(changes, says):
    with pytest.raises(InputError, match=says):
        plan(**changes)
    with pytest.raises(InputError, match="proved for steps"):
        best_of_four([ConvNet([1.0, 0.0], np.full(200, 0.1))])
