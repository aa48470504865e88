"""Newton's method with the whole Hessian: one point on the host, down to a minimum or to what is closest, or many at once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from earnshaw.descent.base import along, flat, norms
from earnshaw.landscapes.base import Landscape
from earnshaw.landscapes.empirical import StreamedRisk
from earnshaw.numerics import TOLERANCES

Array = NDArray[np.float64]


@dataclass(frozen=True)
class NewtonEnd:
    """Where it ended: the point, its loss, its gradient's norm, the Hessian's eigenvalues, and the curve of the way."""

    point: Array
    value: float
    gradient_norm: float
    spectrum: Array
    values: tuple[float, ...]
    gradient_norms: tuple[float, ...]


def _applied(eigenvalues: Array, vectors: Array, gradient: Array) -> Array:
    """Return a symmetric matrix, given by eigenvalues and vectors, times the gradient."""
    return (vectors @ (eigenvalues * (vectors.T @ gradient.ravel()))).reshape(gradient.shape)


def settle(landscape: Landscape, points: np.ndarray, iterations: int = 20) -> tuple[Array, float, Array]:
    """Follow Newton's method from one point to a stationary point of any kind.

    Steps that do not lower the gradient's norm are not taken, and near-null directions are left alone, so that a
    degenerate point stays where it is. Returns the point, its gradient's norm and the Hessian's eigenvalues.
    """

    def slope(point: Any) -> tuple[Array, float]:
        gradient = np.asarray(landscape.gradient(point))
        return gradient, float(np.linalg.norm(gradient))

    def bend(point: Array) -> tuple[Array, Array]:
        return np.linalg.eigh(np.asarray(landscape.hessian(point)))

    point = np.asarray(points, dtype=np.float64)
    (gradient, norm), (eigenvalues, vectors) = slope(point), bend(point)
    for _ in range(iterations):
        steep = np.abs(eigenvalues) > TOLERANCES.null_direction
        inverse = np.where(steep, 1.0 / np.where(steep, eigenvalues, 1.0), 0.0)
        trial = point - _applied(inverse, vectors, gradient)
        trial_gradient, trial_norm = slope(trial)
        if not trial_norm < norm:
            break
        point, gradient, norm = trial, trial_gradient, trial_norm
        eigenvalues, vectors = bend(point)
    return point, norm, eigenvalues


def dense_newton(
    risk: StreamedRisk,
    point: Array,
    max_steps: int = 50,
    tolerance: float = 1e-15,
    progress: Callable[[float, str], None] = lambda share, what: None,
) -> NewtonEnd:
    r"""Follow damped Newton steps :math:`-(|H| + \mu)^{-1} g`, |H| with the sizes of the eigenvalues, from one point.

    mu is raised until the loss falls and lowered after each success, so that negative curvature is left behind and the
    end is quadratic. On a sum over n rows the Hessian costs a few gradients, where conjugate gradients take a product
    for each of its K d dimensions; and each step is two or three passes, whether the rows fit in memory or not. Stops
    when the gradient's norm is below ``tolerance`` or no step lowers the loss any more.
    """
    value, gradient = risk.value_and_gradient(point)
    values, norms = [value], [float(np.linalg.norm(gradient))]
    eigenvalues, vectors = np.linalg.eigh(risk.hessian(point))
    damping = 1e-3 * float(np.abs(eigenvalues).max())
    for count in range(max_steps):
        progress(count / max_steps, f"gradient {norms[-1]:.1e}")
        if norms[-1] <= tolerance:
            break
        for _ in range(12):
            trial = point - _applied(1.0 / (np.abs(eigenvalues) + damping), vectors, gradient)
            trial_value, trial_gradient = risk.value_and_gradient(trial)
            trial_norm = float(np.linalg.norm(trial_gradient))
            # At the bottom the loss no longer moves in its last digit: then the gradient decides.
            if trial_value < value or (trial_value <= value * (1 + 1e-14) and trial_norm < norms[-1]):
                break
            damping = max(4 * damping, 1e-12)
        else:
            break
        point, value, gradient = trial, trial_value, trial_gradient
        values.append(value)
        norms.append(trial_norm)
        damping *= 0.1
        eigenvalues, vectors = np.linalg.eigh(risk.hessian(point))
        if trial_norm < 1e-9 and trial_norm > 0.5 * norms[-2]:
            break
    return NewtonEnd(point, value, norms[-1], eigenvalues, tuple(values), tuple(norms))


class CriticalPoints(NamedTuple):
    """Where the search ended: points (lanes, *shape), and their gradient norms; a lane may have found nothing."""

    point: jax.Array
    gradient_norm: jax.Array


@functools.partial(jax.jit, static_argnames="steps")
def critical_points(landscape: Landscape, points: jax.Array, *, steps: int = 200) -> CriticalPoints:
    r"""Make the gradient's norm small from each start (lanes, *shape), by Levenberg's steps

    .. math:: x \leftarrow x - (H^2 + \mu I)^{-1} H\,\nabla f ,

    with mu divided by 4 after a step that helps and multiplied by 4 after one that does not. Minima, saddles and maxima
    are all the same to it.
    """

    def body(_: jax.Array, carry: tuple) -> tuple:
        point, least, damping = carry
        gradient = flat(landscape, landscape.gradient(point))
        eigenvalues, vectors = jnp.linalg.eigh(landscape.hessian(point))
        pull = jnp.einsum("...ji,...j->...i", vectors, gradient)
        change = jnp.einsum("...ij,...j->...i", vectors, pull * eigenvalues / (eigenvalues**2 + damping[..., None]))
        trial = point - change.reshape(point.shape)
        norm = norms(landscape, landscape.gradient(trial))
        better = norm < least
        damping = jnp.where(better, damping / 4, jnp.minimum(4 * damping, 1e6)) + 1e-30
        return jnp.where(along(better, trial), trial, point), jnp.where(better, norm, least), damping

    start = points, norms(landscape, landscape.gradient(points)), jnp.full(points.shape[0], 1e-2)
    return CriticalPoints(*jax.lax.fori_loop(0, steps, body, start)[:2])
