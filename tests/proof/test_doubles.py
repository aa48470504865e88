"""The producer's float path: its error bounds must hold, and its eigenvalue bounds must be safe and tight."""

import numpy as np
import pytest
from flint import arb

from earnshaw.proof.doubles import (
    cholesky_slack,
    double_hessian,
    down,
    guess_least,
    prove_least,
    rounded,
    sum_of_squares,
    up,
)
from earnshaw.proof.relu import refine
from earnshaw.proof.trusted.balls import exact, norm, precision
from earnshaw.proof.trusted.relu import Point
from earnshaw.proof.trusted.sums import Near


@pytest.mark.parametrize("seed", range(4))
def test_double_hessian_is_as_close_as_claimed(seed):
    rng = np.random.default_rng(seed)
    n, k, d = ((3, 3, 3), (5, 2, 4), (2, 2, 1), (6, 6, 6))[seed]
    students, teachers = rng.standard_normal((n, d)), rng.standard_normal((k, d))
    if seed == 1:  # pairs that are parallel, antiparallel, and almost parallel
        students[1], students[2], students[3] = 2 * students[0], -students[0], students[0] * (1 + 1e-9)
        students[3, 0] += 1e-9
        teachers[0] = students[4]
    with precision(128):
        point = Point(students.tolist(), teachers.tolist())
        result = double_hessian(point)
        distance = norm((point.hessian() - exact(result.entries.tolist())).entries())
        assert distance <= result.error
        assert result.error < 1e-10
        np.testing.assert_array_equal(result.entries, result.entries.T)


@pytest.mark.parametrize("size", [5, 60, 450])
def test_eigenvalue_bounds_by_cholesky(size):
    rng = np.random.default_rng(size)
    basis = np.linalg.qr(rng.standard_normal((size, size)))[0]
    spectrum = np.linspace(3.8e-5, 2.0, size)
    matrix = (basis * spectrum) @ basis.T
    matrix = (matrix + matrix.T) / 2
    true = np.linalg.eigvalsh(matrix)[0]
    with precision(128):
        guess = guess_least(matrix)
        assert guess == pytest.approx(true, abs=1e-12)
        bound = prove_least(Near(matrix, arb(0)), guess)
        assert bound is not None
        assert bound.lower < bound.shift < true
        assert bound.lower > true - 1e-9
        assert prove_least(Near(matrix, arb(0)), guess + 1e-3) is None


def test_the_slack_covers_the_remainder_of_the_factor():
    rng = np.random.default_rng(8)
    root = rng.standard_normal((80, 80))
    matrix = root @ root.T
    matrix = (matrix + matrix.T) / 2
    factor = np.linalg.cholesky(matrix)
    with precision(128):
        c = exact(factor.tolist())
        remainder = norm((exact(matrix.tolist()) - c * c.transpose()).entries())
        assert remainder <= cholesky_slack(np.diagonal(matrix))
        assert remainder > 0


def test_an_indefinite_matrix_is_guessed_but_not_proved_positive():
    matrix = np.diag(np.concatenate([[-1.0], np.linspace(1, 2, 449)]))
    assert guess_least(matrix) == pytest.approx(-1.0)


def test_rounding_leaves_the_balls_on_the_safe_side():
    with precision(128):
        third = arb(1) / 3
        assert arb(down(third)) <= third <= arb(up(third))
        assert up(third) - down(third) < 1e-16
        assert down(arb(0.5)) == 0.5 == up(arb(0.5))
        values, error = rounded(exact([[1.0, 2.0]]) * third)
        assert norm([arb(float(v)) - arb(n) / 3 for v, n in zip(values[0], (1, 2), strict=True)]) <= error
        assert error < 1e-14
        assert sum_of_squares(np.array([3.0, 4.0])) >= 25


def test_the_polish_goes_to_the_critical_point_or_says_why_not(minimum_point):
    with precision(128):
        near, problem = refine(minimum_point + 1e-7, np.eye(6))
        assert problem is None
        assert norm(Point(near.tolist(), np.eye(6).tolist()).gradient().entries()) < 1e-15
        assert np.linalg.norm(near - minimum_point - 1e-7) > 1e-7
        start = np.random.default_rng(0).standard_normal((6, 6))
        far, problem = refine(start, np.eye(6))
        assert problem is not None
        np.testing.assert_array_equal(far, start)
        _, problem = refine(minimum_point + 1e-3, np.eye(6), reach=1e-5)
        assert problem is not None
        assert "of its length" in problem
