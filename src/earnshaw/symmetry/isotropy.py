r"""Isotropy: which permutations of neurons and coordinates fix a point, what that group is called, and the pattern of the point.

The group counted is that of the permutations of coordinates which, followed by some permutation of neurons, leave point and
teacher where they are. An exchange of equal neurons, which moves no coordinate, is not counted, nor are permutations of
coordinates that the teacher does not use: every such problem has those.

All in doubles: equal means equal to a tolerance, and nothing here is a proof.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from earnshaw.numerics import TOLERANCES
from earnshaw.problems import Symmetry
from earnshaw.problems.named import product_name
from earnshaw.symmetry.graphs import Colours, Graphs, Order
from earnshaw.symmetry.patterns import Pattern
from earnshaw.symmetry.permutations import Alignment, automorphisms, graph_of

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Placed:
    """A point as its pattern gives it: ``pattern.weights(numbers)`` is ``alignment.move(point)``, to tolerance."""

    pattern: Pattern
    numbers: Array
    alignment: Alignment


@dataclass(frozen=True, eq=False)
class Isotropy:
    """The group of coordinate permutations that fix a point up to an exchange of neurons.

    Attributes
    ----------
    name : the group, larger factors first: ``S_17 x S_2``; ``trivial``; ``group of order 72`` where it is not the product of
        the symmetric groups of disjoint sets of coordinates.
    order : how many permutations it has.
    placed : the point's pattern, numbers and order of neurons and coordinates; None where the teacher is not made of
        coordinate vectors, or a neuron belongs to no family. The pattern's group is the largest product of symmetric
        groups that fixes the point: all of the isotropy, where that is such a product.
    """

    name: str
    order: int
    placed: Placed | None


def isotropy(symmetry: Symmetry, point: Array, tolerance: float = TOLERANCES.family) -> Isotropy:
    r"""Return the isotropy group of a point (n, d) under the symmetries that its problem declares.

    The coordinates whose exchange (with some exchange of neurons) fixes the point form classes of :math:`q_1, q_2, \dots`,
    and :math:`\prod_c S_{q_c}` is the subgroup that these exchanges generate. It is the whole group G if refinement tells the
    classes apart, and else exactly if :math:`|G| = \prod_c q_c!`, with :math:`|G|` from
    :func:`~earnshaw.symmetry.automorphisms`.
    """
    taught = np.any(symmetry.anchors != 0, axis=0)
    columns = symmetry.columns.copy()
    columns[~taught] = columns.max(initial=0) + 1 + np.arange(np.count_nonzero(~taught))
    held = replace(symmetry, columns=columns)
    graph = graph_of(held, point[None], tolerance)
    groups = _groups(held, point, graph, tolerance)
    sizes = [len(group) for group in groups]
    order = product = math.prod(map(math.factorial, sizes))
    refined = graph.refined()
    if refined is None or len(np.unique(refined.columns)) < len(groups):
        alone = replace(symmetry, columns=np.arange(len(columns)))  # exchanges of equal neurons, and nothing else
        order = automorphisms(held, point, tolerance).order // automorphisms(alone, point, tolerance).order
    name = product_name(sizes) if order == product else f"group of order {order}"
    return Isotropy(name, order, _place(symmetry, point, groups, taught, graph.edges[0, : len(point)], tolerance))


def _groups(symmetry: Symmetry, point: Array, graph: Graphs, tolerance: float) -> list[Order]:
    """Return the classes of coordinates that may be exchanged with the first of their class, each ascending."""
    rows = np.hstack([graph.rows[0][:, None], graph.edges[0]])  # of point and anchors, each with its class
    numbers = np.vstack([point[:, : len(symmetry.columns)], symmetry.anchors])
    order = np.lexsort(rows.T)
    looks = np.vstack([graph.columns, np.sort(graph.edges[0], axis=0)]).T.tolist()

    def exchangeable(first: int, second: int) -> bool:
        columns = np.arange(len(looks))
        columns[[first, second]] = second, first
        moved = rows[:, [0, *(1 + columns)]]
        found = np.lexsort(moved.T)
        away = numbers[found][:, columns] - numbers[order]
        return np.array_equal(moved[found], rows[order]) and bool(np.linalg.norm(away) <= tolerance)

    groups: list[list[int]] = []
    for column, look in enumerate(looks):
        for group in groups:
            if looks[group[0]] == look and exchangeable(group[0], column):
                group.append(column)
                break
        else:
            groups.append([column])
    return [np.array(group) for group in groups]


def _place(
    symmetry: Symmetry,
    point: Array,
    groups: list[Order],
    taught: NDArray[np.bool_],
    colours: Colours,
    tolerance: float,
) -> Placed | None:
    """Return the point's pattern with groups by size and rows by group, families before single neurons."""
    anchors, classes = symmetry.anchors, (symmetry.rows, symmetry.columns, symmetry.anchor_rows)
    vectors = np.isin(anchors, (0.0, 1.0)).all() and (anchors.sum(1) == 1).all() and (anchors.sum(0) <= 1).all()
    if not vectors or symmetry.extra or any(np.ptp(kind) for kind in classes):
        return None
    groups = sorted(groups, key=lambda group: (not taught[group[0]], -len(group), *np.sort(colours[:, group[0]])))
    rows = _rows(point, groups, colours, tolerance)
    if rows is None:
        return None
    alignment = Alignment(np.concatenate([members for _, members in rows]), np.concatenate(groups))
    pattern = Pattern(
        tuple(map(len, groups)), tuple(own for own, _ in rows), tuple(bool(taught[group[0]]) for group in groups)
    )
    moved = alignment.move(point)
    numbers = pattern.numbers(moved)
    fits = np.linalg.norm(pattern.weights(numbers) - moved) <= tolerance
    return Placed(pattern, numbers, alignment) if fits else None


def _rows(
    point: Array, groups: list[Order], colours: Colours, tolerance: float
) -> list[tuple[int | None, list[int]]] | None:
    """Return for each row of the pattern its group and its neurons, by the group's coordinates; None if there is no pattern.

    A neuron of a family has one entry for its own coordinate and another for the rest of the group. Of two coordinates its
    own is the one with the larger entry, by absolute value and then by sign.
    """
    singles: list[tuple[tuple[int, ...], int]] = []
    families: dict[tuple[int, ...], dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for neuron, row in enumerate(colours):
        uneven = [index for index, group in enumerate(groups) if (row[group] != row[group[0]]).any()]
        look = [int(row[group[0]]) for group in groups]
        if not uneven:
            singles.append((tuple(look), neuron))
            continue
        index, group = uneven[0], groups[uneven[0]]
        values, counts = np.unique(row[group], return_counts=True)
        if len(uneven) > 1 or len(values) > 2 or counts.min() > 1:
            return None
        if len(group) > 2:
            own = int(np.flatnonzero(row[group] == values[np.argmin(counts)])[0])
        else:
            first, second = point[neuron, group]
            larger = abs(first) > abs(second) if abs(abs(first) - abs(second)) > tolerance else first > second
            own = 0 if larger else 1
        look[index] = int(row[group[1 - own if own < 2 else 0]])
        families[index, int(row[group[own]]), *look][own].append(neuron)
    found: list[tuple[int | None, list[int]]] = []
    for (index, *_), members in sorted(families.items()):
        alike = [members[place] for place in range(len(groups[index]))]
        if len(set(map(len, alike))) > 1:
            return None
        found += [(index, list(neurons)) for neurons in zip(*alike, strict=True)]
    return found + [(None, [neuron]) for _, neuron in sorted(singles)]
