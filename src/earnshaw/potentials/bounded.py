"""Smooth activations with values in (0, 1), and their first four derivatives."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.errors import InputError
from earnshaw.numerics.compiling import compiled
from earnshaw.problems.activations import load_function

A = TypeVar("A", np.ndarray, jax.Array)
_BLOCK = 8192


class BoundedActivation(Protocol):
    """A smooth function of one variable with values in (0, 1)."""

    @property
    def name(self) -> str:
        """What names the function in a problem."""
        ...

    def derivatives(self, z: A, order: int) -> tuple[A, ...]:
        """Return phi and its derivatives up to an order of at most 4, elementwise; NumPy in, NumPy out, and so for JAX."""
        ...


@dataclass(frozen=True)
class Sigmoid:
    r"""The logistic function of a rescaled argument, :math:`\phi(z) = 1/(1 + e^{-az})`.

    With :math:`p = \phi(1-\phi)` and :math:`q = 1 - 2\phi`, the derivatives in az are
    :math:`p,\ pq,\ p(1 - 6p),\ pq(1 - 12p)`. The rate a = 2 gives :math:`(1 + \tanh z)/2`.
    """

    name: str = "sigmoid"
    rate: float = 1.0

    def derivatives(self, z: A, order: int) -> tuple[A, ...]:
        """Return phi and its derivatives."""
        if isinstance(z, jax.Array):
            phi = jax.nn.sigmoid(self.rate * z)
            return self._tower(phi, phi * (1.0 - phi), order)
        small = -z if self.rate == 1 else -self.rate * z
        np.minimum(small, 700.0, out=small)  # nothing overflows, and phi is 1e-304 where it would be less
        np.exp(small, out=small)
        phi = np.reciprocal(1.0 + small)
        if order == 0:
            return (phi,)
        small *= phi  # 1 - phi, to full relative accuracy
        small *= phi
        return self._tower(phi, small, order)

    def _tower(self, phi: Any, p: Any, order: int) -> tuple[Any, ...]:
        """Return as many derivatives as asked for from phi and p; no more is computed."""
        a, tower = self.rate, [phi]
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


@dataclass(frozen=True)
class Erf:
    r"""The erf-type activation :math:`\phi(z) = (1 + \operatorname{erf} z)/2`, with :math:`\phi' = e^{-z^2}/\sqrt\pi`."""

    name: str = "erf"

    def derivatives(self, z: A, order: int) -> tuple[A, ...]:
        """Return phi and its derivatives."""
        phi: Any
        if isinstance(z, jax.Array):
            phi, slope = 0.5 * jax.scipy.special.erfc(-z), jnp.exp(-z * z)
        else:
            from scipy.special import erfc

            phi, slope = 0.5 * erfc(-z), np.exp(-z * z)
        return self._tower(z, phi, slope / math.sqrt(math.pi))[: order + 1]

    def _tower(self, z: Any, phi: Any, slope: Any) -> tuple[Any, ...]:
        square = z * z
        return phi, slope, -2 * z * slope, (4 * square - 2) * slope, (12 - 8 * square) * z * slope


@dataclass(frozen=True)
class UserActivation:
    """A user's elementwise JAX function; derivatives by automatic differentiation."""

    name: str
    function: Callable[[Any], Any]

    def derivatives(self, z: A, order: int) -> tuple[A, ...]:
        """Return phi and its derivatives."""
        if isinstance(z, jax.Array):
            return _tower(self.function, order)(z)
        program = _jitted_tower(self.function, order)
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


@functools.cache
def _jitted_tower(function: Callable[[Any], Any], order: int) -> Callable[[Any], tuple[Any, ...]]:
    return compiled(_tower(function, order))


BOUNDED: dict[str, BoundedActivation] = {
    "sigmoid": Sigmoid(),
    "tanh": Sigmoid("tanh", 2.0),
    "erf": Erf(),
}


@functools.cache
def bounded_activation(name: str) -> BoundedActivation:
    """Return an activation by name: sigmoid, tanh for (1 + tanh z)/2, erf for (1 + erf z)/2, or ``module:function``."""
    if name in BOUNDED:
        return BOUNDED[name]
    if ":" not in name:
        raise InputError(
            f"unknown activation {name!r}; choose {', '.join(BOUNDED)} or your own as module:function or file.py:function"
        )
    function = load_function(name)
    if not callable(function):
        raise InputError(f"{name} is not a function; give module:function")
    probe = jnp.linspace(-4.0, 4.0, 9)
    try:
        values = np.asarray(function(probe))
        bumps = [np.asarray(part) for part in _tower(function, 3)(probe)]
    except Exception as error:  # whatever a user's function raises
        raise InputError(
            f"the activation {name} failed on an array ({error}); write it with jax.numpy, elementwise"
        ) from None
    if values.shape != probe.shape or not all(np.isfinite(part).all() for part in bumps):
        raise InputError(f"the activation {name} must map an array to an array of its shape, finite and smooth")
    if not (values.min() >= 0 and values.max() <= 1):
        low, high = values.min(), values.max()
        raise InputError(f"the activation {name} has values {low:.3g} to {high:.3g}; the model needs them in [0, 1]")
    return UserActivation(name, function)
