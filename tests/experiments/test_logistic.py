import threading

import numpy as np
import pytest

from earnshaw.experiments.logistic import consensus, contest, curvature_over_ball, estimate, spread_out
from earnshaw.landscapes.empirical import EmpiricalRisk
from earnshaw.landscapes.logistic_data import draw
from earnshaw.problems import Data
from earnshaw.problems.logistic import Labels, Logistic, gaussian_weights
from earnshaw.proof import prove
from earnshaw.starts.logistic import random_starts, starts_around


def problem(n, labels=Labels.CLASSIFICATION, K=2, d=4):
    return Logistic(gaussian_weights(K, d, seed=0), n, labels, seed=1)


@pytest.mark.slow
def test_descents_agree_on_enough_data_and_not_on_too_little():
    enough, little = consensus(problem(8000), 4, step=30.0), consensus(problem(40), 4, 200, step=30.0)
    assert enough.success
    assert enough.spread < 1e-3
    assert enough.error < 0.3
    assert not little.success
    assert little.growth > enough.growth


@pytest.mark.slow
def test_the_error_of_the_minimiser_falls():
    few, many = estimate(problem(4000)), estimate(problem(64_000))
    assert few.found
    assert many.found
    assert many.error < 0.5 * few.error
    assert estimate(problem(1000, Labels.REGRESSION)).error < 1e-9


@pytest.mark.slow
def test_random_and_tensor_starts_meet_on_exact_labels():
    found = contest(problem(4000, Labels.REGRESSION), 3)
    assert (found.random, found.best, found.tensor_is_best, found.ends, found.undecided) == (3, 3, True, 1, 0)


@pytest.mark.slow
def test_sampled_curvature_is_above_what_is_proved():
    one = problem(4000)
    rows = draw(one)
    ball = prove(Data(rows.x, rows.y, len(one.weights)), one.weights).claim
    radii = np.array([0.0, 0.5 * ball.radius, ball.radius, 20.0])
    found = curvature_over_ball(EmpiricalRisk.of(rows, 2), one.weights, radii, 4, seed=0)
    assert (found.least[:3] > 0).all()
    assert found.least[0] >= ball.curvature_ge
    assert found.least[3] < found.least[0]
    assert (found.most >= found.least).all()


def test_work_is_spread_over_threads_in_order():
    seen = set()

    def work(item):
        seen.add(threading.get_ident())
        return item * item

    shares = []
    assert spread_out(work, range(20), 2, lambda share, what: shares.append(share)) == [i * i for i in range(20)]
    assert shares[-1] == 1
    with pytest.raises(ZeroDivisionError):
        spread_out(lambda item: 1 // item, [1, 0, 2], 2)


@pytest.mark.slow
def test_starts_depend_on_their_lane_alone():
    many = random_starts(2, 4, 7, np.arange(200), norm=2.0)
    assert np.array_equal(random_starts(2, 4, 7, np.array([3, 5]), norm=2.0), many[[3, 5]])
    assert abs(np.mean(many**2) * 4 - 4) < 5 * 4 * np.sqrt(2 / many.size)
    weights = gaussian_weights(2, 4, 0)
    around = starts_around(weights, 0.1, 0, np.arange(5))
    np.testing.assert_allclose(np.linalg.norm(around - weights, axis=(1, 2)), 0.1 * np.linalg.norm(weights))
    assert len({point.tobytes() for point in around}) == 5
