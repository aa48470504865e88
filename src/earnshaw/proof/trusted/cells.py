r"""Cells of directions, and what the lengths of a critical network can be on them: doubles with written error bounds.

n students w_i = r_i u_i and teachers v_l = a_l vbar_l in R^d, d = 2 or 3, all a_l <= 1. For unit vectors x, y at angle t

    share = pi - t,      phi = sin t + (pi - t) cos t,      gamma(x, y) = sin t x + (pi - t) y,      m = y - cos t x,

2 pi times the gradient of F in w_i is N_i = sum_y c(y)|y| gamma(u_i, y), over all rows y = w_j (also j = i) with c = 1 and
y = v_l with c = -1. N_i.u_i = 0 says  sum_j phi_ij r_j = b_i,  b_i = sum_l a_l phi(u_i, v_l).

CELLS. A patch is a rectangle on a face of the cube [-1, 1]^d (an edge of the square if d = 2), seen from the centre: all
x/|x| with x_axis = +-1 and the other entries in [p - h, p + h]; p and h are dyadic and exact. A cell is a patch for each
student. Let u be the direction of the middle, x_c those of the corners, tau_c = x_c/(x_c.u) - u. If u' is in the patch, the
great circle from u to u' begins with a velocity xi in the hull of the tau_c (length: the angle). For x -> x/(x.u) - u maps
the rectangle onto that hull, and shortens no direction: |tau| = tan of the angle. That angle is at most rho, the largest
for a corner; atan s = 4 atan z <= 4 z, where z comes from s by two steps s -> s/(1 + sqrt(1 + s^2)).

LENGTHS. As a function of t, phi' = -share sin t, phi'' = sin t - share cos t, -pi <= phi'' <= 1 + max p cos p <= pi/2. Along a
great circle from u with velocity xi, phi(u, v) has the derivative share xi.m and a second one of (xi.v)^2/sin t - share cos t
times, with the same bounds. This encloses b_i (by corners) and phi_ij on the cell, and then all r > 0 that solve the linear
equations: r_i = (b_i - sum_{j != i} phi_ij r_j)/pi, with r_i + r_j in place of r_i and r_j for a third neuron, again and again.
Last, any matrix E whose columns are nearly orthonormal and nearly eigenvectors of phi at the middle encloses y = E'(r - r0):
with err_i >= |b_i(u) - mid b_i| + sum_j |phi_ij(u) - phi_ij| r_j,  |lambda y - e.(mid b - phi r0)| <= |e|.err + |phi e - lambda e|.|r - r0|.

ROUNDING. u = 2^-53; only + - * / and sqrt count, each with a relative error of at most u, no exponents near the limits.
A direction has three entries, each with a relative error below 4u: |u' - u| <= 2^-50 for what is computed. So (|x - y|/2, |x + y|/2)
is off by 2^-48, cos by 2^-46, sin by 2^-45. asin q = 2 asin q', q'^2 = q^2/(2 (1 + sqrt(1 - q^2))) <= 0.147 for q^2 <= 1/2: 14 terms
of its series leave out less than 2^-46, so share is off by less than 2^-43, and so are m, phi and gamma. Sizes: phi, |gamma| and
share are at most pi, r at most b/pi <= k <= 4, n <= 3, |tau| <= 0.71. (x.m) m'/sin is computed with sin + 2^-40 below: as |m| = sin, it
is off by 2^-40 + 2^-42 + 2^-44 < 2^-39 at most. Whatever is formed of these later adds up |y| times such numbers over the rows y, where
sum |y| <= 4 + 12 + 24 (lengths of the middle, and how far they move), and over students with |a_i| or |z_i| of which the squares add up
to 1: it is off by less than 2 sqrt(3) 40 2^-39 < 2^-31; each bound is moved by `SLACK` = 2^-30 to the safe side, and an enclosure
that is used again by `MARGIN` = 2^-34, more than its few operations cost.
"""

from itertools import combinations_with_replacement, permutations, product
from typing import NamedTuple

import numpy as np

SLACK, MARGIN, STEEP = 2.0**-30, 2.0**-34, 2.0**-40
PI = 3.141592653589793  # within 2^-52 of pi
ROUNDS = 5


