r"""One theorem for every k: a family of spurious minima, from its first k to infinity, in every dimension.

The teacher is the k coordinate vectors of R^k, and the families are A of scaled.py, n = k, whose points are fixed by S_k, and II,
n = k, and B, n = k + 1, of singles.py, whose points are fixed by S_{k-1}. A certificate of kind `every_k` holds
  center   the numbers of one point for each k from `first` to k0 - 1, each the exact sum of two doubles;
  curve    a polynomial x(h) for each unknown of these files, `tube` its half-width, `ends` 0 = h_0 < h_1 < ... < h_P.

THEOREM (every k). Let
  (a) first >= `least` of the family, so that the parts of the weights are those listed, and h_P^2 k0 >= 1;
  (b) for each k from first to k0 - 1 with the point W0 of `center`, eps = |grad F(W0)|, l the least eigenvalue of all blocks and
      of M, r = 4 eps/l: r < min |w_i|, eps - l r + L r^2/2 < 0 and mu = l - L r >= lambda_head_ge, L as in relu_claims.py;
      numbers within r of those of W0 have the family's signs (`signs` in scaled.py and singles.py);
      value_ge <= k^s (F(W0) - eps^2/(2 mu)) and k^s F(W0) <= value_le, with s = 1 for II and B and 0 for A;
and on each piece [h_{j-1}, h_j] of h, for all x in the box X(h) of the points within `tube` of x(h) in each unknown,
  (c) the signs of scaled.py and singles.py hold, the family's and those of some cosines;
  (d) for a matrix Y of doubles: |Y G(x(h))|_i + tube sum_j |I - Y DG(X)|_ij < tube for each unknown i (Krawczyk);
  (e) H - lambda_tail_ge |.|^2 is positive definite on each part, and in extra dimensions;
  (f) value_ge <= k^s F <= value_le;
and (g) lambda_head_ge, lambda_tail_ge and value_ge are positive. Then for every integer k >= first and every dimension D >= k, F
has a strict local minimum that the group fixes, of the family's signs, with all eigenvalues of the Hessian at least
lambda_head_ge if k < k0 and at least lambda_tail_ge if k >= k0, and value_ge <= k^s F <= value_le there: it is spurious.
  Proof. Below k0 this is the theorem (minimum) of relu_claims.py with the blocks of blocks.py; the minimum is alone within r of W0, so
that the group, which fixes W0, fixes it, and its numbers are within r of those of W0. Let k >= k0. Then
h = k^(-1/2) is in (0, h_P] by (a), and so in a piece. x - Y G(x) = x(h) - Y G(x(h)) + (I - Y D)(x - x(h)) with D in the hull of
DG(X), so by (d) it maps the box into itself, and by Brouwer it has a fixed point: Y G(x) = 0. (d) makes I - Y D a
contraction in the maximum norm, so Y is invertible, and G(x) = 0. By (c) G is the gradient at the point of x, up to positive
factors; so the gradient vanishes. By (e) and the decomposition (parts.py) the Hessian is at least
lambda_tail_ge in R^k and in each extra dimension. min F = 0 because n >= k, and F > 0 by (f). QED
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import pairwise

import numpy as np
from flint import arb, arb_mat, arb_poly

from .balls import floats, least_eigenvalue, norm, precision, require, shown
from .blocks import Symmetric
from .blocks_claims import TARGET, pairs
from .models import Model, Scope, Slope
from .reading import OBJECTIVE, Numbers, Rejected, afford, exact_keys, hex_float, integer, sections
from .reading import load as load_document
from .scaled import FamilyA, Form
from .singles import FamilyB, FamilyII

KIND = "every_k"
FAMILIES = {"II": FamilyII, "A": FamilyA, "B": FamilyB}
SHAPE = {"claims": ("lambda_head_ge", "lambda_tail_ge", "value_ge", "value_le"), "hint": ("precision",)}
MAX_K, MAX_ORDER, MAX_PIECES = 1000, 64, 4096
MAX_TAIL = 1 << 21  # of pieces times order times precision: what a check may cost by default, and
MAX_HEAD = 1 << 16  # of points below k0 times precision


@dataclass(frozen=True)
class Document(Numbers):
    """A certificate for every k; its shape is right, and nothing about its truth is known yet."""

    family: str
    first: int
    start: int  # k0
    center: list[list[tuple[float, float]]]
    curve: list[list[float]]
    order: int
    ends: list[float]


def parse(data: bytes, limit: float) -> Document:
    """Turn the bytes of a certificate into a Document, or raise Rejected with a reason."""
    raw = load_document(data)
    numbers, bits = sections(raw, SHAPE, ("curve", "tail"))
    problem = exact_keys(raw["problem"], ("family", "first", "target", "objective"), "problem")
    if problem["objective"] != OBJECTIVE or problem["target"] != TARGET:
        raise Rejected(f"problem.objective must be {OBJECTIVE!r} and problem.target {TARGET!r}")
    family = problem["family"]
    if type(family) is not str or family not in FAMILIES:
        raise Rejected(f"problem.family must be one of {', '.join(FAMILIES)}")
    kind = FAMILIES[family]
    first = integer(problem["first"], "problem.first", kind.least, MAX_K - 1)
    tail = exact_keys(raw["tail"], ("from", "order", "tube", "ends"), "tail")
    start = integer(tail["from"], "tail.from", first + 1, MAX_K)
    order = integer(tail["order"], "tail.order", 8, MAX_ORDER)
    ends = _reals(tail["ends"], "tail.ends", MAX_PIECES + 1)
    points = raw["center"]
    if type(points) is not list or len(points) != start - first:
        raise Rejected(f"center must hold one point for each k from {first} to {start - 1}")
    costs = (
        ("pieces * order * precision", len(ends) * order * bits, MAX_TAIL),
        ("points * precision", len(points) * bits, MAX_HEAD),
    )
    afford(limit, *costs)
    curve = raw["curve"]
    if type(curve) is not list or len(curve) != kind.unknowns:
        raise Rejected(f"curve must be a list of {kind.unknowns} polynomials")
    numbers["tail.tube"] = hex_float(tail["tube"], "tail.tube")
    center = [pairs(point, kind.unknowns) for point in points]
    rows = [_reals(row, "curve", order) for row in curve]
    return Document(KIND, numbers, bits, family, first, start, center, rows, order, ends)


def _reals(value: object, name: str, most: int) -> list[float]:
    if type(value) is not list or not 2 <= len(value) <= most:
        raise Rejected(f"{name} must be a list of 2 to {most} numbers")
    return [hex_float(entry, name) for entry in value]


def verify(data: bytes, limit: float) -> tuple[str, str]:
    """Check the bytes of a certificate; return its kind and the statement proved, or raise Rejected."""
    document = parse(data, limit)
    with precision(document.precision):
        return KIND, _check(document)


def _check(document: Document) -> str:
    real, family = document.real, document.family
    least, far, low, high = (real(f"claims.{name}") for name in SHAPE["claims"])
    require(least > 0 and far > 0, "claims.lambda_head_ge and lambda_tail_ge must be positive")
    require(0 < low <= high, "claims.value_ge must be positive and at most value_le")
    covered(document.ends, document.start)
    tube = real("tail.tube")
    require(tube > 0, "tail.tube is not positive: a curve without room proves no zero")
    tail = Tail(family, document.curve, tube, document.order, document.ends[-1])
    for begin, end in pairwise(document.ends):
        h, where = arb(begin).union(arb(end)), f"for h in [{begin:.6g}, {end:.6g}]"
        for name, side in tail.signs(h):
            require(side > 0, f"the sign {name} is not proved {where}")
        require(tail.krawczyk(h) < 1, f"no zero is proved in the tube {where}")
        for name, form, square in tail.matrices(h):
            positive(form - arb(far) * square, f"the part {name} minus lambda_tail_ge {where}")
        value = tail.value(h)
        require(arb(low) <= value, f"claims.value_ge is not proved {where}")
        require(value <= arb(high), f"claims.value_le is not proved {where}")
    for k, center in enumerate(document.center, document.first):
        numbers = [arb(one) + arb(two) for one, two in center]
        near, curvature, lowest, highest = minimum(point(family, k, numbers), k)
        for name, side in FAMILIES[family].signs([(x - near).union(x + near) for x in numbers]).items():
            require(side > 0, f"the sign {name} is not proved at k = {k}")
        scale = arb(k) ** FAMILIES[family].scale
        require(arb(least) <= curvature, f"claims.lambda_head_ge exceeds what is proved at k = {k}")
        require(arb(low) <= scale * lowest, f"claims.value_ge exceeds what is proved at k = {k}")
        require(scale * highest <= arb(high), f"claims.value_le is below F at k = {k}")
    name, group = ("k F", "S_{k-1}") if FAMILIES[family].singles else ("F", "S_k")
    neurons = "k + 1" if family == "B" else "k"
    return (
        f"every k: for every k >= {document.first} and every dimension D >= k the teacher of k orthonormal neurons has a strict "
        f"spurious local minimum with n = {neurons} neurons, of family {family}, fixed by {group}: smallest eigenvalue of the Hessian >= "
        f"{shown(least, up=False)} for k < {document.start}, and >= {shown(far, up=False)} for k >= {document.start}; "
        f"{shown(low, up=False)} <= {name} <= {shown(high, up=True)}"
    )


def covered(ends: list[float], start: int) -> None:
    """Require that the pieces cover (0, k0^(-1/2)], in order."""
    require(ends[0] == 0, "tail.ends does not begin at 0: the largest k are left out")
    for begin, end in pairwise(ends):
        require(begin < end, f"tail.ends is out of order at {begin:.6g}, {end:.6g}")
    require(ends[-1] < 1, "tail.ends goes beyond h = 1")
    require(
        Fraction(ends[-1]) ** 2 * start >= 1, f"tail.ends ends at {ends[-1]:.6g} and leaves a gap before k = {start}"
    )


def positive(matrix: arb_mat, name: str) -> None:
    """Require that a symmetric matrix is positive definite."""
    guess = float(np.linalg.eigvalsh(floats(matrix))[0]) if np.isfinite(floats(matrix)).all() else 0.0
    require(guess > 0, f"{name} is not positive definite: its smallest eigenvalue is about {guess:.3g}")
    require(least_eigenvalue(matrix, guess * (1 - 2.0**-10)) > 0, f"{name} is not proved positive definite")


class Tail:
    """The models of a family around a curve, on all of (0, H]."""

    def __init__(self, family: str, curve: list[list[float]], tube: float, order: int, reach: float) -> None:
        scope, kind = Scope(order, arb(0).union(arb(reach))), FAMILIES[family]
        middle = [Model(scope, 0, arb_poly([arb(entry) for entry in row])) for row in curve]
        wide = [entry + arb(0, tube) for entry in middle]
        one = scope.power(0)
        at_curve = kind(scope, list(middle))
        moved = kind(scope, [Slope(entry, {place: one}) for place, entry in enumerate(wide)])
        around: FamilyA | FamilyII = kind(scope, list(wide))
        self.tube = tube
        self.residual = at_curve.equations()
        self.slopes = [[entry.slopes[by] for by in range(len(curve))] for entry in moved.equations()]
        self.sides, self.parts, self.energy = around.sides, list(around.blocks()), around.value()

    def signs(self, h: arb) -> Iterator[tuple[str, arb]]:
        """Yield each sign condition and what must be positive, times a power of h."""
        for name, side in self.sides.items():
            yield name, side.leading(h)

    def krawczyk(self, h: arb) -> arb:
        """Bound max_i (|Y G|_i/tube + sum_j |I - Y DG|_ij) from above; below 1 it proves a zero in the box."""
        size = len(self.slopes)
        slopes = arb_mat(size, size, [entry.at(h) for row in self.slopes for entry in row])
        guess = floats(slopes)
        if not np.isfinite(guess).all() or np.linalg.matrix_rank(guess) < size:
            return arb(1)
        inverse = arb_mat(size, size, [arb(entry) for entry in np.linalg.inv(guess).ravel().tolist()])
        step, defect = inverse * arb_mat(size, 1, [entry.at(h) for entry in self.residual]), inverse * slopes
        worst = arb(0)
        for i in range(size):
            off = sum((abs(defect[i, j] - (i == j)) for j in range(size)), arb(0))
            worst = worst.max((abs(step[i, 0]) / arb(self.tube) + off).upper())
        return worst.upper()

    def matrices(self, h: arb) -> Iterator[tuple[str, arb_mat, arb_mat]]:
        """Yield each part of the Hessian on the box, and the squared norm."""
        for name, form, square in self.parts:
            size = 1 + max(place for key in form.terms for place in key)
            yield name, _matrix(form, size, h), _matrix(square, size, h)

    def value(self, h: arb) -> arb:
        """Enclose k^s F."""
        return self.energy.at(h)


def _matrix(form: Form, size: int, h: arb) -> arb_mat:
    """Return the symmetric matrix of a quadratic form at a ball of h."""
    matrix = arb_mat(size, size)
    for (i, j), model in form.terms.items():
        matrix[i, j] = matrix[j, i] = model.at(h) if i == j else model.at(h) / 2
    return matrix


def point(family: str, k: int, numbers: list[arb]) -> Symmetric:
    """Return the point of a family with these numbers."""
    singles = FAMILIES[family].singles
    return Symmetric([k - 1, 1] if singles else [k], [0] + [None] * singles, numbers)


def minimum(site: Symmetric, k: int) -> tuple[arb, arb, arb, arb]:
    """Bound how far the minimum near a point is; there its least eigenvalue, from below, and F, from both sides. There must be one.

    Let Hess F >= least at the point, eps >= |grad F|, near >= 2 eps/least, and L near < least, L the Hessian's rate of
    change within near. Then least near - L near^2/2 > least near/2 >= eps: there is a critical point within near, where
    Hess F >= mu = least - L near, and F there is at most F here and at least F here - eps^2/(2 mu).
    """
    bounds = []
    for name, block in [*site.blocks(), *(("extra dimensions", block) for block in site.extensions())]:
        guess = float(np.linalg.eigvalsh(floats(block))[0])
        require(
            guess > 0,
            f"k = {k}: the part {name} is not positive definite: its smallest eigenvalue is about {guess:.3g}",
        )
        bounds.append(least_eigenvalue(block, guess * (1 - 2.0**-30)))
    least, eps = reduce(arb.min, bounds), norm(site.gradient().entries()).upper()
    require(least > 0, f"k = {k}: the Hessian is not proved positive definite")
    near = (4 * eps / least).upper()
    mu, value = least - site.lipschitz(near, arb(0)) * near, site.value()
    require(mu > 0, f"k = {k}: the point is too far from critical")
    return near, mu, value - eps * eps / (2 * mu), value
