"""Isotropy: the group, its name and the pattern of a point, against trying every permutation and points of known type."""

import itertools
import math
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earnshaw.errors import InputError
from earnshaw.problems import Charges, TwoLayer
from earnshaw.proof import Verdict, check, prove, prove_pattern
from earnshaw.symmetry import Pattern, isotropy, label, letters
from earnshaw.symmetry.named import named


def teacher(pattern):
    taught = np.repeat(pattern.taught, pattern.sizes)
    return np.eye(pattern.dimension)[taught]


def scrambled(pattern, seed, noise=1e-9):
    """A point of this type with generic numbers, its neurons and coordinates in any order, and the teacher to match."""
    rng = np.random.default_rng(seed)
    weights = pattern.weights(rng.normal(size=len(pattern.entries)))
    columns = rng.permutation(pattern.dimension)
    moved = weights[rng.permutation(len(weights))][:, columns]
    problem = TwoLayer(teacher(pattern)[:, columns], students=len(weights))
    return problem, moved + noise * rng.normal(size=moved.shape)


def assert_placed(found, point):
    """The pattern's own point, moved back, is the point; the alignment is a permutation of both sides."""
    placed = found.placed
    moved = placed.alignment.move(point)
    np.testing.assert_allclose(placed.pattern.weights(placed.numbers), moved, atol=1e-7)
    assert sorted(placed.alignment.rows) == list(range(point.shape[0]))
    assert sorted(placed.alignment.columns) == list(range(point.shape[1]))


PATTERNS = {
    "II, I: n = k": (Pattern.of((5, 1), (0, None)), "S_5"),
    "II at k = 20": (Pattern.of((19, 1), (0, None)), "S_19"),
    "A": (Pattern.of((6,), (0,)), "S_6"),
    "B: n = k + 1": (Pattern.of((7, 1), (0, None, None)), "S_7"),
    "M:2 at k = 19": (Pattern.of((17, 2), (0, 1, None)), "S_17 x S_2"),
    "M:q, two groups of one size": (Pattern.of((4, 4), (0, 1, None)), "S_4 x S_4"),
    "2B: two families on one group": (Pattern.of((5, 2), (0, 1, 1)), "S_5 x S_2"),
    "pairs": (Pattern.of((2, 2, 2), (0, 1, 2)), "S_2 x S_2 x S_2"),
    "a group without neurons": (Pattern.of((4, 3, 1), (0, None)), "S_4 x S_3"),
    "untaught coordinates": (Pattern.of((5, 1), (0, None), untaught=3), "S_5"),
    "single neurons": (Pattern.of((1, 1, 1, 1), (None,) * 5), "trivial"),
    "fewer neurons than groups": (Pattern.of((6, 1), (None,)), "S_6"),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("pattern", "name"), PATTERNS.values(), ids=list(PATTERNS))
def test_a_point_of_known_type_is_named_and_brought_back_into_its_pattern(pattern, name, seed):
    problem, point = scrambled(pattern, seed)
    found = isotropy(problem.symmetry, point)
    assert found.name == name == pattern.name
    assert found.order == math.prod(map(math.factorial, pattern.sizes))
    assert_placed(found, point)
    got = found.placed.pattern
    assert sorted(zip(got.sizes, got.taught, strict=True)) == sorted(zip(pattern.sizes, pattern.taught, strict=True))
    owns = [sorted(0 if row is None else p.sizes[row] for row in p.rows) for p in (got, pattern)]
    assert owns[0] == owns[1]  # as many families of groups of each size, and as many single neurons


def test_one_entry_more_than_the_tolerance_away_makes_the_group_smaller():
    problem, point = scrambled(PATTERNS["II, I: n = k"][0], 0, noise=0.0)
    family = np.flatnonzero([len(np.unique(row)) == 3 for row in point])[0]
    own = np.argmax([np.sum(point[family] == value) == 1 for value in point[family]])
    for size, name in ((1e-8, "S_5"), (1e-4, "S_4")):
        nearly = point.copy()
        nearly[family, own] += size
        assert isotropy(problem.symmetry, nearly).name == name


