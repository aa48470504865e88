"""A judge that only counts: a lane ends after so many steps, or where its gradient has become small."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from earnshaw.descent.judges.base import Judge, Look
from earnshaw.descent.outcomes import Outcome
from earnshaw.descent.stopping import Stopping
from earnshaw.numerics import TOLERANCES


@dataclass(frozen=True)
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
