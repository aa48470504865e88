"""Optimisers by name, from a record, and a user's own from a file."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping
from typing import Any

from earnshaw.descent.base import Descent
from earnshaw.descent.optimizers.first_order import (
    Flow,
    GradientDescent,
    PerturbedDescent,
    ProjectedDescent,
    StochasticDescent,
)
from earnshaw.descent.optimizers.own import Optax, Own, checked, own_descent
from earnshaw.descent.optimizers.second_order import HessianDescent, NewtonTrustRegion, SecondGD
from earnshaw.errors import InputError
from earnshaw.problems import load_function
from earnshaw.problems.loading import said

KNOWN = (
    "gd:STEP, momentum:STEP:FRACTION, nesterov:STEP:FRACTION, lbfgs, newton-tr, perturbed-gd:STEP:RADIUS, flow, "
    "stochastic:STEP:SAMPLES, second-gd:STEP:ETA:GAMMA, hessian-descent:STEP, projected:STEP, an optimiser of optax with "
    "its first arguments (adam:0.01), or module:object"
)

_ALL = (
    *(GradientDescent, PerturbedDescent, StochasticDescent, NewtonTrustRegion, Flow),
    *(HessianDescent, SecondGD, ProjectedDescent),
)
_OURS: dict[str, type[Descent]] = {ours.kind: ours for ours in _ALL}
_OPTAX = {"momentum": (0.05, 0.9), "nesterov": (0.05, 0.9), "lbfgs": ()}  # with the numbers they have unless told


def optimizer(given: str | Any) -> Descent:
    """Return the algorithm of this name, or the given object as one; what cannot be used raises :class:`InputError`.

    Parameters
    ----------
    given : str or object
        ``gd:0.1``, ``momentum:0.05:0.9``, ``nesterov:0.05:0.9``, ``lbfgs``, ``newton-tr``, ``perturbed-gd:0.1:0.01``,
        ``flow``, ``stochastic:0.1:64``, ``second-gd:0.1:1e-5:1e-3``, ``hessian-descent:0.1``, ``projected:0.1``; any
        optimiser of optax by name with its first arguments, ``adam:0.01``; ``module:object`` or
        ``path/to/file.py:object``; or the object itself: an optax ``GradientTransformation``, or anything with the
        methods of :class:`~earnshaw.descent.Descent`.
    """
    if not isinstance(given, str):
        if type(given) in (*_OURS.values(), Optax, Own):
            return given
        return own_descent(getattr(given, "__name__", type(given).__name__), given)
    kind, *rest = given.split(":")
    if kind in _OURS:
        return _OURS[kind].named(*_numbers(given, rest, len(_OURS[kind].numbers)))
    if _is_optax(given):
        return _of_optax(given)
    if rest:
        return own_descent(given, load_function(given), loaded=True)
    raise InputError(f"unknown optimiser {given!r}; choose {KNOWN}")


def descent_from_json(record: Mapping[str, Any], functions: bool = False) -> Descent:
    """Read an optimiser back from its ``to_json``; bad content raises :class:`InputError`.

    A record may name an optimiser of a user's own, and loading that runs code: ``functions`` says that the record is
    trusted so far. The file must still be the one that the record was made with.
    """
    kind = record.get("kind") if isinstance(record, Mapping) else None
    if kind in _OURS:
        return _OURS[kind].from_json(record)
    if kind not in (Optax.kind, Own.kind):
        known = ", ".join([*_OURS, Optax.kind, Own.kind])
        raise InputError(f"unknown optimiser {kind!r} in a record; this version knows {known}")
    name = record.get("name")
    if not isinstance(name, str):
        raise InputError(f"the record of an optimiser of the kind {kind} has the name {name!r}; it must be a text")
    ours = kind == Optax.kind and "digest" not in record
    if ours != _is_optax(name) or not (ours or ":" in name):
        raise InputError(
            f"the optimiser {name!r} was given as an object and cannot be loaded again; write it into a file and name "
            "it FILE.py:OBJECT"
        )
    if not ours and not functions:
        raise InputError(
            f"the optimiser {name!r} is a user's own, and loading it was not allowed (functions=True, --functions)"
        )
    found = optimizer(name)
    if isinstance(found, Optax) and isinstance(record.get("check_every"), int):
        found = dataclasses.replace(found, check_every=record["check_every"])
    if found.to_json() != record:
        raise InputError(f"the optimiser {name!r} is not the one that the record was made with; it has changed")
    return found


def _numbers(given: str, texts: list[str], most: int) -> list[float]:
    try:
        numbers = [float(text) for text in texts]
    except ValueError:
        raise InputError(f"the optimiser {given!r} needs numbers after its name; choose {KNOWN}") from None
    if len(numbers) > most:
        raise InputError(f"the optimiser {given!r} has {len(numbers)} numbers after its name; at most {most} are known")
    return numbers


def _is_optax(given: str) -> bool:
    """Whether this names an optimiser of optax, and no object of a module that is called like one."""
    import optax

    kind, *rest = given.split(":")
    if kind in _OPTAX:
        return True
    try:
        [float(text) for text in rest[:1]]
    except ValueError:
        return False
    return kind.isidentifier() and callable(getattr(optax, kind, None))


@functools.cache  # equal names are one object, which is compiled once
def _of_optax(given: str) -> Descent:
    import optax

    kind, *rest = given.split(":")
    numbers = _numbers(given, rest, 2 if kind in ("momentum", "nesterov") else 8)
    if numbers and not (math.isfinite(numbers[0]) and numbers[0] > 0):
        raise InputError(f"the step of the optimiser {given!r} is {numbers[0]}; it must be a positive number")
    if kind in ("momentum", "nesterov"):
        step, fraction = (*numbers, *_OPTAX[kind][len(numbers) :])
        if not 0 <= fraction < 1:
            raise InputError(
                f"the optimiser {given!r} keeps the fraction {fraction} of its velocity; use 0 <= FRACTION < 1"
            )
        full = f"{kind}:{step!r}:{fraction!r}"
        if given != full:
            return _of_optax(full)
        return Optax(name=full, transformation=optax.sgd(step, momentum=fraction, nesterov=kind == "nesterov"))
    try:
        chosen = getattr(optax, kind)(*(int(text) if text.isdecimal() else float(text) for text in rest))
    except Exception as error:  # whatever optax says to these arguments
        raise InputError(
            f"optax.{kind} cannot be made from {given!r} ({said(error)}); give its first arguments, for example adam:0.01"
        ) from None
    return checked(Optax(name=given, transformation=chosen, check_every=10 if kind == "lbfgs" else 50))
