"""Random weights: Gaussian, or uniform on a sphere."""

from __future__ import annotations

import functools
import math
from dataclasses import asdict, dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.numerics import compiled, lane_keys
from earnshaw.problems import TwoLayer


@dataclass(frozen=True, kw_only=True)
class Xavier:
    """Every neuron from N(0, I/k), k the number of teacher neurons (Safran & Shamir 2018, section 3).

    Trainable output weights begin as N(0, 1), as in every start here.
    """

    kind: str = "xavier"

    def draw(self, problem: TwoLayer, seed: int, lanes: np.ndarray) -> np.ndarray:
        """Return starts (lanes, n, d); each depends on the seed and its lane index alone."""
        return _draw(problem, seed, lanes, lambda weights: weights / math.sqrt(problem.teachers))

    def to_json(self) -> dict[str, Any]:
        """Return the configuration with its defaults."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Normal:
    """Every weight from N(0, scale^2)."""

    scale: float
    kind: str = "normal"

    def draw(self, problem: TwoLayer, seed: int, lanes: np.ndarray) -> np.ndarray:
        """Return starts (lanes, n, d); each depends on the seed and its lane index alone."""
        return _draw(problem, seed, lanes, lambda weights: self.scale * weights)

    def to_json(self) -> dict[str, Any]:
        """Return the configuration with its defaults."""
        return asdict(self) | {"scale": float(self.scale).hex()}


@dataclass(frozen=True, kw_only=True)
class Sphere:
    """Every neuron uniform on the sphere whose radius is the root mean square of the teacher's norms."""

    kind: str = "sphere"

    def draw(self, problem: TwoLayer, seed: int, lanes: np.ndarray) -> np.ndarray:
        """Return starts (lanes, n, d); each depends on the seed and its lane index alone."""
        radius = math.sqrt(float(np.mean(np.sum(problem.teacher**2, 1))))
        return _draw(problem, seed, lanes, lambda w: radius * w / np.linalg.norm(w, axis=-1, keepdims=True))

    def to_json(self) -> dict[str, Any]:
        """Return the configuration with its defaults."""
        return asdict(self)


def _draw(problem: TwoLayer, seed: int, lanes: np.ndarray, place: Any) -> np.ndarray:
    """Return normal numbers, the weights put in their place, the output weights (if they are learned) as they are."""
    keys = lane_keys(seed, lanes)
    weights = place(_normal(keys, (problem.students, problem.dimension)))
    if not problem.trainable_output:
        return weights
    charges = _normal(jax.vmap(lambda key: jax.random.fold_in(key, 2))(keys), (problem.students, 1))
    return np.concatenate([weights, charges], -1)


def _normal(keys: jax.Array, shape: tuple[int, int]) -> np.ndarray:
    """Return normal numbers (lanes, *shape).

    The i-th number of a key does not depend on how many are drawn, so that a program for the next power of two serves
    all smaller sizes.
    """
    count, room = math.prod(shape), 1 << (math.prod(shape) - 1).bit_length()
    spare = (1 << (len(keys) - 1).bit_length()) - len(keys)
    everyone = jnp.concatenate([keys, jnp.broadcast_to(keys[:1], (spare,))]) if spare else keys
    return np.asarray(_normals(everyone, room))[: len(keys), :count].reshape(-1, *shape)


@functools.partial(compiled, static_argnums=1)
def _normals(keys: jax.Array, count: int) -> jax.Array:
    return jax.vmap(lambda key: jax.random.normal(key, (count,)))(keys)
