"""The potential of polynomial neurons."""

from __future__ import annotations

import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp

from earnshaw.potentials.frames import plain_blocks
from earnshaw.potentials.invariant import Invariant


@dataclass(frozen=True)
class Hermite(Invariant):
    r"""The potential of :math:`He_l(u\cdot x)/\sqrt{l!}`, He the Hermite polynomials of the normal density,

    .. math:: \Phi(u, v) = \sum_{j \le l/2} C_j\,\big[(|u|^2 - 1)(|v|^2 - 1)\big]^j (u\cdot v)^{l - 2j}, \qquad
        C_j = \frac{l!}{4^j\, j!^2\, (l - 2j)!} .

    On the unit sphere all terms but the first vanish: :math:`\Phi = (u\cdot v)^l`. Off it, the sum is
    :math:`He_l(rz) = \sum_j \frac{l!}{2^j j! (l-2j)!} (r^2 - 1)^j r^{l-2j} He_{l-2j}(z)` multiplied out. A polynomial:
    smooth everywhere.

    Reference: Panigrahy et al. (2018), section 2 (polynomial potentials, on the sphere).
    """

    degree: int

    def activation(self, x: jax.Array) -> jax.Array:
        """Return the normalised Hermite polynomial, by its recursion."""
        before, now = jnp.zeros_like(x), jnp.ones_like(x)
        for order in range(self.degree):
            before, now = now, (x * now - math.sqrt(order) * before) / math.sqrt(order + 1)
        return now

    def prepare(self, size: jax.Array) -> jax.Array:
        """Return the square less 1."""
        return size - 1.0

    def value(self, first: jax.Array, second: jax.Array, product: jax.Array) -> jax.Array:
        """Return Phi from the two squares, less 1, and the product."""
        return self._derivative(first * second, product, 0, 0)

    def gradient(self, first: jax.Array, second: jax.Array, product: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return (A, B): twice the derivative by the square, and the derivative by the product."""
        y = first * second
        return 2.0 * second * self._derivative(y, product, 1, 0), self._derivative(y, product, 0, 1)

    def second_derivatives(self, first: jax.Array, second: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return the two blocks of second derivatives at pairs of vectors (..., d)."""
        a, b = (self.prepare(jnp.sum(vector * vector, -1)) for vector in (first, second))
        y, p = a * b, jnp.sum(first * second, -1)
        bend, twist = self._derivative(y, p, 2, 0), self._derivative(y, p, 1, 1)
        slope = self._derivative(y, p, 1, 0)
        return plain_blocks(
            first,
            second,
            by_square=b * slope,
            by_product=self._derivative(y, p, 0, 1),
            square_square=b * b * bend,
            square_square_of_other=y * bend + slope,
            square_product=b * twist,
            other_square_product=a * twist,
            product_product=self._derivative(y, p, 0, 2),
        )

    def _derivative(self, y: jax.Array, p: jax.Array, by_y: int, by_p: int) -> jax.Array:
        r"""Return a derivative of :math:`\sum_j C_j y^j p^{l-2j}`, by Horner's rule in y and p^2 together."""
        powers = range(by_y, (self.degree - by_p) // 2 + 1)
        if not powers:
            return jnp.zeros_like(y * p)
        factors = [
            _coefficient(self.degree, j) * math.perm(j, by_y) * math.perm(self.degree - 2 * j, by_p) for j in powers
        ]
        total, power, square = jnp.full_like(y * p, factors[0]), jnp.ones_like(y), p * p
        for factor in factors[1:]:
            power = power * y
            total = total * square + factor * power
        for _ in range(self.degree - by_p - 2 * powers[-1]):
            total = total * p
        return total


def _coefficient(degree: int, j: int) -> float:
    return math.factorial(degree) / (4**j * math.factorial(j) ** 2 * math.factorial(degree - 2 * j))
