r"""Proving a point of a two-layer ReLU network: polish, decide, and write down what was proved.

The polish is Newton's, with the gradient from balls: what is proved is the rounded end point.

.. math:: W \leftarrow \mathrm{round}\left(W - H(W)^{-1} \nabla F(W)\right)

The gradient is the midpoint of a ball at full precision (near a critical point a double gradient is all cancellation),
the Hessian a double matrix. Nothing there is trusted: a bad end point only fails to be proved. But a polish that walks
to *another* critical point would prove a true theorem about the wrong point, so a neuron that leaves its place by more
than ``reach`` times its own length stops the polish, and the distance moved is reported.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from earnshaw.errors import InputError
from earnshaw.problems import TwoLayer
from earnshaw.proof.certificate import affordable, build
from earnshaw.proof.claims import Claim, DensePoint, MinimumClaim
from earnshaw.proof.doubles import double_hessian, guess_least
from earnshaw.proof.every_n import prove_every_n
from earnshaw.proof.relu_claims import prove_basin, prove_minimum, prove_robust, prove_saddle
from earnshaw.proof.splitting import splitting
from earnshaw.proof.trusted import Rejected
from earnshaw.proof.trusted.balls import floats
from earnshaw.proof.trusted.balls import precision as working_precision
from earnshaw.proof.trusted.reading import MAX_PRECISION, MIN_PRECISION, costs
from earnshaw.proof.trusted.relu import Point
from earnshaw.proof.verdict import Missed, Proof, Verdict

PRECISION = 128
REACH = 1e-2
STEPS = 20


def prove_relu(
    problem: TwoLayer,
    weights: ArrayLike | None,
    *,
    precision: int = PRECISION,
    polish: bool = True,
    reach: float = REACH,
    basin: bool = True,
    robust: bool = True,
    every_dimension: bool = True,
    every_n: bool = False,
    meta: Mapping[str, str] | None = None,
) -> Proof:
    """Prove what lies at `weights` (n, d): a spurious minimum, a saddle, or nothing that can be proved.

    Parameters
    ----------
    precision
        Bits of the ball arithmetic, recorded in the certificate for the checker.
    polish, reach
        Whether to run Newton's method first, and how far it may move a neuron relative to the neuron's length.
    basin, robust, every_dimension
        Which further claims to try; one that fails is left out and does not hurt the verdict.
    every_n
        Whether to try to prove spurious minima for every larger n; the reason says why there is none.
    """
    start = center = point_of(problem, weights)
    if not MIN_PRECISION <= precision <= MAX_PRECISION:
        raise InputError(f"precision is {precision} bits; give {MIN_PRECISION} to {MAX_PRECISION}")
    problem, stopped = problem.with_students(len(center)), None
    affordable(costs(problem.students, problem.teachers, problem.dimension, precision))
    if problem.students < problem.teachers:
        reason = (
            f"n = {problem.students} students for k = {problem.teachers} teachers: the least value of F is then unknown, "
            "so no minimum can be proved spurious; give at least as many students as teachers"
        )
        return Proof.undecided(problem, reason, center)
    moved = 0.0
    try:
        with working_precision(precision):
            if polish:
                center, stopped = refine(start, problem.teacher, reach=reach)
                moved = float(np.linalg.norm(center - start))
            point = Point(center.tolist(), problem.teacher.tolist())
            if stopped is not None:
                raise Missed(f"the polish stopped where F is {float(point.value()):.3g}: {stopped}")
            verdict, reason, claim, sections = _decide(point, basin, robust, every_dimension)
            rows = splitting(problem, center) if verdict is Verdict.PROVED_MINIMUM else ()
            if every_n and isinstance(claim, MinimumClaim):
                try:
                    claim, sections["every_n"] = prove_every_n(point, claim, sections["minimum"], rows)
                except Missed as missed:
                    reason = f"{reason}; {missed}"
    except Missed as missed:
        return Proof.undecided(problem, str(missed), center, moved)
    except Rejected as rejected:  # from the shared calculus: a neuron too short for the precision
        return Proof.undecided(problem, f"{rejected}; more precision might help", center, moved)
    certificates = {kind: build(kind, problem.to_json(), center, section, meta) for kind, section in sections.items()}
    sizes, place = problem.sizes, DensePoint(center)
    return Proof(verdict, reason, problem.network, sizes, place, claim, certificates, moved, splitting=rows)


def point_of(problem: TwoLayer, weights: ArrayLike | None) -> np.ndarray:
    """Return `weights` as doubles (n, d) that fit the teacher, or raise InputError."""
    point = np.array(weights, dtype=np.float64)
    if point.ndim != 2 or point.shape[0] == 0 or point.shape[1] != problem.dimension:
        raise InputError(
            f"the point has shape {point.shape}; give n rows of {problem.dimension} numbers, one row per student neuron"
        )
    if not np.all(np.isfinite(point)):
        raise InputError("a student weight is NaN or infinite; give finite numbers")
    empty = np.all(point == 0.0, axis=1)
    if np.any(empty):
        raise InputError(f"student neuron {int(np.argmax(empty))} is zero; F is not smooth there: drop it")
    return point


def refine(start: np.ndarray, teacher: np.ndarray, *, reach: float = REACH) -> tuple[np.ndarray, str | None]:
    """Polish weights (n, d) for `teacher` (k, d) until the gradient no longer shrinks, inside ``precision(bits)``.

    Returns the polished weights, and why the polish stopped early, if it did.
    """
    from scipy.linalg import get_lapack_funcs

    current = best = start
    best_norm, factor, noise = np.inf, None, 1e-12 * float(np.linalg.norm(start))
    getrf, getrs = get_lapack_funcs(("getrf", "getrs"), (start,))  # unlike `solve`, silent about bad conditioning
    for used in range(STEPS + 1):
        try:
            point = Point(current.tolist(), teacher.tolist())
        except Rejected as rejected:
            return best, str(rejected)
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
                return best, "the Hessian is singular"
        current = current - getrs(factor[0], factor[1], gradient.ravel())[0].reshape(start.shape)
        if not np.all(np.isfinite(current)):
            return best, "the Newton step is not finite"
        moved = np.max(np.linalg.norm(current - start, axis=1) / np.linalg.norm(start, axis=1))
        if moved > reach:
            return start, (
                f"a Newton step would move a neuron by {moved:.3g} of its length, more than the {reach:.3g} "
                f"allowed, so no critical point is near, or it is degenerate: run gradient descent longer first"
            )
    return best, None


def _decide(
    point: Point, basin: bool, robust: bool, every_dimension: bool
) -> tuple[Verdict, str, Claim, dict[str, Any]]:
    """Return the verdict on a polished point, its reason, the claim, and the sections of each certificate."""
    hessian = double_hessian(point)
    guess = guess_least(hessian.entries)
    if guess < -64 * hessian.entries.shape[0] * float(np.finfo(np.float64).eps):  # beyond the noise of entries about 1
        claim, sections = prove_saddle(point)
        reason = "a critical point is enclosed and the Hessian has a negative direction on the whole enclosure"
        return Verdict.PROVED_SADDLE, reason, claim, {"saddle": sections}
    claim, sections = prove_minimum(point, hessian, guess, every_dimension=every_dimension)
    every = {"minimum": sections}
    where = "in every dimension" if claim.every_dimension else "in dimension d alone"
    notes = [f"every inequality of the theorem holds, {where}"]
    if basin:
        try:
            claim, every["basin"] = prove_basin(hessian, claim, sections)
        except Missed as missed:
            notes.append(str(missed))
    if robust:
        try:
            claim, every["robust"] = prove_robust(point, claim, sections)
        except Missed as missed:
            notes.append(str(missed))
    return Verdict.PROVED_MINIMUM, "; ".join(notes), claim, every
