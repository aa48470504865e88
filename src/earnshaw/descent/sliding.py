"""Sliding down from a point without leaving its valley, and on from saddles: L-BFGS with a short first step, then Newton.

For a few hundred points that begin near critical points of another network. The lanes of :mod:`earnshaw.descent.lanes` are
for thousands of random starts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earnshaw.descent.judges.newton import Units
from earnshaw.descent.outcomes import Outcome
from earnshaw.landscapes.base import Landscape
from earnshaw.numerics import TOLERANCES, compiled

Array = NDArray[np.float64]
SHORTER = 0.05  # the first step of L-BFGS is one gradient, which is too long: of this times the loss it is not
STEPS, PUSHES, PUSH = 3000, 4, 0.05
FLAT = 1e-7  # a smallest eigenvalue within this of 0 decides nothing


class Slid(NamedTuple):
    """Where a slide ended, its loss, the Hessian's smallest eigenvalue there (NaN where nobody asked), and its fate."""

    point: Array
    value: float
    least: float
    outcome: Outcome


def slide(landscape: Landscape, start: Array, units: Units) -> Slid:
    """Slide down from ``start`` to a minimum; from a saddle go on along its most negative direction, a few times."""
    point, value, least = start, np.inf, np.nan
    if not np.linalg.norm(start, axis=-1).min() > 0:
        return Slid(point, value, least, Outcome.DEGENERATE)
    for pushed in range(PUSHES + 1):
        point, value = _lbfgs(landscape, point, units.low)
        if not np.isfinite(value):
            return Slid(point, value, least, Outcome.DIVERGED)
        if value < units.low:
            return Slid(point, value, least, Outcome.GLOBAL)
        lengths = np.linalg.norm(point, axis=-1)
        if lengths.min() < 1e3 * TOLERANCES.dead_neuron * units.gradient:
            return Slid(point, value, least, Outcome.DEGENERATE)
        point, values, vectors = _newton(landscape, point)
        least = float(values[0])
        if least > FLAT:
            value, gradient = _look(landscape, point)
            settled = np.linalg.norm(gradient) < TOLERANCES.paper_gradient * units.gradient
            return Slid(point, value, least, Outcome.SPURIOUS if settled else Outcome.UNDECIDED)
        if least > -FLAT:
            return Slid(point, value, least, Outcome.FLAT)
        if pushed < PUSHES:
            along = PUSH * float(lengths.min()) * vectors[:, 0].reshape(point.shape)
            point = min((point + along, point - along), key=lambda moved: _look(landscape, moved)[0])
    return Slid(point, value, least, Outcome.SADDLE)


def _look(landscape: Landscape, point: Array) -> tuple[float, Array]:
    value, gradient = _value_and_gradient(landscape, point)
    return float(value), np.asarray(gradient)


def _lbfgs(landscape: Landscape, start: Array, low: float) -> tuple[Array, float]:
    """Return where L-BFGS comes to rest, or where the loss falls below ``low``."""
    from scipy.optimize import minimize

    def scaled(flat: Array) -> tuple[float, Array]:
        value, gradient = _look(landscape, flat.reshape(start.shape))
        return SHORTER * value, SHORTER * gradient.ravel()

    def enough(intermediate_result: Any) -> None:
        if intermediate_result.fun < SHORTER * low:
            raise StopIteration

    limits = {"maxiter": STEPS, "maxfun": 2 * STEPS, "ftol": 0.0, "gtol": 1e-11, "maxcor": 20}
    end = minimize(scaled, start.ravel(), jac=True, method="L-BFGS-B", callback=enough, options=limits)
    return end.x.reshape(start.shape), float(end.fun) / SHORTER


def _newton(landscape: Landscape, point: Array, steps: int = 4) -> tuple[Array, Array, Array]:
    """Polish a point whose Hessian is positive definite by Newton's method; return it and the Hessian's eigensystem."""
    values, vectors = np.linalg.eigh(np.asarray(_hessian(landscape, point)))
    _, gradient = _look(landscape, point)
    for _ in range(steps if values[0] > FLAT else 0):
        trial = point - (vectors @ ((vectors.T @ gradient.ravel()) / values)).reshape(point.shape)
        _, slope = _look(landscape, trial)
        if not np.linalg.norm(slope) < np.linalg.norm(gradient):
            break
        point, gradient = trial, slope
    return point, values, vectors


_value_and_gradient = compiled(lambda landscape, point: (landscape.value(point), landscape.gradient(point)))
_hessian = compiled(lambda landscape, point: landscape.hessian(point))
