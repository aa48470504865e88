"""Plain gradient descent with a fixed step: the rule of Safran & Shamir."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import jax

from earnshaw.descent.base import Descent, along, check_settings
from earnshaw.landscapes.base import Landscape


class GradientState(NamedTuple):
    """Points (lanes, *shape) and step lengths (lanes,)."""

    point: jax.Array
    length: jax.Array


@dataclass(frozen=True, kw_only=True)
class GradientDescent(Descent):
    r"""Gradient descent, :math:`x \leftarrow x - \eta\,\nabla F(x)`.

    Attributes
    ----------
    step : the step length, the same for all steps of a run.
    check_every : the stop tests are made at multiples of this many of the run's own steps.
    """

    kind: ClassVar[str] = "gd"
    numbers: ClassVar[tuple[str, ...]] = ("step",)

    step: float = 0.1
    check_every: int = 50

    def __post_init__(self) -> None:
        """Refuse what is not positive."""
        check_settings(self, "", "step")

    @property
    def step_length(self) -> float:
        """The step: this is the algorithm itself."""
        return self.step

    @property
    def leaves_padding_alone(self) -> bool:
        """Yes: each coordinate moves by its own derivative."""
        return True

    def init(self, landscape: Landscape, points: jax.Array, scale: jax.Array, keys: jax.Array) -> GradientState:
        """Return the state of lanes at these points."""
        return GradientState(points, self.step * scale)

    def advance(self, landscape: Landscape, state: GradientState) -> GradientState:
        """Return the state after one step of every lane."""
        change = along(state.length, state.point) * landscape.gradient(state.point)
        return state._replace(point=state.point - change)
