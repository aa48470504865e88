"""A student's descent, from starts to fates, whatever the network."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from earnshaw.descent.base import Descent
from earnshaw.descent.judges import judge_for
from earnshaw.descent.lanes import Lanes, run_lanes
from earnshaw.descent.ledger import Ledger
from earnshaw.descent.optimizers.gradient_descent import GradientDescent
from earnshaw.descent.outcomes import Outcome, Trace
from earnshaw.descent.stopping import Stop, Stopping
from earnshaw.landscapes import lane_landscape
from earnshaw.problems import Problem


def descend(
    problem: Problem,
    descent: Descent,
    stopping: Stopping,
    starts: np.ndarray,
    lanes: np.ndarray,
    batch: int,
    seed: int = 0,
    cancelled: Callable[[], bool] = lambda: False,
) -> tuple[Ledger, Trace | None, dict[str, np.ndarray]]:
    """Run a student from every start ``(lanes, *shape)`` and say what became of each run; see :func:`run_lanes`.

    Also returned is what the landscape has of each lane alone, such as its teacher. An optimiser with a constant step may
    tremble about a minimum for ever. A run that is undecided at its step limit, but finite, is therefore finished by plain
    gradient descent from where it stands, and gets the fate of that.
    """
    energy = lane_landscape(problem, seed, lanes)
    own = energy.own_data()
    energy, points, lift = energy.reduced(starts)

    def run(chosen: Descent, limits: Stopping, points: np.ndarray, lanes: np.ndarray) -> tuple[Ledger, Trace | None]:
        work = Lanes(
            landscape=energy,
            descent=chosen,
            judge=judge_for(problem, energy, chosen, limits),
            starts=points,
            indices=lanes,
            batch=batch,
            seed=seed,
            padded=chosen.leaves_padding_alone,
        )
        return run_lanes(work, cancelled)

    ledger, trace = run(descent, stopping, points, lanes)
    left = np.flatnonzero(ledger.outcome == Outcome.UNDECIDED.code)
    if left.size and stopping.rule is Stop.EARLY and descent.step_length is None:
        limits = Stopping(max_steps=stopping.max_steps)
        finish, _ = run(GradientDescent(), limits, ledger.last_points[left], lanes[left])
        for lane, place in enumerate(left.tolist()):
            outcome = Outcome.from_code(int(finish.outcome[lane]))
            end = finish.value[lane], finish.gradient_norm[lane]
            ledger.close(place, finish.points[lane], ledger.last_points[place], *end, outcome)
    ledger.points, ledger.last_points = lift(ledger.points), lift(ledger.last_points)
    return ledger, trace, own
