"""Algorithms that see gradients alone: descent with a fixed step, projected, perturbed or on samples, and gradient flow."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp

from earnshaw.descent.base import Descent, along, dots, follow
from earnshaw.errors import InputError, is_whole
from earnshaw.landscapes.base import Landscape

STAGES = 6  # new gradients in a step of Tsitouras' method


class Stepped(NamedTuple):
    """Points (lanes, *shape) and step lengths (lanes,)."""

    point: jax.Array
    length: jax.Array


class FixedStep(Descent, Protocol):
    """Gradient descent, or an algorithm like it: it remembers nothing but where it is, and its step stays the same."""

    step: float

    def init(self, landscape: Landscape, points: jax.Array, scale: jax.Array, keys: jax.Array) -> Stepped:
        """Return the state of lanes at these points."""
        return Stepped(points, self.step * scale)

    def advance(self, landscape: Landscape, state: Stepped) -> Stepped:
        """Return the state after one step of every lane."""
        change = along(state.length, state.point) * landscape.gradient(state.point)
        return state._replace(point=state.point - change)


@dataclass(frozen=True, kw_only=True)
class GradientDescent(FixedStep):
    r"""Plain gradient descent, :math:`x \leftarrow x - \eta\,\nabla F(x)`: the rule of Safran & Shamir."""

    kind = "gd"
    called = ""
    numbers = ("step",)
    leaves_padding_alone = True

    step: float = 0.1
    check_every: int = 50

    @property
    def step_length(self) -> float:
        """The step: this is the algorithm itself."""
        return self.step


@dataclass(frozen=True, kw_only=True)
class ProjectedDescent(FixedStep):
    r"""Gradient descent on a surface, :math:`x \leftarrow \Pi(x - \alpha\nabla f(x))`, :math:`\Pi` the nearest allowed point.

    Where every point is allowed it is gradient descent. Next to a kink of the landscape a fixed step goes to and fro:
    positions are then right to the length of a step.

    Reference: Panigrahy et al. (2018), Algorithm 4.
    """

    kind = "projected"
    called = " of projected descent"
    numbers = ("step",)

    step: float = 0.1
    check_every: int = 50

    def advance(self, landscape: Landscape, state: Stepped) -> Stepped:
        """Return the state after one step of every lane."""
        return state._replace(point=landscape.project(super().advance(landscape, state).point))


@functools.partial(jax.jit, static_argnames=("steps", "step"))
def projected_descent(landscape: Landscape, points: jax.Array, *, steps: int, step: float) -> jax.Array:
    """Return the points (lanes, *shape) after so many steps of Algorithm 4."""
    return follow(ProjectedDescent(step=step), landscape, points, steps).point


class PerturbedState(NamedTuple):
    """Points, step lengths, keys, the last gradient's norm, the steps since the last kick and the kicks so far."""

    point: jax.Array
    length: jax.Array
    key: jax.Array
    norm: jax.Array
    since: jax.Array
    kicks: jax.Array


@dataclass(frozen=True, kw_only=True)
class PerturbedDescent(Descent):
    """Gradient descent with a fixed step that adds a random vector, uniform in a ball, where the last gradient was small.

    Reference: Jin, Ge, Netrapalli, Kakade & Jordan (2017), How to escape saddle points efficiently, Algorithm 1. There
    a run ends when a kick did not lower the loss enough; here it may be kicked a number of times and then comes to rest,
    so that its fate becomes clear.

    Attributes
    ----------
    radius : of the ball of kicks.
    threshold : a gradient of at most this norm is small.
    wait : steps between two kicks at least.
    kicks : how often a run is kicked at most; afterwards it is gradient descent.
    """

    kind = "perturbed-gd"
    called = " of perturbed descent"
    numbers = ("step", "radius")

    step: float = 0.1
    radius: float = 0.01
    threshold: float = 1e-3
    wait: int = 200
    kicks: int = 10
    check_every: int = 50

    def __post_init__(self) -> None:
        """Refuse kicks that cannot be counted, too."""
        super().__post_init__()
        if not (is_whole(self.wait, 1) and is_whole(self.kicks)):
            raise InputError(
                f"perturbed descent got wait {self.wait!r}, kicks {self.kicks!r}; use whole numbers from 1 and 0"
            )

    def init(self, landscape: Landscape, points: jax.Array, scale: jax.Array, keys: jax.Array) -> PerturbedState:
        """Return the state of lanes at these points."""
        zero = jnp.zeros(points.shape[0], dtype=jnp.int64)
        return PerturbedState(points, self.step * scale, keys, jnp.full(points.shape[0], jnp.inf), zero, zero)

    def advance(self, landscape: Landscape, state: PerturbedState) -> PerturbedState:
        """Return the state after one step of every lane."""
        kicked = (state.norm <= self.threshold) & (state.since >= self.wait) & (state.kicks < self.kicks)

        def kick(state: PerturbedState) -> tuple[jax.Array, jax.Array]:
            keys = jax.vmap(lambda data: jax.random.split(_key(data)))(state.key)
            noise = jax.vmap(lambda key: _in_ball(key, state.point.shape[1:]))(keys[:, 0])
            point = jnp.where(along(kicked, noise), state.point + self.radius * noise, state.point)
            return point, jnp.where(kicked[:, None], jax.random.key_data(keys[:, 1]), state.key)

        point, key = jax.lax.cond(jnp.any(kicked), kick, lambda state: (state.point, state.key), state)
        gradient = landscape.gradient(point)
        return state._replace(
            point=point - along(state.length, point) * gradient,
            key=key,
            norm=jnp.sqrt(dots(gradient, gradient)),
            since=jnp.where(kicked, 0, state.since + 1),
            kicks=state.kicks + kicked,
        )


