"""Starts have the stated distribution, and belong to seed and lane alone."""

import jax
import numpy as np
import pytest
import scipy.stats

from earnshaw.numerics import lane_keys
from earnshaw.problems import TwoLayer
from earnshaw.starts import Normal, Sphere, Xavier, start

STARTS = [Xavier(), Normal(scale=0.3), Sphere()]
PLAIN = TwoLayer(np.diag([1.0, 2.0, 2.0]), students=7)
LEARNED = TwoLayer(PLAIN.teacher, students=7, trainable_output=True)
LANES = np.arange(500)


def test_entries_are_normal_with_variance_one_over_k():
    starts = Xavier().draw(PLAIN, 0, LANES)
    assert starts.shape == (500, 7, 3)
    assert starts.dtype == np.float64
    assert scipy.stats.kstest(np.sqrt(3.0) * starts.ravel(), "norm").pvalue > 1e-3  # k = 3
    correlation = np.corrcoef(starts.reshape(500, -1).T)
    assert np.abs(correlation - np.eye(21)).max() < 5 / np.sqrt(500)


def test_normal_has_the_scale_it_is_given():
    starts = Normal(scale=0.3).draw(PLAIN, 0, LANES)
    assert scipy.stats.kstest(starts.ravel() / 0.3, "norm").pvalue > 1e-3


def test_sphere_is_uniform_on_the_sphere_of_the_teachers_size():
    starts = Sphere().draw(PLAIN, 0, LANES)
    np.testing.assert_allclose(np.linalg.norm(starts, axis=-1), np.sqrt(3.0))  # the mean of 1, 4, 4
    for axis in np.eye(3):  # on a sphere in three dimensions every coordinate is uniform
        places = (starts @ axis).ravel() / np.sqrt(3.0)
        assert scipy.stats.kstest((places + 1) / 2, "uniform").pvalue > 1e-3


@pytest.mark.parametrize("chosen", STARTS, ids=lambda chosen: chosen.kind)
@pytest.mark.parametrize("problem", [PLAIN, LEARNED], ids=["fixed", "learned"])
def test_a_start_depends_on_seed_and_lane_alone(chosen, problem):
    everyone = chosen.draw(problem, 5, LANES)
    assert everyone.shape == (500, *problem.shape) == (500, 7, 3 + problem.trainable_output)
    assert np.array_equal(chosen.draw(problem, 5, np.array([17, 3])), everyone[[17, 3]])
    assert not np.any(chosen.draw(problem, 6, LANES) == everyone)
    assert len(np.unique(everyone)) == everyone.size


@pytest.mark.parametrize("chosen", STARTS, ids=lambda chosen: chosen.kind)
def test_learned_output_weights_begin_normal_and_leave_the_others_as_they_were(chosen):
    starts = chosen.draw(LEARNED, 0, LANES)
    assert np.array_equal(starts[..., :3], chosen.draw(PLAIN, 0, LANES))
    charges = starts[..., 3].ravel()
    assert scipy.stats.kstest(charges, "norm").pvalue > 1e-3
    together = np.column_stack([starts[..., :3].reshape(-1, 3), charges])
    assert np.abs(np.corrcoef(together.T)[3, :3]).max() < 5 / np.sqrt(3500)


def test_the_records_tell_starts_apart():
    records = [chosen.to_json() for chosen in (*STARTS, Normal(scale=0.31))]
    assert records[0] == {"kind": "xavier"}
    assert float.fromhex(records[1]["scale"]) == 0.3
    assert all(first != second for i, first in enumerate(records) for second in records[:i])
    assert start("normal:0.3") == STARTS[1]


@pytest.mark.parametrize("lanes", [1, 5, 8])
def test_numbers_do_not_depend_on_how_many_are_drawn_together(lanes):
    """A larger program serves smaller sizes; each lane's numbers are those that its own key gives for its own shape."""
    problem = TwoLayer(np.eye(5), students=3)
    keys = lane_keys(7, np.arange(lanes))
    expected = np.stack([jax.random.normal(key, (3, 5)) for key in keys]) / np.sqrt(5)
    np.testing.assert_array_equal(Xavier().draw(problem, 7, np.arange(lanes)), expected)
