"""Conjugate gradients for many lanes at once, in all of space or inside a ball: one loop for both."""

from __future__ import annotations

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp

from earnshaw.descent.base import along, dots
from earnshaw.landscapes.base import Landscape


class Solution(NamedTuple):
    """Of each lane: the step s, H s, whether all curvature met was positive, and the products with H."""

    step: jax.Array
    image: jax.Array
    convex: jax.Array
    products: jax.Array


def conjugate_gradients(
    landscape: Landscape,
    points: jax.Array,
    gradient: jax.Array,
    goal: jax.Array,
    active: jax.Array,
    spare: int,
    radius: jax.Array | None = None,
) -> Solution:
    r"""Solve :math:`H s = -g` for each active lane until the residual's square is at most ``goal``.

    A lane stops where it meets negative curvature. With a radius it goes on along the last direction to the boundary of
    the ball, as it does where it would leave the ball, so that it minimises the model :math:`g\cdot s + \tfrac12 s\cdot H s`
    there roughly (Steihaug). At most ``spare`` products more than there are parameters.

    Reference: Nocedal & Wright (2006), Algorithms 5.2 and 7.2.
    """
    hessian = jax.linearize(landscape.gradient, points)[1]
    limit = math.prod(points.shape[1:]) + spare

    def body(carry: tuple) -> tuple:
        count, (step, image, convex, products), residual, direction, square, active = carry
        product = hessian(direction)
        curvature = dots(direction, product)
        convex = convex & ((curvature > 0) | ~active)
        rate = square / jnp.where(convex, curvature, 1.0)
        going = active & convex
        if radius is None:
            rate = jnp.where(going, rate, 0.0)
        else:
            longer = step + along(rate, step) * direction
            going = going & (dots(longer, longer) < radius**2)
            rate = jnp.where(going, rate, jnp.where(active, _to_boundary(step, direction, radius), 0.0))
        step = step + along(rate, step) * direction
        image = image + along(rate, step) * product
        residual = residual - along(rate, step) * product
        new_square = dots(residual, residual)
        turn = new_square / jnp.where(square > 0, square, 1.0)
        direction = residual + along(turn, step) * direction
        solution = Solution(step, image, convex, products + active)
        return count + 1, solution, residual, direction, new_square, going & (new_square > goal)

    zero, square = jnp.zeros_like(points), dots(gradient, gradient)
    none = jnp.zeros(points.shape[0], dtype=jnp.int64)
    start = (0, Solution(zero, zero, none == 0, none), -gradient, -gradient, square, active & (square > 0))
    return jax.lax.while_loop(lambda carry: (carry[0] < limit) & jnp.any(carry[-1]), body, start)[1]


def _to_boundary(step: jax.Array, direction: jax.Array, radius: jax.Array) -> jax.Array:
    """Return t >= 0 with |step + t direction| = radius."""
    a, b, c = dots(direction, direction), dots(step, direction), dots(step, step) - radius**2
    root = jnp.sqrt(jnp.maximum(b * b - a * c, 0.0))
    return jnp.where(a > 0, (root - b) / jnp.where(a > 0, a, 1.0), 0.0)
