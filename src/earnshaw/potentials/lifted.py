r"""Sign and ReLU neurons with noise of their own are smooth neurons: erf, GELU, and mixtures of them.

A neuron :math:`\operatorname{sign}(u\cdot x + s\,e)` averaged over its own normal noise e is the smooth neuron
:math:`2\,\mathrm{cdf}(u\cdot x/s) - 1`. With noise the weights are :math:`(u, s) \in R^{d+1}`, one new coordinate for
each of the two neurons, and the potential of sign or ReLU neurons applies there: squares become
:math:`q = |u|^2 + s^2`, the product :math:`p = u\cdot v` stays. With :math:`p, q_1, q_2` and

.. math:: D = q_1 q_2 - p^2 = s_1^2 s_2^2 + s_1^2 |v|^2 + s_2^2 |u|^2 + |u \wedge v|^2 ,

the two functions below are (t the angle in the lifted space)

.. math:: K_0 = \arcsin\frac{p}{\sqrt{q_1 q_2}} = \tfrac\pi2 - t, \qquad K_1 = \sqrt D + (\pi - t)\,p .

Reference: Cho & Saul (2009), the arc-cosine kernels of degree 0 and 1; Williams (1997) for the lift of erf.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp

from earnshaw.numerics import arcsine
from earnshaw.potentials.invariant import Entries, Frame, Invariant

Lift = jax.Array | float  # a square s^2
_HALF = 0.5  # erf(x) = E[sign(x + e / sqrt 2)]
_TAU = 1.0 / (2.0 * math.pi)


def determinant(
    first: jax.Array, second: jax.Array, product: jax.Array, first_lift: Lift, second_lift: Lift
) -> jax.Array:
    r"""Return D from the squares :math:`|u|^2, |v|^2`, the product, and the squared lifts :math:`s^2`."""
    wedge = jnp.maximum(first * second - product * product, 0.0)  # never below that of parallel vectors
    return first_lift * second_lift + first_lift * second + second_lift * first + wedge


def _numbers(plane: Frame, first_lift: Lift, second_lift: Lift) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
    """Return q1, p, m^2 + s2^2, D in a frame: sums of squares all of them but p."""
    r, beta, m = plane.length, plane.along, plane.across
    q = r * r + first_lift
    height = m * m + second_lift
    return q, r * beta, height, q * height + first_lift * beta * beta


def arcsine_entries(plane: Frame, first_lift: Lift, second_lift: Lift) -> tuple[Entries, Entries]:
    r"""Return :math:`\partial^2 K_0/\partial u^2` and :math:`\partial^2 K_0/\partial u\,\partial v` in the frame.

    With :math:`w = v - (p/q_1) u`, whose coordinates are :math:`(\beta s_1^2/q_1,\ m)`,

    .. math::
        \frac{\partial K_0}{\partial u} = \frac{w}{\sqrt D}, \qquad
        \frac{\partial^2 K_0}{\partial u^2} = \frac1{\sqrt D}\Big(-\frac p{q_1} I + \frac p{q_1^2} uu^T
        - \frac{uw^T + wu^T}{q_1} + \frac pD ww^T\Big), \qquad
        \frac{\partial^2 K_0}{\partial u\,\partial v} = \frac1{\sqrt D}\Big(I - \frac{uu^T}{q_1} - \frac{q_1}D ww^T\Big),

    and in the frame all differences of large terms can be carried out.
    """
    q, p, height, d = _numbers(plane, first_lift, second_lift)
    r, beta, m = plane.length, plane.along, plane.across
    scale = 1.0 / jnp.sqrt(d)
    un = -m * r * height / d
    flat = (q * second_lift + first_lift * beta * beta) / d
    same = Entries(
        rest=-scale * p / q,
        uu=scale * p * first_lift / (q * q) * (first_lift * beta * beta / d - 3.0),
        un=scale * un,
        nu=scale * un,
        nn=-scale * p / q * flat,
    )
    slant = -scale * first_lift * beta * m / d
    return same, Entries(rest=scale, uu=scale * first_lift * height / d, un=slant, nu=slant, nn=scale * flat)


def ramp_entries(plane: Frame, first_lift: Lift, second_lift: Lift) -> tuple[Entries, Entries]:
    r"""Return :math:`\partial^2 K_1/\partial u^2` and :math:`\partial^2 K_1/\partial u\,\partial v` in the frame.

    .. math::
        \frac{\partial K_1}{\partial u} = \frac{\sqrt D}{q_1} u + (\pi - t) v, \qquad
        \frac{\partial^2 K_1}{\partial u^2} = \frac{\sqrt D}{q_1}\Big(I - \frac{uu^T}{q_1}\Big) + \frac{ww^T}{\sqrt D}, \qquad
        \frac{\partial^2 K_1}{\partial u\,\partial v} = (\pi - t) I
        + \frac1{\sqrt D}\Big(uv^T + vu^T - \frac p{q_1} uu^T - \frac p{q_2} vv^T\Big).
    """
    q, p, height, d = _numbers(plane, first_lift, second_lift)
    r, beta, m = plane.length, plane.along, plane.across
    root = jnp.sqrt(d)
    tilt = first_lift * beta / q
    same = Entries(
        rest=root / q,
        uu=root * first_lift / (q * q) + tilt * tilt / root,
        un=tilt * m / root,
        nu=tilt * m / root,
        nn=root / q + m * m / root,
    )
    other = height + beta * beta
    supplement = jnp.pi - jnp.arctan2(root, p)
    slant = r * m * height / (other * root)
    mixed = Entries(
        rest=supplement,
        uu=supplement + p / root * (first_lift / q + height / other),
        un=slant,
        nu=slant,
        nn=supplement - p * m * m / (other * root),
    )
    return same, mixed


@dataclass(frozen=True)
class Erf(Invariant):
    r"""The potential of :math:`c_0 + c_1\operatorname{erf}(z)`: erf itself, and unit-erf = (1 + erf z)/2.

    .. math:: \Phi(u, v) = c_0^2 + \frac{2c_1^2}\pi\arcsin\frac{2\,u\cdot v}{\sqrt{(1 + 2|u|^2)(1 + 2|v|^2)}} ,

    for erf that of sign neurons lifted by :math:`s^2 = 1/2`: with :math:`q = |u|^2 + \tfrac12` and D,
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
        return self.offset**2 + self._factor * arcsine(product * jax.lax.rsqrt((first + _HALF) * (second + _HALF)))

    def gradient(self, first: jax.Array, second: jax.Array, product: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return (A, B), without any arc."""
        toward = self._factor * jax.lax.rsqrt(determinant(first, second, product, _HALF, _HALF))
        return -toward * product / (first + _HALF), toward

    def entries(self, plane: Frame) -> tuple[Entries, Entries]:
        """Return those of the arcsine, times a factor."""
        return jax.tree.map(lambda entry: self._factor * entry, arcsine_entries(plane, _HALF, _HALF))


class GELUFeatures(NamedTuple):
    """Of one neuron: the square A, 1 / (1 + A), and the root of that."""

    square: jax.Array
    inverse: jax.Array
    root: jax.Array


@dataclass(frozen=True)
class GELU(Invariant):
    r"""The potential of :math:`z\,\mathrm{cdf}(z)`, z = u.x, cdf that of the normal distribution,

    .. math:: \Phi(u, v) = \frac1{2\pi}\Big[p\Big(\frac\pi2 + \arcsin\frac p{\sqrt{q_1 q_2}}\Big)
        + \frac{|u\wedge v|^2 + p^2 (1/q_1 + 1/q_2)}{\sqrt D}\Big],

    :math:`p = u\cdot v,\ q_1 = 1 + |u|^2,\ q_2 = 1 + |v|^2,\ D = q_1 q_2 - p^2`. For cdf is a step with noise
    (s = 1), so that :math:`F = E[\mathrm{cdf}(u\cdot x)\,\mathrm{cdf}(v\cdot x)]` is
    :math:`\frac14 + \frac1{2\pi}\arcsin(p/\sqrt{q_1q_2})`, and two integrations by parts give
    :math:`E[(u\cdot x)(v\cdot x)\,\mathrm{cdf}\,\mathrm{cdf}]` from F and its derivatives. Equal to
    :math:`\frac1{2\pi}[K_1 + R]`, :math:`K_1` the lifted arc-cosine kernel and
    :math:`R = D^{-1/2} - D^{1/2}(1/q_1 + 1/q_2)`. Smooth everywhere.

    Reference: Tsuchida et al. (2021), "Avoiding Kernel Fixed Points", for the kernel.
    """

    def activation(self, x: jax.Array) -> jax.Array:
        """Return x cdf(x), without the approximation by tanh."""
        return jax.nn.gelu(x, approximate=False)

    def prepare(self, size: jax.Array) -> GELUFeatures:
        """Return the features from the square."""
        return GELUFeatures(size, 1.0 / (1.0 + size), jax.lax.rsqrt(1.0 + size))

    def value(self, first: GELUFeatures, second: GELUFeatures, product: jax.Array) -> jax.Array:
        """Return Phi."""
        wedge = jnp.maximum(first.square * second.square - product * product, 0.0)
        inverse_root = jax.lax.rsqrt(1.0 + first.square + second.square + wedge)
        arc = 0.5 * math.pi + arcsine(product * first.root * second.root)
        rest = wedge + product * product * (first.inverse + second.inverse)
        return _TAU * (product * arc + rest * inverse_root)

    def gradient(self, first: GELUFeatures, second: GELUFeatures, product: jax.Array) -> tuple[jax.Array, jax.Array]:
        r"""Return (A, B),

        .. math:: 2\pi A = \frac1{\sqrt D}\Big[\frac{D - q_2}{q_1} - 1 + \frac{2D}{q_1^2} - \frac{q_2}D\Big], \qquad
            2\pi B = \frac\pi2 + \arcsin\frac p{\sqrt{q_1q_2}} + \frac p{\sqrt D}\Big[\frac1{q_1} + \frac1{q_2} + \frac1D\Big].
        """
        d = determinant(first.square, second.square, product, 1.0, 1.0)
        root = jax.lax.rsqrt(d)
        q, i = 1.0 + second.square, first.inverse
        along = root * (((d - q) + 2.0 * d * i) * i - 1.0 - q * root * root)
        arc = 0.5 * math.pi + arcsine(product * first.root * second.root)
        toward = arc + product * root * (i + second.inverse + root * root)
        return _TAU * along, _TAU * toward

    def entries(self, plane: Frame) -> tuple[Entries, Entries]:
        """Return those of K_1 and of R together."""
        return jax.tree.map(lambda x, y: _TAU * (x + y), ramp_entries(plane, 1.0, 1.0), _remainder_entries(plane))


def _remainder_entries(plane: Frame) -> tuple[Entries, Entries]:
    r"""Return the second derivatives of :math:`R = D^{-1/2} - D^{1/2}(1/q_1 + 1/q_2)` in a frame, by the chain rule.

    There :math:`\tfrac12\partial_u D = q_2 u - p v = r(m^2+1)\,\bar u - r\beta m\,\bar n`,
    :math:`\tfrac12\partial_v D = q_1 v - p u = \beta\,\bar u + q_1 m\,\bar n`.
    """
    r, beta, m = plane.length, plane.along, plane.across
    q1, height = 1.0 + r * r, 1.0 + m * m
    q2 = height + beta * beta
    d = q1 * height + beta * beta
    root = jnp.sqrt(d)
    inverses = 1.0 / q1 + 1.0 / q2
    by_d = -0.5 * (1.0 / d + inverses) / root
    by_dd = (0.75 / d + 0.25 * inverses) / (root * d)
    by_q1, by_q1q1 = root / (q1 * q1), -2.0 * root / q1**3
    by_dq1, by_dq2 = 0.5 / (root * q1 * q1), 0.5 / (root * q2 * q2)
    gu, gn = 2.0 * r * height, -2.0 * r * beta * m  # dD/du
    hu, hn = 2.0 * beta, 2.0 * q1 * m  # dD/dv
    rest = 2.0 * by_d * q2 + 2.0 * by_q1
    cross = by_dd * gu * gn + 2.0 * by_dq1 * r * gn - 2.0 * by_d * beta * m
    same = Entries(
        rest=rest,
        uu=2.0 * by_d * height + 2.0 * by_q1 + by_dd * gu * gu + 4.0 * by_dq1 * r * gu + 4.0 * by_q1q1 * r * r,
        un=cross,
        nu=cross,
        nn=2.0 * by_d * (1.0 + beta * beta) + 2.0 * by_q1 + by_dd * gn * gn,
    )
    mixed_rest = -2.0 * by_d * r * beta
    mixed = Entries(
        rest=mixed_rest,
        uu=by_dd * gu * hu + 2.0 * by_dq2 * gu * beta + 2.0 * by_dq1 * r * hu,
        un=4.0 * by_d * r * m + by_dd * gu * hn + 2.0 * by_dq2 * gu * m + 2.0 * by_dq1 * r * hn,
        nu=-2.0 * by_d * r * m + by_dd * gn * hu + 2.0 * by_dq2 * gn * beta,
        nn=mixed_rest + by_dd * gn * hn + 2.0 * by_dq2 * gn * m,
    )
    return same, mixed
