"""Which judge a landscape gets, and in what units it measures."""

import numpy as np
import pytest

from earnshaw.descent import GradientDescent, NewtonJudge, Stopping, Units, judge_for, optimizer
from earnshaw.descent.judges import BarrierJudge, DenseJudge
from earnshaw.errors import InputError
from earnshaw.landscapes import Landscape, landscape
from earnshaw.landscapes.empirical import EmpiricalRisk
from earnshaw.landscapes.logistic_data import draw
from earnshaw.problems import Charges, TwoLayer
from earnshaw.problems.convnet import ConvNet
from earnshaw.problems.logistic import Labels, Logistic, gaussian_weights

TWO = TwoLayer(np.eye(2))
CONV = ConvNet([1.0, 0.0], [1.0, 1.0])


def chosen(problem, energy, descent="gd:0.1"):
    return judge_for(energy, problem, optimizer(descent), Stopping())


def test_every_landscape_has_its_judge():
    newton = chosen(TWO, landscape(TWO))
    assert isinstance(newton, NewtonJudge)
    assert newton.step == 0.1
    assert chosen(TWO, landscape(TWO), "adam:0.01").step is None
    barrier = chosen(CONV, landscape(CONV), "gd:0.05")
    assert isinstance(barrier, BarrierJudge)
    assert barrier.step == 0.05
    problem = Logistic(gaussian_weights(2, 3, seed=0), 50, Labels.REGRESSION, seed=1)
    assert isinstance(chosen(problem, EmpiricalRisk.of(draw(problem), 2)), DenseJudge)


def test_what_is_proved_for_gradient_descent_is_refused_to_others():
    with pytest.raises(InputError, match="proved for gradient descent only, not for optax; use gd:STEP"):
        chosen(CONV, landscape(CONV), "adam:0.01")


def test_a_new_landscape_registers_its_judge_in_one_line():
    class New(Landscape):
        """A landscape that nobody has seen before."""

    assert isinstance(chosen(TWO, New()), NewtonJudge)
    judge_for.register(New, lambda landscape, problem, descent, stopping: "mine")
    assert chosen(TWO, New()) == "mine"
    assert isinstance(chosen(TWO, landscape(TWO)), NewtonJudge)


def test_charges_are_measured_in_their_own_units():
    """Twice the charges: four times the energy, twice the forces on a unit charge."""
    protons = np.random.default_rng(0).normal(size=(4, 3))
    plain, double = (Units.of(Charges(protons, size * np.ones(4))) for size in (1.0, 2.0))
    assert (plain.value, plain.gradient) == (4.0, 1.0)
    assert (double.value, double.gradient) == (16.0, 2.0)
    assert double.low == pytest.approx(1.6e-9)
    assert not plain.neurons_die
    assert not plain.tips


def test_gradient_descent_alone_has_a_step_and_leaves_padding_alone():
    for name in ("gd:0.3", "adam:0.1", "newton-tr", "perturbed-gd", "flow", "stochastic", "second-gd", "projected"):
        descent = optimizer(name)
        assert descent.step_length == (0.3 if name == "gd:0.3" else None)
        assert descent.leaves_padding_alone == isinstance(descent, GradientDescent)
