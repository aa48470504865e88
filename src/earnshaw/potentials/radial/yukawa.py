r"""Yukawa's potential in odd dimensions: the radial function with :math:`\Delta\Phi = \lambda\Phi` that decays."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction

import jax
import jax.numpy as jnp

from earnshaw.errors import InputError
from earnshaw.numerics.angles import horner
from earnshaw.potentials.radial.base import Radial


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
    coefficients = [0] * (2 * m)
    for j in range(m):
        term = Fraction(math.factorial(m - 1 + j), math.factorial(j) * math.factorial(m - 1 - j) * 2**j)
        coefficients[m + j] = int(term)  # always whole: these are the coefficients of Bessel polynomials
    return tuple(coefficients)


def require_odd(name: str, dimension: int) -> None:
    """Refuse even dimensions, where the potential is no elementary function."""
    if dimension < 3 or dimension % 2 == 0:
        raise InputError(f"the {name} potential was asked for in dimension {dimension}; use an odd number from 3 on")


@dataclass(frozen=True)
class Yukawa(Radial):
    r"""The lambda-harmonic potential :math:`Y_d(\sqrt\lambda\, r)`; :math:`e^{-r}/r` for d = 3, lambda = 1.

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
