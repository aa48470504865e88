"""Value, gradient and Hessian against automatic differentiation, 130 digits, and the ball arithmetic of the proofs."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flint import arb

from earnshaw.landscapes import landscape
from earnshaw.problems import TwoLayer, standard_teacher
from earnshaw.proof.trusted.balls import floats, norm, precision
from earnshaw.proof.trusted.relu import Point


@jax.jit
def everything(energy, weights):
    return energy.value(weights), energy.gradient(weights), energy.hessian(weights)


@jax.jit
def by_autodiff(energy, weights):
    return jax.grad(energy.value)(weights), jax.jacfwd(energy.gradient)(weights)


def errors_against_autodiff(problem, weights, room):
    """The largest differences of gradient and Hessian, relative to the size of what is summed.

    The reference is computed with sizes rounded up to ``room`` by silent neurons: one program for all sizes, which cannot
    share a mistake that is made at some of them only.
    """
    energy, (n, d) = landscape(problem), weights.shape
    size = n * d
    _, gradient, hessian = map(np.asarray, everything(energy, weights))
    wide, points = energy.padded(weights[None], room)
    slope, curvature = map(np.asarray, by_autodiff(wide, points[0]))
    slope, curvature = slope[:n, :d], curvature[:n, :d, :n, :d]
    scale = max(1.0, np.abs(hessian).max())
    assert np.abs(hessian).max() > 0.1
    return (
        np.abs(gradient - slope).max() / max(1.0, np.abs(gradient).max()),
        np.abs(hessian - curvature.reshape(size, size)).max() / scale,
    )


QUICK_SIZES = (1, 3, 33)
NIGHTLY_SIZES = {*range(14, 33)} - {16, 17, 20, 24, 32}  # beyond 13 every time those next to what vectors like
SIZES = [
    n if n in QUICK_SIZES else pytest.param(n, marks=[pytest.mark.slow] + [pytest.mark.nightly] * (n in NIGHTLY_SIZES))
    for n in range(1, 34)
]


@pytest.mark.parametrize("size", SIZES)
def test_every_size_against_automatic_differentiation(size):
    """A vectorised loop that is wrong for some lengths only has been seen elsewhere; so all lengths are tried."""
    weights = np.random.default_rng(size).normal(size=(size, size)) / np.sqrt(size)
    problem = TwoLayer(standard_teacher(size))
    assert max(errors_against_autodiff(problem, weights, 11)) < 1e-11
    value = float(everything(landscape(problem), weights)[0])
    assert value == pytest.approx(plain_value(problem, weights), rel=1e-11)


def random_problem(seed):
    """A random shape, teacher, and output weights of both signs, with scales from 0.1 to 10; and a point."""
    rng = np.random.default_rng(seed)
    n, k, d = rng.integers(1, 13, size=3)
    teacher = rng.normal(size=(k, d)) * 10.0 ** rng.uniform(-1, 1, size=(k, 1))
    charges = [rng.choice([-1, 1], size=count) * rng.uniform(0.2, 2, size=count) for count in (k, n)]
    problem = TwoLayer(teacher, students=int(n), output_weights=charges[0], student_output_weights=charges[1])
    return problem, rng.normal(size=(n, d))


def numbered(number):
    """Two in the quick tests, six every time, all at night: each has a shape of its own, and so a program."""
    marks = [pytest.mark.slow] * (number >= 2) + [pytest.mark.nightly] * (number >= 6)
    return pytest.param(number, marks=marks)


@pytest.mark.parametrize("seed", [numbered(s) for s in range(30)])
def test_random_shapes_teachers_and_output_weights_against_automatic_differentiation(seed):
    problem, weights = random_problem(seed)
    assert max(errors_against_autodiff(problem, weights, 12)) < 1e-11
    value = float(everything(landscape(problem), weights)[0])
    assert value == pytest.approx(plain_value(problem, weights), rel=1e-10)


def plain_value(problem, weights):
    """The loss in NumPy, by loops over pairs, with the angle from the chord: another path to the same number."""
    student = np.ones(problem.students) if problem.student_output_weights is None else problem.student_output_weights
    teacher = np.ones(problem.teachers) if problem.output_weights is None else problem.output_weights
    rows, charges = np.concatenate([weights, problem.teacher]), np.concatenate([student, -teacher])
    total = 0.0
    for a, u in zip(charges, rows, strict=True):
        for b, v in zip(charges, rows, strict=True):
            p, q = np.linalg.norm(u), np.linalg.norm(v)
            t = 2 * np.arctan2(np.linalg.norm(u / p - v / q), np.linalg.norm(u / p + v / q))
            total += a * b * p * q * (np.sin(t) + (np.pi - t) * np.cos(t)) / (4 * np.pi)
    return total


# ---- next to parallel pairs: high precision is the only reference ------------------------------------------------


def energy_of_entries(precise, problem, entries):
    """The loss of a flat list of mpmath numbers."""
    d = problem.dimension
    rows = [entries[i * d : (i + 1) * d] for i in range(problem.students)]
    charges = [None if c is None else c.tolist() for c in (problem.student_output_weights, problem.output_weights)]
    return precise.energy(rows, [precise.vector(row) for row in problem.teacher], *charges)


def naive_hessian(problem, weights):
    """The textbook formula with the angle from ``arccos`` of a clipped cosine: what the test must be able to reject."""
    n, d = weights.shape
    rows = np.concatenate([weights, problem.teacher])
    charge = np.concatenate([np.ones(n), -np.ones(problem.teachers)])
    blocks = np.zeros((n, d, n, d))
    for i in range(n):
        w, length = weights[i] / np.linalg.norm(weights[i]), np.linalg.norm(weights[i])
        blocks[i, :, i] += np.eye(d) / 2
        for j, row in enumerate(rows):
            if i == j:
                continue
            v = row / np.linalg.norm(row)
            t = np.arccos(np.clip(w @ v, -1, 1))
            m = row - (row @ w) * w
            if np.linalg.norm(m) > 0:
                bend = np.linalg.norm(m) * (np.eye(d) - np.outer(w, w)) + np.outer(m, m) / np.linalg.norm(m)
                blocks[i, :, i] += charge[j] * bend / (2 * np.pi * length)
            if j < n:
                blocks[i, :, j] = (np.pi - t) / (2 * np.pi) * np.eye(d)
                if np.sin(t) > 0:
                    bend = np.outer(w, v) + np.outer(v, w) - np.cos(t) * (np.outer(w, w) + np.outer(v, v))
                    blocks[i, :, j] += bend / np.sin(t) / (2 * np.pi)
    return blocks.reshape(n * d, n * d)


def near_parallel_point(angle, sign=1):
    """n = k = d = 3: two students at this angle, the third as close to a teacher's neuron."""
    rng = np.random.default_rng(11)
    teacher, weights = rng.normal(size=(3, 3)), rng.normal(size=(3, 3))
    weights[1] = sign * (0.8 * weights[0] + angle * rng.normal(size=3))
    weights[2] = 1.5 * teacher[1] + angle * rng.normal(size=3)
    return TwoLayer(teacher), weights


