r"""From a ReLU network of n neurons to one with more that computes nearly the same: neurons split, mirrored, flipped.

ReLU obeys :math:`[z]_+ = [-z]_+ + z`, so that a neuron may be replaced by neurons along it and against it up to a linear
function; and a linear function :math:`a^T x` is made by the others, each of which is active on half of all inputs, when
each of n - 1 moves by :math:`2a/(n-1)`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def parted(weights: Array, neurons: Sequence[int], directions: Array, share: float, size: float) -> Array:
    r"""Split neurons and part their halves: :math:`w \to (1 - t) w + a u` in its place, and :math:`t w - a u` at the end.

    Parameters
    ----------
    directions : (len(neurons), d), unit vectors u.
    share, size : t in (0, 1), and a in units of :math:`\min(t, 1 - t) |w|`.
    """
    result, chosen = weights.copy(), list(neurons)
    move = size * min(share, 1 - share) * np.linalg.norm(weights[chosen], axis=1, keepdims=True) * directions
    result[chosen] = (1 - share) * weights[chosen] + move
    return np.concatenate([result, share * weights[chosen] - move])


def mirrored(weights: Array, neurons: Sequence[int], share: float) -> Array:
    """Replace neurons w by (1 - t) w and -t w, t = share; at t = 1 by -w alone: they are flipped, and none is added.

    The linear function t w.x that is lost is given to all other neurons.
    """
    result, chosen = weights.copy(), list(neurons)
    for neuron in chosen:
        others = np.arange(len(weights)) != neuron
        result[others] += 2 * share / max(len(weights) - 1, 1) * weights[neuron]
    if share == 1:
        result[chosen] -= 2 * weights[chosen]
        return result
    result[chosen] -= share * weights[chosen]
    return np.concatenate([result, -share * weights[chosen]])
