"""Is there a bad minimum at all? A walk over all directions of few neurons proves that there is none, or says where one may be.

The walk itself is the checker's (``proof/trusted/absence.py``); here it is cut into pieces, for processes and so that it
can go on after an interruption, and what it proves becomes a certificate.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from earnshaw.errors import InputError, Interrupted, checked_time_limit, checked_workers
from earnshaw.problems import TwoLayer, standard_teacher
from earnshaw.proof.certificate import Certificate, hexed
from earnshaw.proof.processes import in_processes
from earnshaw.proof.producer import prove
from earnshaw.proof.trusted import Rejected
from earnshaw.proof.trusted.absence import RULE, Tally, framed, isolated, walk
from earnshaw.proof.trusted.cells import Cells, Teacher, joined, paired, placed, roots
from earnshaw.proof.trusted.exclusion import TESTS
from earnshaw.proof.trusted.reading import FORMAT, seal
from earnshaw.proof.verdict import Proof, Verdict
from earnshaw.store import digest, read_json, write_json
from earnshaw.threads import cores, one_blas_thread

PIECES = {1: 4, 2: 8, 3: 128}  # of a walk for so many students, each a stride of its roots
SMALLEST = 2.0**-12  # a cell whose patches are all narrower is left open
MOST = 4_000_000  # cells in a piece before it is given up
ATTEMPTS = 40  # open cells in which a bad minimum is looked for
Progress = Callable[[float, str], None]


@dataclass(frozen=True)
class Absence:
    """The result of :func:`absence`.

    Attributes
    ----------
    verdict, reason : PROVED_ABSENT, PROVED_MINIMUM (there is a bad minimum) or INCONCLUSIVE, and why.
    problem : the teacher and the number of students.
    tested, closed : how many cells of directions were tested, and how many each test closed.
    left : (m, n, d) array, the directions in the middle of each cell that stayed open, in the teacher's span: every local
        minimum that is not the teacher lies in one of these cells, up to the order of neurons and the teacher's symmetries.
    smallest : the radius below which a cell is left open.
    radius : within this distance of the teacher there is no other critical point; 0 if that is not known.
    certificate : of absence, for :func:`earnshaw.check`; None when that is not proved.
    minimum : the proof of a bad minimum, with certificates of its own, if one was found in a cell that stayed open.
    seconds : how long it took.
    """

    verdict: Verdict
    reason: str
    problem: TwoLayer
    tested: int
    closed: Mapping[str, int]
    left: np.ndarray
    smallest: float
    radius: float
    certificate: Certificate | None = field(repr=False)
    minimum: Proof | None = field(default=None, repr=False)
    seconds: float = 0.0

    @property
    def proved(self) -> bool:
        """Whether absence is proved."""
        return self.certificate is not None

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the certificate to `path`, atomically; raises InputError when there is none."""
        if self.certificate is None:
            raise InputError(f"there is no certificate: {self.reason}")
        return self.certificate.save(path)

    def report(self, certificate: str | os.PathLike[str] | None = None) -> dict[str, Any]:
        """Return the row that ``absence --json`` prints."""
        counts = {"cells": self.tested, **{name.replace(" ", "_"): count for name, count in self.closed.items()}}
        numbers = {"open": len(self.left), "radius": self.radius, "seconds": self.seconds}
        path = None if certificate is None else str(certificate)
        return {**self.problem.sizes, "verdict": self.verdict.name, **counts, **numbers, "certificate": path}


