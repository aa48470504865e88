"""Sliding down from a point: where it ends, and that point and loss belong together."""

import numpy as np
import pytest

from earnshaw.descent import Outcome, sliding
from earnshaw.descent.judges.newton import Units
from earnshaw.descent.sliding import slide
from earnshaw.landscapes import landscape
from earnshaw.landscapes.two_layer import split_neuron
from earnshaw.papers.spurious import EXAMPLES
from earnshaw.problems import TwoLayer, standard_teacher


@pytest.fixture(scope="module")
def minimum():
    """The printed minimum of six neurons, at rest."""
    problem = TwoLayer(standard_teacher(6))
    return slide(landscape(problem), EXAMPLES[0].weights, Units.of(problem))


def test_a_minimum_is_found_from_its_printed_digits(minimum):
    assert minimum.outcome is Outcome.SPURIOUS
    assert minimum.value == pytest.approx(0.02508, abs=1e-5)
    assert minimum.least == pytest.approx(0.0047, abs=1e-5)


def test_from_a_saddle_it_goes_on_and_where_it_may_not_the_loss_is_that_of_the_saddle(minimum, monkeypatch):
    problem = TwoLayer(standard_teacher(6)).with_students(7)
    ground, start, units = landscape(problem), split_neuron(minimum.point, 1), Units.of(problem)
    assert slide(ground, start, units).outcome is Outcome.GLOBAL
    monkeypatch.setattr(sliding, "PUSHES", 0)
    stuck = slide(ground, start, units)
    assert (stuck.outcome, stuck.least < -0.1) == (Outcome.SADDLE, True)
    assert stuck.value == pytest.approx(float(ground.value(np.asarray(stuck.point))), rel=1e-12)
    assert stuck.value == pytest.approx(minimum.value, abs=1e-9)
