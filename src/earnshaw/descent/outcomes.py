"""What became of a run, and the way it took."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Outcome(Enum):
    """The fate of one run; the value is the sentence that explains it, the order is the code in files."""

    GLOBAL = "reached the global minimum"
    SPURIOUS = "ended at a strict local minimum that is not global"
    SADDLE = "ended at a stationary point with a direction of negative curvature"
    DEGENERATE = "a neuron shrank to zero, where the loss is not differentiable"
    DIVERGED = "grew without bound, also after the step was halved as often as allowed"
    UNDECIDED = "its fate was not clear when the step limit was reached"
    CONVERGED = "ended at a local minimum of a problem whose global minimum is not known"
    FLAT = "ended at a stationary point with flat directions and no negative curvature, where second derivatives do not decide"

    @property
    def decides(self) -> bool:
        """Whether the run's fate is clear: percentages are of such runs."""
        return self not in (Outcome.UNDECIDED, Outcome.FLAT)

    @property
    def code(self) -> int:
        """The number that stands for this outcome in an array."""
        return _ORDER.index(self)

    @classmethod
    def from_code(cls, code: int) -> Outcome:
        """Return the outcome of a number."""
        return _ORDER[code]


_ORDER = tuple(Outcome)


@dataclass(frozen=True)
class Trace:
    """Trajectories: one row for each recorded moment of each run, in the order of runs and then steps."""

    run: NDArray[np.int64]
    step: NDArray[np.int64]
    value: Array
    gradient_norm: Array
    weights: Array
