"""Potentials of the distance alone: charges in space, under Coulomb's law and Yukawa's, and on a circle."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction

import jax
import jax.numpy as jnp

from earnshaw.errors import InputError
from earnshaw.numerics.angles import horner
from earnshaw.potentials.base import Pairs


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

    def pairs(self, first: jax.Array, second: jax.Array | None = None) -> Pairs:
        """Return the pairs of places with others, or with themselves."""
        others = first if second is None else second
        return _Pairs(self, self.difference(first[..., :, None, :], others[..., None, :, :]), second is None)

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
class _Pairs(Pairs):
    """The differences (..., n, m, d) of places; ``same``: those of n places with themselves."""

    potential: Radial
    apart: jax.Array
    same: bool

    @functools.cached_property
    def distance(self) -> jax.Array:
        return _length(self.apart)

    def values(self) -> jax.Array:
        if not self.same:
            return self.potential.value(self.distance)
        itself = jnp.eye(self.apart.shape[-2], dtype=bool)
        alone = 1.0 if self.potential.bounded else 0.0  # of a charge with itself: where unbounded, it is left out
        return jnp.where(itself, alone, self.potential.value(jnp.where(itself, 1.0, self.distance)))

    def _pull(self) -> jax.Array:
        """Return the slope over the distance, 0 where a pair touches."""
        safe = jnp.where(self.distance > 0, self.distance, 1.0)
        return jnp.where(self.distance > 0, self.potential.slope(safe) / safe, 0.0)

    def slopes(self) -> jax.Array:
        return self._pull()[..., None] * self.apart

    def force(self, charges: jax.Array) -> jax.Array:
        return jnp.sum((charges[..., None, :] * self._pull())[..., None] * self.apart, -2)


def _length(vectors: jax.Array) -> jax.Array:
    """Return the lengths of vectors (..., d), with a derivative of 0 where they vanish."""
    square = jnp.sum(vectors * vectors, -1)
    return jnp.where(square > 0, jnp.sqrt(jnp.where(square > 0, square, 1.0)), 0.0)


def laplacian(potential: Radial, distance: jax.Array) -> jax.Array:
    r"""Return :math:`\Delta\Phi = \Phi'' + \frac{d-1}{r}\Phi'`, elementwise, for r > 0."""
    return potential.curvature(distance) + (potential.dimension - 1) / distance * potential.slope(distance)


@dataclass(frozen=True)
class Coulomb(Radial):
    r"""Coulomb's potential :math:`r^{2-d}`, or :math:`-\log r` in the plane: harmonic, unbounded, and no activation has it.

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


def bessel_coefficient(n: int, k: int) -> Fraction:
    r"""Return :math:`\frac{(n+k)!}{k!\,(n-k)!\,2^k}`, of the Bessel polynomial of degree n: always whole."""
    return Fraction(math.factorial(n + k), math.factorial(k) * math.factorial(n - k) * 2**k)


@functools.cache
def yukawa_coefficients(dimension: int, order: int = 0) -> tuple[int, ...]:
    r"""Return the whole numbers c_p >= 0 of the derivative of this order,

    .. math:: (-1)^{n}\,Y_d^{(n)}(r) = e^{-r}\sum_p c_p\, r^{-p}, \qquad
        Y_d(r) = e^{-r}\sum_{j<m} \frac{(m-1+j)!}{j!\,(m-1-j)!\,2^j}\, r^{-(m+j)}, \quad m = \frac{d-1}2 .

    All terms have one sign, so nothing cancels in any derivative.
    """
    if order:
        before = (*yukawa_coefficients(dimension, order - 1), 0)
        return tuple(c + (p - 1) * before[p - 1] if p else c for p, c in enumerate(before))
    m = (dimension - 1) // 2
    return (0,) * m + tuple(int(bessel_coefficient(m - 1, j)) for j in range(m))


def require_odd(name: str, dimension: int) -> None:
    """Refuse even dimensions, where Yukawa's potential is no elementary function."""
    if dimension < 3 or dimension % 2 == 0:
        raise InputError(f"the {name} potential was asked for in dimension {dimension}; use an odd number from 3 on")


@dataclass(frozen=True)
class Yukawa(Radial):
    r"""The potential :math:`Y_d(\sqrt\lambda\, r)`, which decays, with :math:`\Delta\Phi = \lambda\Phi`; :math:`e^{-r}/r` for d = 3, lambda = 1.

    Unbounded at r = 0, so no activation has it; :class:`AlmostYukawa` is its bounded relative.
    Reference: Panigrahy et al. (2018), Definition 10.
    """

    dimension: int = 3
    eigenvalue: float = 1.0

    def __post_init__(self) -> None:
        """Validate."""
        require_odd("Yukawa", self.dimension)
        if not (math.isfinite(self.eigenvalue) and self.eigenvalue > 0):
            raise InputError(f"lambda = {self.eigenvalue} was given; the Yukawa potential needs a positive number")

    def derivative(self, distance: jax.Array, order: int) -> jax.Array:
        """Return the derivative of any order in r."""
        root = math.sqrt(self.eigenvalue)
        x = root * jnp.asarray(distance)
        return (-root) ** order * jnp.exp(-x) * horner(yukawa_coefficients(self.dimension, order), 1 / x)


def turned(angle: jax.Array) -> jax.Array:
    """Return the angle in [-pi, pi)."""
    return jnp.mod(angle + math.pi, 2 * math.pi) - math.pi


@dataclass(frozen=True)
class Circle(Radial):
    r"""The potential :math:`1 - 2|\alpha|/\pi` of two places on the circle, alpha the angle between; a place is its angle.

    That of sign neurons in the plane. Harmonic but for kinks: every charge pulls with a constant force, whatever the distance.

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
