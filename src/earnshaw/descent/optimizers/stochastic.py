"""Stochastic descent: every step sees inputs that no step has seen before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import jax
import jax.numpy as jnp

from earnshaw.descent.base import Descent, along, check_settings
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
class StochasticDescent(Descent):
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

    kind: ClassVar[str] = "stochastic"
    numbers: ClassVar[tuple[str, ...]] = ("step", "samples")

    step: float = 0.1
    samples: int = 64
    decay: float = 2000.0
    check_every: int = 50

    def __post_init__(self) -> None:
        """Refuse what is not positive, and a part of a sample."""
        check_settings(self, " of stochastic descent", "step", "decay")
        if not isinstance(self.samples, int) or self.samples < 1:
            raise InputError(f"stochastic descent got {self.samples} samples a step; it needs a whole number from 1")

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
