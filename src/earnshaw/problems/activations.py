"""Activations by name, and functions of the user's own: what they are called, and plain facts about them."""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import json
import math
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earnshaw.errors import InputError
from earnshaw.problems.loading import guarded, load_function, said

Array = NDArray[np.float64]
MAX_DEGREE = 30
MUST = "it must take an array and return one of the same shape: write it with jax.numpy, jnp.where in place of if"
GRID = np.linspace(-12.0, 12.0, 97) + 0.01 * math.sqrt(2)  # no round numbers: their values are rounded in a digest
KNOWN = "relu, leaky:SLOPE, sign, erf, hermite:DEGREE, sigmoid, tanh, softplus, gelu, unit-tanh, unit-erf"

_erf = np.vectorize(math.erf, otypes=[float])


@dataclass(frozen=True)
class Activation:
    """An activation sigma: its name and what the problem needs to know of it."""

    name: str  #: what a user writes and a record keeps: ``leaky:0.1``, ``my.py:swish``
    kind: str  #: the part before the colon, or ``function`` for a function of the user's own
    parameter: float | None = None  #: the slope of ``leaky``, the degree of ``hermite``
    homogeneous: int | None = None  #: p when sigma(r x) = r^p sigma(x) for every r > 0 (ReLU 1, sign 0), else None
    odd: bool = False  #: whether sigma(-x) = -sigma(x)
    vanishes_at_zero: bool = True  #: whether a neuron vanishes as its weights shrink to 0
    #: the lowest and the highest value, or bounds of them; of a user's function, those on a grid from -12 to 12
    values: tuple[float, float] = (-math.inf, math.inf)
    digest: str | None = None  #: a hash of a user's function, by its source and its values; None for the others
    function: Callable[..., Any] | None = field(default=None, compare=False, repr=False)

    def __call__(self, x: Array) -> Array:
        """Return sigma(x), elementwise, in NumPy."""
        x = np.asarray(x, dtype=np.float64)
        if self.function is not None:
            return _values(self.name, self.function, x)
        if self.kind == "leaky":
            return np.where(x > 0, x, float(self.parameter or 0.0) * x)
        if self.kind == "hermite":
            degree = int(self.parameter or 0)
            basis = np.eye(degree + 1)[degree] / math.sqrt(math.factorial(degree))
            return np.polynomial.hermite_e.hermeval(x, basis)
        return _NAMED[self.kind][1](x)

    def __str__(self) -> str:
        """Return the name, as records, objectives and messages show it."""
        return self.name

    to_json = __str__

    def second_moment(self, norms: Array) -> Array:
        r"""Return :math:`E[\sigma(r z)^2]`, z normal, for each norm r, by the trapezoid rule: right to a few digits at least."""
        nodes = np.linspace(-12.0, 12.0, 2400)  # 0, where a sign jumps, is none of them
        weights = np.exp(-0.5 * nodes**2) * (nodes[1] - nodes[0]) / math.sqrt(2 * math.pi)
        return np.array([float(self(r * nodes) ** 2 @ weights) for r in np.ravel(norms)]).reshape(np.shape(norms))


def activation(given: str | Callable[..., Any] | Activation) -> Activation:
    """Return the activation of this name, or of this function; what cannot be used raises :class:`InputError`.

    Parameters
    ----------
    given : one of ``relu, leaky:SLOPE, sign, erf, hermite:DEGREE, sigmoid, tanh, softplus, gelu``, ``unit-tanh`` for
        (1 + tanh x)/2, ``unit-erf`` for (1 + erf x)/2; ``module:function`` or ``path/to/file.py:function``; or the
        function itself, which takes an array and returns one of the same shape, entry by entry, by ``jax.numpy``.
    """
    if isinstance(given, Activation):
        return given
    if callable(given):
        try:
            home, name = getattr(given, "__module__", None), getattr(given, "__qualname__", type(given).__name__)
        except Exception as error:  # whatever the attributes of a user's object do
            kind = type(given).__name__
            raise InputError(f"the activation, of type {kind}, raises {said(error)} when asked for its name") from None
        return _of_function(f"{home}:{name}" if home else name, given)
    if not isinstance(given, str):
        raise InputError(f"the activation is {given!r}; give a name ({KNOWN}), module:function, or a function")
    kind, _, rest = given.partition(":")
    if kind == "leaky":
        return _leaky(given, rest)
    if kind == "hermite":
        return _hermite(given, rest)
    if given in _NAMED:
        return _NAMED[given][0]
    if is_function_name(given):
        return _of_function(given, load_function(given))
    raise InputError(f"unknown activation {given!r}; choose one of {KNOWN}, or module:function for your own")


