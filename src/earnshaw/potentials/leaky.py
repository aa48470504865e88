"""The potential of leaky ReLU neurons."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp

from earnshaw.potentials.invariant import Invariant
from earnshaw.potentials.relu import ReLU

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
