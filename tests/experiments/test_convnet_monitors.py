"""Runs step by step: phases, lemmas, and the 1/t law."""

import dataclasses
import math

import jax
import numpy as np
import pytest

from earnshaw.experiments.convnet import follow, hypotheses, monitors, phases
from earnshaw.landscapes import ConvNetLandscape, lane_landscape
from earnshaw.problems import ConvNet, RandomConvNets
from earnshaw.starts import SphereAndBall, sign_flips

P, K, STEP, COUNT = 20, 25, 0.1, 8


def problem(ratio=1.0, seed=0):
    lanes, nets = np.arange(COUNT), RandomConvNets(filter_size=P, patches=K, ratio=ratio)
    return lane_landscape(nets, seed, lanes), SphereAndBall().draw(nets, seed, lanes)


@pytest.fixture(scope="module")
def runs():
    energy, starts = problem()
    reduced, points, _ = energy.reduced(starts)
    return reduced, points, follow(reduced, points, STEP, 800)


@pytest.mark.slow
def test_a_trajectory_is_gradient_descent(runs):
    energy, points, run = runs
    assert run.value.shape == (801, COUNT)
    assert np.array_equal(run.step, np.arange(801))
    x = np.array(points)
    for step in range(3):
        assert np.allclose(run.value[step], energy.value(x), rtol=1e-13)
        assert np.allclose(run.product[step], energy.product(x), atol=1e-14)
        assert np.allclose(run.length[step], np.linalg.norm(x[:, :2], axis=1), rtol=1e-13)
        assert np.allclose(run.total[step], math.sqrt(K) * x[:, 2], atol=1e-13)
        x = x - STEP * np.asarray(energy.gradient(x))
    assert np.allclose(run.angle + run.supplement, math.pi, rtol=1e-14)
    assert np.all(np.diff(run.length, axis=0) >= -1e-15)  # the filter never grows shorter
    assert np.all(np.diff(run.value, axis=0) <= 1e-15)


@pytest.mark.slow
def test_two_phases_and_the_rate(runs):
    energy, points, run = runs
    promised = hypotheses(energy, points).towards_global
    assert 0 < promised.sum() < COUNT
    for lane in range(COUNT):
        found = phases(run, lane)
        if promised[lane]:
            assert 20 < found.first < found.second < 800
            assert found.rate == pytest.approx(found.expected, rel=1e-3)
            at = found.first
            assert np.cos(run.angle[at, lane]) >= 0.5 > min(np.cos(run.angle[at - 1, lane]), run.product[at - 1, lane])
            assert run.value[found.second, lane] <= 1e-10 < run.value[found.second - 1, lane]
        elif run.spurious[lane]:
            assert (found.first, found.second, found.rate) == (None, None, None)
    # the expected factor is that of the Hessian's smallest curvature at the end (the length of v is flat)
    lane = int(np.flatnonzero(promised)[0])
    end = np.concatenate([[run.length[-1, lane], 0.0], np.asarray(energy.outputs[lane])])
    curvature = np.linalg.eigvalsh(energy.take(lane).hessian(end))
    assert phases(run, lane).expected == pytest.approx((1 - STEP * curvature[1]) ** 2, rel=1e-9)


@pytest.mark.slow
def test_no_lemma_is_violated_and_violations_are_seen(runs):
    _, _, run = runs
    for lane in range(COUNT):
        found = monitors(run, lane)
        assert [monitor.lemma[:3] for monitor in found] == ["4.2", "4.3", "4.4", "4.5"]
        assert all(monitor.violated is None for monitor in found)
    good = int(np.flatnonzero((run.angle[0] < math.pi / 2) & (run.product[0] > 0))[0])
    assert all(monitor.steps > 300 for monitor in monitors(run, good))
    bad = int(np.flatnonzero(run.spurious)[0])
    assert monitors(run, bad)[0].failed is not None  # the angle grows, but nobody promised that it would not

    def broken(name, step, value):
        array = getattr(run, name).copy()
        array[step, good] = value
        return monitors(dataclasses.replace(run, **{name: array}), good)

    assert broken("angle", 60, 3.0)[0].violated == 60
    assert broken("product", 60, -0.1)[1].violated == 60
    assert broken("total", 60, 1.1)[2].violated == 60
    assert broken("angle", 60, run.angle[59, good])[3].violated == 60


@pytest.mark.slow
def test_hypotheses_of_the_theorems():
    energy, starts = problem(ratio=0.3)
    flipped = sign_flips(starts, P)
    spoken = [hypotheses(energy, points) for points in flipped]
    assert np.all(sum(one.towards_global.astype(int) for one in spoken) == 1)  # Theorem 3.2
    for one, points in zip(spoken, flipped, strict=True):
        cosine = np.sum(points[:, :P] * np.asarray(energy.filter), 1)
        product = np.sum(points[:, P:] * np.asarray(energy.outputs), 1)
        assert np.array_equal(one.towards_global, (cosine > 0) & (product > 0))
        g = np.asarray(energy.angles(points).overlap)
        assert np.array_equal(one.towards_spurious, (product < 0) & (g <= 1 - 2 * 0.09))
    longer = np.concatenate([starts[:, :P], 100 * starts[:, P:]], 1)
    assert not hypotheses(energy, longer).towards_global.any()


@pytest.mark.slow
def test_the_spurious_point_is_approached_like_one_over_t(runs):
    energy, points, run = runs
    lane = int(np.flatnonzero(run.spurious)[0])
    alone = energy.take(np.array([lane]))
    late = follow(alone, points[[lane]], STEP, 100_000, 10_000)
    pull = abs(float(np.sum(np.asarray(alone.best_outputs(0.0)) * np.asarray(alone.outputs))))
    law = 2 * math.pi * late.length[1:, 0] ** 2 / (STEP * pull * late.step[1:])
    ratio = late.supplement[1:, 0] / law
    assert abs(ratio[-1] - 1) < 0.01
    assert abs(ratio[-1] - 1) < abs(ratio[0] - 1)


@pytest.mark.slow
def test_stochastic_descent_learns_it_too():
    """Fresh inputs at every step, from a start that Theorem 3.1 speaks of: the exact loss falls a thousandfold."""
    from earnshaw.descent import StochasticDescent

    energy = ConvNetLandscape.of(ConvNet([1.0, 0.0], [0.8, -0.5, 0.3]))
    starts = np.array([[0.7, 0.7, 0.2, -0.1, 0.1], [0.6, -0.8, 0.1, -0.1, 0.0]])
    assert hypotheses(energy, starts).towards_global.all()
    descent = StochasticDescent(step=0.1, samples=64)
    keys = jax.vmap(jax.random.key_data)(jax.random.split(jax.random.key(0), 2))
    state = descent.init(energy, starts, np.ones(2), keys)
    state = jax.jit(lambda s: jax.lax.fori_loop(0, 1500, lambda _, x: descent.advance(energy, x), s))(state)
    assert np.all(np.asarray(energy.value(state.point)) < 1e-3 * np.asarray(energy.value(starts)))
