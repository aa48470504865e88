"""Newton's method for critical points of any kind, saddles included."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp

from earnshaw.descent.base import along
from earnshaw.descent.optimizers.hessian_descent import flat, norms
from earnshaw.landscapes.base import Landscape


@functools.partial(jax.tree_util.register_dataclass, data_fields=("point", "gradient_norm"), meta_fields=())
@dataclass(frozen=True)
class CriticalPoints:
    """Where the search ended: points (lanes, *shape), and their gradient norms; a lane may have found nothing."""

    point: jax.Array
    gradient_norm: jax.Array


class _Search(NamedTuple):
    point: jax.Array
    norm: jax.Array
    damping: jax.Array


@functools.partial(jax.jit, static_argnames="steps")
def critical_points(landscape: Landscape, points: jax.Array, *, steps: int = 200) -> CriticalPoints:
    r"""Make the gradient's norm small from each start (lanes, *shape), by Levenberg's steps

    .. math:: x \leftarrow x - (H^2 + \mu I)^{-1} H\,\nabla f ,

    with mu divided by 4 after a step that helps and multiplied by 4 after one that does not. Minima, saddles and maxima
    are all the same to it.
    """

    def body(_: jax.Array, s: _Search) -> _Search:
        gradient = flat(landscape, landscape.gradient(s.point))
        eigenvalues, vectors = jnp.linalg.eigh(landscape.hessian(s.point))
        pull = jnp.einsum("...ji,...j->...i", vectors, gradient)
        change = jnp.einsum("...ij,...j->...i", vectors, pull * eigenvalues / (eigenvalues**2 + s.damping[..., None]))
        trial = s.point - change.reshape(s.point.shape)
        norm = norms(landscape, landscape.gradient(trial))
        better = norm < s.norm
        return _Search(
            jnp.where(along(better, trial), trial, s.point),
            jnp.where(better, norm, s.norm),
            jnp.where(better, s.damping / 4, jnp.minimum(4 * s.damping, 1e6)) + 1e-30,
        )

    start = _Search(points, norms(landscape, landscape.gradient(points)), jnp.full(points.shape[0], 1e-2))
    end = jax.lax.fori_loop(0, steps, body, start)
    return CriticalPoints(end.point, end.norm)
