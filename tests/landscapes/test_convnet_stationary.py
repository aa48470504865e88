"""The closed forms of the stationary points against the landscape, on both sides of the condition."""

import math

import numpy as np
import pytest

from earnshaw.landscapes.convnet import ConvNetLandscape
from earnshaw.landscapes.convnet_stationary import (
    Stationarity,
    angle_of_overlap,
    spurious_approach,
    spurious_limit,
    stationary_points,
)
from earnshaw.problems.convnet import ConvNet

K = 4
THRESHOLD = math.sqrt((K + math.pi - 1) / math.pi)  # of S/|a*|: 1.398


def instance(ratio, seed=0, p=2, k=K):
    """A teacher with a given S/|a*|."""
    rng = np.random.default_rng(seed)
    contrast = rng.normal(size=k)
    contrast -= contrast.mean()
    contrast *= math.sqrt(max(1 - ratio**2 / k, 0)) / np.linalg.norm(contrast)
    return ConvNet(1.5 * rng.normal(size=p), 1.3 * (ratio / k + contrast))


def filter_at(problem, angle, length=1.4):
    """A filter at an angle to the teacher's, in the plane."""
    unit = problem.filter / np.linalg.norm(problem.filter)
    return length * (math.cos(angle) * unit + math.sin(angle) * np.array([-unit[1], unit[0]]))


GRID = [0.0, 0.5, -1.0, 1.3, THRESHOLD - 1e-3, THRESHOLD + 1e-3, -1.5, 1.8, 2.0]


@pytest.mark.parametrize("ratio", GRID)
def test_the_points_are_stationary_with_the_values_said(ratio):
    problem = instance(ratio)
    energy = ConvNetLandscape.of(problem)
    found = stationary_points(problem)
    assert [point.kind for point in found] == (
        [Stationarity.GLOBAL, Stationarity.SPURIOUS, Stationarity.SADDLES]
        if abs(ratio) < THRESHOLD
        else [Stationarity.GLOBAL, Stationarity.CUBIC_SADDLE]
    )
    for point in found:
        filter = filter_at(problem, point.angle)
        at = energy.point(filter, point.output_weights)
        assert np.abs(energy.gradient(at)).max() < 2e-15 * problem.scale
        assert float(energy.value(at)) == pytest.approx(point.value, abs=1e-14 * problem.scale)
        assert float(energy.product(at)) == pytest.approx(point.product, abs=1e-14 * problem.scale)
        distances = {
            other.kind: other.distance(problem, filter, point.output_weights) for other in stationary_points(problem)
        }
        assert min(distances, key=distances.__getitem__) is point.kind
        assert point.distance(problem, filter, point.output_weights) < 1e-7


def paper_point(problem):
    """The spurious point as the paper writes it (Lemma 4.1): a linear system."""
    k, b = problem.patches, problem.output_weights
    ones = np.ones((k, k))
    right = (ones - np.eye(k)) @ b * np.linalg.norm(problem.filter)
    return np.linalg.solve(ones + (math.pi - 1) * np.eye(k), right)


