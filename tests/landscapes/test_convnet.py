"""The convolutional loss against sampling, quadrature, automatic differentiation and 130-digit differences."""

import math

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest

from earnshaw.errors import InputError
from earnshaw.landscapes.convnet import ConvNetLandscape
from earnshaw.numerics import bivariate_gaussian_mean
from earnshaw.problems.convnet import ConvNet

# Few shapes in the fast tests: each is compiled.
SHAPES = [(1, 1), (2, 3), *(pytest.param(*shape, marks=pytest.mark.slow) for shape in ((20, 25),))]


def random_problem(p, k, seed):
    rng = np.random.default_rng(seed)
    problem = ConvNet(1.7 * rng.normal(size=p), rng.normal(size=k) + 0.3)
    return problem, rng.normal(size=p + k)


def printed_loss(problem, point):
    """Equation (3) of Du et al. as printed: without 1/(2 pi) in the cross term of the sums."""
    v, a = np.split(np.asarray(point), [problem.filter_size])
    w, b = problem.filter, problem.output_weights
    size = np.linalg.norm(w)
    angle = math.acos(min(1.0, v @ w / np.linalg.norm(v) / size))
    g = math.cos(angle) * (math.pi - angle + math.sin(angle) * math.cos(angle)) + math.sin(angle) ** 3
    squares = (math.pi - 1) * (size**2 * (b @ b) + a @ a) - 2 * (g - 1) * size * (a @ b)
    sums = (size * b.sum()) ** 2 + a.sum() ** 2
    return 0.5 * ((squares + sums) / (2 * math.pi) - 2 * size * a.sum() * b.sum())


def precise_loss(problem, precise):
    """The loss by textbook moments of mpmath numbers; nothing of the library's formula."""
    p, k = problem.filter_size, problem.patches
    w, b = precise.vector(problem.filter), precise.vector(problem.output_weights)

    def loss(values):
        v, a = values[:p], values[p:]
        unit = [x / mp.sqrt(mp.fdot(v, v)) for x in v]
        length = mp.sqrt(mp.fdot(w, w))
        same, cross, other = precise.kernel(unit, unit), precise.kernel(unit, w), precise.kernel(w, w)
        total = mp.mpf(0)
        for i in range(k):
            for j in range(k):
                own = i == j
                total += a[i] * a[j] * (same if own else 1 / (2 * mp.pi))
                total += b[i] * b[j] * (other if own else length**2 / (2 * mp.pi))
                total -= 2 * a[i] * b[j] * (cross if own else length / (2 * mp.pi))
        return total / 2

    return loss


def errors(samples, expected):
    """How many standard errors the mean of samples (m, ...) is from what is expected, at most."""
    samples = np.asarray(samples)
    spread = samples.std(0) / math.sqrt(len(samples))
    return np.max(np.abs(samples.mean(0) - expected) / spread)


@pytest.mark.slow
@pytest.mark.parametrize(("p", "k"), [(5, 2)])
def test_value_and_gradient_against_sampling(p, k):
    problem, point = random_problem(p, k, 10 * p + k)
    exact = ConvNetLandscape.of(problem)
    sample = exact.draw(jax.random.key(p), 60_000)
    assert sample.shape == (60_000, k, p)
    losses = jax.jit(exact.sampled_losses)(point, sample)
    assert errors(losses, exact.value(point)) < 5
    slopes = jax.jit(jax.vmap(jax.grad(exact.sampled_value), in_axes=(None, 0)))(jnp.asarray(point), sample[:, None])
    expected = np.asarray(exact.gradient(point))
    v = point[:p] / np.linalg.norm(point[:p])
    assert np.abs(slopes[:, :p] @ v).max() < 1e-12 * np.abs(slopes).max()  # orthogonal to v at every input
    assert errors(slopes, expected) < 5
    assert exact.sampled_value(point, sample) == pytest.approx(float(losses.mean()), rel=1e-12)


@pytest.mark.slow
def test_hessian_against_sampling():
    """The mean of the pointwise Hessians, and what the kinks add: E[e a_i Z_i Z_i' delta(Z_i.v)]/|v|."""
    p, k = 2, 2
    problem, point = random_problem(p, k, 7)
    point = jnp.asarray(point)
    exact = ConvNetLandscape.of(problem)
    sample = exact.draw(jax.random.key(3), 60_000)
    smooth = jax.jit(jax.vmap(jax.hessian(exact.sampled_value), in_axes=(None, 0)))(point, sample[:, None])
    v, a = point[:p], point[p:]
    size = jnp.linalg.norm(v)
    unit = v / size
    kinks = np.zeros((len(sample), p + k, p + k))
    for i in range(k):
        patch = sample[:, i] - (sample[:, i] @ unit)[:, None] * unit  # the patch, given that it is orthogonal to v
        bent = sample.at[:, i].set(patch)
        error = jax.nn.relu(bent @ unit) @ a - jax.nn.relu(bent @ problem.filter) @ problem.output_weights
        outer = patch[:, :, None] * patch[:, None, :]
        kinks[:, :p, :p] += np.asarray(error[:, None, None] * a[i] * outer / (math.sqrt(2 * math.pi) * size**2))
    expected = np.asarray(exact.hessian(point))
    assert errors(np.asarray(smooth)[:, :p, :p], expected[:p, :p]) > 5  # the kinks matter
    assert errors(np.asarray(smooth) + kinks, expected) < 5


