"""The pool of lanes, on whatever device there is: a run that it has begun must end as it does in a block of its own problem."""

import dataclasses
import os
import subprocess
import sys

import jax
import numpy as np
import pytest

from earnshaw import TwoLayer, sweep
from earnshaw.descent import GradientDescent, Outcome, Stopping, descend, lanes, native, optimizer, pool
from earnshaw.descent.judges import judge_for
from earnshaw.descent.judges.base import Look
from earnshaw.descent.judges.newton import Stationarity
from earnshaw.descent.outcomes import Ledger, Stop
from earnshaw.errors import InputError
from earnshaw.experiments import Plan, run_plan
from earnshaw.experiments.work import Context
from earnshaw.landscapes import landscape
from earnshaw.starts import usual_start


def problem_of(k, n, runs):
    problem = TwoLayer(np.eye(k), students=n)
    return problem, usual_start(problem).draw(problem, 0, np.arange(runs))


def judged(problem, **limits):
    return judge_for(landscape(problem), problem, GradientDescent(), Stopping(**limits))


def small(monkeypatch, head=8000):
    """Have pools of few lanes, few at a time, that leave after so many steps."""
    monkeypatch.setattr(pool, "SLOTS", {"cpu": 32, "gpu": 32})
    monkeypatch.setattr(pool, "PORTION", 8)
    monkeypatch.setattr(pool, "HEAD", dict.fromkeys(Stop, head))


SAME = ("outcome", "steps", "wasted", "halvings", "gradients", "hessians", "by_value")


@pytest.mark.slow
@pytest.mark.parametrize(("head", "step"), [(600, 0.1), (8000, 0.1), (600, 1.5)])
@pytest.mark.parametrize("kernel", ["native", "xla"])
def test_runs_that_a_pool_has_begun_end_as_others_do(monkeypatch, kernel, head, step):
    """Several problems of one size, refills, runs that diverge, and any step at which they leave: outcomes and steps of every run."""
    if kernel == "native" and native.missing():
        pytest.skip(f"no native kernel: {native.missing()}")
    small(monkeypatch, head)
    jobs, descent = [problem_of(6, 6, 30), problem_of(7, 8, 12), problem_of(8, 8, 40)], GradientDescent(step=step)
    assert {pool.pool_size(problem) for problem, _ in jobs} == {8}
    shares = {}
    several = [(problem, lambda starts=starts: starts) for problem, starts in jobs]
    begun = dict(pool.Pool(several, descent, Stopping()).run(lambda: False, shares.__setitem__))
    assert sorted(begun) == [0, 1, 2]
    assert shares == dict.fromkeys(begun, 1.0)
    for place, (problem, starts) in enumerate(jobs):
        assert (begun[place].steps % descent.check_every == 0).all()
        assert 0 < begun[place].steps.min() <= begun[place].steps.max() <= head
        lanes = np.arange(len(starts))
        ended, *_ = descend(problem, descent, Stopping(), starts, lanes, 32, kernel=kernel, begun=begun[place])
        alone, *_ = descend(problem, descent, Stopping(), starts, lanes, 32)
        for name in SAME:
            assert getattr(ended, name).tolist() == getattr(alone, name).tolist(), name
        assert ended.points == pytest.approx(alone.points, abs=1e-9)
        assert ended.value == pytest.approx(alone.value, abs=1e-12, nan_ok=True)
    assert (ended.outcome == Outcome.SPURIOUS.code).any()
    assert ended.halvings.any() == (step > 1)


def test_what_a_pool_does_with_a_run_depends_on_its_start_alone(monkeypatch):
    """Not on its company, nor on when it comes: to the last bit."""
    small(monkeypatch)
    (problem, starts), descent = problem_of(6, 6, 60), GradientDescent()
    whole = dict(pool.Pool([(problem, lambda: starts)], descent, Stopping()).run(lambda: False))[0]
    some = dict(pool.Pool([(problem, lambda: starts[37:41])], descent, Stopping()).run(lambda: False))[0]
    assert whole.points[37:41].tobytes() == some.points.tobytes()
    assert whole.report[:, 37:41].tobytes() == some.report.tobytes()
    assert whole.steps[37:41].tolist() == some.steps.tolist()


