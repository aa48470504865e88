"""Potentials of the distance alone: charges in space."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import jax
import jax.numpy as jnp


class Radial:
    r"""A potential :math:`\Phi(\theta, w) = \Phi(|\theta - w|)` on R^d.

    Outside of ``radius`` it is an eigenfunction of the Laplacian, :math:`\Delta\Phi = \lambda\Phi`, with lambda the
    ``eigenvalue`` (0 for a harmonic potential). The derivatives work elementwise on distances r > 0, and a
    bounded potential takes r = 0 too, where it is 1. Where two charges touch there may be a cone tip without a gradient:
    such a pair is left out of all derivatives.

    Reference: Panigrahy et al. (2018), sections 2 and 3.
    """

    bounded: bool = False
    dimension: int  # d, of the space
    eigenvalue: float = 0.0
    radius: float = 0.0

    def derivative(self, distance: jax.Array, order: int) -> jax.Array:
        """Return the derivative of an order in r: Phi itself, its slope, its curvature."""
        raise NotImplementedError

    def value(self, distance: jax.Array) -> jax.Array:
        """Return Phi(r)."""
        return self.derivative(distance, 0)

    def slope(self, distance: jax.Array) -> jax.Array:
        """Return the first derivative in r."""
        return self.derivative(distance, 1)

    def curvature(self, distance: jax.Array) -> jax.Array:
        """Return the second derivative in r."""
        return self.derivative(distance, 2)

    def difference(self, first: jax.Array, second: jax.Array) -> jax.Array:
        """Return the shortest way from the second place to the first."""
        return first - second

    def place(self, positions: jax.Array) -> jax.Array:
        """Return the places: nothing can be computed of one alone."""
        return positions

    def pairs(self, first: jax.Array, second: jax.Array | None = None) -> RadialPairs:
        """Return the pairs of places with others, or with themselves."""
        others = first if second is None else second
        return RadialPairs(self, self.difference(first[..., :, None, :], others[..., None, :, :]), second is None)

    def second_derivatives(self, first: jax.Array, second: jax.Array) -> tuple[jax.Array, jax.Array]:
        r"""Return :math:`\Phi'' uu^T + \frac{\Phi'}r(I - uu^T)`, u the unit vector between, and minus that; 0 where r = 0."""
        apart = self.difference(first, second)
        distance = _length(apart)
        touching = distance == 0
        safe = jnp.where(touching, 1.0, distance)
        unit = apart / safe[..., None]
        slope = jnp.where(touching, 0.0, self.slope(safe))
        curvature = jnp.where(touching, 0.0, self.curvature(safe))
        outer = unit[..., :, None] * unit[..., None, :]
        across = (slope / safe)[..., None, None] * (jnp.eye(apart.shape[-1]) - outer)
        same = curvature[..., None, None] * outer + across
        return same, -same


@dataclass(frozen=True)
class RadialPairs:
    """The differences (..., n, m, d) of places; ``same``: those of n places with themselves."""

    potential: Radial
    apart: jax.Array
    same: bool

    @cached_property
    def distance(self) -> jax.Array:
        """The distances (..., n, m)."""
        return _length(self.apart)

    def values(self) -> jax.Array:
        """Return Phi, (..., n, m); of a charge with itself 1 under a bounded potential, else 0: it is left out."""
        if not self.same:
            return self.potential.value(self.distance)
        itself = jnp.eye(self.apart.shape[-2], dtype=bool)
        alone = 1.0 if self.potential.bounded else 0.0
        return jnp.where(itself, alone, self.potential.value(jnp.where(itself, 1.0, self.distance)))

    def _pull(self) -> jax.Array:
        """Return the slope over the distance, 0 where a pair touches."""
        safe = jnp.where(self.distance > 0, self.distance, 1.0)
        return jnp.where(self.distance > 0, self.potential.slope(safe) / safe, 0.0)

    def slopes(self) -> jax.Array:
        """Return the gradients in the first place, (..., n, m, d)."""
        return self._pull()[..., None] * self.apart

    def force(self, charges: jax.Array) -> jax.Array:
        """Return the sums over the second group, (..., n, d)."""
        return jnp.sum((charges[..., None, :] * self._pull())[..., None] * self.apart, -2)


def _length(vectors: jax.Array) -> jax.Array:
    """Return the lengths of vectors (..., d), with a derivative of 0 where they vanish."""
    square = jnp.sum(vectors * vectors, -1)
    return jnp.where(square > 0, jnp.sqrt(jnp.where(square > 0, square, 1.0)), 0.0)


def laplacian(potential: Radial, distance: jax.Array) -> jax.Array:
    r"""Return :math:`\Delta\Phi = \Phi'' + \frac{d-1}{r}\Phi'`, elementwise, for r > 0."""
    return potential.curvature(distance) + (potential.dimension - 1) / distance * potential.slope(distance)
