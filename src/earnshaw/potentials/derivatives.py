"""The first four derivatives of an activation: by hand for those with values in (0, 1), else by differentiation."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.errors import InputError
from earnshaw.numerics.compiling import compiled
from earnshaw.problems import Activation

A = TypeVar("A", np.ndarray, jax.Array)
_BLOCK = 8192


def derivatives(activation: Activation, z: A, order: int) -> tuple[A, ...]:
    """Return phi and its derivatives up to an order of at most 4, elementwise; NumPy in, NumPy out, and so for JAX. A user's
    function that cannot be differentiated raises :class:`InputError`."""
    return _tower_of(activation)(z, order)


@functools.lru_cache(maxsize=64)
def _tower_of(activation: Activation) -> Callable[[Any, int], tuple[Any, ...]]:
    if activation.kind in ("sigmoid", "unit-tanh"):
        return functools.partial(_logistic, 1.0 if activation.kind == "sigmoid" else 2.0)
    if activation.kind == "unit-erf":
        return _unit_erf
    function = activation.function
    if function is None:
        from earnshaw.potentials import potential

        function = potential(activation).activation
    _check(activation.name, function)
    return functools.partial(_differentiated, function)


def _logistic(rate: float, z: Any, order: int) -> tuple[Any, ...]:
    r"""Return the derivatives of :math:`\phi(z) = 1/(1 + e^{-az})`, a the rate; a = 2 gives :math:`(1 + \tanh z)/2`.

    With :math:`p = \phi(1-\phi)` and :math:`q = 1 - 2\phi`, those in az are :math:`p,\ pq,\ p(1 - 6p),\ pq(1 - 12p)`.
    """
    if isinstance(z, jax.Array):
        phi = jax.nn.sigmoid(rate * z)
        return _logistic_tower(rate, phi, phi * (1.0 - phi), order)
    small = -z if rate == 1 else -rate * z
    np.minimum(small, 700.0, out=small)  # nothing overflows, and phi is 1e-304 where it would be less
    np.exp(small, out=small)
    phi = np.reciprocal(1.0 + small)
    if order == 0:
        return (phi,)
    small *= phi  # 1 - phi, to full relative accuracy
    small *= phi
    return _logistic_tower(rate, phi, small, order)


def _logistic_tower(a: float, phi: Any, p: Any, order: int) -> tuple[Any, ...]:
    """Return as many derivatives as asked for from phi and p; no more is computed."""
    tower = [phi]
    if order >= 1:
        tower.append(p if a == 1 else a * p)
    if order >= 2:
        q = 1.0 - 2.0 * phi
        tower.append(p * q if a == 1 else a**2 * p * q)
        if order >= 3:
            tower.append(a**3 * p * (1.0 - 6.0 * p))
        if order >= 4:
            tower.append(a**4 * p * q * (1.0 - 12.0 * p))
    return tuple(tower)


def _unit_erf(z: Any, order: int) -> tuple[Any, ...]:
    r"""Return the derivatives of :math:`\phi(z) = (1 + \operatorname{erf} z)/2`, with :math:`\phi' = e^{-z^2}/\sqrt\pi`."""
    if isinstance(z, jax.Array):
        phi, slope = 0.5 * jax.scipy.special.erfc(-z), jnp.exp(-z * z)
    else:
        from scipy.special import erfc

        phi, slope = 0.5 * erfc(-z), np.exp(-z * z)
    square, slope = z * z, slope / math.sqrt(math.pi)
    return (phi, slope, -2 * z * slope, (4 * square - 2) * slope, (12 - 8 * square) * z * slope)[: order + 1]


# ---- by differentiation -------------------------------------------------------------------------------------------


def _differentiated(function: Callable[[Any], Any], z: Any, order: int) -> tuple[Any, ...]:
    if isinstance(z, jax.Array):
        return _tower(function, order)(z)
    program = _compiled_tower(function, order)
    flat = np.zeros(-(-z.size // _BLOCK) * _BLOCK)  # whole blocks, so that one program serves all shapes
    flat[: z.size] = z.ravel()
    blocks = [program(jnp.asarray(flat[start : start + _BLOCK])) for start in range(0, len(flat), _BLOCK)]
    towers = zip(*blocks, strict=True)
    return tuple(np.concatenate([np.asarray(a) for a in part])[: z.size].reshape(z.shape) for part in towers)


def _tower(function: Callable[[Any], Any], order: int) -> Callable[[Any], tuple[Any, ...]]:
    """Return the function that computes all derivatives up to an order."""

    def slope(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda z: jax.jvp(f, (z,), (jnp.ones_like(z),))[1]

    functions = [function]
    for _ in range(order):
        functions.append(slope(functions[-1]))
    return lambda z: tuple(f(z) for f in functions)


@functools.lru_cache(maxsize=64)
def _compiled_tower(function: Callable[[Any], Any], order: int) -> Callable[[Any], tuple[Any, ...]]:
    return compiled(_tower(function, order))


def _check(name: str, function: Callable[[Any], Any]) -> None:
    """Refuse a function that JAX cannot differentiate three times."""
    try:
        with jax.ensure_compile_time_eval():
            parts = [np.asarray(part) for part in _tower(function, 3)(jnp.linspace(-4.0, 4.0, 9))]
    except Exception as error:  # whatever a user's function raises
        raise InputError(
            f"the activation {name!r} cannot be differentiated ({type(error).__name__}); write it with jax.numpy, elementwise"
        ) from None
    if not all(np.isfinite(part).all() for part in parts):
        raise InputError(f"the activation {name!r} has a derivative that is not finite; it must be smooth")
