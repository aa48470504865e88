"""Independent Gaussian weights."""

from __future__ import annotations

import functools
import math
from dataclasses import asdict, dataclass
from typing import Any

import jax
import numpy as np

from earnshaw.numerics import lane_keys
from earnshaw.problems import TwoLayer


@dataclass(frozen=True, kw_only=True)
class Xavier:
    """Every neuron from N(0, I/k), k the number of teacher neurons (Safran & Shamir 2018, section 3)."""

    kind: str = "xavier"

    def draw(self, problem: TwoLayer, seed: int, lanes: np.ndarray) -> np.ndarray:
        """Return starts (lanes, n, d); each depends on the seed and its lane index alone."""
        shape = (problem.students, problem.dimension)
        return np.asarray(_normal(lane_keys(seed, lanes), shape)) / math.sqrt(problem.teachers)

    def to_json(self) -> dict[str, Any]:
        """Return the configuration with its defaults."""
        return asdict(self)


@functools.partial(jax.jit, static_argnums=1)
def _normal(keys: jax.Array, shape: tuple[int, int]) -> jax.Array:
    return jax.vmap(lambda key: jax.random.normal(key, shape))(keys)
