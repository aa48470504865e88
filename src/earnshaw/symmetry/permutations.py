"""Equality of points up to the permutations that a two-layer landscape does not see.

The loss is unchanged by permuting student neurons of equal output weight, and by permuting coordinates in a way that
permutes the teacher's neurons of equal output weight. Stack the student's rows on the teacher's: both kinds are then
permutations of rows (within a class) and of columns of one matrix, and "equal up to symmetry" is isomorphism of two
bipartite graphs whose edges are coloured by the matrix entries. It is decided by colour refinement with backtracking
(individualise one vertex, refine, repeat), and every answer is verified on the numbers themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earnshaw.problems import TwoLayer

Array = NDArray[np.float64]
Colours = NDArray[np.uint64]
MAX_LEAVES = 2000
_TEACHER = 1e-12  # entries of the teacher closer than this are equal


def align(problem: TwoLayer, weights: Array, target: Array, tolerance: float) -> tuple[NDArray, NDArray] | None:
    """Return (neurons, coordinates) with ``weights[neurons][:, coordinates]`` within tolerance of target, or None.

    The distance is Frobenius; the permutations are symmetries of the problem's landscape. Points with trained output
    weights, (n, d + 1), keep them in the last column.
    """
    graph = _Graphs(problem, weights, target, tolerance)
    for whole_cells in (True, False):
        for _, (rows, columns) in zip(range(MAX_LEAVES), graph.isomorphisms(whole_cells), strict=False):
            neurons, places = rows[: problem.students], _with_outputs(problem, columns)
            if np.linalg.norm(weights[neurons][:, places] - target) <= tolerance:
                return neurons, places
    return None


def _with_outputs(problem: TwoLayer, columns: NDArray) -> NDArray:
    """Return the places of a point's columns when its coordinates are permuted: the output weights stay last."""
    return np.concatenate([columns, [problem.dimension]]) if problem.trainable_output else columns


def canonical(problem: TwoLayer, weights: Array, tolerance: float = 1e-6) -> Array:
    """Return the representative of the point's class: equal points up to symmetry give equal results to tolerance.

    Refinement orders rows and columns by what they look like, which is not yet a symmetry: so each neuron is then put
    where its output weight belongs, and the columns are permuted to bring the teacher back to its own. Among the
    orderings that refinement leaves open, the one whose entries (row by row) are greatest is taken; orderings that an
    automorphism of the point exchanges are tried once.
    """
    graph = _Graphs(problem, weights, weights, tolerance)
    best: Array | None = None
    for columns, neurons in graph.orderings():
        places = _with_outputs(problem, columns[_homeward(problem, columns)])
        candidate = weights[_by_charge(problem, neurons)][:, places]
        if best is None or _greater(candidate, best, tolerance):
            best = candidate
    assert best is not None
    return best


def _by_charge(problem: TwoLayer, neurons: NDArray) -> NDArray:
    """Return the neurons in this order within each output weight, every one at a place of its own output weight."""
    charges = problem.student_output_weights
    if charges is None:
        return neurons
    places = np.empty_like(neurons)
    places[np.argsort(charges, kind="stable")] = neurons[np.argsort(charges[neurons], kind="stable")]
    return places


def _homeward(problem: TwoLayer, columns: NDArray) -> NDArray:
    """Return the permutation that, after ``columns``, leaves the teacher as it is up to its neurons of equal charge.

    It depends on the permuted teacher alone: equivalent points, whose orderings permute it to the same, share it.
    """
    teacher = problem.teacher
    free = TwoLayer(np.ones((1, problem.dimension)), len(teacher), student_output_weights=problem.output_weights)
    found = align(free, teacher[:, columns], teacher, _TEACHER * np.sqrt(teacher.size))
    return np.argsort(columns) if found is None else found[1]


def _greater(first: Array, second: Array, tolerance: float) -> bool:
    difference = (first - second).ravel()
    telling = np.flatnonzero(np.abs(difference) > tolerance)
    return bool(telling.size and difference[telling[0]] > 0)


def _mix(values: Colours) -> Colours:
    """Scramble 64-bit integers (splitmix64), so that sums of them identify multisets."""
    with np.errstate(over="ignore"):
        values = values + np.uint64(0x9E3779B97F4A7C15)
        values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return values ^ (values >> np.uint64(31))


def _clusters(values: Array, tolerance: float) -> NDArray[np.uint64]:
    """Number values so that those in a chain of gaps below tolerance share a number; order is kept."""
    order = np.argsort(values, axis=None)
    ranks = np.concatenate([[0], np.cumsum(np.diff(values.ravel()[order]) > tolerance)])
    result = np.empty(values.size, dtype=np.uint64)
    result[order] = ranks
    return result.reshape(values.shape)


