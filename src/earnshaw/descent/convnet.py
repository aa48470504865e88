r"""The judge of the convolutional network: a run is decided once its loss is below that of the saddles.

The spurious minimum is degenerate: the angle approaches pi like 1/t, and a rule that waits for small gradients waits
for ever. But where :math:`a\cdot a^* = 0` the loss is at least the barrier :math:`F_c`, whatever the filter, and
gradient descent with a step up to 1/L lowers the loss all along each step. So below the barrier the sign of
:math:`a\cdot a^*` stays, and it decides the end: **proved** in docs/convnet.md (Theorem 2), discrete steps included.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.descent.ledger import Ledger
from earnshaw.descent.outcomes import Outcome
from earnshaw.descent.stopping import Stopping
from earnshaw.errors import InputError
from earnshaw.landscapes.convnet import ConvNetLandscape

MARGIN = 1e-9  # relative room below the barrier for the rounding of both, which is some 1e-15


def below_the_barrier(landscape: ConvNetLandscape, points: jax.Array) -> jax.Array:
    """Report value, a . a*, gradient norm, barrier, supplement of the angle, |v| and L of each lane."""
    way = landscape.angles(points)
    return jnp.stack(
        [
            landscape.value(points),
            landscape.product(points),
            jnp.linalg.norm(landscape.gradient(points), axis=-1),
            jnp.broadcast_to(landscape.barrier, way.angle.shape),
            way.supplement,
            way.length,
            landscape.smoothness(points),
        ]
    )


class _Ends(NamedTuple):
    """Where lanes can end, for each lane: unit filters along w*, both output weights, and the spurious loss."""

    axis: np.ndarray
    good: np.ndarray
    bad: np.ndarray
    value: np.ndarray


@dataclass(frozen=True)
class BarrierJudge:
    """Decides by the sign of a . a* below the barrier; ends are entered by their closed forms.

    GLOBAL for a positive sign, SPURIOUS for a negative one. (A filter exactly against the teacher's never turns: with a
    positive sign such a lane ends at a SADDLE.) ``step`` is that of gradient descent.
    """

    landscape: ConvNetLandscape
    stopping: Stopping
    step: float
    report: Callable[[Any, jax.Array], jax.Array] = below_the_barrier

    @cached_property
    def _ends(self) -> _Ends:
        axis = self.landscape.filter / self.landscape.norm[..., None]
        good, bad = (self.landscape.best_outputs(jnp.full(axis.shape[:-1], g)) for g in (math.pi, 0.0))
        value = jnp.broadcast_to(self.landscape.spurious_value, axis.shape[:-1])
        return _Ends(*(np.asarray(array) for array in (axis, good, bad, value)))

    def _end(self, lane: int, length: float, outcome: Outcome) -> tuple[np.ndarray, float]:
        """Return the stationary point that a lane of this outcome converges to, up to the final |v|, and its loss."""
        ends = self._ends if self._ends.axis.ndim == 1 else _Ends(*(array[lane] for array in self._ends))
        if outcome is Outcome.GLOBAL:
            return np.concatenate([length * ends.axis, ends.good]), 0.0
        return np.concatenate([-length * ends.axis, ends.bad]), float(ends.value)

    def decide(
        self, ledger: Ledger, alive: np.ndarray, points: np.ndarray, report: np.ndarray, ready: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Apply the rule; a lane with a step above 1/L, or at the step limit, stays undecided."""
        value, product, norm, barrier, supplement, length, smoothness = report
        lost = ready & ~np.isfinite(value)
        proved = self.step * ledger.scale[alive] * smoothness <= 1
        below = ready & ~lost & proved & (value < (1 - MARGIN) * barrier)
        restarted = np.zeros(alive.size, dtype=bool)
        for slot in np.flatnonzero(lost):
            restarted[slot] = ledger.restart(alive[slot], self.stopping.max_halvings)
        for slot in np.flatnonzero(below):
            outcome = Outcome.GLOBAL if supplement[slot] > 0 else Outcome.SADDLE
            if product[slot] < 0:
                outcome = Outcome.SPURIOUS
            end, loss = self._end(alive[slot], length[slot], outcome)
            ledger.close(alive[slot], end, points[slot], loss, 0.0, outcome)
        over = ready & ~below & ~restarted & (lost | (ledger.steps[alive] >= self.stopping.max_steps))
        for slot in np.flatnonzero(over):
            outcome = Outcome.DIVERGED if lost[slot] else Outcome.UNDECIDED
            ledger.close(alive[slot], points[slot], points[slot], value[slot], norm[slot], outcome)
        return below | over, restarted


def longest_step(landscape: ConvNetLandscape, points: np.ndarray) -> float:
    """Return the longest step for which the judge's rule is proved from all of these starts on."""
    return float(1 / jnp.max(landscape.smoothness(jnp.asarray(points))))


def check_step(landscape: ConvNetLandscape, points: np.ndarray, step: float) -> None:
    """Refuse a step for which the end of a run would be a guess."""
    longest = longest_step(landscape, points)
    if not 0 < step <= longest:
        raise InputError(
            f"the step is {step:g}, but where runs end is proved for steps up to {longest:.4g} only (1/L with these k, "
            f"|w*|, |a*| and |v|; about 2 pi/(k + pi - 1)); give a shorter step"
        )
