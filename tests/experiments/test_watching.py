"""One run watched on its way: its moments are those of gradient descent, and its end says who found whom."""

import numpy as np
import pytest

import earnshaw as es
from earnshaw.descent import GradientDescent, Outcome, Stopping
from earnshaw.experiments.dynamics import Capture
from earnshaw.experiments.watching import Moment, Watched, arrivals, watch


def seen(steps=400, resolution=0.0, step=0.1, **more):
    problem = es.TwoLayer(np.eye(2), students=2)
    start = np.array([[0.9, 0.3], [0.2, 0.8]])
    stopping = Stopping(rule="paper", max_steps=steps, trace=2)
    *moments, end = watch(problem, start, GradientDescent(step=step), stopping, resolution, **more)
    return problem, start, moments, end


@pytest.fixture(scope="module")
def run():
    return seen()


def test_moments_are_those_of_gradient_descent(run):
    problem, point, moments, end = run
    energy = es.landscape(problem)
    assert {type(moment) for moment in moments} == {Moment}
    assert isinstance(end, Watched)
    for moment in moments[:6]:
        slope = np.asarray(energy.gradient(moment.positions))
        np.testing.assert_allclose(moment.positions, point, rtol=0, atol=1e-14)
        np.testing.assert_allclose(moment.forces, -slope, rtol=0, atol=1e-14)
        assert moment.value == pytest.approx(float(energy.value(point)), abs=1e-15)
        point = moment.positions - 0.1 * slope
        point = point - 0.1 * np.asarray(energy.gradient(point))
    assert [moment.step for moment in moments[:6]] == [0, 2, 4, 6, 8, 10]
    assert end.outcome is Outcome.GLOBAL
    assert [(one.electron, one.proton, one.found) for one in end.arrivals] == [(0, 0, True), (1, 1, True)]
    assert max(one.distance for one in end.arrivals) < 1e-6


def test_of_a_run_that_hardly_moves_few_moments_are_shown(run):
    coarse = seen(resolution=0.1)
    assert len(coarse[2]) < len(run[2]) / 5
    assert coarse[3].value == run[3].value


def test_a_run_that_nobody_watches_any_more_ends():
    with pytest.raises(InterruptedError):
        seen(cancelled=lambda: True)


def test_other_networks_are_refused():
    problem = es.ConvNet(filter=np.array([1.0, 2.0]), output_weights=np.array([1.0, -0.5]))
    with pytest.raises(es.InputError, match="two-layer"):
        next(watch(problem, np.zeros(4), GradientDescent(), Stopping()))


def test_arrivals_tell_who_sits_where():
    protons = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    electrons = np.array([[0.0, 1.0], [0.6, 0.1], [1.0, 0.005]])
    first, second, third = arrivals(protons, electrons)
    assert (first.proton, first.found, first.distance) == (1, True, 0.0)
    assert (second.proton, second.found) == (0, False)
    assert second.distance == pytest.approx(np.hypot(0.4, 0.1))
    assert (third.proton, third.found) == (0, True)  # within a hundredth of the protons' length
    captured = arrivals(protons, electrons, [Capture(electron=1, proton=2, time=3.5)])[1]
    assert (captured.proton, captured.found, captured.time) == (2, True, 3.5)


def test_neurons_that_add_up_to_a_proton_share_it():
    protons = np.eye(3)
    electrons = np.array([[0.3, 0.001, 0.0], [0.0, 1.0, 0.0], [0.7, 0.0, 0.0], [0.0, 0.0, 0.6], [0.0, 0.0, 0.2]])
    found = arrivals(protons, electrons, additive=True)
    assert [(one.proton, one.found, one.shared) for one in found[:3]] == [
        (0, True, True),
        (1, True, False),
        (0, True, True),
    ]
    assert not any(one.found for one in found[3:])  # they add up to less
    assert not any(one.shared for one in arrivals(protons, electrons))


def test_electrons_that_face_each_other_are_named_where_they_cancel():
    protons = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    electrons = np.array([[0.6, 0.8], [1.0, 0.0], [-0.6, -0.8]])
    assert [one.faces for one in arrivals(protons, electrons, odd=True)] == [2, None, 0]
    assert [one.faces for one in arrivals(protons, electrons)] == [None] * 3
