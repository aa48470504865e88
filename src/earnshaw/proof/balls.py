"""Balls at the border: from doubles into balls exactly, and from balls out to doubles on the safe side."""

from math import inf, isfinite, nextafter

import numpy as np
from flint import arb, arb_mat

from earnshaw.proof.trusted.balls import norm


def down(ball: arb) -> float:
    """Return a double that is provably at most every point of `ball`; as large as is cheap to find."""
    guess = float(ball.lower())
    while isfinite(guess) and not arb(guess) <= ball:
        guess = nextafter(guess, -inf)
    return guess


def up(ball: arb) -> float:
    """Return a double that is provably at least every point of `ball`; as small as is cheap to find."""
    return -down(-ball)


def rounded(matrix: arb_mat) -> tuple[np.ndarray, arb]:
    """Round a ball matrix to doubles; return them and a bound of the Frobenius distance to every matrix in the balls.

    A double next to the midpoint x is off by at most :math:`2^{-52}|x|` (half of that, in truth) plus the radius.
    """
    entries = matrix.entries()
    doubles = np.array([float(entry) for entry in entries])
    radius = norm(entry.rad() for entry in entries)
    error = radius + sum_of_squares(doubles).sqrt() * arb(2) ** -51
    return doubles.reshape(matrix.nrows(), matrix.ncols()), error.upper()


def sum_of_squares(numbers: np.ndarray) -> arb:
    r"""Bound the sum of squares of doubles from above.

    Any order of summation of N squares in doubles has a relative error of at most
    :math:`N 2^{-53}/(1 - N 2^{-53})` (Higham, Accuracy and Stability, section 4.2); twice that is allowed for here, and
    :math:`N 2^{-1000}` for underflow.
    """
    flat = np.asarray(numbers, dtype=np.float64).ravel()
    slack = 1 + arb(flat.size + 4) * arb(2) ** -51
    return (arb(float(flat @ flat)) * slack + flat.size * arb(2) ** -1000).upper()