def absence(
    k: int | None = None,
    n: int | None = None,
    teacher: ArrayLike | None = None,
    *,
    out: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    smallest: float = SMALLEST,
    progress: Progress | None = None,
    time_limit: float | None = None,
) -> Absence:
    """Prove that the ReLU landscape of few neurons has no local minimum that is not global, in any dimension.

    Parameters
    ----------
    k
        Teacher neurons, orthonormal: 2 or 3.
    n
        Student neurons: k when not given. For n < k the walk leaves open where minima may be, and there is no certificate.
    teacher
        (k, d) array, your own teacher instead of `k`: two vectors in any dimension, or up to four that span R^2 or R^3.
    out
        A folder: finished pieces of a long walk are kept there, so that the same call goes on after an interruption.
    workers
        Processes; by default one a core for three students in space, and this process alone for less.
    smallest
        The radius of directions, in radians, below which a cell that no test closes is left open.
    progress
        Is told the share of the walk that is done.
    time_limit
        Seconds after which :class:`~earnshaw.experiments.Interrupted` is raised, when the next piece is finished.
    """
    begun, workers, limit = perf_counter(), checked_workers(workers), checked_time_limit(time_limit)
    problem = small_problem(k, n, teacher)
    target = problem.teacher.tolist()
    if not 0 < smallest <= 1:
        raise InputError(f"smallest is {smallest}; give a radius in radians, above 0 and at most 1")
    try:
        radius = radius_of(target) if problem.students == problem.teachers else 0.0
        frame = framed(target, radius)
    except Rejected as rejected:
        raise InputError(f"absence cannot be proved for this teacher: {rejected}") from None
    tally, reason, pieces = Tally(), "", PIECES[problem.students]
    walked = [hexed(target), problem.students, RULE, smallest, pieces]
    folder = None if out is None else Path(out) / f".{digest(walked)[:12]}"
    try:
        with one_blas_thread():
            for done, (index, part) in enumerate(
                _pieces(frame, problem.students, smallest, workers, folder, begun + limit), 1
            ):
                _add(tally, part)
                if progress is not None:
                    progress(done / pieces, f"piece {index + 1} of {pieces}")
    except Rejected as rejected:
        reason = f"{rejected}; the teacher's neurons may be too nearly parallel, or too different in length"
    left = _directions(tally.open, problem.students, frame)
    if reason == "":
        reason = _reason(problem, len(left), radius)
    certificate = None
    if reason == "":
        certificate = _certificate(problem, radius, smallest, tally)
        reason = f"every cell is closed: {tally.tested} were tested"
        if folder is not None and folder.exists():
            for file in folder.iterdir():
                file.unlink()
            folder.rmdir()
    verdict = Verdict.INCONCLUSIVE if certificate is None else Verdict.PROVED_ABSENT
    minimum = _bad_minimum(problem, frame, tally.open) if problem.students == problem.teachers else None
    if minimum is not None:
        verdict, reason = minimum.verdict, f"there is a bad minimum: {minimum.words}"
    numbers = (tally.tested, tally.closed, left, smallest, radius)
    return Absence(verdict, reason, problem, *numbers, certificate, minimum, perf_counter() - begun)


@dataclass(frozen=True)
class AbsenceMap:
    """For which teachers of two neurons absence is proved: :func:`absence_map`.

    Attributes
    ----------
    angles : (a,) array, the angle between the neurons, in degrees.
    ratios : (b,) array, the length of the shorter over that of the longer.
    proved : (b, a) array, whether absence is proved.
    bad : (b, a) array, whether a bad minimum is proved.
    tested : (b, a) array, how many cells were tested.
    """

    angles: np.ndarray
    ratios: np.ndarray
    proved: np.ndarray
    bad: np.ndarray
    tested: np.ndarray

    def report(self) -> dict[str, Any]:
        """Return the map as JSON."""
        return {name: getattr(self, name).tolist() for name in ("angles", "ratios", "proved", "bad", "tested")}


def absence_map(
    angles: ArrayLike = tuple(range(10, 180, 10)),
    ratios: ArrayLike = (1.0, 0.5, 0.2, 0.1, 0.05),
    progress: Progress | None = None,
) -> AbsenceMap:
    """Try to prove absence for two teacher neurons, (1, 0) and one of another length at another angle (degrees)."""
    turns, sizes = np.atleast_1d(np.asarray(angles, dtype=float)), np.atleast_1d(np.asarray(ratios, dtype=float))
    if not (((turns > 0) & (turns < 180)).all() and ((sizes > 0) & (sizes <= 1)).all()):
        raise InputError("the map takes angles between 0 and 180 degrees and ratios of lengths above 0 and at most 1")
    proved, bad = np.zeros((2, len(sizes), len(turns)), dtype=bool)
    tested = np.zeros(proved.shape, dtype=int)
    for place in np.ndindex(proved.shape):
        size, turn = sizes[place[0]], np.radians(turns[place[1]])
        result = absence(teacher=np.array([(1.0, 0.0), (size * np.cos(turn), size * np.sin(turn))]), smallest=2.0**-14)
        proved[place], bad[place], tested[place] = result.proved, result.minimum is not None, result.tested
        if progress is not None:
            done = place[0] * len(turns) + place[1] + 1
            progress(done / proved.size, f"{done} of {proved.size} teachers")
    return AbsenceMap(turns, sizes, proved, bad, tested)