def test_a_pool_hears_that_it_is_to_stop(monkeypatch):
    small(monkeypatch)
    problem, starts = problem_of(6, 6, 4)
    with pytest.raises(InterruptedError, match="cancelled"):
        list(pool.Pool([(problem, lambda: starts)], GradientDescent(), Stopping()).run(lambda: True))


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
@pytest.mark.parametrize("compiler", ["", "hidden"])
def test_a_sweep_by_the_pool_is_the_sweep_by_xla(monkeypatch, tmp_path, compiler):
    """The same outcomes and steps, from the folder too, and where there is no native kernel to go on with."""
    small(monkeypatch)
    if compiler == "hidden":
        monkeypatch.setattr(native, "_library", lambda: "it was not built")
    problems = [TwoLayer(np.eye(5)), TwoLayer(np.eye(6)), TwoLayer(np.eye(9))]
    plans = [Plan.of(problems, 20, kernel=kernel) for kernel in ("pool", "xla")]
    pieces = [piece for setting in plans[0].settings for piece in plans[0].pieces(setting.name)]
    assert plans[0].groups(pieces) == [pieces[:2], pieces[2:]]
    assert plans[1].groups(pieces) == []
    pooled, plain = run_plan(plans[0], tmp_path / "pool"), run_plan(plans[1])
    for one, other in zip(pooled, plain, strict=True):
        assert one.runs.outcomes == other.runs.outcomes
        assert one.runs.steps.tolist() == other.runs.steps.tolist()
        assert one.runs.weights == pytest.approx(other.runs.weights, abs=1e-9)
    again = plans[0].compute(pieces[1], Context())  # as a worker of a cluster would
    assert again["weights"].tobytes() == pooled[1].runs.weights.tobytes()


REHEARSED = """
import numpy as np
from dataclasses import replace
from earnshaw import TwoLayer
from earnshaw.descent import pool
from earnshaw.descent.outcomes import Stop
from earnshaw.experiments import Plan
from earnshaw.experiments.work import Context
from earnshaw.numerics import compilations

pool.SLOTS["cpu"], pool.HEAD[Stop.EARLY] = 32, 4000
plan = Plan.of(TwoLayer(np.eye(12)), runs=20, kernel="pool")
(piece,) = plan.pieces("k12-n12")
(begun,) = plan.begin({piece: Context()})
assert begun[0] == piece and 0 < begun[2] < piece.weight, begun[2]
before = len(compilations())
plan.rehearse("k12-n12", Context())
compiled = len(compilations())
plan.finish("k12-n12", [plan.compute(piece, replace(Context(), begun=begun[1]))])
print(compiled - before, len(compilations()) - compiled)
"""


def test_after_a_rehearsal_nothing_is_compiled(monkeypatch):
    """In a process of its own, for which nothing has been compiled before; some runs of the pool's were not at rest."""
    if native.missing():
        pytest.skip(f"no native kernel, and so no processes who rehearse: {native.missing()}")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    done = subprocess.run([sys.executable, "-c", REHEARSED], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    rehearsed, later = map(int, done.stdout.split())
    assert rehearsed >= 3
    assert later == 0


def test_an_error_in_a_pool_is_that_of_the_sweep(monkeypatch):
    """And one of a run that goes on outside."""
    small(monkeypatch)
    plan = Plan.of([TwoLayer(np.eye(3)), TwoLayer(np.eye(5))], 5, kernel="pool")

    def broken(*_, **__):
        raise RuntimeError("it broke here")

    for target in (pool, "_drift"), (native, "run") if not native.missing() else (lanes, "run_lanes"):
        with monkeypatch.context() as patch:
            patch.setattr(*target, broken)
            with pytest.raises(RuntimeError, match="it broke here"):
                run_plan(plan)


def test_refusals(monkeypatch):
    """What a pool cannot compute, and a device that is not there."""
    with pytest.raises(InputError, match="a pool cannot compute"):
        Plan.of(TwoLayer(2 * np.eye(3)), 5, kernel="pool")
    if jax.default_backend() == "cpu":
        with pytest.raises(InputError, match="JAX sees a CPU alone"):
            sweep(TwoLayer(np.eye(2)), runs=1, device="gpu")
    with pytest.raises(InputError, match="choose cpu or gpu"):
        sweep(TwoLayer(np.eye(2)), runs=1, device="tpu")
