"""Perturbed gradient descent: gradient descent with a small kick whenever it seems to rest."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from earnshaw.descent.base import Descent, along, check_settings, dots
from earnshaw.errors import InputError
from earnshaw.landscapes.base import Landscape


class PerturbedState(NamedTuple):
    """Points, step lengths, keys, the last gradient's norm, the steps since the last kick and the kicks so far."""

    point: jax.Array
    length: jax.Array
    key: jax.Array
    norm: jax.Array
    since: jax.Array
    kicks: jax.Array


@dataclass(frozen=True, kw_only=True)
class PerturbedDescent(Descent):
    """Gradient descent that adds a random vector, uniform in a ball, where the last gradient was small.

    Reference: Jin, Ge, Netrapalli, Kakade & Jordan (2017), How to escape saddle points efficiently, Algorithm 1. There
    a run ends when a kick did not lower the loss enough; here it may be kicked a number of times and then comes to rest,
    so that its fate becomes clear.

    Attributes
    ----------
    step : the step length.
    radius : of the ball of kicks.
    threshold : a gradient of at most this norm is small.
    wait : steps between two kicks at least.
    kicks : how often a run is kicked at most; afterwards it is gradient descent.
    check_every : the stop tests are made at multiples of this many of the run's own steps.
    """

    kind: ClassVar[str] = "perturbed-gd"
    numbers: ClassVar[tuple[str, ...]] = ("step", "radius")

    step: float = 0.1
    radius: float = 0.01
    threshold: float = 1e-3
    wait: int = 200
    kicks: int = 10
    check_every: int = 50

    def __post_init__(self) -> None:
        """Refuse what is not positive, and kicks that cannot be counted."""
        check_settings(self, " of perturbed descent", "step", "radius", "threshold")
        if self.wait < 1 or self.kicks < 0:
            raise InputError(f"perturbed descent got wait {self.wait}, kicks {self.kicks}; use at least 1 and 0")

    def init(self, landscape: Landscape, points: jax.Array, scale: jax.Array, keys: jax.Array) -> PerturbedState:
        """Return the state of lanes at these points."""
        lanes = points.shape[0]
        zero = jnp.zeros(lanes, dtype=jnp.int64)
        return PerturbedState(points, self.step * scale, keys, jnp.full(lanes, jnp.inf), zero, zero)

    def advance(self, landscape: Landscape, state: PerturbedState) -> PerturbedState:
        """Return the state after one step of every lane."""
        kicked = (state.norm <= self.threshold) & (state.since >= self.wait) & (state.kicks < self.kicks)

        def kick(state: PerturbedState) -> tuple[jax.Array, jax.Array]:
            keys = jax.vmap(lambda data: jax.random.split(jax.random.wrap_key_data(data, impl="threefry2x32")))(
                state.key
            )
            noise = jax.vmap(lambda key: _in_ball(key, state.point.shape[1:]))(keys[:, 0])
            point = jnp.where(along(kicked, noise), state.point + self.radius * noise, state.point)
            return point, jnp.where(kicked[:, None], jax.random.key_data(keys[:, 1]), state.key)

        point, key = jax.lax.cond(jnp.any(kicked), kick, lambda state: (state.point, state.key), state)
        gradient = landscape.gradient(point)
        return PerturbedState(
            point=point - along(state.length, point) * gradient,
            length=state.length,
            key=key,
            norm=jnp.sqrt(dots(gradient, gradient)),
            since=jnp.where(kicked, 0, state.since + 1),
            kicks=state.kicks + kicked,
        )


def _in_ball(key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    """Return a point uniform in the unit ball: a random direction, and a radius with density proportional to r^(N-1)."""
    direction, radius = jax.random.split(key)
    vector = jax.random.normal(direction, shape)
    return vector / jnp.linalg.norm(vector) * jax.random.uniform(radius) ** (1 / math.prod(shape))
