"""The judge of risks that are sums over rows: some steps of descent, then Newton's method with the whole Hessian."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from earnshaw.descent.judges.base import Look
from earnshaw.descent.judges.budget import BudgetJudge
from earnshaw.descent.newton.dense import HostRisk, NewtonEnd, dense_newton
from earnshaw.descent.outcomes import Outcome
from earnshaw.numerics import TOLERANCES


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
    """Finishes every lane at the step limit, or where its gradient is small, by Newton's method, and names the end.

    On a sum over rows the Hessian costs a few gradients. A lane whose descent left the finite numbers, also with halved
    steps, goes to Newton's method from its start. ``ends`` collects where it led, by lane.
    """

    risk: HostRisk
    ends: dict[int, NewtonEnd] = field(default_factory=dict, compare=False, repr=False)

    def decide(self, look: Look) -> tuple[np.ndarray, np.ndarray]:
        """Let the budget decide who is done, and finish those."""
        decided, restarted = super().decide(look)
        ledger = look.ledger
        for slot in np.flatnonzero(decided):
            lane = int(look.lanes[slot])
            lost = ledger.outcome[lane] == Outcome.DIVERGED.code
            last = ledger.starts[lane] if lost else look.points[slot]
            end = self.ends[lane] = dense_newton(self.risk, last)
            ledger.close(lane, end.point, last, end.value, end.gradient_norm, name_end(end))
        return decided, restarted
