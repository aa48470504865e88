"""The exact landscape is what the mean over samples tends to."""

import jax
import numpy as np

from earnshaw.landscapes import landscape
from earnshaw.problems import TwoLayer

SAMPLES = 200_000


def case():
    rng = np.random.default_rng(0)
    problem = TwoLayer(
        rng.normal(size=(3, 5)),
        students=4,
        output_weights=[1.0, -0.5, 2.0],
        student_output_weights=[1.0, 1.0, -1.0, 0.7],
    )
    return problem, rng.normal(size=(4, 5))


def test_value_and_gradient_within_five_standard_errors():
    problem, weights = case()
    energy = landscape(problem)
    sample = energy.draw(jax.random.key(1), SAMPLES)
    assert sample.shape == (SAMPLES, 5)
    losses = np.asarray(energy.sampled_losses(weights, sample))
    error = losses.std() / np.sqrt(SAMPLES)
    assert abs(losses.mean() - float(energy.value(weights))) < 5 * error
    assert error < 0.01 * losses.mean()

    # The gradient of each of 100 parts gives its standard error.
    parts = np.asarray(jax.vmap(jax.grad(energy.sampled_value), (None, 0))(weights, sample.reshape(100, -1, 5)))
    errors = parts.std(axis=0) / np.sqrt(100)
    exact = np.asarray(energy.gradient(weights))
    assert (np.abs(parts.mean(axis=0) - exact) < 5 * errors).all()
    assert np.median(errors) < 0.03 * np.abs(exact).max()


def test_the_sampled_loss_is_zero_for_the_teacher_itself():
    problem, _ = case()
    same = TwoLayer(
        problem.teacher, output_weights=problem.output_weights, student_output_weights=problem.output_weights
    )
    energy = landscape(same)
    sample = energy.draw(jax.random.key(2), 1000)
    assert float(energy.sampled_value(same.teacher, sample)) == 0.0
    assert float(energy.sampled_value(1.1 * same.teacher, sample)) > 1e-3
    assert np.array_equal(sample, energy.draw(jax.random.key(2), 1000))