QUICK_ANGLES = [(1e-3, 1), (1e-6, 1), (1e-8, 1), (1e-8, -1)]
ANGLES = [(angle, sign) for angle in (1e-3, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9) for sign in (1, -1)]


@pytest.mark.parametrize(
    ("angle", "sign"), [a if a in QUICK_ANGLES else pytest.param(*a, marks=pytest.mark.slow) for a in ANGLES]
)
def test_nearly_parallel_pairs_against_130_digits(precise, angle, sign):
    problem, weights = near_parallel_point(angle, sign)
    function = functools.partial(energy_of_entries, precise, problem)
    value, gradient, hessian = map(np.asarray, everything(landscape(problem), weights))
    assert abs(value - precise.value(function, weights.ravel())) < 1e-14
    assert np.abs(gradient.ravel() - precise.gradient(function, weights.ravel())).max() < 1e-14
    assert np.abs(hessian - precise.second(function, weights.ravel())).max() < 1e-14


@pytest.mark.parametrize("seed", range(3))
def test_next_to_the_global_minimum_against_130_digits(precise, seed):
    """At W = V + 1e-6 Z all terms cancel: the value is 1e-12 and the gradient 1e-6 of what is summed."""
    rng = np.random.default_rng(seed)
    problem = TwoLayer(rng.normal(size=(3, 3)))
    weights = problem.teacher + 1e-6 * rng.normal(size=(3, 3))
    function = functools.partial(energy_of_entries, precise, problem)
    value, gradient, hessian = map(np.asarray, everything(landscape(problem), weights))
    exact = precise.gradient(function, weights.ravel())
    assert abs(value - precise.value(function, weights.ravel())) < 1e-14
    assert 1e-7 < np.abs(exact).max() < 1e-5
    assert np.abs(gradient.ravel() - exact).max() < 2e-15
    assert np.abs(hessian - precise.second(function, weights.ravel())).max() < 1e-14


