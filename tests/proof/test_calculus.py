"""The ball calculus against mpmath: quadrature, another closed form, and differences at 60 digits."""

import mpmath as mp
import numpy as np
import pytest
from flint import arb

from earnshaw.proof.trusted import Rejected
from earnshaw.proof.trusted.balls import exact, floats, greatest_eigenvalue, least_eigenvalue, norm, precision
from earnshaw.proof.trusted.relu import Point


def kernel(w, v):
    """E[(w.x)+ (v.x)+] by acos of the cosine, at mpmath's precision: another representation than area and share."""
    a, b = mp.sqrt(mp.fdot(w, w)), mp.sqrt(mp.fdot(v, v))
    c = mp.fdot(w, v) / (a * b)
    c = max(mp.mpf(-1), min(mp.mpf(1), c))
    return a * b / (2 * mp.pi) * (mp.sqrt(1 - c * c) + (mp.pi - mp.acos(c)) * c)


def objective(students, teachers):
    total = mp.mpf(0)
    for rows, others, weight in ((students, students, 0.5), (students, teachers, -1), (teachers, teachers, 0.5)):
        total += mp.mpf(weight) * mp.fsum(kernel(x, y) for x in rows for y in others)
    return total


def contains(ball, value):
    """Whether a ball contains an mpmath number that is good to 1e-17."""
    return float(abs(mp.mpf(str(ball.mid().str(40, radius=False))) - value)) <= float(ball.rad()) + 1e-17


CASES = [
    (2, 2, 2, 0),
    (3, 2, 4, 1),
    (4, 3, 3, 2),
    (1, 1, 3, 3),
    (2, 1, 1, 4),
]


@pytest.fixture(params=CASES, ids=lambda case: f"n{case[0]}-k{case[1]}-d{case[2]}")
def case(request):
    n, k, d, seed = request.param
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.standard_normal((k, d))


def test_kernel_is_the_gaussian_integral():
    w, v = np.array([1.0, 0.5, -0.25]), np.array([-0.5, 2.0, 1.0])
    a, b = np.linalg.norm(w), np.linalg.norm(v)
    t = mp.acos(mp.mpf(float(w @ v)) / (mp.mpf(float(a)) * mp.mpf(float(b))))
    with mp.workdps(30):
        # In the plane of w and v the radius gives E r^2 = 2, and the angle runs where both products are positive.
        angular = mp.quad(lambda phi: mp.cos(phi) * mp.cos(phi - t), [t - mp.pi / 2, mp.pi / 2])
        integral = mp.mpf(float(a)) * mp.mpf(float(b)) * 2 * angular / (2 * mp.pi)
    with precision(128):
        point = Point([w.tolist()], [v.tolist()])
        f = point.area[0][1] / (2 * arb.pi()) + point.share[0][1] * point.dot[0][1]
        assert abs(float(f) - float(integral)) < 1e-15


def test_value(case):
    students, teachers = case
    with mp.workdps(50), precision(128):
        ball = Point(students.tolist(), teachers.tolist()).value()
        assert ball.rad() < 1e-17
        assert contains(ball, objective([*map(list, students)], [*map(list, teachers)]))


def test_gradient_and_hessian_by_differences(case):
    students, teachers = case
    n, d = students.shape
    with mp.workdps(60), precision(160):
        point = Point(students.tolist(), teachers.tolist())
        gradient, hessian = point.gradient(), point.hessian()
        assert all(entry.rad() < 1e-22 for entry in hessian.entries())
        step = mp.mpf(10) ** -15
        rows = [[mp.mpf(float(x)) for x in row] for row in students]
        fixed = [[mp.mpf(float(x)) for x in row] for row in teachers]

        def moved(*moves):
            copy = [row[:] for row in rows]
            for (i, a), amount in moves:
                copy[i][a] += amount
            return objective(copy, fixed)

        places = [(i, a) for i in range(n) for a in range(d)]
        for p, (i, a) in enumerate(places):
            slope = (moved(((i, a), step)) - moved(((i, a), -step))) / (2 * step)
            assert abs(float(slope) - float(gradient[i, a])) < 1e-15
            for q, place in enumerate(places[: p + 1]):
                bend = mp.fsum(
                    s * r * moved(((i, a), s * step), (place, r * step)) for s in (1, -1) for r in (1, -1)
                ) / (4 * step * step)
                assert abs(float(bend) - float(hessian[p, q])) < 1e-12, (p, q)
                assert abs(float(hessian[p, q]) - float(hessian[q, p])) < 1e-15


