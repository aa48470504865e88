r"""The potentials of sigmoid, tanh and softplus neurons: mixtures of sign and ReLU neurons with noise.

The logistic distribution is a scale mixture of normal ones: if K has the Kolmogorov distribution, with density
:math:`8\kappa\sum_{m\ge1} (-1)^{m+1} m^2 e^{-2m^2\kappa^2}`, and Z is normal, then 2 K Z is logistic (Andrews & Mallows,
1974). So

.. math:: \mathrm{sigmoid}(x) = E\,\mathrm{cdf}\Big(\frac x{2K}\Big) \approx \sum_m p_m\,\mathrm{cdf}(x/s_m),

*uniformly* in x, with the nodes :math:`s_m` and weights :math:`p_m` of the Gauss rule for log K. The error with 18 nodes
is below 1e-12 for every x (``ERROR``). Every cdf is a step with noise (:mod:`earnshaw.potentials.lifted`), so the
potentials are double sums of arc-cosine kernels, exact for all norms, without any quadrature over x.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.numerics import arcsine
from earnshaw.numerics.angles import horner
from earnshaw.potentials.invariant import Entries, Frame, Invariant
from earnshaw.potentials.lifted import arcsine_entries, ramp_entries

# fmt: off
SCALES = np.array([
    0.45837795637762213, 0.5351120808329103, 0.6186481170977467, 0.7149883199557386, 0.8290841460169316,
    0.966319206175646, 1.1328796701669417, 1.3357322296540206, 1.5821915487356966, 1.8789545698509929,
    2.230815213995274, 2.6403230986725448, 3.1093046077985127, 3.6408152132732687, 4.241045430229121,
    4.922844445010409, 5.714984414304073, 6.699078456056147,
])
WEIGHTS = np.array([
    5.309213801312462e-09, 1.5144194146442517e-06, 7.272388386252739e-05, 0.0012033567634089544, 0.009261903870374533,
    0.03926450456030364, 0.10254675788099907, 0.179027165700165, 0.22210496669144184, 0.2040294220346118,
    0.14063312246300036, 0.0709900311675959, 0.024713892424058935, 0.005438152835157144, 0.0006724026929212352,
    3.927447818207091e-05, 8.000545147401968e-07, 2.7707738163611986e-09,
])
# fmt: on
ERROR = 1e-12  # |sigmoid - mixture| for every x; softplus is right to 4e-13, tanh to 2e-12
_CENTRE = 3.0  # of the squares of the scales, by weight


def _mean_power(power: float, degree: int) -> np.ndarray:
    r"""Return polynomial coefficients of :math:`\sum_m p_m\,(1 + (s_m^2/c - 1)\,x)^{power}` in 2 x - 1, x in [0, 1].

    The sums :math:`\sum_{m'} p_{m'} D_{mm'}^{power}` over one of the two mixtures are this polynomial at
    :math:`x = c\,q_m/D_{mc}`, times :math:`D_{mc}^{power}`, where :math:`D_{mc} = s_m^2|v|^2 + |u\wedge v|^2 + c\,q_m`: one
    root in place of eighteen. Right to 1e-13.
    """
    nodes = np.cos(np.pi * (np.arange(degree + 1) + 0.5) / (degree + 1))
    values = (1.0 + np.multiply.outer(0.5 * (nodes + 1.0), SCALES**2 / _CENTRE - 1.0)) ** power @ WEIGHTS
    chebyshev = np.polynomial.chebyshev.chebfit(nodes, values, degree)
    return np.polynomial.chebyshev.cheb2poly(chebyshev)


_INVERSE_ROOTS, _ROOTS = _mean_power(-0.5, 28), _mean_power(0.5, 22)


def _mixed(coefficients: np.ndarray, x: jax.Array) -> jax.Array:
    """Return the polynomial at 2 x - 1, in four interleaved parts: a processor works on them side by side."""
    y = 2.0 * x - 1.0
    square = y * y
    fourth = square * square
    first, second, third, last = (horner(coefficients[offset::4], fourth) for offset in range(4))
    return (first + square * third) + y * (second + square * last)


@dataclass(frozen=True)
class Logistic(Invariant):
    r"""The potential of :math:`c_0 + c_1\,\mathrm{sigmoid}(g\,z)`: sigmoid, tanh = 2 sigmoid(2 z) - 1, unit-tanh = sigmoid(2 z).

    .. math:: \Phi(u, v) = \Big(c_0 + \frac{c_1}2\Big)^2 + \frac{c_1^2}{2\pi} \sum_{m,m'} p_m p_{m'}
        \arcsin\frac{u\cdot v}{\sqrt{(|u|^2 + s_m^2/g^2)(|v|^2 + s_{m'}^2/g^2)}}

    right to 4e-12 for all norms, its derivatives as well (times the norm of v for that by u). Smooth everywhere.
    """

    gain: float = 1.0
    offset: float = 0.0
    height: float = 1.0

    @property
    def _lifts(self) -> np.ndarray:
        return (SCALES / self.gain) ** 2

    @property
    def _factor(self) -> float:
        return self.height**2 / (2 * math.pi)

    def activation(self, x: jax.Array) -> jax.Array:
        """Return the function itself, not the mixture."""
        return self.offset + self.height * jax.nn.sigmoid(self.gain * x)

    def value(self, first: jax.Array, second: jax.Array, product: jax.Array) -> jax.Array:
        """Return Phi from the two squares and the product."""
        columns = jax.lax.rsqrt(second + self._lifts.reshape(-1, *(1,) * jnp.ndim(second)))

        def add(total: jax.Array, row: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, None]:
            lift, weight = row
            scaled = product * jax.lax.rsqrt(first + lift)
            inner = sum(p * arcsine(scaled * column) for p, column in zip(WEIGHTS, columns, strict=True))
            return total + weight * inner, None

        zero = jnp.zeros_like(first * second * product)
        total, _ = jax.lax.scan(add, zero, (jnp.asarray(self._lifts), jnp.asarray(WEIGHTS)))
        return (self.offset + 0.5 * self.height) ** 2 + self._factor * total

    def gradient(self, first: jax.Array, second: jax.Array, product: jax.Array) -> tuple[jax.Array, jax.Array]:
        r"""Return (A, B) :math:`= \sum p_m p_{m'} (-p/q_m,\ 1)/\sqrt{D_{mm'}}` times a factor: no arc is needed."""
        wedge = jnp.maximum(first * second - product * product, 0.0)
        centre = _CENTRE / self.gain**2

        def add(total: tuple[jax.Array, jax.Array], row: tuple[jax.Array, jax.Array]) -> tuple[tuple, None]:
            lift, weight = row
            q = first + lift
            root = jax.lax.rsqrt(lift * second + wedge + centre * q)
            inner = weight * root * _mixed(_INVERSE_ROOTS, centre * q * root * root)
            return (total[0] + inner / q, total[1] + inner), None

        zero = jnp.zeros_like(wedge)
        rows = (jnp.asarray(self._lifts), jnp.asarray(WEIGHTS))
        (along, toward), _ = jax.lax.scan(add, (zero, zero), rows, unroll=3)
        return -self._factor * product * along, self._factor * toward

    def entries(self, plane: Frame) -> tuple[Entries, Entries]:
        """Return the mixture of those of the arcsine."""
        return _summed(arcsine_entries, plane, self._lifts, self._factor)


@dataclass(frozen=True)
class Softplus(Invariant):
    r"""The potential of :math:`\log(1 + e^z)`, the mixture of ReLU neurons with noise,

    .. math:: \Phi(u, v) = \frac1{2\pi} \sum_{m,m'} p_m p_{m'} \big(\sqrt{D_{mm'}} + (\pi - t_{mm'})\,u\cdot v\big)

    with D and the lifted angle t of :mod:`earnshaw.potentials.lifted`. For softplus is the integral of sigmoid, and
    :math:`E\max(x + s e, 0)` that of cdf(x/s). Smooth everywhere.
    """

    def activation(self, x: jax.Array) -> jax.Array:
        """Return log(1 + e^x)."""
        return jax.nn.softplus(x)

    def value(self, first: jax.Array, second: jax.Array, product: jax.Array) -> jax.Array:
        """Return Phi from the two squares and the product."""
        root, arc = self._sums(first, second, product, weigh_rows=False)
        return root + product * arc

    def gradient(self, first: jax.Array, second: jax.Array, product: jax.Array) -> tuple[jax.Array, jax.Array]:
        r"""Return (A, B) :math:`= \frac1{2\pi}\sum p_m p_{m'} (\sqrt{D_{mm'}}/q_m,\ \pi - t_{mm'})`."""
        return self._sums(first, second, product, weigh_rows=True)

    def _sums(
        self, first: jax.Array, second: jax.Array, product: jax.Array, weigh_rows: bool
    ) -> tuple[jax.Array, jax.Array]:
        r"""Return the mixtures of :math:`\sqrt D/2\pi` (over :math:`q_m`, if asked for) and of :math:`(\pi - t)/2\pi`."""
        lifts = SCALES**2
        wedge = jnp.maximum(first * second - product * product, 0.0)
        columns = jax.lax.rsqrt(second + lifts.reshape(-1, *(1,) * jnp.ndim(second)))

        def add(total: tuple[jax.Array, jax.Array], row: tuple[jax.Array, jax.Array]) -> tuple[tuple, None]:
            lift, weight = row
            q = first + lift
            d = lift * second + wedge + _CENTRE * q
            roots = jnp.sqrt(d) * _mixed(_ROOTS, _CENTRE * q / d)
            scaled = product * jax.lax.rsqrt(q)
            arcs = sum(p * arcsine(scaled * column) for p, column in zip(WEIGHTS, columns, strict=True))
            return (total[0] + weight * (roots / q if weigh_rows else roots), total[1] + weight * arcs), None

        zero = jnp.zeros_like(wedge)
        (root, arc), _ = jax.lax.scan(add, (zero, zero), (jnp.asarray(lifts), jnp.asarray(WEIGHTS)))
        return root / (2 * math.pi), 0.25 + arc / (2 * math.pi)

    def entries(self, plane: Frame) -> tuple[Entries, Entries]:
        """Return the mixture of those of the ramp."""
        return _summed(ramp_entries, plane, SCALES**2, 1.0 / (2 * math.pi))


def _summed(entries: Callable[..., Any], plane: Frame, lifts: np.ndarray, factor: float) -> tuple[Entries, Entries]:
    """Return the double mixture of a kernel's entries in a frame."""
    first, second = (axis.ravel() for axis in np.meshgrid(lifts, lifts, indexing="ij"))
    weights = factor * np.outer(WEIGHTS, WEIGHTS).ravel()

    def add(total: tuple[Entries, Entries], row: tuple[jax.Array, jax.Array, jax.Array]) -> tuple[tuple, None]:
        first_lift, second_lift, weight = row
        return jax.tree.map(lambda x, y: x + weight * y, total, entries(plane, first_lift, second_lift)), None

    zero = Entries(*(jnp.zeros_like(plane.length * plane.across),) * 5)
    return jax.lax.scan(add, (zero, zero), (jnp.asarray(first), jnp.asarray(second), jnp.asarray(weights)))[0]
