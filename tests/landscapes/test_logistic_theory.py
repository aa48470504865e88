"""The population risk of a logistic problem is an energy of charges, and what the theorems say of it."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import least_squares

from earnshaw.landscapes import landscape
from earnshaw.landscapes.empirical import EmpiricalRisk
from earnshaw.landscapes.logistic_data import draw
from earnshaw.landscapes.logistic_theory import asymptotic_error, label_noise, rho, theory
from earnshaw.problems import activation
from earnshaw.problems.logistic import Labels, Logistic, gaussian_weights, orthogonal_weights

pytestmark = pytest.mark.slow  # compilation
PROBLEM = Logistic(gaussian_weights(2, 3, seed=0), 200_000, seed=1)
POINT = jnp.asarray(np.random.default_rng(2).normal(size=(2, 3)))


@pytest.mark.parametrize("labels", Labels)
def test_value_gradient_and_hessian_against_a_sample(labels):
    rows = draw(replace(PROBLEM, labels=labels))
    exact, sampled = landscape(PROBLEM.population), EmpiricalRisk.of(rows, 2)
    noise = label_noise(PROBLEM) if labels is Labels.CLASSIFICATION else 0.0
    values = 0.5 * (np.mean(1 / (1 + np.exp(-rows.x @ np.asarray(POINT).T)), 1) - rows.y) ** 2
    assert abs(values.mean() - float(exact.value(POINT)) - noise) < 5 * values.std() / np.sqrt(len(rows))
    spread = 5 * 0.5 / np.sqrt(len(rows))  # every entry is a mean of products below 1/2 in spread
    np.testing.assert_allclose(exact.gradient(POINT), sampled.gradient(POINT), atol=spread / 2)
    np.testing.assert_allclose(exact.hessian(POINT), sampled.hessian(POINT), atol=spread / 2)


@pytest.mark.parametrize("name", ["sigmoid", "unit-tanh", "unit-erf"])
def test_label_noise_against_a_grid_in_the_plane(name):
    """Two neurons span a plane: a mean over a fine grid of it, from the function alone."""
    problem = Logistic(gaussian_weights(2, 2, seed=3), 10, activation=name)
    grid = np.linspace(-9, 9, 289)
    density = np.exp(-0.5 * grid**2) * (grid[1] - grid[0]) / np.sqrt(2 * np.pi)
    x = np.stack(np.meshgrid(grid, grid, indexing="ij"), -1)
    p = activation(name)(x @ problem.weights.T).mean(-1)
    expected = 0.5 * density @ (p * (1 - p)) @ density
    assert expected > 0.05
    assert label_noise(problem) == pytest.approx(expected, rel=1e-9)


def test_the_network_that_made_the_labels_is_the_minimum():
    exact = landscape(PROBLEM.population)
    truth = jnp.asarray(PROBLEM.weights)
    assert np.abs(exact.gradient(truth)).max() < 1e-14
    assert float(exact.value(truth)) == pytest.approx(exact.global_value, abs=1e-15)
    assert label_noise(PROBLEM) > 0.05
    stack = jnp.stack([truth, POINT])
    assert exact.value(stack)[1] > exact.value(stack)[0]


def test_curvature_of_orthonormal_weights_is_that_of_the_theorem():
    problem = Logistic(orthogonal_weights(3, 5, seed=0), 1000)
    curvature = np.linalg.eigvalsh(landscape(problem.population).hessian(jnp.asarray(problem.weights)))
    said = theory(problem)
    assert curvature[0] == pytest.approx(float(rho(activation("sigmoid"), 1.0)) / 9, rel=1e-9)
    assert curvature[0] == pytest.approx(said.least_curvature, rel=1e-9)
    assert 1 / curvature[-1] == pytest.approx(said.practical_step, rel=1e-9)
    assert said.practical_step == pytest.approx(69.1, abs=0.05)
    assert (said.condition, said.volume) == pytest.approx((1, 1))
    assert said.radius == pytest.approx(2.144e-3 / np.sqrt(3) / 0.0625, rel=1e-3)
    assert said.radius_of_the_proof < said.radius / 10
    assert said.step < said.practical_step / 100  # the theory's step is far too short
    assert said.samples > 1e6


def test_the_error_for_many_rows_is_that_of_minimisers_found_by_another_method():
    """The mean square error over a hundred data sets is known to a third of itself, and the formula to more."""
    problem = Logistic(gaussian_weights(2, 2, seed=3), 10_000, seed=0)
    squares, expected = [], []
    for seed in range(100):
        one = replace(problem, seed=seed)
        rows = draw(one)

        def residual(w, rows=rows):
            return np.mean(1 / (1 + np.exp(-rows.x @ w.reshape(2, 2).T)), 1) - rows.y

        found = least_squares(residual, problem.weights.ravel(), method="lm").x
        squares.append(((found - problem.weights.ravel()) ** 2).sum())
        expected.append(asymptotic_error(one, rows) ** 2)
    assert np.std(expected) < 0.05 * np.mean(expected)
    room = 3.5 * np.std(squares) / np.sqrt(len(squares))
    assert room < 0.5 * np.mean(expected)
    assert abs(np.mean(squares) - np.mean(expected)) < room
    assert asymptotic_error(replace(problem, labels=Labels.REGRESSION), rows) == 0
