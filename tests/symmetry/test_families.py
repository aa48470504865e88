"""Families: how many distinct points there are, and which runs belong to each."""

import json

import numpy as np
import pytest

from earnshaw.landscapes import landscape
from earnshaw.problems import Charges, Data, TwoLayer, standard_teacher
from earnshaw.symmetry import FamilyRecord, canonical, pack, unpack
from earnshaw.symmetry import families as group
from earnshaw.symmetry.assignment import describe

PROBLEM = TwoLayer(standard_teacher(5), students=6)


def shuffled(weights, rng, teacher_symmetry=True):
    columns = rng.permutation(weights.shape[1]) if teacher_symmetry else np.arange(weights.shape[1])
    return weights[rng.permutation(len(weights))][:, columns]


def families(problem, points, values, **more):
    return group(
        problem.symmetry,
        points,
        values,
        **{"runs": np.arange(len(points)), "scale": getattr(problem, "scale", 1.0)} | more,
    )


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
        np.testing.assert_allclose(family.weights, canonical(PROBLEM.symmetry, original), atol=1e-12)
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
    points = np.array([named, named[::-1], named + 0.1])
    found = families(problem, points, np.zeros(3), describe=lambda point: describe(problem, point))
    assert [(family.count, family.name) for family in found] == [(2, "1 copy, average of 3"), (1, None)]


def test_no_points_are_no_families():
    assert families(PROBLEM, np.zeros((0, 6, 5)), np.zeros(0)) == []


RNG = np.random.default_rng(8)
OTHERS = {
    "two-layer": PROBLEM,
    "trained": TwoLayer(standard_teacher(4), students=5, activation="erf", trainable_output=True),
    "charges": Charges(np.eye(4), electrons=5, electron_charges=[1.0, 1.0, -1.0, -1.0, -1.0]),
    "trained-charges": Charges(np.eye(4), [1.0, 1.0, 2.0, 2.0], electrons=3),
    "data": Data(RNG.normal(size=(60, 5)), np.linspace(0, 1, 60), neurons=4),
}


def moved(problem, weights, rng):
    """A point moved by a symmetry, found without the library: order rows and columns by class."""
    symmetry = problem.symmetry
    rows = np.empty(len(weights), dtype=int)
    for number in np.unique(symmetry.rows):
        rows[symmetry.rows == number] = rng.permutation(np.flatnonzero(symmetry.rows == number))
    columns = np.arange(weights.shape[1])
    if len(symmetry.anchors):  # the standard basis: coordinates go with anchors of their class
        for number in np.unique(symmetry.anchor_rows):
            columns[np.flatnonzero(symmetry.anchor_rows == number)] = rng.permutation(
                np.flatnonzero(symmetry.anchor_rows == number)
            )
    return weights[rows][:, columns]


@pytest.mark.parametrize("name", OTHERS)
def test_members_are_runs_and_alignments_take_them_to_the_representative(name):
    problem, rng = OTHERS[name], np.random.default_rng(9)
    kinds = rng.normal(size=(3, *problem.shape))
    kinds[2] = np.round(kinds[2])  # ties
    which = rng.integers(3, size=20)
    runs = np.sort(rng.choice(500, size=20, replace=False))
    points = np.zeros((500, *problem.shape))
    for run, kind in zip(runs, which, strict=True):
        points[run] = moved(problem, kinds[kind], rng) + 1e-10 * rng.normal(size=problem.shape)
    found = families(problem, points[runs], np.zeros(20), runs=runs)
    assert sorted(family.members.tolist() for family in found) == sorted(
        runs[which == kind].tolist() for kind in range(3)
    )
    for family in found:
        assert family.count == len(family.members) == len(family.alignments)
        np.testing.assert_allclose(family.weights, canonical(problem.symmetry, points[family.members[0]]), atol=0)
        for run, alignment in zip(family.members, family.alignments, strict=True):
            assert np.linalg.norm(alignment.move(points[run]) - family.weights) <= 1e-6
            assert np.array_equal(problem.symmetry.rows[alignment.rows], problem.symmetry.rows)
    arrays = pack(found, 500, problem.shape)
    assert arrays["family"].shape == (500,)
    assert arrays["family_rows"].dtype == arrays["family_columns"].dtype == np.uint8
    for run in runs:
        at = points[run][arrays["family_rows"][run]][:, arrays["family_columns"][run]]
        assert np.linalg.norm(at - arrays["family_weights"][arrays["family"][run]]) <= 1e-6
    assert np.array_equal(np.flatnonzero(arrays["family"] >= 0), runs)
    _same(unpack([FamilyRecord.from_json(family.to_json()) for family in found], arrays), found)


def _same(read, written):
    assert len(read) == len(written)
    for one, other in zip(read, written, strict=True):
        assert one.to_json() == other.to_json()
        assert np.array_equal(one.weights, other.weights)
        assert np.array_equal(one.members, other.members)
        assert (one.alignments is None) == (other.alignments is None)
        for first, second in zip(one.alignments or (), other.alignments or (), strict=True):
            assert np.array_equal(first.rows, second.rows)
            assert np.array_equal(first.columns, second.columns)


def test_coordinates_of_data_are_not_exchanged():
    problem = OTHERS["data"]
    weights = np.random.default_rng(10).normal(size=problem.shape)
    assert len(families(problem, np.array([weights, weights[::-1]]), np.zeros(2))) == 1
    assert len(families(problem, np.array([weights, weights[:, ::-1]]), np.zeros(2))) == 2


def test_without_declared_symmetries_losses_alone_decide():
    points = np.random.default_rng(11).normal(size=(5, 7))
    values = np.array([1.0, 2.0, 1.0 + 1e-7, 2.0 + 1e-5, 1.0 - 1e-7])
    found = group(None, points, values, runs=np.array([3, 5, 8, 9, 11]))
    assert [family.members.tolist() for family in found] == [[3, 8, 11], [5], [9]]
    assert [family.alignments for family in found] == [None] * 3
    assert np.array_equal(found[0].weights, points[0])
    assert [f.count for f in group(None, points, values, runs=np.arange(5), scale=100.0)] == [3, 2]
    arrays = pack(found, 12, (7,))
    assert set(arrays) == {"family", "family_weights"}
    _same(unpack(found, arrays), found)


def test_a_record_of_a_family_goes_through_json():
    for record in (
        FamilyRecord(count=3, objective=0.25, min_eigenvalue=0.01),
        FamilyRecord(count=1, objective=0.5, min_eigenvalue=-1e-3, name="1 copy"),
        FamilyRecord(count=1, objective=0.5, min_eigenvalue=-1e-3, name="1 copy", label="S_4 x S_2"),
        FamilyRecord(count=1, objective=0.5, min_eigenvalue=-1e-3, label="S_5"),
    ):
        assert FamilyRecord.from_json(json.loads(json.dumps(record.to_json(), allow_nan=False))) == record
    unknown = FamilyRecord(count=1, objective=0.5)
    assert unknown.to_json() == {"count": 1, "objective": 0.5, "min_eigenvalue": None}
    assert np.isnan(FamilyRecord.from_json(unknown.to_json()).min_eigenvalue)


def test_no_families_are_packed_as_arrays_without_entries():
    arrays = pack([], 4, (6, 5))
    assert arrays["family"].tolist() == [-1] * 4
    assert arrays["family_weights"].shape == (0, 6, 5)
    assert unpack([], arrays) == []


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