def test_the_printed_formula_is_wrong():
    problem, point = random_problem(2, 3, 5)
    exact = ConvNetLandscape.of(problem)
    losses = jax.jit(exact.sampled_losses)(point, exact.draw(jax.random.key(0), 60_000))
    assert errors(losses, exact.value(point)) < 5
    assert errors(losses, printed_loss(problem, point)) > 20
    solution = np.concatenate([problem.filter, np.linalg.norm(problem.filter) * problem.output_weights])
    assert printed_loss(problem, solution) < -1  # a mean of squares


@pytest.mark.parametrize(("p", "k"), SHAPES)
def test_derivatives_against_automatic_differentiation(p, k):
    problem, point = random_problem(p, k, p + k)
    exact = ConvNetLandscape.of(problem)
    point = jnp.asarray(point)
    gradient, hessian = exact.gradient(point), exact.hessian(point)
    if p > 1:  # at p = 1 the angle is 0 or pi, where arctan2 has no derivative
        assert np.abs(gradient - jax.jit(jax.grad(exact.value))(point)).max() < 1e-11
        assert np.abs(hessian - jax.jit(jax.hessian(exact.value))(point)).max() < 1e-11
    else:
        assert np.all(np.asarray(gradient)[:1] == 0)
        assert np.all(np.asarray(hessian)[0] == 0)
    direction = jnp.asarray(np.random.default_rng(1).normal(size=p + k))
    assert np.abs(exact.hessian_vector(point, direction) - hessian @ direction).max() < 1e-12


@pytest.mark.parametrize(("p", "k"), [(2, 3), pytest.param(3, 1, marks=pytest.mark.slow)])
def test_value_and_derivatives_against_130_digits(p, k, precise):
    problem, point = random_problem(p, k, 3 * p + k)
    exact, loss = ConvNetLandscape.of(problem), precise_loss(problem, precise)
    assert float(exact.value(point)) == pytest.approx(precise.value(loss, point), rel=1e-14)
    assert np.abs(exact.gradient(point) - precise.gradient(loss, point)).max() < 1e-14
    assert np.abs(exact.hessian(point) - precise.second(loss, point)).max() < 1e-13


@pytest.mark.parametrize("angle", [1e-9, 1e-5, math.pi - 1e-5, math.pi - 1e-9])
def test_derivatives_at_the_ends_against_130_digits(angle, precise):
    problem = ConvNet(np.array([1.0, 0.0]), np.array([0.6, -0.8, 0.0]))
    point = np.array([1.3 * math.cos(angle), 1.3 * math.sin(angle), 0.5, 0.4, 0.1])
    exact, loss = ConvNetLandscape.of(problem), precise_loss(problem, precise)
    assert np.abs(exact.gradient(point) - precise.gradient(loss, point)).max() < 1e-15
    assert np.abs(exact.hessian(point) - precise.second(loss, point)).max() < 1e-14


def test_a_tiny_loss_keeps_its_digits(precise):
    problem = ConvNet(np.array([1.0, 0.0]), np.array([0.6, -0.8, 0.5]))
    for angle in (1e-3, 1e-6, 1e-8):
        point = np.array([math.cos(angle), math.sin(angle), 0.6, -0.8, 0.5])
        assert float(ConvNetLandscape.of(problem).value(point)) == pytest.approx(
            precise.value(precise_loss(problem, precise), point), rel=1e-7
        )
    parallel = np.array([2.0, 0.0, 0.6, -0.8, 0.5])
    assert float(ConvNetLandscape.of(problem).value(parallel)) == 0
    assert np.all(np.isfinite(ConvNetLandscape.of(problem).hessian(parallel)))
    assert np.all(np.isfinite(ConvNetLandscape.of(problem).hessian(-parallel)))


