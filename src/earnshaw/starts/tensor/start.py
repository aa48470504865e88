"""Algorithm 2: a first guess of the neurons from moments of the data; the paper's version and ours."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from earnshaw.errors import InputError
from earnshaw.landscapes.logistic_theory import MomentOrders, moment_orders, neuron_moment
from earnshaw.landscapes.rows import Rows
from earnshaw.problems import Activation, unit_activation
from earnshaw.starts.tensor.decomposition import decompose
from earnshaw.starts.tensor.moments import LinearFit, Moments, quadratic_residual

Array = NDArray[np.float64]
_NORMS = np.concatenate([[0.0], np.geomspace(1e-3, 50.0, 400)])


@dataclass(frozen=True)
class TensorGuess:
    """What the tensor method found."""

    weights: Array  #: (K, d), the start
    frame: Array  #: (d, K) with orthonormal columns, the estimated span of the neurons
    misfit: float  #: how much of the core tensor its decomposition leaves, relative
    saturated: int  #: how many neurons had a moment beyond what any norm gives; those got twice the median norm


@dataclass(frozen=True, kw_only=True)
class TensorStart:
    """Algorithm 2 of Fu, Chi & Liang (2018).

    Ours takes the residual of the label on 1 and x first (and the slope of that fit as M1), uses all rows for every
    step, contracts with the direction of M1, and improves the subspace by some rounds. The paper's takes the raw label,
    a third of the rows for each step, one random direction and no rounds.
    """

    residual: bool = True  #: whether to subtract the label's linear fit
    split: bool = False  #: whether each of the three steps has its own third of the rows
    random_direction: bool = False  #: whether the direction alpha is random instead of M1's
    rounds: int = 5  #: how often the subspace is improved
    seed: int = 0  #: root of the random direction and projections

    @classmethod
    def paper(cls, seed: int = 0) -> TensorStart:
        """Return the paper's version."""
        return cls(residual=False, split=True, random_direction=True, rounds=0, seed=seed)

    def guess(self, rows: Rows, neurons: int, activation: str | Activation = "sigmoid") -> TensorGuess:
        """Return a start (K, d) for the risk of these rows; some ten passes over them, streamed."""
        if not 1 <= neurons <= rows.dimension:
            raise InputError(
                f"{neurons} neurons were asked for in {rows.dimension} dimensions; moments can tell at most as many "
                "neurons as dimensions: use fewer neurons"
            )
        phi = unit_activation(activation)
        orders = moment_orders(phi)
        if orders.subspace is None or orders.directions is None or orders.magnitudes is None:
            raise InputError(f"the moments of {activation} up to the fourth show no directions; use a random start")
        first, second, third = self._parts(rows)
        direction = self._direction(rows, orders)
        frame = self._frame(self._moments(first, orders.subspace), orders.subspace, direction, neurons)
        moments = self._moments(second, orders.directions)
        core = moments.third_core(frame) if orders.directions == 3 else moments.fourth_core(frame, direction)
        found = decompose(core, self.seed)
        units = found.directions @ frame.T  # (K, d)
        norms, flips = _norms(phi, orders.magnitudes, self._charges(third, orders.magnitudes, direction, units))
        bounded = np.isfinite(norms)
        typical = float(np.median(norms[bounded])) if bounded.any() else _longest(phi, orders.magnitudes)
        norms = np.minimum(norms, 2 * typical)
        signs = np.where(flips, -1.0, 1.0) if orders.signs_identifiable else np.ones(neurons)
        return TensorGuess((signs * norms)[:, None] * units, frame, found.misfit, int((~bounded).sum()))

    def _parts(self, rows: Rows) -> list[Rows]:
        """Return the rows for each of the three steps."""
        if not self.split:
            return [rows] * 3
        if len(rows) < 3:
            raise InputError(f"{len(rows)} rows cannot be split into three parts; give more data")
        third = len(rows) // 3
        return [rows.part(*ends) for ends in pairwise((0, third, 2 * third, len(rows)))]

    def _moments(self, rows: Rows, order: int) -> Moments:
        if not self.residual:
            return Moments(rows)
        label = LinearFit.of(rows)
        return Moments(rows, quadratic_residual(rows, label) if order == 4 else label)

    def _direction(self, rows: Rows, orders: MomentOrders) -> Array:
        """Return alpha, a unit vector (d,)."""
        chosen = np.random.default_rng([self.seed, 3]).normal(size=rows.dimension)
        if not self.random_direction and orders.magnitudes == 1 and np.linalg.norm(mean := self._first(rows)) > 0:
            chosen = mean
        return chosen / np.linalg.norm(chosen)

    def _first(self, rows: Rows) -> Array:
        """Return M1: the slope of the linear fit, or the mean of y x."""
        return LinearFit.of(rows).slope if self.residual else Moments(rows).first()

    def _frame(self, moments: Moments, order: int, direction: Array, neurons: int) -> Array:
        r"""Return the span of the neurons, (d, K): the top eigenvectors of :math:`P_2 = M_j(I, I, a, \ldots, a)` (Definition 3).

        Rounds of :math:`V \leftarrow` the top eigenvectors of :math:`\sum_j M(I, I, V_j)^2` make it better: neurons nearly
        orthogonal to one direction are lost in noise; the directions of V together weigh all of them.
        """
        if order == 2:
            return _top_eigenvectors(moments.second(), neurons)
        contracted = moments.third_matrices if order == 3 else moments.fourth_matrices
        frame = _top_eigenvectors(contracted(direction[None])[0], neurons)
        for _ in range(self.rounds):
            matrices = contracted(frame.T)
            frame = _top_eigenvectors(np.einsum("jab,jbc->ac", matrices, matrices), neurons)
        return frame

    def _charges(self, rows: Rows, order: int, direction: Array, units: Array) -> np.ndarray:
        r"""Return what says norms and signs of neurons along units u (K, d).

        .. math:: \beta = K \arg\min_\beta \Big|\sum_i \beta_i u_i - Q\Big|, \quad Q = M_l(I, a, \ldots, a), \qquad
                  \beta_i = m_l(|w_i|)\, (a\cdot \bar w_i)^{l-1} \text{ up to the sign of } u_i .

        The sign is found when l is odd; an even activation does not need it. For l = 2 our version fits the whole matrix
        :math:`M_2 = \frac1K\sum_i m_2(|w_i|) u_iu_i^T`: no direction may happen to miss a neuron.
        """
        if order == 2 and not self.random_direction:
            columns = (units[:, :, None] * units[:, None, :]).reshape(len(units), -1)
            fitted = np.linalg.lstsq(columns.T, self._moments(rows, 2).second().ravel(), rcond=None)[0]
            return len(units) * fitted
        if order == 1:
            target = self._first(rows)
        elif order == 2:
            target = Moments(rows).second() @ direction
        else:
            moments = self._moments(rows, order)
            target = (moments.third_vector if order == 3 else moments.fourth_vector)(direction)
        along = (units @ direction) ** (order - 1)
        fitted = len(units) * np.linalg.lstsq(units.T, target, rcond=None)[0]
        return fitted / np.where(np.abs(along) > 1e-12, along, np.inf)


def _top_eigenvectors(matrix: Array, count: int) -> Array:
    """Return the eigenvectors (d, count) of a symmetric matrix whose eigenvalues are largest in size."""
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    return vectors[:, np.argsort(-np.abs(values))[:count]]


def _norms(phi: Activation, order: int, charges: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Return the norms with m_l(norm) = |charge|, infinite beyond the reach of m_l, and whether the sign is flipped."""
    table = neuron_moment(phi, order, _NORMS)
    table[0] = 0.0
    sign = 1.0 if table[np.argmax(np.abs(table))] > 0 else -1.0
    table = sign * table
    peak = int(np.argmax(table))
    rising = np.maximum.accumulate(table[: peak + 1])
    sizes = np.abs(charges)
    norms = np.interp(sizes, rising, _NORMS[: peak + 1])
    return np.where(sizes > rising[-1], np.inf, norms), sign * charges < 0


def _longest(phi: Activation, order: int) -> float:
    """Return the norm at which m_l reaches half of its supremum: what to use when every neuron is beyond it."""
    table = np.abs(neuron_moment(phi, order, _NORMS[1:]))
    return float(_NORMS[1:][np.argmax(table > 0.5 * table.max())])
