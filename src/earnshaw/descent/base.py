"""What the machinery needs of an algorithm: the one small interface behind every optimiser."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.errors import InputError, is_whole
from earnshaw.landscapes.base import Landscape
from earnshaw.records import encode


class Evaluations(NamedTuple):
    """How many gradients, and Hessians (or products with one), each lane has cost so far."""

    gradients: np.ndarray
    hessians: np.ndarray


class Descent(Protocol):
    """An algorithm that takes steps on a landscape; implementations are frozen, hashable dataclasses of settings.

    ``init`` and ``advance`` are traced by JAX on blocks of lanes, and what a lane computes must depend on that lane alone.
    Classes that name this one as their base inherit the answers of an algorithm of which nothing more is known, and the
    JSON form of a dataclass whose fields are numbers.

    Attributes
    ----------
    kind : what its record and its name begin with.
    called : what messages say after the name of a setting; where it is given, all that are floats must be positive.
    numbers : the fields that are set, in this order, by the numbers after its name.
    check_every : how many of its own steps a lane takes between two looks at it: the stop tests are made at multiples.
    leaves_padding_alone : whether a coordinate with gradient 0 stays where it is and changes no other: then blocks may be
        padded.
    """

    kind: ClassVar[str]
    called: ClassVar[str | None] = None
    numbers: ClassVar[tuple[str, ...]] = ()
    check_every: int
    leaves_padding_alone: bool = False

    def __post_init__(self) -> None:
        """Refuse settings that must be positive numbers and are not."""
        if not is_whole(self.check_every, 1):
            raise InputError(f"check_every is {self.check_every!r}; it must be a whole number, at least 1")
        if self.called is None:
            return
        for name, default in self._defaults().items():
            value = getattr(self, name)
            if isinstance(default, float) and not (math.isfinite(value) and value > 0):
                raise InputError(f"the {name}{self.called} is {value}; it must be a positive number")

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        return {field.name: field.default for field in dataclasses.fields(cls)}  # pyright: ignore[reportArgumentType]

    @classmethod
    def named(cls, *numbers: float) -> Self:
        """Return the algorithm with the numbers that its name gives."""
        whole = {name for name, default in cls._defaults().items() if isinstance(default, int)}
        settings = zip(cls.numbers, numbers, strict=False)
        return cls(**{name: int(x) if name in whole and x.is_integer() else x for name, x in settings})

    @property
    def step_length(self) -> float | None:
        r"""The step :math:`\eta` of an algorithm that is :math:`x \leftarrow x - \eta\,\nabla F(x)`; None for any other."""
        return None

    def init(self, landscape: Landscape, points: jax.Array, scale: jax.Array, keys: jax.Array) -> Any:
        """Return the state of lanes at these points: a NamedTuple with a field ``point``, every leaf with a lane axis.

        ``scale`` (lanes,) multiplies the lane's steps: 1, halved after each divergence. ``keys`` (lanes, 2) are the
        data of one random key for each lane.
        """
        ...

    def advance(self, landscape: Landscape, state: Any) -> Any:
        """Return the state after one step of every lane."""
        ...

    def evaluations(self, state: Any, steps: np.ndarray) -> Evaluations:
        """Return what these lanes have cost after so many steps: what the state counts as ``gradients`` and ``hessians``,
        or one gradient a step and no Hessian where it does not."""
        gradients, hessians = getattr(state, "gradients", steps), getattr(state, "hessians", np.zeros_like(steps))
        return Evaluations(np.asarray(gradients), np.asarray(hessians))

    def to_json(self) -> dict[str, Any]:
        """Return the settings, with their defaults, as plain JSON data; floats are hexadecimal, so that none is rounded."""
        settings = {name: (getattr(self, name), default) for name, default in self._defaults().items()}
        exact = {name: encode(float(x) if isinstance(usual, float) else x) for name, (x, usual) in settings.items()}
        return {"kind": self.kind, **exact}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Self:
        """Read the settings back; bad content raises :class:`InputError`."""
        settings = cls._defaults()
        if set(record) != {"kind", *settings}:
            raise InputError(f"the record of the optimiser {cls.kind} needs the keys {['kind', *settings]}")
        for name, default in settings.items():
            try:
                settings[name] = float.fromhex(record[name]) if isinstance(default, float) else record[name]
            except (TypeError, ValueError, OverflowError) as error:
                raise InputError(f"the {name} of the optimiser {cls.kind} is no hexadecimal float ({error})") from None
            if type(settings[name]) is not type(default):
                raise InputError(f"the {name} of the optimiser {cls.kind} is {record[name]!r}, unlike {default!r}")
        return cls(**settings)


def follow(descent: Descent, landscape: Landscape, points: jax.Array, steps: int | jax.Array) -> Any:
    """Return the state of lanes that took so many steps from these points, for an algorithm without random numbers."""
    lanes = points.shape[: points.ndim - len(landscape.shape)]
    begun = descent.init(landscape, points, jnp.ones(lanes), jnp.zeros((*lanes, 2), dtype=jnp.uint32))
    return jax.lax.fori_loop(0, steps, lambda _, state: descent.advance(landscape, state), begun)


def along(scale: jax.Array, like: jax.Array) -> jax.Array:
    """Return one number per lane, shaped to multiply arrays (lanes, *shape)."""
    return scale.reshape(*scale.shape, *(1,) * (like.ndim - scale.ndim))


def dots(first: jax.Array, second: jax.Array) -> jax.Array:
    """Return the inner products (lanes,) of points (lanes, *shape)."""
    return (first * second).reshape(first.shape[0], -1).sum(-1)


def flat(landscape: Landscape, point: jax.Array) -> jax.Array:
    """Return points with one axis for all parameters."""
    return point.reshape(*point.shape[: point.ndim - len(landscape.shape)], -1)


def norms(landscape: Landscape, gradient: jax.Array) -> jax.Array:
    """Return the length of each lane's gradient."""
    return jnp.linalg.norm(flat(landscape, gradient), axis=-1)
