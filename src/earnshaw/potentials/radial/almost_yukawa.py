"""The almost Yukawa potential: bounded, some activation has it, and exactly lambda-harmonic outside a small ball."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

import jax
import jax.numpy as jnp

from earnshaw.errors import InputError
from earnshaw.numerics.angles import horner
from earnshaw.potentials.radial.base import Radial, require_odd, yukawa_coefficients

Polynomial = tuple[Fraction, ...]  # exact coefficients, lowest power first


class Variant(Enum):
    """How the pole of Yukawa's potential is rounded off inside the ball; the value is the sentence that explains it."""

    T = "the Taylor polynomial of degree d - 1 about the edge of the ball: every sign condition of Lemma 13 holds"
    B = "a positive mixture of overlap volumes of balls: its slope is a polynomial in the squared distance"
    S = "smooth at 0, no cone tip: Yukawa's potential averaged twice over a ball"


@dataclass(frozen=True)
class AlmostYukawa(Radial):
    r"""Yukawa's potential with its pole rounded off inside the ball of radius eps, and 1 at the origin.

    With :math:`x = \sqrt\lambda\,r` and :math:`e = \sqrt\lambda\,\epsilon`,

    .. math:: \Phi(r) = \begin{cases} Y_d(x) / N & x \ge e \\ P(x) / N & x < e,\end{cases} \qquad P(0) = N,

    so that :math:`\Delta\Phi = \lambda\Phi` for :math:`r \ge \epsilon`. Variant T takes for P the Taylor polynomial

    .. math:: P(x) = \sum_{n=0}^{d-1} \frac{(-1)^n Y_d^{(n)}(e)}{n!}\,(e - x)^n ,

    all of whose terms are positive; variant B takes :math:`P'(x) = \sum_{j\le m} g_j (x^2 - e^2)^j`, the Taylor
    polynomial of :math:`Y_d'(x)/x` and of x in the squared distance, multiplied and cut; variant S has
    :math:`(1 - \Delta)P` proportional to the overlap volume of two balls of radius e/2. T and B have a cone tip at 0.
    The coefficients are computed in exact rational arithmetic.

    Reference: Panigrahy et al. (2018), Lemma 13 (construction re-derived in docs/charges.md).
    """

    dimension: int = 3
    eigenvalue: float = 1.0
    radius: float = 0.5
    variant: Variant = Variant.T
    bounded = True

    def __post_init__(self) -> None:
        """Validate."""
        require_odd("almost Yukawa", self.dimension)
        for name, number in (("lambda", self.eigenvalue), ("the radius", self.radius)):
            if not (math.isfinite(number) and number > 0):
                raise InputError(f"{name} = {number} was given; the almost Yukawa potential needs a positive number")
        if math.sqrt(self.eigenvalue) * self.radius > 20:
            raise InputError(
                f"sqrt(lambda) * radius = {math.sqrt(self.eigenvalue) * self.radius:g}; use at most 20 (the paper takes less than 1)"
            )

    @functools.cached_property
    def edge(self) -> Fraction:
        """The radius in units of 1/sqrt(lambda)."""
        return Fraction(math.sqrt(self.eigenvalue) * self.radius)

    @functools.cached_property
    def inside(self) -> Polynomial:
        """Exact coefficients of P(x)/N in powers of x; for variant S, of its power series, to 1e-20."""
        return _INSIDE[self.variant](self.dimension, self.edge)[0]

    @functools.cached_property
    def outside(self) -> Fraction:
        r"""The exact factor c in :math:`\Phi = c\,e^{e}\,Y_d(x)` outside the ball: it is :math:`e^{-e}/N`."""
        return _INSIDE[self.variant](self.dimension, self.edge)[1]

    @functools.cached_property
    def _about_edge(self) -> tuple[float, ...]:
        """Coefficients of the inner part in powers of (e - x): positive for variant T, so that nothing cancels."""
        return tuple(float(c) for c in _reflected(self.inside, self.edge))

    def derivative(self, distance: jax.Array, order: int) -> jax.Array:
        """Return the derivative of any order in r; at r = 0 the limit from the right."""
        root = math.sqrt(self.eigenvalue)
        edge = float(self.edge)
        x = root * jnp.asarray(distance)
        away = x >= edge
        far = jnp.where(away, x, edge)
        outer = (-1) ** order * jnp.exp(edge - far) * horner(yukawa_coefficients(self.dimension, order), 1 / far)
        inner = _differentiated(self._about_edge, order) or (0.0,)
        near = (-1) ** order * horner(inner, jnp.where(away, 0.0, edge - x))
        return root**order * jnp.where(away, float(self.outside) * outer, near)


