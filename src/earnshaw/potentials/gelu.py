"""The potential of GELU neurons."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp

from earnshaw.numerics import arcsine
from earnshaw.potentials.frames import Entries, Frame, assemble, frame
from earnshaw.potentials.invariant import Invariant
from earnshaw.potentials.lifted import determinant, ramp_entries

_TAU = 1.0 / (2.0 * math.pi)


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
    (:mod:`earnshaw.potentials.lifted`, s = 1), so that :math:`F = E[\mathrm{cdf}(u\cdot x)\,\mathrm{cdf}(v\cdot x)]` is
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

    def second_derivatives(self, first: jax.Array, second: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return the two blocks of second derivatives at pairs of vectors (..., d)."""
        plane = frame(first, second)
        blocks = zip(ramp_entries(plane, 1.0, 1.0), _remainder_entries(plane), strict=True)
        same, mixed = (
            assemble(plane, Entries(*(_TAU * (x + y) for x, y in zip(ramp, rest, strict=True))))
            for ramp, rest in blocks
        )
        return same, mixed


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
