"""The cells of a walk, for figures: all of them for two students in the plane, and those on the sphere of one student in space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from earnshaw.errors import InputError
from earnshaw.proof.absence import MOST, SMALLEST, radius_of, small_problem
from earnshaw.proof.trusted.absence import framed, walk
from earnshaw.proof.trusted.cells import Cells, Teacher, joined, roots
from earnshaw.proof.trusted.exclusion import TESTS, judged

EDGE = 5  # points on each side of a patch that is drawn
AWAY = 1.48249083  # at the flattest saddle of three orthonormal neurons w_i is a multiple of (1, 1, 1) - AWAY e_i


@dataclass(frozen=True)
class Leaves:
    """The cells of a walk for two students in the plane, with their images under all symmetries.

    Attributes
    ----------
    low, high : (m, 2) arrays, between which angles of the two students, in degrees from the first axis, from -45 to 315.
    closed_by : (m,) array, the number of the test that closed the cell, from 1; 0 where it stayed open.
    tests : the names of the tests.
    teacher : (k,) array, the angles of the teacher's neurons, in degrees.
    """

    low: np.ndarray
    high: np.ndarray
    closed_by: np.ndarray
    tests: tuple[str, ...]
    teacher: np.ndarray


def leaves(teacher: ArrayLike | None = None, smallest: float = SMALLEST) -> Leaves:
    """Walk over the directions of two students of a teacher in the plane (orthonormal by default), and keep the cells."""
    problem = small_problem(None, 2, np.eye(2) if teacher is None else teacher)
    target = problem.teacher.tolist()
    frame = framed(target, radius_of(target) if problem.teachers == 2 else 0.0)
    if frame.units.shape[1] != 2:
        raise InputError(f"the teacher spans R^{frame.units.shape[1]}; the cells can be drawn for one in the plane")
    parts: list[tuple[Cells, np.ndarray]] = []
    with np.errstate(all="ignore"):
        walk(frame, roots(frame, 2), MOST, smallest, seen=lambda cells, by: parts.append((cells, by)))
    cells, by = joined([part for part, _ in parts]), np.concatenate([by for _, by in parts])
    ends = np.stack([_angle(cells.face, cells.middle[:, 0] + sign * cells.half[:, 0]) for sign in (-1, 1)])  # (2, 2, m)
    boxes = set()
    for order, signs in frame.symmetries or (((0, 1), (1, 1)),):
        turned = _moved(ends, order, signs)
        for students in ((0, 1), (1, 0)):
            low, high = turned.min(axis=0)[list(students)], turned.max(axis=0)[list(students)]
            boxes |= {(*a, *b, c) for a, b, c in zip(low.T.tolist(), high.T.tolist(), by.tolist(), strict=True)}
    found = np.array(sorted(boxes))
    angles = np.degrees(np.arctan2(frame.units[:, 1], frame.units[:, 0]))
    return Leaves(found[:, :2], found[:, 2:4], found[:, 4].astype(int), TESTS, (angles + 45) % 360 - 45)


def _angle(face: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Return the angle, in degrees from -45 to 315, of a point on a side of the square."""
    slope = np.degrees(np.arctan(free))
    return np.choose(face, [slope, 180 - slope, 90 - slope, 270 + slope])


def _moved(angles: np.ndarray, order: tuple[int, ...], signs: tuple[int, ...]) -> np.ndarray:
    """Return angles after a signed permutation of the two coordinates: a reflection, or a turn by right angles."""
    turn = angles if order == (0, 1) else 90 - angles
    turn = turn if signs[0] == 1 else 180 - turn
    turn = turn if signs[1] == 1 else -turn
    middle = np.round(turn.mean(axis=0), 9)
    return np.round(turn - 360 * np.floor((middle + 45) / 360), 9)


@dataclass(frozen=True)
class SphereLeaves:
    """The cells of a walk in space that hold given directions of all students but the first.

    Attributes
    ----------
    outlines : (m, p, 3) array, the patches of the first student: points on the sphere, around each patch.
    closed_by : (m,) array, the number of the test that closed the cell, from 1; 0 where it stayed open.
    tests : the names of the tests.
    teacher : (k, 3) array, the directions of the teacher's neurons.
    others : (n - 1, 3) array, the given directions.
    """

    outlines: np.ndarray
    closed_by: np.ndarray
    tests: tuple[str, ...]
    teacher: np.ndarray
    others: np.ndarray


