"""Equality of points up to the permutations of rows and columns that a problem declares.

A loss is unchanged by exchanging rows of a point (neurons) of one class, and by exchanging columns (coordinates) in a way
that only exchanges anchors (teacher neurons, protons) of one class. Stack the point's rows on the anchors: both kinds are
then permutations of rows, within a class, and of columns of one matrix, and "equal up to symmetry" is isomorphism of two
graphs whose edges are coloured by the entries (:mod:`earnshaw.symmetry.graphs`). Equality within a tolerance is not
transitive, so colours only propose: every answer is verified on the numbers themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earnshaw.numerics import TOLERANCES
from earnshaw.problems import Symmetry
from earnshaw.symmetry.graphs import Graphs, Order, clusters

Array = NDArray[np.float64]


class Alignment(NamedTuple):
    """A permutation of a point's rows (n,) and columns (d + extra,): entry i is what comes to place i."""

    rows: Order
    columns: Order

    def move(self, point: Array) -> Array:
        """Return the point with its rows and columns in this order."""
        return point[self.rows][:, self.columns]

    def then(self, other: Alignment) -> Alignment:
        """Return both in turn: ``a.then(b).move(x) == b.move(a.move(x))``."""
        return Alignment(self.rows[other.rows], self.columns[other.columns])


@dataclass(frozen=True)
class Automorphisms:
    """The declared symmetries that leave a point where it is, to tolerance: generators of the group, and its order."""

    generators: tuple[Alignment, ...]
    order: int


def align(symmetry: Symmetry, point: Array, target: Array, tolerance: float) -> Alignment | None:
    """Return a declared symmetry that moves the point to within tolerance (Frobenius) of the target, or None.

    Points are (n, d + extra); extra columns, such as trained output weights, stay last.
    """
    both = np.stack([point, target])
    return _sorted(symmetry, both, tolerance) or _verified(
        symmetry, graph_of(symmetry, both, tolerance), point, target, tolerance
    )


def _sorted(symmetry: Symmetry, points: Array, tolerance: float) -> Alignment | None:
    """Return a symmetry from the first of two points to the second where sorting finds it, None where it does not.

    Columns are sorted by the entries they have, then rows by theirs from left to right. That is right whenever any order
    of columns with the same entries will do: most points that runs end at are so, and it takes a sixth of the time of
    colour refinement. As there, the answer is verified on the numbers.
    """
    dimension = len(symmetry.columns)
    colours = clusters(points, tolerance)
    orders = []
    for kinds in colours:
        looks = np.vstack([np.sort(kinds[:, :dimension], axis=0), symmetry.columns])
        columns = np.append(np.lexsort(looks), np.arange(dimension, kinds.shape[1]))
        orders.append((np.lexsort((*kinds[:, columns].T[::-1], symmetry.rows)), columns))
    (rows, columns), (row_places, column_places) = orders
    found = Alignment(np.empty_like(rows), np.empty_like(columns))
    found.rows[row_places], found.columns[column_places] = rows, columns
    near = np.linalg.norm(found.move(points[0]) - points[1]) <= tolerance
    same = np.array_equal(symmetry.rows[found.rows], symmetry.rows)
    return found if near and same and _keeps(symmetry, found.columns[:dimension]) else None


def canonical(symmetry: Symmetry, point: Array, tolerance: float = TOLERANCES.family) -> Array:
    """Return the representative of the point's class: equal points up to symmetry give equal results to tolerance."""
    return canonical_alignment(symmetry, point, tolerance).move(point)


def canonical_alignment(symmetry: Symmetry, point: Array, tolerance: float = TOLERANCES.family) -> Alignment:
    """Return the symmetry that moves a point to the representative of its class.

    Refinement orders rows and columns by what they look like, which is not yet a symmetry: so each row is then put at a
    place of its class, and the columns are permuted to bring the anchors back to their own. Among the orders that
    refinement leaves open, the one whose entries (row by row) are greatest is taken; orders that an automorphism of the
    point exchanges are tried once. Of the representative's class, the order that shows its pattern is returned at last.
    """

    def same(first: Graphs, second: Graphs) -> bool:
        return _verified(symmetry, first.beside(second), point, point, tolerance) is not None

    best: Alignment | None = None
    for rows, columns in graph_of(symmetry, point[None], tolerance).orders(same):
        order = _alignment(symmetry, _in_class(symmetry, rows), columns[_homeward(symmetry, columns)])
        if best is None or _greater(order.move(point), best.move(point), tolerance):
            best = order
    assert best is not None
    return best.then(_showing(symmetry, best.move(point), tolerance))


