from dataclasses import replace

import numpy as np
import pytest

from earnshaw.errors import InputError
from earnshaw.experiments import DataSets, load, measure
from earnshaw.experiments.logistic import MEASUREMENTS, consensus, contest, curvature_over_ball, estimate
from earnshaw.landscapes.empirical import EmpiricalRisk
from earnshaw.landscapes.logistic_data import draw
from earnshaw.problems import Data
from earnshaw.problems.logistic import Labels, Logistic, gaussian_weights
from earnshaw.proof import prove
from earnshaw.starts import Xavier, starts_around


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
    assert many.expected == pytest.approx(few.expected / 4, rel=0.1)
    exact = estimate(problem(1000, Labels.REGRESSION))
    assert exact.error < 1e-9
    assert exact.expected == 0


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


SIZES = [DataSets(neurons=1, dimension=3, samples=200, sets=4, labels=Labels.REGRESSION)]


def test_measurements_are_in_order_and_those_of_each_data_set_alone():
    shares = []
    found = measure("estimate", SIZES, workers=2, progress=lambda share, what: shares.append(share))
    assert found == {"K1-d3-n200-exact": [estimate(SIZES[0].problem(0, index)) for index in range(4)]}
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_a_failing_measurement_is_raised_and_more_data_sets_extend_a_folder(tmp_path, monkeypatch):
    seen = []

    def count(problem, distance):
        seen.append(problem.seed)
        if distance < 0:
            raise ArithmeticError("a negative distance")
        return estimate(problem, distance)

    monkeypatch.setitem(MEASUREMENTS, "estimate", count)
    with pytest.raises(ArithmeticError, match="negative"):
        measure("estimate", SIZES, tmp_path / "bad", distance=-1.0)
    seen.clear()
    few = measure("estimate", [replace(SIZES[0], sets=2)], tmp_path / "run", distance=0.1)
    more = measure("estimate", SIZES, tmp_path / "run", distance=0.1)
    assert sorted(seen) == [0, 1, 2, 3], "the first two are not measured again"
    direct = measure("estimate", SIZES, tmp_path / "direct", workers=1, distance=0.1)
    assert more == direct == load(tmp_path / "run")
    assert few["K1-d3-n200-exact"] == more["K1-d3-n200-exact"][:2]
    for name in ("manifest.json", "K1-d3-n200-exact.npz", "K1-d3-n200-exact.json"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "direct" / name).read_bytes()
    with pytest.raises(InputError, match=r"distance is 0\.1 there, and 0\.2 was asked for"):
        measure("estimate", SIZES, tmp_path / "run", distance=0.2)


@pytest.mark.slow
def test_starts_depend_on_their_lane_alone():
    one = problem(100)
    many = Xavier().draw(one, 7, np.arange(200))
    assert many.shape == (200, 2, 4)
    assert np.array_equal(Xavier().draw(one, 7, np.array([3, 5])), many[[3, 5]])
    assert abs(np.mean(many**2) * 4 - 1) < 5 * np.sqrt(2 / many.size)  # neurons of about length 1
    weights = gaussian_weights(2, 4, 0)
    around = starts_around(weights, 0.1, 0, np.arange(5))
    np.testing.assert_allclose(np.linalg.norm(around - weights, axis=(1, 2)), 0.1 * np.linalg.norm(weights))
    assert len({point.tobytes() for point in around}) == 5
