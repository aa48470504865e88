"""The gradient of ReLU students of a coordinate teacher, neurons as columns: a CPU's way to take many steps of many lanes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import jax
import jax.numpy as jnp

from earnshaw.landscapes.two_layer import TwoLayerLandscape
from earnshaw.numerics import sine_and_supplement


@dataclass(frozen=True)
class Columns:
    r"""The landscape of points (lanes, d, n), whose columns are the neurons; :meth:`turned` leads there and back.

    With :math:`r_i = |w_i|`, :math:`u_i = w_i/r_i`, the angle t, s = sin t and :math:`p = \pi - t` of each pair,

    .. math::
        2\pi\,\frac{\partial F}{\partial w_i} = a_i\Big(\sum_j a_j p_{ji}\,w_j
            + \Big(\sum_j a_j r_j s_{ji} - \sum_c b_c s'_{ci}\Big) u_i - \sum_c b_c p'_{ci}\,e_c\Big),

    :math:`s_{ii} = 0`, :math:`p_{ii} = \pi`, with primes for pairs with the teacher's neurons :math:`e_c`. This is
    :meth:`~earnshaw.landscapes.energy.PairEnergy.gradient` in an order that suits XLA's loops on a CPU: every sum runs over the
    leading axis of a matrix, so that vectors hold neighbours i, and the supplements, which are most of the work, are one loop
    over all pairs without rows, which fills vectors of any width.
    """

    charges: jax.Array  # a (n,)
    teacher_charges: jax.Array  # b (k,)

    @classmethod
    def of(cls, landscape: TwoLayerLandscape) -> Self:
        """Return the same landscape for columns."""
        assert landscape.coordinates
        return cls(landscape.student_charges, landscape.teacher_charges)

    @staticmethod
    def turned(points: jax.Array) -> jax.Array:
        """Return points with rows as columns."""
        return jnp.swapaxes(points, -1, -2)

    def gradient(self, point: jax.Array) -> jax.Array:
        """Return dF, (lanes, d, n)."""
        d, n, k = *point.shape[-2:], self.teacher_charges.shape[0]
        norms = jnp.sqrt(jnp.sum(point * point, -2))
        units = point / norms[:, None]
        same = jnp.eye(n, dtype=bool)
        sines, supplements = _arcs(jnp.matmul(self.turned(units), units))
        sines, supplements = jnp.where(same, 0.0, sines), jnp.where(same, math.pi, supplements)
        taught_sines, taught = _arcs(units[:, :k])
        radial = jnp.sum((self.charges * norms)[:, :, None] * sines, -2)
        radial = radial - jnp.sum(self.teacher_charges[:, None] * taught_sines, -2)
        pull = jnp.matmul(self.charges * point, supplements)
        taught = jnp.pad(self.teacher_charges[:, None] * taught, ((0, 0), (0, d - k), (0, 0)))
        return self.charges / (2 * math.pi) * (pull + radial[:, None] * units - taught)


def _arcs(cosines: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return sines and supplements of the angles: these in a loop without rows, whose length need not suit vectors."""
    whole = jax.lax.optimization_barrier(cosines)
    flat = jax.lax.optimization_barrier(sine_and_supplement(whole.reshape(-1))[1])
    return sine_and_supplement(whole)[0], flat.reshape(cosines.shape)
