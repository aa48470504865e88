"""A judge that only counts: a lane ends after so many steps, or where its gradient has become small."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import jax
import numpy as np

from earnshaw.descent.judges.newton import stationarity
from earnshaw.descent.ledger import Ledger
from earnshaw.descent.outcomes import Outcome
from earnshaw.descent.stopping import Stopping
from earnshaw.landscapes.base import Landscape


@dataclass(frozen=True)
class BudgetJudge:
    """Ends every lane at the step limit, or once its gradient's norm is at most ``gradient``; names no fate.

    For landscapes on which a Newton test in products with the Hessian is dearer than the Hessian itself: what was
    reached is then named afterwards. A lane that is no longer finite starts again with half the step.
    """

    stopping: Stopping
    gradient: float
    report: Callable[[Landscape, jax.Array], jax.Array] = stationarity

    def decide(
        self, ledger: Ledger, alive: np.ndarray, points: np.ndarray, report: np.ndarray, ready: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Close the lanes that are done, as UNDECIDED, or as DIVERGED when halving the step did not help."""
        value, _, norm, _ = report
        lost = ready & ~(np.isfinite(value) & np.isfinite(norm))
        over = ready & ~lost & ((norm <= self.gradient) | (ledger.steps[alive] >= self.stopping.max_steps))
        restarted = np.zeros(alive.size, dtype=bool)
        for slot in np.flatnonzero(lost):
            restarted[slot] = ledger.restart(alive[slot], self.stopping.max_halvings)
        decided = over | (lost & ~restarted)
        for slot in np.flatnonzero(decided):
            fate = Outcome.UNDECIDED if over[slot] else Outcome.DIVERGED
            ledger.close(alive[slot], points[slot], points[slot], value[slot], norm[slot], fate)
        return decided, restarted
