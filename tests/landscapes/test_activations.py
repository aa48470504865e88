"""The two-layer landscape with every activation, with fixed and with trainable output weights."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from earnshaw.errors import InputError
from earnshaw.landscapes import Landscape, landscape
from earnshaw.problems import TwoLayer

N, K, D = 3, 2, 4


def swish(x):
    return x * jax.nn.sigmoid(x)


QUICK = ("erf",)
SLOW = ("hermite:3", "leaky:0.1", "gelu", "tanh", "unit-tanh", "unit-erf", swish)
EVERY = [*QUICK, *(pytest.param(sigma, marks=pytest.mark.slow) for sigma in SLOW)]
every_activation = pytest.mark.parametrize("sigma", EVERY, ids=lambda s: s if isinstance(s, str) else s.__name__)


def case(sigma, trainable, seed=0):
    rng = np.random.default_rng(seed)
    fixed = {} if trainable else {"student_output_weights": [1.0, -0.7, 1.5]}
    problem = TwoLayer(
        rng.normal(size=(K, D)),
        students=N,
        activation=sigma,
        output_weights=[1.0, -0.5],
        trainable_output=trainable,
        **fixed,
    )
    return problem, rng.normal(size=(N, D + trainable))


@jax.jit
def everything(energy, point, direction):
    return (
        energy.value(point),
        energy.gradient(point),
        energy.hessian(point),
        energy.hessian_vector(point, direction),
    )


by_autodiff = jax.jit(lambda energy, point: (jax.grad(energy.value)(point), jax.jacfwd(energy.gradient)(point)))


SERIES = ("tanh", "unit-tanh")  # the series of a function, as that of swish is
AGREEING = [pytest.param(sigma, marks=[pytest.mark.slow, pytest.mark.nightly]) for sigma in SERIES]


@pytest.mark.parametrize(
    "sigma",
    [*QUICK, *(pytest.param(sigma, marks=pytest.mark.slow) for sigma in SLOW if sigma not in SERIES), *AGREEING],
    ids=lambda s: s if isinstance(s, str) else s.__name__,
)
def test_derivatives_agree_with_each_other(sigma):
    """The gradient with differences of the value, the Hessian with the derivative of the gradient in a direction."""
    problem, point = case(sigma, True)
    energy = landscape(problem)
    direction = np.random.default_rng(1).normal(size=point.shape)
    value, gradient, hessian, product = map(np.asarray, everything(energy, point, direction))
    assert energy.shape == point.shape
    assert value.shape == ()
    assert hessian.shape == (point.size, point.size)
    assert np.abs(hessian).max() > 1e-2
    scale = max(1.0, np.abs(hessian).max())
    np.testing.assert_allclose(product.ravel(), hessian @ direction.ravel(), atol=1e-11 * scale)
    values = [float(everything(energy, point + step * direction, direction)[0]) for step in (1e-5, -1e-5)]
    assert (values[0] - values[1]) / 2e-5 == pytest.approx(np.sum(gradient * direction), rel=1e-7, abs=1e-7 * scale)


@pytest.mark.slow
@pytest.mark.parametrize(("sigma", "trainable"), [("erf", False), ("sign", True), ("sign", False)])
def test_derivatives_against_automatic_differentiation(sigma, trainable):
    problem, point = case(sigma, trainable)
    energy = landscape(problem)
    _, gradient, hessian, _ = map(np.asarray, everything(energy, point, point))
    slope, bend = map(np.asarray, by_autodiff(energy, point))
    assert np.abs(gradient - slope).max() < 1e-13 * max(1.0, np.abs(gradient).max())
    assert np.abs(hessian - bend.reshape(hessian.shape)).max() < 1e-13 * max(1.0, np.abs(hessian).max())


@every_activation
def test_the_exact_loss_is_the_mean_over_samples(sigma):
    problem, point = case(sigma, True, seed=2)
    energy = landscape(problem)
    losses = np.asarray(jax.jit(energy.sampled_losses)(point, energy.draw(jax.random.key(1), 200_000)))
    error = losses.std() / np.sqrt(len(losses))
    exact = float(energy.value(point))
    assert abs(losses.mean() - exact) < 5 * error
    assert error < 0.05 * exact


@pytest.mark.slow
def test_a_batch_is_a_loop_with_trainable_output_weights():
    problem, _ = case("erf", True)
    energy = landscape(problem)
    points, directions = np.random.default_rng(3).normal(size=(2, 2, 3, N, D + 1))
    whole = everything(energy, points, directions)
    for index in np.ndindex(2, 3):
        single = everything(energy, points[index], directions[index])
        for many, one in zip(whole, single, strict=True):
            np.testing.assert_allclose(many[index], one, rtol=1e-12, atol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("trainable", [False, True])
def test_added_dimensions_have_the_spectrum_of_the_padded_problem(trainable):
    problem, point = case("gelu", trainable)
    padded = TwoLayer(
        np.pad(problem.teacher, [(0, 0), (0, 1)]),
        N,
        "gelu",
        problem.output_weights,
        problem.student_output_weights,
        trainable_output=trainable,
    )
    larger = np.insert(point, D, 0.0, axis=1)
    expected = landscape(padded).spectrum(larger)
    np.testing.assert_allclose(landscape(problem).spectrum(point, extra_dimension=True), expected, atol=1e-12)


SYMMETRIC = [("relu", True, N), ("sign", False, N)]
MORE = [("relu", False, 0), ("leaky:0.3", True, N), ("sign", True, N), ("erf", True, 0)]


@pytest.mark.parametrize(
    ("sigma", "trainable", "gauge"), [*SYMMETRIC, *(pytest.param(*some, marks=pytest.mark.slow) for some in MORE)]
)
def test_directions_that_change_nothing(sigma, trainable, gauge):
    """Each neuron's scale; the standard point computes the same, is the same for all points of the orbit, and stays put."""
    problem, point = case(sigma, trainable, seed=5)
    energy = landscape(problem)
    assert energy.gauge == gauge
    standard = np.asarray(energy.standard(point))
    assert float(energy.value(standard)) == pytest.approx(float(energy.value(point)), rel=1e-13)
    np.testing.assert_allclose(energy.standard(standard), standard, atol=1e-15)
    moved = point.copy()
    factors = np.array([0.5, 2.0, 3.0])
    if gauge:
        moved[:, :D] *= factors[:, None]
        if trainable and sigma != "sign":
            moved[:, D] /= factors
    if trainable and energy.activation.odd:
        moved[1] *= -1
    assert gauge == 0 or np.abs(moved - point).max() > 0.1
    assert float(energy.value(moved)) == pytest.approx(float(energy.value(point)), rel=1e-12)
    np.testing.assert_allclose(energy.standard(moved), standard, atol=1e-14)
    if trainable:
        last = standard[:, D]
        assert (last > 0).all() if energy.activation.odd else (np.abs(last) == 1).all() or sigma == "erf"
    # At the standard point the Hessian has the gauge among its null vectors wherever the gradient vanishes.
    if sigma == "sign":
        radial = np.zeros_like(standard)
        radial[0, :D] = standard[0, :D]
        assert abs(np.sum(np.asarray(energy.gradient(standard)) * radial)) < 1e-14


