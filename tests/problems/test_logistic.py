import json
from dataclasses import replace

import numpy as np
import pytest

from earnshaw.errors import InputError
from earnshaw.problems import problem_from_json
from earnshaw.problems.logistic import Labels, Logistic, gaussian_weights, orthogonal_weights


def test_weights_are_what_they_are_called():
    np.testing.assert_allclose(
        orthogonal_weights(3, 7, 0, 2.0) @ orthogonal_weights(3, 7, 0, 2.0).T, 4 * np.eye(3), atol=1e-13
    )
    assert np.array_equal(gaussian_weights(2, 5, 1), gaussian_weights(2, 5, 1))
    assert not np.array_equal(gaussian_weights(2, 5, 1), gaussian_weights(2, 5, 2))
    many = gaussian_weights(50, 60, 0)
    assert abs(many.mean()) < 5 / np.sqrt(many.size)
    assert abs(many.var() - 1) < 5 * np.sqrt(2 / many.size)


def test_equality_hash_and_json():
    weights = gaussian_weights(2, 3, 0)
    one, two = Logistic(weights, 10), Logistic(weights.copy(), 10)
    assert one == two
    assert hash(one) == hash(two)
    for other in (
        replace(one, seed=1),
        replace(one, samples=11),
        replace(one, labels=Labels.REGRESSION),
        replace(one, activation="unit-erf"),
    ):
        assert one != other
    record = json.loads(json.dumps(one.to_json()))
    assert record["objective"] == "logistic/sigmoid"
    again = problem_from_json(record)
    assert again == one
    assert again.weights.tobytes() == weights.tobytes()
    assert (one.neurons, one.dimension) == (2, 3)
    with pytest.raises(ValueError, match="read-only"):
        one.weights[0, 0] = 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"weights": np.ones((3, 2))}, "1 <= neurons <= dimension"),
        ({"weights": [[1.0, 2.0], [3.0]]}, "not a matrix"),
        ({"weights": np.ones(3)}, "shape"),
        ({"weights": [[np.nan, 1.0]]}, "finite"),
        ({"weights": [[1j, 1.0]]}, "complex"),
        ({"samples": 0}, "samples"),
        ({"labels": "classification"}, "Labels.CLASSIFICATION"),
        ({"seed": -1}, "seed"),
    ],
)
def test_mistakes_are_explained(arguments, message):
    with pytest.raises(InputError, match=message):
        Logistic(**({"weights": np.eye(2), "samples": 10} | arguments))