def unit_activation(given: str | Callable[..., Any] | Activation) -> Activation:
    """Return an activation whose values are probabilities; one that leaves [0, 1] raises :class:`InputError`."""
    found = activation(given)
    low, high = found.values
    if not (low >= 0 and high <= 1):
        others = ", ".join(name for name, (sigma, _) in _NAMED.items() if sigma.values == (0, 1))
        use = f"unit-{found.name}" if f"unit-{found.name}" in _NAMED else f"{others}, or a function of your own"
        given = f"the activation {found} has values {low:.3g} to {high:.3g}"
        raise InputError(f"{given}; the model needs [0, 1]: use {use}")
    return found


def recorded_activation(name: str, digest: str | None, functions: bool) -> Activation:
    """Return the activation that a record names, if it is still the same; ``functions``: may a user's code be loaded?"""
    if digest is not None and not functions:
        raise InputError(
            f"the problem's activation {name!r} is a user's function, and loading it was not allowed (functions=True, --functions)"
        )
    if digest is None and is_function_name(name):
        raise InputError(f"the problem's activation {name!r} is a user's function, but its digest is missing")
    found = activation(name)
    if found.digest != digest:
        raise InputError(f"the activation {name!r} is not the function that the problem was made with; it has changed")
    return found


def is_function_name(name: str) -> bool:
    """Whether this is ``module:function`` or ``file.py:function`` rather than a name of ours."""
    kind, colon, _ = name.partition(":")
    return bool(colon) and kind not in {"leaky", "hermite", *_NAMED}


def _sigma(name: str, **facts: Any) -> Activation:
    return Activation(name, name, **facts)


_POSITIVE, _BETWEEN, _UNIT = (0.0, math.inf), (-1.0, 1.0), {"vanishes_at_zero": False, "values": (0.0, 1.0)}

# Facts and functions of x alone; leaky and hermite also take their parameter.
_NAMED: dict[str, tuple[Activation, Callable[[Array], Array]]] = {
    sigma.name: (sigma, function)
    for sigma, function in (
        (_sigma("relu", homogeneous=1, values=_POSITIVE), lambda x: np.maximum(x, 0.0)),
        (_sigma("sign", homogeneous=0, odd=True, vanishes_at_zero=False, values=_BETWEEN), np.sign),
        (_sigma("erf", odd=True, values=_BETWEEN), _erf),
        (_sigma("sigmoid", **_UNIT), lambda x: 0.5 + 0.5 * np.tanh(0.5 * x)),
        (_sigma("tanh", odd=True, values=_BETWEEN), np.tanh),
        (_sigma("softplus", vanishes_at_zero=False, values=_POSITIVE), partial(np.logaddexp, 0.0)),
        (_sigma("gelu", values=(-0.17, math.inf)), lambda x: 0.5 * x * (1.0 + _erf(x / math.sqrt(2)))),
        (_sigma("unit-tanh", **_UNIT), lambda x: 0.5 + 0.5 * np.tanh(x)),
        (_sigma("unit-erf", **_UNIT), lambda x: 0.5 + 0.5 * _erf(x)),
    )
}


