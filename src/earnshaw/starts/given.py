"""Starts that the user gives."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from earnshaw.errors import InputError
from earnshaw.problems import TwoLayer
from earnshaw.store import read_npy


@dataclass(frozen=True, eq=False)
class Given:
    """Run i begins at the i-th of these points (runs, n, d)."""

    points: np.ndarray

    def __post_init__(self) -> None:
        """Validate the points."""
        points = np.asarray(self.points)
        if points.ndim == 2:
            points = points[None]
        if points.ndim != 3 or points.dtype.kind not in "fiu" or not np.isfinite(points).all():
            raise InputError(
                f"the starts have shape {points.shape} and type {points.dtype}; give finite numbers (runs, neurons, dimension)"
            )
        object.__setattr__(self, "points", points.astype(np.float64))

    @classmethod
    def load(cls, path: Path) -> Given:
        """Read the points from an ``.npy`` file."""
        return cls(read_npy(path, "the starts"))

    def draw(self, problem: TwoLayer, seed: int, lanes: np.ndarray) -> np.ndarray:
        """Return the points of these lanes; another problem's points raise :class:`InputError`."""
        if self.points.shape[1:] != problem.shape:
            raise InputError(
                f"the starts have shape {self.points.shape}; this problem needs (runs, {problem.shape[0]}, {problem.shape[1]})"
            )
        if lanes.size and lanes.max() >= len(self.points):
            raise InputError(
                f"{int(lanes.max()) + 1} runs were asked for, but {len(self.points)} starts are given; use --runs {len(self.points)}"
            )
        return self.points[lanes]

    def to_json(self) -> dict[str, Any]:
        """Return a hash of the points."""
        return {"kind": "given", "sha256": hashlib.sha256(np.ascontiguousarray(self.points).tobytes()).hexdigest()}
