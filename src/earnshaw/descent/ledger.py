"""What is known of every lane of a batch, on the host."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from earnshaw.descent.outcomes import Outcome


@dataclass
class Ledger:
    """One entry per lane: how far it has come, and once it is closed, how it ended.

    ``steps`` are those of the present attempt, ``wasted`` those of attempts that diverged; ``scale`` multiplies the
    lane's steps; no Newton test is due before ``next_test``. The other fields are those of
    :class:`~earnshaw.descent.Runs`.
    """

    starts: np.ndarray
    scale: np.ndarray = field(init=False)
    steps: np.ndarray = field(init=False)
    wasted: np.ndarray = field(init=False)
    next_test: np.ndarray = field(init=False)
    halvings: np.ndarray = field(init=False)
    gradients: np.ndarray = field(init=False)
    hessians: np.ndarray = field(init=False)
    outcome: np.ndarray = field(init=False)
    by_value: np.ndarray = field(init=False)
    value: np.ndarray = field(init=False)
    gradient_norm: np.ndarray = field(init=False)
    points: np.ndarray = field(init=False)
    last_points: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        """Open the book: nothing is decided."""
        lanes = len(self.starts)
        for name in ("steps", "wasted", "next_test", "halvings", "gradients", "hessians"):
            setattr(self, name, np.zeros(lanes, dtype=np.int64))
        self.scale = np.ones(lanes)
        self.outcome = np.full(lanes, Outcome.UNDECIDED.code, dtype=np.int8)
        self.by_value = np.zeros(lanes, dtype=bool)
        self.value, self.gradient_norm = np.full(lanes, np.nan), np.full(lanes, np.nan)
        self.points, self.last_points = self.starts.copy(), self.starts.copy()

    def close(
        self, lane: int, point: np.ndarray, last: np.ndarray, value: float, gradient_norm: float, outcome: Outcome
    ) -> None:
        """Enter how a lane ended: the polished point, the last iterate, and the fate."""
        self.points[lane], self.last_points[lane] = point, last
        self.value[lane], self.gradient_norm[lane], self.outcome[lane] = value, gradient_norm, outcome.code

    def restart(self, lane: int, max_halvings: int) -> bool:
        """Send a diverged lane back to its start with half the step; return False when that was done too often."""
        if self.halvings[lane] >= max_halvings:
            return False
        self.halvings[lane] += 1
        self.scale[lane] /= 2
        self.wasted[lane] += self.steps[lane]
        self.steps[lane] = self.next_test[lane] = 0
        return True
