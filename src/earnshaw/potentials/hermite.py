"""The potential of polynomial neurons."""

from __future__ import annotations

import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp

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
        r"""Return the two blocks of second derivatives of :math:`\psi(A, B, p)`, :math:`A = |u|^2, B = |v|^2, p = u\cdot v`.

        .. math::
            \partial_u^2\Phi = 2\psi_A I + 4\psi_{AA} uu^T + 2\psi_{Ap}(uv^T + vu^T) + \psi_{pp} vv^T, \qquad
            \partial_u\partial_v\Phi = \psi_p I + 4\psi_{AB} uv^T + 2\psi_{Ap} uu^T + 2\psi_{Bp} vv^T + \psi_{pp} vu^T .
        """

        def outer(left: jax.Array, right: jax.Array, factor: jax.Array) -> jax.Array:
            return factor[..., None, None] * left[..., :, None] * right[..., None, :]

        u, v, identity = first, second, jnp.eye(first.shape[-1])
        a, b = (self.prepare(jnp.sum(vector * vector, -1)) for vector in (u, v))
        y, p = a * b, jnp.sum(u * v, -1)
        by_y, by_p, by_yy, by_yp, by_pp = (
            self._derivative(y, p, *orders) for orders in ((1, 0), (0, 1), (2, 0), (1, 1), (0, 2))
        )
        same = 2 * (b * by_y)[..., None, None] * identity + outer(u, u, 4 * (b * b * by_yy)) + outer(v, v, by_pp)
        same = same + outer(u, v, 2 * (b * by_yp)) + outer(v, u, 2 * (b * by_yp))
        mixed = by_p[..., None, None] * identity + outer(u, v, 4 * (y * by_yy + by_y))
        mixed = mixed + outer(u, u, 2 * (b * by_yp)) + outer(v, v, 2 * (a * by_yp))
        return same, mixed + outer(v, u, by_pp)

    def _derivative(self, y: jax.Array, p: jax.Array, by_y: int, by_p: int) -> jax.Array:
        r"""Return a derivative of :math:`\sum_j C_j y^j p^{l-2j}`, by Horner's rule in y and p^2 together."""
        powers = range(by_y, (self.degree - by_p) // 2 + 1)
        if not powers:
            return jnp.zeros_like(y * p)
        factors = [self._coefficient(j) * math.perm(j, by_y) * math.perm(self.degree - 2 * j, by_p) for j in powers]
        total, power, square = jnp.full_like(y * p, factors[0]), jnp.ones_like(y), p * p
        for factor in factors[1:]:
            power = power * y
            total = total * square + factor * power
        for _ in range(self.degree - by_p - 2 * powers[-1]):
            total = total * p
        return total

    def _coefficient(self, j: int) -> float:
        return math.factorial(self.degree) / (4**j * math.factorial(j) ** 2 * math.factorial(self.degree - 2 * j))
