"""Random teachers and starts of the convolutional network, and the four signs of a start."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import jax
import numpy as np

from earnshaw.errors import InputError
from earnshaw.numerics import compiled, lane_keys
from earnshaw.problems.convnet import ConvNet

SIGNS = ((1, 1), (1, -1), (-1, 1), (-1, -1))  # of the filter and of the output weights
_START, _TEACHER = 0, 1  # streams of one lane's key


@dataclass(frozen=True, kw_only=True)
class SphereAndBall:
    r"""The filter uniform on the unit sphere, the output weights uniform in the ball of radius :math:`|S||w^*|/\sqrt k`.

    The radius makes :math:`|1\cdot a| \le |S||w^*|`, whatever the direction. Reference: Du et al. (2018), Theorem 3.2.
    """

    kind: str = "sphere-and-ball"

    def draw(self, problem: ConvNet, seed: int, lanes: np.ndarray) -> np.ndarray:
        """Return starts (lanes, p + k); each depends on the seed and its lane index alone."""
        return self.draw_each(problem.filter[None], problem.output_weights[None], seed, lanes)

    def draw_each(self, filters: np.ndarray, outputs: np.ndarray, seed: int, lanes: np.ndarray) -> np.ndarray:
        """Return starts for teachers with filters (lanes, p) and output weights (lanes, k), one a lane."""
        size = filters.shape[-1] + outputs.shape[-1] + 2
        return _place(filters, outputs, _normals(seed, lanes, _START, size))

    def draw_many(self, problems: Sequence[ConvNet], seed: int) -> list[np.ndarray]:
        """Return one start (p + k,) for each problem, whatever its p and k; the lane is its place in the list."""
        sizes = np.array([_padded(problem.filter_size + problem.patches + 2) for problem in problems])
        normals: dict[int, np.ndarray] = {}
        for size in np.unique(sizes):
            lanes = np.flatnonzero(sizes == size)
            normals |= dict(zip(lanes.tolist(), _normals(seed, lanes, _START, int(size)), strict=True))
        return [_place(x.filter[None], x.output_weights[None], normals[i][None])[0] for i, x in enumerate(problems)]

    def to_json(self) -> dict[str, Any]:
        """Return the configuration with its defaults."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class RandomTeachers:
    r"""Unit filters and unit output weights, uniform among those whose sum is :math:`S = \text{ratio}`.

    With u the vector of ones, :math:`a^* = \frac{S}{k}u + \sqrt{1 - S^2/k}\;e`, e uniform among the unit vectors
    orthogonal to u. The loss of the spurious point is the same for all of them.
    """

    filter_size: int
    patches: int
    ratio: float
    kind: str = "unit-teachers"

    def __post_init__(self) -> None:
        """Validate the sizes and the ratio."""
        if self.filter_size < 2:
            raise InputError(f"p = {self.filter_size} was asked for; a filter needs 2 weights or more to turn")
        if self.patches < 1:
            raise InputError(f"k = {self.patches} was asked for; use at least 1 patch")
        most = math.sqrt(self.patches)
        if not abs(self.ratio) <= most * (1 + 1e-15):
            raise InputError(
                f"the ratio S/|a*| = {self.ratio} is impossible with k = {self.patches} output weights: "
                f"use {-most:.6g} to {most:.6g}"
            )
        if self.patches == 1 and abs(self.ratio) != 1:
            raise InputError(f"with one output weight S/|a*| is 1 or -1, not {self.ratio}")

    def draw(self, seed: int, lanes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return filters (lanes, p) and output weights (lanes, k); lane by lane, as for starts."""
        p, k = self.filter_size, self.patches
        normals = _normals(seed, lanes, _TEACHER, p + k)
        mean = np.full((len(lanes), k), self.ratio / k)
        if k == 1:
            return _units(normals[:, :p]), mean
        contrast = normals[:, p : p + k]
        contrast = _units(contrast - contrast.mean(-1, keepdims=True))
        return _units(normals[:, :p]), mean + math.sqrt(max(1 - self.ratio**2 / k, 0.0)) * contrast

    def to_json(self) -> dict[str, Any]:
        """Return the configuration with its defaults."""
        return asdict(self) | {"ratio": float(self.ratio).hex()}


def sign_flips(points: np.ndarray, filter_size: int) -> np.ndarray:
    """Return the four signs of points (lanes, p + k): an array (4, lanes, p + k) in the order of ``SIGNS``."""
    split = np.arange(points.shape[-1]) < filter_size
    return np.stack([points * np.where(split, first, second) for first, second in SIGNS])


def _place(filters: np.ndarray, outputs: np.ndarray, normals: np.ndarray) -> np.ndarray:
    """Turn normal numbers into points of the sphere and the ball."""
    p, k = filters.shape[-1], outputs.shape[-1]
    radius = np.abs(outputs.sum(-1)) * np.linalg.norm(filters, axis=-1) / math.sqrt(k)
    # k coordinates of a uniform point of the sphere in R^(k+2) are a uniform point of the ball in R^k
    inside = _units(normals[:, p : p + k + 2])[:, :k]
    return np.concatenate([_units(normals[:, :p]), radius[:, None] * inside], -1)


def _padded(size: int) -> int:
    """Return the next multiple of 64: few sizes, few programs."""
    return -(-size // 64) * 64


def _normals(seed: int, lanes: np.ndarray, stream: int, size: int) -> np.ndarray:
    """Return standard normal numbers (lanes, size or a few more) of one of the streams of each lane."""
    return np.asarray(_draw(lane_keys(seed, lanes), stream, _padded(size)))


@functools.partial(compiled, static_argnums=2)
def _draw(keys: jax.Array, stream: int, size: int) -> jax.Array:
    return jax.vmap(lambda key: jax.random.normal(jax.random.fold_in(key, stream), (size,)))(keys)


def _units(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
