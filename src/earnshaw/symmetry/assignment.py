"""Which neuron of one network is which of another: alignment of estimates, and names by what neurons do with the teacher's."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from earnshaw.numerics import TOLERANCES
from earnshaw.problems import TwoLayer

Array = NDArray[np.float64]


def matching(weights: Array, target: Array) -> NDArray[np.int64]:
    """Return for each row of the target (K, d) a row of its own of the weights (n, d), n >= K, by the Hungarian method.

    The sum of the scalar products is largest, which for n = K makes the distance in Frobenius norm least.
    """
    from scipy.optimize import linear_sum_assignment

    return linear_sum_assignment(-(target @ weights.T))[1]


def align_neurons(weights: Array, target: Array) -> Array:
    """Return the weights (K, d) with rows permuted to be closest to the target in Frobenius norm."""
    return weights[matching(weights, target)]


def aligned_error(weights: Array, target: Array) -> float:
    """Return the Frobenius distance of two networks after the best permutation of neurons."""
    return float(np.linalg.norm(align_neurons(weights, target) - target))


def relative_error(weights: Array, target: Array) -> float:
    """Return the aligned distance divided by the target's Frobenius norm."""
    return aligned_error(weights, target) / float(np.linalg.norm(target))


def spread(estimates: Array) -> float:
    r"""Return the standard deviation of aligned estimates (L, K, d),

    .. math:: \mathrm{SD} = \sqrt{\tfrac1L \sum_l \|W^{(l)} - \bar W\|_F^2} .

    All are aligned to the first. Infinite when an estimate is not finite. Reference: Fu, Chi & Liang (2018), section 6.
    """
    if not np.isfinite(estimates).all():
        return float("inf")
    aligned = np.stack([align_neurons(estimate, estimates[0]) for estimate in estimates])
    return float(np.sqrt(np.mean(np.sum((aligned - aligned.mean(0)) ** 2, axis=(1, 2)))))


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
    for group in (row[mask] for row, mask in zip(shares, used, strict=True) if mask.any()):
        if np.ptp(group) > TOLERANCES.copy or not (problem.activation.odd or group[0] > 0):
            return None
    sizes = used.sum(axis=1).tolist()
    copies, idle, missed = sizes.count(1), sizes.count(0), int((~used.any(axis=0)).sum())
    parts = [f"{copies} {'copies' if copies > 1 else 'copy'}"] * bool(copies)
    parts += [f"average of {size}" for size in sorted(sizes, reverse=True) if size > 1]
    parts += [f"{idle} idle"] * bool(idle) + [f"{missed} missed"] * bool(missed)
    return ", ".join(parts)
