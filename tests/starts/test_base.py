"""Starts: random weights and points that the user gives."""

import json

import jax
import numpy as np
import pytest
import scipy.stats

from earnshaw.errors import InputError
from earnshaw.numerics import lane_keys
from earnshaw.problems import TwoLayer
from earnshaw.starts import Given, Normal, Sphere, Xavier, start, start_from_json

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


PROBLEM = TwoLayer(np.eye(3), students=2)
POINTS = np.random.default_rng(0).normal(size=(5, 2, 3))


def test_run_i_begins_at_point_i():
    given = Given(POINTS)
    assert np.array_equal(given.draw(PROBLEM, 0, np.array([3, 0])), POINTS[[3, 0]])
    assert np.array_equal(given.draw(PROBLEM, 99, np.array([3, 0])), POINTS[[3, 0]]), "the seed plays no part"
    assert np.array_equal(Given(POINTS[0]).draw(PROBLEM, 0, np.array([0])), POINTS[:1]), "one point is one run"


def test_points_come_from_a_file_or_an_array(tmp_path):
    np.save(tmp_path / "points.npy", POINTS)
    for given in (str(tmp_path / "points.npy"), tmp_path / "points.npy", POINTS, Given(POINTS)):
        assert np.array_equal(start(given).draw(PROBLEM, 0, np.arange(5)), POINTS)
    moved = POINTS.copy()
    moved[0, 0, 0] = np.nextafter(moved[0, 0, 0], 1)
    assert start(POINTS).to_json() == start(tmp_path / "points.npy").to_json() != start(moved).to_json()


def test_learned_output_weights_are_part_of_a_point():
    learned = TwoLayer(np.eye(3), students=2, trainable_output=True)
    points = np.random.default_rng(0).normal(size=(2, 2, 4))
    assert np.array_equal(start(points).draw(learned, 0, np.arange(2)), points)
    with pytest.raises(InputError, match=r"needs \(runs, 2, 4\)"):
        start(POINTS).draw(learned, 0, np.arange(2))


def test_points_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match=r"shape \(5, 2, 3\); this problem needs \(runs, 3, 3\)"):
        Given(POINTS).draw(TwoLayer(np.eye(3)), 0, np.arange(5))
    with pytest.raises(InputError, match="6 runs need as many starts, but 5 are given; ask for 5 runs"):
        Given(POINTS).draw(PROBLEM, 0, np.arange(6))


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (np.zeros(3), r"shape \(3,\)"),
        (np.full((1, 2, 3), np.nan), "give finite numbers"),
        (np.array([[["a", "b"]]]), "type <U1"),
        (np.ones((1, 2, 3), dtype=complex), "type complex128"),
        (np.array([[[None]]]), "type object"),
    ],
)
def test_bad_points_are_refused(points, message):
    with pytest.raises(InputError, match=message):
        Given(points)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "unknown start ''; choose xavier"),
        ("gauss", "unknown start 'gauss'; choose xavier"),
        ("normal", "no usable scale; write for example normal:0.1"),
        ("normal:", "no usable scale"),
        ("normal:0", "no usable scale"),
        ("normal:nan", "no usable scale"),
        ("xavier:2", "unknown start"),
        ("none.npy", "cannot read the starts none.npy"),
        (3, "the start is 3; choose xavier"),
        (None, "the start is None; choose xavier"),
    ],
)
def test_a_bad_name_is_one_sentence(name, message):
    with pytest.raises(InputError, match=message):
        start(name)


def test_points_of_another_number_of_axes_are_refused_by_the_problem():
    with pytest.raises(InputError, match=r"shape \(1, 2, 3, 4\); this problem needs \(runs, 2, 3\)"):
        Given(np.zeros((1, 2, 3, 4))).draw(PROBLEM, 0, np.arange(1))


def test_starts_go_through_json_and_back():
    for chosen in (Xavier(), Sphere(), start("normal:0.3"), start("four-signs"), start("sphere-and-ball")):
        assert start_from_json(json.loads(json.dumps(chosen.to_json()))) == chosen
    record = json.loads(json.dumps(Given(POINTS).to_json()))
    assert start_from_json(record).points.tobytes() == POINTS.tobytes()
    for change in ({"kind": "mine"}, {"sha256": "0"}, {"points": "%"}, {"shape": [7]}, {"shape": None}):
        with pytest.raises(InputError, match="cannot be read"):
            start_from_json(record | change)
    with pytest.raises(InputError, match="cannot be read"):
        start_from_json([])


def test_names():
    assert start("xavier") == Xavier()
    assert start("sphere") == Sphere()
    assert start(Xavier()) == Xavier()
