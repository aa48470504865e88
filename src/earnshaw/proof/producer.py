"""From a point to a verdict: polish, prove, and write down what was proved."""

import os
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from earnshaw.errors import InputError
from earnshaw.proof.balls import precision as working_precision
from earnshaw.proof.basin import prove_basin
from earnshaw.proof.certificate import Certificate, build
from earnshaw.proof.doubles import DoubleMatrix, double_hessian
from earnshaw.proof.eigen import guess_least
from earnshaw.proof.minimum import Minimum, Missed, prove_minimum
from earnshaw.proof.refine import REACH, Refined, refine
from earnshaw.proof.robust import prove_robust
from earnshaw.proof.saddle import is_negative, prove_saddle
from earnshaw.proof.trusted import Rejected
from earnshaw.proof.trusted.reading import MAX_COORDINATES, MAX_PRECISION, MIN_PRECISION
from earnshaw.proof.trusted.relu import Point
from earnshaw.proof.verdict import Proof, Verdict
from earnshaw.threads import cores, one_blas_thread

PRECISION = 128
_ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


@dataclass(frozen=True)
class _Job:
    """One point for a worker process."""

    teacher: np.ndarray
    weights: np.ndarray
    options: Mapping[str, Any]


def prove(
    problem: object,
    weights: ArrayLike,
    *,
    precision: int = PRECISION,
    polish: bool = True,
    reach: float = REACH,
    basin: bool = True,
    robust: bool = True,
    every_dimension: bool = True,
    meta: Mapping[str, str] | None = None,
) -> Proof:
    """Prove what lies at `weights`: a spurious minimum, a saddle, or nothing that can be proved.

    Parameters
    ----------
    problem
        A two-layer ReLU problem with unit output weights (anything with a `teacher`), or the teacher (k, d) itself.
    weights
        The point, shape (n, d), neurons as rows. n < k is answered INCONCLUSIVE.
    precision
        Bits of the ball arithmetic, recorded in the certificate for the checker.
    polish, reach
        Whether to run Newton's method first, and how far it may move a neuron relative to the neuron's length.
    basin, robust, every_dimension
        Which further claims to try; one that fails is left out and does not hurt the verdict.
    meta
        Remarks for the certificate: strings, untrusted.

    Flint's precision is global to the process: prove in several processes (:func:`prove_many`), never in threads.
    Raises InputError (a ValueError) for input that is no point of such a problem: a wrong shape, NaN, a zero neuron.
    """
    begun = perf_counter()
    teacher = teacher_of(problem)
    start = point_of(weights, teacher)
    if not MIN_PRECISION <= precision <= MAX_PRECISION:
        raise InputError(f"precision is {precision} bits; give {MIN_PRECISION} to {MAX_PRECISION}")
    n, k = start.shape[0], teacher.shape[0]
    if n < k:
        reason = (
            f"n = {n} students for k = {k} teachers: the least value of F is then unknown, so no minimum can be proved "
            f"spurious; give at least as many students as teachers"
        )
        return _inconclusive(reason, start, teacher, 0.0).timed(perf_counter() - begun)
    remarks = {"producer": "earnshaw.proof", **(meta or {})}
    with working_precision(precision), one_blas_thread():
        try:
            refined = refine(start, teacher, reach=reach) if polish else Refined(start, 0.0, 0, np.inf, None)
            proof = _prove_at(refined, teacher, precision, basin, robust, every_dimension, remarks)
        except Rejected as rejected:  # from the shared calculus: a neuron too short for the precision
            proof = _inconclusive(f"{rejected}; more precision might help", start, teacher, 0.0)
    return proof.timed(perf_counter() - begun)


