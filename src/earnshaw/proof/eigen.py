r"""Smallest eigenvalues in doubles: a guess by Lanczos, a proof by Cholesky.

**Claim** (Rump, Verification of positive definiteness, BIT 46 (2006) 433-452; the argument is Demmel's). If Cholesky in
doubles of a symmetric matrix of doubles A (N x N) runs to its end, in any order of summation, then

.. math:: \lambda_{\min}(A) \ge -\psi, \qquad \psi = \frac{\gamma}{1 - \gamma} \operatorname{tr} A + N^2 2^{-1000},
          \qquad \gamma = \frac{(N + 1) u}{1 - (N + 1) u}, \quad u = 2^{-53}.

*Why.* The computed factor satisfies :math:`R^T R = A + D` with :math:`|D| \le \gamma |R^T||R|` (Higham, Theorem 10.3).
Its columns obey :math:`|r_i|^2 = a_{ii} + d_{ii} \le a_{ii} + \gamma |r_i|^2`, so
:math:`|d_{ij}| \le \gamma |r_i||r_j| \le \frac{\gamma}{1-\gamma} \sqrt{a_{ii} a_{jj}}`, and the norm of this rank-one
bound, spectral and Frobenius, is :math:`\frac{\gamma}{1-\gamma}\operatorname{tr} A`. The last term covers underflow.

The checker does not use this: it bounds the remainder of the factor in balls. The bound on the Frobenius norm of D also
tells in advance how large that remainder can be, so a claim made here is one the checker can confirm.
"""

from dataclasses import dataclass

import numpy as np
from flint import arb
from scipy.linalg import LinAlgError, cho_factor, cho_solve, cholesky, eigh
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from earnshaw.proof.balls import down
from earnshaw.proof.doubles import DoubleMatrix

DENSE = 400  # up to this size a full symmetric eigensolver is faster than Lanczos on the inverse


@dataclass(frozen=True)
class EigenBound:
    """`lower` <= lambda_min, proved; `shift` is what the checker's Cholesky is told to try."""

    lower: float
    shift: float


def cholesky_slack(diagonal: np.ndarray) -> arb:
    """Return psi of the claim above for a matrix with this diagonal, entries taken in absolute value."""
    size = diagonal.size
    trace = arb(float(np.sum(np.abs(diagonal)))) * (1 + arb(size) * arb(2) ** -50)
    gamma = arb(size + 1) * arb(2) ** -53 / (1 - arb(size + 1) * arb(2) ** -53)
    return (gamma / (1 - gamma) * trace + arb(size) ** 2 * arb(2) ** -1000).upper()


class _Inverse(LinearOperator):
    """The inverse of a factored matrix, as Lanczos wants it."""

    def __init__(self, factor: tuple[np.ndarray, bool], size: int) -> None:
        self._factor = factor
        super().__init__(np.dtype(np.float64), (size, size))

    def _matvec(self, x: np.ndarray) -> np.ndarray:
        return cho_solve(self._factor, x, check_finite=False)


def guess_least(matrix: np.ndarray) -> float:
    """Guess the smallest eigenvalue: densely when small, by Lanczos on the inverse when large."""
    size = matrix.shape[0]
    if size > DENSE:
        try:
            factor = cho_factor(matrix, lower=True, check_finite=False)
            inverse = _Inverse(factor, size)
            start = np.random.default_rng(0).standard_normal(size)
            top = eigsh(inverse, k=1, which="LA", v0=start, return_eigenvectors=False)[0]
            return float(1.0 / top)
        except (LinAlgError, ArpackError):
            pass  # not positive definite, or Lanczos stalled: look at the whole spectrum
    return float(eigh(matrix, eigvals_only=True, subset_by_index=(0, 0), check_finite=False)[0])


def prove_least(matrix: DoubleMatrix, guess: float) -> EigenBound | None:
    """Prove a lower bound of the smallest eigenvalue of the exact matrix, close below `guess`; None if that fails."""
    entries = matrix.entries
    diagonal = np.diagonal(entries)
    size = arb(entries.shape[0])
    psi = cholesky_slack(np.abs(diagonal) + abs(guess))
    for widen in (1, 16, 256):
        shift = guess - widen * float(8 * psi + 4 * matrix.error)
        shifted = entries.copy()
        shifted[np.diag_indices_from(shifted)] = diagonal - shift
        try:
            cholesky(shifted, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            continue
        # psi for the proof, once more for the checker's own factor, and the rounding of the shifted diagonal.
        largest = arb(float(np.max(np.abs(diagonal)) + abs(shift)))
        norm = arb(float(np.sqrt(np.sum(entries * entries)))) * arb(1.001)
        lower = arb(shift) - 2 * psi - matrix.error - (largest * size.sqrt() + norm) * arb(2) ** -51
        return EigenBound(down(lower), shift)
    return None
