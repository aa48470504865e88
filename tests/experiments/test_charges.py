import numpy as np
import pytest

from earnshaw.experiments import charges as counts


@pytest.mark.slow
@pytest.mark.nightly  # tests/papers/test_electrostatics.py holds the same comparison to Theorem 5 every time
def test_gradient_flow_on_half_the_loss_is_the_dynamics_under_phi():
    flows = counts.compare_flows(seed=0)
    assert flows.difference < 1e-8
    assert flows.doubled_difference > 1e-2
    assert abs(flows.speed_ratio - 2) < 1e-12


@pytest.mark.slow
def test_earnshaw_has_no_trace():
    assert counts.coulomb_trace(3, 50, 0) < 1e-12


@pytest.mark.slow
def test_every_critical_point_in_empty_space_has_a_way_down():
    points = counts.saddles(1, 3, 0.25, 100, 0)
    assert points.found >= 5
    assert points.trace_error < 1e-9
    assert (points.curvature < -1e-6).all()


@pytest.mark.slow
@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_electrons_that_are_moved_together_have_the_trace_of_a_clump(weight):
    points = counts.saddles(2, 4, 0.25, 100, 0, regularisation=weight)
    assert points.found >= 3
    assert points.clump_error < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("degree", [3, 4, 5])
def test_powers_end_at_the_teacher(degree):
    ends = counts.power_descent(degree, 64, 0)
    assert ends.at_teacher == ends.ends == 64


@pytest.mark.slow
def test_minima_of_one_sign_neuron_are_at_the_teacher():
    minima = counts.node_minima(32, 3, 0)
    assert minima.at_teacher == minima.found > 32


def test_ends_on_the_circle_are_explained_exactly():
    protons = np.array([0.5, 2.0])
    pairs, snapped = counts._explain(np.array([2.001, 0.499]), protons, 0.01)
    assert pairs == []
    assert snapped.tolist() == [2.0, 0.5]
    pairs, snapped = counts._explain(np.array([-1.0, np.pi - 1.001]), protons, 0.01)
    assert pairs == [(0, 1)]
    assert np.allclose(snapped, [-1.0, np.pi - 1.0])
    assert counts._explain(np.array([-1.0, 0.7]), protons, 0.01) is None
    assert counts._explain(np.array([0.5, 0.5]), protons, 0.01) is None


@pytest.mark.slow
def test_an_antipodal_pair_is_flat_only_where_nothing_pulls():
    protons = np.array([[0.5, 2.0]])
    across = ([(0, 1)], np.array([1.2, 1.2 + np.pi]))  # between the protons: one pulls each way
    aside = ([(0, 1)], np.array([-1.0, -1.0 + np.pi]))  # both protons on one side pull the pair apart
    assert counts._flat_among(protons, [across]) == 1
    assert counts._flat_among(protons, [aside]) == 0


@pytest.mark.slow
def test_descent_on_the_circle_ends_at_the_global_minimum_or_at_flat_pairs():
    ends = counts.circle_ends(3, 200, 0)
    assert ends.runs - ends.at_global - ends.flat_pairs <= 2  # the rest is neither
    assert 0.25 < ends.at_global / ends.runs < 0.5
