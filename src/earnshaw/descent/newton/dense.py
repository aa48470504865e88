"""Newton's method for one point with the whole Hessian, on the host: for risks that are sums over rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class HostRisk(Protocol):
    """A loss on the host, one point at a time."""

    def value_and_gradient(self, weights: Array) -> tuple[float, Array]:
        """Return the loss and its gradient."""
        ...

    def hessian(self, weights: Array) -> Array:
        """Return the Hessian (N, N)."""
        ...


@dataclass(frozen=True)
class NewtonEnd:
    """Where it ended: the point, its loss, its gradient's norm, the Hessian's eigenvalues, and the curve of the way."""

    point: Array
    value: float
    gradient_norm: float
    spectrum: Array
    values: tuple[float, ...]
    gradient_norms: tuple[float, ...]


def dense_newton(
    risk: HostRisk,
    point: Array,
    max_steps: int = 50,
    tolerance: float = 1e-15,
    progress: Callable[[float, str], None] = lambda share, what: None,
) -> NewtonEnd:
    r"""Follow damped Newton steps :math:`-(|H| + \mu)^{-1} g`, |H| with the sizes of the eigenvalues, from one point.

    mu is raised until the loss falls and lowered after each success, so that negative curvature is left behind and the
    end is quadratic. On a sum over n rows the Hessian costs a few gradients, where conjugate gradients take a product
    for each of its K d dimensions; and each step is two or three passes, whether the rows fit in memory or not. Stops when the gradient's norm is below ``tolerance`` or no step lowers the loss any more.
    """
    value, gradient = risk.value_and_gradient(point)
    values, norms = [value], [float(np.linalg.norm(gradient))]
    eigenvalues, vectors = np.linalg.eigh(risk.hessian(point))
    damping = 1e-3 * float(np.abs(eigenvalues).max())
    for count in range(max_steps):
        progress(count / max_steps, f"gradient {norms[-1]:.1e}")
        if norms[-1] <= tolerance:
            break
        pull = vectors.T @ gradient.ravel()
        for _ in range(12):
            change = vectors @ (pull / (np.abs(eigenvalues) + damping))
            trial = point - change.reshape(point.shape)
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
