r"""The ReLU landscape in ball arithmetic: value, gradient, Hessian, and a bound on its variation.

A student network with rows w_1..w_n learns a teacher with rows v_1..v_k in R^d, inputs are standard Gaussian, and

    F(W) = 1/2 E (sum_i max(0, w_i.x) - sum_j max(0, v_j.x))^2 .

Give every student row the charge +1 and every teacher row the charge -1, and write for a pair of rows (x, y) at angle t

    area  s = |x||y| sin t,      dot  p = x.y,      share  q = (pi - t) / (2 pi),      f(x, y) = s/(2 pi) + q p.

Then, with sums over all rows y other than w_i, each with its charge c(y),

    F            = 1/2 sum over all pairs of rows of c(x) c(y) f(x, y),
    M_ii         = 1/2 + sum_y c(y) s(w_i, y) / (2 pi |w_i|^2),      M_ij = q(w_i, w_j),
    gradient     = M W - Q V,      Q_ij = q(w_i, v_j),
    Hessian_ii   = M_ii I + (1/2 - M_ii) w_i w_i'/|w_i|^2 + sum_y c(y) m m' / (2 pi s),    m = y - (w_i.y) w_i/|w_i|^2,
    Hessian_ij   = M_ij I + (w_i w_j' + w_j w_i' - p w_i w_i'/|w_i|^2 - p w_j w_j'/|w_j|^2) / (2 pi s).

In the last two lines the fraction tends to 0 with s: its norm is s/(2 pi |w_i|^2) and s/(2 pi |w_i||w_j|), and these
norms are what is used when s cannot be told from 0. M is also the Hessian in each further dimension when W and V are
padded with zeros. Every number below is an Arb ball that contains the exact value; floats only ever serve as guesses.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol

from flint import arb, arb_mat

from .balls import exact, require, root


class Point:
    """A student network `center` (n rows), a teacher `target` (k rows), and everything about their pairs in balls."""

    def __init__(self, center: Sequence[Sequence[float]], target: Sequence[Sequence[float]]) -> None:
        self.n, self.k, self.d = len(center), len(target), len(center[0])
        self.rows = exact([*center, *target])
        self.students, self.teachers = exact(center), exact(target)
        self.charge = [1] * self.n + [-1] * self.k
        self.copies = [1] * (self.n + self.k)
        self.known: arb_mat | None = None  # the Hessian, once it has been enclosed
        gram = (self.rows * self.rows.transpose()).tolist()
        size = self.n + self.k
        self.square = [gram[a][a] for a in range(size)]
        for square in self.square:
            require(square > 0, "a neuron of center or target is zero, or too short for the precision")
        self.length = [square.sqrt() for square in self.square]
        self.dot = gram
        self.area = [[arb(0)] * size for _ in range(size)]
        self.share = [[arb(0)] * size for _ in range(size)]
        for a in range(size):
            for b in range(a):
                s, p = root(self.square[a] * self.square[b] - gram[a][b] * gram[a][b]), gram[a][b]
                # Away from the branch cut of atan2, also when the ball of s reaches below 0.
                q = arb.pi() - arb.atan2(s, p) if p > 0 else arb.atan2(s, -p)
                self.area[a][b] = self.area[b][a] = s
                self.share[a][b] = self.share[b][a] = q / (2 * arb.pi())

    def shortest(self) -> arb:
        """Return a lower bound of min |w_i|, as an exact ball (so that < decides)."""
        return min(length.lower() for length in self.length[: self.n])

    def value(self) -> arb:
        """Enclose F at the centre."""
        total = arb(0)
        for a in range(self.n + self.k):
            total += self.square[a] / 4
            for b in range(a):
                f = self.area[a][b] / (2 * arb.pi()) + self.share[a][b] * self.dot[a][b]
                total += self.charge[a] * self.charge[b] * f
        return total

    def extension(self) -> arb_mat:
        """Enclose M, the Hessian in every dimension beyond d (n x n)."""
        matrix = [self.share[i][: self.n] for i in range(self.n)]
        for i in range(self.n):
            pull = sum((c * s for c, s in zip(self.charge, self.area[i], strict=True)), arb(0))
            matrix[i] = [*matrix[i][:i], arb(1) / 2 + pull / (2 * arb.pi() * self.square[i]), *matrix[i][i + 1 :]]
        return arb_mat(matrix)

    def gradient(self) -> arb_mat:
        """Enclose the gradient of F at the centre (n x d)."""
        toward_teacher = arb_mat([self.share[i][self.n :] for i in range(self.n)])
        return self.extension() * self.students - toward_teacher * self.teachers

    def diagonal_block(self, i: int, slope: arb) -> arb_mat:
        """Enclose the Hessian in neuron i (d x d); `slope` is M_ii."""
        d, w = self.d, arb_mat(1, self.d, [self.students[i, a] for a in range(self.d)])
        along = arb_mat(self.n + self.k, 1, [p / self.square[i] for p in self.dot[i]])
        m = self.rows - along * w
        weights, slack = [], arb(0)
        for y, s in enumerate(self.area[i]):
            if y != i and s > 0:
                weights.append(self.charge[y] / (2 * arb.pi() * s))
            else:
                weights.append(arb(0))
                slack += s / (2 * arb.pi() * self.square[i])
        entries = m.entries()
        scaled = [weights[y] * entries[y * d + a] for y in range(self.n + self.k) for a in range(d)]
        block = m.transpose() * arb_mat(self.n + self.k, d, scaled)
        block += w.transpose() * w * ((arb(1) / 2 - slope) / self.square[i])
        return _with(block, slope, slack)

    def pair_block(self, i: int, j: int) -> arb_mat:
        """Enclose the mixed Hessian of neurons i != j (d x d); it is a symmetric matrix."""
        d, s, p = self.d, self.area[i][j], self.dot[i][j]
        if not s > 0:
            return _with(arb_mat(d, d), self.share[i][j], s / (2 * arb.pi() * self.length[i] * self.length[j]))
        both = arb_mat(2, d, [self.students[r, a] for r in (i, j) for a in range(d)])
        core = arb_mat([[-p / self.square[i], arb(1)], [arb(1), -p / self.square[j]]])
        return _with(both.transpose() * (core * (1 / (2 * arb.pi() * s))) * both, self.share[i][j], arb(0))

    def hessian(self) -> arb_mat:
        """Enclose the Hessian of F at the centre (nd x nd, neuron by neuron)."""
        if self.known is not None:
            return self.known
        n, d, slopes = self.n, self.d, self.extension()
        blocks: list[list[list[arb]]] = [[[]] * n for _ in range(n)]
        for i in range(n):
            blocks[i][i] = self.diagonal_block(i, slopes[i, i]).entries()
            for j in range(i):
                blocks[i][j] = blocks[j][i] = self.pair_block(i, j).entries()
        entries = [x for i in range(n) for a in range(d) for j in range(n) for x in blocks[i][j][a * d : a * d + d]]
        self.known = arb_mat(n * d, n * d, entries)
        return self.known

    def hessians(self) -> Iterator[arb_mat]:
        """Yield the Hessian, which is one block here."""
        yield self.hessian()

    def extensions(self) -> Iterator[arb_mat]:
        """Yield M, which is one block here."""
        yield self.extension()

    def lipschitz(self, radius: arb, delta: arb) -> arb:
        """Bound from above how fast the Hessian varies on the ball of `radius`, for every teacher within `delta`."""
        return lipschitz(self, radius, delta)


class Rows(Protocol):
    """Neurons: their lengths, charges, and how many there are of each; n is the number of students."""

    n: int
    length: list[arb]
    charge: list[int]
    copies: list[int]


def lipschitz(rows: Rows, radius: arb, delta: arb) -> arb:
    """Bound from above how fast the Hessian varies on the ball of `radius`, for every teacher within `delta`.

    L = max_i sqrt(A_i^2 + B_i^2), A_i = 3 sqrt(3)/(4 pi) (sum_{j != i} (|w_j| + radius) + sum_j (|v_j| + delta))
    / rho_i^2, B_i = 3 sqrt(n - 1)/(pi rho_i), rho_i = |w_i| - radius. The derivation is in docs/certificates.md.
    """
    reach = [length + (radius if c > 0 else delta) for length, c in zip(rows.length, rows.charge, strict=True)]
    total = sum((count * far for count, far in zip(rows.copies, reach, strict=True)), arb(0))
    bound = arb(0)
    for far, length, c in zip(reach, rows.length, rows.charge, strict=True):
        if c < 0:
            continue
        rho = length - radius
        require(rho > 0, "the ball is not free of zero neurons: its radius reaches the shortest neuron")
        bend = 3 * arb(3).sqrt() / (4 * arb.pi()) * (total - far) / (rho * rho)
        turn = 3 * arb(rows.n - 1).sqrt() / (arb.pi() * rho)
        bound = bound.max((bend * bend + turn * turn).sqrt().upper())
    return bound.upper()


def _with(block: arb_mat, diagonal: arb, slack: arb) -> arb_mat:
    """Return `block` + `diagonal` I, each entry widened by +-`slack`."""
    size = block.nrows()
    if not slack.is_zero():  # False unless the ball is exactly 0
        wide = arb(0, slack.abs_upper())
        block += arb_mat(size, size, [wide] * (size * size))
    for a in range(size):
        block[a, a] += diagonal
    return block