def sphere_leaves(others: ArrayLike, teacher: ArrayLike | None = None, smallest: float = SMALLEST) -> SphereLeaves:
    """Cut the sphere of the first student's directions into cells, by the walk's rule, with the others where they are given.

    Parameters
    ----------
    others
        (n - 1, 3) array, directions of the other students. The cells are those of the walk without symmetries that hold them.
    teacher
        (k, 3) array; orthonormal by default.
    smallest
        The radius below which a cell is left open.
    """
    rows = np.asarray(others, dtype=float).reshape(-1, 3)
    problem = small_problem(None, len(rows) + 1, np.eye(3) if teacher is None else teacher)
    target = problem.teacher.tolist()
    frame = framed(target, radius_of(target) if problem.students == problem.teachers else 0.0)
    if problem.teacher.shape[1] != 3 or frame.units.shape[1] != 3:
        raise InputError("the cells on the sphere can be drawn for a teacher in R^3 that spans it")
    if not np.linalg.norm(rows, axis=1).all():
        raise InputError("a direction is 0; give others that are not")
    cells, by = descend(frame, patches(3, [None, *rows]), [None, *rows], smallest)
    edge = np.linspace(-1, 1, EDGE)
    around = (
        [(t, -1.0) for t in edge] + [(1.0, t) for t in edge] + [(-t, 1.0) for t in edge] + [(-1.0, -t) for t in edge]
    )
    points = []
    for face, middle, half in zip(cells.face[0], cells.middle[0].T, cells.half[0].T, strict=True):
        outline = np.insert(middle + np.array(around) * half, face // 2, 1.0 - 2.0 * (face % 2), axis=1)
        points.append(outline / np.linalg.norm(outline, axis=1, keepdims=True))
    return SphereLeaves(np.array(points), by, TESTS, frame.units, rows / np.linalg.norm(rows, axis=1, keepdims=True))


def sphere_views(teacher: ArrayLike, students: int, smallest: float = SMALLEST) -> dict[str, SphereLeaves]:
    """Return the cells of the first of some students for three choices of the others, by title; one student has no others.

    At the teacher's neurons; on the side away from them, for three orthonormal ones at the flattest saddle (F = 0.02412); and all
    of them half-way between the second and the third.
    """
    rows = np.asarray(teacher, dtype=float)
    if rows.shape[1:] != (3,) or len(rows) < 3:
        raise InputError("the cells on the sphere can be drawn for three or four vectors in R^3")
    if students == 1:
        return {"One student": sphere_leaves([], rows, smallest)}
    choices = {
        "The others at the teacher's": rows[1:students],
        "The others away from them": (rows[:3].sum(axis=0) - AWAY * rows)[1:students],
        "The others half-way": np.repeat(rows[1:2] + rows[2:3], students - 1, axis=0),
    }
    kept = {title: others for title, others in choices.items() if np.linalg.norm(others, axis=1).all()}
    return {title: sphere_leaves(others, rows, smallest) for title, others in kept.items()}


def patches(d: int, given: Sequence[np.ndarray | None]) -> Cells:
    """Return the cells of largest patches that hold given directions, None for a student who may be anywhere."""
    every = [(face, *middle) for face in range(2 * d) for middle in product((-0.5, 0.5), repeat=d - 1)]
    numbers = np.array(list(product(every, repeat=len(given)))).transpose(1, 2, 0)
    middle = np.ascontiguousarray(numbers[:, 1:])
    cells = Cells(
        numbers[:, 0].astype(np.int64), middle, np.full_like(middle, 0.5), np.zeros(len(middle[0, 0]), dtype=np.int64)
    )
    return cells.take(holding(cells, given))


def holding(cells: Cells, given: Sequence[np.ndarray | None], slack: float = 0.0) -> np.ndarray:
    """Whether cells hold given directions, up to `slack`; without it a direction on a boundary is held on one side alone."""
    held = np.ones(len(cells.depth), dtype=bool)
    for i, x in enumerate(given):
        if x is None:
            continue
        axis = cells.face[i] // 2
        height = (1.0 - 2.0 * (cells.face[i] % 2)) * x[axis]
        rest = np.array([np.delete(x, a) for a in range(len(x))])[axis].T
        on = height > 0 if slack else (height > 0) & (axis == np.abs(x).argmax())
        away = rest / np.where(on, height, 1.0)
        away = (away if slack else np.minimum(away, 1 - 2.0**-40)) - cells.middle[i]
        held &= on & ((away >= -cells.half[i] - slack) & (away < cells.half[i] + slack)).all(axis=0)
    return held


def descend(
    teacher: Teacher,
    cells: Cells,
    given: Sequence[np.ndarray | None],
    smallest: float,
    without: tuple[str, ...] = (),
    slack: float = 0.0,
) -> tuple[Cells, np.ndarray]:
    """Walk over the cells that hold given directions; return the leaves, and the numbers of the tests that closed them."""
    found: list[tuple[Cells, np.ndarray]] = []
    cells = cells.take(holding(cells, given, slack))
    while len(cells.depth):
        with np.errstate(all="ignore"):
            by, rho = judged(teacher, cells, without)
        leaf = (by > 0) | (rho.max(axis=0) < smallest)
        found.append((cells.take(leaf), by[leaf]))
        cells = cells.take(~leaf).halves(rho[:, ~leaf])
        cells = cells.take(holding(cells, given, slack))
    return joined([some for some, _ in found]), np.concatenate([by for _, by in found])