def prove_many(
    problem: object, points: Iterable[ArrayLike], *, workers: int | None = None, **options: Any
) -> Iterator[Proof]:
    """Prove many points of one problem, in spawned processes; yield a Proof for each, in order.

    `workers` is the number of processes; None chooses, 0 or 1 means this process. Options are those of
    :func:`prove`. A point that `prove` would refuse with InputError comes back as INCONCLUSIVE with that sentence.
    """
    teacher = teacher_of(problem)
    yield from prove_pairs(((teacher, point) for point in points), workers=workers, **options)


def prove_pairs(
    pairs: Iterable[tuple[object, ArrayLike]], *, workers: int | None = None, **options: Any
) -> Iterator[Proof]:
    """Prove (problem, point) pairs of any problems, as :func:`prove_many` does."""
    jobs = [_Job(teacher_of(problem), np.asarray(point, dtype=np.float64), options) for problem, point in pairs]
    count = min(len(jobs), _workers(jobs) if workers is None else workers)
    if count <= 1:
        yield from map(_run, jobs)
        return
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))  # one thread per process: the processes are the parallelism
    try:
        with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
            yield from pool.map(_run, jobs)
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _workers(jobs: list[_Job]) -> int:
    """Choose the number of processes: one processor each, or none when starting them costs more than it saves."""
    seconds = sum(0.03 + 0.1 * (job.weights.size / 400) ** 2 for job in jobs)
    return cores() if seconds > 3 else 1


def _run(job: _Job) -> Proof:
    """Prove one point; a point that is refused is inconclusive here, so that a batch never stops for one lane."""
    try:
        return prove(job.teacher, job.weights, **job.options)
    except InputError as error:
        rows = job.weights if job.weights.ndim == 2 else np.zeros((0, job.teacher.shape[1]))
        return _inconclusive(str(error), rows, job.teacher, 0.0)


def teacher_of(problem: object) -> np.ndarray:
    """Return the teacher (k, d) of a problem that the theorem covers, or raise InputError."""
    for name in ("output_weights", "student_output_weights"):
        given = getattr(problem, name, None)
        if given is not None and not np.all(np.asarray(given) == 1.0):
            raise InputError(
                f"{name} differ from 1; the theorem covers networks that sum their neurons: leave them out"
            )
    if getattr(problem, "trainable_output", False):
        raise InputError("the student's output weights are trained; the theorem covers fixed ones, all equal to 1")
    activation = getattr(problem, "activation", "relu")
    if str(getattr(activation, "value", activation)).lower() != "relu":
        raise InputError(f"the activation is {activation}; the theorem covers relu only")
    teacher = np.array(getattr(problem, "teacher", problem), dtype=np.float64)
    if teacher.ndim != 2 or 0 in teacher.shape:
        raise InputError(f"the teacher has shape {teacher.shape}; give k rows of d numbers, one row per neuron")
    _check_rows(teacher, "teacher")
    return teacher


def point_of(weights: ArrayLike, teacher: np.ndarray) -> np.ndarray:
    """Return `weights` as doubles (n, d) that fit `teacher`, or raise InputError."""
    point = np.array(weights, dtype=np.float64)
    if point.ndim != 2 or point.shape[0] == 0 or point.shape[1] != teacher.shape[1]:
        raise InputError(
            f"the point has shape {point.shape}; give n rows of {teacher.shape[1]} numbers, one row per student neuron"
        )
    if point.size > MAX_COORDINATES:
        raise InputError(f"the point has {point.size} coordinates; certificates go up to n * d = {MAX_COORDINATES}")
    _check_rows(point, "student")
    return point


def _check_rows(rows: np.ndarray, whose: str) -> None:
    if not np.all(np.isfinite(rows)):
        raise InputError(f"a {whose} weight is NaN or infinite; give finite numbers")
    if np.any(np.all(rows == 0.0, axis=1)):
        raise InputError(
            f"{whose} neuron {int(np.argmax(np.all(rows == 0.0, axis=1)))} is zero; F is not smooth there: drop it"
        )


