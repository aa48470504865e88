"""Judges that only count, and so end a lane after some steps; the second then names its end by Newton's method."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from earnshaw.descent.judges.base import Judge, Look
from earnshaw.descent.newton.dense import NewtonEnd, dense_newton
from earnshaw.descent.outcomes import Outcome, Stopping
from earnshaw.landscapes.empirical import StreamedRisk
from earnshaw.numerics import TOLERANCES


@dataclass(frozen=True, kw_only=True)
class BudgetJudge(Judge):
    """Ends every lane at the step limit, or once its gradient's norm is at most ``gradient``; names no fate.

    For landscapes on which a Newton test in products with the Hessian is dearer than the Hessian itself: what was
    reached is then named afterwards. A lane that is no longer finite starts again with half the step.
    """

    stopping: Stopping
    gradient: float = TOLERANCES.risk_gradient

    def tests(self, look: Look) -> np.ndarray:
        """Close the lanes whose gradient is small, as UNDECIDED."""
        small = look.report.gradient_norm <= self.gradient
        look.close(small, Outcome.UNDECIDED)
        return small


def name_end(end: NewtonEnd) -> Outcome:
    """Return what became of a lane, from where Newton's method ended."""
    if not end.gradient_norm <= TOLERANCES.risk_gradient:
        return Outcome.UNDECIDED
    if end.value < TOLERANCES.zero_risk:
        return Outcome.GLOBAL
    if end.spectrum[0] > TOLERANCES.strict:
        return Outcome.CONVERGED
    return Outcome.SADDLE if end.spectrum[0] < -TOLERANCES.strict else Outcome.UNDECIDED


@dataclass(frozen=True, kw_only=True)
class DenseJudge(BudgetJudge):
    """Finishes every lane of a risk that is a sum over rows by Newton's method with the whole Hessian, and names the end.

    On such a sum the Hessian costs a few gradients. A lane whose descent left the finite numbers, also with halved
    steps, goes to Newton's method from its start. ``ends`` collects where it led, by lane.
    """

    risk: StreamedRisk
    ends: dict[int, NewtonEnd] = field(default_factory=dict, compare=False, repr=False)

    def decide(self, look: Look) -> tuple[np.ndarray, np.ndarray]:
        """Let the budget decide who is done, and finish those."""
        decided, restarted = super().decide(look)
        for slot in np.flatnonzero(decided):
            lane = int(look.lanes[slot])
            lost = look.ledger.outcome[lane] == Outcome.DIVERGED.code
            last = look.ledger.starts[lane] if lost else look.points[slot]
            end = self.ends[lane] = dense_newton(self.risk, last)
            look.ledger.close(lane, end.point, last, end.value, end.gradient_norm, name_end(end))
        return decided, restarted
