"""Starts: the initial point of a run, from its key; by name, from JSON, and the usual one of a problem."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from earnshaw.errors import InputError
from earnshaw.problems import Charges, ConvNet, Problem, RandomConvNets
from earnshaw.starts.base import (
    FourSigns,
    Given,
    Normal,
    RandomWeights,
    Sphere,
    SphereAndBall,
    Start,
    Xavier,
    sign_flips,
    starts_around,
)
from earnshaw.store import read_npy

__all__ = ["FourSigns", "Given", "Normal", "Sphere", "SphereAndBall", "Start", "Xavier", "sign_flips", "starts_around"]
__all__ += ["check_start", "start", "start_from_json", "usual_start"]

KNOWN = "xavier, normal:SCALE, sphere, or a file FILE.npy of points; for the convolutional network sphere-and-ball, four-signs"
PLAIN = {start.kind: start for start in (Xavier(), Sphere(), SphereAndBall(), FourSigns())}


def usual_start(problem: Problem) -> Start:
    """Return where runs of a problem begin unless somebody says otherwise."""
    if isinstance(problem, ConvNet | RandomConvNets):
        return SphereAndBall()
    if isinstance(problem, Charges):
        return Normal(scale=math.sqrt(float(np.mean(problem.protons**2))))
    return Xavier()


def start(given: str | Path | np.ndarray | Start) -> Start:
    """Return the start of this name (``xavier``, ``normal:0.1``, ``sphere``, the path of an ``.npy`` file), the one at
    these points ``(runs, *shape)``, or the given one."""
    if isinstance(given, np.ndarray):
        return Given(given)
    if isinstance(given, Path) or (isinstance(given, str) and given.endswith(".npy")):
        return Given(read_npy(Path(given), "the starts"))
    if not isinstance(given, str):
        if not all(callable(getattr(given, method, None)) for method in ("draw", "to_json")):
            raise InputError(f"the start is {given!r:.60}; choose {KNOWN}, or an object with draw and to_json")
        return given
    kind, _, rest = given.partition(":")
    if given in PLAIN:
        return PLAIN[given]
    if kind == "normal":
        try:
            scale = float(rest)
        except ValueError:
            scale = math.nan
        if not (math.isfinite(scale) and scale > 0):
            raise InputError(f"the start {given!r} has no usable scale; write for example normal:0.1")
        return Normal(scale=scale)
    raise InputError(f"unknown start {given!r}; choose {KNOWN}")


def check_start(start: Start, problem: Problem, runs: int) -> None:
    """Refuse a start of ours that has no points for so many runs of a problem."""
    if isinstance(start, Given):
        start.draw(problem, 0, np.array([runs - 1]))
    signed, convolutional = isinstance(start, SphereAndBall | FourSigns), isinstance(problem, ConvNet | RandomConvNets)
    if signed != convolutional and (signed or isinstance(start, RandomWeights)):
        raise InputError(
            f"the start {start.to_json()['kind']} is not one for the network {problem.network}; choose {KNOWN}"
        )


def start_from_json(record: Mapping[str, Any]) -> Start:
    """Read a start back from its ``to_json``; bad content raises :class:`InputError`."""
    kind = record.get("kind") if isinstance(record, Mapping) else None
    try:
        if kind in PLAIN:
            return PLAIN[kind]
        if kind == "normal":
            return Normal(scale=float.fromhex(record["scale"]))
        if kind == "given":
            return Given.from_json(record)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"the start {record!r:.60} cannot be read ({error})") from None
    raise InputError(f"a start of the kind {kind!r} cannot be read back; name it, or give its points in an .npy file")
