import math

import numpy as np
import pytest

from earnshaw.errors import InputError
from earnshaw.landscapes.convnet_lanes import teachers
from earnshaw.problems import ConvNet, RandomConvNets
from earnshaw.starts.base import SIGNS, FourSigns, SphereAndBall, sign_flips

LANES = np.arange(4000)


def test_the_start_of_theorem_3_2():
    p, k = 3, 4
    problem = ConvNet(np.array([0.0, 3.0, 4.0]), np.array([1.0, 2.0, -0.5, 1.5]))
    starts = SphereAndBall().draw(problem, 0, LANES)
    v, a = starts[:, :p], starts[:, p:]
    radius = 4.0 * 5.0 / 2
    assert np.abs(np.linalg.norm(v, axis=1) - 1).max() < 1e-14
    size = np.linalg.norm(a, axis=1) / radius
    assert size.max() <= 1
    # uniform: the moments of a sphere and of a ball, at 5 standard errors
    assert np.abs(v.mean(0)).max() < 5 * math.sqrt(1 / p / len(LANES))
    assert abs(np.mean(v[:, 0] ** 2) - 1 / p) < 5 * np.std(v[:, 0] ** 2) / math.sqrt(len(LANES))
    assert abs(np.mean(size**k) - 0.5) < 5 * math.sqrt(1 / 12 / len(LANES))
    assert np.abs(a.mean(0)).max() < 5 * radius * math.sqrt(1 / (k + 2) / len(LANES))
    assert np.abs(a.sum(1)).max() <= 4.0 * 5.0
    # the two parts are independent of each other and of the lane
    assert abs(np.corrcoef(v[:, 0], a[:, 0])[0, 1]) < 5 / math.sqrt(len(LANES))
    some = SphereAndBall().draw(problem, 0, LANES[::-1])
    assert np.array_equal(some, starts[::-1])
    assert not np.array_equal(SphereAndBall().draw(problem, 1, LANES), starts)


def test_teachers_have_the_ratio_asked_for():
    problem = RandomConvNets(filter_size=3, patches=4, ratio=-1.2)
    filters, outputs = teachers(problem, 0, LANES)
    assert np.abs(np.linalg.norm(filters, axis=1) - 1).max() < 1e-14
    assert np.abs(np.linalg.norm(outputs, axis=1) - 1).max() < 1e-14
    assert np.abs(outputs.sum(1) + 1.2).max() < 1e-14
    spread = np.cov(outputs.T)  # uniform in the hyperplane: the projector, times (1 - S^2/k)/(k - 1)
    expected = (np.eye(4) - 0.25) * (1 - 1.44 / 4) / 3
    assert np.abs(spread - expected).max() < 5 * 0.2 / math.sqrt(len(LANES))
    starts = SphereAndBall().draw(problem, 0, LANES)
    overlap = np.sum(filters * starts[:, :3], 1)  # teacher and start are independent
    assert abs(overlap.mean()) < 5 * math.sqrt(1 / 3 / len(LANES))
    again, _ = teachers(problem, 0, LANES[::-1])
    assert np.array_equal(again[::-1], filters)


def test_extreme_teachers():
    _, equal = teachers(RandomConvNets(filter_size=3, patches=4, ratio=2.0), 0, LANES)
    assert np.abs(equal - 0.5).max() < 1e-15
    _, single = teachers(RandomConvNets(filter_size=2, patches=1, ratio=-1.0), 0, LANES[:3])
    assert np.all(single == -1)


@pytest.mark.parametrize(
    ("changes", "says"),
    [({"ratio": 2.1}, "impossible"), ({"ratio": math.nan}, "impossible"), ({"filter_size": 1}, "2 weights"), ({"patches": 0}, "whole number from 1"), ({"patches": 1}, "1 or -1")],
)  # fmt: skip
def test_impossible_teachers_are_refused(changes, says):
    with pytest.raises(InputError, match=says):
        RandomConvNets(**{"filter_size": 2, "patches": 4, "ratio": 0.5} | changes)


def test_four_signs():
    points = np.arange(1.0, 11.0).reshape(2, 5)
    flipped = sign_flips(points, 2)
    assert flipped.shape == (4, 2, 5)
    assert SIGNS[0] == (1, 1)
    assert np.array_equal(flipped[0], points)
    assert np.array_equal(flipped[1][0], [1, 2, -3, -4, -5])
    assert np.array_equal(flipped[2][0], [-1, -2, 3, 4, 5])
    assert np.array_equal(flipped[3], -points)
    problem = RandomConvNets(filter_size=2, patches=3, ratio=0.5)
    starts = SphereAndBall().draw(problem, 1, LANES[:9])
    assert np.array_equal(FourSigns().draw(problem, 1, LANES[:9]), sign_flips(starts, 2))


def test_problems_of_several_sizes_draw_as_each_would_alone_in_its_lane():
    problems = [ConvNet([1.0, 2.0], [1.0, 0.5, 2.0]), ConvNet([0.0, 1.0, 0.0], [1.0]), ConvNet([3.0, 1.0], [1.0, 1.0])]
    for lane, start in enumerate(SphereAndBall().draw_many(problems, 3)):
        assert np.array_equal(start, SphereAndBall().draw(problems[lane], 3, np.array([lane]))[0])


def test_one_sign_satisfies_theorem_3_1():
    problem = ConvNet(np.array([1.0, -2.0, 0.5]), np.array([1.0, 2.0, -4.0, 0.5]))
    flipped = sign_flips(SphereAndBall().draw(problem, 0, LANES), 3)
    good = (flipped[..., :3] @ problem.filter > 0) & (flipped[..., 3:] @ problem.output_weights > 0)
    assert np.all(good.sum(0) == 1)