class Teacher(NamedTuple):
    """Teachers in R^d: lengths (k,) and unit vectors (k, d), doubles within 2^-50; signed permutations that keep them.

    Within `radius` of the teacher no other network is critical (0: nothing is known).
    """

    lengths: np.ndarray
    units: np.ndarray
    radius: float
    symmetries: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]


class Cells(NamedTuple):
    """Many cells: faces (n, N), middles p and half widths h (n, d - 1, N), how often each was halved (N,)."""

    face: np.ndarray
    middle: np.ndarray
    half: np.ndarray
    depth: np.ndarray

    def take(self, which: np.ndarray | slice) -> "Cells":
        """Return some of the cells."""
        return Cells(*(part[..., which] for part in self))

    def halves(self, rho: np.ndarray) -> "Cells":
        """Cut the widest patch of each cell in two, across its longer side."""
        lane = np.arange(len(self.depth))
        who = rho.argmax(axis=0)
        side = self.half[who, :, lane].argmax(axis=1)
        half, low, high = self.half.copy(), self.middle.copy(), self.middle.copy()
        half[who, side, lane] /= 2
        low[who, side, lane] -= half[who, side, lane]
        high[who, side, lane] += half[who, side, lane]
        return joined([Cells(self.face, middle, half, self.depth + 1) for middle in (low, high)])


def joined(parts: list[Cells]) -> Cells:
    """Return all cells of some lists."""
    return Cells(*(np.concatenate(arrays, axis=-1) for arrays in zip(*parts, strict=True)))


def roots(teacher: Teacher, n: int) -> Cells:
    """Return cells that, with their images under permuted students and the teacher's symmetries, cover all directions.

    Each face is cut in 2^(d - 1) patches. A signed permutation of coordinates maps faces to faces and patches to patches.
    """
    d = teacher.units.shape[1]
    patches = [(face, *middle) for face in range(2 * d) for middle in product((-0.5, 0.5), repeat=d - 1)]
    images = [{patch: image(patch, symmetry) for patch in patches} for symmetry in teacher.symmetries]
    seen, chosen = set(), []
    for cell in combinations_with_replacement(patches, n):
        if tuple(sorted(cell)) not in seen:
            seen |= {tuple(sorted(cell))} | {tuple(sorted(image[patch] for patch in cell)) for image in images}
            chosen.append(cell)
    numbers = np.array(chosen, dtype=float).transpose(1, 2, 0)  # (n, 1 + d - 1, N)
    middle = np.ascontiguousarray(numbers[:, 1:])
    return Cells(
        numbers[:, 0].astype(np.int64), middle, np.full_like(middle, 0.5), np.zeros(len(chosen), dtype=np.int64)
    )


def image(patch: tuple[float, ...], symmetry: tuple[tuple[int, ...], tuple[int, ...]]) -> tuple[float, ...]:
    """Return the patch of the points sign_a x_(order_a), x in a given patch; a face is 2 axis, or 2 axis + 1 if x_axis = -1."""
    order, signs = symmetry
    axis = int(patch[0]) // 2
    x = list(patch[1:])
    x.insert(axis, 2.0 - 4.0 * (patch[0] % 2))
    y = [sign * x[place] for place, sign in zip(order, signs, strict=True)]
    axis = next(a for a, entry in enumerate(y) if abs(entry) > 1)
    return (2 * axis + (y[axis] < 0), *y[:axis], *y[axis + 1 :])


def symmetries(rows: list[list[float]]) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
    """Return the signed permutations of coordinates that permute the rows."""
    d, wanted = len(rows[0]), sorted(rows)
    return tuple(
        (order, signs)
        for order in permutations(range(d))
        for signs in product((1, -1), repeat=d)
        if sorted([signs[a] * row[order[a]] for a in range(d)] for row in rows) == wanted
    )


class Place(NamedTuple):
    """Directions of the middles (n, d, N), corners tau (n, c, d, N) and radii rho (n, N)."""

    u: np.ndarray
    corners: np.ndarray
    rho: np.ndarray


