"""Any optimiser of optax, or written in its form."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.descent.base import Descent, Evaluations, along
from earnshaw.errors import InputError
from earnshaw.landscapes.base import Landscape


class OptaxState(NamedTuple):
    """Points (lanes, *shape), the optimiser's own state lane by lane, multipliers and gradients counted so far."""

    point: jax.Array
    inner: Any
    scale: jax.Array
    gradients: jax.Array


@dataclass(frozen=True, kw_only=True)
class Optax(Descent):
    """An optax ``GradientTransformation``, applied to every lane by itself.

    Line searches get what they ask for: the value, the gradient and the loss as a function (``value``, ``grad``,
    ``value_fn``).

    Attributes
    ----------
    name : what a record calls it: ``adam:0.01``.
    transformation : the optimiser, with its ``init`` and ``update``.
    digest : a hash of its definition, when it is a user's own.
    check_every : the stop tests are made at multiples of this many of the run's own steps.
    """

    kind: ClassVar[str] = "optax"

    name: str
    transformation: Any = field(repr=False)
    digest: str | None = None
    check_every: int = 50

    def init(self, landscape: Landscape, points: jax.Array, scale: jax.Array, keys: jax.Array) -> OptaxState:
        """Return the state of lanes at these points."""
        inner = jax.vmap(self.transformation.init)(points)
        return OptaxState(points, inner, scale, jnp.zeros(points.shape[0], dtype=jnp.int64))

    def advance(self, landscape: Landscape, state: OptaxState) -> OptaxState:
        """Return the state after one step of every lane."""
        import optax

        update: Any = optax.with_extra_args_support(self.transformation).update

        def one(gradient: jax.Array, value: jax.Array, inner: Any, point: jax.Array) -> tuple[jax.Array, Any]:
            return update(gradient, inner, point, value=value, grad=gradient, value_fn=landscape.value)

        gradient, value = landscape.gradient(state.point), landscape.value(state.point)
        change, inner = jax.vmap(one)(gradient, value, state.inner, state.point)
        if getattr(change, "shape", None) != gradient.shape:
            raise InputError(
                f"the optimiser {self.name!r} turns a gradient of shape {gradient.shape[1:]} into "
                f"{f'an update of shape {change.shape[1:]}' if hasattr(change, 'shape') else 'no array'}; "
                "it must return an update of the gradient's shape"
            )
        searched = optax.tree_utils.tree_get(inner, "num_linesearch_steps", default=jnp.zeros_like(state.gradients))
        point = state.point + along(state.scale, change) * change
        return OptaxState(point, inner, state.scale, state.gradients + 1 + searched)

    def evaluations(self, state: OptaxState, steps: np.ndarray) -> Evaluations:
        """One gradient a step, and one for each trial of a line search."""
        return Evaluations(np.asarray(state.gradients), np.zeros_like(steps))

    def to_json(self) -> dict[str, Any]:
        """Return the name, and the hash of a user's definition."""
        record: dict[str, Any] = {"kind": self.kind, "name": self.name, "check_every": self.check_every}
        return record if self.digest is None else record | {"digest": self.digest}
