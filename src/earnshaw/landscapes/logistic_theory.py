"""What Fu, Chi & Liang (2018) say in numbers: constants of an activation, their assumptions, and their theorems."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import HermiteE
from numpy.typing import ArrayLike, NDArray

from earnshaw.landscapes.rows import Rows
from earnshaw.landscapes.two_layer import TwoLayerLandscape
from earnshaw.numerics.quadrature import gaussian_mean
from earnshaw.potentials import derivatives
from earnshaw.problems import Activation, unit_activation
from earnshaw.problems.logistic import Labels, Logistic

Array = NDArray[np.float64]
ORDERS = (1, 2, 3, 4)
LEMMA_CONSTANT = 6 * math.sqrt(3)
_NORMS = np.geomspace(0.05, 20.0, 16)  # where a moment "for every norm" is looked at
_SCALES = np.geomspace(0.05, 50.0, 40)  # and where rho "for all sigma"
_ZERO = 1e-9


def alpha(activation: Activation, power: int, scale: float) -> float:
    r"""Return :math:`\alpha_q(\sigma) = E[\phi'(\sigma z) z^q]` (Fu, Chi & Liang 2018, Definition 1)."""
    return float(gaussian_mean(lambda z: derivatives(activation, scale * z, 1)[1] * z**power))


def beta(activation: Activation, power: int, scale: float) -> float:
    r"""Return :math:`\beta_q(\sigma) = E[\phi'(\sigma z)^2 z^q]` (Definition 1)."""
    return float(gaussian_mean(lambda z: derivatives(activation, scale * z, 1)[1] ** 2 * z**power))


def gamma(activation: Activation, power: int, scale: float) -> float:
    r"""Return :math:`\gamma_j(\sigma) = E[\phi(\sigma z) z^j]` (Definition 2)."""
    return float(gaussian_mean(lambda z: derivatives(activation, scale * z, 0)[0] * z**power))


def rho(activation: Activation, scale: ArrayLike) -> Array:
    r"""Return how strongly convex the population risk is at an orthonormal teacher scaled by sigma,

    .. math:: \rho(\sigma) = \min\{\beta_0 - \alpha_0^2 - \alpha_1^2,\ \beta_2 - \alpha_1^2 - \alpha_2^2\} .

    Accepts one sigma or an array of them. Reference: Fu, Chi & Liang (2018), Definition 1 and figure 2.
    """
    sigma = np.asarray(scale, dtype=np.float64)

    def moments(z: Array) -> Array:
        slope = derivatives(activation, sigma[..., None] * z, 1)[1]
        return np.stack([slope, slope * z, slope * z**2, slope**2, slope**2 * z**2])

    a0, a1, a2, b0, b2 = gaussian_mean(moments)
    return np.minimum(b0 - a0**2 - a1**2, b2 - a1**2 - a2**2)


def neuron_moment(activation: Activation, order: int, norm: ArrayLike) -> Array:
    r"""Return :math:`m_j(\sigma) = E[\phi(\sigma z) \mathrm{He}_j(z)]`, the weight of a neuron of norm sigma in M_j.

    Since :math:`m_2 = \gamma_2 - \gamma_0,\ m_3 = \gamma_3 - 3\gamma_1,\ m_4 = \gamma_4 - 6\gamma_2 + 3\gamma_0`, these are
    the numbers of Definition 2, and :math:`M_j = \frac1K\sum_i m_j(|w_i|)\, \bar w_i^{\otimes j}`.
    """
    sigma = np.asarray(norm, dtype=np.float64)
    return gaussian_mean(lambda z: derivatives(activation, sigma[..., None] * z, 0)[0] * HermiteE.basis(order)(z))


def neuron_moment_slope(activation: Activation, order: int, norm: ArrayLike) -> Array:
    r"""Return :math:`m_j'(\sigma) = E[\phi'(\sigma z)\, z\, \mathrm{He}_j(z)]`."""
    sigma = np.asarray(norm, dtype=np.float64)
    return gaussian_mean(lambda z: derivatives(activation, sigma[..., None] * z, 1)[1] * z * HermiteE.basis(order)(z))


@dataclass(frozen=True)
class MomentOrders:
    """The orders among 1..4 whose moment does not vanish for every norm, and those that the tensor method uses."""

    nonzero: tuple[int, ...]
    magnitudes: int | None  #: the order l1 of Assumption 4, or None when no moment is left
    subspace: int | None  #: the order j2 of Definition 3, or None when M2, M3 and M4 all vanish
    directions: int | None  #: the order j3 of Definition 3, or None when M3 and M4 both vanish

    @property
    def signs_identifiable(self) -> bool:
        """Whether the moment of order l1 tells w from -w: only an odd order does."""
        return self.magnitudes is not None and self.magnitudes % 2 == 1


@functools.lru_cache(maxsize=64)
def moment_orders(activation: Activation) -> MomentOrders:
    """Find the nonzero moments of an activation, over norms from .05 to 20."""
    sizes = {order: np.max(np.abs(neuron_moment(activation, order, _NORMS))) for order in ORDERS}
    nonzero = tuple(order for order, size in sizes.items() if size > _ZERO)
    return MomentOrders(nonzero, *(next((order for order in nonzero if order >= least), None) for least in (1, 2, 3)))


def derivative_bound(activation: Activation) -> float:
    r"""Return :math:`L_\phi = \max(\|\phi'\|_\infty, \|\phi''\|_\infty, \|\phi'''\|_\infty)`, looked for on a grid to 1e4.

    Infinite when the largest size is at the end of the grid and still growing.
    """
    far = np.geomspace(30.0, 1e4, 2000)
    grid = np.concatenate([-far[::-1], np.linspace(-30, 30, 60_001), far])
    sizes = np.abs(np.stack(derivatives(activation, grid, 3)[1:]))
    if not np.isfinite(sizes).all():
        return float("inf")
    at_the_end, before = (np.maximum(sizes[:, end], sizes[:, -1 - end]) for end in (0, 400))
    growing = at_the_end > 1.001 * np.maximum(before, 1e-12)
    return float("inf") if growing.any() else float(sizes.max())


# ---- the four assumptions ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Finding:
    """One assumption: whether it holds as far as numbers can tell, and what they are."""

    assumption: int
    holds: bool
    because: str

    def __str__(self) -> str:
        """Return one line."""
        return f"Assumption {self.assumption} {'holds' if self.holds else 'FAILS'}: {self.because}"


def check_assumptions(activation: Activation, weights: Array, direction: Array | None = None) -> tuple[Finding, ...]:
    """Check Assumptions 1-4 for an activation and a network (K, d), with a direction (d,) alpha (Definition 3) or M1's.

    Conditions "for all sigma" or "for all z" are looked at on grids (sigma from .05 to 50, z up to 1e4), so "holds" is
    numerical evidence, not a proof.
    """
    alone = _smooth(activation), _convex(activation)
    return *alone, _moments(activation, weights, direction), _monotone(activation, weights)


def _smooth(activation: Activation) -> Finding:
    bound = derivative_bound(activation)
    values = derivatives(activation, np.linspace(-30, 30, 6001), 0)[0]
    inside = bool(values.min() >= 0 and values.max() <= 1)
    text = f"the first three derivatives are at most {bound:.4g}" if np.isfinite(bound) else "a derivative is unbounded"
    if not inside:
        text += f", but values run from {values.min():.3g} to {values.max():.3g}, outside (0, 1)"
    return Finding(1, bool(np.isfinite(bound)) and inside, text)


def _convex(activation: Activation) -> Finding:
    values = rho(activation, _SCALES)
    worst, best = int(np.argmin(values)), int(np.argmax(values))
    ends = " and ".join(f"{values[end]:.3g} (sigma = {_SCALES[end]:.3g})" for end in (worst, best))
    return Finding(2, bool(values[worst] > 0), f"rho is between {ends}")


def _moments(activation: Activation, weights: Array, direction: Array | None) -> Finding:
    orders = moment_orders(activation)
    if orders.directions is None:
        return Finding(3, False, "M3 and M4 both vanish, so no moment up to the fourth shows the directions")
    norms = np.linalg.norm(weights, axis=1)
    units = weights / norms[:, None]
    if direction is None:
        mean = neuron_moment(activation, 1, norms) @ units
        direction = np.asarray(mean if np.linalg.norm(mean) > _ZERO else units.sum(0))
    direction = direction / np.linalg.norm(direction)
    along = units @ direction
    for order in orders.nonzero:
        charges = neuron_moment(activation, order, norms)
        if order >= 2 and np.abs(np.einsum("i,ia,ib->ab", charges * along ** (order - 2), units, units)).max() < _ZERO:
            return Finding(3, False, f"M{order} contracted with alpha to a matrix vanishes for this network")
        if order >= 3:
            tensor = np.einsum("i,ia,ib,ic->abc", charges * along ** (order - 3), units, units, units)
            if np.abs(tensor).max() < _ZERO:
                return Finding(3, False, f"M{order} contracted with alpha to a third-order tensor vanishes here")
    zero = [f"M{order}" for order in ORDERS if order not in orders.nonzero]
    text = f"j2 = {orders.subspace}, j3 = {orders.directions}" + (f" ({', '.join(zero)} vanish)" if zero else "")
    return Finding(3, True, text)


def _monotone(activation: Activation, weights: Array) -> Finding:
    order = moment_orders(activation).magnitudes
    if order is None:
        return Finding(4, False, "no moment is left to read a norm from")
    norms = np.linalg.norm(weights, axis=1)
    slopes = neuron_moment_slope(activation, order, norms)
    flat = int(np.argmin(np.abs(slopes)))
    text = f"l1 = {order}, the slope of m{order} at the norms is at least {abs(slopes[flat]):.3g} in size"
    if order % 2 == 0:
        text += "; the order is even, so signs cannot be told"
    return Finding(4, bool(abs(slopes[flat]) > 1e-7), text)


# ---- the theorems --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Theory:
    r"""Theorems 1 and 2 with their unnamed constants set to 1, and the few that their proofs determine.

    With singular values :math:`\sigma_1 \ge \ldots \ge \sigma_K` of the weights, :math:`\kappa = \sigma_1/\sigma_K`,
    :math:`\lambda = \prod_i \sigma_i/\sigma_K` and :math:`L_\phi` the bound of the derivatives. The proof's radius has
    :math:`c = 6\sqrt3`, which the proof of Lemma 1 gives when its means :math:`E|p x|(q x)^2` are bounded by sqrt 3 and half
    of the curvature is to remain (with the constant of the lower bound at the centre still taken as 1).
    """

    condition: float  #: :math:`\kappa`
    volume: float  #: :math:`\lambda`
    rho: float  #: :math:`\rho(\sigma_K)`
    derivative_bound: float  #: :math:`L_\phi`
    least_curvature: float  #: :math:`H_{\min} = \rho/(K^2\kappa^2\lambda)`, Theorem 1
    most_curvature: float  #: :math:`H_{\max} = L_\phi^2/K`, Theorem 1
    radius: float  #: :math:`r = \rho/(\kappa^2\lambda\sqrt K L_\phi^2)`, Theorem 1 with c = 1
    radius_of_the_proof: float
    samples: float  #: :math:`dK^3\log^2 d\,((L_\phi + 1)L_\phi\kappa^2\lambda/\rho)^2`, Theorem 1
    error: float  #: :math:`L_\phi K^2\kappa^2\lambda/\rho\,\sqrt{d\log n/n}`, Theorem 2, equation (8)
    step: float  #: :math:`H_{\min}/H_{\max}^2`, the largest step of Theorem 2's proof
    #: :math:`K^2/(\beta_0 + (K-1)\alpha_0^2)` at sigma_K: one over the largest curvature, for orthogonal weights of one norm
    practical_step: float


def theory(problem: Logistic) -> Theory:
    """Evaluate the theorems for a problem."""
    phi = problem.activation
    singular = np.linalg.svd(problem.weights, compute_uv=False)  # the largest first
    smallest, K, d, n = float(singular[-1]), problem.neurons, problem.dimension, problem.samples
    condition, volume = float(singular[0] / smallest), float((singular / smallest).prod())
    strength, bound = float(rho(phi, smallest)), derivative_bound(phi)
    share = strength / (condition**2 * volume)
    radius = share / (math.sqrt(K) * bound**2)
    least, most = share / K**2, bound**2 / K
    return Theory(
        condition=condition,
        volume=volume,
        rho=strength,
        derivative_bound=bound,
        least_curvature=least,
        most_curvature=most,
        radius=radius,
        radius_of_the_proof=radius / LEMMA_CONSTANT,
        samples=d * K**3 * math.log(d) ** 2 * ((bound + 1) * bound / share) ** 2,
        error=bound * K**2 / share * math.sqrt(d * math.log(n) / n),
        step=least / most**2,
        practical_step=K**2 / (beta(phi, 0, smallest) + (K - 1) * alpha(phi, 0, smallest) ** 2),
    )


def asymptotic_error(problem: Logistic, rows: Rows) -> float:
    r"""Return the root mean square distance of the minimiser from the truth that holds as the rows become many.

    With m the network's probability, :math:`H = E[\nabla m\nabla m^T]` and :math:`S = E[m(1-m)\nabla m\nabla m^T]` at the
    truth, the minimiser is nearly normal about it with covariance :math:`H^{-1}SH^{-1}/n`. The means are taken over the rows
    given. Exact labels leave no error. Reference: White (1982), Maximum likelihood estimation of misspecified models.
    """
    if problem.labels is Labels.REGRESSION:
        return 0.0
    weights, sigma = problem.weights, unit_activation(problem.activation)

    def part(x: Array, _: Array) -> tuple[Array, Array]:
        phi, slope = derivatives(sigma, weights @ x.T, 1)
        mean = phi.mean(0)
        change = (slope.T[:, :, None] * x[:, None, :]).reshape(len(x), -1) / len(weights)
        return change.T @ change, (change * (mean * (1 - mean))[:, None]).T @ change

    curvature, noise = rows.total(part)  # n times each
    half = np.linalg.solve(curvature, noise)
    return math.sqrt(np.trace(np.linalg.solve(curvature, half.T)))


def label_noise(problem: Logistic) -> float:
    r"""Return :math:`\tfrac12 E[p(1-p)]`, p the network's value: the risk of the truth on labels 0 and 1, for any n.

    By so much the risk of classification is above that of regression, the landscape of ``problem.population``.
    """
    mean = sum(gamma(problem.activation, 0, norm) for norm in np.linalg.norm(problem.weights, axis=1)) / problem.neurons
    return 0.5 * mean - float(TwoLayerLandscape.of(problem.population).teacher_energy())
