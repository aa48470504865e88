"""The potentials of homogeneous neurons: ReLU (the arc-cosine kernel), leaky ReLU, and sign (the angle)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp

from earnshaw.numerics import arcsine, sine_and_supplement
from earnshaw.potentials.invariant import Entries, Frame, Invariant, safe_divide

_TAU = 1.0 / (2.0 * math.pi)


@dataclass(frozen=True)
class ReLU(Invariant):
    r"""The arc-cosine kernel, with t the angle of u and v,

    .. math:: \Phi(u, v) = \frac{|u||v|}{2\pi}\big(\sin t + (\pi - t)\cos t\big).

    Accuracy. The cosine c of a computed pair is off by some 1e-16. Value and gradient are Lipschitz in c, with
    constants :math:`|u||v|/2` and :math:`|v|/2\pi`, as long as sin t and t come from the *same* c: the errors of 1e-8
    that t suffers next to a parallel pair cancel between the two terms of the gradient. The second derivatives are not
    Lipschitz in c, so they are computed from the perpendicular part of v instead, which keeps its relative accuracy.
    The potential is twice differentiable at parallel and antiparallel pairs, not at u = 0.

    References: Cho & Saul (2009), section 2; Safran & Shamir (2018), equations (7)-(9).
    """

    polar = True

    def activation(self, x: jax.Array) -> jax.Array:
        """Return max(x, 0)."""
        return jnp.maximum(x, 0.0)

    def value(self, first: jax.Array, second: jax.Array, product: jax.Array) -> jax.Array:
        """Return Phi from the two norms and the cosine; 0 for antiparallel, :math:`|u||v|/2` for parallel pairs."""
        sine, supplement = sine_and_supplement(product)
        return _TAU * first * second * (sine + supplement * jnp.clip(product, -1.0, 1.0))

    def gradient(self, first: jax.Array, second: jax.Array, product: jax.Array) -> tuple[jax.Array, jax.Array]:
        r"""Return :math:`(A, B) = |v|(\sin t, \pi - t)/2\pi`; the gradient does not depend on :math:`|u|`."""
        sine, supplement = sine_and_supplement(product)
        scale = _TAU * second
        return scale * sine, scale * supplement

    def second_derivatives(self, first: jax.Array, second: jax.Array) -> tuple[jax.Array, jax.Array]:
        r"""Return the two blocks of second derivatives at pairs of vectors (..., d).

        With :math:`m = v - (v\cdot\bar u)\bar u`, :math:`\bar n = m/|m|` (0 when m is), s = sin t, c = cos t,

        .. math::
            \frac{\partial^2\Phi}{\partial u^2} = \frac{|m|(I - \bar u\bar u^T) + m\bar n^T}{2\pi|u|}, \qquad
            \frac{\partial^2\Phi}{\partial u\,\partial v} =
            \frac{(\pi - t) I + s\,c\,(\bar u\bar u^T - \bar n\bar n^T) + s^2(\bar u\bar n^T + \bar n\bar u^T)}{2\pi}.

        The second is the usual :math:`(\bar u\bar v^T + \bar v\bar u^T - c(\bar u\bar u^T + \bar v\bar v^T))/s` with
        the division carried out, so that nothing cancels at parallel pairs.
        """
        first_norm, second_norm = jnp.linalg.norm(first, axis=-1), jnp.linalg.norm(second, axis=-1)
        along, unit = first / first_norm[..., None], second / second_norm[..., None]
        cosine = jnp.sum(along * unit, -1)
        across = unit - cosine[..., None] * along
        across = across - jnp.sum(across * along, -1, keepdims=True) * along
        square = jnp.sum(across * across, -1)
        sine = jnp.where(square > 0, jnp.sqrt(jnp.where(square > 0, square, 1.0)), 0.0)
        normal = across * jnp.where(sine > 0, 1.0 / jnp.where(sine > 0, sine, 1.0), 0.0)[..., None]
        supplement = math.pi - jnp.arctan2(sine, cosine)

        identity = jnp.eye(first.shape[-1])
        uu, nn, un = (x[..., :, None] * y[..., None, :] for x, y in ((along, along), (normal, normal), (along, normal)))
        s, c = sine[..., None, None], cosine[..., None, None]
        same = _TAU * (second_norm / first_norm)[..., None, None] * s * (identity - uu + nn)
        mixed = _TAU * (
            supplement[..., None, None] * identity + s * c * (uu - nn) + s * s * (un + jnp.swapaxes(un, -1, -2))
        )
        return same, mixed


_RELU = ReLU()


@dataclass(frozen=True)
class LeakyReLU(Invariant):
    r"""Sigma(x) = x for x > 0, slope x below: :math:`(1 - \alpha)\max(x, 0) + \alpha x` with the slope :math:`\alpha`.

    .. math:: \Phi(u, v) = (1 - \alpha)^2\,\Phi_{ReLU}(u, v) + \alpha\, u\cdot v

    because :math:`E[\max(u\cdot x, 0)\,(v\cdot x)] = u\cdot v/2`. Polar, not differentiable at u = 0.
    """

    slope: float
    polar = True

    def activation(self, x: jax.Array) -> jax.Array:
        """Return x or slope x."""
        return jnp.where(x > 0, x, self.slope * x)

    def value(self, first: jax.Array, second: jax.Array, product: jax.Array) -> jax.Array:
        """Return Phi from the two norms and the cosine."""
        ramp = _RELU.value(first, second, product)
        return (1.0 - self.slope) ** 2 * ramp + self.slope * first * second * jnp.clip(product, -1.0, 1.0)

    def gradient(self, first: jax.Array, second: jax.Array, product: jax.Array) -> tuple[jax.Array, jax.Array]:
        r"""Return ReLU's (A, B) times :math:`(1-\alpha)^2`, and :math:`\alpha |v|` more in B."""
        along, toward = _RELU.gradient(first, second, product)
        factor = (1.0 - self.slope) ** 2
        return factor * along, factor * toward + self.slope * second

    def second_derivatives(self, first: jax.Array, second: jax.Array) -> tuple[jax.Array, jax.Array]:
        r"""Return ReLU's blocks times :math:`(1-\alpha)^2`, and :math:`\alpha I` more in the mixed one."""
        same, mixed = _RELU.second_derivatives(first, second)
        factor = (1.0 - self.slope) ** 2
        return factor * same, factor * mixed + self.slope * jnp.eye(first.shape[-1])


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

    def entries(self, plane: Frame) -> tuple[Entries, Entries]:
        r"""Return the second derivatives in the frame of u and v, 0 where these are parallel; over :math:`2/\pi`,

        .. math::
            \frac{\partial^2\Phi}{\partial u^2}: \quad t = -\frac{\cot t}{|u|^2}, \quad t_{un} = t_{nu} = -\frac1{|u|^2}, \qquad
            \frac{\partial^2\Phi}{\partial u\,\partial v}: \quad t = \frac1{|u||v|\sin t}, \quad \text{the rest } 0.
        """
        r, beta = plane.length, plane.along
        m = jnp.where(plane.across > 1e-15 * jnp.abs(beta), plane.across, 0.0)  # less is rounding: parallel
        factor = 2.0 / math.pi
        one, zero = jnp.ones_like(m), jnp.zeros_like(m)
        turn = -factor * safe_divide(one, r * r) * (m > 0)
        same = Entries(-factor * safe_divide(beta, r * r * m), zero, turn, turn, zero)
        return same, Entries(factor * safe_divide(one, r * m), zero, zero, zero, zero)
