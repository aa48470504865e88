"""Means over a standard normal variable by the trapezoid rule, with an error estimate and a warning."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earnshaw.errors import AccuracyWarning

Array = NDArray[np.float64]
REACH = 12.0  # beyond it the normal density is below 3e-32
FIRST_NODES, MOST_NODES = 192, 98_304


@dataclass(frozen=True)
class GaussianMean:
    """A mean with the difference of the last two refinements, which bounds its error for a smooth integrand."""

    value: Array
    error: Array


def gaussian_mean(function: Callable[[Array], Array], tolerance: float = 1e-11) -> GaussianMean:
    r"""Return :math:`E[h(z)]`, z standard normal, by the trapezoid rule on [-12, 12].

    .. math:: E[h] \approx \frac{\delta}{\sqrt{2\pi}} \sum_{|k\delta| \le 12} h(k\delta)\, e^{-k^2\delta^2/2}

    For a function analytic in a strip of half-width a the error falls like :math:`e^{-2\pi a/\delta}`, so a halving of
    the spacing squares it; Gauss-Hermite, whose nodes spread out, does far worse on :math:`\phi(\sigma z)` with large
    sigma. The spacing is halved until two results agree to ``tolerance`` times the mean of |h|.

    Parameters
    ----------
    function : callable
        h on an array (nodes,); returns (..., nodes), of at most polynomial growth.
    tolerance : float
        Relative to the mean of |h|.

    Warns
    -----
    AccuracyWarning
        When the finest grid (spacing 1/4096) still disagrees with the one before, or h is not finite or so large at
        the ends that the cut tails matter.
    """
    nodes = FIRST_NODES
    grid = np.linspace(-REACH, REACH, nodes + 1)
    total, size, edge = _sums(function, grid, ends=True)
    value = total * (2 * REACH / nodes)
    while True:
        middle = grid[:-1] + REACH / nodes
        more, more_size, _ = _sums(function, middle, ends=False)
        total, size, nodes = total + more, size + more_size, 2 * nodes
        finer = total * (2 * REACH / nodes)
        error = np.abs(finer - value)
        limit = tolerance * size * (2 * REACH / nodes) + 1e-300
        value = finer
        if np.all(error <= limit) or nodes >= MOST_NODES:
            break
        grid = np.linspace(-REACH, REACH, nodes + 1)
    if not np.all(error <= limit) or not np.all(edge <= limit):
        worst = float(np.max(np.where(np.isfinite(error), np.maximum(error, edge), np.inf)))
        warnings.warn(
            f"a Gaussian mean is only known to about {worst:.1g} (asked for {float(np.min(limit)):.1g}): the function has"
            " features narrower than the finest grid, a kink, or grows too fast; scale it, or integrate it another way",
            AccuracyWarning,
            stacklevel=2,
        )
    return GaussianMean(value, error)


def _sums(function: Callable[[Array], Array], grid: Array, ends: bool) -> tuple[Array, Array, Array]:
    """Return the sums of h and |h| times the density, and the larger integrand at the two ends."""
    density = np.exp(-0.5 * grid**2) / np.sqrt(2 * np.pi)
    terms = np.asarray(function(grid), dtype=np.float64) * density
    edge = np.maximum(np.abs(terms[..., 0]), np.abs(terms[..., -1]))
    if ends:
        terms = terms.copy()
        terms[..., 0] *= 0.5
        terms[..., -1] *= 0.5
    return terms.sum(-1), np.abs(terms).sum(-1), edge
