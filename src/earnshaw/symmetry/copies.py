"""The copies of a point that the symmetries of its problem make, and which of them another matrix cannot tell apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from earnshaw.numerics import TOLERANCES
from earnshaw.problems import Symmetry
from earnshaw.symmetry.graphs import clusters
from earnshaw.symmetry.permutations import align, automorphisms

Array = NDArray[np.float64]
LOOKED_AT = 20_000  # copies up to rearrangements of rows


def copies(symmetry: Symmetry, point: Array, other: Array, most: int) -> list[Array]:
    """Return the points that declared symmetries make of a point, at most so many, beginning with itself.

    Copies that differ by a rearrangement of rows, or by a symmetry that keeps the matrix ``other`` (of the anchors' shape,
    its rows permuted as theirs) as well, count once.
    """
    codes = np.column_stack([clusters(point, TOLERANCES.family).astype(np.int64), symmetry.rows])
    free = automorphisms(symmetry, np.zeros_like(point)).generators
    moves = sorted({tuple(move.columns) for move in free})

    def rows(order: NDArray[np.int64]) -> bytes:
        moved = codes[:, np.append(order, len(order))]
        return moved[np.lexsort(moved.T)].tobytes()

    orbit = {rows(first): first for first in [np.arange(point.shape[1])]}
    waiting = list(orbit.values())
    for order in waiting:  # grows as it is read
        for move in moves:
            made = order[np.array(move)]
            if len(orbit) < LOOKED_AT and (key := rows(made)) not in orbit:
                orbit[key] = made
                waiting.append(made)
    pairs = np.stack([symmetry.anchors, other], axis=-1).reshape(-1, 2)
    joint = np.unique(pairs, axis=0, return_inverse=True)[1].reshape(symmetry.anchors.shape)
    both = replace(symmetry, anchors=joint.astype(np.float64))
    found: list[Array] = []
    for order in waiting:
        made = point[:, order]
        if len(found) < most and all(align(both, made, old, TOLERANCES.family) is None for old in found):
            found.append(made)
    return found
