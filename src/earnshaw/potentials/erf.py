"""The potential of erf neurons."""

from __future__ import annotations

import math
from dataclasses import dataclass

import jax

from earnshaw.numerics import arcsine
from earnshaw.potentials.frames import Entries, assemble, frame
from earnshaw.potentials.invariant import Invariant
from earnshaw.potentials.lifted import arcsine_entries, determinant

_LIFT = 0.5  # erf(x) = E[sign(x + e / sqrt 2)]


@dataclass(frozen=True)
class Erf(Invariant):
    r"""The potential of :math:`c_0 + c_1\operatorname{erf}(z)`: erf itself, and unit-erf = (1 + erf z)/2.

    .. math:: \Phi(u, v) = c_0^2 + \frac{2c_1^2}\pi\arcsin\frac{2\,u\cdot v}{\sqrt{(1 + 2|u|^2)(1 + 2|v|^2)}} ,

    for erf that of sign neurons lifted by :math:`s^2 = 1/2`: with :math:`q = |u|^2 + \tfrac12` and D of
    :mod:`earnshaw.potentials.lifted`,
    :math:`\partial\Phi/\partial u = \frac{2c_1^2}\pi\,\big(v - (u\cdot v/q_1)\,u\big)/\sqrt D`. Smooth everywhere. An error of
    1e-16 in the product is one of :math:`10^{-16}\,|u|^2|v|^2/D` in D: 1e-10 of the gradient at parallel pairs of length
    1e3.

    Reference: Williams (1997); Saad & Solla (1995); Simsek et al. (2023).
    """

    offset: float = 0.0
    height: float = 1.0

    @property
    def _factor(self) -> float:
        return 2.0 * self.height**2 / math.pi

    def activation(self, x: jax.Array) -> jax.Array:
        """Return the function itself."""
        return self.offset + self.height * jax.scipy.special.erf(x)

    def value(self, first: jax.Array, second: jax.Array, product: jax.Array) -> jax.Array:
        """Return Phi from the two squares and the product."""
        return self.offset**2 + self._factor * arcsine(product * jax.lax.rsqrt((first + _LIFT) * (second + _LIFT)))

    def gradient(self, first: jax.Array, second: jax.Array, product: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return (A, B), without any arc."""
        toward = self._factor * jax.lax.rsqrt(determinant(first, second, product, _LIFT, _LIFT))
        return -toward * product / (first + _LIFT), toward

    def second_derivatives(self, first: jax.Array, second: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return the two blocks of second derivatives at pairs of vectors (..., d)."""
        plane = frame(first, second)
        same, mixed = (
            assemble(plane, Entries(*(self._factor * entry for entry in entries)))
            for entries in arcsine_entries(plane, _LIFT, _LIFT)
        )
        return same, mixed
