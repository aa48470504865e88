"""Points whose neurons copy or average teacher neurons: named by what each neuron does."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from earnshaw.numerics import TOLERANCES
from earnshaw.problems import TwoLayer

Array = NDArray[np.float64]


def describe(problem: TwoLayer, point: Array) -> str | None:
    r"""Return what each student neuron does with the teacher's, or None when the point is not of this kind.

    A neuron copies one teacher neuron, or averages a group :math:`G`: :math:`w_i = r_i \sum_{j\in G_i} v_j`, groups
    disjoint (and :math:`r_i > 0`, unless the activation is odd). For an odd activation and orthogonal teacher neurons the
    groups do not see each other, so that any choice of groups gives a stationary point; with n < k students, those where
    n - 1 copy and one averages the rest are the best known. Neurons that are parallel to nothing of the kind make a
    point anonymous.

    Reference: Simsek, Bendjeddou, Gerstner & Brea (2023), Should under-parameterized student networks copy or average
    teacher weights?, section 3.
    """
    weights = point[:, : problem.dimension]
    if problem.teachers > problem.dimension or np.linalg.matrix_rank(problem.teacher) < problem.teachers:
        return None
    shares = np.linalg.lstsq(problem.teacher.T, weights.T, rcond=None)[0].T  # weights = shares @ teacher
    if np.abs(shares @ problem.teacher - weights).max() > TOLERANCES.copy * np.abs(problem.teacher).max():
        return None
    used = np.abs(shares) > TOLERANCES.copy
    if (used.sum(axis=0) > 1).any() or not used.any():
        return None
    sizes = []
    for row, mask in zip(shares, used, strict=True):
        if mask.any() and (np.ptp(row[mask]) > TOLERANCES.copy or not (problem.activation.odd or row[mask][0] > 0)):
            return None
        sizes.append(int(mask.sum()))
    copies, averages = sizes.count(1), sorted((size for size in sizes if size > 1), reverse=True)
    parts = [f"{copies} {'copies' if copies > 1 else 'copy'}"] if copies else []
    parts += [f"average of {size}" for size in averages]
    idle, missed = sizes.count(0), int((~used.any(axis=0)).sum())
    parts += [f"{idle} idle"] * bool(idle) + [f"{missed} missed"] * bool(missed)
    return ", ".join(parts)
