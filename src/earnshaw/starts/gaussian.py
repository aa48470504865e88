"""Random weights: Gaussian, or uniform on a sphere."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from earnshaw.numerics import lane_normals
from earnshaw.problems import Problem


@dataclass(frozen=True, kw_only=True)
class Xavier:
    """Every neuron from N(0, I/k), k the number of teacher neurons (Safran & Shamir 2018, section 3).

    Trainable output weights begin as N(0, 1), as in every start here. Without a teacher k is the dimension, so that
    neurons have about length 1.
    """

    kind: str = "xavier"

    def draw(self, problem: Problem, seed: int, lanes: np.ndarray) -> np.ndarray:
        """Return starts (lanes, n, d); each depends on the seed and its lane index alone."""
        k = len(problem.anchors) or problem.shape[-1]
        return _draw(problem, seed, lanes, lambda weights: weights / math.sqrt(k))

    def to_json(self) -> dict[str, Any]:
        """Return the configuration with its defaults."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Normal:
    """Every weight from N(0, scale^2)."""

    scale: float
    kind: str = "normal"

    def draw(self, problem: Problem, seed: int, lanes: np.ndarray) -> np.ndarray:
        """Return starts (lanes, n, d); each depends on the seed and its lane index alone."""
        return _draw(problem, seed, lanes, lambda weights: self.scale * weights)

    def to_json(self) -> dict[str, Any]:
        """Return the configuration with its defaults."""
        return asdict(self) | {"scale": float(self.scale).hex()}


@dataclass(frozen=True, kw_only=True)
class Sphere:
    """Every neuron uniform on the sphere whose radius is the root mean square of the teacher's norms (1 without one)."""

    kind: str = "sphere"

    def draw(self, problem: Problem, seed: int, lanes: np.ndarray) -> np.ndarray:
        """Return starts (lanes, n, d); each depends on the seed and its lane index alone."""
        anchors = problem.anchors
        radius = math.sqrt(float(np.mean(np.sum(anchors**2, 1)))) if len(anchors) else 1.0
        return _draw(problem, seed, lanes, lambda w: radius * w / np.linalg.norm(w, axis=-1, keepdims=True))

    def to_json(self) -> dict[str, Any]:
        """Return the configuration with its defaults."""
        return asdict(self)


def _draw(problem: Problem, seed: int, lanes: np.ndarray, place: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Return normal numbers, the weights put in their place, the output weights (if they are learned) as they are."""
    n, extra = problem.shape[0], problem.symmetry.extra if problem.symmetry is not None else 0
    d = problem.shape[-1] - extra
    weights = place(lane_normals(seed, lanes, n * d).reshape(-1, n, d))
    if not extra:
        return weights
    charges = lane_normals(seed, lanes, n * extra, stream=2).reshape(-1, n, extra)
    return np.concatenate([weights, charges], -1)


def starts_around(weights: np.ndarray, distance: float, seed: int, lanes: np.ndarray) -> np.ndarray:
    """Return starts (lanes, K, d) at this distance from weights (K, d), relative to their Frobenius norm, in random directions."""
    noise = lane_normals(seed, lanes, weights.size).reshape(-1, *weights.shape)
    length = distance * np.linalg.norm(weights) / np.linalg.norm(noise, axis=(1, 2), keepdims=True)
    return weights + length * noise
