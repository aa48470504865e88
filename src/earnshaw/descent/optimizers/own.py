"""A user's own optimiser: an object with the methods of a Descent, or one in the form of optax."""

from __future__ import annotations

import hashlib
import inspect
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.descent.base import Descent, Evaluations
from earnshaw.descent.optimizers.optax_descent import Optax
from earnshaw.errors import InputError
from earnshaw.landscapes.base import Landscape


@dataclass(frozen=True, kw_only=True)
class Own(Descent):
    """A user's object with ``init``, ``advance``, ``evaluations``, ``to_json`` and ``check_every``, and how to find it again.

    Attributes
    ----------
    name : ``file.py:object`` or ``module:object`` where it was loaded from there, otherwise what its class is called.
    descent : the object.
    digest : a hash of the file that it was loaded from.
    check_every : the object's own.
    """

    kind: ClassVar[str] = "own"

    name: str
    descent: Any = field(repr=False)
    digest: str | None = None
    check_every: int = 50

    @property
    def step_length(self) -> float | None:
        """What the object says, if it does."""
        return getattr(self.descent, "step_length", None)

    @property
    def leaves_padding_alone(self) -> bool:
        """What the object says, if it does."""
        return getattr(self.descent, "leaves_padding_alone", False)

    def init(self, landscape: Landscape, points: jax.Array, scale: jax.Array, keys: jax.Array) -> Any:
        """Return the object's state of lanes at these points."""
        return self.descent.init(landscape, points, scale, keys)

    def advance(self, landscape: Landscape, state: Any) -> Any:
        """Return the object's state after one step of every lane."""
        return self.descent.advance(landscape, state)

    def evaluations(self, state: Any, steps: np.ndarray) -> Evaluations:
        """Return what the object has counted."""
        return self.descent.evaluations(state, steps)

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
        every = getattr(found, "check_every", None)
        if not isinstance(every, int) or every < 1:
            raise InputError(
                f"the optimiser {name!r} has check_every {every!r}; give the number of steps between two looks"
            )
        digest = _digest(name, found) if loaded else None
        return Own(name=name, descent=found, digest=digest, check_every=every)
    return checked(Optax(name=name, transformation=found, digest=_digest(name, found)))


class _Bowl:
    """The landscape |x|^2 / 2, on which optimisers are tried."""

    def value(self, point: Any) -> Any:
        return 0.5 * (point * point).sum((-2, -1))

    def gradient(self, point: Any) -> Any:
        return point


def checked(descent: Optax) -> Optax:
    """Try the optimiser on a small example, so that a mistake is one sentence now and no traceback later."""
    name, found, bowl = descent.name, descent.transformation, _Bowl()
    if not callable(getattr(found, "init", None)) or not callable(getattr(found, "update", None)):
        raise InputError(
            f"the optimiser {name!r} is {found!r:.60}; give an optax GradientTransformation (with init and update), "
            "a function without arguments that returns one, or an object with init, advance, evaluations and to_json"
        )
    points = jnp.linspace(0.5, 1.5, 12).reshape(2, 2, 3)

    def begin(points: jax.Array) -> Any:
        return descent.init(bowl, points, jnp.ones(2), jnp.zeros((2, 2), jnp.uint32))  # type: ignore[arg-type]

    def step(state: Any) -> Any:
        return descent.advance(bowl, state)  # type: ignore[arg-type]

    try:
        jax.eval_shape(lambda p: jax.lax.fori_loop(0, 2, lambda _, state: step(state), begin(p)), points)
        finite = descent.digest is None or bool(jnp.isfinite(jax.jit(lambda p: step(begin(p)).point)(points)).all())
    except InputError:
        raise
    except Exception as error:  # whatever the user's optimiser raises
        raise InputError(
            f"the optimiser {name!r} fails on a small example ({said(error)}); its update must return a change of the "
            "gradient's shape and a state of the form it got, and be written with jax.numpy"
        ) from None
    if not finite:
        raise InputError(
            f"the optimiser {name!r} turns a finite gradient into an update with NaN or infinity; check its numbers"
        )
    return descent


def said(error: Exception) -> str:
    """Return an error in one line."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def _digest(name: str, found: Any) -> str:
    """Hash the file that a user's optimiser comes from, as far as it is known: a changed file is another optimiser."""
    place = name.rpartition(":")[0]
    file = place if place.endswith(".py") else getattr(sys.modules.get(place), "__file__", None)
    content = Path(file).read_bytes() if file and Path(file).is_file() else repr(found).encode()
    return hashlib.sha256(content).hexdigest()
