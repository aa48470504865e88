"""Starts that the user gives."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from earnshaw.errors import InputError
from earnshaw.problems import Problem
from earnshaw.store import read_npy


@dataclass(frozen=True, eq=False)
class Given:
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

    @classmethod
    def load(cls, path: Path) -> Given:
        """Read the points from an ``.npy`` file."""
        return cls(read_npy(path, "the starts"))

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
        points = base64.b64encode(content).decode("ascii")
        digest = hashlib.sha256(content).hexdigest()
        return {"kind": "given", "shape": list(self.points.shape), "sha256": digest, "points": points}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Given:
        """Read the points back."""
        content = base64.b64decode(record["points"], validate=True)
        if hashlib.sha256(content).hexdigest() != record["sha256"]:
            raise ValueError("the points are not those of the hash")
        return cls(np.frombuffer(content, dtype="<f8").reshape(record["shape"]))
