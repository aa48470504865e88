"""The settings of gradient descent and of its end, and a single step."""

import json

import jax.numpy as jnp
import numpy as np
import pytest

from earnshaw.descent import GradientDescent, Stop, Stopping
from earnshaw.descent.optimizers.second_order import NewtonTrustRegion
from earnshaw.errors import InputError
from earnshaw.landscapes import landscape
from earnshaw.problems import TwoLayer


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        (GradientDescent, {"step": 0.0}, "the step is 0.0"),
        (GradientDescent, {"step": -0.1}, "the step is -0.1"),
        (GradientDescent, {"step": float("nan")}, "the step is nan"),
        (GradientDescent, {"step": float("inf")}, "the step is inf"),
        (GradientDescent, {"check_every": 0}, "check_every is 0"),
        (NewtonTrustRegion, {"check_every": 0}, "check_every is 0"),
        (NewtonTrustRegion, {"check_every": 2.5}, "check_every is 2.5"),
        (Stopping, {"max_steps": 0}, "the step limit is 0"),
        (Stopping, {"max_halvings": -1}, "max_halvings is -1"),
        (Stopping, {"max_halvings": "a"}, "max_halvings is 'a'"),
        (Stopping, {"trace": -1}, "every -1 steps"),
        (Stopping, {"trace": 2.5}, "every 2.5 steps"),
    ],
)
def test_bad_settings_are_refused(kind, settings, message):
    with pytest.raises(InputError, match=message):
        kind(**settings)


def test_the_records_hold_every_setting_with_its_default():
    record = json.loads(json.dumps(GradientDescent(step=0.3).to_json()))
    assert set(record) == {"kind", "step", "check_every"}
    assert float.fromhex(record["step"]) == 0.3
    record = json.loads(json.dumps(Stopping(rule=Stop.PAPER).to_json()))
    assert record == {"rule": "paper", "max_steps": 200_000, "max_halvings": 10, "trace": 0}
    assert Stopping().to_json() != Stopping(max_steps=7).to_json()


def test_one_step_goes_down_the_gradient_by_each_lanes_own_length():
    problem = TwoLayer(np.eye(3))
    points = np.random.default_rng(0).normal(size=(3, 3, 3))
    descent, scale = GradientDescent(step=0.1), np.array([1.0, 0.0, 0.2])
    state = descent.init(
        landscape(problem), jnp.asarray(points), jnp.asarray(scale), jnp.zeros((3, 2), dtype=jnp.uint32)
    )
    moved = np.asarray(descent.advance(landscape(problem), state).point)
    gradient = np.asarray(landscape(problem).gradient(points))
    np.testing.assert_allclose(moved, points - 0.1 * scale[:, None, None] * gradient, atol=1e-15)
    assert np.array_equal(moved[1], points[1])