@pytest.mark.slow
def test_a_trained_output_weight_of_zero_is_a_silent_neuron():
    problem, point = case("relu", True)
    point[1, D] = 0.0
    energy = landscape(problem)
    other = point.copy()
    other[1, :D] = 7.0
    assert float(energy.value(point)) == pytest.approx(float(energy.value(other)), rel=1e-14)
    assert np.isfinite(np.asarray(energy.standard(point))).all()


@pytest.mark.parametrize("sigma", ["erf", pytest.param("leaky:0.1", marks=pytest.mark.slow)])
def test_the_loss_is_zero_where_the_student_is_the_teacher(sigma):
    teacher = np.random.default_rng(9).normal(size=(N, D))
    problem = TwoLayer(teacher, activation=sigma, output_weights=[1, 2, 3], student_output_weights=[3, 1, 2])
    energy = landscape(problem)
    assert energy.global_value == 0.0
    assert abs(float(energy.value(teacher[[2, 0, 1]]))) < 1e-13 * problem.scale
    assert float(energy.value(teacher)) > 1e-3
    learned = TwoLayer(teacher, activation=sigma, output_weights=[1, 2, 3], trainable_output=True)
    point = np.concatenate([teacher, [[1.0], [2.0], [3.0]]], axis=1)
    assert abs(float(landscape(learned).value(point))) < 1e-13 * problem.scale
    assert np.abs(landscape(learned).gradient(point)).max() < 1e-11 * problem.scale


def test_what_is_unknown_is_said_to_be():
    few = landscape(TwoLayer(np.eye(3), students=2, activation="erf"))
    assert few.global_value is None
    assert few.take(np.array([0, 1])) is few
    assert np.isnan(few.hessian_lipschitz(np.ones((5, 2, 3)), np.full(5, 0.1))).all()
    trained = landscape(TwoLayer(np.eye(3), trainable_output=True))
    assert np.isnan(trained.hessian_lipschitz(np.ones((3, 4)), np.array(0.1)))
    assert landscape(TwoLayer(np.eye(3))).global_value == 0.0


def test_the_landscape_is_one():
    def descend(energy: Landscape, point: jax.Array) -> jax.Array:
        return point - 0.1 * energy.gradient(point)

    problem, point = case("erf", True)
    assert descend(landscape(problem), jnp.asarray(point)).shape == point.shape


def test_smooth_activations_may_stand_at_zero():
    """A spare neuron of a smooth activation may vanish: the loss is differentiable there."""
    energy = landscape(TwoLayer(np.eye(2, 3), students=3, activation="erf"))
    point = np.concatenate([np.eye(2, 3), np.zeros((1, 3))])
    assert energy.point(point).shape == (3, 3)
    assert abs(float(energy.value(point))) < 1e-15
    assert np.abs(energy.gradient(point)).max() < 1e-15
    assert np.isfinite(energy.hessian(point)).all()
    assert float(energy.spectrum(point)[0]) > -1e-12
    with pytest.raises(InputError, match="exactly 0"):
        landscape(TwoLayer(np.eye(2, 3), students=3, activation="leaky:0.1")).point(point)
    with pytest.raises(InputError, match="output weights in the last column"):
        landscape(case("erf", True)[0]).point(np.ones((N, D)))


@pytest.mark.slow
def test_a_program_serves_all_teachers_and_each_activation_its_own():
    traced = []

    @functools.partial(jax.jit)
    def value(energy, point):
        traced.append(energy.activation.name)
        return energy.value(point)

    for seed in range(3):
        for sigma in ("erf", "hermite:2"):
            problem, point = case(sigma, False, seed)
            value(landscape(problem), point)
    assert sorted(traced) == ["erf", "hermite:2"]