def small_problem(k: int | None, n: int | None, teacher: ArrayLike | None) -> TwoLayer:
    """Return the problem that is meant, if the walk can be made for it."""
    if (k is None) == (teacher is None):
        raise InputError("give k (2 or 3), or a teacher of your own: one of the two")
    problem = TwoLayer(standard_teacher(k) if k is not None else np.asarray(teacher))
    k, n = problem.teachers, problem.teachers if n is None else n
    problem = problem.with_students(n)
    if k == 1:
        raise InputError("k = 1 needs no walk: there is no bad minimum for any n (theorem E of docs/absence.md)")
    if n > k:
        raise InputError(
            f"n = {n} > k = {k}: the global minima are not isolated then, and the walk cannot close the cells at them; use n <= k"
        )
    if n > 3 or k > 4:
        raise InputError(
            f"n = {n}, k = {k} is too large for this walk, which took hundreds of cells for n = 2 and millions for n = 3; use n <= 3, k <= 4"
        )
    return problem


def radius_of(target: list[list[float]]) -> float:
    """Return nearly the largest radius within which the teacher is the only critical point; 0 if there is none."""
    low, high = 0.0, float(np.linalg.norm(target, axis=1).min())
    for _ in range(20):
        middle = (low + high) / 2
        try:
            low, high = (middle, high) if isolated(target, middle) else (low, middle)
        except Rejected:  # the Hessian at the teacher is not positive
            return 0.0
    return low


def _pieces(
    teacher: Teacher, n: int, smallest: float, workers: int | None, folder: Path | None, until: float
) -> Iterator[tuple[int, Tally]]:
    """Walk the pieces that are not in the folder yet; yield all of them with their numbers, or stop after the first that ends late."""
    cells = roots(teacher, n)
    missing: dict[int, Path | None] = {}
    for index in range(PIECES[n]):
        file = None if folder is None else folder / f"{index}.json"
        if file is not None and file.exists():
            yield index, _read(file)
        else:
            missing[index] = file
    jobs = [
        (teacher, cells.take(slice(index, None, PIECES[n])), MOST, smallest, file) for index, file in missing.items()
    ]
    if workers is None:
        workers = cores() if n > 2 and teacher.units.shape[1] > 2 else 1
    walked = zip(missing, in_processes(_walk, jobs, workers), strict=True)
    for done, piece in enumerate(walked, PIECES[n] - len(missing) + 1):
        yield piece
        if perf_counter() > until and done < PIECES[n]:
            raise Interrupted(f"{done} of {PIECES[n]} pieces")


def _add(tally: Tally, part: Tally) -> None:
    """Count what the walk of a piece has done."""
    tally.tested += part.tested
    for test, count in part.closed.items():
        tally.closed[test] += count
    for depth, count in part.leaves.items():
        tally.leaves[depth] = tally.leaves.get(depth, 0) + count
    tally.open += part.open


def _walk(teacher: Teacher, cells: Cells, most: float, smallest: float, file: Path | None = None) -> Tally:
    """Walk a piece, perhaps in a process of its own, and keep it in a file."""
    with np.errstate(all="ignore"):
        tally = walk(teacher, cells, most, smallest)
    if file is not None:
        write_json(file, _record(tally))
    return tally


def _record(tally: Tally) -> dict[str, Any]:
    """Return a piece as JSON."""
    opened = [[part.tolist() for part in cells] for cells in tally.open]
    return {
        "tested": tally.tested,
        "closed": tally.closed,
        "leaves": sorted(tally.leaves.items()),
        "open": hexed(opened),
    }


