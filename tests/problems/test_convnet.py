import dataclasses

import numpy as np
import pytest

from earnshaw.errors import InputError
from earnshaw.problems.convnet import ConvNet

FILTER, OUTPUTS = np.array([3.0, 4.0]), np.array([1.0, -2.0, 3.0])


def test_the_numbers_of_a_problem():
    problem = ConvNet(FILTER, OUTPUTS)
    assert (problem.filter_size, problem.patches, problem.total) == (2, 3, 2.0)
    assert problem.scale == 25 * 14
    assert problem.ratio == pytest.approx(2 / np.sqrt(14), rel=1e-15)


def test_the_data_are_frozen_and_copied():
    mine = FILTER.copy()
    problem = ConvNet(mine, OUTPUTS)
    mine[0] = 7
    assert problem.filter[0] == 3
    with pytest.raises(ValueError, match="read-only"):
        problem.filter[0] = 7
    with pytest.raises(dataclasses.FrozenInstanceError):
        problem.filter = mine  # type: ignore[misc]


def test_json_is_exact_and_reads_back():
    problem = ConvNet(np.array([0.1, 1e-70]), np.array([1 / 3, -2.0]))
    record = problem.to_json()
    assert record["filter"][0] == "0x1.999999999999ap-4"
    assert record["objective"] == "convnet/relu"
    again = ConvNet.from_json(record)
    assert again == problem
    assert hash(again) == hash(problem)
    assert ConvNet(FILTER, OUTPUTS) != ConvNet(FILTER, -OUTPUTS)


@pytest.mark.parametrize(
    ("filter", "outputs", "says"),
    [
        ([0.0, 0.0], OUTPUTS, "must not be zero"),
        (FILTER, [0.0], "must not be zero"),
        ([np.nan, 1.0], OUTPUTS, "value nan in entry"),
        (FILTER, [np.inf], "value inf in entry"),
        ([[1.0, 2.0]], OUTPUTS, "shape"),
        (FILTER, [], "shape"),
        ([1j, 1.0], OUTPUTS, "complex"),
        (["a", "b"], OUTPUTS, "not a vector"),
        (FILTER, [1e80], "rescale"),
    ],
)
def test_what_cannot_be_learnt_is_refused(filter, outputs, says):
    with pytest.raises(InputError, match=says):
        ConvNet(filter, outputs)


@pytest.mark.parametrize(
    "change",
    [{"p": 3}, {"k": 2}, {"objective": "two-layer/relu"}, {"filter": [0.5, 1.0]}, {"filter": ["x"]}, {"more": 1}],
)
def test_damaged_json_is_refused(change):
    with pytest.raises(InputError):
        ConvNet.from_json(ConvNet(FILTER, OUTPUTS).to_json() | change)
