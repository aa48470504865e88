r"""Sums over the rows of a data set, and eigenvalues of their matrices: IEEE doubles with written error bounds.

Of NumPy only + - * of doubles counts here, in matrix products and sums of any order, with or without fused
multiplication; factorisations and eigenvalues are guesses. u = 2^-53, norms are Frobenius, A' is the transpose of A, and

    fl(a op b) = (a op b)(1 + e) + h,   |e| <= u,   |h| <= 2^-1022   (h = 0 for sums),

which allows for gradual underflow and for flushing to 0. Whoever calls sees to it that nothing overflows; if something
does, a bound is infinite or not a number, and no comparison with it is True. gamma(m) = m u/(1 - m u).

LEMMA 1 (Higham, Accuracy and Stability of Numerical Algorithms, sections 3.1 and 3.5). fl(A' B), with m rows in A and B,
differs from A' B by at most gamma(m) |A||B| + m 2^-1020 sqrt(number of entries). Hence a sum s of N squares in doubles
satisfies: the true sum is at most (s + N 2^-1020)/(1 - gamma(N)).

LEMMA 2 (rows with a slip). Let |A - A0| <= a and |B - B0| <= b. Then |A' B - A0' B0| <= a |B| + b |A| + a b.

LEMMA 3 (scaled rows). Let |p_i - P_i| <= delta, |p_i| <= m. The rows fl(p_i x_i), i = 1..n, x_i in R^d, differ from the
rows P_i x_i by at most (delta + u m)|x| + sqrt(n d) 2^-1022, where |x|^2 = sum_i |x_i|^2.

LEMMA 4 (smallest eigenvalue). Let A be symmetric doubles, C any matrix of doubles, s a double; S = fl(A - s I),
D = fl(S - fl(C C')), N rows. Then lambda_min(A) >= s - |A - s I - C C'|, for C C' >= 0, and that norm is at most
(1 + 2u)|D| + gamma(N)|C|^2 + 2u |S| + N^2 2^-1020. A symmetric matrix within e of A has eigenvalues within e of A's.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from flint import arb

from .reading import Rejected

UNIT = arb(2) ** -53
TINY = arb(2) ** -1020


class Near(NamedTuple):
    """Symmetric doubles, and a bound of their distance from the symmetric matrix that they stand for."""

    entries: np.ndarray
    error: arb


def gamma(count: int) -> arb:
    """Enclose m u/(1 - m u)."""
    return count * UNIT / (1 - count * UNIT)


def size(numbers: np.ndarray) -> arb:
    """Bound the Frobenius norm of doubles from above (lemma 1)."""
    flat = numbers.ravel()
    return ((arb(float(flat @ flat)) + flat.size * TINY) / (1 - gamma(flat.size))).sqrt().upper()


def slip(x: np.ndarray, factors: np.ndarray, off: arb) -> arb:
    """Bound how far the rows x_i, times factors that are each off by at most `off`, are from what they stand for (lemma 3)."""
    return ((off + UNIT * arb(float(np.abs(factors).max()))) * size(x) + x.size * TINY).upper()


def weighted(x: np.ndarray, factors: np.ndarray, off: arb) -> Near:
    """Return the sum of F_i x_i x_i', for factors that are each off by at most `off` (lemmas 1, 2, 3)."""
    rows = x * factors[:, None]
    total, length = rows.T @ x, size(x)
    return _symmetric(total, (gamma(len(x)) * size(rows) + slip(x, factors, off)) * length + total.size * len(x) * TINY)


def gram(blocks: Iterable[np.ndarray], off: arb, relative: arb) -> Near:
    """Return A' A for rows A that come in blocks, and are off by at most off + relative |A| in all (lemmas 1, 2)."""
    total, count = np.zeros(()), 0
    for rows in blocks:
        total, count = total + rows.T @ rows, count + len(rows)
    terms = count * len(total)  # the trace is a sum of so many squares
    length = ((arb(float(np.trace(total))) + terms * TINY) / (1 - gamma(terms))).sqrt()
    off = off + relative * length
    return _symmetric(total, (gamma(count) * length + 2 * off) * length + off**2 + total.size * count * TINY)


def _symmetric(total: np.ndarray, error: arb) -> Near:
    """Symmetrise: the mean is as near to the symmetric matrix meant, up to the rounding of the mean."""
    mean = (total + total.T) * 0.5
    return Near(mean, (error + 2 * UNIT * size(mean) + mean.size * TINY).upper())


def least(near: Near) -> arb:
    """Bound the smallest eigenvalue from below, with guesses of s and C (lemma 4)."""
    count = len(near.entries)
    try:
        guess = float(np.linalg.eigvalsh(near.entries)[0])
        room = float(np.abs(near.entries.diagonal()).sum()) + count * abs(guess)
        shift = guess - 4 * count * 2.0**-53 * room
        shifted = near.entries - shift * np.eye(count)
        factor = np.linalg.cholesky(shifted)
        rest = shifted - factor @ factor.T
    except np.linalg.LinAlgError:
        raise Rejected(
            "a matrix of sums has no Cholesky factor in doubles: nothing is proved of its eigenvalues"
        ) from None
    remainder = (1 + 2 * UNIT) * size(rest) + gamma(count) * size(factor) ** 2 + 2 * UNIT * size(shifted)
    return (arb(shift) - remainder - count**2 * TINY - near.error).lower()


def greatest(near: Near) -> arb:
    """Bound the largest eigenvalue from above."""
    return (-least(Near(-near.entries, near.error))).upper()
