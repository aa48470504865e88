"""Minima that are tips: where the loss rises linearly to all sides, and neither gradient nor Hessian says anything."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from earnshaw.descent.base import along
from earnshaw.landscapes.base import Landscape
from earnshaw.numerics import compiled

HALVINGS = 40
STEPS = 50  # of each length


class Tip(NamedTuple):
    """The lowest points found (lanes, *shape), and their values."""

    point: jax.Array
    value: jax.Array


@compiled
def sharpen(landscape: Landscape, points: jax.Array, lengths: jax.Array, low: jax.Array) -> Tip:
    r"""Follow gradient descent from each lane with steps that are halved again and again, until the value is below ``low``.

    Sign neurons at an angle t to the teacher's lose :math:`2t/\pi`: the teacher is the tip of a cone, and a fixed step goes
    to and fro about it for ever, at a height in proportion to the step. With each halving the lowest point so far comes
    twice as close; where there is no tip below, it stays where it was.
    """

    def shorter(carry: tuple) -> tuple:
        count, point, value, lengths = carry

        def step(_: jax.Array, inner: tuple) -> tuple:
            here, best, least = inner
            here = here - along(lengths, here) * landscape.gradient(here)
            value = landscape.value(here)
            return here, jnp.where(along(value < least, here), here, best), jnp.fmin(value, least)

        _, point, value = jax.lax.fori_loop(0, STEPS, step, (point, point, value))
        return count + 1, point, value, lengths / 2

    def going(carry: tuple) -> jax.Array:
        return (carry[0] < HALVINGS) & jnp.any(carry[2] >= low)

    _, point, value, _ = jax.lax.while_loop(going, shorter, (0, points, landscape.value(points), lengths))
    return Tip(point, value)
