r"""Moments of labels with Hermite polynomials of the inputs, contracted as they are summed: no d^3 array is ever made.

For a label function r (the raw label, or its residual on lower terms), with <.> the mean over rows and x~N(0, I),

.. math:: M_1 = \langle r x\rangle, \quad M_2 = \langle r (xx^T - I)\rangle, \quad
          M_3 = \langle r (x^{\otimes 3} - x \tilde\otimes I)\rangle, \quad
          M_4 = \langle r (x^{\otimes 4} - xx^T \tilde\otimes I + \tfrac12 I \tilde\otimes I)\rangle ,

where :math:`\tilde\otimes` sums all placements (3 for a vector, 6 for a matrix). The half in M4 is ours: the six
placements of I with I are three pairings counted twice, and the paper's 1 makes M4 of a constant label nonzero.

Reference: Fu, Chi & Liang (2018), Definition 2; docs/errata.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earnshaw.landscapes.rows import Rows

Array = NDArray[np.float64]
LabelFunction = Callable[[Array, Array], Array]
PAIRINGS = 0.5  # the factor of I ~(x) I in M4, where the paper prints 1


@dataclass(frozen=True)
class LinearFit:
    r"""The least-squares fit of the label by 1 and x; calling it gives the residual.

    Subtracting the fit keeps the moments of orders 2 to 4, since the fit's own vanish for normal inputs, and removes
    most of their noise, which grows with the label's size: a label is about 1/2 everywhere, its residual a few
    hundredths. For the same reason ``slope`` is a better estimate of :math:`M_1 = E[y x]` than the mean of y x.
    """

    intercept: float
    slope: Array

    @classmethod
    def of(cls, rows: Rows) -> LinearFit:
        """Fit the label of all rows, in one pass."""

        def part(x: Array, y: Array) -> tuple[Array, Array]:
            design = np.concatenate([np.ones((len(x), 1)), x], axis=1)
            return design.T @ design, design.T @ y

        gram, right = rows.total(part)
        fit = np.linalg.lstsq(gram, right, rcond=None)[0]
        return cls(float(fit[0]), np.asarray(fit[1:], dtype=np.float64))

    def __call__(self, x: Array, y: Array) -> Array:
        """Return the residuals of labels."""
        return y - self.intercept - x @ self.slope


def quadratic_residual(rows: Rows, label: LabelFunction) -> LabelFunction:
    r"""Return the label minus :math:`\frac12\langle M_2, xx^T - I\rangle` too: less noise in M_4 where M_2 is not 0."""
    second = Moments(rows, label).second()
    trace = float(np.trace(second))
    return lambda x, y: label(x, y) - 0.5 * (np.einsum("na,ab,nb->n", x, second, x, optimize=True) - trace)


@dataclass(frozen=True)
class Moments:
    """The moments of rows under a label function; every method is one pass over the rows."""

    rows: Rows
    label: LabelFunction = lambda x, y: y
    pairings: float = PAIRINGS

    def _mean(self, function: Callable[[Array, Array], tuple[Array, ...]]) -> tuple[Array, ...]:
        """Return means over rows of a function of (inputs, label function's values) that returns sums over a chunk."""
        total = self.rows.total(lambda x, y: function(x, self.label(x, y)))
        return tuple(array / len(self.rows) for array in total)

    def first(self) -> Array:
        """Return M1, (d,)."""
        return self._mean(lambda x, r: (r @ x,))[0]

    def second(self) -> Array:
        """Return M2, (d, d)."""
        square, mean = self._mean(lambda x, r: ((x * r[:, None]).T @ x, r.sum()))
        return square - mean * np.eye(len(square))

    def third_matrices(self, directions: Array) -> Array:
        r"""Return :math:`M_3(I, I, a_j)` for rows a_j of (m, d): shape (m, d, d).

        .. math:: M_3(I, I, a) = \langle r (a\cdot x) xx^T\rangle - (a\cdot v) I - a v^T - v a^T, \quad v = \langle r x\rangle
        """

        def part(x: Array, r: Array) -> tuple[Array, Array]:
            scale = r[:, None] * (x @ directions.T)
            return _squares(x, scale), r @ x

        cubes, v = self._mean(part)
        outer = directions[:, :, None] * v
        return cubes - (directions @ v)[:, None, None] * np.eye(len(v)) - outer - np.swapaxes(outer, 1, 2)

    def third_core(self, frame: Array) -> Array:
        r"""Return :math:`M_3(V, V, V)`, (K, K, K), for V with orthonormal columns (d, K).

        .. math:: T_{abc} = \langle r Z_a Z_b Z_c\rangle - (m_a\delta_{bc} + m_b\delta_{ac} + m_c\delta_{ab}),
                  \quad Z = V^T x,\ m = \langle r Z\rangle
        """

        def part(x: Array, r: Array) -> tuple[Array, Array]:
            z = x @ frame
            return _cubes(r, z), r @ z

        cubes, m = self._mean(part)
        return cubes - _with_identity(m)

    def third_vector(self, direction: Array) -> Array:
        r"""Return :math:`M_3(I, a, a) = \langle r s^2 x\rangle - |a|^2 v - 2 (a\cdot v) a`, s = a.x, (d,)."""

        def part(x: Array, r: Array) -> tuple[Array, Array]:
            s = x @ direction
            return (r * s * s) @ x, r @ x

        cubes, v = self._mean(part)
        return cubes - direction @ direction * v - 2 * (direction @ v) * direction

    def fourth_matrices(self, directions: Array) -> Array:
        r"""Return :math:`M_4(I, I, a_j, a_j)` for rows a_j of (m, d): shape (m, d, d).

        .. math:: M_4(I, I, a, a) = \langle r s^2 xx^T\rangle - |a|^2 B - (a^T B a) I - 2(q a^T + a q^T)
                  + \langle r\rangle (|a|^2 I + 2 a a^T), \quad B = \langle r xx^T\rangle,\ q = B a
        """

        def part(x: Array, r: Array) -> tuple[Array, Array, Array]:
            scale = r[:, None] * (x @ directions.T) ** 2
            return _squares(x, scale), (x * r[:, None]).T @ x, r.sum()

        fourth, square, mean = self._mean(part)
        identity = np.eye(len(square))
        result = []
        for array, a in zip(fourth, directions, strict=True):
            q = square @ a
            cross = np.outer(q, a)
            pairs = 2 * self.pairings * mean * (a @ a * identity + 2 * np.outer(a, a))
            result.append(array - a @ a * square - a @ q * identity - 2 * (cross + cross.T) + pairs)
        return np.stack(result)

    def fourth_core(self, frame: Array, direction: Array) -> Array:
        r"""Return :math:`M_4(V, V, V, a)`, (K, K, K), for V with orthonormal columns (d, K).

        With :math:`s = a\cdot x,\ u = V^T a,\ B = \langle r ZZ^T\rangle,\ q = \langle r s Z\rangle`,

        .. math:: \langle r s Z_a Z_b Z_c\rangle - (B_{ab} u_c + B_{ac} u_b + B_{bc} u_a
                  + q_a\delta_{bc} + q_b\delta_{ac} + q_c\delta_{ab})
                  + \langle r\rangle (u_a\delta_{bc} + u_b\delta_{ac} + u_c\delta_{ab}).
        """

        def part(x: Array, r: Array) -> tuple[Array, ...]:
            z, s = x @ frame, x @ direction
            return _cubes(r * s, z), (z * r[:, None]).T @ z, (r * s) @ z, r.sum()

        fourth, square, q, mean = self._mean(part)
        u = frame.T @ direction
        mixed = np.einsum("ab,c->abc", square, u)
        mixed = mixed + np.swapaxes(mixed, 1, 2) + np.transpose(mixed, (2, 0, 1))
        return fourth - mixed - _with_identity(q) + 2 * self.pairings * mean * _with_identity(u)

    def fourth_vector(self, direction: Array) -> Array:
        r"""Return :math:`M_4(I, a, a, a) = \langle r s^3 x\rangle - 3|a|^2 Ba - 3 (a^T B a) a + 3\langle r\rangle |a|^2 a`."""

        def part(x: Array, r: Array) -> tuple[Array, ...]:
            s = x @ direction
            return (r * s**3) @ x, (r * s) @ x, r.sum()

        cubes, q, mean = self._mean(part)
        length = direction @ direction
        pairs = 2 * self.pairings * 3 * mean * length * direction
        return cubes - 3 * length * q - 3 * (direction @ q) * direction + pairs


def _squares(x: Array, weights: Array) -> Array:
    """Return the sums over rows of weight x (x) x, for each column of weights (rows, m): (m, d, d)."""
    return np.stack([(x * column[:, None]).T @ x for column in weights.T])


def _cubes(weights: Array, z: Array) -> Array:
    """Return the sum over rows of weight z (x) z (x) z."""
    n, K = z.shape
    squares = (z[:, :, None] * z[:, None, :]).reshape(n, K * K)
    return ((z * weights[:, None]).T @ squares).reshape(K, K, K)


def _with_identity(vector: Array) -> Array:
    """Return the tensor v ~(x) I: v_a d_bc + v_b d_ac + v_c d_ab."""
    first = np.einsum("a,bc->abc", vector, np.eye(len(vector)))
    return first + np.transpose(first, (1, 0, 2)) + np.transpose(first, (1, 2, 0))