def _showing(symmetry: Symmetry, point: Array, tolerance: float) -> Alignment:
    """Return the symmetry that puts a point into an order for readers.

    Columns with the same entries stand together, most of a kind first, as far as the anchors allow; then every row stands
    at the place of its anchor: the nearest pair of row and anchor first, then the nearest of those left. Rows without one
    come last.
    """
    dimension, anchors = len(symmetry.columns), symmetry.anchors
    columns = np.arange(dimension)
    if not len(anchors):
        return _alignment(symmetry, np.arange(len(point)), columns)
    entries = np.sort(clusters(point[:, :dimension], tolerance).astype(np.int64), axis=0)[::-1].T
    taught = np.sort(clusters(anchors, TOLERANCES.equal_entries).astype(np.int64), axis=0).T
    places = [(int(kind), *row.tolist()) for kind, row in zip(symmetry.columns, taught, strict=True)]
    alike = [tuple(row.tolist()) for row in entries]

    def key(column: int) -> tuple[int, int, tuple[int, ...]]:
        kind = alike[column]
        return places.index(places[column]), -alike.count(kind), tuple(-entry for entry in kind)

    wanted = np.array(sorted(range(dimension), key=key))
    columns = wanted if _keeps(symmetry, wanted) else columns
    moved = point[:, np.append(columns, np.arange(dimension, point.shape[1]))][:, :dimension]
    near = clusters(np.linalg.norm(moved[:, None] - anchors, axis=-1), tolerance)
    place, free = np.full(len(point), len(anchors)), np.ones(len(anchors), dtype=bool)
    for pair in np.argsort(near, axis=None, kind="stable"):
        row, anchor = divmod(int(pair), len(anchors))
        if place[row] == len(anchors) and free[anchor]:
            place[row], free[anchor] = anchor, False
    return _alignment(symmetry, _in_class(symmetry, np.argsort(place, kind="stable")), columns)


def _keeps(symmetry: Symmetry, columns: Order) -> bool:
    """Say whether permuted columns only exchange anchors of equal class, and columns of equal class."""

    def ordered(anchors: NDArray[Any]) -> NDArray[Any]:
        rows = np.column_stack([symmetry.anchor_rows, anchors])
        return rows[np.lexsort(rows.T[::-1])]

    if not np.array_equal(symmetry.columns[columns], symmetry.columns):
        return False
    both = symmetry.anchors[:, columns], symmetry.anchors
    if np.array_equal(ordered(both[0]), ordered(both[1])):  # to the last bit, as coordinate vectors do
        return True
    moved, here = (ordered(clusters(anchors, TOLERANCES.equal_entries).astype(np.int64)) for anchors in both)
    return np.array_equal(moved, here)


def automorphisms(symmetry: Symmetry, point: Array, tolerance: float = TOLERANCES.family) -> Automorphisms:
    """Return the group of declared symmetries that leave the point where it is.

    Down a chain of stabilisers, one more vertex held fixed at each: from its end upwards, a generator is looked for that
    moves the vertex to each one alike that the generators so far do not reach. The order is the product of the vertices'
    orbits (Schreier and Sims).
    """
    chain = []
    graph = graph_of(symmetry, point[None], tolerance).refined()
    while graph is not None and (cell := graph.cell()) is not None:
        chain.append((graph, *cell))
        graph = graph.marked(cell[0], cell[1][:, :1]).refined()
    generators: list[Alignment] = []
    order = 1
    for graph, side, members in reversed(chain):
        if side == "rows" and members[0, 0] >= len(point):
            continue  # equal anchors, whose exchange moves nothing of the point
        orbit = [members[0, 0]]
        held = graph.marked(side, members[:, :1])
        for member in members[0]:
            if member in orbit:
                continue
            pair = held.beside(graph.marked(side, np.array([[member]])))
            found = _verified(symmetry, pair, point, point, tolerance)
            if found is not None:
                generators.append(found)
                orbit = _orbit(orbit, [getattr(generator, side) for generator in generators])
        order *= len(orbit)
    return Automorphisms(tuple(generators), order)


