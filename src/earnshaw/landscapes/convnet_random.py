"""Random convolutional teachers, one for each lane of a sweep."""

from __future__ import annotations

import math
from collections.abc import Mapping

import jax
import numpy as np

from earnshaw.landscapes.convnet import ConvNetLandscape
from earnshaw.numerics import lane_normals
from earnshaw.problems import ConvNet, RandomConvNets

_STREAM = 1  # of a lane's key; its start has another


def teachers(problem: ConvNet | RandomConvNets, seed: int, lanes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return filters (lanes, p) and output weights (lanes, k) of the lanes' teachers; (1, p) and (1, k) if it is one for all.

    Each depends on the seed and its lane index alone.
    """
    if isinstance(problem, ConvNet):
        return problem.filter[None], problem.output_weights[None]
    p, k = problem.filter_size, problem.patches
    normals = lane_normals(seed, lanes, p + k, _STREAM)
    mean = np.full((len(lanes), k), problem.ratio / k)
    if k == 1:
        return _units(normals[:, :p]), mean
    contrast = normals[:, p:]
    contrast = _units(contrast - contrast.mean(-1, keepdims=True))
    return _units(normals[:, :p]), mean + math.sqrt(max(1 - problem.ratio**2 / k, 0.0)) * contrast


def random_landscape(
    problem: RandomConvNets, seed: int, lanes: np.ndarray, own: Mapping[str, np.ndarray] | None = None
) -> ConvNetLandscape:
    """Return the landscape of these lanes, each with its own teacher, drawn or at hand."""
    filters, outputs = (own["filters"], own["outputs"]) if own else teachers(problem, seed, lanes)
    return ConvNetLandscape(*jax.device_put((filters, outputs, np.ones_like(outputs))))


def _units(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
