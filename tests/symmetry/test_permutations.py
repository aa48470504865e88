"""Equality up to symmetry: found when it is there, also with ties, and not found when it is not."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earnshaw.numerics import TOLERANCES
from earnshaw.problems import Charges, Data, TwoLayer
from earnshaw.symmetry import Alignment, align, automorphisms, canonical
from earnshaw.symmetry.permutations import canonical_alignment

TOLERANCE = 1e-6


def symmetries(problem):
    """All (neurons, coordinates) that leave the landscape unchanged, by trying every permutation: small sizes only."""
    n, columns = problem.shape
    d = problem.dimension
    if isinstance(problem, Data):
        return [list(order) for order in itertools.permutations(range(n))], [list(range(d))]
    if isinstance(problem, TwoLayer):
        teacher, fixed, charges = problem.teacher, problem.output_weights, problem.student_output_weights
    else:
        teacher, fixed, charges = problem.protons, problem.proton_charges, problem.electron_charges
    rows = sorted(_with_charges(teacher, fixed))
    coordinates = [
        [*order, *range(d, columns)]  # trained output weights stay where they are
        for order in itertools.permutations(range(d))
        if sorted(_with_charges(teacher[:, list(order)], fixed)) == rows
    ]
    neurons = [
        list(order)
        for order in itertools.permutations(range(n))
        if charges is None or np.array_equal(charges[list(order)], charges)
    ]
    return neurons, coordinates


def _with_charges(teacher, charges):
    return np.column_stack([teacher, np.ones(len(teacher)) if charges is None else charges]).tolist()


def random_teacher(seed):
    return np.random.default_rng(seed).normal(size=(4, 4))


PROBLEMS = {
    "standard": TwoLayer(np.eye(4)),
    "more-students": TwoLayer(np.eye(4), students=5),
    "fewer-students": TwoLayer(np.eye(4), students=2),
    "more-dimensions": TwoLayer(np.eye(2, 4), students=3),
    "scales": TwoLayer(np.diag([1.0, 1.0, 2.0, 3.0])),
    "cycle": TwoLayer(np.eye(4) + 0.5 * np.roll(np.eye(4), 1, axis=1)),
    "none": TwoLayer(random_teacher(0)),
    "output-weights": TwoLayer(np.eye(4), output_weights=[1.0, 1.0, -1.0, 2.0]),
    "student-output-weights": TwoLayer(np.eye(4), student_output_weights=[1.0, 1.0, 1.0, -1.0]),
    "all-equal-entries": TwoLayer(np.ones((2, 4)) + np.array([[0.0], [1.0]]), students=3),
    "trained-output": TwoLayer(np.eye(4), students=3, trainable_output=True),
    "path": TwoLayer(np.eye(4) + 0.5 * np.eye(4, k=1) + 0.5 * np.eye(4, k=-1), students=3),
    "charges": Charges(np.eye(3, 4), electrons=4, electron_charges=[1.0, -1.0, 1.0, -1.0]),
    "trained-charges": Charges(np.eye(4), [1.0, 2.0, 1.0, 2.0], electrons=3),
    "twin-protons": Charges(np.eye(4)[[0, 0, 1]], electrons=3),
    "data": Data(np.random.default_rng(5).normal(size=(40, 4)), np.linspace(0, 1, 40), neurons=3),
}
# How many coordinate permutations each teacher allows.
ORDERS = {
    "standard": 24,
    "more-students": 24,
    "fewer-students": 24,
    "more-dimensions": 4,
    "scales": 2,
    "cycle": 4,
    "none": 1,
    "output-weights": 2,
    "student-output-weights": 24,
    "all-equal-entries": 24,
    "trained-output": 24,
    "path": 2,
    "charges": 6,
    "trained-charges": 4,
    "twin-protons": 2,
    "data": 1,
}


def point(problem, seed, ties):
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=problem.shape)
    if ties == "equal entries":
        weights = rng.choice([-0.3, 0.1, 0.9], size=weights.shape)
    if ties == "two values":
        weights = rng.choice([0.2, 0.7], size=weights.shape)
    if ties == "equal rows":
        weights[-1] = weights[0]
    if ties == "one value":
        weights[:] = 0.4
    return weights


names = st.sampled_from(sorted(PROBLEMS))
seeds = st.integers(0, 2**32 - 1)
ties = st.sampled_from(["none", "equal entries", "two values", "equal rows", "one value"])


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_brute_force_knows_the_groups(name):
    assert len(symmetries(PROBLEMS[name])[1]) == ORDERS[name]


@given(names, seeds, ties, st.data())
def test_a_moved_point_is_found_again_and_has_the_same_canonical_form(name, seed, kind, data):
    problem = PROBLEMS[name]
    weights = point(problem, seed, kind)
    neurons, coordinates = symmetries(problem)
    rows, columns = data.draw(st.sampled_from(neurons)), data.draw(st.sampled_from(coordinates))
    noise = 1e-8 * np.random.default_rng(seed).normal(size=weights.shape)
    moved = weights[rows][:, columns] + noise
    found = align(problem.symmetry, moved, weights, TOLERANCE)
    assert found is not None
    assert np.linalg.norm(found.move(moved) - weights) <= TOLERANCE
    assert found.rows.tolist() in neurons
    assert found.columns.tolist() in coordinates
    np.testing.assert_allclose(canonical(problem.symmetry, moved), canonical(problem.symmetry, weights), atol=1e-6)


@given(names, seeds, ties)
def test_the_canonical_form_is_a_point_of_the_class_and_canonical_itself(name, seed, kind):
    problem = PROBLEMS[name]
    weights = point(problem, seed, kind)
    form = canonical(problem.symmetry, weights)
    neurons, coordinates = symmetries(problem)
    assert any(np.array_equal(weights[a][:, b], form) for a in neurons for b in coordinates)
    np.testing.assert_array_equal(canonical(problem.symmetry, form), form)


@given(names, seeds, seeds, ties, st.permutations(range(5)), st.permutations(range(4)))
def test_align_agrees_with_trying_everything(name, seed, other, kind, rows, columns):
    """Points permuted at will, so that most pairs are equal only up to permutations that are not symmetries."""
    problem = PROBLEMS[name]
    weights = point(problem, seed, kind)
    rows = [row for row in rows if row < len(weights)]
    moved = weights[rows][:, [*columns, *range(4, weights.shape[1])]]
    if other % 3 == 0 and kind in ("two values", "equal entries"):
        moved = np.random.default_rng(other).permutation(weights.ravel()).reshape(weights.shape)
    neurons, coordinates = symmetries(problem)
    equal = any(np.allclose(moved[a][:, b], weights, atol=1e-9) for a in neurons for b in coordinates)
    assert (align(problem.symmetry, moved, weights, TOLERANCE) is not None) == equal
    same_form = np.allclose(canonical(problem.symmetry, moved), canonical(problem.symmetry, weights), atol=1e-9)
    assert same_form == equal


@given(names, seeds, ties)
def test_automorphisms_are_those_that_trying_everything_finds(name, seed, kind):
    problem = PROBLEMS[name]
    weights = point(problem, seed, kind)
    neurons, coordinates = symmetries(problem)
    fixing = sum(np.array_equal(weights[a][:, b], weights) for a in neurons for b in coordinates)
    found = automorphisms(problem.symmetry, weights + 1e-9 * np.random.default_rng(seed).normal(size=weights.shape))
    assert found.order == fixing
    assert _group_order(found.generators, weights.shape) == fixing
    for generator in found.generators:
        assert np.array_equal(generator.move(weights), weights)
        assert generator.rows.tolist() in neurons
        assert generator.columns.tolist() in coordinates


def _group_order(generators, shape):
    """The number of products of some permutations, by forming them all."""
    found = {tuple(range(sum(shape)))}
    new = list(found)
    moves = [(*generator.rows, *(generator.columns + shape[0])) for generator in generators]
    while new:
        new = list({tuple(one[i] for i in move) for one in new for move in moves} - found)
        found |= set(new)
    return len(found)


def test_a_family_of_the_paper_is_fixed_by_all_permutations_of_its_regular_neurons():
    k = 20
    weights = np.full((k, k), -0.01)
    np.fill_diagonal(weights, 0.98)
    weights[:-1, -1], weights[-1, :-1], weights[-1, -1] = 0.1, 0.17, -0.8
    rng = np.random.default_rng(6)
    moved = weights[rng.permutation(k)][:, rng.permutation(k)]
    found = automorphisms(TwoLayer(np.eye(k)).symmetry, moved)
    assert found.order == math.factorial(k - 1)
    assert all(np.array_equal(generator.move(moved), moved) for generator in found.generators)


@given(names, seeds, ties)
def test_the_way_to_the_canonical_form_is_a_symmetry(name, seed, kind):
    problem = PROBLEMS[name]
    weights = point(problem, seed, kind)
    way = canonical_alignment(problem.symmetry, weights)
    neurons, coordinates = symmetries(problem)
    assert way.rows.tolist() in neurons
    assert way.columns.tolist() in coordinates
    assert np.array_equal(way.move(weights), canonical(problem.symmetry, weights))


def test_alignments_follow_each_other():
    rng = np.random.default_rng(7)
    first, second = (Alignment(rng.permutation(3), rng.permutation(4)) for _ in range(2))
    weights = rng.normal(size=(3, 4))
    assert np.array_equal(first.then(second).move(weights), second.move(first.move(weights)))


@pytest.mark.parametrize("seed", range(10))
def test_entries_in_a_chain_of_small_steps_are_told_apart_on_the_numbers(seed):
    """All on the diagonal look alike, neighbours are within tolerance, and few of the 120 orders are near enough."""
    rng = np.random.default_rng(seed)
    symmetry = TwoLayer(np.eye(5)).symmetry
    weights = np.full((5, 5), 0.1)
    np.fill_diagonal(weights, 0.9 + 0.9e-6 * np.arange(5))
    found = align(symmetry, weights[rng.permutation(5)][:, rng.permutation(5)], weights, TOLERANCES.family)
    assert found is not None
    other = weights.copy()
    other[4, 4] += 1.5e-6
    assert align(symmetry, other[rng.permutation(5)], weights, TOLERANCES.family) is None


def test_anchors_nearly_alike_are_not_exchanged():
    """A teacher whose neurons differ by less than the tolerance of points has no symmetry."""
    symmetry = TwoLayer(np.diag([1.0, 1.0 + 1e-8])).symmetry
    weights = np.array([[0.3, 0.5], [0.7, 1.1]])
    assert align(symmetry, weights[::-1], weights, TOLERANCE) is not None
    assert align(symmetry, weights[:, ::-1], weights, TOLERANCE) is None


def test_align_uses_only_symmetries_of_the_landscape():
    weights = np.random.default_rng(1).normal(size=(4, 4))
    swapped = weights[:, [1, 0, 2, 3]]
    assert align(PROBLEMS["standard"].symmetry, swapped, weights, TOLERANCE) is not None
    assert align(PROBLEMS["none"].symmetry, swapped, weights, TOLERANCE) is None
    assert align(PROBLEMS["scales"].symmetry, swapped, weights, TOLERANCE) is not None
    assert align(PROBLEMS["scales"].symmetry, weights[:, [0, 2, 1, 3]], weights, TOLERANCE) is None
    assert align(PROBLEMS["cycle"].symmetry, swapped, weights, TOLERANCE) is None
    assert align(PROBLEMS["output-weights"].symmetry, weights[:, [0, 1, 3, 2]], weights, TOLERANCE) is None
    charged = PROBLEMS["student-output-weights"].symmetry
    assert align(charged, weights[[1, 0, 2, 3]], weights, TOLERANCE) is not None
    assert align(charged, weights[[0, 1, 3, 2]], weights, TOLERANCE) is None
    learned = np.random.default_rng(2).normal(size=(3, 5))
    assert align(PROBLEMS["trained-output"].symmetry, learned[::-1][:, [3, 1, 0, 2, 4]], learned, TOLERANCE) is not None
    exchanged = np.column_stack([learned[:, :4], learned[[1, 0, 2], 4]])  # the same neurons with each other's charges
    assert align(PROBLEMS["trained-output"].symmetry, exchanged, learned, TOLERANCE) is None


def test_the_distance_is_frobenius_and_the_limit_sharp():
    problem, weights = PROBLEMS["standard"], np.random.default_rng(2).normal(size=(4, 4))
    step = np.zeros((4, 4))
    step[1, 2] = 1.0
    assert align(problem.symmetry, weights[::-1] + 0.9e-6 * step, weights, 1e-6) is not None
    assert align(problem.symmetry, weights[::-1] + 1.1e-6 * step, weights, 1e-6) is None
    assert align(problem.symmetry, weights[::-1] + 0.9e-6 * np.ones((4, 4)), weights, 1e-6) is None


def test_large_points_with_much_symmetry_take_no_time():
    """The published families look like this: blocks of equal entries, 20 neurons."""
    k = 20
    problem = TwoLayer(np.eye(k))
    weights = np.full((k, k), -0.05)
    np.fill_diagonal(weights, 0.98)
    weights[-3:, -3:] = 0.2
    weights[-3:, :-3] = 0.07
    rng = np.random.default_rng(3)
    moved = weights[rng.permutation(k)][:, rng.permutation(k)] + 1e-9 * rng.normal(size=(k, k))
    assert align(problem.symmetry, moved, weights, TOLERANCE) is not None
    np.testing.assert_allclose(canonical(problem.symmetry, moved), canonical(problem.symmetry, weights), atol=1e-7)
    weights[0, 1] += 1e-3
    assert align(problem.symmetry, moved, weights, TOLERANCE) is None
