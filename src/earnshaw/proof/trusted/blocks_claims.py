r"""Certificates of points with many equal entries, of any size: the theorems of relu_claims.py, with the blocks of blocks.py.

A certificate of kind `blocks` holds a pattern (sizes of the groups of coordinates; for each row its group or null) and the
few numbers of a point with it, each the exact sum of two doubles; the teacher is the k coordinate vectors of R^k. It
proves the theorem (minimum) of relu_claims.py about the full point W0, of n k weights: the norm of the full gradient is that
of the trivial part, and the smallest eigenvalue of the full Hessian is the least of those of the blocks.

A certificate of kind `blocks_saddle` proves the theorem (saddle) with one change: existence is shown in the linear space
of the points with the pattern. There grad F is the gradient of F restricted to that space (F does not change under G, so
that its gradient at a fixed point is fixed by G), its derivative is the trivial block, and the Hessian's rate of change
is at most L. So A is a matrix of the size of the trivial block, the ball B(R) of the map W - A grad F(W) lies in that
space, and the zero found is a critical point of F. The direction u may lie in any block.
"""

from dataclasses import dataclass

from flint import arb

from .balls import precision
from .blocks import Symmetric
from .reading import KINDS, OBJECTIVE, Numbers, Rejected, afford, exact_keys, hex_float, integer, load
from .reading import sections as read_sections
from .relu_claims import check_minimum, check_saddle

TARGET = "coordinate vectors"
BLOCK_KINDS = {"blocks": KINDS["minimum"], "blocks_saddle": KINDS["saddle"]}
MAX_SIZE = 10**8
MAX_TABLE = 1 << 22  # of pairs of classes of neurons and pairs of vectors of a block: what a check may cost by default


@dataclass(frozen=True)
class Document(Numbers):
    """A certificate of a point with a pattern."""

    sizes: list[int]
    rows: list[int | None]
    center: list[tuple[float, float]]
    n: int
    k: int


def parse(data: bytes, limit: float) -> Document:
    """Turn the bytes of a certificate of a point with a pattern into a Document, or raise Rejected with a reason."""
    raw = load(data)
    kind = raw["kind"]
    if kind not in BLOCK_KINDS:
        raise Rejected(f"unknown kind; points with a pattern have {', '.join(BLOCK_KINDS)}")
    numbers, bits = read_sections(raw, BLOCK_KINDS[kind], ("pattern",))
    pattern = exact_keys(raw["pattern"], ("sizes", "rows"), "pattern")
    sizes = [integer(size, "a size", 1, MAX_SIZE) for size in _list(pattern["sizes"], "pattern.sizes")]
    rows = [_row(row, sizes) for row in _list(pattern["rows"], "pattern.rows")]
    afford(limit, *costs(len(sizes), len(rows)))
    problem = exact_keys(raw["problem"], ("n", "k", "d", "target", "objective"), "problem")
    if problem["objective"] != OBJECTIVE:
        raise Rejected(f"problem.objective must be {OBJECTIVE!r}")
    if problem["target"] != TARGET:
        raise Rejected(f"problem.target must be {TARGET!r}")
    n, k = sum(1 if row is None else sizes[row] for row in rows), sum(sizes)
    for name, value in (("n", n), ("k", k), ("d", k)):
        if integer(problem[name], f"problem.{name}", 1, MAX_SIZE * len(rows)) != value:
            raise Rejected(f"problem.{name} is not the {value} of the pattern")
    if n < k:
        raise Rejected(f"n = {n} < k = {k}: the least value of F is not known to be 0")
    center = pairs(raw["center"], sum(len(sizes) + (row is not None) for row in rows))
    return Document(kind, numbers, bits, sizes, rows, center, n, k)


def costs(groups: int, rows: int) -> list[tuple[str, int, int]]:
    """Return what the check costs, for `afford`; a row has up to groups + 3 vectors in a block."""
    table = (rows + groups) ** 2 * (rows * (groups + 3)) ** 2
    return [("((rows + groups) * rows * (groups + 3))^2", table, MAX_TABLE)]


def _list(value: object, name: str) -> list:
    if type(value) is not list or not value:
        raise Rejected(f"{name} must be a list that is not empty")
    return value


def _row(row: object, sizes: list[int]) -> int | None:
    """Read a row: null, or the number of a group of at least two coordinates."""
    if row is None:
        return None
    group = integer(row, "a row", 0, len(sizes) - 1)
    if sizes[group] < 2:
        raise Rejected("a row is tied to a group of one coordinate; it is a single neuron: null")
    return group


def pairs(value: object, count: int) -> list[tuple[float, float]]:
    """Read the numbers of a point with a pattern that has so many."""
    entries = _list(value, "center")
    if len(entries) != count:
        raise Rejected("center has not as many numbers as the pattern")
    return [_pair(entry) for entry in entries]


def _pair(entry: object) -> tuple[float, float]:
    """Read a number: the sum of two doubles, the first of them the double nearest to it."""
    if type(entry) is not list or len(entry) != 2:
        raise Rejected("every number of center must be a list of two doubles")
    high, low = (hex_float(part, "center") for part in entry)
    if high + low != high:
        raise Rejected("a number of center is not in canonical form: the first double is not the nearest")
    return high, low


def site(document: Document) -> Symmetric:
    """Return the point in balls, at the precision that is set."""
    return Symmetric(document.sizes, document.rows, [arb(high) + arb(low) for high, low in document.center])


def verify(data: bytes, limit: float) -> tuple[str, str]:
    """Check the bytes of a certificate; return its kind and the statement proved, or raise Rejected."""
    document = parse(data, limit)
    with precision(document.precision):
        check = check_minimum if document.kind == "blocks" else check_saddle
        return document.kind, f"{check(document, site(document))}; fixed by {group(document)}"


def group(document: Document) -> str:
    """Return the name of the group that fixes the point: its factors, larger ones first."""
    return " x ".join(f"S_{size}" for size in sorted(document.sizes, reverse=True) if size > 1) or "the trivial group"