@dataclass
class _Graphs:
    """Two coloured bipartite graphs side by side: index 0 is the point, index 1 the target."""

    problem: TwoLayer
    weights: Array
    target: Array
    tolerance: float

    def __post_init__(self) -> None:
        """Colour the edges by value and the rows by class."""
        problem = self.problem
        both = np.stack([self.weights, self.target])
        students = _clusters(both[..., : problem.dimension], self.tolerance)
        teacher = _clusters(problem.teacher, _TEACHER) + students.max() + np.uint64(1)
        self.edges = np.concatenate([students, np.broadcast_to(teacher, (2, *teacher.shape))], axis=1)
        if problem.trainable_output:
            moving = _clusters(both[..., problem.dimension], self.tolerance)
        else:
            given = problem.student_output_weights
            moving = np.tile(_clusters(np.ones(problem.students) if given is None else given, 0.0), (2, 1))
        fixed = np.ones(problem.teachers) if problem.output_weights is None else problem.output_weights
        teachers = np.tile(_clusters(fixed, 0.0) + np.uint64(2 * problem.students), (2, 1))
        self.rows = np.concatenate([moving, teachers], axis=1)
        self.columns = np.zeros((2, problem.dimension), dtype=np.uint64)

    def refine(self, rows: Colours, columns: Colours) -> tuple[Colours, Colours] | None:
        """Refine the colours until stable; None as soon as the two graphs differ."""
        found = 0
        with np.errstate(over="ignore"):
            while True:
                code = _mix(_mix(columns)[:, None, :] + self.edges).sum(axis=2, dtype=np.uint64)
                rows = _rename(_mix(rows) + code)
                code = _mix(_mix(rows)[:, :, None] + self.edges).sum(axis=1, dtype=np.uint64)
                columns = _rename(_mix(columns) + code)
                for colours in (rows, columns):
                    if not np.array_equal(np.sort(colours[0]), np.sort(colours[1])):
                        return None
                count = len(np.unique(rows)) + len(np.unique(columns))
                if count == found:
                    return rows, columns
                found = count

    def isomorphisms(self, whole_cells: bool) -> Iterator[tuple[NDArray, NDArray]]:
        """Yield candidate (row, column) permutations of graph 0 onto graph 1.

        With ``whole_cells`` a cell of interchangeable-looking columns is matched in one go, in any order: right
        whenever the symmetric group acts on it, which is the common case, and checked by the caller.
        """
        start = self.refine(self.rows, self.columns)
        if start is not None:
            yield from self._search(*start, whole_cells)

    def _search(self, rows: Colours, columns: Colours, whole_cells: bool) -> Iterator[tuple[NDArray, NDArray]]:
        cell = _target(columns[1])
        side = columns
        if cell is None:
            cell, side = _target(rows[1]), rows
        if cell is None:
            yield _bijection(rows), _bijection(columns)
            return
        fresh = side.max() + np.uint64(1)
        sources = np.flatnonzero(side[0] == cell)
        places = np.flatnonzero(side[1] == cell)
        if whole_cells:
            new = side.copy()
            new[0, sources] = new[1, places] = fresh + np.arange(len(places), dtype=np.uint64)
            choices = [new]
        else:
            choices = []
            for source in sources:
                new = side.copy()
                new[0, source] = new[1, places[0]] = fresh
                choices.append(new)
        for new in choices:
            refined = self.refine(rows, new) if side is columns else self.refine(new, columns)
            if refined is not None:
                yield from self._search(*refined, whole_cells)

    def orderings(self) -> Iterator[tuple[NDArray, NDArray]]:
        """Yield (column, student row) orders of graph 0 that refinement cannot tell apart, one for each orbit of choices."""
        start = self.refine(self.rows, self.columns)
        assert start is not None, "a graph is isomorphic to itself"
        yield from self._orders(start[0][0], start[1][0])

    def _orders(self, rows: Colours, columns: Colours) -> Iterator[tuple[NDArray, NDArray]]:
        on_columns = _target(columns) is not None
        side = columns if on_columns else rows
        cell = _target(side)
        if cell is None:
            yield np.argsort(columns), np.argsort(rows[: self.problem.students])
            return
        tried: list[tuple[Colours, Colours]] = []
        members = np.flatnonzero(side == cell)
        fresh = side.max() + np.uint64(1) + np.arange(len(members), dtype=np.uint64)
        around = [side.copy(), side.copy()]
        around[0][members], around[1][members] = fresh, np.roll(fresh, 1)
        pair = [(rows, new) if on_columns else (new, columns) for new in around]
        if self._same(*pair):  # a symmetry moves the whole cell round: its members are alike, and one will do
            members = members[:1]
        for member in members:
            new = side.copy()
            new[member] = side.max() + np.uint64(1)
            colours = (rows, new) if on_columns else (new, columns)
            if any(self._same(colours, other) for other in tried):
                continue
            tried.append(colours)
            refined = self.refine(np.stack([colours[0]] * 2), np.stack([colours[1]] * 2))
            assert refined is not None
            yield from self._orders(refined[0][0], refined[1][0])

    def _same(self, first: tuple[Colours, Colours], second: tuple[Colours, Colours]) -> bool:
        """Return whether an automorphism of the point takes one colouring to the other."""
        refined = self.refine(np.stack([first[0], second[0]]), np.stack([first[1], second[1]]))
        if refined is None:
            return False
        for whole_cells in (True, False):
            for _, (rows, columns) in zip(range(MAX_LEAVES), self._search(*refined, whole_cells), strict=False):
                places = _with_outputs(self.problem, columns)
                moved = self.weights[rows[: self.problem.students]][:, places]
                if np.linalg.norm(moved - self.weights) <= self.tolerance:
                    return True
        return False


def _rename(colours: Colours) -> Colours:
    """Number the colours of both graphs by the order of their codes."""
    return np.unique(colours, return_inverse=True)[1].reshape(colours.shape).astype(np.uint64)


def _target(colours: Colours) -> np.uint64 | None:
    """Return the smallest colour that several vertices share, if any."""
    values, counts = np.unique(colours, return_counts=True)
    shared = values[counts > 1]
    return shared[0] if shared.size else None


def _bijection(colours: Colours) -> NDArray:
    """Return the permutation of graph 0's vertices that puts them in the order of graph 1's colours."""
    order = np.empty(colours.shape[1], dtype=np.int64)
    order[np.argsort(colours[1])] = np.argsort(colours[0])
    return order
