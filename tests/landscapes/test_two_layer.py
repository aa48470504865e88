"""The landscape as a whole: batches, added dimensions, padding, symmetries, bounds, known points."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earnshaw.errors import InputError
from earnshaw.landscapes import landscape
from earnshaw.problems import TwoLayer, standard_teacher

N, K, D = 4, 3, 5  # most tests use this shape, so that it is compiled once


def problem_and_point(seed, charged=True):
    rng = np.random.default_rng(seed)
    charges = {}
    if charged:
        charges = {
            "output_weights": rng.choice([-1, 1], K) * rng.uniform(0.3, 2, K),
            "student_output_weights": rng.choice([-1, 1], N) * rng.uniform(0.3, 2, N),
        }
    return TwoLayer(rng.normal(size=(K, D)), students=N, **charges), rng.normal(size=(N, D))


@jax.jit
def everything(energy, points, directions, radii):
    return {
        "value": energy.value(points),
        "gradient": energy.gradient(points),
        "hessian": energy.hessian(points),
        "extra": energy.extra_dimension(points),
        "spectrum": energy.spectrum(points, extra_dimension=True),
        "product": energy.hessian_vector(points, directions),
        "lipschitz": energy.hessian_lipschitz(points, radii),
    }


def test_a_batch_is_a_loop():
    problem, _ = problem_and_point(0)
    energy = landscape(problem)
    points = np.random.default_rng(1).normal(size=(2, 3, N, D))
    directions = np.random.default_rng(2).normal(size=(2, 3, N, D))
    batched = everything(energy, points, directions, np.full((2, 3), 0.01))
    assert len(batched) == 7
    for a, b in np.ndindex(2, 3):
        single = everything(energy, points[a, b], directions[a, b], np.array(0.01))
        for name, expected in single.items():
            assert expected.shape == batched[name].shape[2:]
            np.testing.assert_allclose(batched[name][a, b], expected, rtol=1e-12, atol=1e-13, err_msg=name)


def test_hessian_vector_is_the_hessian_times_the_vector():
    problem, weights = problem_and_point(3)
    energy = landscape(problem)
    direction = np.random.default_rng(4).normal(size=(N, D))
    expected = np.asarray(energy.hessian(weights)) @ direction.ravel()
    np.testing.assert_allclose(np.ravel(energy.hessian_vector(weights, direction)), expected, atol=1e-13)


@pytest.mark.parametrize("added", [1, 2])
def test_added_dimensions_have_the_spectrum_of_the_padded_problem(added):
    """Corollary 1 of Safran & Shamir, for any teacher and output weights."""
    problem, weights = problem_and_point(5)
    wide = [(0, 0), (0, added)]
    padded = TwoLayer(
        np.pad(problem.teacher, wide),
        students=N,
        output_weights=problem.output_weights,
        student_output_weights=problem.student_output_weights,
    )
    energy, larger = landscape(problem), landscape(padded)
    point = np.pad(weights, wide)
    np.testing.assert_allclose(larger.gradient(point), np.pad(energy.gradient(weights), wide), atol=1e-14)
    pieces = [energy.spectrum(weights)] + [jnp.linalg.eigvalsh(energy.extra_dimension(weights))] * added
    np.testing.assert_allclose(larger.spectrum(point), np.sort(np.concatenate(pieces)), atol=1e-12)
    if added == 1:
        np.testing.assert_allclose(larger.spectrum(point), energy.spectrum(weights, extra_dimension=True), atol=1e-12)
    blocks = np.asarray(larger.hessian(point)).reshape(N, D + added, N, D + added)
    np.testing.assert_allclose(blocks[:, D, :, D], energy.extra_dimension(weights), atol=1e-14)
    np.testing.assert_allclose(blocks[:, D, :, :D], 0, atol=1e-14)


@given(st.integers(0, 2**32 - 1), st.permutations(range(N)), st.permutations(range(K)))
def test_permutations_change_nothing(seed, neurons, teachers):
    """Neurons carry their output weights along, on both sides."""
    problem, weights = problem_and_point(seed)
    moved = TwoLayer(
        problem.teacher[teachers],
        students=N,
        output_weights=problem.output_weights[teachers],
        student_output_weights=problem.student_output_weights[neurons],
    )
    energy, other = landscape(problem), landscape(moved)
    assert float(other.value(weights[neurons])) == pytest.approx(float(energy.value(weights)), rel=1e-12)
    np.testing.assert_allclose(
        other.gradient(weights[neurons]), np.asarray(energy.gradient(weights))[neurons], atol=1e-12
    )


@given(st.integers(0, 2**32 - 1))
def test_rotations_of_both_networks_turn_the_gradient(seed):
    problem, weights = problem_and_point(seed, charged=False)
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(D, D)))[0]
    energy, other = landscape(problem), landscape(TwoLayer(problem.teacher @ turn, students=N))
    assert float(other.value(weights @ turn)) == pytest.approx(float(energy.value(weights)), rel=1e-12)
    np.testing.assert_allclose(other.gradient(weights @ turn), np.asarray(energy.gradient(weights)) @ turn, atol=1e-12)
    np.testing.assert_allclose(other.spectrum(weights @ turn), energy.spectrum(weights), atol=1e-11)


@given(st.integers(0, 2**32 - 1), st.floats(-3, 3))
def test_scaling_both_networks_scales_the_loss_by_the_square(seed, power):
    problem, weights = problem_and_point(seed, charged=False)
    c = 10.0**power
    energy, other = landscape(problem), landscape(TwoLayer(c * problem.teacher, students=N))
    assert float(other.value(c * weights)) == pytest.approx(c**2 * float(energy.value(weights)), rel=1e-11)
    np.testing.assert_allclose(other.gradient(c * weights), c * np.asarray(energy.gradient(weights)), atol=1e-12 * c)
    np.testing.assert_allclose(other.hessian(c * weights), energy.hessian(weights), atol=1e-12)


def test_output_weights_are_scales_of_neurons():
    """a max(0, w.x) = max(0, a w.x) for a > 0."""
    problem, weights = problem_and_point(8)
    a, b = np.abs(problem.student_output_weights), np.abs(problem.output_weights)
    charged = TwoLayer(problem.teacher, students=N, output_weights=b, student_output_weights=a)
    plain = TwoLayer(b[:, None] * problem.teacher, students=N)
    moved = a[:, None] * weights
    assert float(landscape(charged).value(weights)) == pytest.approx(float(landscape(plain).value(moved)), rel=1e-13)
    expected = a[:, None] * np.asarray(landscape(plain).gradient(moved))
    np.testing.assert_allclose(landscape(charged).gradient(weights), expected, atol=1e-13)


def test_the_loss_is_zero_where_the_student_is_the_teacher():
    rng = np.random.default_rng(9)
    teacher = rng.normal(size=(N, D))
    energy = landscape(TwoLayer(teacher))
    assert abs(float(energy.value(teacher[[2, 0, 3, 1]]))) < 1e-14
    assert np.abs(energy.gradient(teacher[[2, 0, 3, 1]])).max() < 1e-14
    split = np.concatenate([teacher[:3], 0.3 * teacher[3:], 0.7 * teacher[3:]])
    assert abs(float(landscape(TwoLayer(teacher, students=5)).value(split))) < 1e-14
    assert float(energy.value(1.01 * teacher)) > 1e-5


def test_the_variation_of_the_hessian_is_bounded_in_the_ball():
    """|H(W) - H(W')| <= L |W - W'|, with pairs chosen where the Hessian turns fastest: at nearly parallel neurons."""
    rng = np.random.default_rng(10)
    tightest = 0.0
    for trial in range(40):
        problem, weights = problem_and_point(trial, charged=trial % 2 == 0)
        if trial % 4 == 0:
            weights[1] = 0.9 * weights[0] + 1e-3 * rng.normal(size=D)
        energy = landscape(problem)
        radius = 0.5 * np.linalg.norm(weights, axis=1).min()
        bound = float(energy.hessian_lipschitz(weights, np.array(radius)))
        for _ in range(5):
            first = weights + radius * (z := rng.normal(size=(N, D))) / np.linalg.norm(z) * rng.uniform()
            second = first + 1e-2 * radius * (z := rng.normal(size=(N, D))) / np.linalg.norm(z)
            if np.linalg.norm(second - weights) > radius:
                continue
            change = np.linalg.norm(np.asarray(energy.hessian(first)) - np.asarray(energy.hessian(second)), 2)
            quotient = change / np.linalg.norm(first - second)
            assert quotient <= bound
            tightest = max(tightest, quotient / bound)
    assert tightest > 0.01  # a bound that is merely infinite would pass the rest


def test_no_bound_holds_in_a_ball_that_reaches_zero():
    problem, weights = problem_and_point(11)
    energy = landscape(problem)
    shortest = np.linalg.norm(weights, axis=1).min()
    assert np.isinf(energy.hessian_lipschitz(weights, np.array(1.01 * shortest)))
    assert np.isfinite(energy.hessian_lipschitz(weights, np.array(0.99 * shortest)))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones((N, D + 1)), r"\(4, 6\).*\(\.\.\., 4, 5\)"),
        (np.ones((N + 1, D)), r"\(5, 5\)"),
        (np.ones(N * D), r"\(20,\)"),
        (np.full((N, D), np.nan), "NaN"),
        (np.eye(N, D)[[0, 1, 2, 2]] * np.array([1, 1, 1, 0])[:, None], "exactly 0"),
    ],
)
def test_bad_points_are_refused(weights, message):
    with pytest.raises(InputError, match=message):
        landscape(problem_and_point(0)[0]).point(weights)


def test_good_points_are_accepted_with_batches_and_any_real_type():
    energy = landscape(problem_and_point(0)[0])
    assert energy.point(np.ones((2, N, D), dtype=np.float32)).dtype == np.float64
    assert energy.point([[1] * D] * N).shape == (N, D)


def test_another_teacher_of_the_same_shape_compiles_nothing():
    traced = []

    @jax.jit
    def value(energy, weights):
        traced.append(1)
        return energy.value(weights)

    for seed in range(3):
        problem, weights = problem_and_point(seed, charged=False)
        value(landscape(problem), weights)
    assert len(traced) == 1


# Mean objectives that the paper prints (tables 1 and 2), to the digits printed there.
PRINTED = {"k6-n6": 0.025, "k8-n9": 0.021}


@pytest.mark.slow
def test_published_points_are_stationary_with_the_printed_loss(published):
    for name, points in published.items():
        n, k = points.shape[1:]
        energy = landscape(TwoLayer(standard_teacher(k), students=n))
        for weights in points:
            gradient = np.asarray(energy.gradient(weights))
            assert np.linalg.norm(gradient, axis=1).max() < 1e-9, name
            assert float(energy.value(weights)) > 1e-2
        if name in PRINTED:
            assert float(energy.value(points[0])) == pytest.approx(PRINTED[name], abs=5e-4)
    energy = landscape(TwoLayer(standard_teacher(6)))
    point = published["k6-n6"][0]
    assert float(energy.value(point)) == pytest.approx(0.0250806, abs=1e-7)
    assert float(energy.spectrum(point, extra_dimension=True)[0]) == pytest.approx(0.0047, abs=5e-5)


@pytest.mark.slow
def test_the_published_saddle_has_negative_curvature_and_no_other_point_of_its_file(published):
    if "k15-n16" not in published:
        pytest.skip("the file k15-n16 is not at hand")
    energy = landscape(TwoLayer(standard_teacher(15), students=16))
    spectrum = functools.partial(energy.spectrum, extra_dimension=True)
    smallest = [float(spectrum(weights)[0]) for weights in published["k15-n16"]]
    assert sum(value < -1e-3 for value in smallest) == 1
    assert min(smallest) == pytest.approx(-0.0027, abs=1e-4)


@pytest.mark.parametrize(("n", "k", "d", "multiple"), [(5, 4, 7, 2), (3, 3, 3, 4), (4, 4, 4, 4)])
def test_a_padded_landscape_has_the_same_values_and_no_new_extremes(n, k, d, multiple):
    """What is added is flat, or the curvature of a further dimension, which lies between the eigenvalues there."""
    random = np.random.default_rng(n)
    exact = landscape(TwoLayer(random.normal(size=(k, d)), students=n))
    points = jnp.asarray(random.normal(size=(2, n, d)))
    wide, room = exact.padded(points, multiple)
    assert wide.shape == (-(-n // multiple) * multiple, -(-d // multiple) * multiple)
    np.testing.assert_allclose(wide.value(room), exact.value(points), rtol=1e-13)
    gradient = np.array(wide.gradient(room))
    np.testing.assert_allclose(gradient[:, :n, :d], exact.gradient(points), atol=1e-14)
    gradient[:, :n, :d] = 0
    assert not gradient.any()
    radii = np.array([0.0, 0.01])
    np.testing.assert_allclose(wide.hessian_lipschitz(room, radii), exact.hessian_lipschitz(points, radii), rtol=1e-13)
    narrow, broad = np.asarray(exact.spectrum(points)), np.asarray(wide.spectrum(room))
    for few, many in zip(narrow, broad, strict=True):
        curved = many[np.abs(many) > 1e-12]
        assert curved.min() == pytest.approx(few.min(), abs=1e-12)
        assert curved.max() == pytest.approx(few.max(), abs=1e-12)