def test_padding_adds_copies_of_the_extension_matrix(case):
    students, teachers = case
    n, d = students.shape
    with precision(128):
        plain = Point(students.tolist(), teachers.tolist())
        padded = Point([[*row, 0.0] for row in students.tolist()], [[*row, 0.0] for row in teachers.tolist()])
        big = floats(padded.hessian()).reshape(n, d + 1, n, d + 1)
        np.testing.assert_allclose(big[:, :d, :, :d].reshape(n * d, n * d), floats(plain.hessian()), atol=1e-15)
        np.testing.assert_allclose(big[:, d, :, d], floats(plain.extension()), atol=1e-15)
        np.testing.assert_allclose(big[:, :d, :, d], 0.0, atol=1e-15)


def test_extension_matrix_is_a_partial_trace_so_every_dimension_is_free(case):
    """M_ij = tr(block ij)/d, hence lambda_min(Hessian) <= lambda_min(M) and lambda_max(M) <= lambda_max(Hessian)."""
    students, teachers = case
    n, d = students.shape
    with precision(128):
        point = Point(students.tolist(), teachers.tolist())
        hessian, extension = floats(point.hessian()), floats(point.extension())
    traces = np.einsum("iaja->ij", hessian.reshape(n, d, n, d)) / d
    np.testing.assert_allclose(traces, extension, atol=1e-14)
    inner, outer = np.linalg.eigvalsh(extension), np.linalg.eigvalsh(hessian)
    assert outer[0] <= inner[0] + 1e-14
    assert inner[-1] <= outer[-1] + 1e-14


@pytest.mark.parametrize("tilt", [0.0, 2.0**-40, 2.0**-70])
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("bits", [64, 128, 256])
def test_parallel_and_nearly_parallel_pairs_are_enclosed(tilt, sign, bits):
    """At parallel pairs the fractions are 0/0; the enclosures must hold the limits, also when s is lost in rounding."""
    students, teachers = [[1.0, 0.0], [sign, tilt]], [[sign * 2.0, 3 * tilt]]
    with mp.workdps(80), precision(bits):
        hessian = Point(students, teachers).hessian()
        exact = _reference_hessian(students, teachers)
        for p in range(4):
            for q in range(4):
                middle = mp.mpf(hessian[p, q].mid().str(60, radius=False))
                assert (
                    abs(middle - exact[p][q]) <= mp.mpf(hessian[p, q].rad().str(20, radius=False)) + mp.mpf(10) ** -50
                )
                assert hessian[p, q].is_finite()


def _reference_hessian(students, teachers):
    """The Hessian from its textbook formulas (h1, h2) in mpmath, with the limits at parallel pairs."""
    n, d = len(students), len(students[0])
    rows = [[mp.mpf(x) for x in row] for row in students]
    fixed = [[mp.mpf(x) for x in row] for row in teachers]
    result = [[mp.mpf(0)] * (n * d) for _ in range(n * d)]

    def size(x):
        return mp.sqrt(mp.fdot(x, x))

    def add(i, j, block, weight):
        for a in range(d):
            for b in range(d):
                result[i * d + a][j * d + b] += weight * block(a, b)

    def eye(a, b):
        return mp.mpf(a == b)

    def h1(w, v):
        m = [y - mp.fdot(w, v) / mp.fdot(w, w) * x for x, y in zip(w, v, strict=True)]
        length, r = size(m), size(w)
        if length < mp.mpf(10) ** -70:
            return lambda a, b: mp.mpf(0)
        return lambda a, b: (length * (eye(a, b) - w[a] * w[b] / r**2) + m[a] * m[b] / length) / (2 * mp.pi * r)

    def h2(w, v):
        m = [y - mp.fdot(w, v) / mp.fdot(w, w) * x for x, y in zip(w, v, strict=True)]
        t = mp.atan2(size(m) * size(w), mp.fdot(w, v))
        if size(m) < mp.mpf(10) ** -70:
            return lambda a, b: (mp.pi - t) / (2 * mp.pi) * eye(a, b)
        u, z, c, s = [x / size(w) for x in w], [x / size(v) for x in v], mp.cos(t), mp.sin(t)
        return lambda a, b: (
            ((mp.pi - t) * eye(a, b) + (u[a] * z[b] + z[a] * u[b] - c * (u[a] * u[b] + z[a] * z[b])) / s) / (2 * mp.pi)
        )

    for i in range(n):
        add(i, i, eye, mp.mpf(1) / 2)
        for j in range(n):
            if j != i:
                add(i, i, h1(rows[i], rows[j]), 1)
                add(i, j, h2(rows[i], rows[j]), 1)
        for other in fixed:
            add(i, i, h1(rows[i], other), -1)
    return result


