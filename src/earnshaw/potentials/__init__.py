"""Potentials: the energy Phi(u, v) of two unit charges and its first two derivatives, one file for each."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from earnshaw.potentials.base import Pairs, Potential
from earnshaw.potentials.derivatives import derivatives
from earnshaw.potentials.hermite import Hermite
from earnshaw.potentials.homogeneous import LeakyReLU, ReLU, Sign
from earnshaw.potentials.invariant import Invariant, gradient_at, quadrature, value_at
from earnshaw.potentials.lifted import GELU, Erf
from earnshaw.potentials.logistic import Logistic, Softplus
from earnshaw.potentials.series import Series
from earnshaw.problems import Activation
from earnshaw.problems import activation as activation_of

__all__ = ["Invariant", "Pairs", "Potential", "derivatives", "gradient_at", "potential", "quadrature", "value_at"]
__all__ += ["GELU", "Erf", "Hermite", "LeakyReLU", "Logistic", "ReLU", "Series", "Sign", "Softplus"]


def potential(activation: str | Callable[..., Any] | Activation) -> Invariant:
    """Return the potential of an activation: by name, as a function, or as :func:`earnshaw.problems.activation` gives it."""
    return _potential(activation_of(activation))


_PLAIN: dict[str, Invariant] = {
    "relu": ReLU(),
    "sign": Sign(),
    "erf": Erf(),
    "sigmoid": Logistic(),
    "tanh": Logistic(gain=2.0, offset=-1.0, height=2.0),
    "softplus": Softplus(),
    "gelu": GELU(),
    "unit-tanh": Logistic(gain=2.0),
    "unit-erf": Erf(offset=0.5, height=0.5),
}


@functools.lru_cache(maxsize=256)
def _potential(activation: Activation) -> Invariant:
    if activation.kind == "leaky":
        return LeakyReLU(float(activation.parameter or 0.0))
    if activation.kind == "hermite":
        return Hermite(int(activation.parameter or 0))
    if activation.kind == "function":
        return Series.of(activation)
    return _PLAIN[activation.kind]
