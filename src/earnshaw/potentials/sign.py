"""The potential of sign neurons: the angle."""

from __future__ import annotations

import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp

from earnshaw.numerics import arcsine, sine_and_supplement
from earnshaw.potentials.frames import Entries, assemble, frame, safe_divide
from earnshaw.potentials.invariant import Invariant


@dataclass(frozen=True)
class Sign(Invariant):
    r"""The potential of :math:`\operatorname{sign}(u\cdot x)`, with t the angle of u and v,

    .. math:: \Phi(u, v) = 1 - \frac{2t}\pi , \qquad \frac{\partial\Phi}{\partial u} =
        \frac2{\pi |u|}\,\bar n, \qquad \bar n = \frac{\bar v - \cos t\,\bar u}{\sin t}.

    Lengths do not matter. The potential has a tip at parallel and antiparallel pairs: the gradient has length
    :math:`2/\pi|u|` right up to it, and jumps. It is set to 0 at the tip itself, where it has all directions. Next to it
    the direction is computed from the cosine, whose error of 1e-16 makes a relative error of :math:`10^{-16}/t^2`.

    Reference: Panigrahy et al. (2018), section 2 (sign activation); Sheppard (1899).
    """

    polar = True

    def activation(self, x: jax.Array) -> jax.Array:
        """Return the sign."""
        return jnp.sign(x)

    def value(self, first: jax.Array, second: jax.Array, product: jax.Array) -> jax.Array:
        """Return 1 - 2 t / pi; the norms do not matter."""
        return 2.0 / math.pi * arcsine(product) * jnp.ones_like(first * second)

    def gradient(self, first: jax.Array, second: jax.Array, product: jax.Array) -> tuple[jax.Array, jax.Array]:
        r"""Return (A, B) = :math:`2(-\cos t, 1) / (\pi |u| \sin t)`, or 0 where the sine vanishes."""
        sine, _ = sine_and_supplement(product)
        toward = 2.0 / math.pi * safe_divide(jnp.ones_like(second), first * sine)
        return -product * toward, toward

    def second_derivatives(self, first: jax.Array, second: jax.Array) -> tuple[jax.Array, jax.Array]:
        r"""Return the two blocks of second derivatives at pairs of vectors (..., d), 0 where u and v are parallel.

        In the frame of u and v (:mod:`earnshaw.potentials.frames`), over :math:`2/\pi`,

        .. math::
            \frac{\partial^2\Phi}{\partial u^2}: \quad t = -\frac{\cot t}{|u|^2}, \quad t_{un} = t_{nu} = -\frac1{|u|^2}, \qquad
            \frac{\partial^2\Phi}{\partial u\,\partial v}: \quad t = \frac1{|u||v|\sin t}, \quad \text{the rest } 0.
        """
        plane = frame(first, second)
        r, beta = plane.length, plane.along
        m = jnp.where(plane.across > 1e-15 * jnp.abs(beta), plane.across, 0.0)  # less is rounding: parallel
        factor = 2.0 / math.pi
        zero = jnp.zeros_like(m)
        turn = -factor * safe_divide(jnp.ones_like(m), r * r) * (m > 0)
        same = Entries(-factor * safe_divide(beta, r * r * m), zero, turn, turn, zero)
        mixed = Entries(factor * safe_divide(jnp.ones_like(m), r * m), zero, zero, zero, zero)
        return assemble(plane, same), assemble(plane, mixed)
