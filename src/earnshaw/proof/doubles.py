r"""From balls to doubles: numbers on the safe side, and the Hessian and its smallest eigenvalue with proved bounds.

**Hessian.** It has :math:`(nd)^2` entries but only :math:`O((n+k)^2 + (n+k) n d)` numbers behind it. Those come from the
ball calculus. The diagonal blocks are rounded from balls. A mixed block is

.. math:: q I + \kappa (\hat w_i \hat w_j^T + \hat w_j \hat w_i^T) - \gamma (\hat w_i \hat w_i^T + \hat w_j \hat w_j^T),
          \qquad \kappa = \frac{1}{2 \pi \sin t}, \quad \gamma = \kappa \cos t,

with unit vectors, and is evaluated in doubles. Error of one block: the double nearest to a ball midpoint has relative
error at most :math:`2^{-53}`, and the balls' own radii are far below it (checked), so each of the three factors of a
term is off by at most :math:`2^{-52}` in norm; a term costs two products and a block four sums, each a relative
:math:`2^{-53}` of a partial sum that the magnitudes bound. Together that is below :math:`9 \cdot 2^{-52}`, and
:math:`2^{-48} (q \sqrt d + 2 \kappa + 2 |\gamma|)` in Frobenius norm is claimed. Pairs so close to parallel that
:math:`\kappa` exceeds ``STEEP`` are taken from the ball calculus instead.

**Smallest eigenvalue.** A guess by Lanczos, a proof by Cholesky: the claim (Rump, Verification of positive definiteness, BIT
46 (2006) 433-452; the argument is Demmel's) is that if Cholesky in doubles of a symmetric matrix of doubles A (N x N) runs
to its end, in any order of summation, then

.. math:: \lambda_{\min}(A) \ge -\psi, \qquad \psi = \frac{\gamma}{1 - \gamma} \operatorname{tr} A + N^2 2^{-1000},
          \qquad \gamma = \frac{(N + 1) u}{1 - (N + 1) u}, \quad u = 2^{-53}.

*Why.* The computed factor satisfies :math:`R^T R = A + D` with :math:`|D| \le \gamma |R^T||R|` (Higham, Theorem 10.3).
Its columns obey :math:`|r_i|^2 = a_{ii} + d_{ii} \le a_{ii} + \gamma |r_i|^2`, so
:math:`|d_{ij}| \le \gamma |r_i||r_j| \le \frac{\gamma}{1-\gamma} \sqrt{a_{ii} a_{jj}}`, and the norm of this rank-one
bound, spectral and Frobenius, is :math:`\frac{\gamma}{1-\gamma}\operatorname{tr} A`. The last term covers underflow.

The checker does not use this: it bounds the remainder of the factor in balls. The bound on the Frobenius norm of D also
tells in advance how large that remainder can be, so a claim made here is one the checker can confirm.
"""

from functools import partial
from math import inf, isfinite, nextafter
from typing import NamedTuple

import numpy as np
from flint import arb, arb_mat

from earnshaw.proof.trusted.balls import norm
from earnshaw.proof.trusted.relu import Point
from earnshaw.proof.trusted.sums import Near

STEEP = 64.0
DENSE = 400  # up to this size a full symmetric eigensolver is faster than Lanczos on the inverse
_UNIT = 2.0**-48
_SHARP = 2.0**-60


def down(ball: arb) -> float:
    """Return a double that is provably at most every point of `ball`; as large as is cheap to find."""
    guess = float(ball.lower())
    while isfinite(guess) and not arb(guess) <= ball:
        guess = nextafter(guess, -inf)
    return guess


def up(ball: arb) -> float:
    """Return a double that is provably at least every point of `ball`; as small as is cheap to find."""
    return -down(-ball)


def sum_of_squares(numbers: np.ndarray) -> arb:
    r"""Bound the sum of squares of doubles from above.

    Any order of summation of N squares in doubles has a relative error of at most
    :math:`N 2^{-53}/(1 - N 2^{-53})` (Higham, Accuracy and Stability, section 4.2); twice that is allowed for here, and
    :math:`N 2^{-1000}` for underflow.
    """
    slack = 1 + arb(numbers.size + 4) * arb(2) ** -51
    return (arb(float(numbers @ numbers)) * slack + numbers.size * arb(2) ** -1000).upper()


def rounded(matrix: arb_mat) -> Near:
    """Round a ball matrix to doubles; return them and a bound of the Frobenius distance to every matrix in the balls.

    A double next to the midpoint x is off by at most :math:`2^{-52}|x|` (half of that, in truth) plus the radius.
    """
    entries = matrix.entries()
    doubles = np.array([float(entry) for entry in entries])
    error = norm(entry.rad() for entry in entries) + sum_of_squares(doubles).sqrt() * arb(2) ** -51
    return Near(doubles.reshape(matrix.nrows(), matrix.ncols()), error.upper())


