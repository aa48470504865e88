"""What is proved about a data set, held against sampling; and what must stay unproved."""

import numpy as np
import pytest
from flint import arb

from earnshaw.errors import InputError
from earnshaw.landscapes.logistic_data import draw
from earnshaw.landscapes.streamed import StreamedRisk
from earnshaw.problems.logistic import Labels, Logistic, gaussian_weights, orthogonal_weights
from earnshaw.proof.convexity import _fourth_moment, prove_convexity


def setting(activation="sigmoid", labels=Labels.REGRESSION, n=3000, weights=None):
    weights = orthogonal_weights(2, 5, seed=0, norm=2.0) if weights is None else weights
    problem = Logistic(weights, n, labels, activation, seed=1)
    rows = draw(problem)
    return problem.weights, rows, StreamedRisk(rows, len(weights), activation)


@pytest.mark.parametrize("activation", ["sigmoid", "unit-tanh", "unit-erf"])
def test_bounds_hold_and_say_something(activation):
    weights, rows, risk = setting(activation, Labels.CLASSIFICATION)
    ball = prove_convexity(rows.x, rows.y, weights, activation)
    eigenvalue = np.linalg.eigvalsh(risk.hessian(weights))[0]
    assert ball.proved
    assert eigenvalue * (1 - 1e-6) < ball.curvature_ge <= eigenvalue
    norm = np.linalg.norm(risk.gradient(weights))
    assert norm <= ball.gradient_le < norm * 1.0001
    generator = np.random.default_rng(0)
    rates = []
    for _ in range(30):
        direction = generator.normal(size=weights.shape)
        direction /= np.linalg.norm(direction)
        inside = risk.hessian(weights + 0.999 * ball.radius * direction)
        assert np.linalg.eigvalsh(inside)[0] > 0
        change = np.linalg.norm(risk.hessian(weights + 1e-4 * direction) - risk.hessian(weights), 2) / 1e-4
        rates.append(change)
    assert 0.015 * ball.change_le < max(rates) < ball.change_le


def test_the_minimiser_is_where_the_proof_says():
    weights, rows, risk = setting(labels=Labels.CLASSIFICATION, n=20_000)
    for _ in range(12):
        step = np.linalg.solve(risk.hessian(weights), risk.gradient(weights).ravel())
        weights = weights - step.reshape(weights.shape)
    off = weights + 1e-5
    ball = prove_convexity(rows.x, rows.y, off)
    assert ball.minimiser_within is not None
    assert np.linalg.norm(weights - off) <= ball.minimiser_within < 0.1 * ball.radius
    far = prove_convexity(rows.x, rows.y, weights + 0.05)
    assert far.minimiser_within is None


def test_what_is_not_convex_stays_unproved():
    weights, rows, _ = setting()
    few = prove_convexity(rows.x[:8], rows.y[:8], weights)  # 8 rows cannot fix 10 numbers
    assert not few.proved
    assert few.radius == 0
    assert "smallest eigenvalue" in few.reason
    twins = np.stack([weights[0], weights[0]])  # exchanging two equal neurons leaves a flat or falling direction
    assert not prove_convexity(rows.x, rows.y, twins).proved
    random = prove_convexity(rows.x, np.random.default_rng(0).random(len(rows)), gaussian_weights(2, 5, 3))
    assert random.minimiser_within is None


def test_the_fourth_moment_bound_is_above_every_sample_and_near_three():
    x = np.random.default_rng(0).normal(size=(20_000, 6))
    bound = _fourth_moment(x)
    directions = np.random.default_rng(1).normal(size=(500, 6))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    sampled = np.mean((x @ directions.T) ** 4, axis=0).max()
    assert arb(sampled) < bound < 3.7
    assert _fourth_moment(10 * x) < arb(10) ** 4 * 3.7
    spike = np.zeros((4, 3))
    spike[0, 1] = 2.0
    assert abs(float(_fourth_moment(spike)) - 4.0) < 1e-9  # one row: max (p.x)^4 / 4


def test_mistakes_are_explained():
    weights, rows, _ = setting(n=50)
    with pytest.raises(InputError, match="sigmoid, unit-tanh, unit-erf"):
        prove_convexity(rows.x, rows.y, weights, "mine:function")
    with pytest.raises(InputError, match="do not fit"):
        prove_convexity(rows.x, rows.y[:-1], weights)
    with pytest.raises(InputError, match="NaN"):
        prove_convexity(rows.x, rows.y, np.full_like(weights, np.nan))


def test_numbers_beyond_reason_stay_unproved():
    weights, rows, _ = setting(n=50)
    ball = prove_convexity(rows.x, rows.y, 1e300 * weights)
    assert not ball.proved
    assert ball.reason
