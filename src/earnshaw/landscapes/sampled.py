"""The same loss on a finite sample: the twin that tests hold against the exact landscape."""

from __future__ import annotations

from dataclasses import dataclass

import jax

from earnshaw.landscapes.two_layer import TwoLayerLandscape
from earnshaw.problems import TwoLayer


@dataclass(frozen=True)
class SampledTwoLayer:
    r"""The empirical risk :math:`\frac1{2m}\sum_s (\text{student}(x_s) - \text{teacher}(x_s))^2` of a two-layer problem."""

    problem: TwoLayer

    @property
    def exact(self) -> TwoLayerLandscape:
        """The landscape that this one samples."""
        return TwoLayerLandscape.of(self.problem)

    def draw(self, key: jax.Array, samples: int) -> jax.Array:
        """Return inputs (samples, d) from N(0, I)."""
        return self.exact.draw(key, samples)

    def value(self, weights: jax.Array, sample: jax.Array) -> jax.Array:
        """Return the risk of a point, (n, d) or (n, d + 1), on a sample (m, d)."""
        return self.exact.sampled_value(weights, sample)

    def losses(self, weights: jax.Array, sample: jax.Array) -> jax.Array:
        """Return the half squared error at each input, so that a test can form a standard error."""
        return self.exact.sampled_losses(weights, sample)

    def gradient(self, weights: jax.Array, sample: jax.Array) -> jax.Array:
        """Return the gradient of the risk, by automatic differentiation."""
        return jax.grad(self.value)(weights, sample)
