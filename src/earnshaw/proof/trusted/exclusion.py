r"""Tests that exclude a cell of directions: it holds no critical point, or no minimum, or none but the teacher.

Notation of cells.py; u are the middles of a cell's patches, and "on the cell" means for all its directions and lengths.

FIRST ORDER. Let |a| = 1, f(u, r) = sum_i a_i.N_i, which is affine in r. Along great circles with velocities xi_i,

    df = sum_i xi_i.g_i,   g_i = sum_y c(y)|y| (sin t a_i + (a_i.m) m/sin t) + r_i sum_j ((pi - t_ij) a_j + (a_j.m_ji) m_ij/sin t_ij),

and the second derivative of gamma(x, y) for velocities xi of x and eta of y has length at most
2|xi|^2 + 4|xi||eta| + sqrt(pi^2 + 4)|eta|^2 (that of u itself is |xi|^2): lemma 1 of docs/absence.md. So on the cell

    f >= f(u, r) + sum_i min_c tau_c.g_i(r) - sum_i |a_i| (sum_y |y| bend_iy),    bend = half of these, with rho for velocities:

a concave function of r, smallest at a corner of the set r = middle + E y, |y| <= reach. If it is > 0 there, no point of the cell
is critical. a is a guess.

SECOND ORDER. At a minimum, 2 pi times the Hessian along (sqrt(r_i) z_i) is >= 0 for all z:

    Q = sum_i (pi r_i |z_i|^2 + sum_{y != i} c(y)|y| B_iy) + 2 sum_{i<j} sqrt(r_i r_j) C_ij,      B_iy = sin t |P z_i|^2 + (m.z_i)^2/sin t,
    C_ij = (pi - t) z_i.z_j + sin t ((z_i.m)(u_i.z_j) + (z_i.u_i)(m.z_j)) + cos t (sin t (z_i.u_i)(u_i.z_j) - (z_i.m)(m.z_j)/sin t),

P = I - u_i u_i', m = m_ij. B >= 0 and C change by at most (3 sqrt(3)/2 rho_i + 2 rho_y)|z_i|^2 and 2 (rho_i + rho_j)|z_i||z_j| on the
cell (lemma 1 of docs/certificates.md). If Q < 0 for all its lengths, there is no minimum. z is a guess.

PARALLEL. For students i, j at an angle of at most t, along (e, -e), |e| = 1, with S_i = sum_{y != i, j} c(y)|y| B_iy(e):
2 pi r_i r_j times the Hessian is at most 2t (r_i + r_j)^2 + r_j S_i + r_i S_j, for 2 pi - 2 e'h e <= 2t + 2 sin t and B_ij <= 2 sin t. If
S_i, S_j <= -s and s > 2t (r_i + r_j), there is no minimum. e is a guess.

NEAR. Let lambda <= lambda_min(Hess F(V)), L the rate of change of the Hessian within R of V (relu.py), lambda - L R/2 > 0. Then
(W - V).grad F(W) >= |W - V|^2 (lambda - L|W - V|/2) > 0 for 0 < |W - V| < R: only V is critical there. A cell whose networks all lie
within R of V, its rows in some order, is closed.
"""

from itertools import permutations, product

import numpy as np

from .cells import PI, SLACK, Cells, Lengths, Pairs, Place, Teacher, lengths, paired, placed

TESTS = ("norms", "first order", "second order", "parallel", "near")
BENT = 3.724191778237174  # >= sqrt(pi^2 + 4)
STEEPEST = 2.598076211353317  # >= 3 sqrt(3)/2