def placed(cells: Cells) -> Place:
    """Compute where cells lie on the sphere."""
    d = cells.middle.shape[1] + 1
    middle = _points(cells.face, cells.middle)
    u = middle / np.sqrt((middle * middle).sum(axis=1, keepdims=True))
    corners = []
    for signs in product((-1.0, 1.0), repeat=d - 1):
        x = _points(cells.face, cells.middle + np.array(signs)[:, None] * cells.half)
        corners.append(x / (x * u).sum(axis=1, keepdims=True) - u)
    tau = np.stack(corners, axis=1)
    rho = np.sqrt((tau * tau).sum(axis=2)).max(axis=1)
    for _ in range(2):
        rho = rho / (1 + np.sqrt(1 + rho * rho))
    return Place(u, tau, 4 * rho + MARGIN)


def _points(face: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Return the points (n, d, N) of faces whose free entries are given (n, d - 1, N)."""
    d, axis = free.shape[1] + 1, face // 2
    sign = 1.0 - 2.0 * (face % 2)
    entries = []
    for a in range(d):
        below = free[:, min(a, d - 2)]  # the free entries before the axis keep their place,
        above = free[:, max(a - 1, 0)]  # those behind it move by one
        entries.append(np.where(axis == a, sign, np.where(axis > a, below, above)))
    return np.stack(entries, axis=1)


# The series of asin q/q in q^2: binomial(2m, m)/(4^m (2m + 1)), m = 0..13.
SERIES = [1.0]
for _m in range(1, 14):
    SERIES.append(SERIES[-1] * (2 * _m - 1) ** 2 / (2 * _m * (2 * _m + 1)))


def arcsine(square: np.ndarray) -> np.ndarray:
    """Return asin q for q^2 = `square` <= 1/2."""
    small = square / (2 * (1 + np.sqrt(1 - square)))
    total = np.full_like(small, SERIES[-1])
    for coefficient in SERIES[-2::-1]:
        total *= small
        total += coefficient
    return 2 * np.sqrt(small) * total


class Pairs(NamedTuple):
    """Students against all rows, students first: angles (n, n + k, N), m (n, n + k, d, N) and 1/(sin + 2^-40)."""

    rows: np.ndarray
    cos: np.ndarray
    sin: np.ndarray
    share: np.ndarray
    m: np.ndarray
    steep: np.ndarray


def paired(u: np.ndarray, teacher: Teacher) -> Pairs:
    """Compute the angles at the middles. 4 cos t = |x + y|^2 - |x - y|^2, 2 sin t = |x + y||x - y|; t by the smaller of the two."""
    _n, d, count = u.shape
    rows = np.concatenate([u, np.broadcast_to(teacher.units[:, :, None], (len(teacher.units), d, count))])
    apart, near = u[:, None] - rows, u[:, None] + rows
    apart, near = (apart * apart).sum(axis=2) / 4, (near * near).sum(axis=2) / 4
    half = 2 * arcsine(np.minimum(np.minimum(apart, near), 0.5))
    cos, sin = near - apart, 2 * np.sqrt(apart) * np.sqrt(near)
    m = rows - cos[:, :, None] * u[:, None]
    return Pairs(rows, cos, sin, np.where(apart <= near, PI - half, half), m, 1 / (sin + STEEP))


class Lengths(NamedTuple):
    """The lengths on a cell: lo <= r <= hi (n, N); r = middle + E y, |y| <= reach, E = basis (n, n, N); or no r at all.

    `sums` (n, n, N) bounds r_i + r_j from above.
    """

    lo: np.ndarray
    hi: np.ndarray
    middle: np.ndarray
    basis: np.ndarray
    reach: np.ndarray
    sums: np.ndarray
    none: np.ndarray


def lengths(place: Place, pairs: Pairs, teacher: Teacher) -> Lengths:
    """Enclose the lengths of the critical networks in cells."""
    n, rho = len(place.u), place.rho
    a, total = teacher.lengths[:, None], teacher.lengths.sum()
    phi = pairs.sin + pairs.share * pairs.cos
    b = (a * phi[:, n:]).sum(axis=1)
    slope = ((a * pairs.share[:, n:])[:, :, None] * pairs.m[:, n:]).sum(axis=1)
    along = (slope[:, None] * place.corners).sum(axis=2)
    b_hi = b + along.max(axis=1) + total * (PI / 4) * rho**2 + MARGIN
    b_lo = np.maximum(b + along.min(axis=1) - total * (PI / 2) * rho**2 - MARGIN, 0)
    phi, apart = phi[:, :n], rho[:, None] + rho
    change = pairs.share[:, :n] * pairs.sin[:, :n] * apart
    p_hi = np.minimum(phi + change + (PI / 4) * apart**2 + MARGIN, PI + MARGIN)
    p_lo = np.maximum(phi - change - (PI / 2) * apart**2 - MARGIN, 0)
    for i in range(n):
        p_hi[i, i] = p_lo[i, i] = phi[i, i]  # pi, everywhere
    hi, lo = b_hi / PI + MARGIN, np.zeros_like(b)
    others = [[j for j in range(n) if j != i] for i in range(n)]
    sums = hi[:, None] + hi
    for _ in range(ROUNDS):
        for i, rest in enumerate(others):
            least, most = sum(p_lo[i, j] * lo[j] for j in rest), sum(p_hi[i, j] * hi[j] for j in rest)
            hi[i] = np.minimum(hi[i], (b_hi[i] - least) / PI + MARGIN)
            lo[i] = np.maximum(lo[i], (b_lo[i] - most) / PI - MARGIN)
        for i in range(n):
            for j in range(i):
                rest = [x for x in range(n) if x not in (i, j)]
                least = sum((p_lo[i, x] + p_lo[j, x]) * lo[x] for x in rest)
                most = sum((p_hi[i, x] + p_hi[j, x]) * hi[x] for x in rest)
                top = np.minimum((b_hi[i] + b_hi[j] - least) / (PI + p_lo[i, j]) + MARGIN, hi[i] + hi[j] + MARGIN)
                low = (b_lo[i] + b_lo[j] - most) / (PI + p_hi[i, j]) - MARGIN
                sums[i, j] = sums[j, i] = top
                for x in rest if n == 3 else ():
                    hi[x] = np.minimum(hi[x], (b_hi[x] - np.minimum(p_lo[x, i], p_lo[x, j]) * low) / PI + MARGIN)
                    lo[x] = np.maximum(lo[x], (b_lo[x] - np.maximum(p_hi[x, i], p_hi[x, j]) * top) / PI - MARGIN)
    none = (hi < lo).any(axis=0)
    hi = np.maximum(hi, lo)
    middle, box = (lo + hi) / 2, (hi - lo) / 2 + MARGIN
    values, vectors = np.linalg.eigh(np.moveaxis(phi, 2, 0))  # guesses
    values, basis = values.T, np.ascontiguousarray(np.moveaxis(vectors, 0, 2))
    off = basis[:, None] * basis
    off = np.abs(off.sum(axis=2) - np.eye(n)[:, :, None]).max(axis=(0, 1))
    wrong = ~(off < 2.0**-44)  # not orthonormal: take the coordinates themselves
    basis[:, :, wrong] = np.eye(n)[:, :, None]
    size = np.abs(basis)
    reach = (size * box[:, None]).sum(axis=0) + MARGIN
    defect = np.abs((phi[:, :, None] * basis).sum(axis=1) - values * basis)
    mid = (b_hi + b_lo) / 2
    change = np.maximum(p_hi - phi, phi - p_lo)
    error = (b_hi - b_lo) / 2 + (change * hi).sum(axis=1) + MARGIN
    aim = (basis * (mid - (phi * middle).sum(axis=1))[:, None]).sum(axis=0)
    slip = (size * error[:, None] + defect * box[:, None]).sum(axis=0) + MARGIN
    use = ~wrong & (values > 2.0**-10)
    safe = np.where(use, values, PI)
    low = np.where(use, np.maximum(-reach, (aim - slip) / safe - MARGIN), -reach)
    high = np.where(use, np.minimum(reach, (aim + slip) / safe + MARGIN), reach)
    none |= (high < low).any(axis=0)
    high = np.maximum(high, low)
    middle = middle + (basis * ((low + high) / 2)).sum(axis=1)
    reach = (high - low) / 2 + MARGIN
    spread = (size * reach).sum(axis=1) + MARGIN
    lo, hi = np.maximum(lo, middle - spread), np.minimum(hi, middle + spread)
    none |= (hi < lo).any(axis=0)
    return Lengths(lo, np.maximum(hi, lo), middle, basis, reach, sums, none)
