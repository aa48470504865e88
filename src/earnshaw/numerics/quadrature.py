"""Gaussian means by quadrature: the slow, independent reference for closed forms."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import NDArray

Array = NDArray[np.float64]


def bivariate_gaussian_mean(
    function: Callable[[Array, Array], Array], angle: float, kinks: bool = True, order: int = 60, reach: float = 13.0
) -> float:
    r"""Return :math:`E[h(X, Y)]` for unit normal X, Y with correlation :math:`\cos t`.

    In polar coordinates :math:`X = r\cos\varphi,\ Y = r\cos(\varphi - t)`, and

    .. math:: E[h] = \frac1{2\pi} \int_0^{2\pi}\!\int_0^\infty h\, r\, e^{-r^2/2}\, dr\, d\varphi .

    With ``kinks`` the circle is cut where X or Y changes sign, so that functions with a kink at 0 are smooth on every
    piece and Gauss-Legendre converges at full speed.

    Parameters
    ----------
    function : callable
        h(x, y), vectorised, of at most polynomial growth.
    angle : float
        The angle t in [0, pi].
    order : int
        Gauss-Legendre nodes per piece of the circle; the radius has three times as many on [0, reach].
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
    edges = sorted(cuts)
    for low, high in pairwise(edges):
        polar = 0.5 * (high - low) * (nodes + 1) + low
        x = radius[:, None] * np.cos(polar)
        y = radius[:, None] * np.cos(polar - angle)
        total += 0.5 * (high - low) * float(radial @ (function(x, y) @ weights))
    return total / (2 * np.pi)
