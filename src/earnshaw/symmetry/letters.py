"""What a family is called: the letter of a known one, and the group that fixes its point."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from earnshaw.errors import InputError
from earnshaw.numerics import TOLERANCES
from earnshaw.problems import Problem, TwoLayer
from earnshaw.problems.named import FIXED, named_family, product_name
from earnshaw.symmetry.isotropy import Isotropy, isotropy
from earnshaw.symmetry.named import named
from earnshaw.symmetry.permutations import align

Array = NDArray[np.float64]


def label(problem: Problem, point: Array) -> str | None:
    """Return what a family is called by the symmetry of its point: ``II (S_19)``, or its isotropy group where it has no letter.

    None where there are not two layers, and where the teacher itself is fixed by no permutation of coordinates.
    """
    if not isinstance(problem, TwoLayer):
        return None
    found = isotropy(problem.symmetry, point)
    if found.order == 1 and isotropy(problem.symmetry, np.zeros(problem.shape)).order == 1:
        return None
    called = letter(problem, point, found)
    return f"{called} ({found.name})" if called else found.name


def letter(problem: TwoLayer, point: Array, found: Isotropy | None = None) -> str | None:
    """Return the name of the known family (:mod:`earnshaw.problems.named`) that the point belongs to: II, B, M:q, P:q, ...

    It does if a symmetry moves it to that family's critical point for the same k, to the tolerance that separates families.
    """
    found = isotropy(problem.symmetry, point) if found is None else found
    if not problem.is_orthonormal or found.placed is None:
        return None
    taught = np.any(problem.teacher != 0, axis=0)
    counts = sorted({size for size in found.placed.pattern.sizes if size > 1})
    numbered = [f"{kind}:{size}" for kind in "MBPC" for size in counts]
    numbered += [f"P:{pairs},{flipped}" for pairs in counts for flipped in counts]
    for name in (*FIXED, *numbered):
        known = named_family(name)
        if problem.teachers < known.least or product_name(known.sizes(problem.teachers)) != found.name:
            continue
        if known.neurons(problem.teachers) == problem.students:
            weights = _weights(name, problem.teachers)
            target = np.zeros(problem.shape)
            target[:, taught] = weights
            if not np.isnan(weights).any() and align(problem.symmetry, point, target, TOLERANCES.family) is not None:
                return name
    return None


@functools.lru_cache(maxsize=1024)
def _weights(name: str, k: int) -> Array:
    """Return the point of a known family, NaN where continuation loses it on the way to this k."""
    try:
        pattern, numbers = named(name, k)
    except InputError:
        return np.full((named_family(name).neurons(k), k), np.nan)
    return pattern.weights(numbers)
