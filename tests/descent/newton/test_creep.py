from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
import pytest

from earnshaw.descent import GradientDescent, Outcome, Stopping, descend
from earnshaw.descent.newton.endings import flow_end
from earnshaw.landscapes import landscape
from earnshaw.problems import TwoLayer, standard_teacher
from earnshaw.starts import Xavier


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


@pytest.mark.slow
def test_runs_that_creep_at_a_nearly_degenerate_minimum_are_decided():
    """Two of the twelve creeping runs of k = 17, n = 18: steps of 0.1 have not decided them after 200,000."""
    problem = TwoLayer(standard_teacher(17), students=18)
    lanes = np.array([2, 510])
    starts = Xavier().draw(problem, 0, lanes)
    ledger, _, _ = descend(problem, GradientDescent(), Stopping(), starts, lanes, 16)
    assert [Outcome.from_code(int(code)) for code in ledger.outcome] == [Outcome.SPURIOUS, Outcome.GLOBAL]
    assert ledger.steps.tolist() == [50_000, 50_000]
    assert ledger.value[0] == pytest.approx(0.0191571826, abs=1e-9)
    smallest = np.asarray(landscape(problem).spectrum(jnp.asarray(ledger.points[0]), extra_dimension=True))[0]
    assert smallest == pytest.approx(3.81e-5, abs=1e-7)
