"""Newton's method in a trust region, with negative curvature followed to its boundary."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.descent.base import Descent, Evaluations, along, dots
from earnshaw.descent.newton.conjugate_gradients import conjugate_gradients
from earnshaw.errors import InputError
from earnshaw.landscapes.base import Landscape


class TrustRegionState(NamedTuple):
    """Points (lanes, *shape), radii, and gradients and products with the Hessian counted so far."""

    point: jax.Array
    radius: jax.Array
    gradients: jax.Array
    hessians: jax.Array


@dataclass(frozen=True, kw_only=True)
class NewtonTrustRegion(Descent):
    r"""Minimise the quadratic model :math:`g\cdot s + \tfrac12 s\cdot H s` over :math:`|s| \le \Delta` by Steihaug's truncated conjugate gradients.

    Where the curvature along the search direction is negative the step goes to the boundary, so that saddles repel.

    Reference: Nocedal & Wright (2006), Algorithms 4.1 and 7.2.

    Attributes
    ----------
    radius : the first radius of the region.
    max_radius : the largest.
    check_every : the stop tests are made at multiples of this many of the run's own steps.
    """

    kind: ClassVar[str] = "newton-tr"
    numbers: ClassVar[tuple[str, ...]] = ("radius",)

    radius: float = 0.1
    max_radius: float = 1.0
    check_every: int = 5

    def __post_init__(self) -> None:
        """Refuse radii that are no radii."""
        if not 0 < self.radius <= self.max_radius < math.inf:
            raise InputError(f"the trust region's radii are {self.radius}, {self.max_radius}; both must be positive")

    @classmethod
    def named(cls, *numbers: float) -> Self:
        """Return the algorithm with this first radius, and room for it."""
        return cls(radius=numbers[0], max_radius=max(1.0, numbers[0])) if numbers else cls()

    def init(self, landscape: Landscape, points: jax.Array, scale: jax.Array, keys: jax.Array) -> TrustRegionState:
        """Return the state of lanes at these points."""
        zero = jnp.zeros(points.shape[0], dtype=jnp.int64)
        return TrustRegionState(points, self.radius * scale, zero, zero)

    def advance(self, landscape: Landscape, state: TrustRegionState) -> TrustRegionState:
        """Solve the model, try its step, and keep it if the loss fell by a tenth of the promise."""
        point, radius = state.point, state.radius
        gradient = landscape.gradient(point)
        square = dots(gradient, gradient)
        norm = jnp.sqrt(square)
        goal = (jnp.minimum(0.1, jnp.sqrt(norm)) * norm) ** 2  # superlinear: Nocedal & Wright, (7.3)
        model = conjugate_gradients(landscape, point, gradient, goal, jnp.isfinite(square), spare=20, radius=radius)
        promised = -dots(gradient, model.step) - 0.5 * dots(model.step, model.image)
        trial = point + model.step
        before = landscape.value(point)
        fell = before - landscape.value(trial)
        # Near the end the fall drowns in rounding: then the promise is taken for it.
        fell = jnp.where(promised < 1e-13 * (1.0 + jnp.abs(before)), promised, fell)
        ratio = fell / jnp.where(promised > 0, promised, 1.0)
        length = jnp.sqrt(dots(model.step, model.step))
        grown = jnp.where((ratio > 0.75) & (length > 0.99 * radius), jnp.minimum(2 * radius, self.max_radius), radius)
        new_radius = jnp.where(ratio >= 0.25, grown, 0.25 * length)
        taken = (ratio > 0.1) & (promised > 0)
        return TrustRegionState(
            point=jnp.where(along(taken, point), trial, point),
            radius=jnp.where(promised > 0, new_radius, radius),
            gradients=state.gradients + 1,
            hessians=state.hessians + model.products,
        )

    def evaluations(self, state: TrustRegionState, steps: np.ndarray) -> Evaluations:
        """One gradient a step, and the products with the Hessian that the model took."""
        return Evaluations(np.asarray(state.gradients), np.asarray(state.hessians))
