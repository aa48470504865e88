"""The same loss on a finite sample: the twin that tests hold against the exact landscape."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp

from earnshaw.landscapes.two_layer import TwoLayerLandscape
from earnshaw.problems import TwoLayer


@dataclass(frozen=True)
class SampledTwoLayer:
    r"""The empirical risk :math:`\frac1{2m}\sum_s (\text{student}(x_s) - \text{teacher}(x_s))^2` of a two-layer problem."""

    problem: TwoLayer

    def draw(self, key: jax.Array, samples: int) -> jax.Array:
        """Return inputs (samples, d) from N(0, I)."""
        return jax.random.normal(key, (samples, self.problem.dimension))

    def value(self, weights: jax.Array, sample: jax.Array) -> jax.Array:
        """Return the risk of a point, (n, d) or (n, d + 1), on a sample (m, d)."""
        return jnp.mean(self.losses(weights, sample))

    def losses(self, weights: jax.Array, sample: jax.Array) -> jax.Array:
        """Return the half squared error at each input, so that a test can form a standard error."""
        exact = TwoLayerLandscape.of(self.problem)
        weights, charges = exact.split(weights)
        sigma = exact.potential.activation
        student = sigma(sample @ weights.T) @ charges
        teacher = sigma(sample @ exact.teacher.T) @ exact.teacher_charges
        return 0.5 * (student - teacher) ** 2

    def gradient(self, weights: jax.Array, sample: jax.Array) -> jax.Array:
        """Return the gradient of the risk, by automatic differentiation."""
        return jax.grad(self.value)(weights, sample)
