"""The proved rule put to the test: decided runs are continued, and the theorem's claims checked at random points."""

import math

import jax
import numpy as np
import pytest

from earnshaw.descent import GradientDescent, Lanes, Outcome, Stopping, run_lanes
from earnshaw.descent.judges.barrier import BarrierJudge, check_step, longest_step
from earnshaw.errors import InputError
from earnshaw.landscapes.convnet import ConvNetLandscape
from earnshaw.landscapes.convnet_lanes import teachers
from earnshaw.problems.convnet import ConvNet, RandomConvNets
from earnshaw.starts.base import SphereAndBall

LANES = 96


def lanes(ratios=(0.2, 1.0, 1.8), p=6, k=9, count=LANES, seed=0):
    """Random teachers and starts, several ratios in turn, in five coordinates."""
    parts = []
    for ratio in ratios:
        problem, indices = RandomConvNets(filter_size=p, patches=k, ratio=ratio), np.arange(count // len(ratios))
        parts.append((*teachers(problem, seed, indices), SphereAndBall().draw(problem, seed, indices)))
    filters, outputs, starts = (np.concatenate(part) for part in zip(*parts, strict=True))
    energy = ConvNetLandscape(*jax.device_put((filters, outputs, np.ones_like(outputs))))
    return energy.reduced(starts)[:2]


def decide(energy, starts, step=0.1, batch=LANES, **limits):
    descent = GradientDescent(step=step)
    judge, indices = BarrierJudge.of(energy, descent, Stopping(**limits)), np.arange(len(starts))
    work = Lanes(landscape=energy, descent=descent, judge=judge, starts=starts, indices=indices, batch=batch)
    return run_lanes(work)[0]


@jax.jit
def onward(energy, points, step, steps):
    """Continue; return the points, whether a . a* ever changed sign, and the largest rise of the loss in a step."""
    sign = energy.product(points) > 0

    def one(_, carry):
        x, value, changed, rise = carry
        x = x - step[:, None] * energy.gradient(x)
        new = energy.value(x)
        changed = changed | ((energy.product(x) > 0) != sign)
        return x, new, changed, jax.numpy.maximum(rise, new - value)

    zero = jax.numpy.zeros(len(points))
    x, _, changed, rise = jax.lax.fori_loop(0, steps, one, (points, energy.value(points), zero > 1, zero))
    return x, changed, rise


@pytest.fixture(scope="module")
def decided():
    energy, starts = lanes()
    return energy, starts, decide(energy, starts)


def test_every_run_is_decided_soon(decided):
    _, _, ledger = decided
    counts = np.bincount(ledger.outcome, minlength=len(Outcome))
    assert counts[Outcome.GLOBAL.code] + counts[Outcome.SPURIOUS.code] == LANES
    assert counts[Outcome.SPURIOUS.code] > 10
    assert ledger.steps.max() < 1000


def test_decided_runs_end_where_the_rule_says(decided):
    energy, _, ledger = decided
    x, changed, rise = onward(energy, ledger.last_points, np.full(LANES, 0.1), 20_000)
    assert not np.any(changed)
    assert np.max(rise) < 1e-14
    value, way = np.asarray(energy.value(x)), energy.angles(x)
    good = ledger.outcome == Outcome.GLOBAL.code
    assert value[good].max() < 1e-20
    assert np.asarray(way.angle)[good].max() < 1e-9
    assert np.abs(value - np.asarray(energy.spurious_value))[~good].max() < 1e-5
    assert np.asarray(way.supplement)[~good].max() < 0.05
    # the closed form that was entered, up to the length of the filter
    assert np.abs(ledger.points[good, 2:] - np.asarray(x)[good, 2:]).max() < 1e-9
    assert np.abs(ledger.points[~good, 2:] - np.asarray(x)[~good, 2:]).max() < 1e-3
    assert np.array_equal(ledger.value[good], np.zeros(good.sum()))
    assert np.allclose(ledger.value[~good], np.asarray(energy.spurious_value)[~good], rtol=1e-14)
    slopes = np.asarray(energy.gradient(ledger.points))
    assert np.abs(slopes).max() < 1e-15


@pytest.mark.slow
def test_outcomes_do_not_depend_on_the_batch(decided):
    energy, starts, ledger = decided
    small = decide(energy, starts, batch=32)
    assert np.array_equal(small.outcome, ledger.outcome)
    assert np.array_equal(small.steps, ledger.steps)
    assert np.abs(small.last_points - ledger.last_points).max() < 1e-12


def below(count=400, seed=0):
    """Random problems of many scales, at random points with F below the barrier and |v| >= 1."""
    rng = np.random.default_rng(seed)
    k = rng.integers(1, 40, size=count)
    ratio = rng.uniform(-1, 1, size=count) * np.sqrt(k)
    ratio = np.where(k == 1, np.sign(ratio), ratio)
    size = np.exp(rng.uniform(-1, 1, size=count))
    zero = np.zeros(count)
    filters = np.stack([np.exp(rng.uniform(-1, 1, size=count)), zero], 1)
    outputs = size[:, None] * np.stack([ratio / np.sqrt(k), np.sqrt(np.maximum(1 - ratio**2 / k, 0)), zero], 1)
    energy = ConvNetLandscape(*jax.device_put((filters, outputs, np.stack([np.sqrt(k), zero, zero], 1))))
    angle = rng.uniform(0, math.pi, size=count)
    length = np.exp(rng.uniform(0, 1, size=count))
    v = length[:, None] * np.stack([np.cos(angle), np.sin(angle)], 1)
    g = np.asarray(energy.angles(np.concatenate([v, outputs], 1)).overlap)
    a = np.asarray(energy.best_outputs(g))
    noise = rng.normal(size=(count, 3)) * size[:, None] * filters[:, :1] * np.exp(rng.uniform(-4, 0, size=(count, 1)))
    points = np.concatenate([v, a + noise], 1)
    low = np.asarray(energy.value(points)) < np.asarray(energy.barrier)
    return energy.take(np.flatnonzero(low)), points[low]


@pytest.mark.slow
def test_below_the_barrier_angle_and_product_agree():
    energy, points = below()
    assert len(points) > 100
    product, g, turning = (
        np.asarray(x) for x in (energy.product(points), energy.angles(points).overlap, energy.turning)
    )
    assert np.array_equal(product > 0, g > turning)
    assert np.all(np.abs(product) <= 2 * np.asarray(energy.norm * energy.square) * (1 + 1e-12))
    assert np.sum(product < 0) > 20
    assert np.all(turning[product < 0] > 0)


@pytest.mark.slow
def test_the_theorem_at_its_longest_step():
    """Step 1/L exactly, scales from 1/3 to 3, k from 1 to 39: the loss never rises and the sign stays."""
    energy, points = below(seed=1)
    step = 1 / np.asarray(energy.smoothness(points))
    x, changed, rise = onward(energy, points, step, 30_000)
    assert not np.any(changed)
    assert np.max(rise / np.asarray(energy.barrier)) < 1e-14
    value, bad = np.asarray(energy.value(x)), np.asarray(energy.product(points)) < 0
    assert np.median(value[~bad] / np.asarray(energy.barrier)[~bad]) < 1e-12
    # the approach is 1/t: what is left of the loss is small for most, and never less than the spurious value
    left = (value / np.asarray(energy.spurious_value) - 1)[bad]
    assert left.min() > -1e-12
    assert np.median(left) < 1e-6


@pytest.mark.slow
def test_a_step_beyond_the_rule_stays_undecided(decided):
    energy, starts, _ = decided
    step = 1.05 * longest_step(9)
    late = decide(energy, starts, step=step, max_steps=200)
    assert np.all(late.outcome == Outcome.UNDECIDED.code)
    assert np.all(late.steps == 200)
    with pytest.raises(InputError, match="proved for steps up to"):
        check_step(step, 9)
    check_step(0.9 * longest_step(9), 9)
    assert float(1 / np.max(energy.smoothness(starts))) == pytest.approx(longest_step(9), rel=1e-12)


def test_the_step_limit(decided):
    energy, starts, _ = decided
    stopped = decide(energy, starts, max_steps=50)
    assert np.any(stopped.outcome == Outcome.UNDECIDED.code)
    open_lanes = stopped.outcome == Outcome.UNDECIDED.code
    assert np.all(stopped.steps[open_lanes] == 50)
    assert np.all(stopped.value[open_lanes] >= (1 - 1e-8) * np.asarray(energy.barrier)[open_lanes])


@pytest.mark.slow
def test_a_filter_that_cannot_turn():
    """Exactly against the teacher's: a spurious minimum below the condition, a saddle above it; along it: global."""
    outcomes = {}
    for name, outputs in (("below", [1.0, -1.0, 0.5]), ("above", [1.0, 1.0, 1.0])):
        problem = ConvNet([1.0, 0.0], outputs)
        energy = ConvNetLandscape.of(problem)
        starts = np.array([[-1.0, 0.0, 0.1, 0.1, 0.1], [1.0, 0.0, 0.1, 0.1, 0.1]])
        ledger = decide(energy, starts, batch=2)
        outcomes[name] = [Outcome.from_code(code) for code in ledger.outcome]
    assert outcomes == {
        "below": [Outcome.SPURIOUS, Outcome.GLOBAL],
        "above": [Outcome.SADDLE, Outcome.GLOBAL],
    }


@pytest.mark.slow
def test_a_lane_that_diverges_is_restarted_with_half_the_step(decided):
    """Above 2/h = 1.13 the output weights blow up; 5 is halved three times, and 0.625 is still above 1/L."""
    energy, starts, _ = decided
    ledger = decide(energy, starts, step=5.0, max_steps=10_000)
    assert np.all(ledger.halvings == 3)
    assert np.all(ledger.outcome == Outcome.UNDECIDED.code)
    lost = decide(energy, starts, step=5.0, max_steps=10_000, max_halvings=1)
    assert np.all(lost.outcome == Outcome.DIVERGED.code)
