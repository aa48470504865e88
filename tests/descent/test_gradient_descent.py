"""The settings of gradient descent, and its single step."""

import json

import numpy as np
import pytest

from earnshaw.descent import GradientDescent, Stop
from earnshaw.errors import InputError
from earnshaw.landscapes import landscape
from earnshaw.problems import TwoLayer


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"step": 0.0}, "the step is 0.0"),
        ({"step": -0.1}, "the step is -0.1"),
        ({"step": float("nan")}, "the step is nan"),
        ({"step": float("inf")}, "the step is inf"),
        ({"max_steps": 0}, "the step limit is 0"),
        ({"check_every": 0}, "check_every is 0"),
        ({"max_halvings": -1}, "max_halvings is -1"),
        ({"trace": -1}, "every -1 steps"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        GradientDescent(**settings)


def test_the_record_holds_every_setting_with_its_default():
    record = json.loads(json.dumps(GradientDescent(step=0.3, stop=Stop.PAPER).to_json()))
    assert set(record) == {"kind", "step", "stop", "max_steps", "check_every", "max_halvings", "trace"}
    assert record["stop"] == "paper"
    assert float.fromhex(record["step"]) == 0.3
    assert GradientDescent().to_json() != GradientDescent(max_steps=7).to_json()


def test_one_step_goes_down_the_gradient_and_parked_lanes_stay():
    problem = TwoLayer(np.eye(3))
    weights = np.random.default_rng(0).normal(size=(3, 3, 3))
    descent = GradientDescent(step=0.1)
    state = descent.init(weights, np.array([0.1, 0.0, 0.02]))
    moved = np.asarray(descent.advance(landscape(problem), state).weights)
    gradient = np.asarray(landscape(problem).gradient(weights))
    np.testing.assert_allclose(moved, weights - np.array([0.1, 0.0, 0.02])[:, None, None] * gradient, atol=1e-15)
    assert np.array_equal(moved[1], weights[1])
    assert np.asarray(descent.init(weights).step_size).tolist() == [0.1] * 3