def test_the_hessian_varies_no_faster_than_claimed():
    rng = np.random.default_rng(5)
    for n, k, d in ((2, 2, 2), (3, 2, 3), (1, 2, 3), (4, 4, 4)):
        students, teachers = rng.standard_normal((n, d)), rng.standard_normal((k, d))
        radius = 0.3 * np.linalg.norm(students, axis=1).min()
        with precision(96):
            bound = float(Point(students.tolist(), teachers.tolist()).lipschitz(arb(radius), arb(0)))
            worst = 0.0
            for _ in range(20):
                ends = []
                for _ in range(2):
                    step = rng.standard_normal((n, d))
                    ends.append(students + radius * rng.uniform() ** 0.2 * step / np.linalg.norm(step))
                ends[1] = ends[0] + 1e-3 * (ends[1] - ends[0])
                change = floats(Point(ends[1].tolist(), teachers.tolist()).hessian()) - floats(
                    Point(ends[0].tolist(), teachers.tolist()).hessian()
                )
                worst = max(worst, np.linalg.norm(change, 2) / np.linalg.norm(ends[1] - ends[0]))
        assert worst <= bound * (1 + 1e-9)
        assert worst > 0.01 * bound


def test_printed_lipschitz_constant_is_exceeded_by_the_factor_in_the_errata():
    """One student, one teacher: the true rate is 3 sqrt(3)/4 = 1.299 times |v|/(pi |w|^2), and ours is reached."""
    w, v, x = np.array([1.0, 0.0]), np.array([0.5, np.sqrt(3) / 2]), np.array([-0.5, -np.sqrt(3) / 2])
    step = 1e-7
    with precision(128):
        change = floats(Point([(w + step * x).tolist()], [v.tolist()]).hessian())
        change = change - floats(Point([w.tolist()], [v.tolist()]).hessian())
        ours = float(Point([w.tolist()], [v.tolist()]).lipschitz(arb(0), arb(0)))
    quotient = np.linalg.norm(change, 2) / step
    printed = 1 / np.pi
    assert quotient / printed == pytest.approx(3 * np.sqrt(3) / 4, rel=1e-5)
    assert quotient > 1.29 * printed
    assert quotient == pytest.approx(ours, rel=1e-5)


def test_lipschitz_needs_a_ball_without_zero_neurons_and_grows_with_both_arguments():
    with precision(128):
        point = Point([[1.0, 0.0], [0.0, 2.0]], [[1.0, 1.0]])
        with pytest.raises(Rejected, match="zero neurons"):
            point.lipschitz(arb(1.5), arb(0))
        assert point.lipschitz(arb(0.1), arb(0)) > point.lipschitz(arb(0), arb(0))
        assert point.lipschitz(arb(0.1), arb(0.1)) > point.lipschitz(arb(0.1), arb(0))


@pytest.mark.parametrize("rows", [([[0.0, 0.0]], [[1.0, 0.0]]), ([[1.0, 0.0]], [[0.0, 0.0]])])
def test_zero_neurons_are_refused(rows):
    with precision(128), pytest.raises(Rejected, match="zero"):
        Point(*rows)


def test_eigenvalue_bounds_hold_and_are_tight():
    rng = np.random.default_rng(6)
    root = rng.standard_normal((12, 12))
    matrix = root @ root.T / 12
    matrix = (matrix + matrix.T) / 2
    values = np.linalg.eigvalsh(matrix)
    with precision(128):
        balls = exact(matrix.tolist())
        low = least_eigenvalue(balls, values[0] - 1e-10)
        assert values[0] - 2e-10 < float(low) < values[0] - 1e-10
        with pytest.raises(Rejected, match="Cholesky"):
            least_eigenvalue(balls, values[0] + 1e-6)
        high = greatest_eigenvalue(balls)
        assert float(high) >= values[-1]
        assert float(high) <= np.abs(matrix).sum(axis=1).max() * (1 + 1e-12)


def test_norm_is_euclidean():
    with precision(128):
        assert float(norm([arb(3), arb(4)])) == 5.0
        assert float(norm([])) == 0.0
