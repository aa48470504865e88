"""Ends of runs that come to no rest: tips, where the loss rises linearly to all sides, minima that are flat, and slow ways."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from earnshaw.descent import GradientDescent, Ledger, NewtonJudge, Outcome, Stopping, descend
from earnshaw.descent.newton.endings import flow_end, sharpen
from earnshaw.landscapes import landscape
from earnshaw.problems import TwoLayer, standard_teacher
from earnshaw.starts import Xavier


@jax.tree_util.register_static
@dataclass(frozen=True)
class Cone:
    """|x - (1, 2)| + height: a tip, about which a fixed step goes to and fro."""

    height: float = 0.0
    shape = (1, 2)

    def value(self, point):
        return jnp.linalg.norm(point - jnp.array([1.0, 2.0]), axis=(-2, -1)) + self.height

    def gradient(self, point):
        away = point - jnp.array([1.0, 2.0])
        length = jnp.linalg.norm(away, axis=(-2, -1), keepdims=True)
        return away / jnp.where(length > 0, length, 1.0)


def test_shorter_and_shorter_steps_find_a_tip():
    points = np.array([[[1.03, 2.01]], [[0.5, 2.5]]])
    tip = sharpen(Cone(), points, np.full(2, 0.1), 1e-9)
    assert (np.asarray(tip.value) < 1e-9).all()
    assert np.abs(np.asarray(tip.point) - [[1.0, 2.0]]).max() < 1e-9
    high = sharpen(Cone(0.5), points, np.full(2, 0.1), 1e-9)
    np.testing.assert_allclose(high.value, 0.5, atol=1e-9)


def test_a_lane_that_is_not_finite_stays_so():
    tip = sharpen(Cone(), np.full((2, 1, 2), np.nan), np.full(2, 0.1), 1e-9)
    assert np.isnan(np.asarray(tip.value)).all()


def fates(ledger):
    return [Outcome.from_code(int(code)).name for code in ledger.outcome]


SIGN = TwoLayer(standard_teacher(3), activation="sign")


@pytest.mark.slow
@pytest.mark.parametrize("lanes", [np.arange(6), pytest.param(np.arange(20), marks=pytest.mark.nightly)], ids=len)
def test_sign_neurons_that_go_to_and_fro_about_the_teacher_have_found_it(lanes):
    """A fixed step never rests: the gradient at the tip is that of a cone. Nineteen of twenty runs are at the teacher."""
    ledger, _, _ = descend(
        SIGN, GradientDescent(), Stopping(max_steps=20_000), Xavier().draw(SIGN, 0, lanes), lanes, 32
    )
    assert fates(ledger) == ["UNDECIDED" if lane == 9 else "GLOBAL" for lane in lanes]
    found = ledger.outcome == Outcome.GLOBAL.code
    assert np.abs(ledger.value[found]).max() < 1e-7 * SIGN.scale
    assert (np.abs(landscape(SIGN).value(jnp.asarray(ledger.last_points[found]))) > 1e-4).all(), "none was at rest"
    units = ledger.points[found] / np.linalg.norm(ledger.points[found], axis=-1, keepdims=True)
    assert units.max(-1).min() > 1 - 1e-12
    assert (np.sort(units.argmax(-1)) == np.arange(3)).all(), "each has a teacher neuron of its own"
    if not found.all():  # the run that is left has two neurons that cancel each other, and creeps
        left = ledger.points[9] / np.linalg.norm(ledger.points[9], axis=-1, keepdims=True)
        assert np.sort((left @ left.T)[np.triu_indices(3, 1)])[0] < -0.99


def test_at_a_tip_that_is_not_global_the_spectrum_is_not_asked():
    """One student on one of two teachers: a tip, whose Hessian has an eigenvalue of 1e6 and a negative one."""
    problem = TwoLayer(standard_teacher(3), students=2, activation="sign")
    energy = landscape(problem)
    judge = NewtonJudge.of(problem, energy, GradientDescent(), Stopping())
    point = np.eye(3)[:2] + 1e-7 * np.random.default_rng(0).normal(size=(2, 3))
    spectrum = np.linalg.eigvalsh(np.asarray(energy.hessian(jnp.asarray(point))))
    assert spectrum[0] < -1e-3
    assert spectrum[-1] > 1e5
    book = Ledger(point[None])
    judge._settle(book, 0, point, point)
    assert fates(book) == ["UNDECIDED"]


@pytest.mark.slow
def test_flat_minima_of_students_with_trained_output_weights_are_called_flat():
    """Two parallel neurons can share their output weight in any way: a flat direction beside those of the lengths."""
    problem = TwoLayer(standard_teacher(3), trainable_output=True)
    lanes, energy = np.arange(8), landscape(problem)
    ledger, _, _ = descend(problem, GradientDescent(), Stopping(), Xavier().draw(problem, 0, lanes), lanes, 32)
    assert set(fates(ledger)) == {"GLOBAL", "FLAT"}
    assert energy.gauge == 3
    for lane in np.flatnonzero(ledger.outcome == Outcome.FLAT.code):
        assert ledger.gradient_norm[lane] < 1e-13
        spectrum = np.linalg.eigvalsh(np.asarray(energy.hessian(jnp.asarray(ledger.points[lane]))))
        assert (np.abs(spectrum[:4]) < 1e-12).all(), "one more than the lengths of three neurons"
        assert spectrum[4] > 1e-3
        weights = ledger.points[lane, :, :3] / np.linalg.norm(ledger.points[lane, :, :3], axis=1, keepdims=True)
        assert (weights @ weights.T)[np.triu_indices(3, 1)].max() > 1 - 1e-10


@dataclass(frozen=True)
class Valley:
    """F = x^2 / 2 + softness y^2 / 2 + y^3, one neuron (x, y): a slow minimum at 0, and a way down beyond a barrier."""

    softness: float
    shape = (1, 2)

    def value(self, point: np.ndarray) -> float:
        (x, y) = np.asarray(point)[0]
        return 1.0 + 0.5 * x**2 + 0.5 * self.softness * y**2 + y**3

    def gradient(self, point: np.ndarray) -> np.ndarray:
        (x, y) = np.asarray(point)[0]
        return np.array([[x, self.softness * y + 3 * y**2]])

    def hessian(self, point: np.ndarray) -> np.ndarray:
        return np.diag([1.0, self.softness + 6 * float(point[0, 1])])


def test_it_follows_the_flow_to_a_minimum_that_steps_would_not_reach():
    end = flow_end(Valley(1e-6), np.array([[0.3, 1e-3]]), low=0.5, still=1e-12)
    assert end is not None
    assert np.abs(end[0, 0]) <= 1e-12
    assert np.abs(end[0, 1]) <= 1e-6


def test_beyond_the_barrier_it_goes_down_until_the_value_is_low():
    """The barrier is at y = -softness / 3."""
    valley = Valley(1e-3)
    for y, falls in ((-3.2e-4, False), (-3.5e-4, True)):
        end = flow_end(valley, np.array([[0.0, y]]), low=0.5, still=1e-12)
        assert end is not None
        assert (valley.value(end) < 0.5) == falls


def test_it_gives_up_where_there_is_no_end():
    valley = Valley(0.0)
    assert flow_end(valley, np.array([[0.0, 1.0]]), low=0.5, still=0.0) is None
    many = landscape(TwoLayer(standard_teacher(32)))
    assert flow_end(many, np.eye(32) + 0.1, low=1e-3, still=1e-9) is None


@pytest.mark.nightly
@pytest.mark.slow
def test_runs_that_creep_at_a_nearly_degenerate_minimum_are_decided():
    """Two of the twelve creeping runs of k = 17, n = 18: steps of 0.1 have not decided them after 200,000."""
    problem = TwoLayer(standard_teacher(17), students=18)
    lanes = np.array([2, 510])
    starts = Xavier().draw(problem, 0, lanes)
    ledger, _, _ = descend(problem, GradientDescent(), Stopping(), starts, lanes, 16)
    assert [Outcome.from_code(int(code)) for code in ledger.outcome] == [Outcome.SPURIOUS, Outcome.GLOBAL]
    assert ledger.steps[1] == 50_000
    assert ledger.steps[0] in (5100, 50_000), (
        "where CPUs round differently, a Newton test decides it first, or does not"
    )
    assert ledger.value[0] == pytest.approx(0.0191571826, abs=1e-9)
    smallest = np.asarray(landscape(problem).spectrum(jnp.asarray(ledger.points[0]), extra_dimension=True))[0]
    assert smallest == pytest.approx(3.81e-5, abs=1e-7)
