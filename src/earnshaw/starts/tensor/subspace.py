"""The subspace that the neurons span, from a moment contracted to a matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from earnshaw.starts.tensor.moments import Moments

Array = NDArray[np.float64]


def top_eigenvectors(matrix: Array, count: int) -> Array:
    """Return the eigenvectors (d, count) of a symmetric matrix whose eigenvalues are largest in size."""
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    return vectors[:, np.argsort(-np.abs(values))[:count]]


def contracted(moments: Moments, order: int, direction: Array) -> Array:
    r"""Return :math:`P_2 = M_j(I, I, a, \ldots, a)`, (d, d), for j = 2, 3 or 4 (Fu, Chi & Liang 2018, Definition 3)."""
    if order == 2:
        return moments.second()
    if order == 3:
        return moments.third_matrices(direction[None])[0]
    return moments.fourth_matrices(direction[None])[0]


def improved(moments: Moments, order: int, frame: Array, rounds: int) -> Array:
    r"""Return a better frame (d, K): rounds of :math:`V \leftarrow` the top eigenvectors of :math:`\sum_j M(I, I, V_j)^2`.

    One direction weighs the neurons unequally, and those nearly orthogonal to it are lost in noise; the directions of V
    together weigh all of them. The second moment needs no direction, and is left as it is.
    """
    if order == 2:
        return frame
    for _ in range(rounds):
        matrices = (moments.third_matrices if order == 3 else moments.fourth_matrices)(frame.T)
        frame = top_eigenvectors(np.einsum("jab,jbc->ac", matrices, matrices), frame.shape[1])
    return frame
