r"""Transforms :math:`\mathfrak F\Phi(\omega) = \int \Phi(|x|)\, e^{-i\omega\cdot x}\,dx`: which potentials some activation has."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import NDArray

from earnshaw.potentials.radial.almost_yukawa import AlmostYukawa, Polynomial, Variant, overlap
from earnshaw.potentials.radial.base import bessel_coefficient

Array = NDArray[np.float64]
Terms = defaultdict[tuple[int, int], Fraction]  # by the power of 1/w, and whether real (0) or imaginary (1)
SWITCH = 30.0  # above this frequency times radius the closed form is exact to rounding, below it the quadrature is


@dataclass(frozen=True)
class Transform:
    r"""The Fourier transform of an almost Yukawa potential.

    The source :math:`f = (\lambda - \Delta)\Phi` vanishes outside the ball of radius eps, and there it is a polynomial
    (with a pole 1/r at a cone tip). So, for d = 2m + 1 and j the spherical Bessel function,

    .. math:: \mathfrak F\Phi(\omega) = \frac{2 (2\pi)^m}{\lambda + \omega^2}
        \int_0^\epsilon f(r)\, r^{d-1}\, \frac{j_{m-1}(\omega r)}{(\omega r)^{m-1}}\, dr .

    Low frequencies use Gauss-Legendre quadrature. At high ones the integral is far smaller than its integrand, and it
    is integrated by parts in exact arithmetic instead: a finite sum of :math:`\omega^{-p}` times 1,
    :math:`\cos\omega\epsilon` and :math:`\sin\omega\epsilon`, whose leading terms are exactly 0.

    Reference: Panigrahy et al. (2018), Theorem 3 and Lemma 13.
    """

    potential: AlmostYukawa

    @cached_property
    def source(self) -> Polynomial:
        r"""Exact coefficients of :math:`x f(x)`, lambda = 1, in powers of x."""
        d, inside = self.potential.dimension, self.potential.inside
        if self.potential.variant is Variant.S:  # the inner part is a series, its source a multiple of an overlap
            shape = overlap(d, self.potential.edge)
            strength = (inside[0] - 2 * d * inside[2]) / shape[0]
            return (Fraction(0), *(strength * c for c in shape))
        result = [Fraction(0)] * (len(inside) + 1)
        for power, c in enumerate(inside):
            result[power + 1] += c
            if power:
                result[power - 1] -= power * (power + d - 2) * c
        return tuple(result)

    @cached_property
    def expansion(self) -> tuple[tuple[int, float, float, float], ...]:
        """Rows (p, a, b, c): the integral is the sum of w^-p (a + b cos(w e) + c sin(w e)), w in units of sqrt(lambda)."""
        m, edge = (self.potential.dimension - 1) // 2, self.potential.edge
        n = m - 1
        at_edge: Terms = defaultdict(Fraction)
        at_zero: Terms = defaultdict(Fraction)

        def add(table: Terms, power: int, turns: int, amount: Fraction) -> None:
            table[power, turns % 2] += amount if turns % 4 < 2 else -amount  # i^turns times amount

        for k in range(n + 1):  # j_n(z)/z^n = Re (-i)^(n+1) e^(iz) sum_k i^k c_k z^-(n+1+k)
            c = bessel_coefficient(n, k)
            for power, f in enumerate(self.source):
                q = power + 2 * m - 1 - (n + 1 + k)  # the power of x left under the integral
                turns, low, amount = k - (n + 1), n + 1 + k, c * f
                for s in range(q + 1):  # integral of x^q e^(iwx) by parts; 1/i = i^-1
                    falling = Fraction(math.factorial(q), math.factorial(q - s)) * (-1) ** s
                    add(at_edge, low + s + 1, turns - (s + 1), amount * falling * edge ** (q - s))
                add(at_zero, low + q + 1, turns - (q + 1), -amount * math.factorial(q) * (-1) ** q)
        rows = (
            (power, float(at_zero[power, 0]), float(at_edge[power, 0]), -float(at_edge[power, 1]))
            for power in sorted({power for power, _ in (*at_edge, *at_zero)})
        )
        return tuple(row for row in rows if any(row[1:]))

    def __call__(self, frequency: Array) -> Array:
        """Return the transform at frequencies |omega| >= 0, elementwise."""
        root = math.sqrt(self.potential.eigenvalue)
        w = np.abs(np.asarray(frequency, dtype=float)) / root
        integral = np.empty_like(w)
        high = w * float(self.potential.edge) > SWITCH
        integral[high] = self._by_parts(w[high])
        integral[~high] = self._by_quadrature(w[~high])
        m = (self.potential.dimension - 1) // 2
        return root ** -(2 * m + 1) * 2 * (2 * math.pi) ** m * integral / (1 + w**2)

    def root(self, frequency: Array) -> Array:
        r"""Return a square root of the transform, the one whose inverse transform decays: of the squares of variant S that
        of the ball's transform, which changes its sign, and the positive one of the others."""
        positive = np.sqrt(np.maximum(self(frequency), 0.0))
        if self.potential.variant is not Variant.S:
            return positive
        from scipy.special import spherical_jn

        m, half = (self.potential.dimension - 1) // 2, 0.5 * self.potential.radius
        return np.where(spherical_jn(m, half * np.abs(frequency)) < 0, -positive, positive)

    def _by_parts(self, w: Array) -> Array:
        edge = float(self.potential.edge)
        if self.potential.variant is Variant.S:  # the square of one ball's transform, which keeps its double zeros
            from scipy.special import spherical_jn

            m, half = (self.potential.dimension - 1) // 2, 0.5 * edge
            double_factorial = math.prod(range(1, 2 * m + 2, 2))
            at_zero = self._by_quadrature(np.zeros(1))[0]
            return at_zero * (double_factorial * spherical_jn(m, half * w) / (half * w) ** m) ** 2
        total = np.zeros_like(w)
        for power, a, b, c in reversed(self.expansion):
            total += w ** -float(power) * (a + b * np.cos(w * edge) + c * np.sin(w * edge))
        return total

    def _by_quadrature(self, w: Array) -> Array:
        from scipy.special import spherical_jn

        m, edge = (self.potential.dimension - 1) // 2, float(self.potential.edge)
        nodes, weights = leggauss(40 + math.ceil(SWITCH))
        x = 0.5 * edge * (nodes + 1)
        density = 0.5 * edge * weights * x ** (2 * m - 1) * np.polyval([float(c) for c in self.source[::-1]], x)
        z = w[:, None] * x
        kernel = np.where(z > 1e-3, spherical_jn(m - 1, z) / np.where(z > 1e-3, z, 1.0) ** (m - 1), 0.0)
        small = (1 - z**2 / (2 * (2 * m + 1))) / math.prod(range(1, 2 * m, 2))
        return np.where(z > 1e-3, kernel, small) @ density

    @property
    def decay(self) -> tuple[float, float]:
        r"""Return (C, K): the transform is :math:`C\,\omega^{-(d+1)}(1 - K\omega^{-2} + \dots)` plus faster oscillations.

        C is 0 for variant S, which has no cone tip and decays like :math:`\omega^{-(d+3)}`.
        """
        d, lam = self.potential.dimension, self.potential.eigenvalue
        terms = {power: a for power, a, _, _ in self.expansion}
        leading = terms.get(d - 1, 0.0)
        if leading == 0 or self.potential.variant is Variant.S:
            return 0.0, 0.0
        scale = 2 * (2 * math.pi) ** ((d - 1) // 2) * leading * math.sqrt(lam)
        return scale, lam * (1 - terms.get(d + 1, 0.0) / leading)


@dataclass(frozen=True)
class Realisability:
    """Whether some activation has a potential: its transform must not be negative (Theorem 3)."""

    realisable: bool
    smallest: float  #: of the transform times (1 + (omega eps)^2)^((d + 1)/2), divided by the same at 0
    frequencies: int  #: how many were tried
    highest: float  #: of them, times eps; beyond, the transform's first term, which is positive, outweighs the rest


def realisability(potential: AlmostYukawa, highest: float = 2000.0, frequencies: int = 20_000) -> Realisability:
    """Test the sign of the transform on a grid that resolves its oscillations."""
    transform = Transform(potential)
    w = np.linspace(0.0, highest, frequencies) / potential.radius
    flat = transform(w) * (1 + (w * potential.radius) ** 2) ** ((potential.dimension + 1) / 2)
    smallest = float(flat.min() / abs(flat[0]))
    least = -1e-15 if potential.variant is Variant.S else 0.0
    return Realisability(smallest >= least, smallest, frequencies, highest)
