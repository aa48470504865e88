"""Starts that the user gives: run i begins at point i, and what does not fit is said in one sentence."""

import numpy as np
import pytest

from earnshaw.errors import InputError
from earnshaw.problems import TwoLayer
from earnshaw.starts import Given, Sphere, Xavier, start

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
    with pytest.raises(InputError, match="6 runs were asked for, but 5 starts are given; use --runs 5"):
        Given(POINTS).draw(PROBLEM, 0, np.arange(6))


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (np.zeros(3), r"shape \(3,\)"),
        (np.zeros((1, 2, 3, 4)), r"shape \(1, 2, 3, 4\)"),
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


def test_names():
    assert start("xavier") == Xavier()
    assert start("sphere") == Sphere()
    assert start(Xavier()) == Xavier()
