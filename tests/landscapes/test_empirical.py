import tracemalloc

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from earnshaw.errors import InputError
from earnshaw.landscapes.empirical import EmpiricalRisk, StreamedRisk
from earnshaw.landscapes.logistic_data import draw, draw_files
from earnshaw.landscapes.rows import Rows
from earnshaw.problems.logistic import Labels, Logistic, gaussian_weights

K, D = 3, 4


def problem(activation="sigmoid", labels=Labels.CLASSIFICATION, n=500):
    return Logistic(gaussian_weights(K, D, seed=1), n, labels, activation, seed=2)


def point(seed=0, *batch):
    return np.random.default_rng(seed).normal(size=(*batch, K, D))


PLAIN = {
    "sigmoid": lambda z: 1 / (1 + jnp.exp(-z)),
    "unit-tanh": lambda z: (1 + jnp.tanh(z)) / 2,
    "unit-erf": lambda z: (1 + jax.scipy.special.erf(z)) / 2,
}


CASES = [
    ("sigmoid", Labels.CLASSIFICATION),
    pytest.param("unit-tanh", Labels.REGRESSION, marks=pytest.mark.slow),
    pytest.param("unit-erf", Labels.CLASSIFICATION, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("activation", "labels"), CASES)
def test_risk_gradient_and_hessian_against_automatic_differentiation(activation, labels):
    rows = draw(problem(activation, labels))

    @jax.jit
    def plain(weights):
        values = PLAIN[activation](rows.x @ weights.T).mean(1)
        return 0.5 * jnp.mean((rows.y - values) ** 2)

    risk, weights, direction = EmpiricalRisk.of(rows, K, activation), point(), point(1)
    streamed = StreamedRisk(rows, K, activation)
    value, gradient = float(plain(weights)), np.asarray(jax.grad(plain)(weights))
    hessian = np.asarray(jax.hessian(plain)(weights)).reshape(K * D, K * D)
    product = (hessian @ direction.ravel()).reshape(K, D)
    assert np.abs(hessian).max() > 1e-3
    for ours in (risk, streamed):
        assert abs(float(ours.value(weights)) - value) < 1e-11
        np.testing.assert_allclose(ours.gradient(weights), gradient, atol=1e-11)
        np.testing.assert_allclose(ours.hessian(weights), hessian, atol=1e-11)
        np.testing.assert_allclose(ours.hessian_vector(weights, direction), product, atol=1e-11)
    np.testing.assert_allclose(risk.spectrum(weights), np.linalg.eigvalsh(hessian), atol=1e-11)


@pytest.mark.slow
def test_batches_agree_with_one_at_a_time():
    risk = EmpiricalRisk.of(draw(problem()), K)
    points = point(3, 2, 3)
    for name in ("value", "gradient", "hessian"):
        batch = np.asarray(getattr(risk, name)(points))
        single = np.array([[getattr(risk, name)(p) for p in row] for row in points])
        np.testing.assert_allclose(batch, single, atol=1e-15)
    assert risk.shape == (K, D)
    assert risk.global_value is None
    assert risk.take(np.arange(2)) is risk
    assert len(jax.tree.leaves(risk)) == 2
    for wrong in (np.ones((K, D + 1)), np.full((K, D), np.nan)):
        with pytest.raises(InputError, match="the point"):
            risk.point(wrong)


@pytest.mark.parametrize("chunk", [1, 13, 256, 499, 500, 4096])
def test_streamed_equals_whole_for_every_chunk(chunk):
    whole = draw(problem())
    risk = EmpiricalRisk.of(whole, K)
    weights, direction = point(), point(1)
    for threads in (1, 3):
        streamed = StreamedRisk(Rows(whole.x, whole.y, chunk, threads), K)
        value, gradient = streamed.value_and_gradient(weights)
        assert value == pytest.approx(float(risk.value(weights)), rel=1e-12)
        assert streamed.value(weights) == pytest.approx(value, rel=1e-13)
        for ours, expected in (
            (gradient, risk.gradient(weights)),
            (streamed.hessian(weights), risk.hessian(weights)),
            (streamed.hessian_vector(weights, direction), risk.hessian_vector(weights, direction)),
        ):
            assert np.abs(ours - expected).max() <= 1e-12 * np.abs(expected).max()


def test_a_pass_over_mapped_files_needs_little_memory(tmp_path):
    drawn = Logistic(gaussian_weights(3, 20, seed=1), 200_000, seed=2)
    rows = draw_files(drawn, tmp_path)
    risk = StreamedRisk(Rows(rows.x, rows.y, threads=2), 3)
    tracemalloc.start()
    value, gradient = risk.value_and_gradient(drawn.weights)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16e6, "the data are 32 MB; a few chunks are some 2 MB each"
    whole = EmpiricalRisk.of(rows, 3)
    assert value == pytest.approx(float(whole.value(drawn.weights)), rel=1e-12)
    np.testing.assert_allclose(gradient, whole.gradient(drawn.weights), atol=1e-14)
