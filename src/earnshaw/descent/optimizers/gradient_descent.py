"""Plain gradient descent with a fixed step: the rule of Safran & Shamir."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import numpy as np

from earnshaw.descent.base import Evaluations, along
from earnshaw.errors import InputError
from earnshaw.landscapes.base import Landscape


class GradientState(NamedTuple):
    """Points (lanes, *shape) and step lengths (lanes,)."""

    point: jax.Array
    length: jax.Array


@dataclass(frozen=True, kw_only=True)
class GradientDescent:
    r"""Gradient descent, :math:`x \leftarrow x - \eta\,\nabla F(x)`.

    Attributes
    ----------
    step : the step length, the same for all steps of a run.
    check_every : the stop tests are made at multiples of this many of the run's own steps.
    """

    step: float = 0.1
    check_every: int = 50

    def __post_init__(self) -> None:
        """Validate the settings."""
        if not (math.isfinite(self.step) and self.step > 0):
            raise InputError(f"the step is {self.step}; it must be a positive number (the paper uses 0.1)")
        if self.check_every < 1:
            raise InputError(f"check_every is {self.check_every}; it must be at least 1")

    def init(self, landscape: Landscape, points: jax.Array, scale: jax.Array, keys: jax.Array) -> GradientState:
        """Return the state of lanes at these points."""
        return GradientState(points, self.step * scale)

    def advance(self, landscape: Landscape, state: GradientState) -> GradientState:
        """Return the state after one step of every lane."""
        change = along(state.length, state.point) * landscape.gradient(state.point)
        return state._replace(point=state.point - change)

    def evaluations(self, state: GradientState, steps: np.ndarray) -> Evaluations:
        """One gradient a step."""
        return Evaluations(steps, np.zeros_like(steps))

    def to_json(self) -> dict[str, Any]:
        """Return the settings with their defaults."""
        return {"kind": "gd", "step": float(self.step).hex(), "check_every": self.check_every}
