import numpy as np
import pytest

from earnshaw.errors import InputError
from earnshaw.landscapes.logistic_data import draw
from earnshaw.problems.logistic import Labels, Logistic, gaussian_weights, orthogonal_weights
from earnshaw.starts.tensor import TensorStart
from earnshaw.symmetry.assignment import relative_error


def errors(start, weights, n, labels, sets):
    found = []
    for seed in range(sets):
        problem = Logistic(weights(seed), n, labels, seed=seed)
        found.append(relative_error(start.guess(draw(problem), 3).weights, problem.weights))
    return np.array(found)


def test_regression_ten_thousand_rows_and_the_papers_version_beside_it():
    def weights(seed):
        return orthogonal_weights(3, 20, seed)

    ours = errors(TensorStart(), weights, 10_000, Labels.REGRESSION, 8)
    paper = errors(TensorStart.paper(), weights, 10_000, Labels.REGRESSION, 8)
    assert np.median(ours) < 0.2
    assert ours.max() < 0.3
    assert np.median(paper) > 0.8  # as good as no estimate: the error of the zero weights is 1


@pytest.mark.slow
def test_classification_with_long_neurons():
    found = errors(TensorStart(), lambda seed: orthogonal_weights(3, 20, seed, 3.0), 100_000, Labels.CLASSIFICATION, 8)
    assert np.median(found) < 0.3


@pytest.mark.slow
def test_every_step_of_ours_helps():
    def weights(seed):
        drawn = gaussian_weights(3, 20, seed)
        return 2.0 * drawn / np.linalg.norm(drawn, axis=1, keepdims=True)

    def median(**settings):
        return np.median(errors(TensorStart(**settings), weights, 5000, Labels.REGRESSION, 4))

    best = median()
    assert best < 0.2
    assert median(residual=False) > 2 * best
    assert median(rounds=0) > 1.2 * best


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "orders", "limit"), [("bump", (2, 4), 0.25), ("skew", (2, 3), 0.25)], ids=["order 4", "order 2"]
)
def test_other_activations_use_other_moments(name, orders, limit, tmp_path, monkeypatch):
    (tmp_path / "shapes.py").write_text(
        "import jax.numpy as jnp\n"
        "def bump(z):\n    return jnp.exp(-z * z)\n"
        "def skew(z):\n    return 1 / (1 + jnp.exp(2 - 2 * z))\n"
    )
    monkeypatch.chdir(tmp_path)
    problem = Logistic(orthogonal_weights(2, 8, 0, 0.5), 20_000, Labels.REGRESSION, f"shapes.py:{name}")
    found = TensorStart().guess(draw(problem), 2, problem.activation)
    weights = found.weights
    if orders[0] == 2 and name == "bump":  # an even activation cannot tell w from -w
        signs = np.sign(weights @ problem.weights.T)[np.arange(2), np.abs(weights @ problem.weights.T).argmax(1)]
        weights = signs[:, None] * weights
    assert relative_error(weights, problem.weights) < limit
    np.testing.assert_allclose(found.frame.T @ found.frame, np.eye(2), atol=1e-12)


def test_norms_beyond_what_the_moment_can_show_are_capped():
    problem = Logistic(orthogonal_weights(2, 6, 0, norm=30.0), 2000, Labels.CLASSIFICATION)
    found = TensorStart().guess(draw(problem), 2)
    assert np.isfinite(found.weights).all()
    assert found.saturated >= 0
    norms = np.linalg.norm(found.weights, axis=1)
    assert norms.max() <= 2 * 50


def test_mistakes_are_explained(tmp_path, monkeypatch):
    rows = draw(Logistic(np.eye(2), 50))
    with pytest.raises(InputError, match="use fewer neurons"):
        TensorStart().guess(rows, 3)
    with pytest.raises(InputError, match="three parts"):
        TensorStart.paper().guess(rows.part(0, 2), 1)
    (tmp_path / "line.py").write_text("import jax.numpy as jnp\ndef line(z):\n    return 0.5 + 0.04 * z\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="random start"):
        TensorStart().guess(rows, 2, "line.py:line")