# ---- exact polynomials --------------------------------------------------------------------------------------------


def _differentiated(polynomial: Sequence, order: int) -> tuple:
    for _ in range(order):
        polynomial = [power * c for power, c in enumerate(polynomial)][1:]
    return tuple(polynomial)


def evaluate(polynomial: Sequence[Fraction], x: Fraction) -> Fraction:
    """Return an exact polynomial at an exact point."""
    return functools.reduce(lambda total, coefficient: total * x + coefficient, reversed(polynomial), Fraction(0))


def _reflected(polynomial: Sequence[Fraction], edge: Fraction) -> Polynomial:
    """Return p(x) as a polynomial in (edge - x), or the other way round."""
    derivatives = (evaluate(_differentiated(polynomial, n), edge) for n in range(len(polynomial)))
    return tuple(value * (-1) ** n / math.factorial(n) for n, value in enumerate(derivatives))


def _yukawa_at(dimension: int, edge: Fraction, order: int = 0) -> Fraction:
    """Return e^edge times (-1)^n Y^(n)(edge), which is rational."""
    return evaluate([Fraction(c) for c in yukawa_coefficients(dimension, order)], 1 / edge)


def _normalised(polynomial: Sequence[Fraction], outside: Fraction) -> tuple[Polynomial, Fraction]:
    return tuple(c / polynomial[0] for c in polynomial), outside / polynomial[0]


def _taylor(dimension: int, edge: Fraction) -> tuple[Polynomial, Fraction]:
    about_edge = [_yukawa_at(dimension, edge, n) / math.factorial(n) for n in range(dimension)]
    return _normalised(_reflected(about_edge, edge), Fraction(1))


def _balls(dimension: int, edge: Fraction) -> tuple[Polynomial, Fraction]:
    m = (dimension - 1) // 2
    rising = [Fraction(0)] * (2 * m + 2)
    for j in range(m + 1):
        g, half = Fraction(0), Fraction(1)  # half = binomial(1/2, l)
        for low in range(j + 1):
            taylor = Fraction(-1, 2) ** (j - low) / math.factorial(j - low)
            g -= half * edge ** (1 - 2 * low) * taylor * _yukawa_at(dimension + 2 + 2 * (j - low), edge)
            half *= (Fraction(1, 2) - low) / (low + 1)
        for i in range(j + 1):  # the integral of g (x^2 - e^2)^j
            rising[2 * i + 1] += g * math.comb(j, i) * (-edge * edge) ** (j - i) / (2 * i + 1)
    rising[0] = _yukawa_at(dimension, edge) - evaluate(rising, edge)
    return _normalised(rising, Fraction(1))


def _smooth(dimension: int, edge: Fraction) -> tuple[Polynomial, Fraction]:
    r"""Return variant S: :math:`P = I - G Q`, I regular with :math:`\Delta I = I`, and :math:`\Delta Q - Q = g`.

    G and the outer factor come from the continuity of value and slope at the edge.
    """
    source = overlap(dimension, edge)
    regular, particular = [Fraction(1), Fraction(0)], [Fraction(0), Fraction(0)]
    terms = max(len(source) + 2, 16 + 6 * math.ceil(edge))  # the series of I is then exact to 1e-20
    for n in range(2, terms):
        factor = Fraction(1, n * (n + dimension - 2))
        regular.append(factor * regular[n - 2])
        particular.append(factor * (particular[n - 2] + (source[n - 2] if n - 2 < len(source) else 0)))
    value, slope = _yukawa_at(dimension, edge), -_yukawa_at(dimension, edge, 1)
    i, q = evaluate(regular, edge), evaluate(particular, edge)
    di, dq = evaluate(_differentiated(regular, 1), edge), evaluate(_differentiated(particular, 1), edge)
    strength = (i * slope - di * value) / (q * slope - dq * value)
    outside = (i - strength * q) / value
    return _normalised([a - strength * b for a, b in zip(regular, particular, strict=True)], outside)


def overlap(dimension: int, edge: Fraction) -> Polynomial:
    r"""Return :math:`\int_{x/e}^1 (1 - t^2)^m\,dt` in powers of x: the overlap of two balls of radius e/2, to a factor."""
    m = (dimension - 1) // 2
    result = [Fraction(0)] * (2 * m + 2)
    for i in range(m + 1):
        term = Fraction(math.comb(m, i) * (-1) ** i, 2 * i + 1)
        result[0] += term
        result[2 * i + 1] -= term / edge ** (2 * i + 1)
    return tuple(result)


_INSIDE = {Variant.T: _taylor, Variant.B: _balls, Variant.S: _smooth}
