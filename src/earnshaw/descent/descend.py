"""A two-layer student's descent, from starts to fates."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from earnshaw.descent.base import Descent
from earnshaw.descent.judges import judge_for
from earnshaw.descent.lanes import Lanes, run_lanes
from earnshaw.descent.ledger import Ledger
from earnshaw.descent.optimizers.gradient_descent import GradientDescent
from earnshaw.descent.outcomes import Outcome, Runs, Trace
from earnshaw.descent.stopping import Stop, Stopping
from earnshaw.landscapes import landscape
from earnshaw.problems import TwoLayer


def descend(
    problem: TwoLayer,
    descent: Descent,
    stopping: Stopping,
    starts: np.ndarray,
    lanes: np.ndarray,
    batch: int,
    seed: int = 0,
    cancelled: Callable[[], bool] = lambda: False,
) -> tuple[Runs, Trace | None]:
    """Run a student from every start (lanes, n, d) and say what became of each run; see :func:`run_lanes`.

    An optimiser with a constant step may tremble about a minimum for ever. A run that is undecided at its step limit,
    but finite, is therefore finished by plain gradient descent from where it stands, and gets the fate of that.
    """
    energy = landscape(problem)

    def run(
        descent: Descent, stopping: Stopping, starts: np.ndarray, indices: np.ndarray
    ) -> tuple[Ledger, Trace | None]:
        work = Lanes(
            landscape=energy,
            descent=descent,
            judge=judge_for(problem, energy, descent, stopping),
            starts=starts,
            indices=indices,
            batch=batch,
            seed=seed,
            padded=descent.leaves_padding_alone,
        )
        return run_lanes(work, cancelled)

    ledger, trace = run(descent, stopping, starts, lanes)
    left = np.flatnonzero(ledger.outcome == Outcome.UNDECIDED.code)
    if left.size and stopping.rule is Stop.EARLY and descent.step_length is None:
        limits = Stopping(max_steps=stopping.max_steps)
        finish, _ = run(GradientDescent(), limits, ledger.last_points[left], lanes[left])
        for lane, place in enumerate(left.tolist()):
            outcome = Outcome.from_code(int(finish.outcome[lane]))
            end = finish.value[lane], finish.gradient_norm[lane]
            ledger.close(place, finish.points[lane], ledger.last_points[place], *end, outcome)
    return Runs.of(problem, lanes, ledger), trace
