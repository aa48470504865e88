"""Copies: as many as the symmetry that a point breaks, less those that another matrix cannot tell apart."""

import math

import numpy as np

from earnshaw.problems import TwoLayer
from earnshaw.symmetry import align, copies


def odd(k, chosen):
    """Return a point whose neurons in ``chosen`` are turned round."""
    weights = np.full((k, k), -0.1) + 1.1 * np.eye(k)
    weights[chosen] *= -0.5
    return weights


def test_there_are_as_many_copies_as_choices_of_the_odd_neurons():
    symmetry, noise = TwoLayer(np.eye(5)).symmetry, np.random.default_rng(0).normal(size=(5, 5))
    for chosen in ([0], [1, 3]):
        found = copies(symmetry, odd(5, chosen), noise, 100)
        assert len(found) == math.comb(5, len(chosen))
        assert np.array_equal(found[0], odd(5, chosen))
        assert all(align(symmetry, one, found[0], 1e-9) is not None for one in found)
        as_sets = {tuple(sorted(map(tuple, np.round(one, 12)))) for one in found}
        assert len(as_sets) == len(found), "none is another with its neurons in a different order"
    assert len(copies(symmetry, odd(5, [1, 3]), noise, 4)) == 4


def test_copies_that_the_other_matrix_cannot_tell_apart_count_once():
    symmetry = TwoLayer(np.eye(5)).symmetry
    assert len(copies(symmetry, odd(5, [2]), 2 * np.eye(5), 100)) == 1
    longer = np.diag([3.0, 1.0, 1.0, 1.0, 1.0])
    assert len(copies(symmetry, odd(5, [2]), longer, 100)) == 2, "the odd one is the longer one, or another"
    assert len(copies(TwoLayer(longer + 0.1 * np.arange(25).reshape(5, 5)).symmetry, odd(5, [2]), longer, 9)) == 1
