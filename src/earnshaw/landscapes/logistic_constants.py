"""Fu, Chi & Liang (2018): the constants of an activation that decide strong convexity and what moments can see."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import HermiteE
from numpy.typing import ArrayLike, NDArray

from earnshaw.numerics.quadrature import gaussian_mean
from earnshaw.potentials import derivatives
from earnshaw.problems import Activation

Array = NDArray[np.float64]
ORDERS = (1, 2, 3, 4)
_SCALES = np.geomspace(0.05, 20.0, 16)  # where a condition "for all sigma" is looked at
_ZERO = 1e-9


def alpha(activation: Activation, power: int, scale: float) -> float:
    r"""Return :math:`\alpha_q(\sigma) = E[\phi'(\sigma z) z^q]` (Fu, Chi & Liang 2018, Definition 1)."""
    return float(gaussian_mean(lambda z: derivatives(activation, scale * z, 1)[1] * z**power).value)


def beta(activation: Activation, power: int, scale: float) -> float:
    r"""Return :math:`\beta_q(\sigma) = E[\phi'(\sigma z)^2 z^q]` (Definition 1)."""
    return float(gaussian_mean(lambda z: derivatives(activation, scale * z, 1)[1] ** 2 * z**power).value)


def gamma(activation: Activation, power: int, scale: float) -> float:
    r"""Return :math:`\gamma_j(\sigma) = E[\phi(\sigma z) z^j]` (Definition 2)."""
    return float(gaussian_mean(lambda z: derivatives(activation, scale * z, 0)[0] * z**power).value)


def rho(activation: Activation, scale: ArrayLike) -> Array:
    r"""Return how strongly convex the population risk is at an orthonormal teacher scaled by sigma,

    .. math:: \rho(\sigma) = \min\{\beta_0 - \alpha_0^2 - \alpha_1^2,\ \beta_2 - \alpha_1^2 - \alpha_2^2\} .

    Accepts one sigma or an array of them. Reference: Fu, Chi & Liang (2018), Definition 1 and figure 2.
    """
    sigma = np.asarray(scale, dtype=np.float64)

    def moments(z: Array) -> Array:
        slope = derivatives(activation, sigma[..., None] * z, 1)[1]
        return np.stack([slope, slope * z, slope * z**2, slope**2, slope**2 * z**2])

    a0, a1, a2, b0, b2 = gaussian_mean(moments).value
    return np.minimum(b0 - a0**2 - a1**2, b2 - a1**2 - a2**2)


def neuron_moment(activation: Activation, order: int, norm: ArrayLike) -> Array:
    r"""Return :math:`m_j(\sigma) = E[\phi(\sigma z) \mathrm{He}_j(z)]`, the weight of a neuron of norm sigma in M_j.

    Since :math:`m_2 = \gamma_2 - \gamma_0,\ m_3 = \gamma_3 - 3\gamma_1,\ m_4 = \gamma_4 - 6\gamma_2 + 3\gamma_0`, these are
    the numbers of Definition 2, and :math:`M_j = \frac1K\sum_i m_j(|w_i|)\, \bar w_i^{\otimes j}`.
    """
    sigma = np.asarray(norm, dtype=np.float64)
    return gaussian_mean(lambda z: derivatives(activation, sigma[..., None] * z, 0)[0] * HermiteE.basis(order)(z)).value


def neuron_moment_slope(activation: Activation, order: int, norm: ArrayLike) -> Array:
    r"""Return :math:`m_j'(\sigma) = E[\phi'(\sigma z)\, z\, \mathrm{He}_j(z)]`."""
    sigma = np.asarray(norm, dtype=np.float64)
    return gaussian_mean(
        lambda z: derivatives(activation, sigma[..., None] * z, 1)[1] * z * HermiteE.basis(order)(z)
    ).value


@dataclass(frozen=True)
class MomentOrders:
    """Which moments an activation leaves nonzero, and the orders that the tensor method uses.

    Attributes
    ----------
    nonzero : the orders among 1..4 whose moment does not vanish for every norm.
    """

    nonzero: tuple[int, ...]

    @property
    def subspace(self) -> int | None:
        """The order j2 of Definition 3, or None when M2, M3 and M4 all vanish."""
        return next((order for order in self.nonzero if order >= 2), None)

    @property
    def directions(self) -> int | None:
        """The order j3 of Definition 3, or None when M3 and M4 both vanish."""
        return next((order for order in self.nonzero if order >= 3), None)

    @property
    def magnitudes(self) -> int | None:
        """The order l1 of Assumption 4, or None when no moment is left."""
        return next(iter(self.nonzero), None)

    @property
    def signs_identifiable(self) -> bool:
        """Whether the moment of order l1 tells w from -w: only an odd order does."""
        return self.magnitudes is not None and self.magnitudes % 2 == 1


@functools.lru_cache(maxsize=64)
def moment_orders(activation: Activation) -> MomentOrders:
    """Find the nonzero moments of an activation, over norms from .05 to 20."""
    found = [order for order in ORDERS if np.max(np.abs(neuron_moment(activation, order, _SCALES))) > _ZERO]
    return MomentOrders(tuple(found))


def derivative_bound(activation: Activation) -> float:
    r"""Return :math:`L_\phi = \max(\|\phi'\|_\infty, \|\phi''\|_\infty, \|\phi'''\|_\infty)`, looked for on a grid to 1e4.

    Infinite when the largest size is at the end of the grid and still growing.
    """
    far = np.geomspace(30.0, 1e4, 2000)
    grid = np.concatenate([-far[::-1], np.linspace(-30, 30, 60_001), far])
    sizes = np.abs(np.stack(derivatives(activation, grid, 3)[1:]))
    if not np.isfinite(sizes).all():
        return float("inf")
    at_the_end = np.maximum(sizes[:, 0], sizes[:, -1])
    before = np.maximum(sizes[:, 400], sizes[:, -401])
    growing = at_the_end > 1.001 * np.maximum(before, 1e-12)
    return float("inf") if bool(np.any(growing)) else float(sizes.max())
