"""Plain gradient descent with a fixed step: the rule of Safran & Shamir."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.errors import InputError
from earnshaw.landscapes import TwoLayerLandscape


class Stop(Enum):
    """When a run ends; the value is the sentence that explains it."""

    EARLY = "as soon as the value test or a Newton test makes the fate clear"
    PAPER = "when every neuron's gradient norm is at most 1e-9"


class DescentState(NamedTuple):
    """Positions (lanes, n, d) and step lengths (lanes,); a step of 0 parks a lane."""

    weights: jax.Array
    step_size: jax.Array


@dataclass(frozen=True, kw_only=True)
class GradientDescent:
    """Settings of the descent.

    Attributes
    ----------
    step : the step length, the same for all steps of a run.
    stop : when a run ends.
    max_steps : the step limit of a run.
    check_every : the stop tests are made at multiples of this many of the run's own steps.
    max_halvings : a run that diverges starts again with half the step, at most this often.
    trace : record the run every so many steps; 0 records nothing.
    """

    step: float = 0.1
    stop: Stop = Stop.EARLY
    max_steps: int = 200_000
    check_every: int = 50
    max_halvings: int = 10
    trace: int = 0

    def __post_init__(self) -> None:
        """Validate the settings."""
        if not (math.isfinite(self.step) and self.step > 0):
            raise InputError(f"the step is {self.step}; it must be a positive number (the paper uses 0.1)")
        if self.max_steps < 1:
            raise InputError(f"the step limit is {self.max_steps}; it must be at least 1")
        if self.check_every < 1:
            raise InputError(f"check_every is {self.check_every}; it must be at least 1")
        if self.max_halvings < 0:
            raise InputError(f"max_halvings is {self.max_halvings}; it must not be negative")
        if self.trace < 0:
            raise InputError(f"a trace every {self.trace} steps was asked for; use 1 or more, or 0 for none")

    def init(self, weights: np.ndarray | jax.Array, step_size: np.ndarray | None = None) -> DescentState:
        """Return the state of a batch of lanes."""
        weights = jnp.asarray(weights)
        return DescentState(
            weights, jnp.full(weights.shape[0], self.step) if step_size is None else jnp.asarray(step_size)
        )

    def advance(self, landscape: TwoLayerLandscape, state: DescentState) -> DescentState:
        """Return the state after one step of every lane that is not parked."""
        change = state.step_size[:, None, None] * landscape.gradient(state.weights)
        return state._replace(weights=state.weights - change)

    def to_json(self) -> dict[str, Any]:
        """Return the configuration with its defaults."""
        return {
            **asdict(self),
            "kind": "gradient-descent",
            "stop": self.stop.name.lower(),
            "step": float(self.step).hex(),
        }
