"""Algorithm 2 of Panigrahy et al.: gradient descent that follows negative curvature where the gradient is small."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp

from earnshaw.descent.optimizers.hessian_descent import SecondOrder, hessian_step, norms


@functools.partial(jax.tree_util.register_dataclass, data_fields=("gradient_norm", "curvature"), meta_fields=())
@dataclass(frozen=True)
class Membership:
    """How close points are to minima of second order: gradient norm and least eigenvalue, one a lane."""

    gradient_norm: jax.Array
    curvature: jax.Array

    def within(self, tolerance: float) -> jax.Array:
        r"""Return whether the point is in :math:`M_{G,\epsilon}`: gradient at most eps, curvature at least -eps."""
        return (self.gradient_norm <= tolerance) & (self.curvature >= -tolerance)


def membership(landscape: SecondOrder, point: jax.Array) -> Membership:
    """Return gradient norm and least curvature of points (section 4 of the paper)."""
    curvature = jnp.linalg.eigvalsh(landscape.hessian(point))[..., 0]
    return Membership(norms(landscape, landscape.gradient(point)), curvature)


@functools.partial(
    jax.tree_util.register_dataclass,
    data_fields=("point", "value", "steps", "hessian_steps", "stopped"),
    meta_fields=(),
)
@dataclass(frozen=True)
class SecondGDResult:
    """Where Algorithm 2 ended: points (lanes, *shape), values, steps taken, and whether it stopped by itself."""

    point: jax.Array
    value: jax.Array
    steps: jax.Array
    hessian_steps: jax.Array
    stopped: jax.Array


class _Loop(NamedTuple):
    point: jax.Array
    value: jax.Array
    steps: jax.Array
    hessian_steps: jax.Array
    active: jax.Array
    turn: jax.Array


@functools.partial(jax.jit, static_argnames=("max_steps", "step", "gradient_threshold", "curvature_threshold"))
def second_gd(
    landscape: SecondOrder,
    points: jax.Array,
    *,
    max_steps: int,
    step: float,
    gradient_threshold: float,
    curvature_threshold: float,
) -> SecondGDResult:
    r"""Run Algorithm 2 on every lane of points (lanes, *shape).

    Where the gradient is at least eta, a step :math:`-\alpha\nabla f`; elsewhere one step of Algorithm 1. A lane stops,
    at the point before, when a step gains less than :math:`\min(\alpha\eta^2/2,\ \alpha^2\gamma^3/3)`, which is what
    Lemmas 18 and 19 promise (the printed second term has 1/2 in place of 1/3; docs/errata.md).

    Reference: Panigrahy et al. (2018), Algorithm 2.
    """
    gain = min(step * gradient_threshold**2 / 2, step**2 * curvature_threshold**3 / 3)
    lanes = points.shape[0]
    rank = len(landscape.shape)

    def wide(mask: jax.Array) -> jax.Array:
        return mask.reshape(mask.shape + (1,) * rank)

    def body(s: _Loop) -> _Loop:
        gradient = landscape.gradient(s.point)
        curved = s.active & (norms(landscape, gradient) < gradient_threshold)
        down = s.point - step * gradient
        moved = jax.lax.cond(
            jnp.any(curved),
            lambda: jnp.where(wide(curved), hessian_step(landscape, s.point, gradient, step), down),
            lambda: down,
        )
        value = landscape.value(moved)
        active = s.active & (value < s.value - gain)
        return _Loop(
            jnp.where(wide(active), moved, s.point),
            jnp.where(active, value, s.value),
            s.steps + active,
            s.hessian_steps + (active & curved),
            active,
            s.turn + 1,
        )

    zero = jnp.zeros(lanes, dtype=jnp.int64)
    start = _Loop(points, landscape.value(points), zero, zero, jnp.ones(lanes, dtype=bool), jnp.asarray(0))
    end = jax.lax.while_loop(lambda s: jnp.any(s.active) & (s.turn < max_steps), body, start)
    return SecondGDResult(end.point, end.value, end.steps, end.hessian_steps, ~end.active)
