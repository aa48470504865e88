"""Any optimiser of optax, or in its form, and a user's own with the methods of a Descent."""

from __future__ import annotations

import hashlib
import inspect
import sys
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.descent.base import Descent, Evaluations, along, follow
from earnshaw.errors import InputError, is_whole
from earnshaw.landscapes.base import Landscape
from earnshaw.problems.loading import contained, guarded, said

MUST = "its update must return a change of the gradient's shape and a state of the form it got, and be written with jax.numpy"


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
    ``value_fn``). A step costs one gradient, and one for each trial of a line search. ``name`` is what a record calls it,
    ``adam:0.01``; ``digest`` a hash of its definition, when it is a user's own.
    """

    kind = "optax"

    name: str
    transformation: Any = field(repr=False)
    digest: str | None = None
    check_every: int = 50

    def init(self, landscape: Landscape, points: jax.Array, scale: jax.Array, keys: jax.Array) -> OptaxState:
        """Return the state of lanes at these points."""
        none = jnp.zeros(points.shape[0], dtype=jnp.int64)
        with self._guarded():
            return OptaxState(points, jax.vmap(self.transformation.init)(points), scale, none)

    def advance(self, landscape: Landscape, state: OptaxState) -> OptaxState:
        """Return the state after one step of every lane."""
        import optax

        update: Any = optax.with_extra_args_support(self.transformation).update

        def one(gradient: jax.Array, value: jax.Array, inner: Any, point: jax.Array) -> tuple[jax.Array, Any]:
            return update(gradient, inner, point, value=value, grad=gradient, value_fn=landscape.value)

        gradient, value = landscape.gradient(state.point), landscape.value(state.point)
        with self._guarded():
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

    def _guarded(self) -> AbstractContextManager[None]:
        return guarded(f"the optimiser {self.name!r}", MUST)

    def to_json(self) -> dict[str, Any]:
        """Return the name, and the hash of a user's definition."""
        record: dict[str, Any] = {"kind": self.kind, "name": self.name, "check_every": self.check_every}
        return record if self.digest is None else record | {"digest": self.digest}


@dataclass(frozen=True, kw_only=True)
class Own(Descent):
    """A user's object with ``init``, ``advance``, ``evaluations``, ``to_json`` and ``check_every``, and how to find it again.

    ``name`` is ``file.py:object`` or ``module:object`` where it was loaded from there, otherwise what its class is called;
    ``digest`` is a hash of the file that it was loaded from.
    """

    kind = "own"

    name: str
    descent: Any = field(repr=False)
    digest: str | None = None
    check_every: int
    leaves_padding_alone: bool

    @property
    def step_length(self) -> float | None:
        """What the object says, if it does."""
        return getattr(self.descent, "step_length", None)

    def init(self, landscape: Landscape, points: jax.Array, scale: jax.Array, keys: jax.Array) -> Any:
        """Return the object's state of lanes at these points."""
        with self._guarded():
            return self.descent.init(landscape, points, scale, keys)

    def advance(self, landscape: Landscape, state: Any) -> Any:
        """Return the object's state after one step of every lane."""
        with self._guarded():
            return self.descent.advance(landscape, state)

    def evaluations(self, state: Any, steps: np.ndarray) -> Evaluations:
        """Return what the object has counted."""
        with self._guarded():
            return self.descent.evaluations(state, steps)

    def _guarded(self) -> AbstractContextManager[None]:
        return guarded(f"the optimiser {self.name!r}", "its methods are those of earnshaw.descent.Descent")

    def to_json(self) -> dict[str, Any]:
        """Return the name, the hash of a file, and the object's own record."""
        record = {"kind": self.kind, "name": self.name, "settings": self.descent.to_json()}
        return record if self.digest is None else record | {"digest": self.digest}


def own_descent(name: str, found: Any, loaded: bool = False) -> Descent:
    """Return a user's object as an algorithm: one of ours, one in the form of optax, or a function that makes either.

    ``loaded`` says that the name is where it was loaded from.
    """
    if inspect.isfunction(found) or inspect.isclass(found):
        try:
            with contained():
                found = found()
        except Exception as error:  # whatever the user's function raises
            raise InputError(f"the optimiser {name!r} cannot be made: calling it raised {said(error)}") from None
    try:
        hash(found)
    except TypeError:
        raise InputError(
            f"the optimiser {name!r} is {found!r:.60}, which cannot be hashed; make it a frozen dataclass or a NamedTuple"
        ) from None
    if all(callable(getattr(found, method, None)) for method in ("init", "advance", "evaluations", "to_json")):
        every: Any = getattr(found, "check_every", None)
        if not is_whole(every, 1):
            raise InputError(
                f"the optimiser {name!r} has check_every {every!r}; give the number of steps between two looks"
            )
        digest, alone = _digest(name, found) if loaded else None, getattr(found, "leaves_padding_alone", False)
        return Own(name=name, descent=found, digest=digest, check_every=every, leaves_padding_alone=alone)
    return checked(Optax(name=name, transformation=found, digest=_digest(name, found)))


class _Bowl:
    """The landscape |x|^2 / 2, on which optimisers are tried."""

    shape = (2, 3)

    def value(self, point: Any) -> Any:
        return 0.5 * (point * point).sum((-2, -1))

    def gradient(self, point: Any) -> Any:
        return point


def checked(descent: Optax) -> Optax:
    """Try the optimiser on a small example, so that a mistake is one sentence now and no traceback later."""
    name, found, bowl = descent.name, descent.transformation, cast(Landscape, _Bowl())
    if not callable(getattr(found, "init", None)) or not callable(getattr(found, "update", None)):
        raise InputError(
            f"the optimiser {name!r} is {found!r:.60}; give an optax GradientTransformation (with init and update), "
            "a function without arguments that returns one, or an object with init, advance, evaluations and to_json"
        )
    points = jnp.linspace(0.5, 1.5, 12).reshape(2, 2, 3)
    try:
        jax.eval_shape(lambda points: follow(descent, bowl, points, 2), points)
        moved = points if descent.digest is None else jax.jit(lambda p: follow(descent, bowl, p, 1).point)(points)
    except InputError:
        raise
    except Exception as error:  # whatever the user's optimiser raises
        raise InputError(f"the optimiser {name!r} fails on a small example ({said(error)}); {MUST}") from None
    if not jnp.isfinite(moved).all():
        raise InputError(
            f"the optimiser {name!r} turns a finite gradient into an update with NaN or infinity; check its numbers"
        )
    return descent


def _digest(name: str, found: Any) -> str:
    """Hash the file that a user's optimiser comes from, as far as it is known: a changed file is another optimiser."""
    place = name.rpartition(":")[0]
    file = place if place.endswith(".py") else getattr(sys.modules.get(place), "__file__", None)
    content = Path(file).read_bytes() if file and Path(file).is_file() else repr(found).encode()
    return hashlib.sha256(content).hexdigest()
