"""Gaussian means by quadrature: of two variables, as the slow, independent reference for closed forms, and of one, with an error."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import NDArray

from earnshaw.errors import AccuracyWarning

Array = NDArray[np.float64]
REACH = 12.0  # beyond it the normal density is below 3e-32
FIRST_NODES, MOST_NODES = 192, 98_304


def bivariate_gaussian_mean(
    function: Callable[[Array, Array], Array], angle: float, kinks: bool = True, order: int = 60, reach: float = 13.0
) -> float:
    r"""Return :math:`E[h(X, Y)]` for unit normal X, Y with correlation :math:`\cos t`, t the angle in [0, pi].

    In polar coordinates :math:`X = r\cos\varphi,\ Y = r\cos(\varphi - t)`, and

    .. math:: E[h] = \frac1{2\pi} \int_0^{2\pi}\!\int_0^\infty h\, r\, e^{-r^2/2}\, dr\, d\varphi .

    With ``kinks`` the circle is cut where X or Y changes sign, so that functions with a kink at 0 are smooth on every
    piece and Gauss-Legendre converges at full speed.

    Parameters
    ----------
    function : h(x, y), vectorised, of at most polynomial growth.
    order : Gauss-Legendre nodes per piece of the circle; the radius has three times as many on [0, reach].
    """
    quarter = np.pi / 2
    cuts = {0.0, 2 * np.pi, quarter, 3 * quarter}
    if kinks:
        cuts |= {(quarter + angle) % (2 * np.pi), (3 * quarter + angle) % (2 * np.pi)}
    nodes, weights = leggauss(order)
    radial_nodes, radial_weights = leggauss(3 * order)
    radius = 0.5 * reach * (radial_nodes + 1)
    radial = 0.5 * reach * radial_weights * radius * np.exp(-0.5 * radius**2)
    total = 0.0
    for low, high in pairwise(sorted(cuts)):
        polar = 0.5 * (high - low) * (nodes + 1) + low
        x = radius[:, None] * np.cos(polar)
        y = radius[:, None] * np.cos(polar - angle)
        total += 0.5 * (high - low) * float(radial @ (function(x, y) @ weights))
    return total / (2 * np.pi)


def gaussian_mean(function: Callable[[Array], Array], tolerance: float = 1e-11) -> Array:
    r"""Return :math:`E[h(z)]`, z standard normal, by the trapezoid rule on [-12, 12].

    .. math:: E[h] \approx \frac{\delta}{\sqrt{2\pi}} \sum_{|k\delta| \le 12} h(k\delta)\, e^{-k^2\delta^2/2}

    For a function analytic in a strip of half-width a the error falls like :math:`e^{-2\pi a/\delta}`, so a halving of
    the spacing squares it; Gauss-Hermite, whose nodes spread out, does far worse on :math:`\phi(\sigma z)` with large
    sigma. The spacing is halved until two results agree to ``tolerance`` times the mean of |h|. Of an array (nodes,) the
    function returns (..., nodes); its growth is at most polynomial. An :class:`AccuracyWarning` says when the finest grid
    (spacing 1/4096) still disagrees with the one before, or h is not finite or so large at the ends that the cut tails
    matter.
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
    return value


def _sums(function: Callable[[Array], Array], grid: Array, ends: bool) -> tuple[Array, Array, Array]:
    """Return the sums of h and |h| times the density, and the larger integrand at the two ends."""
    density = np.exp(-0.5 * grid**2) / np.sqrt(2 * np.pi)
    terms = np.asarray(function(grid), dtype=np.float64) * density
    edge = np.maximum(np.abs(terms[..., 0]), np.abs(terms[..., -1]))
    if ends:
        terms[..., [0, -1]] *= 0.5
    return terms.sum(-1), np.abs(terms).sum(-1), edge