def _prove_at(
    refined: Refined,
    teacher: np.ndarray,
    bits: int,
    basin: bool,
    robust: bool,
    every_dimension: bool,
    meta: Mapping[str, str],
) -> Proof:
    """Decide the polished point."""
    center = refined.weights
    point = Point(center.tolist(), teacher.tolist())
    if refined.problem is not None:
        reason = f"the polish stopped where F is {float(point.value()):.3g}: {refined.problem}"
        return _inconclusive(reason, center, teacher, refined.moved)
    hessian = double_hessian(point)
    guess = guess_least(hessian.entries)
    try:
        if is_negative(guess, point.n * point.d):
            return _saddle(point, center, teacher, bits, meta, refined.moved)
        minimum = prove_minimum(point, hessian, guess, every_dimension=every_dimension)
    except Missed as missed:
        return _inconclusive(str(missed), center, teacher, refined.moved)
    return _minimum(point, hessian, minimum, center, teacher, bits, basin, robust, meta, refined.moved)


def _minimum(
    point: Point,
    hessian: DoubleMatrix,
    minimum: Minimum,
    center: np.ndarray,
    teacher: np.ndarray,
    bits: int,
    basin: bool,
    robust: bool,
    meta: Mapping[str, str],
    moved: float,
) -> Proof:
    """Add the further claims to a proved minimum and write the certificates."""
    sections = minimum.sections(bits)
    certificates: dict[str, Certificate] = {"minimum": build("minimum", center, teacher, sections, meta)}
    notes, around, sturdy = [], None, None
    if basin:
        try:
            around = prove_basin(hessian, minimum)
            certificates["basin"] = build("basin", center, teacher, {**sections, "basin": around.section()}, meta)
        except Missed as missed:
            notes.append(str(missed))
    if robust:
        try:
            sturdy = prove_robust(point, minimum)
            certificates["robust"] = build("robust", center, teacher, {**sections, "robust": sturdy.section()}, meta)
        except Missed as missed:
            notes.append(str(missed))
    where = "in every dimension" if minimum.extension is not None else "in dimension d alone"
    return Proof(
        verdict=Verdict.PROVED_MINIMUM,
        reason="; ".join([f"every inequality of the theorem holds, {where}", *notes]),
        n=point.n,
        k=point.k,
        d=point.d,
        weights=center,
        moved=moved,
        lambda_min_ge=minimum.hessian.lower,
        lambda_ext_ge=None if minimum.extension is None else minimum.extension.lower,
        objective_ge=minimum.value_ge,
        enclosure_radius=minimum.inner,
        unique_radius=minimum.outer,
        basin_radius=None if around is None else around.radius,
        step_lt=None if around is None else around.step,
        teacher_radius=None if sturdy is None else sturdy.delta,
        every_dimension=minimum.extension is not None,
        certificates=certificates,
    )


def _saddle(
    point: Point, center: np.ndarray, teacher: np.ndarray, bits: int, meta: Mapping[str, str], moved: float
) -> Proof:
    """Prove a saddle and write its certificate."""
    saddle = prove_saddle(point)
    return Proof(
        verdict=Verdict.PROVED_SADDLE,
        reason="a critical point is enclosed and the Hessian has a negative direction on the whole enclosure",
        n=point.n,
        k=point.k,
        d=point.d,
        weights=center,
        moved=moved,
        curvature_le=saddle.curvature,
        objective_ge=saddle.value_ge,
        enclosure_radius=saddle.radius,
        every_dimension=True,
        certificates={"saddle": build("saddle", center, teacher, saddle.sections(bits), meta)},
    )


def _inconclusive(reason: str, weights: np.ndarray, teacher: np.ndarray, moved: float) -> Proof:
    return Proof(
        verdict=Verdict.INCONCLUSIVE,
        reason=reason,
        n=weights.shape[0],
        k=teacher.shape[0],
        d=teacher.shape[1],
        weights=weights,
        moved=moved,
    )
