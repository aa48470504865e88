"""Gradient flow: the limit of ever shorter steps, followed by an adaptive solver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.descent.base import Descent, Evaluations, check_settings
from earnshaw.landscapes.base import Landscape

STAGES = 6  # new gradients in a step of Tsitouras' method


class FlowState(NamedTuple):
    """Points (lanes, *shape), the solver's last step length and gradients counted so far."""

    point: jax.Array
    length: jax.Array
    gradients: jax.Array


@dataclass(frozen=True, kw_only=True)
class Flow(Descent):
    r"""Gradient flow :math:`\dot x = -\nabla F(x)`, by Tsitouras' fifth-order method with error control (diffrax).

    One step is a stretch of time; every lane has its own step lengths inside it.

    Attributes
    ----------
    time : the time that one step covers; ten steps of gradient descent with step 0.1 cover 1.
    tolerance : the relative error allowed in a solver's step; the absolute one is a thousandth of it.
    check_every : the stop tests are made at multiples of this many of the run's own steps.
    """

    kind: ClassVar[str] = "flow"
    numbers: ClassVar[tuple[str, ...]] = ("time", "tolerance")

    time: float = 1.0
    tolerance: float = 1e-6
    check_every: int = 5

    def __post_init__(self) -> None:
        """Refuse what is not positive."""
        check_settings(self, " of the flow", "time", "tolerance")

    def init(self, landscape: Landscape, points: jax.Array, scale: jax.Array, keys: jax.Array) -> FlowState:
        """Return the state of lanes at these points."""
        lanes = points.shape[0]
        return FlowState(points, 0.05 * self.time * scale, jnp.zeros(lanes, dtype=jnp.int64))

    def advance(self, landscape: Landscape, state: FlowState) -> FlowState:
        """Follow every lane for a stretch of time; a lane that needs too many steps for it becomes NaN."""
        import diffrax

        term = diffrax.ODETerm(lambda t, point, args: -landscape.gradient(point))  # pyright: ignore[reportArgumentType]
        control = diffrax.PIDController(rtol=self.tolerance, atol=1e-3 * self.tolerance)

        def one(point: jax.Array, length: jax.Array) -> tuple[jax.Array, jax.Array]:
            solution = diffrax.diffeqsolve(
                term,
                diffrax.Tsit5(),
                t0=0.0,
                t1=self.time,
                dt0=length,
                y0=point,
                stepsize_controller=control,
                saveat=diffrax.SaveAt(t1=True),
                max_steps=4096,
                throw=False,
            )
            assert solution.ys is not None
            good = solution.result == diffrax.RESULTS.successful
            return jnp.where(good, solution.ys[0], jnp.nan), solution.stats["num_steps"]

        point, steps = jax.vmap(one)(state.point, state.length)
        length = self.time / jnp.maximum(steps, 1)
        return FlowState(point, length, state.gradients + 1 + STAGES * steps)

    def evaluations(self, state: FlowState, steps: np.ndarray) -> Evaluations:
        """Six gradients for each of the solver's steps, rejected ones included."""
        return Evaluations(np.asarray(state.gradients), np.zeros_like(steps))
