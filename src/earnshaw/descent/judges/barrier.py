r"""The judge of the convolutional network: a run is decided once its loss is below that of the saddles.

The spurious minimum is degenerate: the angle approaches pi like 1/t, and a rule that waits for small gradients waits
for ever. But where :math:`a\cdot a^* = 0` the loss is at least the barrier :math:`F_c`, whatever the filter, and
gradient descent with a step up to 1/L lowers the loss all along each step. So below the barrier the sign of
:math:`a\cdot a^*` stays, and it decides the end: **proved** in docs/convnet.md (Theorem 2), discrete steps included.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.descent.base import Descent
from earnshaw.descent.judges.base import Judge, Look
from earnshaw.descent.outcomes import Outcome, Stopping
from earnshaw.errors import InputError
from earnshaw.landscapes.convnet import ConvNetLandscape
from earnshaw.numerics import TOLERANCES, compiled


class BarrierReport(NamedTuple):
    r"""Of each lane: value, :math:`a\cdot a^*`, gradient norm, barrier, supplement of the angle, :math:`|v|` and L."""

    value: Any
    product: Any
    gradient_norm: Any
    barrier: Any
    supplement: Any
    length: Any
    smoothness: Any


@compiled
def _ends(landscape: ConvNetLandscape) -> tuple[Any, ...]:
    """Return where lanes can end, for each lane: unit filters along w*, both output weights, and the spurious loss."""
    axis = landscape.filter / landscape.norm[..., None]
    good, bad = (landscape.best_outputs(jnp.full(axis.shape[:-1], g)) for g in (math.pi, 0.0))
    return axis, good, bad, landscape.spurious_value


@dataclass(frozen=True)
class BarrierJudge(Judge):
    """Decides by the sign of a . a* below the barrier; ends are entered by their closed forms.

    GLOBAL for a positive sign, SPURIOUS for a negative one. (A filter exactly against the teacher's never turns: with a
    positive sign such a lane ends at a SADDLE.) ``step`` is that of gradient descent; a lane with a step above 1/L stays
    undecided.
    """

    rows = BarrierReport

    landscape: ConvNetLandscape
    stopping: Stopping
    step: float

    @classmethod
    def of(cls, landscape: ConvNetLandscape, descent: Descent, stopping: Stopping) -> BarrierJudge:
        """Return the judge of a descent."""
        return cls(landscape, stopping, gradient_step(descent))

    @staticmethod
    def report(landscape: Any, points: jax.Array) -> BarrierReport:
        """Report what the rule needs."""
        way = landscape.angles(points)
        return BarrierReport(
            value=landscape.value(points),
            product=landscape.product(points),
            gradient_norm=jnp.linalg.norm(landscape.gradient(points), axis=-1),
            barrier=jnp.broadcast_to(landscape.barrier, way.angle.shape),
            supplement=way.supplement,
            length=way.length,
            smoothness=landscape.smoothness(points),
        )

    @cached_property
    def _ends(self) -> list[np.ndarray]:
        return [np.asarray(array) for array in _ends(self.landscape)]

    def tests(self, look: Look) -> np.ndarray:
        """Apply the rule."""
        ledger, lanes, points, report = look
        proved = self.step * ledger.scale[lanes] * report.smoothness <= 1
        below = proved & (report.value < (1 - TOLERANCES.barrier_margin) * report.barrier)
        spurious, turning = report.product < 0, report.supplement > 0
        fates = {Outcome.SPURIOUS: spurious, Outcome.GLOBAL: ~spurious & turning, Outcome.SADDLE: ~spurious & ~turning}
        one_teacher = self._ends[0].ndim == 1
        for outcome, fits in fates.items():
            some = below & fits
            own, length = lanes[some], report.length[some, None]
            axis, good, bad, value = self._ends if one_teacher else (array[own] for array in self._ends)
            filters, outputs, value = (
                (length * axis, good, 0.0) if outcome is Outcome.GLOBAL else (-length * axis, bad, value)
            )
            # the stationary points that these lanes converge to, up to the final |v|
            ends = np.concatenate([filters, np.broadcast_to(outputs, (len(own), outputs.shape[-1]))], axis=-1)
            ledger.close(own, ends, points[some], value, 0.0, outcome)
        return below


def longest_step(patches: int, scale: float = 1.0) -> float:
    r"""Return 1/L: the longest step for which the rule is proved, with :math:`\text{scale} = |w^*||a^*|/|v|` at the start."""
    h, n = (patches + math.pi - 1) / (2 * math.pi), scale**2
    return 2 / (h + n + math.sqrt((h - n) ** 2 + n * (math.pi / 4) ** 2))


def check_step(step: float, patches: int, scale: float = 1.0) -> None:
    """Refuse a step for which the end of a run would be a guess."""
    longest = longest_step(patches, scale)
    if step > longest:
        raise InputError(
            f"the step is {step:g}, but for k = {patches} and |w*||a*|/|v| = {scale:.4g} where runs end is proved for "
            f"steps up to {longest:.4g} only; give a shorter step"
        )


def gradient_step(descent: Descent) -> float:
    """Return the step of gradient descent; nothing is proved about other algorithms, which are refused."""
    if descent.step_length is None:
        raise InputError(
            f"where runs of the convolutional network end is proved for gradient descent only, not for "
            f"{descent.to_json()['kind']}; use gd:STEP"
        )
    return descent.step_length
