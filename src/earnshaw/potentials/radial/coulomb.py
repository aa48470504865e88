"""Coulomb's potential: harmonic, unbounded, and no activation has it."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp

from earnshaw.errors import InputError


@dataclass(frozen=True)
class Coulomb:
    r"""The harmonic potential :math:`r^{2-d}`, or :math:`-\log r` in the plane.

    Reference: Panigrahy et al. (2018), section 3.
    """

    dimension: int = 3

    def __post_init__(self) -> None:
        """Refuse dimensions without such a potential."""
        if self.dimension < 2:
            raise InputError(f"Coulomb's potential was asked for in dimension {self.dimension}; use 2 or more")

    @property
    def eigenvalue(self) -> float:
        """0: the potential is harmonic."""
        return 0.0

    @property
    def radius(self) -> float:
        """0: it is harmonic everywhere but at the charge."""
        return 0.0

    @property
    def bounded(self) -> bool:
        """No."""
        return False

    def value(self, distance: jax.Array) -> jax.Array:
        """Return Phi(r)."""
        return -jnp.log(distance) if self.dimension == 2 else distance ** (2.0 - self.dimension)

    def slope(self, distance: jax.Array) -> jax.Array:
        """Return the first derivative."""
        factor = -1.0 if self.dimension == 2 else 2.0 - self.dimension
        return factor * distance ** (1.0 - self.dimension)

    def curvature(self, distance: jax.Array) -> jax.Array:
        """Return the second derivative."""
        return (1.0 - self.dimension) / distance * self.slope(distance)
