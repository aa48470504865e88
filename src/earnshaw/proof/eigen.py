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

from functools import partial
from typing import NamedTuple

import numpy as np
from flint import arb

from earnshaw.proof.doubles import down
from earnshaw.proof.trusted.sums import Near

DENSE = 400  # up to this size a full symmetric eigensolver is faster than Lanczos on the inverse


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
