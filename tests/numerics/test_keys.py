"""Random keys belong to a lane, whatever the batch."""

import jax
import numpy as np

from earnshaw.numerics import lane_keys, lane_normals


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


def test_normals_belong_to_a_lane_and_a_stream_whatever_is_drawn_with_them():
    everyone = lane_normals(5, np.arange(9), 7)
    assert everyone.shape == (9, 7)
    expected = np.stack([jax.random.normal(key, (7,)) for key in lane_keys(5, np.arange(9))])
    assert np.array_equal(everyone, expected)
    assert np.array_equal(lane_normals(5, np.array([8, 2]), 7), everyone[[8, 2]])
    assert np.array_equal(lane_normals(5, np.arange(9), 3), everyone[:, :3]), "more of them do not change the first"
    assert np.array_equal(lane_normals(5, np.array([3]), 12)[0, :7], everyone[3])
    others = [lane_normals(5, np.arange(9), 7, stream) for stream in (0, 1, 2)]
    folded = jax.random.fold_in(lane_keys(5, np.array([4]))[0], 2)
    assert np.array_equal(others[2][4], jax.random.normal(folded, (7,)))
    assert len(np.unique([everyone, *others])) == 4 * 9 * 7
    assert lane_normals(5, np.arange(0), 3).shape == (0, 3)
