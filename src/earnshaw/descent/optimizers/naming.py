"""Optimisers by name, and a user's own from a file."""

from __future__ import annotations

import functools
import hashlib
import inspect
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from earnshaw.descent.base import Descent
from earnshaw.descent.optimizers.flow import Flow
from earnshaw.descent.optimizers.gradient_descent import GradientDescent
from earnshaw.descent.optimizers.newton_trust_region import NewtonTrustRegion
from earnshaw.descent.optimizers.optax_descent import Optax
from earnshaw.descent.optimizers.perturbed import PerturbedDescent
from earnshaw.descent.optimizers.stochastic import StochasticDescent
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
        return _of_object(getattr(given, "__name__", type(given).__name__), given)
    kind, *rest = given.split(":")
    if kind in _OURS:
        build, most = _OURS[kind]
        return build(*_numbers(given, rest, most))
    if kind in _OPTAX or (_is_optax(kind) and (not rest or _is_number(rest[0]))):
        return _of_optax(given)
    if rest:
        return _of_object(given, load_function(given))
    raise InputError(f"unknown optimiser {given!r}; choose {KNOWN}")


def _gd(step: float = 0.1) -> Descent:
    return GradientDescent(step=step)


def _perturbed(step: float = 0.1, radius: float = 0.01) -> Descent:
    return PerturbedDescent(step=step, radius=radius)


def _stochastic(step: float = 0.1, samples: float = 64) -> Descent:
    if not float(samples).is_integer():
        raise InputError(f"stochastic descent got {samples} samples a step; it needs a whole number")
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
        chosen = optax.sgd(step, momentum=fraction, nesterov=kind == "nesterov")
        return Optax(name=f"{kind}:{step!r}:{fraction!r}", transformation=chosen)
    try:
        chosen = getattr(optax, kind)(*(int(text) if text.isdecimal() else float(text) for text in rest))
    except Exception as error:  # whatever optax says to these arguments
        raise InputError(
            f"optax.{kind} cannot be made from {given!r} ({_said(error)}); give its first arguments, for example adam:0.01"
        ) from None
    return _checked(Optax(name=given, transformation=chosen, check_every=10 if kind == "lbfgs" else 50))


def _of_object(name: str, found: Any) -> Descent:
    """Return a user's object as an algorithm: one of ours, one in the form of optax, or a function that makes either."""
    if inspect.isfunction(found) or inspect.isclass(found):
        try:
            found = found()
        except Exception as error:  # whatever the user's function raises
            raise InputError(f"the optimiser {name!r} cannot be made: calling it raised {_said(error)}") from None
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
        return found
    return _checked(Optax(name=name, transformation=found, digest=_digest(name, found)))


class _Bowl:
    """The landscape |x|^2 / 2, on which optimisers are tried."""

    def value(self, point: Any) -> Any:
        return 0.5 * (point * point).sum((-2, -1))

    def gradient(self, point: Any) -> Any:
        return point


def _checked(descent: Optax) -> Optax:
    """Try the optimiser on a small example, so that a mistake is one sentence now and no traceback later."""
    import jax
    import jax.numpy as jnp

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
            f"the optimiser {name!r} fails on a small example ({_said(error)}); its update must return a change of the "
            "gradient's shape and a state of the form it got, and be written with jax.numpy"
        ) from None
    if not finite:
        raise InputError(
            f"the optimiser {name!r} turns a finite gradient into an update with NaN or infinity; check its numbers"
        )
    return descent


def _said(error: Exception) -> str:
    """Return an error in one line."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def _digest(name: str, found: Any) -> str:
    """Hash the file that a user's optimiser comes from, as far as it is known: a changed file is another optimiser."""
    place = name.rpartition(":")[0]
    file = place if place.endswith(".py") else getattr(sys.modules.get(place), "__file__", None)
    content = Path(file).read_bytes() if file and Path(file).is_file() else repr(found).encode()
    return hashlib.sha256(content).hexdigest()
