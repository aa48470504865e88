"""Potentials: Phi(u, v) = E[sigma(u.x) sigma(v.x)] and its first two derivatives, one file per activation."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from earnshaw.errors import InputError
from earnshaw.potentials.base import Potential, gradient_at, measure, value_at
from earnshaw.potentials.erf import Erf
from earnshaw.potentials.leaky import LeakyReLU
from earnshaw.potentials.reference import monte_carlo, quadrature
from earnshaw.potentials.relu import ReLU
from earnshaw.potentials.sign import Sign
from earnshaw.problems import Activation
from earnshaw.problems import activation as activation_of

__all__ = [
    "Erf",
    "LeakyReLU",
    "Potential",
    "ReLU",
    "Sign",
    "gradient_at",
    "measure",
    "monte_carlo",
    "potential",
    "quadrature",
    "value_at",
]


def potential(activation: str | Callable[..., Any] | Activation) -> Potential:
    """Return the potential of an activation: by name, as a function, or as :func:`earnshaw.problems.activation` gives it."""
    return _potential(activation_of(activation))


@functools.lru_cache(maxsize=256)
def _potential(activation: Activation) -> Potential:
    if activation.kind == "leaky":
        return LeakyReLU(float(activation.parameter or 0.0))
    plain: dict[str, Callable[[], Potential]] = {"relu": ReLU, "sign": Sign, "erf": Erf}
    if activation.kind in plain:
        return plain[activation.kind]()
    raise InputError(f"the activation {activation} has no potential yet")