def double_hessian(point: Point) -> Near:
    """Return the Hessian of F at `point` (nd x nd, neuron by neuron)."""
    n, d = point.n, point.d
    slopes = point.extension()
    lengths = point.length[:n]
    unit_balls = [point.students[i, a] / lengths[i] for i in range(n) for a in range(d)]
    units = np.array([float(entry) for entry in unit_balls]).reshape(n, d)
    sharp_units = norm(entry.rad() for entry in unit_balls) < _SHARP
    share, kappa, gamma = np.zeros((3, n, n))
    steep: list[tuple[int, int]] = []
    for i in range(n):
        for j in range(i):
            size = lengths[i] * lengths[j]
            slope = size / (2 * arb.pi() * point.area[i][j])  # no number, so never below STEEP, for a parallel pair
            tilt = slope * point.dot[i][j] / size
            sharp = sharp_units and all(ball.rad() < _SHARP for ball in (slope, tilt, point.share[i][j]))
            if not (sharp and slope < STEEP):
                steep.append((i, j))
                continue
            share[i, j] = share[j, i] = float(point.share[i][j])
            kappa[i, j] = kappa[j, i] = float(slope)
            gamma[i, j] = gamma[j, i] = float(tilt)
    products = np.multiply.outer(units, units)  # [i, a, j, b] = w_i[a] w_j[b], unit vectors
    blocks = products + products.transpose(2, 1, 0, 3)
    blocks *= kappa[:, None, :, None]
    own = units[:, :, None] * units[:, None, :]
    pair = own[:, :, None, :] + own.transpose(1, 0, 2)[None, :, :, :]
    pair *= gamma[:, None, :, None]
    blocks -= pair
    diagonal = np.arange(d)
    blocks[:, diagonal, :, diagonal] += share[None, :, :]
    magnitude = np.sqrt(d) * share + 2 * kappa + 2 * np.abs(gamma)
    # The magnitudes are sums of non-negative doubles: one per mille covers every rounding in this line.
    error = arb(float(np.sqrt(np.sum(magnitude * magnitude)))) * arb(1.001) * arb(_UNIT)
    for i in range(n):
        blocks[i, :, i, :], off = rounded(point.diagonal_block(i, slopes[i, i]))
        error += off
    for i, j in steep:
        block, off = rounded(point.pair_block(i, j))
        blocks[i, :, j, :], blocks[j, :, i, :] = block, block
        error += 2 * off
    matrix = blocks.reshape(n * d, n * d)
    # Symmetrising moves the matrix no farther from the exact symmetric one; halving is exact, the sum rounds once.
    matrix = (matrix + matrix.T) * 0.5
    length = float(np.sqrt(np.sum(matrix * matrix)))
    return Near(matrix, (error + arb(length) * arb(2) ** -50).upper())


class EigenBound(NamedTuple):
    """`lower` <= lambda_min, proved; `shift` is what the checker's Cholesky is told to try."""

    lower: float
    shift: float


def cholesky_slack(diagonal: np.ndarray) -> arb:
    """Return psi of the claim above for a matrix with this diagonal, entries taken in absolute value."""
    size = diagonal.size
    trace = arb(float(np.sum(np.abs(diagonal)))) * (1 + arb(size) * arb(2) ** -50)
    gamma = arb(size + 1) * arb(2) ** -53 / (1 - arb(size + 1) * arb(2) ** -53)
    return (gamma / (1 - gamma) * trace + arb(size) ** 2 * arb(2) ** -1000).upper()


def guess_least(matrix: np.ndarray) -> float:
    """Guess the smallest eigenvalue: densely when small, by Lanczos on the inverse when large."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

    size = matrix.shape[0]
    if size > DENSE:
        try:
            factor = cho_factor(matrix, lower=True, check_finite=False)
            solve = partial(cho_solve, factor, check_finite=False)
            inverse = LinearOperator(matrix.shape, solve, dtype=np.float64)  # pyright: ignore[reportCallIssue]
            start = np.random.default_rng(0).standard_normal(size)
            return float(1.0 / eigsh(inverse, k=1, which="LA", v0=start, return_eigenvectors=False)[0])
        except (LinAlgError, ArpackError):
            pass  # not positive definite, or Lanczos stalled: look at the whole spectrum
    return float(eigh(matrix, eigvals_only=True, subset_by_index=(0, 0), check_finite=False)[0])


def prove_least(matrix: Near, guess: float) -> EigenBound | None:
    """Prove a lower bound of the smallest eigenvalue of the exact matrix, close below `guess`; None if that fails."""
    from scipy.linalg import LinAlgError, cholesky

    entries, error = matrix
    diagonal = np.diagonal(entries)
    psi = cholesky_slack(np.abs(diagonal) + abs(guess))
    for widen in (1, 16, 256):
        shift = guess - widen * float(8 * psi + 4 * error)
        shifted = entries.copy()
        shifted[np.diag_indices_from(shifted)] = diagonal - shift
        try:
            cholesky(shifted, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            continue
        # psi for the proof, once more for the checker's own factor, and the rounding of the shifted diagonal.
        largest = arb(float(np.max(np.abs(diagonal)) + abs(shift)))
        norm = arb(float(np.sqrt(np.sum(entries * entries)))) * arb(1.001)
        slip = (largest * arb(len(entries)).sqrt() + norm) * arb(2) ** -51
        return EigenBound(down(arb(shift) - 2 * psi - error - slip), shift)
    return None
