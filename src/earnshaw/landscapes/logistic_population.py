"""The population risk of a logistic problem, exactly: means over the plane of two neurons, by quadrature."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.errors import AccuracyWarning
from earnshaw.landscapes.base import Landscape
from earnshaw.numerics.program import program
from earnshaw.potentials.bounded import bounded_activation
from earnshaw.problems.logistic import Labels, Logistic

REACH, NODES = 9.0, 145  # the density is below 3e-18 at the ends; spacing 1/8


@functools.partial(
    jax.tree_util.register_dataclass, data_fields=("teacher", "noise"), meta_fields=("activation", "nodes")
)
@dataclass(frozen=True)
class LogisticPopulation(Landscape):
    r"""The limit of the empirical risk for infinitely many samples,

    .. math:: f(W) = \tfrac12 E\Big[\Big(\frac1K\sum_k\phi(w_k\cdot x) - \frac1K\sum_k\phi(w^*_k\cdot x)\Big)^2\Big] + c,
              \qquad c = \tfrac12 E[p(1-p)] \text{ in classification},\ 0 \text{ in regression},

    p being the network's value. Gradient and Hessian need only the numbers
    :math:`\Phi_{ab}(u, v) = E[\phi^{(a)}(u\cdot x)\,\phi^{(b)}(v\cdot x)]`, by Stein's identity, and those are smooth in u
    and v, parallel pairs included:

    .. math:: E[\phi'(u x)\phi(v x) x] = \Phi_{20}\,u + \Phi_{11}\,v, \qquad
              E[\phi'(u x)\phi'(v x) xx^T] = \Phi_{11} I + \Phi_{31} uu^T + \Phi_{22}(uv^T + vu^T) + \Phi_{13} vv^T .

    Points are (..., K, d). A grid of ``nodes`` squared serves each pair; norms up to about 8 are exact to 1e-10, and
    :meth:`check` says how exact a given point is.

    Reference: Fu, Chi & Liang (2018), equation (11); the Hessian is that of Lemma 1.
    """

    teacher: jax.Array
    noise: jax.Array
    activation: str
    nodes: int = NODES

    @classmethod
    def of(cls, problem: Logistic, nodes: int = NODES) -> LogisticPopulation:
        """Return the population risk of a problem; its sample size plays no part."""
        bounded_activation(problem.activation)
        teacher = jnp.asarray(problem.weights)
        clean = cls(teacher, jnp.asarray(0.0), problem.activation, nodes)
        if problem.labels is Labels.REGRESSION:
            return clean
        first = clean._pairs(teacher, teacher, lambda u, v: (u[0], u[0] * v[0]))
        noise = 0.5 * (jnp.mean(jnp.diagonal(first[0])) - jnp.mean(first[1]))
        return cls(teacher, noise, problem.activation, nodes)

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (K, d) of one point."""
        return self.teacher.shape[-2], self.teacher.shape[-1]

    @property
    def global_value(self) -> float:
        """The least value: that of the network that made the labels."""
        return float(self.noise)

    def _pairs(
        self, first: jax.Array, second: jax.Array, combine: Callable[[Any, Any], tuple[jax.Array, ...]], order: int = 0
    ) -> tuple[jax.Array, ...]:
        """Return means (n, m) of combinations of derivatives at all pairs of rows of (n, d) and (m, d).

        In the plane of u and v, x is (s, t): u.x = |u| s, v.x = (v.u/|u|) s + |v - its part along u| t.
        """
        phi = bounded_activation(self.activation)
        grid = jnp.linspace(-REACH, REACH, self.nodes)
        density = jnp.exp(-0.5 * grid**2) * (2 * REACH / (self.nodes - 1) / np.sqrt(2 * np.pi))
        plane = density[:, None] * density

        def pair(u: jax.Array, v: jax.Array) -> tuple[jax.Array, ...]:
            length = jnp.sqrt(jnp.sum(u * u))
            unit = jnp.where(length > 0, u / jnp.where(length > 0, length, 1.0), jnp.eye(u.shape[-1])[0])
            along = unit @ v
            across = jnp.sqrt(jnp.sum((v - along * unit) ** 2))
            one = phi.derivatives(length * grid, order)
            two = phi.derivatives(along * grid[:, None] + across * grid, order)
            return tuple(jnp.sum(part * plane) for part in combine([a[:, None] for a in one], two))

        return jax.vmap(jax.vmap(pair, (None, 0)), (0, None))(first, second)

    def _batched(self, function: Callable[[jax.Array], jax.Array], weights: jax.Array) -> jax.Array:
        points = weights.reshape(-1, *self.shape)
        result = jax.lax.map(function, points)
        return result.reshape(*weights.shape[:-2], *result.shape[1:])

    @program
    def value(self, point: jax.Array) -> jax.Array:
        """Return the risk, shape (...)."""

        def one(weights: jax.Array) -> jax.Array:
            everyone = jnp.concatenate([weights, self.teacher])
            (energy,) = self._pairs(everyone, everyone, lambda u, v: (u[0] * v[0],))
            signs = self._signs()
            return 0.5 * signs @ energy @ signs + self.noise

        return self._batched(one, point)

    def _signs(self) -> jax.Array:
        K = self.shape[0]
        return jnp.concatenate([jnp.ones(K), -jnp.ones(K)]) / K

    @program
    def gradient(self, point: jax.Array) -> jax.Array:
        """Return the gradient (..., K, d)."""

        def one(weights: jax.Array) -> jax.Array:
            everyone = jnp.concatenate([weights, self.teacher])
            own, other = self._pairs(weights, everyone, lambda u, v: (u[2] * v[0], u[1] * v[1]), 2)
            signs = self._signs()
            return ((own @ signs)[:, None] * weights + (other * signs) @ everyone) / self.shape[0]

        return self._batched(one, point)

    @program
    def hessian(self, point: jax.Array) -> jax.Array:
        """Return the Hessian (..., K d, K d), rows ordered by neuron and then coordinate."""
        K, d = self.shape

        def one(weights: jax.Array) -> jax.Array:
            everyone = jnp.concatenate([weights, self.teacher])

            def combine(u: Any, v: Any) -> tuple[jax.Array, ...]:
                return u[1] * v[1], u[3] * v[1], u[2] * v[2], u[1] * v[3], u[2] * v[0], u[4] * v[0], u[3] * v[1]

            p11, p31, p22, p13, p20, p40, q31 = self._pairs(weights, everyone, combine, 4)
            outer = weights[:, None, :, None] * everyone[None, :, None, :]  # (K, 2K, d, d), u v'
            same = weights[:, :, None] * weights[:, None, :]
            others = everyone[:, :, None] * everyone[:, None, :]
            both = outer + jnp.swapaxes(outer, -1, -2)
            identity = jnp.eye(d)
            slopes = (
                p11[..., None, None] * identity
                + p31[..., None, None] * same[:, None]
                + p22[..., None, None] * both
                + p13[..., None, None] * others
            )[:, :K] / (K * K)
            signs = self._signs()
            bends = (
                p20[..., None, None] * identity
                + p40[..., None, None] * same[:, None]
                + q31[..., None, None] * both
                + p22[..., None, None] * others
            )
            bend = jnp.einsum("ij...,j->i...", bends, signs) / K
            blocks = slopes + jnp.eye(K)[:, :, None, None] * bend[:, None]
            full = jnp.swapaxes(blocks, 1, 2).reshape(K * d, K * d)
            return 0.5 * (full + full.T)

        return self._batched(one, point)

    @program
    def hessian_vector(self, point: jax.Array, direction: jax.Array) -> jax.Array:
        """Return the Hessian applied to a direction (..., K, d)."""
        K, d = self.shape
        flat = direction.reshape(*direction.shape[:-2], K * d)
        return jnp.einsum("...ij,...j->...i", self.hessian(point), flat).reshape(direction.shape)

    def check(self, weights: jax.Array, tolerance: float = 1e-8) -> float:
        """Return the largest change of the Hessian at one point when the grid is refined; warn when it matters."""
        finer = LogisticPopulation(self.teacher, self.noise, self.activation, 2 * self.nodes - 1)
        change = float(jnp.abs(finer.hessian(weights) - self.hessian(weights)).max())
        if change > tolerance * float(jnp.abs(self.hessian(weights)).max()):
            warnings.warn(
                f"the population Hessian moves by {change:.1g} when its grid is refined; the weights are long: use "
                f"nodes={2 * self.nodes - 1} or more",
                AccuracyWarning,
                stacklevel=2,
            )
        return change
