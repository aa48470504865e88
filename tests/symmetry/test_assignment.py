"""Neurons are matched as well as can be, and points named by what their neurons do, only where it is true."""

import itertools

import numpy as np
import pytest
import scipy.optimize
from scipy.stats import ortho_group

from earnshaw.landscapes import landscape
from earnshaw.problems import TwoLayer
from earnshaw.symmetry.assignment import align_neurons, aligned_error, describe, relative_error, spread

ROTATED = ortho_group.rvs(5, random_state=3)
SKEWED = np.random.default_rng(1).normal(size=(5, 7))
TEACHERS = {"standard": np.eye(5), "rotated": ROTATED, "in-more-dimensions": np.eye(5, 8), "skewed": SKEWED}


def problem(teacher, students, **more):
    return TwoLayer(teacher, students=students, activation="erf", trainable_output=True, **more)


def point(teacher, shares, charges=None):
    """The student whose neurons are these combinations of teacher neurons."""
    shares = np.asarray(shares, dtype=float)
    charges = np.ones(len(shares)) if charges is None else charges
    return np.column_stack([shares @ teacher, charges])


@pytest.mark.parametrize("name", TEACHERS)
def test_copies_and_averages_are_named_for_any_teacher(name):
    teacher = TEACHERS[name]
    rows = [[1, 0, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0.4, 0, 0.4, 0.4]]
    assert describe(problem(teacher, 3), point(teacher, rows)) == "2 copies, average of 3"
    assert describe(problem(teacher, 3), point(teacher, rows)[::-1]) == "2 copies, average of 3"
    assert describe(problem(teacher, 5), point(teacher, np.eye(5))) == "5 copies"


@pytest.mark.parametrize(
    ("rows", "name"),
    [
        ([[1, 0, 0, 0, 0]], "1 copy, 4 missed"),
        ([[0.3] * 5], "average of 5"),
        ([[0.5, 0.5, 0, 0, 0], [0, 0, 0.4, 0.4, 0.4]], "average of 3, average of 2"),
        ([[-1, 0, 0, 0, 0], [0, 0.5, 0.5, 0.5, 0.5]], "1 copy, average of 4"),  # erf is odd
        ([[1, 0, 0, 0, 0], [0, 0, 0, 0, 0]], "1 copy, 1 idle, 4 missed"),
        ([[1, 0, 0, 0, 0], [0, 1, 1e-9, 0, 0]], "2 copies, 3 missed"),  # rounding
    ],
)
def test_every_part_of_a_name(rows, name):
    assert describe(problem(ROTATED, len(rows)), point(ROTATED, rows)) == name


@pytest.mark.parametrize(
    "rows",
    [
        [[1, 0, 0, 0, 0], [0, 0.5, 0.4, 0, 0]],  # an uneven average
        [[1, 0, 0, 0, 0], [0, 0.5, -0.5, 0, 0]],  # a difference
        [[1, 0, 0, 0, 0], [1, 0, 0, 0, 0]],  # two neurons at one teacher neuron
        [[1, 0, 0, 0, 0], [0.5, 0.5, 0, 0, 0]],  # overlapping groups
        [[1, 1e-4, 0, 0, 0], [0, 0, 1, 0, 0]],  # near a copy is not a copy
        [[0, 0, 0, 0, 0], [0, 0, 0, 0, 0]],
    ],
)
def test_other_points_have_no_name(rows):
    assert describe(problem(ROTATED, 2), point(ROTATED, rows)) is None


def test_points_outside_the_teachers_span_have_no_name():
    weights = point(np.eye(5, 8), np.eye(5))
    weights[0, 6] = 1e-3
    assert describe(problem(np.eye(5, 8), 5), weights) is None


def test_a_dependent_teacher_has_no_names():
    teacher = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    assert describe(problem(teacher, 1), np.array([[1.0, 0.0, 1.0]])) is None
    assert describe(problem(np.array([[1.0, 0.0, 0.0], [2.0, 0.0, 0.0]]), 1), np.array([[1.0, 0.0, 0.0, 1.0]])) is None


def test_the_scale_of_the_teacher_does_not_matter():
    for scale in (1e-5, 1e5):
        teacher = scale * ROTATED
        assert describe(problem(teacher, 2), point(teacher, [[1, 0, 0, 0, 0], [0, 0.5, 0.5, 0.5, 0.5]])) is not None


def test_a_neuron_that_is_not_odd_copies_in_one_direction_only():
    relu = TwoLayer(np.eye(3), students=2)
    assert describe(relu, np.array([[1.0, 0.0, 0.0], [0.0, 0.7, 0.7]])) == "1 copy, average of 2"
    assert describe(relu, np.array([[-1.0, 0.0, 0.0], [0.0, 0.7, 0.7]])) is None


def test_a_named_point_of_erf_neurons_is_stationary_once_its_average_is_scaled_right():
    """Copies and an average do not see each other: one scale and one output weight make the whole point stationary."""
    erf = problem(ROTATED, 3)
    energy = landscape(erf)

    def at(numbers):
        scale, charge = numbers
        rows = [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, scale, scale, scale]]
        return point(ROTATED, rows, np.array([1.0, 1.0, charge]))

    best = scipy.optimize.minimize(lambda x: float(energy.value(at(x))), [0.5, 1.5], method="Nelder-Mead",
                                   options={"xatol": 1e-9, "fatol": 1e-16})  # fmt: skip
    assert np.linalg.norm(energy.gradient(at(best.x))) < 1e-6
    assert describe(erf, at(best.x)) == "2 copies, average of 3"
    assert np.linalg.norm(energy.gradient(at([0.5, 1.5]))) > 1e-2


def test_the_best_of_all_permutations_is_found():
    generator = np.random.default_rng(0)
    weights, target = generator.normal(size=(2, 5, 3))
    best = min(np.linalg.norm(weights[list(p)] - target) for p in itertools.permutations(range(5)))
    aligned = align_neurons(weights, target)
    assert sorted(aligned.tolist()) == sorted(weights.tolist())
    assert abs(np.linalg.norm(aligned - target) - best) < 1e-12
    assert abs(aligned_error(weights, target) - best) < 1e-12
    assert relative_error(2 * target[::-1], target) == 1


def test_spread_sees_through_permutations_and_nothing_else():
    generator = np.random.default_rng(1)
    weights = generator.normal(size=(3, 4))
    same = np.stack([weights[list(p)] for p in itertools.permutations(range(3))])
    assert spread(same) < 1e-14
    shifts = np.array([-1.0, 1.0])[:, None, None] * 0.01 * np.eye(3, 4)
    assert abs(spread(np.stack([weights, weights]) + shifts) - 0.01 * np.sqrt(3)) < 1e-12
    assert spread(np.stack([weights, np.full_like(weights, np.nan)])) == np.inf
