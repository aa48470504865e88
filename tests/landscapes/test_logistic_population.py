import jax
import jax.numpy as jnp
import numpy as np
import pytest

from earnshaw.errors import AccuracyWarning
from earnshaw.landscapes import landscape
from earnshaw.landscapes.empirical import EmpiricalRisk
from earnshaw.landscapes.logistic_data import draw
from earnshaw.landscapes.logistic_population import LogisticPopulation
from earnshaw.landscapes.logistic_theory import theory
from earnshaw.potentials.bounded import BOUNDED
from earnshaw.potentials.constants import rho
from earnshaw.problems import TwoLayer
from earnshaw.problems.logistic import Labels, Logistic, gaussian_weights, orthogonal_weights

pytestmark = pytest.mark.slow  # compilation
PROBLEM = Logistic(gaussian_weights(2, 3, seed=0), 200_000, seed=1)
POINT = jnp.asarray(np.random.default_rng(2).normal(size=(2, 3)))


@pytest.mark.parametrize("labels", Labels)
def test_value_gradient_and_hessian_against_a_sample(labels):
    rows = draw(PROBLEM.replace(labels=labels))
    exact, sampled = LogisticPopulation.of(PROBLEM.replace(labels=labels)), EmpiricalRisk.of(rows, 2)
    values = 0.5 * (np.mean(1 / (1 + np.exp(-rows.x @ np.asarray(POINT).T)), 1) - rows.y) ** 2
    assert abs(values.mean() - float(exact.value(POINT))) < 5 * values.std() / np.sqrt(len(rows))
    spread = 5 * 0.5 / np.sqrt(len(rows))  # every entry is a mean of products below 1/2 in spread
    np.testing.assert_allclose(exact.gradient(POINT), sampled.gradient(POINT), atol=spread / 2)
    np.testing.assert_allclose(exact.hessian(POINT), sampled.hessian(POINT), atol=spread / 2)


def test_derivatives_against_automatic_differentiation():
    exact = LogisticPopulation.of(PROBLEM, nodes=145)
    np.testing.assert_allclose(jax.jit(jax.grad(exact.value))(POINT), exact.gradient(POINT), atol=1e-14)
    hessian = np.asarray(jax.jit(jax.jacfwd(exact.gradient))(POINT)).reshape(6, 6)
    np.testing.assert_allclose(exact.hessian(POINT), hessian, atol=1e-14)
    direction = POINT[::-1]
    product = (hessian @ np.asarray(direction).ravel()).reshape(2, 3)
    np.testing.assert_allclose(exact.hessian_vector(POINT, direction), product, atol=1e-14)


def test_the_network_that_made_the_labels_is_the_minimum():
    exact = LogisticPopulation.of(PROBLEM)
    truth = jnp.asarray(PROBLEM.weights)
    assert np.abs(exact.gradient(truth)).max() < 1e-15
    assert float(exact.value(truth)) == pytest.approx(exact.global_value, abs=1e-15)
    assert exact.global_value > 0.05
    assert LogisticPopulation.of(PROBLEM.replace(labels=Labels.REGRESSION)).global_value == 0
    stack = jnp.stack([truth, POINT])
    assert exact.value(stack)[1] > exact.value(stack)[0]


def test_it_is_the_energy_of_sigmoid_charges():
    charges = np.full(2, 0.5)
    two_layer = TwoLayer(PROBLEM.weights, activation="sigmoid", output_weights=charges, student_output_weights=charges)
    energy = landscape(two_layer)
    exact = LogisticPopulation.of(PROBLEM.replace(labels=Labels.REGRESSION))
    assert float(exact.value(POINT)) == pytest.approx(float(energy.value(POINT)), rel=1e-6)
    np.testing.assert_allclose(exact.gradient(POINT), energy.gradient(POINT), atol=1e-8)


def test_curvature_of_orthonormal_weights_is_that_of_the_theorem():
    problem = Logistic(orthogonal_weights(3, 5, seed=0), 1000)
    curvature = np.linalg.eigvalsh(LogisticPopulation.of(problem).hessian(jnp.asarray(problem.weights)))
    said = theory(problem)
    assert curvature[0] == pytest.approx(float(rho(BOUNDED["sigmoid"], 1.0)) / 9, rel=1e-9)
    assert curvature[0] == pytest.approx(said.least_curvature, rel=1e-9)
    assert 1 / curvature[-1] == pytest.approx(said.practical_step, rel=1e-9)
    assert said.practical_step == pytest.approx(69.1, abs=0.05)
    assert (said.condition, said.volume) == pytest.approx((1, 1))
    assert said.radius == pytest.approx(2.144e-3 / np.sqrt(3) / 0.0625, rel=1e-3)
    assert said.radius_of_the_proof < said.radius / 10
    assert said.step < said.practical_step / 100  # the theory's step is far too short
    assert said.samples > 1e6


def test_long_weights_are_warned_about():
    small = LogisticPopulation.of(Logistic(orthogonal_weights(2, 2, seed=0), 10), nodes=41)
    assert small.check(small.teacher) < 1e-6
    problem = Logistic(60 * orthogonal_weights(2, 2, seed=0), 10)
    with pytest.warns(AccuracyWarning, match="grid is refined"):
        LogisticPopulation.of(problem, nodes=41).check(jnp.asarray(problem.weights))
