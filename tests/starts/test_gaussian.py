"""Starts have the stated distribution, and belong to seed and lane alone."""

import numpy as np
import scipy.stats

from earnshaw.problems import TwoLayer, standard_teacher
from earnshaw.starts import Xavier


def test_entries_are_normal_with_variance_one_over_k():
    problem = TwoLayer(np.eye(4, 5), students=7)
    starts = Xavier().draw(problem, 0, np.arange(500))
    assert starts.shape == (500, 7, 5)
    assert starts.dtype == np.float64
    test = scipy.stats.kstest(2.0 * starts.ravel(), "norm")  # k = 4
    assert test.pvalue > 1e-3
    correlation = np.corrcoef(starts.reshape(500, -1).T)
    assert np.abs(correlation - np.eye(35)).max() < 5 / np.sqrt(500)


def test_a_start_depends_on_seed_and_lane_alone():
    problem = TwoLayer(standard_teacher(3))
    everyone = Xavier().draw(problem, 5, np.arange(40))
    assert np.array_equal(Xavier().draw(problem, 5, np.array([17, 3])), everyone[[17, 3]])
    assert not np.any(Xavier().draw(problem, 6, np.arange(40)) == everyone)
    assert len(np.unique(everyone)) == everyone.size
    assert Xavier().to_json() == {"kind": "xavier"}
