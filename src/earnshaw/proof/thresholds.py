r"""Where a family turns from saddle to minimum: the real k at which a block of its Hessian becomes singular, enclosed.

The formulas of ``proof/trusted/blocks.py`` take the sizes of the groups as numbers, and gradient and blocks are analytic in
them. So a family of critical points is a curve x(k) over real k, although networks have integer sizes only.

THEOREM. Let :math:`k_- < k_+` and a box X of radius r about numbers :math:`x_0`, with A any matrix and, for all k in
:math:`[k_-, k_+]`, :math:`|A g(x_0, k)|_i + r \sum_j |I - A\, Dg(X, k)|_{ij} < r` for each i, g the reduced gradient. Then there is exactly
one zero x(k) of g in X for each such k, and it is continuous in k (Krawczyk; a contraction with a uniform constant). Let the same hold at
:math:`k_-` and at :math:`k_+` for boxes within X, and let a block have a negative direction over the first and all blocks be positive
definite over the second. Then that block's smallest eigenvalue at x(k) vanishes at some k between :math:`k_-` and :math:`k_+`.

It is proved in balls, with the blocks of the checker. There is no certificate: it is computed anew in a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor
from typing import Any

import numpy as np
from flint import arb, arb_mat

from earnshaw.errors import InputError
from earnshaw.problems.named import NamedFamily, Rows, named_family
from earnshaw.proof.blocks import corrected, counts
from earnshaw.proof.trusted import Rejected
from earnshaw.proof.trusted.balls import floats, least_eigenvalue
from earnshaw.proof.trusted.balls import precision as working_precision
from earnshaw.proof.trusted.blocks import Symmetric
from earnshaw.proof.trusted.parts import parts
from earnshaw.threads import one_blas_thread

BITS = 160
GRID = 2.0**34  # k is enclosed between multiples of its inverse, three apart
WIDE, NARROW = 2.0**-26, 2.0**-90  # radii of the boxes over all k, and at the two ends
NOISE = 1e-15  # of an eigenvalue in doubles
Sizes = tuple[Any, ...]


@dataclass(frozen=True)
class Turn:
    """A family is a saddle for real k just below ``k_ge`` and a minimum just above ``k_le``, and turns in between.

    Attributes
    ----------
    family : its name.
    block : the part of the weights whose smallest eigenvalue changes sign.
    first : the least integer from which it is a minimum on, up to the size where the search began.
    k_ge, k_le : the enclosure, both exact doubles.
    """

    family: str
    block: str
    first: int
    k_ge: float
    k_le: float


def turn(family: str) -> Turn:
    """Enclose the real k at which a named family turns from saddle to minimum, to ten digits.

    The search goes down from a size where the family is known, one by one.
    """
    known = named_family(family)
    with one_blas_thread(), working_precision(BITS):
        first, below, above, block = _bracket(known)
        try:
            k = _crossing(known, first, below, above, block)
            ends = [(floor(k * GRID) + step) / GRID for step in (-1, 2)]
            _prove(known, ends, below, above, first, block)
        except Rejected as rejected:
            raise InputError(f"the turn of family {family} is not proved: {rejected}") from None
    return Turn(known.name, block, first, *ends)


def _sizes(known: NamedFamily, k: Any) -> Sizes:
    """Return the sizes of the groups at a real k, or a ball of them."""
    rest = known.sizes(known.least)[1:]
    return (k - sum(rest), *rest)


def _bracket(known: NamedFamily) -> tuple[int, list[arb], list[arb], str]:
    """Return the least k of a run of minima, the points at the k before and at it, and the block that fails before."""
    k = int(known.base[0]) + sum(known.sizes(known.least)[1:])
    numbers = known.follow(k, corrected)
    block, least = _worst(known, k, numbers)
    if least <= 0:
        raise InputError(f"family {known.name} is no minimum at k = {k}, where the search for its turn begins")
    while k > known.least:
        try:
            before = known.follow(k - 1, corrected, (k, numbers))
        except InputError:
            raise InputError(
                f"family {known.name} ends between k = {k - 1} and {k} as a minimum: it does not turn there"
            ) from None
        block, least = _worst(known, k - 1, before)
        if least < 0:
            return k, before, numbers, block
        k, numbers = k - 1, before
    raise InputError(f"family {known.name} is a minimum down to k = {k}, the least k for which it is known")


def _blocks(sizes: Sizes, rows: Rows, numbers: Sequence[arb], plain: Sizes) -> dict[str, arb_mat]:
    """Return all blocks, also in extra dimensions; `plain` are the sizes, or numbers near them, as doubles."""
    site = Symmetric(list(sizes), list(rows), list(numbers))
    found = {part.name: site.block(part) for part in parts(plain, rows) if part.vectors}
    return found | {f"extra dimensions {i}": block for i, block in enumerate(site.extensions())}


def _worst(known: NamedFamily, k: float, numbers: Sequence[arb]) -> tuple[str, float]:
    sizes = _sizes(known, k)
    least = {name: _least(block) for name, block in _blocks(sizes, known.rows, numbers, sizes).items()}
    name = min(least, key=lambda entry: least[entry])
    return name, least[name]


def _least(block: arb_mat) -> float:
    return float(np.linalg.eigvalsh(floats(block))[0])


def _point(known: NamedFamily, k: float, first: int, below: Sequence[arb], above: Sequence[arb]) -> list[arb]:
    """Return the critical point at a real k between first - 1 and first, by Newton's method from between the two points."""
    share = arb(k) - (first - 1)
    guess = [x + share * (y - x) for x, y in zip(below, above, strict=True)]
    return corrected(_sizes(known, k), known.rows, guess)