@pytest.mark.parametrize("angle", [0.0, 0.4, math.pi / 2, 2.5, math.pi])
def test_value_and_slopes_against_quadrature(angle):
    """All moments by quadrature; the slopes in the angle by differences of it."""
    problem = ConvNet(np.array([2.0, 0.0]), np.array([0.5, -1.0, 0.7]))
    exact, a = ConvNetLandscape.of(problem), np.array([0.3, 0.2, -0.9])
    relu = lambda x: np.maximum(x, 0)  # noqa: E731
    half = bivariate_gaussian_mean(lambda x, y: relu(x) ** 2, 1.0)
    mean = bivariate_gaussian_mean(lambda x, y: relu(x), 1.0)

    def by_quadrature(turn):
        cross = bivariate_gaussian_mean(lambda x, y: relu(x) * relu(y), abs(turn))
        same = lambda own: np.full((3, 3), mean**2) + (own - mean**2) * np.eye(3)  # noqa: E731
        b = 2 * problem.output_weights
        return 0.5 * (a @ same(half) @ a + b @ same(half) @ b - 2 * a @ same(cross) @ b)

    def at(turn):
        return np.array([math.cos(turn), math.sin(turn), *a])

    assert float(exact.value(at(angle))) == pytest.approx(by_quadrature(angle), abs=1e-12)
    if 0 < angle < 3:
        step, side = 1e-3, np.array([-math.sin(angle), math.cos(angle), 0, 0, 0])
        low, here, high = (by_quadrature(angle + turn) for turn in (-step, 0, step))
        assert float(exact.gradient(at(angle)) @ side) == pytest.approx((high - low) / (2 * step), abs=1e-6)
        bend = float(side @ exact.hessian(at(angle)) @ side)  # along the circle: no radial slope
        assert bend == pytest.approx((high - 2 * here + low) / step**2, abs=1e-5)


@pytest.mark.slow
def test_batches_and_lanes_of_their_own_teachers():
    problems = [random_problem(2, 3, seed)[0] for seed in range(5)]
    points = np.random.default_rng(0).normal(size=(5, 5))
    together = ConvNetLandscape(
        jnp.stack([jnp.asarray(q.filter) for q in problems]),
        jnp.stack([jnp.asarray(q.output_weights) for q in problems]),
        jnp.ones((5, 3)),
    )
    for name in ("value", "gradient", "hessian"):
        each = [getattr(ConvNetLandscape.of(q), name)(x) for q, x in zip(problems, points, strict=True)]
        assert np.abs(getattr(together, name)(points) - jnp.stack(each)).max() < 1e-14
    some = together.take(np.array([3, 1]))
    assert np.array_equal(some.value(points[[3, 1]]), together.value(points)[np.array([3, 1])])
    one = ConvNetLandscape.of(problems[0])
    assert one.take(np.array([3, 1])) is one
    assert one.value(np.broadcast_to(points, (2, 5, 5))).shape == (2, 5)
    assert one.global_value == 0
    assert one.shape == (5,)


def test_the_length_of_the_filter_does_not_matter():
    problem, point = random_problem(2, 3, 0)
    exact = ConvNetLandscape.of(problem)
    longer = np.concatenate([7 * point[:2], point[2:]])
    assert float(exact.value(longer)) == pytest.approx(float(exact.value(point)), rel=1e-14)
    assert np.abs(7 * exact.gradient(longer)[:2] - exact.gradient(point)[:2]).max() < 1e-15
    assert abs(float(exact.gradient(point)[:2] @ point[:2])) < 1e-15


@pytest.mark.parametrize(("p", "k"), [(2, 3), pytest.param(20, 25, marks=pytest.mark.slow)])
def test_the_loss_is_a_parabola_in_g_and_a_square(p, k):
    """F = F_c - (W^2 K / 4 pi) (g - g_c)^2 + (a - a(g)) H (a - a(g)) / 2, with everything computed another way."""
    problem, point = random_problem(p, k, 1)
    exact = ConvNetLandscape.of(problem)
    H = np.asarray(exact.hessian(point))[p:, p:]
    b = problem.output_weights
    W = np.linalg.norm(problem.filter)
    slope = np.asarray(exact.gradient(np.concatenate([point[:p], np.zeros(k)])))[p:]  # at a = 0
    system = np.block([[H, b[:, None]], [b[None], np.zeros((1, 1))]])  # the least loss with a.a* = 0
    solved = np.linalg.solve(system, np.concatenate([-slope, [0.0]]))[:k]
    assert float(exact.value(np.concatenate([point[:p], solved]))) == pytest.approx(float(exact.barrier), rel=1e-12)

    g = float(exact.angles(jnp.asarray(point)).overlap)
    best = -np.linalg.solve(H, slope)
    assert np.abs(np.asarray(exact.best_outputs(g)) - best).max() < 1e-12
    K = b @ np.linalg.solve(H, b) / (2 * np.pi)
    assert best @ b == pytest.approx(W * K * (g - float(exact.turning)), rel=1e-11)
    away = point[p:] - best
    parts = float(exact.barrier) - W**2 * K / (4 * np.pi) * (g - float(exact.turning)) ** 2 + away @ H @ away / 2
    assert float(exact.value(point)) == pytest.approx(parts, rel=1e-12)


@pytest.mark.parametrize(
    ("filter", "outputs", "says"),
    [([1.0], [1.0, 2.0], "shape"), ([1.0, 0.0], [1.0], "shape"), ([0.0, 0.0], [1.0, 1.0], "exactly 0"), ([np.nan, 1.0], [1.0, 1.0], "NaN")],
)  # fmt: skip
def test_bad_points_are_refused(filter, outputs, says):
    exact = ConvNetLandscape.of(ConvNet([1.0, 2.0], [1.0, 1.0]))
    with pytest.raises(InputError, match=says):
        exact.point(filter, outputs)