def test_equal_neurons_are_not_counted_and_do_not_confuse_the_pattern():
    """One neuron of every kind twice: the exchange of the two moves no coordinate."""
    pattern = Pattern.of((4, 2), (0, 0, 1, None, None))
    numbers = np.array([0.9, 0.1, 0.2, 0.9, 0.1, 0.2, 0.3, -0.8, 0.15, 0.5, 0.6, 0.5, 0.6])
    rng = np.random.default_rng(0)
    point = pattern.weights(numbers)[rng.permutation(pattern.neurons)]
    found = isotropy(TwoLayer(np.eye(6), students=pattern.neurons).symmetry, point)
    assert (found.name, found.order) == ("S_4 x S_2", 48)
    assert_placed(found, point)
    assert found.placed.pattern == pattern
    everything = isotropy(TwoLayer(np.eye(3), students=4).symmetry, np.full((4, 3), 0.4))
    assert (everything.name, everything.order) == ("S_3", 6)
    assert everything.placed.pattern == Pattern.of((3,), (None,) * 4)


def test_two_coordinates_pair_with_the_larger_entries_also_when_they_differ_in_sign_only():
    point = np.array([[0.3, -0.3], [-0.3, 0.3]])
    for noise in (0.0, 1e-10, -1e-10):
        found = isotropy(TwoLayer(np.eye(2)).symmetry, point + np.array([[0.0, noise], [0.0, 0.0]]))
        assert found.name == "S_2"
        np.testing.assert_allclose(found.placed.numbers, [0.3, -0.3], atol=1e-9)
    turned = isotropy(TwoLayer(np.eye(2)).symmetry, np.array([[0.1, -0.8], [-0.8, 0.1]]))
    assert turned.placed.numbers.tolist() == [-0.8, 0.1]


def test_entries_in_a_chain_of_small_steps_are_not_all_equal():
    """Neighbours are within tolerance, but to exchange two moves the point by more: what looks like S_5 is not."""
    point = np.full((5, 5), 0.1)
    np.fill_diagonal(point, 0.9 + 0.9e-6 * np.arange(5))
    assert isotropy(TwoLayer(np.eye(5)).symmetry, point).name == "trivial"
    np.fill_diagonal(point, 0.9 + 0.1e-6 * np.arange(5))
    assert isotropy(TwoLayer(np.eye(5)).symmetry, point).name == "S_5"


def circulant(*entries):
    return np.array([np.roll(entries, shift) for shift in range(len(entries))])


def two_blocks():
    """Three coordinates and three more, which may be exchanged as a whole: of order 3! 3! 2."""
    inside, across = 0.9 * np.eye(3) + 0.1, np.full((3, 3), -0.2)
    return np.block([[inside, across], [across, inside]])


def coupled():
    """S_3 moves two sets of three coordinates at once."""
    return np.hstack([0.9 * np.eye(3) + 0.1, 0.5 * np.eye(3) - 0.2])


