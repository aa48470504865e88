"""Equality up to symmetry: found when it is there, also with ties, and not found when it is not."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earnshaw.problems import TwoLayer
from earnshaw.symmetry import align, canonical

TOLERANCE = 1e-6


def symmetries(problem):
    """All (neurons, coordinates) that leave the landscape unchanged, by trying every permutation: small sizes only."""
    teacher = {tuple(row) for row in _with_charges(problem.teacher, problem.output_weights)}
    charges = problem.student_output_weights
    last = [problem.dimension] if problem.trainable_output else []  # trained output weights stay where they are
    coordinates = [
        [*order, *last]
        for order in itertools.permutations(range(problem.dimension))
        if {tuple(row) for row in _with_charges(problem.teacher[:, list(order)], problem.output_weights)} == teacher
    ]
    neurons = [
        list(order)
        for order in itertools.permutations(range(problem.students))
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
    found = align(problem, moved, weights, TOLERANCE)
    assert found is not None
    assert np.linalg.norm(moved[found[0]][:, found[1]] - weights) <= TOLERANCE
    assert found[0].tolist() in neurons
    assert found[1].tolist() in coordinates
    np.testing.assert_allclose(canonical(problem, moved), canonical(problem, weights), atol=1e-6)


@given(names, seeds, ties)
def test_the_canonical_form_is_a_point_of_the_class_and_canonical_itself(name, seed, kind):
    problem = PROBLEMS[name]
    weights = point(problem, seed, kind)
    form = canonical(problem, weights)
    neurons, coordinates = symmetries(problem)
    assert any(np.array_equal(weights[a][:, b], form) for a in neurons for b in coordinates)
    np.testing.assert_array_equal(canonical(problem, form), form)


@given(names, seeds, seeds, ties, st.permutations(range(5)), st.permutations(range(4)))
def test_align_agrees_with_trying_everything(name, seed, other, kind, rows, columns):
    """Points permuted at will, so that most pairs are equal only up to permutations that are not symmetries."""
    problem = PROBLEMS[name]
    weights = point(problem, seed, kind)
    rows = [row for row in rows if row < problem.students]
    moved = weights[rows][:, [*columns, 4] if problem.trainable_output else list(columns)]
    if other % 3 == 0 and kind in ("two values", "equal entries"):
        moved = np.random.default_rng(other).permutation(weights.ravel()).reshape(weights.shape)
    neurons, coordinates = symmetries(problem)
    equal = any(np.allclose(moved[a][:, b], weights, atol=1e-9) for a in neurons for b in coordinates)
    assert (align(problem, moved, weights, TOLERANCE) is not None) == equal
    same_form = np.allclose(canonical(problem, moved), canonical(problem, weights), atol=1e-9)
    assert same_form == equal


def test_align_uses_only_symmetries_of_the_landscape():
    weights = np.random.default_rng(1).normal(size=(4, 4))
    swapped = weights[:, [1, 0, 2, 3]]
    assert align(PROBLEMS["standard"], swapped, weights, TOLERANCE) is not None
    assert align(PROBLEMS["none"], swapped, weights, TOLERANCE) is None
    assert align(PROBLEMS["scales"], swapped, weights, TOLERANCE) is not None
    assert align(PROBLEMS["scales"], weights[:, [0, 2, 1, 3]], weights, TOLERANCE) is None
    assert align(PROBLEMS["cycle"], swapped, weights, TOLERANCE) is None
    assert align(PROBLEMS["output-weights"], weights[:, [0, 1, 3, 2]], weights, TOLERANCE) is None
    charged = PROBLEMS["student-output-weights"]
    assert align(charged, weights[[1, 0, 2, 3]], weights, TOLERANCE) is not None
    assert align(charged, weights[[0, 1, 3, 2]], weights, TOLERANCE) is None
    learned = np.random.default_rng(2).normal(size=(3, 5))
    assert align(PROBLEMS["trained-output"], learned[::-1][:, [3, 1, 0, 2, 4]], learned, TOLERANCE) is not None
    exchanged = np.column_stack([learned[:, :4], learned[[1, 0, 2], 4]])  # the same neurons with each other's charges
    assert align(PROBLEMS["trained-output"], exchanged, learned, TOLERANCE) is None


def test_the_distance_is_frobenius_and_the_limit_sharp():
    problem, weights = PROBLEMS["standard"], np.random.default_rng(2).normal(size=(4, 4))
    step = np.zeros((4, 4))
    step[1, 2] = 1.0
    assert align(problem, weights[::-1] + 0.9e-6 * step, weights, 1e-6) is not None
    assert align(problem, weights[::-1] + 1.1e-6 * step, weights, 1e-6) is None
    assert align(problem, weights[::-1] + 0.9e-6 * np.ones((4, 4)), weights, 1e-6) is None


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
    assert align(problem, moved, weights, TOLERANCE) is not None
    np.testing.assert_allclose(canonical(problem, moved), canonical(problem, weights), atol=1e-7)
    weights[0, 1] += 1e-3
    assert align(problem, moved, weights, TOLERANCE) is None