def _first_order(teacher: Teacher, place: Place, pairs: Pairs, norms: Lengths) -> np.ndarray:
    """Look for a vector a, twice: by weighted least squares of all that may vary, and with weights nearer to absolute values."""
    n, d, count = place.u.shape
    r, weights = norms.middle, _signed(teacher, norms.middle)
    gamma, force = _forces(place, pairs, weights)
    columns = [(gamma[:, :n] * (norms.basis[:, y] * norms.reach[y])[:, None]).sum(axis=1) for y in range(n)]
    pulls = (weights * pairs.steep)[:, :, None] * pairs.m
    pull = (weights * pairs.sin).sum(axis=1)
    ends = np.array(list(product((False, True), repeat=d - 1))).T  # which corners lie at the upper end of each side
    sides = [place.corners[:, upper].mean(axis=1) for upper in ends]
    for j in range(n):
        for side in sides:
            e = side[j]
            along = (e * pairs.m[j]).sum(axis=1)
            column = r[j] * (pairs.share[:, j, None] * e + (along[:n] * pairs.steep[:, j])[:, None] * pairs.m[:, j])
            column[j] += pull[j] * e + (along[:, None] * pulls[j]).sum(axis=0)
            columns.append(column)
    size = n * d
    varied = np.stack(columns).reshape(len(columns), size, count).transpose(2, 1, 0)
    aim = force.reshape(size, count).T
    rest = ((bends(place.rho) * norms.hi).sum(axis=1) + teacher.lengths.sum() * place.rho**2).max(axis=0) / 2
    closed, todo, scale = np.zeros(count, dtype=bool), np.arange(count), np.ones((count, 1, len(columns)))
    for _ in range(2):
        normal = (varied * scale) @ varied.transpose(0, 2, 1) + (rest**2 + 1e-12)[:, None, None] * np.eye(size)
        try:
            guess = np.linalg.solve(normal, aim[:, :, None])[:, :, 0]
        except np.linalg.LinAlgError:
            break
        found = least(teacher, guess.T.reshape(n, d, -1), *_some(place, pairs, norms, todo)) > 0
        closed[todo[found]] = True
        again = ~found
        todo, varied, aim, rest, guess = todo[again], varied[again], aim[again], rest[again], guess[again]
        if not len(todo):
            break
        spread = np.abs((varied * guess[:, :, None]).sum(axis=1))
        scale = (spread.mean(axis=1)[:, None] / (spread + spread.mean(axis=1)[:, None] / 10 + 1e-300))[:, None]
    return closed


