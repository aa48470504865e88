"""The judge: units, and each of its tests on a lane made for it."""

import numpy as np
import pytest

from earnshaw.descent import GradientDescent, Ledger, NewtonJudge, Outcome, Stop, Stopping, Units, optimizer
from earnshaw.descent.judges.base import Look
from earnshaw.landscapes import landscape
from earnshaw.problems import TwoLayer, standard_teacher


def judge(problem, points, steps=50, descent=None, **stopping):
    """What the judge says of these points after so many steps: the ledger, and the masks of decided and restarted lanes."""
    energy, limits = landscape(problem), Stopping(**stopping)
    points = np.asarray(points, dtype=float)
    book, lanes = Ledger(points), np.arange(len(points))
    book.steps[:] = steps
    with np.errstate(invalid="ignore"):
        newton = NewtonJudge.of(problem, energy, descent or GradientDescent(), limits)
        report = newton.rows(*map(np.asarray, newton.report(energy, points)))
    decided, restarted = newton.decide(Look(book, lanes, points, report))
    return book, decided.tolist(), restarted.tolist()


def outcomes(book):
    return [Outcome.from_code(code).name for code in book.outcome]


def test_units_follow_the_problem():
    plain = Units.of(TwoLayer(standard_teacher(4)))
    assert (plain.value, plain.gradient, plain.low, plain.neurons_die) == (4.0, 1.0, 1e-3, True)
    scaled = Units.of(TwoLayer(3.0 * np.eye(4)))
    assert (scaled.value, scaled.gradient, scaled.low) == (36.0, 3.0, pytest.approx(3.6e-9))
    assert Units.of(TwoLayer(standard_teacher(41))).low == pytest.approx(4.1e-9), "the value test is for k <= 40"
    learned = Units.of(TwoLayer(standard_teacher(4), trainable_output=True))
    assert learned.low == pytest.approx(4e-10), "and for fixed output weights"
    dies = {
        name: Units.of(TwoLayer(np.eye(2), activation=name)).neurons_die
        for name in ("leaky:0.1", "erf", "sign", "leaky:1")
    }
    assert dies == {"leaky:0.1": True, "erf": False, "sign": False, "leaky:1": False}
    sign = Units.of(TwoLayer(np.eye(2), activation="sign"))
    assert sign.zero == sign.low == pytest.approx(1e-7 * sign.value), "a cosine knows a small angle to 1e-8"
    erf = Units.of(TwoLayer(np.eye(2), activation="erf"))
    assert erf.value == pytest.approx(2 * 2 * 2 / np.pi * np.arcsin(2 / 3), rel=1e-6)  # 2 sum E[erf(z)^2]
    assert erf.low == pytest.approx(1e-10 * erf.value)


def test_a_lane_that_is_not_finite_is_restarted_with_half_the_step_and_given_up_in_the_end():
    problem = TwoLayer(np.eye(2))
    points = [np.full((2, 2), np.nan), 1e6 * np.eye(2), np.array([[1.0, 0.3], [0.2, 1.0]])]
    book, decided, restarted = judge(problem, points)
    assert decided == [False, False, False]
    assert restarted == [True, True, False]
    assert book.scale.tolist() == [0.5, 0.5, 1.0]
    assert book.steps.tolist() == [0, 0, 50]
    assert book.wasted.tolist() == [50, 50, 0]
    book, decided, restarted = judge(problem, points, max_halvings=0)
    assert decided == [True, True, False]
    assert restarted == [False, False, False]
    assert outcomes(book) == ["DIVERGED", "DIVERGED", "UNDECIDED"]


def test_value_test_and_dead_neurons():
    problem = TwoLayer(np.eye(2))
    near = np.array([[1.0, 1e-3], [0.0, 1.0]])
    dead = np.array([[1.0, 1.0], [1e-7, 0.0]])
    book, decided, _ = judge(problem, [near, dead])
    assert decided == [True, True]
    assert outcomes(book) == ["GLOBAL", "DEGENERATE"]
    assert book.value[0] < 1e-3
    book, decided, _ = judge(problem, [near, dead], rule=Stop.PAPER)
    assert decided == [False, False], "the paper's rule waits for the gradient"


def test_a_short_neuron_is_alive_where_the_loss_is_smooth_and_an_output_weight_is_no_length():
    short = np.array([[0.9, 0.9], [1e-7, 0.0]])
    book, decided, _ = judge(TwoLayer(np.eye(2), activation="erf"), [short])
    assert decided == [False]
    learned = TwoLayer(np.eye(2), trainable_output=True)
    mute = np.array([[0.9, 0.9, 1.0], [0.5, -0.5, 1e-8]])
    book, decided, _ = judge(learned, [mute])
    assert decided == [False]
    gone = np.array([[0.9, 0.9, 1.0], [1e-8, 0.0, 0.7]])
    book, decided, _ = judge(learned, [gone])
    assert outcomes(book) == ["DEGENERATE"]


@pytest.mark.slow
def test_with_fewer_students_a_minimum_is_converged():
    problem = TwoLayer(np.eye(2), students=1, activation="erf")
    energy = landscape(problem)
    point = np.full((1, 2), 0.5)
    for _ in range(200):
        point = point - 0.5 * np.asarray(energy.gradient(point))
    for descent in (GradientDescent(), optimizer("adam:0.01")):
        book, decided, _ = judge(problem, [point + 1e-6], descent=descent)
        assert decided == [True]
        assert outcomes(book) == ["CONVERGED"]
        assert np.linalg.norm(energy.gradient(book.points[0])) < 1e-13
        assert 1e-7 < np.linalg.norm(book.points[0] - book.last_points[0]) < 1e-4
