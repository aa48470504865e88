"""The four assumptions of Fu, Chi & Liang (2018), checked numerically for any activation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earnshaw.landscapes.logistic_constants import (
    ORDERS,
    derivative_bound,
    moment_orders,
    neuron_moment,
    neuron_moment_slope,
    rho,
)
from earnshaw.potentials import derivatives
from earnshaw.problems import Activation

Array = NDArray[np.float64]
SCALES = np.geomspace(0.05, 50.0, 40)
_ZERO = 1e-9


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
    """Check Assumptions 1-4 for an activation and a network (K, d).

    Conditions "for all sigma" or "for all z" are looked at on grids (sigma from .05 to 50, z up to 1e4), so "holds" is
    numerical evidence, not a proof.

    Parameters
    ----------
    activation : the activation.
    weights : (K, d) array, the network's neurons as rows.
    direction : (d,) array, the vector alpha of Definition 3; M1's direction when not given.
    """
    return (
        _smooth(activation),
        _convex(activation),
        _moments(activation, weights, direction),
        _monotone(activation, weights),
    )


def _smooth(activation: Activation) -> Finding:
    bound = derivative_bound(activation)
    grid = np.linspace(-30, 30, 6001)
    values = derivatives(activation, grid, 0)[0]
    inside = bool(values.min() >= 0 and values.max() <= 1)
    text = f"the first three derivatives are at most {bound:.4g}" if np.isfinite(bound) else "a derivative is unbounded"
    if not inside:
        text += f", but values run from {values.min():.3g} to {values.max():.3g}, outside (0, 1)"
    return Finding(1, bool(np.isfinite(bound)) and inside, text)


def _convex(activation: Activation) -> Finding:
    values = rho(activation, SCALES)
    worst, best = int(np.argmin(values)), int(np.argmax(values))
    text = (
        f"rho is between {values[worst]:.3g} (sigma = {SCALES[worst]:.3g}) and {values[best]:.3g} "
        f"(sigma = {SCALES[best]:.3g})"
    )
    return Finding(2, bool(values[worst] > 0), text)


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
