"""Balls, as every theorem's check uses them: precision, comparisons that must hold, norms, eigenvalues, printing.

A ball (``arb``) holds the exact number; a comparison of balls is True only when it holds for all their points. Floats
serve as guesses: a bad one makes a bound useless, never wrong.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal

import numpy as np
from flint import arb, arb_mat, ctx

from .reading import Rejected


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Run a block at `bits` bits. Flint's precision is global to the process: enter it here and nowhere else."""
    before = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before


def require(condition: object, reason: str) -> None:
    """Go on only when `condition` is True. A comparison of balls is True only when it holds for all their points."""
    if condition is not True:
        raise Rejected(reason)


def root(square: arb) -> arb:
    """Enclose the square root of a number known to be >= 0, whose ball may reach below 0."""
    if square > 0:
        return square.sqrt()
    return arb(0).union(square.abs_upper().sqrt())


def norm(entries: Iterable[arb]) -> arb:
    """Enclose the Euclidean (Frobenius) norm."""
    return root(sum((entry * entry for entry in entries), arb(0)))


def exact(rows: Sequence[Sequence[float]]) -> arb_mat:
    """Return the matrix of doubles `rows`; doubles enter balls exactly."""
    return arb_mat(len(rows), len(rows[0]), [arb(entry) for row in rows for entry in row])


def floats(matrix: arb_mat) -> np.ndarray:
    """Return the midpoints as doubles: a guess, never a bound."""
    return np.array([float(entry) for entry in matrix.entries()]).reshape(matrix.nrows(), matrix.ncols())


def least_eigenvalue(matrix: arb_mat, shift: float) -> arb:
    """Bound the smallest eigenvalue of a symmetric matrix from below, given a guess `shift` just below it.

    C is any real matrix; a float Cholesky factor of matrix - shift I makes the remainder small. From
    matrix = shift I + C C' + E and C C' >= 0 follows lambda_min >= shift - |E|_F.
    """
    size = matrix.nrows()
    try:
        with np.errstate(all="ignore"):
            factor = np.linalg.cholesky(floats(matrix) - shift * np.eye(size))
    except np.linalg.LinAlgError:
        raise Rejected(f"the matrix minus {shift:.6g} I has no Cholesky factor: lambda_min is not proved") from None
    zero = arb(0)
    c = arb_mat(size, size, [arb(x) if x else zero for x in factor.ravel().tolist()])
    remainder = matrix - c * c.transpose()
    for a in range(size):
        remainder[a, a] -= shift
    return (arb(shift) - norm(remainder.entries())).lower()


def greatest_eigenvalue(matrix: arb_mat) -> arb:
    """Bound the largest |eigenvalue| from above: for every positive x it is at most max_i (|matrix| x)_i / x_i.

    (This is the maximum norm of D^-1 matrix D with D = diag(x).) x is guessed by power iteration in floats.
    """
    size = matrix.nrows()
    guess = np.abs(floats(matrix))
    x = np.ones(size)
    with np.errstate(all="ignore"):
        for _ in range(50):
            y = guess @ x
            x = y / np.max(y)
    weights = [arb(abs(entry) + 1e-3) for entry in x.tolist()]  # positive whatever the guess was
    sizes = arb_mat(size, size, [entry.abs_upper() for entry in matrix.entries()])
    product = sizes * arb_mat(size, 1, weights)
    bound = arb(0)
    for a in range(size):
        bound = bound.max((product[a, 0] / weights[a]).upper())
    return bound.upper()


def shown(number: float, up: bool) -> str:
    """Print a double with six digits, rounded to the safe side; in decimals, for a double near them may lie beyond."""
    context = Context(prec=6, rounding=ROUND_CEILING if up else ROUND_FLOOR, Emin=MIN_EMIN, Emax=MAX_EMAX)
    decimal = context.create_decimal(Decimal(number))
    return f"{decimal.normalize(context):{'f' if -5 < decimal.adjusted() < 6 else 'e'}}"
