"""Random starts for a network of probabilities: anywhere, or around a known network."""

from __future__ import annotations

import functools

import jax
import numpy as np
from numpy.typing import NDArray

from earnshaw.numerics import lane_keys

Array = NDArray[np.float64]


@functools.partial(jax.jit, static_argnums=1)
def _draws(keys: jax.Array, shape: tuple[int, int]) -> jax.Array:
    return jax.vmap(lambda key: jax.random.normal(key, shape))(keys)


def _normal(shape: tuple[int, int], seed: int, lanes: np.ndarray) -> Array:
    return np.asarray(_draws(lane_keys(seed, lanes), shape))


def random_starts(neurons: int, dimension: int, seed: int, lanes: np.ndarray, norm: float = 1.0) -> Array:
    """Return starts (lanes, K, d) with independent normal entries, neurons of about this norm; one key for each lane."""
    return norm / np.sqrt(dimension) * _normal((neurons, dimension), seed, lanes)


def starts_around(weights: Array, distance: float, seed: int, lanes: np.ndarray) -> Array:
    """Return starts (lanes, K, d) at this distance from weights (K, d), relative to their Frobenius norm, in random directions."""
    noise = _normal((weights.shape[0], weights.shape[1]), seed, lanes)
    length = distance * np.linalg.norm(weights) / np.linalg.norm(noise, axis=(1, 2), keepdims=True)
    return weights + length * noise
