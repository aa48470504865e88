"""Fewer students than teachers: the copy-and-average points of Simsek et al. (2023) are found, named, and have their value."""

import numpy as np
import pytest
import scipy.optimize
from scipy.stats import ortho_group

from earnshaw.descent import Outcome
from earnshaw.experiments import families, sweep
from earnshaw.problems import TwoLayer


def cost_of_an_average(size):
    """The least loss of one erf neuron (scale s, output weight a) that averages so many orthonormal ones, by hand."""

    def loss(numbers):
        s, a = numbers
        itself = np.arcsin(2 * size * s**2 / (1 + 2 * size * s**2))
        each = np.arcsin(2 * s / np.sqrt(3 * (1 + 2 * size * s**2)))
        return (a**2 * itself - 2 * a * size * each + size * np.arcsin(2 / 3)) / np.pi

    return scipy.optimize.minimize(loss, [0.5, 1.5], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-15}).fun


@pytest.mark.slow
@pytest.mark.nightly
def test_all_but_one_copy_and_the_last_averages_the_rest():
    teacher = ortho_group.rvs(5, random_state=0)
    problem = TwoLayer(teacher, students=3, activation="erf", trainable_output=True)
    runs = sweep(problem, runs=8, seed=0, optimizer="newton-tr", workers=1)
    assert runs.outcomes == {"CONVERGED": 8}
    found = families(runs.where(Outcome.CONVERGED))
    assert {family.name for family in found} == {"2 copies, average of 3"}
    for family in found:
        assert family.objective == pytest.approx(cost_of_an_average(3), abs=1e-12)
        assert family.min_eigenvalue > 1e-3
    assert cost_of_an_average(3) < 2 * cost_of_an_average(2), "better than two averages of two and a copy"
