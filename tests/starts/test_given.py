"""Starts that the user gives: run i begins at point i, and what does not fit is said in one sentence."""

import json

import numpy as np
import pytest

from earnshaw.errors import InputError
from earnshaw.problems import TwoLayer
from earnshaw.starts import Given, Sphere, Xavier, start, start_from_json

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
