"""Families: how many distinct points there are, and which runs belong to each."""

import numpy as np
import pytest

from earnshaw.landscapes import landscape
from earnshaw.problems import TwoLayer, standard_teacher
from earnshaw.symmetry import canonical, families

PROBLEM = TwoLayer(standard_teacher(5), students=6)


def shuffled(weights, rng, teacher_symmetry=True):
    columns = rng.permutation(weights.shape[1]) if teacher_symmetry else np.arange(weights.shape[1])
    return weights[rng.permutation(len(weights))][:, columns]


def grouped(problem, points):
    points = np.array(points)
    return families(problem, points, np.asarray(landscape(problem).value(points)))


def test_points_are_counted_once_per_class_the_largest_first():
    rng = np.random.default_rng(0)
    first, second, third = rng.normal(size=(3, 6, 5))
    points = [shuffled(p, rng) for p in (first, second, second, third, second, first)]
    found = grouped(PROBLEM, points)
    assert [family.count for family in found] == [3, 2, 1]
    assert [family.members.tolist() for family in found] == [[1, 2, 4], [0, 5], [3]]
    for family, original in zip(found, (second, first, third), strict=True):
        np.testing.assert_allclose(family.weights, canonical(PROBLEM, original), atol=1e-12)
        assert family.objective == pytest.approx(float(landscape(PROBLEM).value(original)), rel=1e-12)


def test_points_1e7_apart_are_one_family_and_1e5_apart_are_two():
    rng = np.random.default_rng(1)
    weights = rng.normal(size=(6, 5))
    direction = rng.normal(size=(6, 5))
    direction /= np.linalg.norm(direction)
    for distance, count in ((1e-7, 1), (9e-7, 1), (1.1e-6, 2), (1e-5, 2)):
        points = [weights, shuffled(weights + distance * direction, rng)]
        assert len(grouped(PROBLEM, points)) == count, distance


def test_equal_entries_in_another_arrangement_are_another_family():
    """Same sorted entries, same row norms even; only the arrangement differs."""
    first = np.zeros((6, 5)) + 0.1
    second = first.copy()
    first[0, 0] = first[1, 0] = first[2, 1] = first[3, 1] = 0.9
    second[0, 0] = second[1, 0] = second[2, 0] = second[3, 1] = 0.9
    points = np.array([first, second])
    assert np.array_equal(np.sort(points[0].ravel()), np.sort(points[1].ravel()))
    assert len(families(PROBLEM, points, np.zeros(2))) == 2
    assert len(families(PROBLEM, np.array([first, first[::-1, ::-1]]), np.zeros(2))) == 1


def test_ties_do_not_split_a_family():
    """Equal rows and equal entries, as at a minimum with symmetry, and noise far below the tolerance."""
    rng = np.random.default_rng(2)
    weights = np.full((6, 5), -0.05)
    weights[:5] += np.eye(5)
    weights[5] = weights[4] = 0.5 * weights[4]
    points = [shuffled(weights, rng) + 1e-9 * rng.normal(size=(6, 5)) for _ in range(20)]
    assert [family.count for family in grouped(PROBLEM, points)] == [20]


def test_a_teacher_without_symmetry_allows_only_neuron_permutations():
    rng = np.random.default_rng(3)
    problem = TwoLayer(rng.normal(size=(5, 5)), students=6)
    weights = rng.normal(size=(6, 5))
    rows_only = [shuffled(weights, rng, teacher_symmetry=False) for _ in range(5)]
    (family,) = grouped(problem, rows_only)
    assert float(landscape(problem).value(family.weights)) == pytest.approx(family.objective, rel=1e-12)
    assert len(families(problem, np.array([weights, weights[:, [1, 0, 2, 3, 4]]]), np.zeros(2))) == 2


def test_trained_output_weights_belong_to_their_neurons():
    problem = TwoLayer(standard_teacher(4), students=3, activation="erf", trainable_output=True)
    rng = np.random.default_rng(4)
    weights = rng.normal(size=(3, 5))
    moved = [weights[rng.permutation(3)][:, [*rng.permutation(4), 4]] for _ in range(3)]
    others = weights.copy()
    others[:2, 4] = weights[1::-1, 4]  # two neurons exchange their output weights
    nearly = weights.copy()
    nearly[0, 4] += 1e-5
    found = families(problem, np.array([*moved, others, nearly, nearly]), np.zeros(6))
    assert [family.members.tolist() for family in found] == [[0, 1, 2], [4, 5], [3]]
    assert found[0].weights.shape == (3, 5)
    assert sorted(found[0].weights[:, 4]) == sorted(weights[:, 4])


def test_families_of_copies_are_named():
    problem = TwoLayer(standard_teacher(4), students=2, activation="erf", trainable_output=True)
    named = np.array([[0.0, 1.0, 0.0, 0.0, 1.0], [0.4, 0.0, 0.4, 0.4, 2.0]])
    found = families(problem, np.array([named, named[::-1], named + 0.1]), np.zeros(3))
    assert [(family.count, family.name) for family in found] == [(2, "1 copy, average of 3"), (1, None)]


def test_no_points_are_no_families():
    assert families(PROBLEM, np.zeros((0, 6, 5)), np.zeros(0)) == []


@pytest.mark.slow
def test_published_families_stay_distinct_and_their_copies_join_them(published):
    rng = np.random.default_rng(4)
    for name, points in published.items():
        n, k = points.shape[1:]
        problem = TwoLayer(standard_teacher(k), students=n)
        values = np.tile(np.asarray(landscape(problem).value(points)), 3)
        copies = np.array([*points, *(shuffled(p, rng) for p in points), *(shuffled(p, rng) for p in points)])
        found = families(problem, copies, values)
        assert [family.count for family in found] == [3] * len(points), name