def _key(data: jax.Array) -> jax.Array:
    return jax.random.wrap_key_data(data, impl="threefry2x32")


def _in_ball(key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    """Return a point uniform in the unit ball: a random direction, and a radius with density proportional to r^(N-1)."""
    direction, radius = jax.random.split(key)
    vector = jax.random.normal(direction, shape)
    return vector / jnp.linalg.norm(vector) * jax.random.uniform(radius) ** (1 / math.prod(shape))


class StochasticState(NamedTuple):
    """Points, step lengths, keys and steps taken."""

    point: jax.Array
    length: jax.Array
    key: jax.Array
    taken: jax.Array


@dataclass(frozen=True, kw_only=True)
class StochasticDescent(Descent):
    r"""Gradient descent on fresh samples, which no step has seen before, with a step that falls like :math:`\eta / (1 + t/\tau)`.

    At a global minimum of value 0 the noise vanishes and a run settles; at any other minimum it trembles, ever less as
    the step falls. A run that is undecided at the step limit is finished by gradient descent without noise. The landscape
    must have ``draw(key, samples)``, which returns fresh inputs, and ``sampled_value(point, inputs)``, the mean loss on them.

    Attributes
    ----------
    step : the first step length eta.
    samples : fresh inputs for each step.
    decay : the number of steps tau after which the step is halved.
    """

    kind = "stochastic"
    called = " of stochastic descent"
    numbers = ("step", "samples")

    step: float = 0.1
    samples: int = 64
    decay: float = 2000.0
    check_every: int = 50

    def __post_init__(self) -> None:
        """Refuse a part of a sample, too."""
        super().__post_init__()
        if not is_whole(self.samples, 1):
            raise InputError(f"stochastic descent got {self.samples!r} samples a step; it needs a whole number from 1")

    def init(self, landscape: Any, points: jax.Array, scale: jax.Array, keys: jax.Array) -> StochasticState:
        """Return the state of lanes at these points; a step function, whose samples have no slope, is refused."""
        if getattr(getattr(landscape, "activation", None), "homogeneous", None) == 0:
            raise InputError(
                f"stochastic descent needs the slope of the activation, and {landscape.activation} is flat wherever it is "
                "smooth; use another optimiser, such as gd:0.1, which follows the exact gradient of the mean"
            )
        return StochasticState(points, self.step * scale, keys, jnp.zeros(points.shape[0], dtype=jnp.int64))

    def advance(self, landscape: Any, state: StochasticState) -> StochasticState:
        """Return the state after one step of every lane."""

        def gradient(point: jax.Array, data: jax.Array, count: jax.Array) -> jax.Array:
            sample = landscape.draw(jax.random.fold_in(_key(data), count), self.samples)
            return jax.grad(landscape.sampled_value)(point, sample)

        slope = jax.vmap(gradient)(state.point, state.key, state.taken)
        length = state.length / (1.0 + state.taken / self.decay)
        return state._replace(point=state.point - along(length, slope) * slope, taken=state.taken + 1)


class FlowState(NamedTuple):
    """Points (lanes, *shape), the solver's last step length and gradients counted so far."""

    point: jax.Array
    length: jax.Array
    gradients: jax.Array


@dataclass(frozen=True, kw_only=True)
class Flow(Descent):
    r"""Gradient flow :math:`\dot x = -\nabla F(x)`, by Tsitouras' fifth-order method with error control (diffrax).

    One step is a stretch of ``time`` (ten steps of gradient descent with step 0.1 cover 1); every lane has its own step
    lengths inside it, and six gradients for each of the solver's steps, rejected ones included. ``tolerance`` is the
    relative error allowed in a solver's step; the absolute one is a thousandth of it.
    """

    kind = "flow"
    called = " of the flow"
    numbers = ("time", "tolerance")

    time: float = 1.0
    tolerance: float = 1e-6
    check_every: int = 5

    def init(self, landscape: Landscape, points: jax.Array, scale: jax.Array, keys: jax.Array) -> FlowState:
        """Return the state of lanes at these points."""
        return FlowState(points, 0.05 * self.time * scale, jnp.zeros(points.shape[0], dtype=jnp.int64))

    def advance(self, landscape: Landscape, state: FlowState) -> FlowState:
        """Follow every lane for a stretch of time; a lane that needs too many steps for it becomes NaN."""
        import diffrax

        term = diffrax.ODETerm(lambda t, point, args: -landscape.gradient(point))  # pyright: ignore[reportArgumentType]
        control = diffrax.PIDController(rtol=self.tolerance, atol=1e-3 * self.tolerance)

        def one(point: jax.Array, length: jax.Array) -> tuple[jax.Array, jax.Array]:
            times, limits = (0.0, self.time, length), {"max_steps": 4096, "throw": False}
            solution = diffrax.diffeqsolve(term, diffrax.Tsit5(), *times, point, stepsize_controller=control, **limits)
            assert solution.ys is not None
            good = solution.result == diffrax.RESULTS.successful
            return jnp.where(good, solution.ys[0], jnp.nan), solution.stats["num_steps"]

        point, steps = jax.vmap(one)(state.point, state.length)
        length = self.time / jnp.maximum(steps, 1)
        return FlowState(point, length, state.gradients + 1 + STAGES * steps)
