"""Slow references for every potential, independent of its closed form."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from earnshaw.numerics import bivariate_gaussian_mean
from earnshaw.potentials.base import Potential

Array = NDArray[np.float64]


def _activation(potential: Potential) -> Callable[[Array], Array]:
    return lambda x: np.asarray(potential.activation(jnp.asarray(x)))


def quadrature(potential: Potential, first: Array, second: Array, order: int = 60) -> float:
    r"""Return :math:`E[\sigma(u\cdot x)\sigma(v\cdot x)]` by quadrature in the plane of u and v, from sigma alone."""
    first_norm, second_norm = float(np.linalg.norm(first)), float(np.linalg.norm(second))
    unit, other = first / first_norm, second / second_norm
    angle = 2 * np.arctan2(float(np.linalg.norm(unit - other)), float(np.linalg.norm(unit + other)))

    sigma = _activation(potential)

    def integrand(x: Array, y: Array) -> Array:
        return sigma(first_norm * x) * sigma(second_norm * y)

    return bivariate_gaussian_mean(integrand, float(angle), order=order)


def monte_carlo(potential: Potential, first: Array, second: Array, samples: int, seed: int) -> tuple[float, float]:
    """Return a Monte Carlo estimate of Phi(u, v) and its standard error."""
    x = np.random.default_rng(seed).normal(size=(samples, len(first)))
    sigma = _activation(potential)
    products = sigma(x @ first) * sigma(x @ second)
    return float(products.mean()), float(products.std(ddof=1) / np.sqrt(samples))