@pytest.mark.parametrize("ratio", GRID)
def test_location_and_value_of_the_spurious_point(ratio):
    problem = instance(ratio)
    spurious = stationary_points(problem)[1]
    assert np.abs(spurious.output_weights - paper_point(problem)).max() < 1e-14
    k, S, A = K, problem.total, float(problem.output_weights @ problem.output_weights)
    parts = S**2 / k * (2 * k + math.pi - 2) / (k + math.pi - 1) + (A - S**2 / k) * (math.pi - 2) / (math.pi - 1)
    assert spurious.value == pytest.approx(problem.filter @ problem.filter / 4 * parts, rel=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("ratio", GRID)
def test_it_is_a_minimum_on_one_side_only(ratio):
    """Below the condition no point near is lower; above it the curve of best output weights leads down at once."""
    problem = instance(ratio)
    energy = ConvNetLandscape.of(problem)
    spurious = stationary_points(problem)[1]
    rng = np.random.default_rng(3)
    size = min(abs(spurious.product) / np.linalg.norm(problem.output_weights), 0.3)
    turns = np.concatenate([10.0 ** -rng.uniform(1, 4, size=300), rng.uniform(0, math.pi, size=100)])
    filters = np.stack([filter_at(problem, math.pi - turn) for turn in turns])
    shifts = rng.normal(size=(400, K))
    shifts *= (0.99 * size * rng.uniform(size=400) ** 3 / np.linalg.norm(shifts, axis=1))[:, None]
    shifts[0] = 0
    values = np.asarray(energy.value(energy.point(filters, spurious.output_weights + shifts)))
    curve = np.asarray(energy.best_outputs(energy.angles(energy.point(filters, shifts)).overlap))
    along = np.asarray(energy.value(energy.point(filters, curve)))
    near = turns < 0.02 if abs(abs(ratio) - THRESHOLD) < 0.01 else turns < 0.3
    rounding = 1e-15 * problem.scale
    if spurious.kind is Stationarity.SPURIOUS:
        assert values.min() > spurious.value - rounding
        assert (values[turns > 1e-2] > spurious.value).all()
        assert (along[near] > spurious.value - rounding).all()
    else:
        assert (along < spurious.value + rounding).all()
        assert (along[turns > 3e-2] < spurious.value - rounding).all()


def test_the_hessian_cannot_tell():
    """On v it vanishes at the spurious point, on either side of the condition."""
    for ratio in (0.5, 1.8):
        problem = instance(ratio)
        energy = ConvNetLandscape.of(problem)
        spurious = stationary_points(problem)[1]
        hessian = np.asarray(energy.hessian(energy.point(-problem.filter, spurious.output_weights)))
        assert np.abs(hessian[:2]).max() < 1e-15
        assert np.linalg.eigvalsh(hessian[2:, 2:]).min() > 0.3


@pytest.mark.parametrize("ratio", [0.0, 1.0, 1.39])
def test_the_saddles_have_one_negative_direction(ratio):
    problem = instance(ratio)
    energy = ConvNetLandscape.of(problem)
    saddle = stationary_points(problem)[2]
    assert saddle.product == pytest.approx(0, abs=1e-13)
    spectrum = np.linalg.eigvalsh(energy.hessian(energy.point(filter_at(problem, saddle.angle), saddle.output_weights)))
    assert spectrum[0] < -1e-5
    assert abs(spectrum[1]) < 1e-13  # the length of the filter
    assert spectrum[2] > 1e-3
    assert saddle.value > stationary_points(problem)[1].value


def test_one_output_weight_and_one_filter_weight():
    one = stationary_points(ConvNet([1.0, 2.0], [-3.0]))
    assert [point.kind for point in one] == [Stationarity.GLOBAL, Stationarity.CUBIC_SADDLE]
    fixed = stationary_points(ConvNet([2.0], [1.0, 1.0, 1.0]))  # S^2 = 9 is above the condition
    assert [point.kind for point in fixed] == [Stationarity.GLOBAL, Stationarity.SPURIOUS]


@pytest.mark.parametrize("angle", [0.0, 0.1, math.pi / 2, 2.9, 3.1, math.pi - 1e-3, math.pi])
def test_the_angle_is_found_from_g(angle):
    turn = math.pi - angle
    g = turn**3 / 3 if turn < 1e-4 else turn * math.cos(angle) + math.sin(angle)
    # g is flat at both ends: the angle there is known to the root, and the cube root, of rounding
    assert angle_of_overlap(g) == pytest.approx(angle, abs=1e-7 if angle in (0.0, math.pi) else 1e-9)


def test_the_limit_of_the_spurious_minimum():
    assert spurious_limit(25) == pytest.approx(2.9393, abs=1e-4)
    assert spurious_limit(1) == 1
    assert spurious_limit(K) == THRESHOLD
    for side in (-1, 1):
        kinds = [point.kind for point in stationary_points(instance(spurious_limit(K) + side * 1e-9))]
        assert (Stationarity.SPURIOUS in kinds) == (side < 0)


@pytest.mark.parametrize("ratio", [0.5, -1.0, 1.2])
def test_the_approach_solves_the_equation_of_a_small_angle(ratio):
    """The law C/t has slope -angle^2/C a step; so turns the filter, by the gradient at output weights that follow it."""
    problem, step, angle, length = instance(ratio), 0.1, 1e-4, 1.4
    energy = ConvNetLandscape.of(problem)
    filter = filter_at(problem, math.pi - angle, length)
    overlap = float(energy.angles(energy.point(filter, problem.output_weights)).overlap)
    at = energy.point(filter, np.asarray(energy.best_outputs(overlap)))
    slope = np.asarray(energy.split(energy.gradient(at))[0])
    across = filter_at(problem, math.pi / 2 - angle, 1.0)  # towards the teacher
    turned = step * float(-slope @ across) / length
    constant = spurious_approach(energy, step, 1, length)
    assert turned == pytest.approx(-(angle**2) / constant, rel=1e-3)
    assert spurious_approach(energy, step, [10, 20], [length] * 2) == pytest.approx([constant / 10, constant / 20])
