r"""No bad minimum: every local minimum of a small ReLU landscape is global. Theorem, walk, and check of a certificate.

Notation of cells.py. A point is critical if no w_i is 0 and grad F = 0.

THEOREM. Let n = k. If each cell of a cover of all directions, up to permuted students and symmetries of the teacher, is
closed by one of the tests of exclusion.py, then F has no local minimum with F > 0: not in R^d, nor in any R^D, D >= d; and F = 0
at V alone, up to order.
  Proof. At a local minimum with F > 0 no w_i is 0, by theorem A of docs/absence.md, and all w_i lie in the span of the
teacher, by theorem D; so it is a critical point in R^d where the Hessian is >= 0, in some cell. A closed cell holds none but
V itself, up to order, where F = 0. Where F = 0, no w_i is 0: then some w_j is not, and with s w_j for w_i and (1 - s) w_j for w_j,
0 < s < 1, the network is the same, so that F = 0 at infinitely many points with one zero neuron less, and in the end with none.
These are critical (F is least there) and in the span (theorem D: no strict saddles), so in closed cells, which hold but V. QED

Lengths and angles are all that F knows of W and V. So k rows in R^D, D > k, are replaced by k rows in R^k with the same
products (a Cholesky factor), and all rows are scaled by a power of 2, so that the longest has a length of 1/2 to 1.

A certificate names the problem, R and the rule; this file walks the whole tree again. `counts` are the producer's: what the
check may cost, and no more. Guesses by LAPACK may differ between machines, and with them which test closes a cell.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from math import frexp

import numpy as np
from flint import arb, arb_mat

from .balls import exact, floats, least_eigenvalue, precision, require, shown
from .cells import Cells, Teacher, joined, roots, symmetries
from .exclusion import TESTS, judged
from .reading import OBJECTIVE, Rejected, afford, costs, exact_keys, hex_float, integer, load, matrix
from .relu import Point

RULE = "widest patch first/1"
BATCH = 512
MAX_CELLS = 10_000_000
PRECISION = 128


@dataclass
class Tally:
    """What a walk has done: cells tested, closed by each test, leaves by depth, and the cells left open."""

    tested: int = 0
    closed: dict[str, int] = field(default_factory=lambda: dict.fromkeys(TESTS, 0))
    leaves: dict[int, int] = field(default_factory=dict)
    open: list[Cells] = field(default_factory=list)

    @property
    def covered(self) -> Fraction:
        """The number of roots that the leaves make up: a leaf of depth m is 2^-m of one."""
        return sum((Fraction(count, 2**depth) for depth, count in self.leaves.items()), Fraction(0))


def walk(
    teacher: Teacher,
    cells: Cells,
    most: float,
    smallest: float,
    without: tuple[str, ...] = (),
    seen: Callable[[Cells, np.ndarray], None] | None = None,
) -> Tally:
    """Test cells, and the halves of those that no test closes, until nothing is left but cells below `smallest`.

    `without` leaves out tests, and `seen` is told of every leaf and the number of the test that closed it, 0 for none.
    """
    tally, stack = Tally(), [cells]
    whole = sum((Fraction(1, 2 ** int(depth)) for depth in cells.depth), Fraction(0))
    while stack:
        batch = [stack.pop()]
        while stack and sum(len(part.depth) for part in batch) < BATCH:
            batch.append(stack.pop())
        cells = joined(batch)
        if len(cells.depth) > BATCH:
            stack.append(cells.take(slice(BATCH, None)))
            cells = cells.take(slice(BATCH))
        by, rho = judged(teacher, cells, without)
        tally.tested += len(by)
        if tally.tested > most:
            raise Rejected(f"the walk tests more than {most:.0f} cells")
        small = (by == 0) & (rho.max(axis=0) < smallest)
        leaf = (by > 0) | small
        for number, test in enumerate(TESTS, 1):
            tally.closed[test] += int((by == number).sum())
        for depth, count in zip(*np.unique(cells.depth[leaf], return_counts=True), strict=True):
            tally.leaves[int(depth)] = tally.leaves.get(int(depth), 0) + int(count)
        if small.any():
            tally.open.append(cells.take(small))
        if seen is not None:
            seen(cells.take(leaf), by[leaf])
        if not leaf.all():
            stack.append(cells.take(~leaf).halves(rho[:, ~leaf]))
    require(tally.covered == whole, "the leaves of the tree do not make up its roots")
    return tally


def framed(target: list[list[float]], radius: float = 0.0) -> Teacher:
    """Return rows as a Teacher in R^2 or R^3, their longest of a length of 1/2 to 1, and `radius` scaled with them."""
    with precision(PRECISION):
        rows = exact(target)
        products = (rows * rows.transpose()).tolist()
        k, d = rows.nrows(), rows.ncols()
        scale = arb(2) ** -frexp(max(float(products[i][i].sqrt()) for i in range(k)))[1]
        kept = symmetries(target) if d <= k else ()
        rows = (rows if d <= k else _cholesky(products)) * scale
        d = min(d, k)
        require(
            2 <= d <= 3 and k <= 4,
            f"k = {k} teachers spanning R^{d} are not covered: d must be 2 or 3, and k at most 4",
        )
        sizes = [sum((rows[i, a] ** 2 for a in range(d)), arb(0)).sqrt() for i in range(k)]
        units = [rows[i, a] / sizes[i] for i in range(k) for a in range(d)]
        require(all(ball.rad() < 2.0**-60 for ball in [*sizes, *units]), "the rows of target are too nearly dependent")
        lengths = np.array([float(size) for size in sizes])
        return Teacher(lengths, floats(arb_mat(k, d, units)), float(arb(radius) * scale), kept)


def _cholesky(products: list[list[arb]]) -> arb_mat:
    """Return the lower triangular matrix with these products of rows."""
    k = len(products)
    factor = arb_mat(k, k)
    for i in range(k):
        for j in range(i + 1):
            rest = products[i][j] - sum((factor[i, a] * factor[j, a] for a in range(j)), arb(0))
            if i == j:
                require(rest > 0, "the rows of target are not shown to be independent")
            factor[i, j] = rest.sqrt() if i == j else rest / factor[j, j]
    return factor


def isolated(target: list[list[float]], radius: float) -> bool:
    """Whether no other critical point lies within `radius` of the teacher: lambda - L R/2 > 0 (the test NEAR)."""
    with precision(PRECISION):
        point = Point(target, target)
        hessian = point.hessian()
        guess = float(np.linalg.eigvalsh(floats(hessian))[0])
        least = least_eigenvalue(hessian, guess - 2.0**-30 * abs(guess))
        return bool(0 < arb(radius) < point.shortest()) and bool(
            least - point.lipschitz(arb(radius), arb(0)) * arb(radius) / 2 > 0
        )


@dataclass(frozen=True)
class Document:
    """A certificate whose shape is right and whose numbers are finite; nothing about its truth is known yet."""

    target: list[list[float]]
    n: int
    radius: float
    smallest: float
    counts: dict[str, int]

    def real(self, name: str) -> float:
        """Return a claim."""
        return {"radius": self.radius, "smallest": self.smallest}[name]


def parse(data: bytes, limit: float) -> Document:
    """Turn the bytes of a certificate of kind `absence` into a Document, or raise Rejected with a reason."""
    keys = ("format", "kind", "problem", "claims", "rule", "counts", "meta", "sha256")
    raw = exact_keys(load(data), keys, "the document")
    require(raw["kind"] == "absence", "kind is not absence")
    problem = exact_keys(raw["problem"], ("n", "k", "d", "target", "objective"), "problem")
    require(problem["objective"] == OBJECTIVE, f"problem.objective must be {OBJECTIVE!r}")
    k = integer(problem["k"], "problem.k", 2, 4)
    n, d = integer(problem["n"], "problem.n", 1, 3), integer(problem["d"], "problem.d", 2, 10_000)
    require(n == k, f"n = {n} students and k = {k} teachers: the theorem is about n = k")
    target = matrix(problem["target"], k, d, "problem.target")
    radius = hex_float(exact_keys(raw["claims"], ("radius",), "claims")["radius"], "claims.radius")
    rule = exact_keys(raw["rule"], ("name", "smallest"), "rule")
    require(rule["name"] == RULE, f"rule.name must be {RULE!r}")
    smallest = hex_float(rule["smallest"], "rule.smallest")
    require(smallest > 0, "rule.smallest is not positive")
    counts = exact_keys(raw["counts"], ("cells", *TESTS), "counts")
    numbers = {name: integer(count, f"counts.{name}", 0, 10**9) for name, count in counts.items()}
    afford(limit, *costs(n, k, d, PRECISION), ("counts.cells", numbers["cells"], MAX_CELLS))
    return Document(target, n, radius, smallest, numbers)


def verify(data: bytes, limit: float) -> tuple[str, str]:
    """Check the bytes of a certificate; return its kind and the statement proved, or raise Rejected."""
    document = parse(data, limit)
    require(isolated(document.target, document.radius), "claims.radius: the teacher is not shown to be alone within it")
    teacher = framed(document.target, document.radius)
    with np.errstate(all="ignore"):  # what overflows fails a comparison
        tally = walk(teacher, roots(teacher, document.n), 2 * document.counts["cells"] + BATCH, document.smallest)
    left = sum(len(cells.depth) for cells in tally.open)
    require(left == 0, f"{left} cells stay open")
    return "absence", statement(document)


def statement(document: Document) -> str:
    """Return what a certificate says."""
    k, d = len(document.target), len(document.target[0])
    return (
        f"no bad minimum (n = {document.n}, k = {k}, every dimension D >= {min(k, d)}): every local minimum of F is global, its "
        f"neurons are the teacher's; no critical point but the teacher lies within {shown(document.radius, up=False)} of it"
    )
