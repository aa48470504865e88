"""Families: the distinct points among many end points, with counts."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earnshaw.numerics import TOLERANCES
from earnshaw.problems import TwoLayer
from earnshaw.symmetry.copies import describe
from earnshaw.symmetry.permutations import align, canonical

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Family:
    """End points that are one point under the symmetries of the landscape.

    Attributes
    ----------
    weights : (n, d) array, the family's canonical representative.
    members : positions of the family's points among those that were grouped, ascending.
    objective : the loss at the representative.
    min_eigenvalue : the Hessian's smallest eigenvalue there in R^(d+1), if somebody computed it.
    name : what its neurons do, when they copy or average teacher neurons.
    """

    weights: Array
    members: NDArray[np.int64]
    objective: float
    min_eigenvalue: float = float("nan")
    name: str | None = None

    @property
    def count(self) -> int:
        """How many points the family has."""
        return len(self.members)


def families(problem: TwoLayer, weights: Array, values: Array, tolerance: float = TOLERANCES.family) -> list[Family]:
    """Group points (count, n, d), or (count, n, d + 1) with trained output weights, into families, the largest first.

    Two points closer than ``tolerance`` (Frobenius, after a declared symmetry) to the same first member are one
    family. Sorted entries and losses, which symmetries do not change, rule out most pairs before the search.
    """
    firsts: list[int] = []
    members: list[list[int]] = []
    invariants = np.sort(weights.reshape(len(weights), math.prod(problem.shape)), axis=1)
    for index in range(len(weights)):
        close = np.abs(invariants[firsts] - invariants[index]).max(axis=1, initial=0.0) <= tolerance
        close &= np.abs(values[firsts] - values[index]) <= tolerance * problem.scale
        for family in np.flatnonzero(close):
            if align(problem, weights[index], weights[firsts[family]], tolerance) is not None:
                members[family].append(index)
                break
        else:
            firsts.append(index)
            members.append([index])
    found = [
        Family(
            canonical(problem, weights[first]),
            np.array(group),
            float(values[first]),
            name=describe(problem, weights[first]),
        )
        for first, group in zip(firsts, members, strict=True)
    ]
    return sorted(found, key=lambda family: (-family.count, family.objective, family.members[0]))
