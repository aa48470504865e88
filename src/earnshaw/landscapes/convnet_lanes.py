r"""Lanes of the convolutional network: random teachers, one for each, and runs in five coordinates.

The loss depends on v through its components along and across w*, and on a through its components along u (the ones),
along the part of a* orthogonal to u, and across both. The gradient keeps a point in the plane of (v, w*) and in the
span of (u, a*, a): the axes below, chosen once at the start, hold the whole run. In these axes the problem is again a
:class:`~earnshaw.landscapes.ConvNetLandscape`, with p = 2 and three output weights, whose ``ones`` is :math:`(\sqrt k, 0, 0)`.

A change of orthonormal axes commutes with every step of gradient descent, so that a reduced run *is* the run, up to
rounding, at a cost that does not depend on p and k.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from earnshaw.numerics import lane_normals
from earnshaw.problems import ConvNet, RandomConvNets

NOTHING = 1e-13  # a part of a vector below this share of it is rounding
_STREAM = 1  # of a lane's key; its start has another


def teachers(problem: ConvNet | RandomConvNets, seed: int, lanes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return filters (lanes, p) and output weights (lanes, k) of the lanes' teachers, each a function of the seed and its
    lane index alone; (1, p) and (1, k) if it is one for all."""
    if isinstance(problem, ConvNet):
        return problem.filter[None], problem.output_weights[None]
    p, k = problem.filter_size, problem.patches
    normals = lane_normals(seed, lanes, p + k, _STREAM)
    mean = np.full((len(lanes), k), problem.ratio / k)
    if k == 1:
        return _unit(normals[:, :p]), mean
    contrast = _unit(normals[:, p:] - normals[:, p:].mean(-1, keepdims=True))
    return _unit(normals[:, :p]), mean + math.sqrt(max(1 - problem.ratio**2 / k, 0.0)) * contrast


def reduce_arrays(
    filter: np.ndarray, outputs: np.ndarray, ones: np.ndarray, points: np.ndarray
) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray], np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """Return teacher and points (lanes, 5) in five coordinates, of points (lanes, p + k), and the way back.

    The teacher's arrays are (p,) and (k,), or one a lane. Reduced lanes of different p and k can be joined to run together.
    """
    lanes, p = len(points), filter.shape[-1]
    filter, outputs, ones = (np.broadcast_to(leaf, (lanes, leaf.shape[-1])) for leaf in (filter, outputs, ones))
    v, a = points[:, :p], points[:, p:]
    forward = _unit(filter)
    sideways = _unit(_without(v, forward), NOTHING * np.linalg.norm(v, axis=-1))
    mean = _unit(ones)
    contrast = _unit(_without(outputs, mean), NOTHING * np.linalg.norm(outputs, axis=-1))
    rest = _unit(_without(a, mean, contrast), NOTHING * np.linalg.norm(a, axis=-1))
    turn, mix = np.stack([forward, sideways], 1), np.stack([mean, contrast, rest], 1)  # (lanes, 2, p), (lanes, 3, k)

    def seen(vectors: np.ndarray, axes: np.ndarray) -> np.ndarray:
        return np.einsum("lk,lik->li", vectors, axes)

    def lift(points: np.ndarray) -> np.ndarray:
        v = np.einsum("li,lip->lp", points[:, :2], turn)
        return np.concatenate([v, np.einsum("li,lik->lk", points[:, 2:], mix)], -1)

    teacher = seen(filter, turn), seen(outputs, mix), seen(ones, mix)
    return teacher, np.concatenate([seen(v, turn), seen(a, mix)], -1), lift


def _without(vectors: np.ndarray, *units: np.ndarray) -> np.ndarray:
    """Return the part orthogonal to orthonormal units (twice, against rounding)."""
    for unit in (*units, *units):
        vectors = vectors - np.sum(vectors * unit, -1, keepdims=True) * unit
    return vectors


def _unit(vectors: np.ndarray, threshold: np.ndarray | float = 0.0) -> np.ndarray:
    """Return unit vectors; zero where the length is at most the threshold."""
    lengths = np.linalg.norm(vectors, axis=-1)
    safe = np.where(lengths > threshold, lengths, 1.0)[:, None]
    return np.where((lengths > threshold)[:, None], vectors / safe, 0.0)
