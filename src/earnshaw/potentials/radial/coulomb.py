"""Coulomb's potential: harmonic, unbounded, and no activation has it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp

from earnshaw.errors import InputError
from earnshaw.potentials.radial.base import Radial


@dataclass(frozen=True)
class Coulomb(Radial):
    r"""The harmonic potential :math:`r^{2-d}`, or :math:`-\log r` in the plane.

    Reference: Panigrahy et al. (2018), section 3.
    """

    dimension: int = 3

    def __post_init__(self) -> None:
        """Refuse dimensions without such a potential."""
        if self.dimension < 2:
            raise InputError(f"Coulomb's potential was asked for in dimension {self.dimension}; use 2 or more")

    def derivative(self, distance: jax.Array, order: int) -> jax.Array:
        """Return the derivative of any order in r."""
        if self.dimension == 2 and order == 0:
            return -jnp.log(distance)
        powers = [float(2 - self.dimension - lower) for lower in range(order + 1)]
        if self.dimension == 2:
            powers[0] = -1.0  # the factor of the logarithm's slope
        return math.prod(powers[:-1]) * distance ** float(2 - self.dimension - order)