def _forces(place: Place, pairs: Pairs, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return gamma(u_i, y) (n, n + k, d, N), and N_i (n, d, N) for given c(y)|y|."""
    gamma = pairs.sin[:, :, None] * place.u[:, None] + pairs.share[:, :, None] * pairs.rows
    return gamma, (weights[:, None] * gamma).sum(axis=1)


def bends(rho: np.ndarray) -> np.ndarray:
    """Return half the bound of the second derivative of gamma(u_i, u_j), (n, n, N); that of pi u_i for i = j."""
    bend = rho[:, None] ** 2 + 2 * rho[:, None] * rho + (BENT / 2) * rho**2
    for i in range(len(rho)):
        bend[i, i] = (PI / 2) * rho[i] ** 2
    return bend


def least(teacher: Teacher, guess: np.ndarray, place: Place, pairs: Pairs, norms: Lengths) -> np.ndarray:
    """Return a lower bound of f on cells for a = +-guess (n, d, N), made a unit vector, with f >= 0 at the middle."""
    n, r, corners = len(guess), norms.middle, place.corners
    sin, share, m, lengths = pairs.sin, pairs.share, pairs.m, teacher.lengths[:, None]
    gamma, force = _forces(place, pairs, _signed(teacher, r))
    bend = bends(place.rho)
    f = (guess * force).sum(axis=(0, 1))
    a = guess * (np.where(f < 0, -1.0, 1.0) / np.sqrt((guess * guess).sum(axis=(0, 1))))
    f = (a * force).sum(axis=(0, 1))
    size = np.sqrt((a * a).sum(axis=1))
    dots = (a[:, None] * m).sum(axis=2) * pairs.steep  # a_i.m_iy/sin
    slopes = sin[:, :n, None] * a[:, None] + dots[:, :n, None] * m[:, :n]  # of g_i in r_j
    for i in range(n):
        slopes[i, i] = (share[i, :n, None] * a + dots[:, i, None] * m[i, :n]).sum(axis=0)
    pulled = (lengths * sin[:, n:]).sum(axis=1)[:, None] * a
    pulled += ((lengths * dots[:, n:])[:, :, None] * m[:, n:]).sum(axis=1)
    slopes = (corners[:, :, None] * slopes[:, None]).sum(axis=3)  # (n, c, n, N)
    start = (slopes * r).sum(axis=2) - (corners * pulled[:, None]).sum(axis=2)
    rates = (a[:, None] * gamma[:, :n]).sum(axis=(0, 2)) - (size[:, None] * bend).sum(axis=0)  # of f in r_j
    f = f - (size[:, None] * bend * r).sum(axis=(0, 1)) - (size * lengths.sum() * place.rho**2).sum(axis=0)
    worst = np.full(f.shape, np.inf)
    for signs in product((-1.0, 1.0), repeat=n):
        move = (norms.basis * (np.array(signs)[:, None] * norms.reach)).sum(axis=1)
        below = (start + (slopes * move).sum(axis=2)).min(axis=1).sum(axis=0)
        worst = np.minimum(worst, f + (rates * move).sum(axis=0) + below)
    return worst - SLACK


def _forms(z: np.ndarray, i: int, place: Place, pairs: Pairs) -> np.ndarray:
    """Return B_iy(z) for all rows y."""
    across = (z * z).sum(axis=0) - (place.u[i] * z).sum(axis=0) ** 2
    return pairs.sin[i] * across + (pairs.m[i] * z).sum(axis=1) ** 2 * pairs.steep[i]


def _shapes(i: int, weights: np.ndarray, place: Place, pairs: Pairs) -> np.ndarray:
    """Return sum_y weights_y B_iy as matrices (N, d, d)."""
    d = place.u.shape[1]
    rest = np.eye(d)[:, :, None] - place.u[i][:, None] * place.u[i]
    total = (weights * pairs.sin[i]).sum(axis=0) * rest
    total = total + ((weights * pairs.steep[i])[:, None, None] * pairs.m[i][:, :, None] * pairs.m[i][:, None]).sum(
        axis=0
    )
    return np.moveaxis(total, 2, 0)


def _lowest(matrices: np.ndarray) -> np.ndarray:
    """Guess eigenvectors (size, N) of the smallest eigenvalues, and make them unit vectors."""
    vector = np.linalg.eigh(matrices)[1][:, :, 0].T
    return vector / np.sqrt((vector * vector).sum(axis=0))


def _signed(teacher: Teacher, r: np.ndarray) -> np.ndarray:
    """Return c(y)|y| for all rows."""
    return np.concatenate([r, np.broadcast_to(-teacher.lengths[:, None], (len(teacher.lengths), r.shape[1]))])


def _second_order(teacher: Teacher, place: Place, pairs: Pairs, norms: Lengths) -> np.ndarray:
    """Try the direction of the smallest eigenvalue of all neurons, and of each alone."""
    n, d, count = place.u.shape
    weights, eye = _signed(teacher, norms.middle), np.eye(d)[:, :, None]
    root = np.sqrt(np.maximum(norms.middle, 0))
    whole = np.zeros((count, n, d, n, d))
    closed = np.zeros(count, dtype=bool)
    for i in range(n):
        whole[:, i, :, i] = np.moveaxis(PI * norms.middle[i] * eye, 2, 0) + _shapes(i, weights, place, pairs)
        z = np.zeros((n, d, count))
        z[i] = _lowest(whole[:, i, :, i])
        closed |= curvature(teacher, z, place, pairs, norms) < 0
        for j in range(i):
            u, m, sin, cos = place.u[i], pairs.m[i, j], pairs.sin[i, j], pairs.cos[i, j]
            mixed = pairs.share[i, j] * eye + sin * (m[:, None] * u + u[:, None] * m)
            mixed = mixed + cos * (sin * (u[:, None] * u) - pairs.steep[i, j] * (m[:, None] * m))
            whole[:, i, :, j] = whole[:, j, :, i] = np.moveaxis(root[i] * root[j] * mixed, 2, 0)
    z = _lowest(whole.reshape(count, n * d, n * d)).reshape(n, d, count)
    return closed | (curvature(teacher, z, place, pairs, norms) < 0)


def curvature(teacher: Teacher, z: np.ndarray, place: Place, pairs: Pairs, norms: Lengths) -> np.ndarray:
    """Return an upper bound of Q on the cell."""
    n, rho, lo, hi = len(z), place.rho, norms.lo, norms.hi
    square = (z * z).sum(axis=1)
    size = np.sqrt(square)
    total = (PI * hi * square).sum(axis=0)
    for i in range(n):
        form = _forms(z[i], i, place, pairs)
        low = np.maximum(form[n:] - STEEPEST * rho[i] * square[i], 0)
        total = total - (teacher.lengths[:, None] * low).sum(axis=0)
        for j in range(n):
            if j != i:
                total = total + hi[j] * (form[j] + (STEEPEST * rho[i] + 2 * rho[j]) * square[i])
        for j in range(i):
            m, u, sin = pairs.m[i, j], place.u[i], pairs.sin[i, j]
            at_m, at_u, to_m, to_u = (z[i] * m).sum(0), (z[i] * u).sum(0), (m * z[j]).sum(0), (u * z[j]).sum(0)
            mixed = pairs.share[i, j] * (z[i] * z[j]).sum(axis=0) + sin * (at_m * to_u + at_u * to_m)
            mixed = mixed + pairs.cos[i, j] * (sin * at_u * to_u - at_m * to_m * pairs.steep[i, j])
            mixed = mixed + 2 * (rho[i] + rho[j]) * size[i] * size[j]
            most = np.where(mixed > 0, np.sqrt(hi[i] * hi[j]), np.sqrt(lo[i] * lo[j]))
            total = total + 2 * most * mixed
    return total + SLACK


def _parallel(teacher: Teacher, place: Place, pairs: Pairs, norms: Lengths) -> np.ndarray:
    """Try (e, -e) for each pair of students."""
    n, _d, count = place.u.shape
    weights, most = _signed(teacher, norms.middle), _signed(teacher, norms.hi)
    closed = np.zeros(count, dtype=bool)
    for i in range(n):
        for j in range(i):
            rest = np.array([y for y in range(n) if y not in (i, j)], dtype=np.int64)
            kept = weights.copy()
            kept[[i, j]] = 0
            e = _lowest(_shapes(i, kept, place, pairs) + _shapes(j, kept, place, pairs))
            worst = np.full(count, -np.inf)
            for x in (i, j):
                form = _forms(e, x, place, pairs)
                total = (most[n:] * np.maximum(form[n:] - STEEPEST * place.rho[x], 0)).sum(axis=0)
                total = total + (most[rest] * (form[rest] + STEEPEST * place.rho[x] + 2 * place.rho[rest])).sum(axis=0)
                worst = np.maximum(worst, total)
            angle = PI - pairs.share[i, j] + place.rho[i] + place.rho[j]
            closed |= -worst > 2 * angle * norms.sums[i, j] + SLACK
    return closed


def _near(teacher: Teacher, place: Place, pairs: Pairs, norms: Lengths) -> np.ndarray:
    """Whether all networks of the cell lie within the radius of the teacher, its rows in some order."""
    n, rows = len(place.u), teacher.lengths[:, None] * teacher.units
    if n != len(rows) or not teacher.radius > 0:
        return np.zeros(place.u.shape[2], dtype=bool)
    away = norms.middle[:, None, None] * place.u[:, None] - rows[:, :, None]  # (n, k, d, N)
    spread = np.maximum(norms.hi - norms.middle, norms.middle - norms.lo) + norms.hi * place.rho
    away = (np.sqrt((away * away).sum(axis=2)) + spread[:, None]) ** 2
    squares = [sum(away[i, order[i]] for i in range(n)) for order in permutations(range(n))]
    return np.min(squares, axis=0) < teacher.radius**2 - SLACK


_TESTS = (_first_order, _second_order, _parallel, _near)


def _some(place: Place, pairs: Pairs, norms: Lengths, which: np.ndarray) -> tuple[Place, Pairs, Lengths]:
    """Return what is known of some of the cells."""
    return (
        Place(*(array[..., which] for array in place)),
        Pairs(*(array[..., which] for array in pairs)),
        Lengths(*(array[..., which] for array in norms)),
    )


def judged(teacher: Teacher, cells: Cells, without: tuple[str, ...] = ()) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of the test that closes each cell (1 is the first of TESTS, 0 none), and the radii of its patches."""
    place = placed(cells)
    pairs = paired(place.u, teacher)
    norms = lengths(place, pairs, teacher)
    by = np.where(norms.none & ("norms" not in without), 1, 0)
    for number, (name, test) in enumerate(zip(TESTS[1:], _TESTS, strict=True), 2):
        left = np.flatnonzero(by == 0)
        if len(left) and name not in without:
            by[left[test(teacher, *_some(place, pairs, norms, left))]] = number
    return by, place.rho
