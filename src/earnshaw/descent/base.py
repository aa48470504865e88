"""What the machinery needs of an algorithm: the one small interface behind every optimiser."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import jax
import numpy as np

from earnshaw.landscapes.base import Landscape


class Evaluations(NamedTuple):
    """How many gradients, and Hessians (or products with one), each lane has cost so far."""

    gradients: np.ndarray
    hessians: np.ndarray


class Descent(Protocol):
    """An algorithm that takes steps on a landscape; implementations are frozen, hashable dataclasses of settings.

    ``init`` and ``advance`` are traced by JAX on blocks of lanes, and what a lane computes must depend on that lane alone.
    """

    @property
    def check_every(self) -> int:
        """How many of its own steps a lane takes between two looks at it."""
        ...

    def init(self, landscape: Landscape, points: jax.Array, scale: jax.Array, keys: jax.Array) -> Any:
        """Return the state of lanes at these points: a NamedTuple with a field ``point``, every leaf with a lane axis.

        ``scale`` (lanes,) multiplies the lane's steps: 1, halved after each divergence. ``keys`` (lanes, 2) are the
        data of one random key for each lane.
        """
        ...

    def advance(self, landscape: Landscape, state: Any) -> Any:
        """Return the state after one step of every lane."""
        ...

    def evaluations(self, state: Any, steps: np.ndarray) -> Evaluations:
        """Return what these lanes have cost after so many steps."""
        ...

    def to_json(self) -> dict[str, Any]:
        """Return the settings, with their defaults, as plain JSON data."""
        ...


def along(scale: jax.Array, like: jax.Array) -> jax.Array:
    """Return one number per lane, shaped to multiply arrays (lanes, *shape)."""
    return scale.reshape(-1, *(1,) * (like.ndim - 1))


def dots(first: jax.Array, second: jax.Array) -> jax.Array:
    """Return the inner products (lanes,) of points (lanes, *shape)."""
    return (first * second).reshape(first.shape[0], -1).sum(-1)