def _crossing(known: NamedFamily, first: int, below: Sequence[arb], above: Sequence[arb], block: str) -> float:
    """Return about where the smallest eigenvalue of a block is 0, by the rule of false position (Illinois)."""

    def at(k: float) -> float:
        sizes = _sizes(known, k)
        return _least(_blocks(sizes, known.rows, _point(known, k, first, below, above), sizes)[block])

    (low, under), (high, over) = ((k, at(k)) for k in (first - 1.0, float(first)))
    middle, side = low, 0
    while high - low > 1 / GRID:
        middle = (low * over - high * under) / (over - under)
        value = at(middle)
        if abs(value) < NOISE:
            break
        if value > 0:
            high, over, under, side = middle, value, under / (2 if side > 0 else 1), 1
        else:
            low, under, over, side = middle, value, over / (2 if side < 0 else 1), -1
    return middle


def _prove(
    known: NamedFamily, ends: Sequence[float], below: Sequence[arb], above: Sequence[arb], first: int, block: str
) -> None:
    """Check the hypotheses of the theorem, or raise Rejected."""
    points = [_point(known, k, first, below, above) for k in ends]
    middle = [(x + y) / 2 for x, y in zip(*points, strict=True)]
    _unique(known, arb(ends[0]).union(arb(ends[1])), middle, WIDE, ends[0])
    for point in points:
        if not all(abs(x - y) + NARROW < WIDE for x, y in zip(point, middle, strict=True)):
            raise Rejected("the points at the ends are too far apart")
    (before, after) = (_unique(known, arb(k), point, NARROW, k) for k, point in zip(ends, points, strict=True))
    direction = np.linalg.eigh(floats(before[block]))[1][:, 0]
    v = arb_mat(len(direction), 1, [arb(x) for x in direction.tolist()])
    if not (v.transpose() * before[block] * v)[0, 0] < 0:
        raise Rejected(f"the part {block} has no proved negative direction at k = {ends[0]}")
    for name, matrix in after.items():
        if not least_eigenvalue(matrix, _least(matrix) / 2) > 0:
            raise Rejected(f"the part {name} is not positive definite at k = {ends[1]}")


def _unique(known: NamedFamily, k: arb, center: Sequence[arb], radius: float, near: float) -> dict[str, arb_mat]:
    """Check that a box about a center holds exactly one zero for each k in a ball; return the blocks over the box."""
    sizes, plain = _sizes(known, k), _sizes(known, near)
    box = [x + arb(0, radius) for x in center]
    blocks = _blocks(sizes, known.rows, box, plain)
    roots = [count.sqrt() for count in counts(sizes, known.rows)]
    size = len(roots)
    trivial = blocks["trivial"]
    slopes = arb_mat(size, size, [trivial[i, j] * roots[j] for i in range(size) for j in range(size)])
    inverse = slopes.mid().inv().mid()
    gradient = Symmetric(list(sizes), list(known.rows), list(center)).gradient()
    step, defect = inverse * gradient, inverse * slopes
    for i in range(size):
        spread = sum((abs(defect[i, j] - (i == j)) for j in range(size)), arb(0))
        if not abs(step[i, 0]) + spread * arb(radius) < arb(radius):
            raise Rejected(f"no unique critical point is proved near k = {near}")
    return blocks
