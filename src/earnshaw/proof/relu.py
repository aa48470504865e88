"""Proving a point of a two-layer ReLU network: polish, decide, and write down what was proved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from earnshaw.errors import InputError
from earnshaw.problems import TwoLayer
from earnshaw.proof.basin import prove_basin
from earnshaw.proof.certificate import affordable, build
from earnshaw.proof.claims import Claim, DensePoint, MinimumClaim, SaddleClaim
from earnshaw.proof.doubles import double_hessian
from earnshaw.proof.eigen import guess_least
from earnshaw.proof.minimum import Missed, prove_minimum
from earnshaw.proof.refine import REACH, refine
from earnshaw.proof.robust import prove_robust
from earnshaw.proof.saddle import is_negative, prove_saddle
from earnshaw.proof.trusted import Rejected
from earnshaw.proof.trusted.balls import precision as working_precision
from earnshaw.proof.trusted.reading import MAX_PRECISION, MIN_PRECISION, costs
from earnshaw.proof.trusted.relu import Point
from earnshaw.proof.verdict import Proof, Verdict

PRECISION = 128
Sections = dict[str, dict[str, Any]]


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
    """
    center, moved = point_of(problem, weights), 0.0
    if not MIN_PRECISION <= precision <= MAX_PRECISION:
        raise InputError(f"precision is {precision} bits; give {MIN_PRECISION} to {MAX_PRECISION}")
    problem = problem.with_students(len(center))
    affordable(costs(problem.students, problem.teachers, problem.dimension, precision))
    if problem.students < problem.teachers:
        reason = (
            f"n = {problem.students} students for k = {problem.teachers} teachers: the least value of F is then unknown, "
            "so no minimum can be proved spurious; give at least as many students as teachers"
        )
        return Proof.undecided(problem, reason, DensePoint(center))
    with working_precision(precision):
        try:
            stopped = None
            if polish:
                refined = refine(center, problem.teacher, reach=reach)
                center, moved, stopped = refined.weights, refined.moved, refined.problem
            point = Point(center.tolist(), problem.teacher.tolist())
            if stopped is not None:
                raise Missed(f"the polish stopped where F is {float(point.value()):.3g}: {stopped}")
            verdict, reason, claim, sections = _decide(point, precision, basin, robust, every_dimension)
        except Missed as missed:
            return Proof.undecided(problem, str(missed), DensePoint(center), moved)
        except Rejected as rejected:  # from the shared calculus: a neuron too short for the precision
            return Proof.undecided(problem, f"{rejected}; more precision might help", DensePoint(center), moved)
    record = problem.to_json()
    certificates = {kind: build(kind, record, center, section, meta) for kind, section in sections.items()}
    return Proof(verdict, reason, problem.network, problem.sizes, DensePoint(center), claim, certificates, moved)


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


def _decide(
    point: Point, bits: int, basin: bool, robust: bool, every_dimension: bool
) -> tuple[Verdict, str, Claim, Sections]:
    """Return the verdict on a polished point, its reason, the claim, and the sections of each certificate."""
    hessian = double_hessian(point)
    guess = guess_least(hessian.entries)
    if is_negative(guess, point.n * point.d):
        return _saddle(point, bits)
    minimum = prove_minimum(point, hessian, guess, every_dimension=every_dimension)
    sections = minimum.sections(bits)
    every: Sections = {"minimum": sections}
    where = "in every dimension" if minimum.extension is not None else "in dimension d alone"
    notes, around, sturdy = [f"every inequality of the theorem holds, {where}"], None, None
    if basin:
        try:
            around = prove_basin(hessian, minimum)
            every["basin"] = {**sections, "basin": around.section()}
        except Missed as missed:
            notes.append(str(missed))
    if robust:
        try:
            sturdy = prove_robust(point, minimum)
            every["robust"] = {**sections, "robust": sturdy.section()}
        except Missed as missed:
            notes.append(str(missed))
    claim = MinimumClaim(
        lambda_min_ge=minimum.hessian.lower,
        lambda_ext_ge=None if minimum.extension is None else minimum.extension.lower,
        mu_ge=minimum.mu,
        gradient_le=minimum.gradient,
        change_le=minimum.lipschitz,
        objective_ge=minimum.value_ge,
        objective_le=minimum.value_le,
        enclosure_radius=minimum.inner,
        unique_radius=minimum.outer,
        basin_radius=None if around is None else around.radius,
        step_lt=None if around is None else around.step,
        teacher_radius=None if sturdy is None else sturdy.delta,
    )
    return Verdict.PROVED_MINIMUM, "; ".join(notes), claim, every


def _saddle(point: Point, bits: int) -> tuple[Verdict, str, Claim, Sections]:
    saddle = prove_saddle(point)
    claim = SaddleClaim(
        curvature_le=saddle.curvature,
        gradient_le=saddle.gradient,
        change_le=saddle.lipschitz,
        objective_ge=saddle.value_ge,
        objective_le=saddle.value_le,
        enclosure_radius=saddle.radius,
    )
    reason = "a critical point is enclosed and the Hessian has a negative direction on the whole enclosure"
    return Verdict.PROVED_SADDLE, reason, claim, {"saddle": saddle.sections(bits)}
