"""What a start is; random weights, Gaussian or on a sphere; those of the convolutional network; and points that are given."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from earnshaw.errors import InputError
from earnshaw.landscapes.convnet_lanes import teachers
from earnshaw.numerics import lane_normals
from earnshaw.problems import ConvNet, Problem, RandomConvNets
from earnshaw.records import fields_of

SIGNS = ((1, 1), (1, -1), (-1, 1), (-1, -1))  # of the filter and of the output weights
_STREAM = 0  # of a lane's key; the random teachers have another


class Start(Protocol):
    """Where runs begin: a function of the problem, the seed and the lane."""

    def draw(self, problem: Any, seed: int, lanes: np.ndarray) -> np.ndarray:
        r"""Return starts (lanes, \*shape); or (tries, lanes, \*shape), of which the one that ends lowest counts."""
        ...

    def to_json(self) -> dict[str, Any]:
        """Return the settings with their defaults."""
        return fields_of(self)


class RandomWeights(Start):
    """Starts whose weights are normal numbers put in their place; trainable output weights begin as N(0, 1)."""

    def draw(self, problem: Problem, seed: int, lanes: np.ndarray) -> np.ndarray:
        """Return starts (lanes, n, d); each depends on the seed and its lane index alone."""
        n, extra = problem.shape[0], problem.symmetry.extra if problem.symmetry is not None else 0
        d = problem.shape[-1] - extra
        weights = self._placed(problem, lane_normals(seed, lanes, n * d).reshape(-1, n, d))
        if not extra:
            return weights
        charges = lane_normals(seed, lanes, n * extra, stream=2).reshape(-1, n, extra)
        return np.concatenate([weights, charges], -1)

    def _placed(self, problem: Problem, normals: np.ndarray) -> np.ndarray:
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Xavier(RandomWeights):
    """Every neuron from N(0, I/k), k the number of teacher neurons (Safran & Shamir 2018, section 3).

    Without a teacher k is the dimension, so that neurons have about length 1.
    """

    kind: str = "xavier"

    def _placed(self, problem: Problem, normals: np.ndarray) -> np.ndarray:
        return normals / math.sqrt(len(problem.anchors) or problem.shape[-1])


@dataclass(frozen=True, kw_only=True)
class Normal(RandomWeights):
    """Every weight from N(0, scale^2)."""

    scale: float
    kind: str = "normal"

    def _placed(self, problem: Problem, normals: np.ndarray) -> np.ndarray:
        return self.scale * normals

    def to_json(self) -> dict[str, Any]:
        """Return the settings with their defaults."""
        return fields_of(self) | {"scale": float(self.scale).hex()}


@dataclass(frozen=True, kw_only=True)
class Sphere(RandomWeights):
    """Every neuron uniform on the sphere whose radius is the root mean square of the teacher's norms (1 without one)."""

    kind: str = "sphere"

    def _placed(self, problem: Problem, normals: np.ndarray) -> np.ndarray:
        anchors = problem.anchors
        radius = math.sqrt(float(np.mean(np.sum(anchors**2, 1)))) if len(anchors) else 1.0
        return radius * normals / np.linalg.norm(normals, axis=-1, keepdims=True)


def starts_around(weights: np.ndarray, distance: float, seed: int, lanes: np.ndarray) -> np.ndarray:
    """Return starts (lanes, K, d) at this distance from weights (K, d), relative to their Frobenius norm, in random directions."""
    noise = lane_normals(seed, lanes, weights.size).reshape(-1, *weights.shape)
    length = distance * np.linalg.norm(weights) / np.linalg.norm(noise, axis=(1, 2), keepdims=True)
    return weights + length * noise


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
    inside = _directions(normals[:, p : p + k + 2])[:, :k]
    return np.concatenate([_directions(normals[:, :p]), radius[..., None] * inside], -1)


def _directions(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


@dataclass(frozen=True, eq=False)
class Given(Start):
    """Run i begins at the i-th of these points ``(runs, *shape)``."""

    points: np.ndarray

    def __post_init__(self) -> None:
        """Validate the points."""
        points = np.asarray(self.points)
        if points.ndim < 2 or points.dtype.kind not in "fiu" or not np.isfinite(points).all():
            raise InputError(
                f"the starts have shape {points.shape} and type {points.dtype}; give finite numbers (runs, neurons, dimension)"
            )
        object.__setattr__(self, "points", points.astype(np.float64))

    def draw(self, problem: Problem, seed: int, lanes: np.ndarray) -> np.ndarray:
        """Return the points of these lanes; another problem's points raise :class:`InputError`."""
        points = self.points[None] if self.points.shape == problem.shape else self.points  # one point is one run
        if points.shape[1:] != problem.shape:
            wanted = ", ".join(map(str, problem.shape))
            raise InputError(f"the starts have shape {points.shape}; this problem needs (runs, {wanted})")
        if lanes.size and lanes.max() >= len(points):
            raise InputError(
                f"{int(lanes.max()) + 1} runs need as many starts, but {len(points)} are given; ask for {len(points)} runs"
            )
        return points[lanes]

    def to_json(self) -> dict[str, Any]:
        """Return the points, exactly, and their hash."""
        content = np.ascontiguousarray(self.points, dtype="<f8").tobytes()
        points, digest = base64.b64encode(content).decode("ascii"), hashlib.sha256(content).hexdigest()
        return {"kind": "given", "shape": list(self.points.shape), "sha256": digest, "points": points}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Given:
        """Read the points back."""
        content = base64.b64decode(record["points"], validate=True)
        if hashlib.sha256(content).hexdigest() != record["sha256"]:
            raise ValueError("the points are not those of the hash")
        return cls(np.frombuffer(content, dtype="<f8").reshape(record["shape"]))
