"""The pool of lanes, on whatever device there is: every run must end as it does in a block of its own problem."""

import dataclasses

import jax
import numpy as np
import pytest

from earnshaw import TwoLayer, sweep
from earnshaw.descent import GradientDescent, Outcome, Stopping, optimizer, pool
from earnshaw.descent.judges import judge_for
from earnshaw.descent.judges.base import Look
from earnshaw.descent.judges.newton import Stationarity
from earnshaw.descent.lanes import Lanes, run_lanes
from earnshaw.descent.outcomes import Ledger
from earnshaw.errors import InputError
from earnshaw.experiments import Plan, run_plan
from earnshaw.landscapes import landscape
from earnshaw.starts import usual_start


def problem_of(k, n, runs):
    problem = TwoLayer(np.eye(k), students=n)
    return problem, usual_start(problem).draw(problem, 0, np.arange(runs))


def judged(problem, **limits):
    return judge_for(landscape(problem), problem, GradientDescent(), Stopping(**limits))


@pytest.mark.slow
def test_a_pool_decides_as_blocks_do(monkeypatch):
    """Several problems of one size, restarts, refills and shrinking included: outcomes and steps of every run."""
    monkeypatch.setattr(pool, "SLOTS", (8, 32))
    monkeypatch.setattr(pool, "NEWTON", 8)
    jobs, descent = [problem_of(6, 6, 30), problem_of(7, 8, 12), problem_of(8, 8, 40)], GradientDescent()
    assert {pool.pool_size(problem) for problem, _ in jobs} == {8}
    ended = dict(pool.Pool(jobs, descent, Stopping()).run(lambda: False))
    assert sorted(ended) == [0, 1, 2]
    for place, (problem, starts) in enumerate(jobs):
        how = {"landscape": landscape(problem), "descent": descent, "judge": judged(problem), "starts": starts}
        alone, _ = run_lanes(Lanes(**how, indices=np.arange(len(starts)), batch=32, padded=True))
        for name in ("outcome", "steps", "wasted", "halvings", "gradients", "hessians", "by_value"):
            assert getattr(ended[place], name).tolist() == getattr(alone, name).tolist(), name
        assert ended[place].points == pytest.approx(alone.points, abs=1e-9)
        assert ended[place].value == pytest.approx(alone.value, abs=1e-12)
    assert (ended[2].outcome == Outcome.SPURIOUS.code).any()


def test_what_needs_no_look_the_judge_would_leave():
    """For reports of every size the judge decides nothing, and asks Newton's method for nothing, unless a look is needed."""
    problem, starts = problem_of(6, 6, 1)
    judge, rng, asked = judged(problem, max_steps=100_000), np.random.default_rng(0), []
    wake = judge.wake()
    edges = {"value": [wake.low], "steepest": [wake.still, wake.slow, wake.steep], "shortest": [wake.dead]}

    class Deaf(type(judge)):
        def _newton_test(self, look):
            asked.extend(look.lanes)
            return np.zeros(len(look.lanes), dtype=bool)

        def _follow(self, ledger, lane, point):
            asked.append(lane)
            return False

    count = 400
    rows = {name: rng.choice(some, count) * 2.0 ** rng.choice([-1, 1], count) for name, some in edges.items()}
    report = Stationarity(gradient_norm=rows["steepest"], **rows)
    steps = rng.choice([50, 1000, 50_000, 100_000], count)
    for rule in ("early", "paper"):
        stopping = dataclasses.replace(judge.stopping, rule=rule)
        deaf = Deaf(**{**vars(judge), "stopping": stopping})
        ledger = Ledger(np.repeat(starts, count, axis=0))
        ledger.steps[:], ledger.next_test[:] = steps, rng.choice([0, 1000, 10**6], count)
        quiet = np.flatnonzero(~np.asarray(deaf.wake().needed(report, steps, ledger.next_test, 100_000)))
        assert 0 < quiet.size < count
        asked.clear()
        decided, restarted = deaf.decide(
            Look(ledger, quiet, ledger.starts[quiet], Stationarity(*(row[quiet] for row in report)))
        )
        assert not decided.any()
        assert not restarted.any()
        assert asked == []


def test_runs_that_a_pool_does_not_take():
    problem, descent = TwoLayer(np.eye(3)), GradientDescent()
    assert pool.obstacle(problem, descent, Stopping()) is None
    assert pool.obstacle(problem, descent, Stopping(trace=50))
    assert pool.obstacle(problem, descent, Stopping(max_steps=120))
    assert pool.obstacle(TwoLayer(np.eye(3), activation="erf"), descent, Stopping())
    assert pool.obstacle(TwoLayer(2 * np.eye(3)), descent, Stopping())
    assert pool.obstacle(problem, optimizer("adam:0.01"), Stopping())


@pytest.mark.slow
def test_a_sweep_by_the_pool_is_the_sweep_by_xla(monkeypatch, tmp_path):
    """The same outcomes and steps, from the folder too; what a pool cannot compute, and a device that is not there, are said."""
    monkeypatch.setattr(pool, "SLOTS", (8, 32))
    plans = [Plan.of([TwoLayer(np.eye(k)) for k in (5, 6)], 20, kernel=kernel) for kernel in ("pool", "xla")]
    pieces = [piece for setting in plans[0].settings for piece in plans[0].pieces(setting.name)]
    assert plans[0].together(pieces) == [pieces]
    assert plans[1].together(pieces) == [[piece] for piece in pieces]
    pooled, plain = run_plan(plans[0], tmp_path / "pool"), run_plan(plans[1])
    for one, other in zip(pooled, plain, strict=True):
        assert one.runs.outcomes == other.runs.outcomes
        assert one.runs.steps.tolist() == other.runs.steps.tolist()
        assert one.runs.weights == pytest.approx(other.runs.weights, abs=1e-9)
    with pytest.raises(InputError, match="a pool cannot compute"):
        Plan.of(TwoLayer(2 * np.eye(3)), 5, kernel="pool")
    if jax.default_backend() == "cpu":
        with pytest.raises(InputError, match="JAX sees a CPU alone"):
            sweep(TwoLayer(np.eye(2)), runs=1, device="gpu")
    with pytest.raises(InputError, match="choose cpu or gpu"):
        sweep(TwoLayer(np.eye(2)), runs=1, device="tpu")
