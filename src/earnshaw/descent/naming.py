"""Optimisers by name, and a user's own from a file."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from typing import Any

from earnshaw.descent.base import Descent
from earnshaw.descent.flow import Flow
from earnshaw.descent.gradient_descent import GradientDescent
from earnshaw.descent.newton_trust_region import NewtonTrustRegion
from earnshaw.descent.optax_descent import Optax
from earnshaw.descent.perturbed import PerturbedDescent
from earnshaw.descent.stochastic import StochasticDescent
from earnshaw.errors import InputError
from earnshaw.problems import load_function

KNOWN = (
    "gd:STEP, momentum:STEP:FRACTION, nesterov:STEP:FRACTION, lbfgs, newton-tr, perturbed-gd:STEP:RADIUS, flow, "
    "stochastic:STEP:SAMPLES, an optimiser of optax with its first arguments (adam:0.01), or module:object"
)


def optimizer(given: str | Any) -> Descent:
    """Return the algorithm of this name, or the given object as one; what cannot be used raises :class:`InputError`.

    Parameters
    ----------
    given : str or object
        ``gd:0.1``, ``momentum:0.05:0.9``, ``nesterov:0.05:0.9``, ``lbfgs``, ``newton-tr``, ``perturbed-gd:0.1:0.01``,
        ``flow``, ``stochastic:0.1:64``; any optimiser of optax by name with its first arguments, ``adam:0.01``;
        ``module:object`` or ``path/to/file.py:object``; or the object itself: an optax ``GradientTransformation``, or
        anything with the methods of :class:`~earnshaw.descent.Descent`.
    """
    if not isinstance(given, str):
        return _of_object(type(given).__name__, given)
    kind, *rest = given.split(":")
    if kind in _OURS:
        build, most = _OURS[kind]
        return build(*_numbers(given, rest, most))
    if kind in _OPTAX or (_is_optax(kind) and (not rest or _is_number(rest[0]))):
        return _of_optax(given, kind, rest)
    if rest:
        return _of_object(given, load_function(given))
    raise InputError(f"unknown optimiser {given!r}; choose {KNOWN}")


def _gd(step: float = 0.1) -> Descent:
    return GradientDescent(step=step)


def _perturbed(step: float = 0.1, radius: float = 0.01) -> Descent:
    return PerturbedDescent(step=step, radius=radius)


def _stochastic(step: float = 0.1, samples: float = 64) -> Descent:
    return StochasticDescent(step=step, samples=int(samples))


def _trust_region(radius: float = 0.1) -> Descent:
    return NewtonTrustRegion(radius=radius, max_radius=max(1.0, radius))


def _flow(time: float = 1.0, tolerance: float = 1e-6) -> Descent:
    return Flow(time=time, tolerance=tolerance)


# name -> (builder, how many numbers it takes at most)
_OURS: dict[str, tuple[Callable[..., Descent], int]] = {
    "gd": (_gd, 1),
    "perturbed-gd": (_perturbed, 2),
    "stochastic": (_stochastic, 2),
    "newton-tr": (_trust_region, 1),
    "flow": (_flow, 2),
}
_OPTAX = {"momentum": (0.05, 0.9), "nesterov": (0.05, 0.9), "lbfgs": ()}  # with the numbers they have unless told


def _numbers(given: str, texts: list[str], most: int) -> list[float]:
    try:
        numbers = [float(text) for text in texts]
    except ValueError:
        raise InputError(f"the optimiser {given!r} needs numbers after its name; choose {KNOWN}") from None
    if len(numbers) > most:
        raise InputError(f"the optimiser {given!r} has {len(numbers)} numbers after its name; at most {most} are known")
    return numbers


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _is_optax(kind: str) -> bool:
    import optax

    return kind.isidentifier() and callable(getattr(optax, kind, None))


def _of_optax(given: str, kind: str, rest: list[str]) -> Descent:
    import optax

    numbers = _numbers(given, rest, 8)
    if kind in ("momentum", "nesterov"):
        step, fraction = (*numbers, *_OPTAX[kind][len(numbers) :])[:2]
        chosen = optax.sgd(step, momentum=fraction, nesterov=kind == "nesterov")
        return Optax(name=f"{kind}:{step!r}:{fraction!r}", transformation=chosen)
    try:
        chosen = getattr(optax, kind)(*numbers)
    except Exception as error:  # whatever optax says to these arguments
        raise InputError(
            f"optax.{kind} cannot be made from {given!r} ({error}); give its first arguments, for example adam:0.01"
        ) from None
    _check_transformation(given, chosen)
    return Optax(name=given, transformation=chosen, check_every=10 if kind == "lbfgs" else 50)


def _of_object(name: str, found: Any) -> Descent:
    """Return a user's object as an algorithm: one of ours, one in the form of optax, or a function that makes either."""
    if inspect.isfunction(found) or inspect.isclass(found):
        try:
            found = found()
        except Exception as error:  # whatever the user's function raises
            raise InputError(f"the optimiser {name!r} cannot be made: calling it raised {error!r}") from None
    if all(callable(getattr(found, method, None)) for method in ("init", "advance", "evaluations", "to_json")):
        return found
    _check_transformation(name, found)
    return Optax(name=name, transformation=found, digest=_digest(name, found))


def _check_transformation(name: str, found: Any) -> None:
    """Try the optimiser on a small point, so that a mistake is one sentence now and no traceback later."""
    import jax.numpy as jnp

    if not callable(getattr(found, "init", None)) or not callable(getattr(found, "update", None)):
        raise InputError(
            f"the optimiser {name!r} is {found!r:.60}; give an optax GradientTransformation (with init and update), "
            "a function without arguments that returns one, or an object with init, advance, evaluations and to_json"
        )
    import optax

    point = jnp.linspace(0.5, 1.5, 6).reshape(2, 3)

    def value(x: Any) -> Any:
        return 0.5 * jnp.sum(x * x)

    try:
        update: Any = optax.with_extra_args_support(found).update
        change, _ = update(point, found.init(point), point, value=value(point), grad=point, value_fn=value)
    except Exception as error:  # whatever the user's optimiser raises
        raise InputError(f"the optimiser {name!r} fails on a small example ({type(error).__name__}: {error})") from None
    if getattr(change, "shape", None) != point.shape or not bool(jnp.isfinite(change).all()):
        raise InputError(
            f"the optimiser {name!r} turns a gradient of shape {point.shape} into an update of shape "
            f"{getattr(change, 'shape', None)} or with NaN; it must return finite updates of the gradient's shape"
        )


def _digest(name: str, found: Any) -> str:
    """Hash the file that a user's optimiser comes from, as far as it is known: a changed file is another optimiser."""
    from pathlib import Path

    place = name.rpartition(":")[0]
    content = Path(place).read_bytes() if place.endswith(".py") and Path(place).is_file() else repr(found).encode()
    return hashlib.sha256(content).hexdigest()
