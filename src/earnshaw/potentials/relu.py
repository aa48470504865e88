"""The potential of ReLU neurons: the arc-cosine kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp

from earnshaw.numerics import sine_and_supplement
from earnshaw.potentials.invariant import Invariant

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
        first_norm = jnp.linalg.norm(first, axis=-1)
        second_norm = jnp.linalg.norm(second, axis=-1)
        along = first / first_norm[..., None]
        unit = second / second_norm[..., None]
        cosine = jnp.sum(along * unit, -1)
        across = unit - cosine[..., None] * along
        across = across - jnp.sum(across * along, -1, keepdims=True) * along
        square = jnp.sum(across * across, -1)
        sine = jnp.where(square > 0, jnp.sqrt(jnp.where(square > 0, square, 1.0)), 0.0)
        normal = across * jnp.where(sine > 0, 1.0 / jnp.where(sine > 0, sine, 1.0), 0.0)[..., None]
        supplement = math.pi - jnp.arctan2(sine, cosine)

        identity = jnp.eye(first.shape[-1])
        uu, nn = _outer(along, along), _outer(normal, normal)
        un = _outer(along, normal)
        s, c = sine[..., None, None], cosine[..., None, None]
        same = _TAU * (second_norm / first_norm)[..., None, None] * s * (identity - uu + nn)
        mixed = _TAU * (
            supplement[..., None, None] * identity + s * c * (uu - nn) + s * s * (un + jnp.swapaxes(un, -1, -2))
        )
        return same, mixed


def _outer(first: jax.Array, second: jax.Array) -> jax.Array:
    return first[..., :, None] * second[..., None, :]