def _orbit(members: list[np.int64], moves: list[Order]) -> list[np.int64]:
    """Return what permutations make of some members of a set, these included."""
    found = list(members)
    for member in found:  # grows as it is read
        found += {move[member] for move in moves} - set(found)
    return found


def graph_of(symmetry: Symmetry, points: Array, tolerance: float) -> Graphs:
    """Colour the entries of points (graphs, n, d + extra), stacked on the anchors, by value, and the vertices by class."""
    dimension = len(symmetry.columns)
    entries = clusters(points[..., :dimension], tolerance)
    anchors = clusters(symmetry.anchors, TOLERANCES.equal_entries) + entries.max() + np.uint64(1)
    rows = np.tile(symmetry.rows.astype(np.uint64), (len(points), 1))
    for extra in np.moveaxis(points[..., dimension:], -1, 0):
        colours = clusters(extra, tolerance)
        rows = rows * (colours.max() + np.uint64(1)) + colours
    fixed = symmetry.anchor_rows.astype(np.uint64) + max(rows.max() + np.uint64(1), np.uint64(2 * len(symmetry.rows)))
    columns = symmetry.columns.astype(np.uint64)
    return Graphs(
        np.concatenate([entries, np.broadcast_to(anchors, (len(points), *anchors.shape))], axis=1),
        np.concatenate([rows, np.tile(fixed, (len(points), 1))], axis=1),
        np.tile(columns, (len(points), 1)),
    )


def _verified(symmetry: Symmetry, graphs: Graphs, point: Array, target: Array, tolerance: float) -> Alignment | None:
    """Return the first isomorphism of two graphs that takes point and anchors to within tolerance of target and anchors."""
    refined, n, anchors = graphs.refined(), len(symmetry.rows), symmetry.anchors
    if refined is None:
        return None
    for whole_cells in (True, False):
        for rows, columns in islice(refined.isomorphisms(whole_cells), TOLERANCES.leaves):
            found = _alignment(symmetry, rows, columns)
            kept = anchors[rows[n:] - n][:, columns] - anchors
            if max(np.linalg.norm(found.move(point) - target), np.linalg.norm(kept)) <= tolerance:
                return found
    return None


def _alignment(symmetry: Symmetry, rows: Order, columns: Order) -> Alignment:
    """Return the permutation of a point that one of its graph's vertices is: no anchors, and extra columns stay last."""
    extra = np.arange(len(columns), len(columns) + symmetry.extra)
    return Alignment(rows[: len(symmetry.rows)], np.concatenate([columns, extra]))


def _in_class(symmetry: Symmetry, rows: Order) -> Order:
    """Return the point's rows in this order within each class, every one at a place of its own class."""
    rows = rows[rows < len(symmetry.rows)]
    places = np.empty_like(rows)
    places[np.argsort(symmetry.rows, kind="stable")] = rows[np.argsort(symmetry.rows[rows], kind="stable")]
    return places


def _homeward(symmetry: Symmetry, columns: Order) -> Order:
    """Return the permutation that, after ``columns``, leaves the anchors as they are up to those of equal class.

    It depends on the permuted anchors alone: equivalent points, whose orders permute them to the same, share it. The
    columns' classes are one more row of the anchors, of a class of its own and with entries of its own.
    """
    size = np.abs(symmetry.anchors).max(initial=1.0)
    anchors = np.vstack([symmetry.anchors, size * (2.0 + symmetry.columns)])
    rows = np.append(symmetry.anchor_rows, 2 * len(symmetry.anchors))
    none = np.zeros((0, len(columns)))
    free = Symmetry(rows, np.zeros_like(symmetry.columns), none, np.zeros(0, dtype=np.int64))
    found = align(free, anchors[:, columns], anchors, TOLERANCES.equal_entries * np.sqrt(anchors.size))
    return np.argsort(columns) if found is None else found.columns


def _greater(first: Array, second: Array, tolerance: float) -> bool:
    difference = (first - second).ravel()
    telling = np.flatnonzero(np.abs(difference) > tolerance)
    return bool(telling.size and difference[telling[0]] > 0)
