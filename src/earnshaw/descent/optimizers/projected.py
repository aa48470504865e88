"""Algorithm 4 of Panigrahy et al.: gradient descent with a projection after each step."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import ClassVar

import jax

from earnshaw.descent.base import Descent, along, check_settings, follow
from earnshaw.descent.optimizers.gradient_descent import GradientState
from earnshaw.landscapes.base import Landscape


@dataclass(frozen=True, kw_only=True)
class ProjectedDescent(Descent):
    r"""Gradient descent on a surface, :math:`x \leftarrow \Pi(x - \alpha\nabla f(x))`, :math:`\Pi` the nearest allowed point.

    Where every point is allowed it is gradient descent. Next to a kink of the landscape a fixed step goes to and fro:
    positions are then right to the length of a step.

    Reference: Panigrahy et al. (2018), Algorithm 4.

    Attributes
    ----------
    step : the step length alpha.
    check_every : the stop tests are made at multiples of this many of the run's own steps.
    """

    kind: ClassVar[str] = "projected"
    numbers: ClassVar[tuple[str, ...]] = ("step",)

    step: float = 0.1
    check_every: int = 50

    def __post_init__(self) -> None:
        """Refuse what is not positive."""
        check_settings(self, " of projected descent", "step")

    def init(self, landscape: Landscape, points: jax.Array, scale: jax.Array, keys: jax.Array) -> GradientState:
        """Return the state of lanes at these points."""
        return GradientState(points, self.step * scale)

    def advance(self, landscape: Landscape, state: GradientState) -> GradientState:
        """Return the state after one step of every lane."""
        change = along(state.length, state.point) * landscape.gradient(state.point)
        return state._replace(point=landscape.project(state.point - change))


@functools.partial(jax.jit, static_argnames=("steps", "step"))
def projected_descent(landscape: Landscape, points: jax.Array, *, steps: int, step: float) -> jax.Array:
    """Return the points (lanes, *shape) after so many steps of Algorithm 4."""
    return follow(ProjectedDescent(step=step), landscape, points, steps).point