OTHERS = {
    "cyclic": (circulant(0.9, 0.1, -0.2, 0.3, 0.4), "group of order 5", "trivial"),
    "dihedral": (circulant(0.9, 0.1, -0.2, -0.2, 0.1), "group of order 10", "trivial"),
    "wreath product": (two_blocks(), "group of order 72", "S_3 x S_3"),
    "cyclic, every neuron twice": (np.tile(circulant(0.9, 0.1, -0.2, 0.3, 0.4), (2, 1)), "group of order 5", "trivial"),
    "diagonal": (coupled(), "group of order 6", "trivial"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_group_that_is_no_product_is_said_to_be_none(name):
    point, group, pattern = OTHERS[name]
    rng = np.random.default_rng(3)
    point = point[rng.permutation(len(point))][:, rng.permutation(point.shape[1])]
    found = isotropy(TwoLayer(np.eye(point.shape[1]), students=len(point)).symmetry, point)
    assert found.name == group
    assert found.placed.pattern.name == pattern  # the largest product of symmetric groups inside
    assert_placed(found, point)


def test_a_neuron_for_every_pair_of_coordinates_is_of_no_family():
    point = np.array(
        [[0.7 if column in pair else 0.1 for column in range(4)] for pair in itertools.combinations(range(4), 2)]
    )
    found = isotropy(TwoLayer(np.eye(4), students=6).symmetry, point)
    assert (found.name, found.placed) == ("S_4", None)


def test_other_teachers_declare_fewer_symmetries_and_have_no_pattern():
    point = np.full((4, 4), 0.1) + 0.8 * np.eye(4)
    expected = {
        "scales": (TwoLayer(np.diag([1.0, 1.0, 2.0, 3.0])), "S_2"),
        "cycle": (TwoLayer(np.eye(4) + 0.5 * np.roll(np.eye(4), 1, axis=1)), "group of order 4"),
        "none": (TwoLayer(np.random.default_rng(0).normal(size=(4, 4))), "trivial"),
        "output weights": (TwoLayer(np.eye(4), output_weights=[1.0, 1.0, 1.0, 2.0]), "S_3"),
        "students' output weights": (TwoLayer(np.eye(4), student_output_weights=[1.0, 1.0, -1.0, -1.0]), "S_2 x S_2"),
    }
    for problem, name in expected.values():
        found = isotropy(problem.symmetry, point)
        assert (found.name, found.placed) == (name, None)
    trained = TwoLayer(np.eye(4), activation="erf", trainable_output=True)
    found = isotropy(trained.symmetry, np.column_stack([point, [1.0, 1.0, 2.0, 3.0]]))
    assert (found.name, found.placed) == ("S_2", None)


FAMILIES = [
    *(("II", k, f"II (S_{k - 1})") for k in range(6, 11)),
    ("II", 20, "II (S_19)"),
    ("I", 9, "I (S_8)"),
    ("A", 7, "A (S_7)"),
    ("B", 8, "B (S_7)"),
    ("M:4", 15, "M:4 (S_11 x S_4)"),
    ("M:11", 15, "M:11 (S_11 x S_4)"),
    ("M:2", 19, "M:2 (S_17 x S_2)"),
    ("2B", 12, "2B (S_10 x S_2)"),
    ("3Bp", 11, "3Bp (S_8 x S_3)"),
    ("B:4", 25, "B:4 (S_21 x S_4)"),
    ("P:9", 16, "P:9 (S_9 x S_7)"),
    ("P:10,7", 20, "P:10,7 (S_10 x S_7 x S_3)"),
]


@pytest.mark.parametrize(("family", "k", "expected"), FAMILIES, ids=[f"{row[0]}-{row[1]}" for row in FAMILIES])
def test_a_known_family_has_its_letter_in_every_order_and_dimension(family, k, expected):
    pattern, numbers = named(family, k)
    rng = np.random.default_rng(k)
    weights = np.column_stack([pattern.weights(numbers), np.zeros((pattern.neurons, 2))])
    columns = rng.permutation(k + 2)
    point = weights[rng.permutation(len(weights))][:, columns] + 1e-9 * rng.normal(size=weights.shape)
    problem = TwoLayer(np.eye(k + 2)[:k][:, columns], students=len(weights))
    assert label(problem, point) == expected
    assert label(problem, point + 1e-4 * (weights[:, columns] != 0)) == expected.partition("(")[2].rstrip(")")
    assert (
        label(TwoLayer(2 * problem.teacher, students=len(weights)), 2 * point)
        == "S_" + expected.partition("S_")[2][:-1]
    )


def test_points_of_the_type_of_a_known_family_are_not_it():
    assert label(TwoLayer(np.eye(6)), np.eye(6)) == "S_6"  # the teacher itself is no member of A
    pattern, numbers = named("II", 8)
    other, _ = named("I", 8)
    assert pattern == other
    assert label(TwoLayer(np.eye(8)), -pattern.weights(numbers)) == "S_7"
    assert label(TwoLayer(np.eye(8), activation="erf"), pattern.weights(numbers)) == "S_7"


def test_a_family_that_continuation_loses_gives_no_letter(monkeypatch):
    pattern, numbers = named("B", 9)
    point = pattern.weights(numbers)

    def lost(family, k):
        raise InputError("lost")

    monkeypatch.setattr("earnshaw.symmetry.letters.named", lost)
    letters._weights.cache_clear()
    assert label(TwoLayer(np.eye(9), students=10), point) == "S_8"
    letters._weights.cache_clear()


def test_labels_are_for_two_layers_and_teachers_with_symmetry():
    point = np.full((4, 4), 0.1) + np.diag([0.8, 0.8, 0.8, 0.7])
    assert label(TwoLayer(np.eye(4)), point) == "S_3"
    assert label(TwoLayer(np.eye(4)), np.arange(16.0).reshape(4, 4)) == "trivial"
    assert label(TwoLayer(np.random.default_rng(0).normal(size=(4, 4))), point) is None
    assert label(Charges(np.eye(4)), point) is None


@given(st.integers(0, 2**32 - 1), st.sampled_from([(4, 4, 4), (5, 4, 4), (2, 3, 5), (3, 4, 6)]), st.integers(2, 4))
def test_order_and_name_are_those_that_trying_everything_finds(seed, sizes, values):
    n, k, d = sizes
    rng = np.random.default_rng(seed)
    weights = rng.choice([-0.3, 0.1, 0.9, 0.4][:values], size=(n, d))
    orders = [[*order, *range(k, d)] for order in itertools.permutations(range(k))]
    fixing = [order for order in orders if sorted(weights[:, order].tolist()) == sorted(weights.tolist())]
    orbits = {frozenset(order[place] for order in fixing) for place in range(d)}
    point = weights[rng.permutation(n)] + 1e-9 * rng.normal(size=weights.shape)
    found = isotropy(TwoLayer(np.eye(k, d), students=n).symmetry, point)
    assert found.order == len(fixing)
    if len(fixing) == math.prod(math.factorial(len(orbit)) for orbit in orbits):
        factors = sorted((len(orbit) for orbit in orbits if len(orbit) > 1), reverse=True)
        assert found.name == (" x ".join(f"S_{size}" for size in factors) or "trivial")
    else:
        assert found.name == f"group of order {len(fixing)}"
    if found.placed is not None:
        assert_placed(found, point)


# By file, how often each label occurs among the families.
PUBLISHED = {
    "k6-n6": {"II (S_5)": 1},
    "k8-n9": {"B (S_7)": 1},
    "k9-n9": {"II (S_8)": 1, "S_7 x S_2": 1},
    "k10-n10": {"II (S_9)": 1, "S_8 x S_2": 1},
    "k12-n12": {"II (S_11)": 1, "S_10 x S_2": 1, "S_9 x S_3": 1, "S_8 x S_4": 1, "S_7 x S_5": 1, "S_6 x S_6": 1},
    "k15-n16": {
        "B (S_14)": 1,
        **{f"M:{q} (S_{max(q, 15 - q)} x S_{min(q, 15 - q)})": 1 for q in range(3, 9)},
        "S_12 x S_3": 1,
    },
}


def test_the_published_points_have_these_labels(published):
    for name, points in published.items():
        n, k = points.shape[1:]
        assert Counter(label(TwoLayer(np.eye(k), students=n), point) for point in points) == PUBLISHED[name], name
    problem = TwoLayer(np.eye(15), students=16)
    saddles = [
        label(problem, point)
        for point in published["k15-n16"]
        if (placed := isotropy(problem.symmetry, point).placed).pattern.spectrum(placed.numbers)[0][0] < 0
    ]
    assert saddles == ["M:3 (S_12 x S_3)"]  # the one that the authors could not verify


def test_the_published_points_are_all_named_and_have_a_pattern(published):
    """Sizes add up to k, and the group fixes the point: exchanges within groups, as the pattern places them, move nothing."""
    for points in published.values():
        n, k = points.shape[1:]
        for point in points:
            found = isotropy(TwoLayer(np.eye(k), students=n).symmetry, point)
            assert re.fullmatch(r"S_\d+( x S_\d+)?", found.name)
            sizes = [int(size) for size in re.findall(r"\d+", found.name)]
            assert sum(sizes) in (k, k - 1)
            assert_placed(found, point)
            assert found.placed.pattern.neurons == n
            assert len(found.placed.numbers) <= 8


def test_the_published_points_are_proved_through_their_blocks_too(published):
    """A second route to the same verdict: the full certificate of the weights, and the blocks of the pattern."""
    for name, points in published.items():
        for point in points:
            problem = TwoLayer(np.eye(point.shape[1]), students=len(point))
            full = prove(problem, point, basin=False, robust=False)
            placed = isotropy(problem.symmetry, full.point.weights).placed
            blocks = prove_pattern(placed.pattern.sizes, placed.pattern.rows, placed.numbers)
            assert check(blocks).verified, name
            assert blocks.verdict is full.verdict, name
            assert blocks.claim.objective_ge == pytest.approx(full.claim.objective_ge, rel=1e-9)
            if full.verdict is Verdict.PROVED_MINIMUM:
                assert blocks.claim.lambda_ge == pytest.approx(full.claim.lambda_ge, rel=1e-5)
                assert blocks.claim.unique_radius == pytest.approx(full.claim.unique_radius, rel=1e-2)
            else:
                assert blocks.claim.curvature_le == pytest.approx(full.claim.curvature_le, rel=1e-5)