def test_a_bare_arccos_is_wrong_there():
    """The naive Hessian agrees at an ordinary point, and misses by more than 1e-9 where the library does not."""
    ordinary, near = near_parallel_point(0.5), near_parallel_point(1e-8)
    for (problem, weights), wrong in ((ordinary, False), (near, True)):
        with precision(200):
            exact = floats(Point(weights.tolist(), problem.teacher.tolist()).hessian())
        assert np.abs(np.asarray(everything(landscape(problem), weights)[2]) - exact).max() < 1e-14
        assert (np.abs(naive_hessian(problem, weights) - exact).max() > 1e-9) == wrong


def test_automatic_differentiation_of_the_gradient_loses_digits_there_and_only_there():
    """Hessian-vector products go through the cosine: off by at most min(s, 1e-16 / s) at an angle s, so never 1e-7."""
    product = jax.jit(lambda energy, weights, direction: energy.hessian_vector(weights, direction))
    direction = np.random.default_rng(0).normal(size=(3, 3))
    for angle, tolerance in ((0.5, 1e-14), (1e-3, 1e-12), (1e-6, 1e-9), (1e-8, 1e-7), (1e-10, 1e-8)):
        problem, weights = near_parallel_point(angle)
        expected = np.asarray(everything(landscape(problem), weights)[2]) @ direction.ravel()
        computed = np.asarray(product(landscape(problem), weights, direction)).ravel()
        assert np.abs(computed - expected).max() < tolerance, angle


# ---- the twin in ball arithmetic ---------------------------------------------------------------------------------


def twin_cases():
    rng = np.random.default_rng(21)
    for n, k, d in ((1, 1, 1), (1, 2, 3), (3, 1, 2), (4, 6, 5), (6, 4, 5), (6, 6, 6), (5, 5, 7)):
        for spread in (1.0, 1e-2):
            yield f"n{n}-k{k}-d{d}-{spread:g}", rng.normal(size=(k, d)), spread * rng.normal(size=(n, d))
    teacher = rng.normal(size=(6, 6))
    yield "near-global", teacher, teacher + 1e-6 * rng.normal(size=(6, 6))
    yield "standard-near-global", np.eye(6), np.eye(6)[::-1] + 1e-6 * rng.normal(size=(6, 6))
    close = rng.normal(size=(6, 6))
    close[1:3] = close[:1] + 1e-8 * rng.normal(size=(2, 6))
    close[4] = -2 * close[3] + 1e-7 * rng.normal(size=6)
    yield "nearly-parallel", teacher, close


CASES = {name: (teacher, weights) for name, teacher, weights in twin_cases()}


def distance(computed, balls):
    """The largest |computed - exact| over the entries of an Arb matrix, rounded up."""
    entries = np.asarray(computed).ravel().tolist()
    return max(float((arb(x) - ball).abs_upper()) for x, ball in zip(entries, balls.entries(), strict=True))


@pytest.mark.parametrize("name", CASES)
def test_the_two_calculi_agree(name):
    """JAX in floats and the proofs' Arb balls were written apart; value, gradient, Hessian, M and L agree."""
    teacher, weights = CASES[name]
    problem = TwoLayer(teacher, students=len(weights))
    energy = landscape(problem)
    value, gradient, hessian = everything(energy, weights)
    radius = 0.1 * np.linalg.norm(weights, axis=1).min()
    with precision(300):
        twin = Point(weights.tolist(), teacher.tolist())
        scale = float(twin.hessian().entries()[0].abs_upper()) + np.abs(np.asarray(hessian)).max()
        assert float((arb(float(value)) - twin.value()).abs_upper()) < 1e-13 * problem.scale
        assert distance(gradient, twin.gradient()) < 1e-13 * np.sqrt(problem.scale)
        assert float(norm(twin.gradient().entries())) == pytest.approx(
            float(np.linalg.norm(np.asarray(gradient))), rel=1e-7, abs=1e-14
        )
        assert distance(hessian, twin.hessian()) < 1e-14 * scale
        assert distance(jax.jit(type(energy).extra_dimension)(energy, weights), twin.extension()) < 1e-14 * scale
        bound = float(jax.jit(type(energy).hessian_lipschitz)(energy, weights, jnp.asarray(radius)))
        assert bound == pytest.approx(float(twin.lipschitz(arb(radius), arb(0))), rel=1e-12)