def _leaky(given: str, rest: str) -> Activation:
    try:
        slope = float(rest)
    except ValueError:
        slope = math.nan
    if not math.isfinite(slope) or abs(slope) > 1e6:
        raise InputError(f"the activation {given!r} has no usable slope; write for example leaky:0.1")
    return Activation(f"leaky:{slope!r}", "leaky", slope, homogeneous=1, odd=slope == 1)


def _hermite(given: str, rest: str) -> Activation:
    if not rest.isdecimal() or not 1 <= int(rest) <= MAX_DEGREE:
        raise InputError(f"the activation {given!r} has no usable degree; write hermite:1 to hermite:{MAX_DEGREE}")
    degree = int(rest)
    linear, odd = 1 if degree == 1 else None, degree % 2 == 1
    return Activation(f"hermite:{degree}", "hermite", degree, homogeneous=linear, odd=odd, vanishes_at_zero=odd)


# ---- functions of the user's own ---------------------------------------------------------------------------------


def _of_function(name: str, function: Any) -> Activation:
    """Check a function on a grid, and collect the facts about it."""
    who = f"the activation {name!r}"
    if not callable(function):
        raise InputError(f"{who} is {function!r:.60}, not a function; give one that takes an array")
    inside = _Guarded(who, function)
    at = partial(_values, who, inside)
    values = at(GRID)
    size = float(np.abs(values).max())
    close = partial(np.allclose, rtol=1e-10, atol=1e-10 * size)
    if size == 0:
        raise InputError(f"{who} is 0 everywhere on a grid from -12 to 12; nothing can be learned")
    if not close(at(GRID[:91].reshape(7, 13)), values[:91].reshape(7, 13)) or not close(at(GRID[::-2]), values[::-2]):
        raise InputError(f"{who} does not act on each number by itself; its value at x may depend on x alone")
    doubled = at(2 * GRID)
    degrees = [p for p in (0, 1, 2, 3) if close(doubled, 2.0**p * values)]
    return Activation(
        name,
        "function",
        homogeneous=degrees[0] if degrees else None,
        odd=bool(close(at(-GRID), -values)),
        vanishes_at_zero=bool(np.abs(at(np.array([-1e-9, 0.0, 1e-9]))).max() <= 1e-7 * size),
        values=(float(values.min()), float(values.max())),
        digest=_digest(function, values),
        function=inside,
    )


@dataclass(frozen=True)
class _Guarded:
    """A user's function, which prints to standard error, cannot end the program, and fails in a sentence; equal if that is."""

    who: str
    function: Callable[..., Any]

    def __call__(self, x: Any) -> Any:
        with guarded(self.who, MUST):
            return self.function(x)


def _values(who: str, function: Callable[..., Any], x: Array) -> Array:
    """Return function(x) in double precision, or say in one sentence what is wrong with it."""
    jax = sys.modules.get("jax")  # a function written with it computes in double precision, if JAX is there at all
    double = jax.enable_x64(True) if jax else contextlib.nullcontext()
    with double, np.errstate(all="ignore"), guarded(who, MUST):
        given = np.asarray(function(x))
    if given.shape != x.shape:
        shapes = f"shape {given.shape} for an array of shape {x.shape}"
        raise InputError(f"{who} returns {shapes}; it must return one number for each number")
    if given.dtype.kind not in "fiub" or given.dtype in (np.float16, np.float32):
        raise InputError(f"{who} returns numbers of type {given.dtype}; real numbers in double precision are needed")
    values = given.astype(np.float64)
    bad = ~np.isfinite(values)
    if bad.any():
        raise InputError(f"{who} is {values[bad][0]} at x = {x[bad][0]:.6g}; it must be finite")
    return values


def _digest(function: Callable[..., Any], values: Array) -> str:
    """Hash the source, where there is one, and the values on a grid: either changes when the function does."""
    try:
        source = textwrap.dedent(inspect.getsource(function))
    except Exception:  # there is none, or the attributes of a user's object raise
        source = None
    content = json.dumps([source, [f"{value + 0.0:.6e}" for value in values]])
    return hashlib.sha256(content.encode()).hexdigest()
