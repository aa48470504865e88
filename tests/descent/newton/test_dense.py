from dataclasses import dataclass

import numpy as np
import pytest

from earnshaw.descent import GradientDescent, Lanes, Outcome, Stopping, run_lanes
from earnshaw.descent.judges.base import BudgetJudge
from earnshaw.descent.newton.dense import dense_newton
from earnshaw.landscapes.empirical import EmpiricalRisk
from earnshaw.landscapes.logistic_data import draw
from earnshaw.problems.logistic import Labels, Logistic, gaussian_weights


@dataclass
class Wells:
    """(x^2 - 1)^2 + y^2: two minima, a saddle at 0."""

    passes: int = 0

    def value_and_gradient(self, point):
        self.passes += 1
        x, y = point
        return (x * x - 1) ** 2 + y * y, np.array([4 * x * (x * x - 1), 2 * y])

    def hessian(self, point):
        return np.diag([12 * point[0] ** 2 - 4, 2.0])


@pytest.mark.parametrize("start", [(0.01, 0.7), (-0.3, 5.0), (40.0, -3.0)])
def test_it_leaves_saddles_and_ends_at_rounding(start):
    risk = Wells()
    end = dense_newton(risk, np.array(start))
    np.testing.assert_allclose(end.point, [np.sign(start[0]), 0], atol=1e-12)
    assert end.gradient_norm < 1e-12
    np.testing.assert_allclose(end.spectrum, [2, 8])
    assert list(end.values) == sorted(end.values, reverse=True)
    assert len(end.values) == len(end.gradient_norms)
    assert risk.passes < 60


def test_it_stops_where_it_is_told():
    assert len(dense_newton(Wells(), np.array([3.0, 1.0]), max_steps=2).values) == 3
    assert dense_newton(Wells(), np.array([1.0, 0.0])).values == (0.0,)


@pytest.mark.slow
def test_a_budget_counts_steps_and_small_gradients():
    problem = Logistic(gaussian_weights(2, 4, seed=0), 500, Labels.REGRESSION, seed=1)
    risk = EmpiricalRisk.of(draw(problem), 2)
    starts = np.stack([problem.weights, problem.weights + 1.0])
    stopping = Stopping(max_steps=60)
    descent = GradientDescent(step=20.0, check_every=20)

    def run(starts):
        lanes, judge = np.arange(len(starts)), BudgetJudge(stopping=stopping, gradient=1e-10)
        work = Lanes(landscape=risk, descent=descent, judge=judge, starts=starts, indices=lanes, batch=len(lanes))
        return run_lanes(work)[0]

    ledger = run(starts)
    assert ledger.steps.tolist() == [20, 60]  # the truth is stationary at the first look
    assert (ledger.outcome == Outcome.UNDECIDED.code).all()
    point = starts[1]
    for _ in range(60):
        point = point - 20.0 * np.asarray(risk.gradient(point))
    np.testing.assert_allclose(ledger.points[1], point, atol=1e-12)
    assert ledger.value[1] == pytest.approx(float(risk.value(point)))
    broken = np.stack([np.full((2, 4), np.nan)])
    lost = run(broken)
    assert lost.outcome[0] == Outcome.DIVERGED.code
