import jax.numpy as jnp
import numpy as np
import pytest

from earnshaw.landscapes.logistic_theory import check_assumptions
from earnshaw.problems import activation

WEIGHTS = np.array([[1.0, 0.2, 0.0, 0.1], [-0.3, 0.9, 0.4, 0.0]])


@pytest.mark.parametrize("name", ["sigmoid", "unit-tanh", "unit-erf"])
def test_the_usual_activations_satisfy_all_four(name):
    findings = check_assumptions(activation(name), WEIGHTS)
    assert [finding.assumption for finding in findings] == [1, 2, 3, 4]
    assert all(finding.holds for finding in findings)
    assert "j2 = 3, j3 = 3 (M2, M4 vanish)" in str(findings[2])
    assert "l1 = 1" in findings[3].because


def test_a_linear_activation_fails_the_first_three():
    line = activation(lambda z: 0.5 + 0.1 * z)
    assert [finding.holds for finding in check_assumptions(line, WEIGHTS)] == [False, False, False, True]
    assert "FAILS" in str(check_assumptions(line, WEIGHTS)[1])


def test_a_bump_cannot_tell_signs_and_saturation_cannot_tell_norms():
    bump = check_assumptions(activation(lambda z: jnp.exp(-z * z)), WEIGHTS)
    assert "j2 = 2, j3 = 4" in bump[2].because
    assert "signs cannot be told" in bump[3].because
    assert not check_assumptions(activation("sigmoid"), 400 * WEIGHTS)[3].holds
    opposite = np.array([[1.0, 0.0], [-1.0, 0.0]])  # the third moments of w and -w cancel
    assert not check_assumptions(activation("sigmoid"), opposite, np.array([1.0, 0.0]))[2].holds
