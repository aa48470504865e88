"""What a start is, and starts by name."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from earnshaw.errors import InputError
from earnshaw.problems import TwoLayer
from earnshaw.starts.gaussian import Normal, Sphere, Xavier
from earnshaw.starts.given import Given

KNOWN = "xavier, normal:SCALE, sphere, or a file FILE.npy of points"


class Start(Protocol):
    """Where runs begin: a function of the problem, the seed and the lane."""

    def draw(self, problem: TwoLayer, seed: int, lanes: np.ndarray) -> np.ndarray:
        """Return starts (lanes, n, d), or (lanes, n, d + 1) with trainable output weights."""
        ...

    def to_json(self) -> dict[str, Any]:
        """Return the settings with their defaults."""
        ...


def start(given: str | Path | np.ndarray | Start) -> Start:
    """Return the start of this name (``xavier``, ``normal:0.1``, ``sphere``, the path of an ``.npy`` file), or the given one.

    An array (runs, n, d) holds the points themselves.
    """
    if isinstance(given, np.ndarray):
        return Given(given)
    if isinstance(given, Path):
        return Given.load(given)
    if not isinstance(given, str):
        if not all(callable(getattr(given, method, None)) for method in ("draw", "to_json")):
            raise InputError(f"the start is {given!r:.60}; choose {KNOWN}, or an object with draw and to_json")
        return given
    kind, _, rest = given.partition(":")
    if given == "xavier":
        return Xavier()
    if given == "sphere":
        return Sphere()
    if kind == "normal":
        try:
            scale = float(rest)
        except ValueError:
            scale = math.nan
        if not (math.isfinite(scale) and scale > 0):
            raise InputError(f"the start {given!r} has no usable scale; write for example normal:0.1")
        return Normal(scale=scale)
    if given.endswith(".npy"):
        return Given.load(Path(given))
    raise InputError(f"unknown start {given!r}; choose {KNOWN}")