def _read(file: Path) -> Tally:
    """Return a piece from JSON."""
    record = read_json(file)
    opened = [Cells(*(np.array(part) for part in unhexed(cells))) for cells in record["open"]]
    return Tally(record["tested"], record["closed"], {depth: count for depth, count in record["leaves"]}, opened)


def unhexed(value: Any) -> Any:
    """Return lists of hex floats as lists of floats; whole numbers stay what they are."""
    if isinstance(value, list):
        return [unhexed(entry) for entry in value]
    return float.fromhex(value) if isinstance(value, str) else value


def _directions(opened: list[Cells], n: int, teacher: Teacher) -> np.ndarray:
    """Return the middles of cells (m, n, d)."""
    if not opened:
        return np.zeros((0, n, teacher.units.shape[1]))
    return np.moveaxis(placed(joined(opened)).u, 2, 0)


def _bad_minimum(problem: TwoLayer, teacher: Teacher, opened: list[Cells]) -> Proof | None:
    """Look for a bad minimum from the middles of the cells that stayed open, with the lengths that the directions determine."""
    if not opened:
        return None
    u = placed(joined(opened)).u[..., :ATTEMPTS]
    pairs = paired(u, teacher)
    kernel = np.moveaxis(pairs.sin + pairs.share * pairs.cos, 2, 0)
    back = (
        np.linalg.pinv(teacher.lengths[:, None] * teacher.units) @ problem.teacher
    )  # to the teacher's own coordinates
    for middle, weights in zip(np.moveaxis(u, 2, 0), kernel, strict=True):
        n = len(middle)
        sizes = np.linalg.lstsq(weights[:, :n], weights[:, n:] @ teacher.lengths)[0]
        if (sizes > 0).all():
            proof = prove(problem, _descended(sizes[:, None] * middle, teacher) @ back)
            if proof.verdict is Verdict.PROVED_MINIMUM:
                return proof
    return None


def _descended(start: np.ndarray, teacher: Teacher) -> np.ndarray:
    """Return where quasi-Newton descent leads from a network, in floats; F up to a constant and its gradient, times 2 pi."""
    from scipy.optimize import minimize

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        w = flat.reshape(start.shape)
        r = np.linalg.norm(w, axis=1)
        u = (w / r[:, None])[:, :, None]
        pairs = paired(u, teacher)
        weights = np.concatenate([r, -teacher.lengths])
        kernel = (pairs.sin + pairs.share * pairs.cos)[:, :, 0]
        pull = (pairs.sin[:, :, :1] * u[:, None, :, 0] + pairs.share[:, :, :1] * pairs.rows[None, :, :, 0]) * weights[
            :, None
        ]
        half = r @ kernel[:, : len(r)] @ r / 2
        return float(half - r @ kernel[:, len(r) :] @ teacher.lengths), pull.sum(axis=1).ravel()

    return minimize(loss, start.ravel(), jac=True, method="BFGS", options={"gtol": 1e-9}).x.reshape(start.shape)


def _reason(problem: TwoLayer, left: int, radius: float) -> str:
    """Return why nothing is proved, or nothing."""
    where = f"every local minimum lies in one of the {left} cells left open, up to symmetry"
    if problem.students < problem.teachers:
        return f"n = {problem.students} < k = {problem.teachers}, so that the least value of F is not known; {where}"
    if left and radius == 0:
        return f"the teacher is not shown to be an isolated minimum (are two of its neurons parallel?); {where}"
    return f"{where}, or at the teacher" if left else ""


def _certificate(problem: TwoLayer, radius: float, smallest: float, tally: Tally) -> Certificate:
    """Return the sealed certificate."""
    document = {
        "format": FORMAT,
        "kind": "absence",
        "problem": problem.to_json(),
        "claims": hexed({"radius": radius}),
        "rule": hexed({"name": RULE, "smallest": smallest}),
        "counts": {"cells": tally.tested, **{test: tally.closed[test] for test in TESTS}},
        "meta": {"producer": "earnshaw.proof"},
    }
    document["sha256"] = seal(document)
    return Certificate("absence", document)
