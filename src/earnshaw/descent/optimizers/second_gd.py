"""Algorithm 2 of Panigrahy et al.: gradient descent that follows negative curvature where the gradient is small."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.descent.base import Descent, Evaluations, along, check_settings, follow
from earnshaw.descent.optimizers.hessian_descent import hessian_step, norms
from earnshaw.landscapes.base import Landscape


class SecondGDState(NamedTuple):
    """Points (lanes, *shape), values and factors alpha; steps taken, gradients and Hessians used; who still moves."""

    point: jax.Array
    value: jax.Array
    length: jax.Array
    steps: jax.Array
    gradients: jax.Array
    hessians: jax.Array
    active: jax.Array


@dataclass(frozen=True, kw_only=True)
class SecondGD(Descent):
    r"""Algorithm 2: where the gradient is at least eta, a step :math:`-\alpha\nabla f`; elsewhere one of Algorithm 1.

    A lane stops, at the point before, when a step gains less than :math:`\min(\alpha\eta^2/2,\ \alpha^2\gamma^3/3)`,
    which is what Lemmas 18 and 19 promise (the printed second term has 1/2 in place of 1/3; docs/errata.md).

    Reference: Panigrahy et al. (2018), Algorithm 2.

    Attributes
    ----------
    step : the factor alpha.
    gradient_threshold : eta, in the norm of the whole gradient.
    curvature_threshold : gamma; saddles whose least eigenvalue is below -gamma are left.
    check_every : the stop tests are made at multiples of this many of the run's own steps.
    """

    kind: ClassVar[str] = "second-gd"
    numbers: ClassVar[tuple[str, ...]] = ("step", "gradient_threshold", "curvature_threshold")

    step: float = 0.1
    gradient_threshold: float = 1e-5
    curvature_threshold: float = 1e-3
    check_every: int = 10

    def __post_init__(self) -> None:
        """Refuse what is not positive."""
        check_settings(self, " of Algorithm 2", "step", "gradient_threshold", "curvature_threshold")

    def init(self, landscape: Landscape, points: jax.Array, scale: jax.Array, keys: jax.Array) -> SecondGDState:
        """Return the state of lanes at these points, all on their way."""
        zero = jnp.zeros(scale.shape, dtype=jnp.int64)
        going = jnp.ones(scale.shape, dtype=bool)
        return SecondGDState(points, landscape.value(points), self.step * scale, zero, zero, zero, going)

    def advance(self, landscape: Landscape, state: SecondGDState) -> SecondGDState:
        """Return the state after one step of every lane that still moves."""
        point, length = state.point, state.length
        gain = jnp.minimum(length * self.gradient_threshold**2 / 2, length**2 * self.curvature_threshold**3 / 3)
        gradient = landscape.gradient(point)
        curved = state.active & (norms(landscape, gradient) < self.gradient_threshold)
        down = point - along(length, point) * gradient
        moved = jax.lax.cond(
            jnp.any(curved),
            lambda: jnp.where(along(curved, point), hessian_step(landscape, point, gradient, length), down),
            lambda: down,
        )
        value = landscape.value(moved)
        active = state.active & (value < state.value - gain)
        return SecondGDState(
            point=jnp.where(along(active, point), moved, point),
            value=jnp.where(active, value, state.value),
            length=length,
            steps=state.steps + active,
            gradients=state.gradients + state.active,
            hessians=state.hessians + curved,
            active=active,
        )

    def evaluations(self, state: SecondGDState, steps: np.ndarray) -> Evaluations:
        """One gradient for each step that was tried, and one Hessian for those along the curvature."""
        return Evaluations(np.asarray(state.gradients), np.asarray(state.hessians))


@functools.partial(jax.jit, static_argnames=("max_steps", "step", "gradient_threshold", "curvature_threshold"))
def second_gd(
    landscape: Landscape,
    points: jax.Array,
    *,
    max_steps: int,
    step: float,
    gradient_threshold: float,
    curvature_threshold: float,
) -> SecondGDState:
    """Run Algorithm 2 on every lane of points (lanes, *shape) until all have stopped, or for so many steps."""
    descent = SecondGD(step=step, gradient_threshold=gradient_threshold, curvature_threshold=curvature_threshold)
    begun = follow(descent, landscape, points, 0)

    def going(carry: tuple[jax.Array, SecondGDState]) -> jax.Array:
        return jnp.any(carry[1].active) & (carry[0] < max_steps)

    def once(carry: tuple[jax.Array, SecondGDState]) -> tuple[jax.Array, SecondGDState]:
        return carry[0] + 1, descent.advance(landscape, carry[1])

    return jax.lax.while_loop(going, once, (jnp.asarray(0), begun))[1]
