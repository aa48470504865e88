"""Starts of the convolutional network, and the four signs of one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from earnshaw.landscapes.convnet_random import teachers
from earnshaw.numerics import lane_normals
from earnshaw.problems import ConvNet, RandomConvNets
from earnshaw.starts.base import Start

SIGNS = ((1, 1), (1, -1), (-1, 1), (-1, -1))  # of the filter and of the output weights
_STREAM = 0  # of a lane's key; the random teachers have another


@dataclass(frozen=True, kw_only=True)
class SphereAndBall(Start):
    r"""The filter uniform on the unit sphere, the output weights uniform in the ball of radius :math:`|S||w^*|/\sqrt k`.

    The radius makes :math:`|1\cdot a| \le |S||w^*|`, whatever the direction. Reference: Du et al. (2018), Theorem 3.2.
    """

    kind: str = "sphere-and-ball"

    def draw(self, problem: ConvNet | RandomConvNets, seed: int, lanes: np.ndarray) -> np.ndarray:
        """Return starts (lanes, p + k); each depends on the seed and its lane index alone."""
        filters, outputs = teachers(problem, seed, lanes)
        return _place(filters, outputs, lane_normals(seed, lanes, problem.shape[0] + 2, _STREAM))

    def draw_many(self, problems: Sequence[ConvNet], seed: int) -> list[np.ndarray]:
        """Return one start (p + k,) for each problem, whatever its p and k; the lane is its place in the list."""
        most = max(problem.shape[0] for problem in problems) + 2
        normals = lane_normals(seed, np.arange(len(problems)), most, _STREAM)
        return [_place(x.filter[None], x.output_weights[None], normals[[i]])[0] for i, x in enumerate(problems)]


@dataclass(frozen=True, kw_only=True)
class FourSigns(Start):
    """The four signs of one start of :class:`SphereAndBall`, of which the best end counts."""

    kind: str = "four-signs"

    def draw(self, problem: ConvNet | RandomConvNets, seed: int, lanes: np.ndarray) -> np.ndarray:
        """Return starts (4, lanes, p + k) in the order of ``SIGNS``."""
        return sign_flips(SphereAndBall().draw(problem, seed, lanes), problem.filter_size)


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
    return np.concatenate([_units(normals[:, :p]), radius[..., None] * inside], -1)


def _units(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
