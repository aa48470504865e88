"""The empirical risk of a one-hidden-layer network of probabilities: on data in memory, and on data of any size."""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from earnshaw.landscapes.base import Landscape
from earnshaw.landscapes.rows import Rows
from earnshaw.numerics.compiling import program
from earnshaw.potentials import derivatives
from earnshaw.problems import Activation, unit_activation

Array = NDArray[np.float64]


@functools.partial(jax.tree_util.register_dataclass, data_fields=("x", "y"), meta_fields=("students", "activation"))
@dataclass(frozen=True)
class EmpiricalRisk(Landscape):
    r"""Half the mean squared error on n labelled inputs,

    .. math:: f_n(W) = \frac1{2n}\sum_{i=1}^n \Big(y_i - \frac1K\sum_{k=1}^K \phi(w_k\cdot x_i)\Big)^2 .

    A point is the weights (K, d), neurons as rows; leading batch axes share the data: one matrix product serves them all.

    Reference: Fu, Chi & Liang (2018), equations (5)-(6).
    """

    x: jax.Array
    y: jax.Array
    students: int
    activation: Activation

    @classmethod
    def of(cls, rows: Rows, neurons: int, activation: str | Activation = "sigmoid") -> EmpiricalRisk:
        """Return the risk of rows that fit in memory."""
        x, y = np.asarray(rows.x, dtype=np.float64), np.asarray(rows.y, dtype=np.float64)
        return cls(jnp.asarray(x), jnp.asarray(y), neurons, unit_activation(activation))

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (K, d) of one point."""
        return self.students, self.x.shape[-1]

    def _projections(self, weights: jax.Array) -> jax.Array:
        """Return the inputs of all neurons, (lanes, K, n), from any batch axes."""
        flat = weights.reshape(-1, self.x.shape[-1])
        return jnp.matmul(flat, self.x.T).reshape(-1, self.students, self.x.shape[0])

    @program
    def value(self, point: jax.Array) -> jax.Array:
        """Return the risk, shape (...)."""
        (phi,) = derivatives(self.activation, self._projections(point), 0)
        error = jnp.mean(phi, 1) - self.y
        return (0.5 * jnp.mean(error * error, -1)).reshape(point.shape[:-2])

    @program
    def gradient(self, point: jax.Array) -> jax.Array:
        r"""Return :math:`\partial f_n/\partial w_k = \frac1{nK}\sum_i e_i\,\phi'(w_k\cdot x_i)\,x_i`, e the error, (..., K, d)."""
        phi, slope = derivatives(self.activation, self._projections(point), 1)
        error = jnp.mean(phi, 1, keepdims=True) - self.y
        pull = (error * slope).reshape(-1, self.x.shape[0])
        return jnp.matmul(pull, self.x).reshape(point.shape) / (self.students * self.x.shape[0])

    @program
    def hessian(self, point: jax.Array) -> jax.Array:
        r"""Return the Hessian (..., K d, K d), rows ordered by neuron and then coordinate.

        .. math:: H_{jl} = \frac1{n}\sum_i \Big(\frac{\phi'_j\phi'_l}{K^2} + \delta_{jl}\frac{e_i\phi''_j}{K}\Big) x_i x_i^T

        One lane at a time, so that the memory is that of one: n times d doubles for each pair of neurons in turn.
        """
        K, d = self.shape

        def one(weights: jax.Array) -> jax.Array:
            phi, slope, bend = derivatives(self.activation, jnp.matmul(weights, self.x.T), 2)
            error = jnp.mean(phi, 0) - self.y
            scale = 1.0 / (K * K * self.x.shape[0])
            blocks = [[jnp.zeros((d, d))] * K for _ in range(K)]
            for j, m in itertools.combinations_with_replacement(range(K), 2):
                factor = slope[j] * slope[m] + (K * error * bend[j] if j == m else 0.0)
                blocks[j][m] = jnp.matmul((self.x * (scale * factor)[:, None]).T, self.x)
                blocks[m][j] = blocks[j][m].T
            full = jnp.block(blocks)
            return 0.5 * (full + full.T)

        return jax.lax.map(one, point.reshape(-1, K, d)).reshape(*point.shape[:-2], K * d, K * d)


@dataclass(frozen=True, eq=False)
class StreamedRisk:
    """The risk of :class:`EmpiricalRisk` for one point at a time, by a loop over chunks of rows on the host.

    Results do not depend on the number of threads, and on the size of a chunk by rounding only (1e-12).
    """

    rows: Rows
    neurons: int
    activation: str | Activation = "sigmoid"

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (K, d) of a point."""
        return self.neurons, self.rows.dimension

    @functools.cached_property
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
            error = phi.sum(0) / self.neurons - y
            return np.array(error @ error), (slope * error) @ x

        (square, pull), n = self.rows.total(part), len(self.rows)
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
