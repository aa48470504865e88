"""Random keys belong to a lane, whatever the batch."""

import jax
import numpy as np

from earnshaw.numerics import lane_keys


def bits(seed, lanes):
    return np.asarray(jax.random.key_data(lane_keys(seed, np.asarray(lanes))))


def test_the_key_of_a_lane_does_not_depend_on_its_company():
    everyone = bits(3, range(100))
    assert np.array_equal(bits(3, [17]), everyone[[17]])
    assert np.array_equal(bits(3, [99, 0, 17]), everyone[[99, 0, 17]])


def test_lanes_and_seeds_have_keys_of_their_own():
    keys = [tuple(row) for seed in (0, 1, 2**32, 2**40, 2**63 - 1) for row in bits(seed, [0, 1, 2, 2**32 - 1])]
    assert len(set(keys)) == len(keys)


def test_keys_are_the_same_for_ever():
    """Results are published with their seed; another generator would make them unrepeatable."""
    assert bits(0, [0, 1]).tolist() == [[1797259609, 2579123966], [928981903, 3453687069]]
