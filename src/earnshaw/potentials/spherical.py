r"""Potentials on the unit sphere: functions of the inner product :math:`c = \theta^T w` alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import jax
import jax.numpy as jnp

from earnshaw.errors import InputError
from earnshaw.numerics import sine_and_supplement


class SphericalPotential(Protocol):
    """A potential of two unit vectors, with value 1 at c = 1; differentiable by JAX in c."""

    def value(self, cosine: jax.Array) -> jax.Array:
        """Return Phi(c), elementwise."""
        ...


@dataclass(frozen=True)
class Power:
    r"""The potential :math:`c^l` of the activation :math:`He_l(\theta^T x)/\sqrt{l!}` on the unit sphere.

    Reference: Panigrahy et al. (2018), Theorem 30.
    """

    degree: int = 3

    def __post_init__(self) -> None:
        """Validate."""
        if self.degree < 1:
            raise InputError(f"the degree {self.degree} was given; use a whole number from 1")

    def value(self, cosine: jax.Array) -> jax.Array:
        """Return c^l."""
        return jnp.asarray(cosine) ** self.degree


@dataclass(frozen=True)
class SignAngle:
    r"""The potential :math:`1 - \frac2\pi\arccos c` of the activation :math:`\mathrm{sign}(\theta^T x)`.

    Linear in the angle: on the circle it is harmonic but for kinks at :math:`\theta = \pm w`.
    Reference: Panigrahy et al. (2018), table 1 and Lemmas 28, 29.
    """

    def value(self, cosine: jax.Array) -> jax.Array:
        """Return 1 - 2 t / pi with t the angle."""
        _, supplement = sine_and_supplement(jnp.asarray(cosine))
        return 2.0 / math.pi * supplement - 1.0
