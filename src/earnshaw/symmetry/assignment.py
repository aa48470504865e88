"""Alignment of estimates: which neuron of one network is which of another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def align_neurons(weights: Array, target: Array) -> tuple[Array, NDArray[np.intp]]:
    """Return the weights (K, d) with rows permuted to be closest to the target in Frobenius norm, and the permutation.

    ``weights[permutation]`` is what is returned; the assignment is optimal, by the Hungarian method.
    """
    from scipy.optimize import linear_sum_assignment

    cost = -(target @ weights.T)  # |w - t|^2 up to what no permutation changes
    permutation = linear_sum_assignment(cost)[1]
    return weights[permutation], permutation


def aligned_error(weights: Array, target: Array) -> float:
    """Return the Frobenius distance of two networks after the best permutation of neurons."""
    return float(np.linalg.norm(align_neurons(weights, target)[0] - target))


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
    aligned = np.stack([align_neurons(estimate, estimates[0])[0] for estimate in estimates])
    return float(np.sqrt(np.mean(np.sum((aligned - aligned.mean(0)) ** 2, axis=(1, 2)))))
