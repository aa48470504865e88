"""Adding a neuron without changing the network: one is split in two that point the same way."""

from __future__ import annotations

import numpy as np

from earnshaw.errors import InputError


def split_neuron(weights: np.ndarray, neuron: int, share: float = 0.5) -> np.ndarray:
    r"""Return weights (n + 1, d) of the same ReLU network, neuron w replaced by (1 - t) w in its place and t w as the last row.

    ReLU is positively homogeneous, so the network, the loss and every neuron's gradient stay as they are: a critical
    point remains one. Its Hessian gains directions in which the halves part, :math:`(-u, u)`, and along these, with the
    residual r = student - teacher,

    .. math:: \frac{d^2}{d\epsilon^2} F = \frac{1}{t(1-t)}\, E\big[r(x)\,\delta(w\cdot x)\,(u\cdot x)^2\big],

    which no curvature of the smaller network speaks about: a minimum may become a saddle. At t = 0 the added neuron is
    0, where the loss is not differentiable, hence 0 < t < 1.
    """
    n = len(weights)
    if not 0 <= neuron < n:
        raise InputError(f"neuron {neuron} of {n} was to be split; use 0 to {n - 1}")
    if not 0 < share < 1:
        raise InputError(f"the share of the new neuron is {share}; use a number between 0 and 1")
    result = np.concatenate([weights, share * weights[neuron : neuron + 1]])
    result[neuron] *= 1 - share
    return result
