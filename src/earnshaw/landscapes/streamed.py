"""The same empirical risk on data of any size: a loop over chunks of rows on the host."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from earnshaw.landscapes.rows import Rows
from earnshaw.potentials import derivatives
from earnshaw.problems import Activation, unit_activation

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StreamedRisk:
    r"""The risk of :class:`~earnshaw.landscapes.empirical.EmpiricalRisk` for one point at a time, streamed over rows.

    .. math:: f_n(W) = \frac1{2n}\sum_{i=1}^n \Big(y_i - \frac1K\sum_{k=1}^K \phi(w_k\cdot x_i)\Big)^2

    Memory is a few chunks whatever n is. Results do not depend on the number of threads, and on the size of a chunk by
    rounding only (1e-12).
    """

    rows: Rows
    neurons: int
    activation: str | Activation = "sigmoid"

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (K, d) of a point."""
        return self.neurons, self.rows.dimension

    @cached_property
    def _sigma(self) -> Activation:
        return unit_activation(self.activation)

    def value(self, weights: Array) -> float:
        """Return the risk at weights (K, d)."""

        def part(x: Array, y: Array) -> tuple[Array]:
            (phi,) = derivatives(self._sigma, weights @ x.T, 0)
            error = phi.mean(0) - y
            return (np.array(error @ error),)

        return float(self.rows.total(part)[0]) / (2 * len(self.rows))

    def value_and_gradient(self, weights: Array) -> tuple[float, Array]:
        """Return the risk and its gradient (K, d) in one pass over the data."""

        def part(x: Array, y: Array) -> tuple[Array, Array]:
            phi, slope = derivatives(self._sigma, weights @ x.T, 1)
            error = phi.sum(0)
            error /= self.neurons
            error -= y
            slope = slope * error
            return np.array(error @ error), slope @ x

        square, pull = self.rows.total(part)
        n = len(self.rows)
        return float(square) / (2 * n), pull / (n * self.neurons)

    def gradient(self, weights: Array) -> Array:
        """Return the gradient (K, d)."""
        return self.value_and_gradient(weights)[1]

    def hessian_vector(self, weights: Array, direction: Array) -> Array:
        """Return the Hessian applied to a direction (K, d), in one pass."""
        K = self.neurons

        def part(x: Array, y: Array) -> tuple[Array]:
            phi, slope, bend = derivatives(self._sigma, weights @ x.T, 2)
            along = direction @ x.T
            error = phi.mean(0) - y
            change = (slope * along).mean(0)
            return ((error * bend * along + slope * change) @ x,)

        return self.rows.total(part)[0] / (len(self.rows) * K)

    def hessian(self, weights: Array) -> Array:
        """Return the Hessian (K d, K d), rows ordered by neuron and then coordinate, in one pass."""
        K, d = self.shape

        def part(x: Array, y: Array) -> tuple[Array, Array]:
            phi, slope, bend = derivatives(self._sigma, weights @ x.T, 2)
            bend = bend * (phi.mean(0) - y)
            columns = (slope.T[:, :, None] * x[:, None, :]).reshape(len(x), K * d)
            return columns.T @ columns, np.stack([(x * row[:, None]).T @ x for row in bend])

        full, bends = self.rows.total(part)
        for k in range(K):
            full[k * d : (k + 1) * d, k * d : (k + 1) * d] += K * bends[k]
        return 0.5 * (full + full.T) / (K * K * len(self.rows))
