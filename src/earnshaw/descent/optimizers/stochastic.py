"""Stochastic descent: every step sees inputs that no step has seen before."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.descent.base import Evaluations, along
from earnshaw.errors import InputError


class SampledLandscape(Protocol):
    """A landscape that can also be seen through a sample of inputs."""

    def draw(self, key: jax.Array, samples: int) -> jax.Array:
        """Return fresh inputs."""
        ...

    def sampled_value(self, point: jax.Array, sample: jax.Array) -> jax.Array:
        """Return the mean loss of one point on these inputs."""
        ...


class StochasticState(NamedTuple):
    """Points, step lengths, keys and steps taken."""

    point: jax.Array
    length: jax.Array
    key: jax.Array
    taken: jax.Array


@dataclass(frozen=True, kw_only=True)
class StochasticDescent:
    r"""Gradient descent on fresh samples, with a step that falls like :math:`\eta / (1 + t/\tau)`.

    At a global minimum of value 0 the noise vanishes and a run settles; at any other minimum it trembles, ever less as
    the step falls. A run that is undecided at the step limit is finished by gradient descent without noise.

    Attributes
    ----------
    step : the first step length.
    samples : fresh inputs for each step.
    decay : the number of steps tau after which the step is halved.
    check_every : the stop tests are made at multiples of this many of the run's own steps.
    """

    step: float = 0.1
    samples: int = 64
    decay: float = 2000.0
    check_every: int = 50

    def __post_init__(self) -> None:
        """Validate the settings."""
        for name in ("step", "decay"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise InputError(f"the {name} of stochastic descent is {value}; it must be a positive number")
        if self.samples < 1:
            raise InputError(f"stochastic descent got {self.samples} samples a step; it needs at least 1")

    def init(self, landscape: Any, points: jax.Array, scale: jax.Array, keys: jax.Array) -> StochasticState:
        """Return the state of lanes at these points; a step function, whose samples have no slope, is refused."""
        if getattr(getattr(landscape, "activation", None), "homogeneous", None) == 0:
            raise InputError(
                f"stochastic descent needs the slope of the activation, and {landscape.activation} is flat wherever it is "
                "smooth; use another optimiser, such as gd:0.1, which follows the exact gradient of the mean"
            )
        return StochasticState(points, self.step * scale, keys, jnp.zeros(points.shape[0], dtype=jnp.int64))

    def advance(self, landscape: Any, state: StochasticState) -> StochasticState:
        """Return the state after one step of every lane; the landscape must be a :class:`SampledLandscape`."""

        def gradient(point: jax.Array, data: jax.Array, count: jax.Array) -> jax.Array:
            key = jax.random.fold_in(jax.random.wrap_key_data(data, impl="threefry2x32"), count)
            return jax.grad(landscape.sampled_value)(point, landscape.draw(key, self.samples))

        slope = jax.vmap(gradient)(state.point, state.key, state.taken)
        length = state.length / (1.0 + state.taken / self.decay)
        return state._replace(point=state.point - along(length, slope) * slope, taken=state.taken + 1)

    def evaluations(self, state: StochasticState, steps: np.ndarray) -> Evaluations:
        """One gradient, on a sample, a step."""
        return Evaluations(steps, np.zeros_like(steps))

    def to_json(self) -> dict[str, Any]:
        """Return the settings with their defaults."""
        numbers = {"step": float(self.step).hex(), "decay": float(self.decay).hex()}
        return {"kind": "stochastic", **numbers, "samples": self.samples, "check_every": self.check_every}
