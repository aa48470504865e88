r"""A proved ball of strong convexity for the empirical risk of a data set, and the minimiser inside it.

The risk is :math:`f_n(W) = \frac1{2n}\sum_i (N(x_i) - y_i)^2,\ N(x) = \frac1K\sum_k \phi(w_k\cdot x)`. With
:math:`c_1, c_2, c_3` the largest sizes of the first three derivatives of phi, :math:`e_i = N(x_i) - y_i` at the centre, and

.. math:: s_2 = \lambda_{\max}\Big(\frac1n\sum x_ix_i^T\Big), \quad
          s_e = \lambda_{\max}\Big(\frac1n\sum e_i^2 x_ix_i^T\Big), \quad s_4 = \max_{|p|=1}\frac1n\sum (p\cdot x_i)^4 ,

the third derivative of f_n at distance t from the centre, in unit directions a, a, v, is at most

.. math:: L(t) = \frac{3 c_1 c_2}{K^{3/2}}\sqrt{s_2 s_4} + \frac{c_3}{K}\sqrt{s_e s_4} + \frac{c_1 c_3}{K^{3/2}} s_4\, t .

*Why.* Write :math:`\tau_j = a_j\cdot x,\ \sigma_j = v_j\cdot x`. One row's third derivative is
:math:`\frac2{K^2}(\sum\phi'_j\tau_j)(\sum\phi''_j\tau_j\sigma_j) + \frac1{K^2}(\sum\phi'_j\sigma_j)(\sum\phi''_j\tau_j^2)
+ \frac1K e\sum\phi'''_j\sigma_j\tau_j^2`. Means of :math:`|p\cdot x||q\cdot x||r\cdot x|` are at most
:math:`|p||q||r|\sqrt{s_2 s_4}` by Cauchy-Schwarz, used twice; :math:`\sum|a_j| \le \sqrt K` and
:math:`\sum|a_j||v_j| \le 1` do the rest; and e moves by at most :math:`\frac{c_1}K\sum|\delta_j\cdot x|` when W moves by
delta. So the Hessian at distance r is at least :math:`\lambda_{\min} - \int_0^r L`, which is positive inside the radius.

**Rigour.** The activation is evaluated in balls at the exact doubles of the data. Matrices of sums over rows are formed
in doubles; their error is bounded by Higham's :math:`\gamma_n` times sums of absolute values, in any order of summation.
Eigenvalues are bounded by :mod:`earnshaw.proof.eigen`. Bounds are combined in balls.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from flint import arb, arb_mat
from numpy.typing import NDArray

from earnshaw.errors import InputError
from earnshaw.proof.balls import down, precision, sum_of_squares, up
from earnshaw.proof.doubles import DoubleMatrix
from earnshaw.proof.eigen import guess_least, prove_least

Array = NDArray[np.float64]
_BITS = 128
_UNIT = 2.0**-53
_BLOCK = 4096


@dataclass(frozen=True)
class ConvexBall:
    """What is proved about the empirical risk of one data set around one point; every number on the safe side.

    Attributes
    ----------
    curvature_ge : the smallest eigenvalue of the Hessian at the centre is at least this.
    change_le : the Hessian changes by at most this per distance, at the centre (L(0) of the module's text).
    radius : the Hessian is positive definite in the open ball of this radius (Frobenius); 0 when that is not proved.
    gradient_le : the gradient's norm at the centre is at most this.
    minimiser_within : the ball of this radius holds a minimiser, the only stationary point within ``radius``; None when
        the gradient is too large for that.
    reason : why nothing is proved; empty when ``radius`` is positive.
    """

    curvature_ge: float
    change_le: float
    radius: float
    gradient_le: float
    minimiser_within: float | None
    reason: str = ""

    @property
    def proved(self) -> bool:
        """Whether the risk is proved strictly convex around the centre."""
        return self.radius > 0


@dataclass(frozen=True)
class _Activation:
    """phi, phi', phi'' of a ball, and bounds of the first three derivatives."""

    tower: Callable[[arb], tuple[arb, arb, arb]]
    bounds: tuple[arb, arb, arb]


def _sigmoid(rate: int) -> _Activation:
    def tower(z: arb) -> tuple[arb, arb, arb]:
        phi = 1 / (1 + (-rate * z).exp())
        slope = phi * (1 - phi)
        return phi, rate * slope, rate * rate * slope * (1 - 2 * phi)

    return _Activation(tower, (arb(rate) / 4, rate**2 / (6 * arb(3).sqrt()), arb(rate) ** 3 / 8))


def _erf() -> _Activation:
    root = arb.pi().sqrt()

    def tower(z: arb) -> tuple[arb, arb, arb]:
        slope = (-z * z).exp() / root
        return (1 + z.erf()) / 2, slope, -2 * z * slope

    return _Activation(tower, (1 / root, arb(2).sqrt() * (arb(-1) / 2).exp() / root, 2 / root))


_ACTIVATIONS = {"sigmoid": lambda: _sigmoid(1), "unit-tanh": lambda: _sigmoid(2), "unit-erf": _erf}


def prove_convexity(x: Array, y: Array, weights: Array, activation: str = "sigmoid") -> ConvexBall:
    """Prove a ball around weights (K, d) in which the empirical risk of inputs (n, d) and labels (n,) is convex.

    Takes about a second for each 10,000 rows and three neurons. The activation is sigmoid, unit-tanh or unit-erf; others raise
    :class:`~earnshaw.errors.InputError`, because a proof needs bounds of their derivatives.
    """
    x, y, weights = (np.ascontiguousarray(array, dtype=np.float64) for array in (x, y, weights))
    if activation not in _ACTIVATIONS:
        raise InputError(
            f"no proof is possible for the activation {activation}; those with one are sigmoid, unit-tanh, unit-erf"
        )
    if x.ndim != 2 or y.shape != (len(x),) or weights.ndim != 2 or weights.shape[1] != x.shape[1]:
        raise InputError(
            f"inputs {x.shape}, labels {y.shape} and weights {weights.shape} do not fit; give (n, d), (n,), (K, d)"
        )
    if not all(np.isfinite(array).all() for array in (x, y, weights)):
        raise InputError("the data hold NaN or infinite entries; nothing can be proved about them")
    with precision(_BITS):
        phi = _ACTIVATIONS[activation]()
        sums = _Sums.of(x, y, weights, phi)
        if not all(np.isfinite(m.entries).all() for m in (sums.hessian, sums.second, sums.weighted)):
            reason = "the numbers are too large to be enclosed; rescale the data, or move the weights"
            return ConvexBall(float("-inf"), float("inf"), 0.0, float("inf"), None, reason)
        return _ball(x, sums, phi, len(weights))


def _ball(x: Array, sums: _Sums, phi: _Activation, neurons: int) -> ConvexBall:
    n, K = arb(len(x)), arb(neurons)
    gradient = sums.gradient / (n * K)
    curvature = _least(sums.hessian)
    second, weighted, fourth = _greatest(sums.second), _greatest(sums.weighted), _fourth_moment(x)
    if curvature is None or second is None or weighted is None or fourth is None:
        return ConvexBall(0.0, float("inf"), 0.0, up(gradient), None, "an eigenvalue could not be enclosed in doubles")
    curvature = curvature / (n * K * K)
    second, weighted = second / n, weighted / n
    c1, c2, c3 = phi.bounds
    constant = 3 * c1 * c2 / K**1.5 * (second * fourth).sqrt() + c3 / K * (weighted * fourth).sqrt()
    growth = c1 * c3 / K**1.5 * fourth
    constant, growth = arb(up(constant)), arb(up(growth))
    if not curvature > 0:
        reason = f"the smallest eigenvalue at the centre is only known to be at least {down(curvature):.3g}"
        return ConvexBall(down(curvature), up(constant), 0.0, up(gradient), None, reason)
    curvature = arb(down(curvature))
    # The root of  curvature = constant r + growth r^2 / 2, in the form without cancellation.
    radius = down(2 * curvature / (constant + (constant**2 + 2 * growth * curvature).sqrt()))
    within = up(2 * arb(up(gradient)) / curvature)
    inside = arb(within)
    # Going out to `inside`, the slope along the ray has gained this much: more than the gradient could take away.
    gained = curvature * inside - constant * inside**2 / 2 - growth * inside**3 / 6
    found = bool(inside < arb(radius)) and bool(gained > arb(up(gradient)) or up(gradient) == 0.0)
    return ConvexBall(down(curvature), up(constant), radius, up(gradient), within if found else None)


@dataclass(frozen=True)
class _Sums:
    """Sums over rows in doubles with error bounds: n K^2 times the Hessian, sums of xx' and e^2 xx', |n K gradient|."""

    hessian: DoubleMatrix
    second: DoubleMatrix
    weighted: DoubleMatrix
    gradient: arb

    @classmethod
    def of(cls, x: Array, y: Array, weights: Array, phi: _Activation) -> _Sums:
        """Evaluate the activation in balls, round the factors of xx' to doubles, and sum in doubles."""
        n, (K, d) = len(x), weights.shape
        pairs = [(j, m) for j in range(K) for m in range(j, K)]
        factors, pulls, squares = np.empty((len(pairs), n)), np.empty((K, n)), np.empty(n)
        off = [arb(0), arb(0), arb(0)]  # the largest rounding errors of the three kinds of factors

        def put(kind: int, place: Array, index: int, ball: arb) -> None:
            place[index] = float(ball)
            off[kind] = off[kind].max((ball - arb(float(place[index]))).abs_upper())

        transposed = arb_mat(d, K, [float(w) for w in weights.T.ravel()])
        for start in range(0, n, _BLOCK):
            rows = x[start : start + _BLOCK]
            inputs = arb_mat(len(rows), d, rows.ravel().tolist()) * transposed
            for r in range(len(rows)):
                towers = [phi.tower(inputs[r, k]) for k in range(K)]
                error = sum((tower[0] for tower in towers), arb(0)) / K - arb(float(y[start + r]))
                put(2, squares, start + r, error * error)
                for k in range(K):
                    put(1, pulls[k], start + r, error * towers[k][1])
                for index, (j, m) in enumerate(pairs):
                    factor = towers[j][1] * towers[m][1]
                    if j == m:
                        factor += K * error * towers[j][2]
                    put(0, factors[index], start + r, factor)
        lengths = sum_of_squares(x)
        blocks = np.empty((K, d, K, d))
        for index, (j, m) in enumerate(pairs):
            block = (x * factors[index][:, None]).T @ x
            blocks[j, :, m, :], blocks[m, :, j, :] = block, block.T
        hessian = blocks.reshape(K * d, K * d)
        hessian_error = K * lengths * (off[0] + _gamma(n + 4) * arb(float(np.abs(factors).max())))
        weighted = (x * squares[:, None]).T @ x
        weighted_error = lengths * (off[2] + _gamma(n + 4) * arb(float(squares.max())))
        second = x.T @ x
        pull = pulls @ x
        # Each row of x enters with a factor of at most `largest`, so the sum of absolute values is at most that times
        # the sum of |x_i|, which Cauchy-Schwarz bounds by sqrt(n sum |x_i|^2).
        reach = (arb(n) * lengths).sqrt() * arb(K).sqrt()
        slack = reach * (off[1] + _gamma(n + 4) * arb(float(np.abs(pulls).max())))
        return cls(
            _symmetric(hessian, hessian_error),
            _symmetric(second, lengths * _gamma(n + 4)),
            _symmetric(weighted, weighted_error),
            (sum_of_squares(pull).sqrt() + slack).upper(),
        )


def _gamma(count: int) -> arb:
    r"""Return a bound of Higham's :math:`\gamma_m = mu/(1 - mu)`, u = 2^-53, with a little room for underflow."""
    unit = arb(count) * arb(_UNIT)
    return unit / (1 - unit) + arb(2) ** -300


def _symmetric(matrix: Array, error: arb) -> DoubleMatrix:
    """Return the symmetrised matrix; the exact one is symmetric, so only the one rounding of the mean is added."""
    mean = (matrix + matrix.T) * 0.5
    return DoubleMatrix(mean, (error + sum_of_squares(mean).sqrt() * arb(2) ** -52).upper())


def _least(matrix: DoubleMatrix) -> arb | None:
    """Return a proved lower bound of the smallest eigenvalue."""
    found = prove_least(matrix, guess_least(matrix.entries))
    return None if found is None else arb(found.lower)


def _greatest(matrix: DoubleMatrix) -> arb | None:
    """Return a proved upper bound of the largest eigenvalue."""
    bound = _least(DoubleMatrix(-matrix.entries, matrix.error))
    return None if bound is None else -bound


def _fourth_moment(x: Array) -> arb | None:
    r"""Return a proved upper bound of :math:`s_4 = \max_{|p|=1} \frac1n\sum_i (p\cdot x_i)^4`.

    With :math:`A_i = x_ix_i^T` as a vector of its d(d+1)/2 entries (those off the diagonal times sqrt 2) and U the vector
    of the identity, :math:`(p\cdot x)^2 = \langle A_i, pp^T\rangle` and :math:`\langle U, pp^T\rangle = 1`. So for every c

    .. math:: s_4 \le c + \lambda_{\max}\Big(\frac1n\sum_i A_iA_i^T - c\, UU^T\Big).

    For normal inputs c = 1 gives the right value 3 as n grows, where c = 0 gives d + 2.
    """
    n, d = x.shape
    upper = np.triu_indices(d)
    off_diagonal = np.where(upper[0] == upper[1], 1.0, np.sqrt(2.0))
    total = np.zeros((len(off_diagonal),) * 2)
    size = 0.0
    for start in range(0, n, _BLOCK):
        rows = x[start : start + _BLOCK]
        products = rows[:, upper[0]] * rows[:, upper[1]] * off_diagonal
        total += products.T @ products
        size += float(np.sum(products * products))
    # Two products and the rounded root make an entry wrong by 3 units at most; n + 1 sums and products follow. The sum
    # of |A_i|^2, all of it positive, was itself formed in doubles.
    error = _gamma(n + 16) * arb(size) * (1 + 2 * _gamma(n * d * d + 16))
    identity = (upper[0] == upper[1]).astype(np.float64)
    typical = float(np.mean(x * x)) ** 2
    best: arb | None = None
    for c in (0.0, 0.5 * typical, typical, 1.5 * typical):
        shift = float(c * n)
        matrix = total - shift * np.outer(identity, identity)
        rounding = (sum_of_squares(matrix).sqrt() + arb(shift) * d) * arb(2) ** -51
        greatest = _greatest(_symmetric(matrix, error + rounding))
        if greatest is not None:
            bound = (greatest + arb(shift)) / n
            best = bound if best is None or bound < best else best
    return None if best is None else best.upper()
