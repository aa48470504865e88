"""Newton's method in a trust region, with negative curvature followed to its boundary."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.descent.base import Evaluations, along, dots
from earnshaw.errors import InputError
from earnshaw.landscapes.base import Landscape


class TrustRegionState(NamedTuple):
    """Points (lanes, *shape), radii, and gradients and products with the Hessian counted so far."""

    point: jax.Array
    radius: jax.Array
    gradients: jax.Array
    hessians: jax.Array


class _Model(NamedTuple):
    """The conjugate gradients' loop: the step so far, its image, residual, direction and its square, who goes on, count."""

    step: jax.Array
    image: jax.Array
    residual: jax.Array
    direction: jax.Array
    square: jax.Array
    active: jax.Array
    products: jax.Array


@dataclass(frozen=True, kw_only=True)
class NewtonTrustRegion:
    r"""Minimise the quadratic model :math:`g\cdot s + \tfrac12 s\cdot H s` over :math:`|s| \le \Delta` by Steihaug's truncated conjugate gradients.

    Where the curvature along the search direction is negative the step goes to the boundary, so that saddles repel.

    Reference: Nocedal & Wright (2006), Algorithms 4.1 and 7.2.

    Attributes
    ----------
    radius : the first radius of the region.
    max_radius : the largest.
    check_every : the stop tests are made at multiples of this many of the run's own steps.
    """

    radius: float = 0.1
    max_radius: float = 1.0
    check_every: int = 5

    def __post_init__(self) -> None:
        """Validate the settings."""
        if not 0 < self.radius <= self.max_radius < math.inf:
            raise InputError(f"the trust region's radii are {self.radius}, {self.max_radius}; both must be positive")

    def init(self, landscape: Landscape, points: jax.Array, scale: jax.Array, keys: jax.Array) -> TrustRegionState:
        """Return the state of lanes at these points."""
        zero = jnp.zeros(points.shape[0], dtype=jnp.int64)
        return TrustRegionState(points, self.radius * scale, zero, zero)

    def advance(self, landscape: Landscape, state: TrustRegionState) -> TrustRegionState:
        """Solve the model, try its step, and keep it if the loss fell by a tenth of the promise."""
        point, radius = state.point, state.radius
        gradient = landscape.gradient(point)
        model = _steihaug(landscape, point, gradient, radius)
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

    def to_json(self) -> dict[str, Any]:
        """Return the settings with their defaults."""
        numbers = {"radius": float(self.radius).hex(), "max_radius": float(self.max_radius).hex()}
        return {"kind": "newton-tr", **numbers, "check_every": self.check_every}


def _steihaug(landscape: Landscape, point: jax.Array, gradient: jax.Array, radius: jax.Array) -> _Model:
    """Follow conjugate gradients until they converge, meet negative curvature, or leave the ball."""
    hessian = jax.linearize(landscape.gradient, point)[1]
    square = dots(gradient, gradient)
    norm = jnp.sqrt(square)
    goal = (jnp.minimum(0.1, jnp.sqrt(norm)) * norm) ** 2  # superlinear: Nocedal & Wright, (7.3)
    limit = math.prod(point.shape[1:]) + 20

    def body(carry: tuple[jax.Array, _Model]) -> tuple[jax.Array, _Model]:
        count, model = carry
        step, image, residual, direction, square, active, products = model
        product = hessian(direction)
        curvature = dots(direction, product)
        convex = curvature > 0
        rate = square / jnp.where(convex, curvature, 1.0)
        longer = step + along(rate, step) * direction
        leaves = ~convex | (dots(longer, longer) >= radius**2)
        rate = jnp.where(leaves, _to_boundary(step, direction, radius), rate)
        rate = jnp.where(active, rate, 0.0)
        step = step + along(rate, step) * direction
        image = image + along(rate, step) * product
        residual = residual - along(rate, step) * product
        new_square = dots(residual, residual)
        turn = new_square / jnp.where(square > 0, square, 1.0)
        direction = jnp.where(along(active, step), residual + along(turn, step) * direction, direction)
        going = active & ~leaves & (new_square > goal)
        return count + 1, _Model(step, image, residual, direction, new_square, going, products + active)

    def going(carry: tuple[jax.Array, _Model]) -> jax.Array:
        return (carry[0] < limit) & jnp.any(carry[1].active)

    zero, none = jnp.zeros_like(point), jnp.zeros(point.shape[0], dtype=jnp.int64)
    start = _Model(zero, zero, -gradient, -gradient, square, jnp.isfinite(square) & (square > 0), none)
    return jax.lax.while_loop(going, body, (jnp.asarray(0), start))[1]


def _to_boundary(step: jax.Array, direction: jax.Array, radius: jax.Array) -> jax.Array:
    """Return t >= 0 with |step + t direction| = radius."""
    a, b, c = dots(direction, direction), dots(step, direction), dots(step, step) - radius**2
    root = jnp.sqrt(jnp.maximum(b * b - a * c, 0.0))
    return jnp.where(a > 0, (root - b) / jnp.where(a > 0, a, 1.0), 0.0)
