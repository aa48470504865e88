r"""Newton's polish of a point, with the gradient from balls: what is proved is the rounded end point.

.. math:: W \leftarrow \mathrm{round}\left(W - H(W)^{-1} \nabla F(W)\right)

The gradient is the midpoint of a ball at full precision (near a critical point a double gradient is all cancellation),
the Hessian a double matrix. Nothing here is trusted: a bad end point only fails to be proved. But a polish that walks
to *another* critical point would prove a true theorem about the wrong point, so a neuron that leaves its place by more
than ``reach`` times its own length stops the polish, and the distance moved is reported.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import get_lapack_funcs

from earnshaw.proof.doubles import double_hessian
from earnshaw.proof.trusted import Rejected
from earnshaw.proof.trusted.balls import floats
from earnshaw.proof.trusted.relu import Point

REACH = 1e-2
STEPS = 20


@dataclass(frozen=True)
class Refined:
    """The polished point; `moved` is its distance from the start, `problem` why the polish stopped early, if it did."""

    weights: np.ndarray
    moved: float
    steps: int
    gradient_norm: float
    problem: str | None


def refine(weights: np.ndarray, teacher: np.ndarray, *, reach: float = REACH) -> Refined:
    """Polish `weights` (n, d) for `teacher` (k, d) until the gradient no longer shrinks.

    Call it inside ``precision(bits)``.
    """
    start = np.array(weights, dtype=np.float64)
    best, best_norm, used = start, np.inf, 0
    current, factor, noise = start, None, 1e-12 * float(np.linalg.norm(start))
    getrf, getrs = get_lapack_funcs(("getrf", "getrs"), (start,))  # unlike `solve`, silent about bad conditioning
    for used in range(STEPS + 1):
        try:
            point = Point(current.tolist(), teacher.tolist())
        except Rejected as rejected:
            return _stopped(start, best, used, best_norm, str(rejected))
        gradient = floats(point.gradient())
        size = float(np.linalg.norm(gradient))
        if not size < best_norm:
            break
        slow = size > 0.1 * best_norm
        best, best_norm = current, size
        if size == 0.0 or (slow and size < noise) or used == STEPS:
            break
        if factor is None or slow:  # near the end one factorisation serves every step
            factor = getrf(double_hessian(point).entries)
            if factor[2] != 0:
                return _stopped(start, best, used, best_norm, "the Hessian is singular")
        step = getrs(factor[0], factor[1], gradient.ravel())[0].reshape(start.shape)
        current = current - step
        if not np.all(np.isfinite(current)):
            return _stopped(start, best, used, best_norm, "the Newton step is not finite")
        moved = np.linalg.norm(current - start, axis=1) / np.linalg.norm(start, axis=1)
        if np.max(moved) > reach:
            reason = (
                f"a Newton step would move a neuron by {np.max(moved):.3g} of its length, more than the {reach:.3g} "
                f"allowed, so no critical point is near, or it is degenerate: run gradient descent longer first"
            )
            return _stopped(start, start, used, best_norm, reason)
    return Refined(best, float(np.linalg.norm(best - start)), used, best_norm, None)


def _stopped(start: np.ndarray, weights: np.ndarray, steps: int, gradient_norm: float, problem: str) -> Refined:
    return Refined(weights, float(np.linalg.norm(weights - start)), steps, gradient_norm, problem)
