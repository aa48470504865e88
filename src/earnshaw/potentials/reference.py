"""A slow reference for every potential, independent of its closed form."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from earnshaw.numerics import bivariate_gaussian_mean
from earnshaw.potentials.invariant import Invariant

Array = NDArray[np.float64]


def quadrature(potential: Invariant, first: Array, second: Array, order: int = 60) -> float:
    r"""Return :math:`E[\sigma(u\cdot x)\sigma(v\cdot x)]` by quadrature in the plane of u and v, from sigma alone."""
    first_norm, second_norm = float(np.linalg.norm(first)), float(np.linalg.norm(second))
    unit, other = first / first_norm, second / second_norm
    angle = 2 * np.arctan2(float(np.linalg.norm(unit - other)), float(np.linalg.norm(unit + other)))

    def sigma(x: Array) -> Array:
        return np.asarray(potential.activation(jnp.asarray(x)))

    def integrand(x: Array, y: Array) -> Array:
        return sigma(first_norm * x) * sigma(second_norm * y)

    return bivariate_gaussian_mean(integrand, float(angle), order=order)
