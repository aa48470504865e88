"""The potential of sign neurons in the plane, as charges on a circle see it: linear in the angle between them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp

from earnshaw.potentials.radial.base import Radial


def turned(angle: jax.Array) -> jax.Array:
    """Return the angle in [-pi, pi)."""
    return jnp.mod(angle + math.pi, 2 * math.pi) - math.pi


@dataclass(frozen=True)
class Circle(Radial):
    r"""The potential :math:`1 - 2|\alpha|/\pi` of two places on the circle, alpha the angle between; a place is its angle.

    Harmonic but for kinks: every charge pulls with a constant force, whatever the distance.

    Reference: Panigrahy et al. (2018), Lemmas 28, 29.
    """

    bounded = True
    dimension = 1

    def difference(self, first: jax.Array, second: jax.Array) -> jax.Array:
        """Return the angle between, in [-pi, pi)."""
        return turned(first - second)

    def derivative(self, distance: jax.Array, order: int) -> jax.Array:
        """Return Phi, its constant slope, or 0: there is no curvature between the kinks."""
        if order == 0:
            return 1.0 - 2.0 / math.pi * distance
        return jnp.full_like(distance, -2.0 / math.pi if order == 1 else 0.0)
