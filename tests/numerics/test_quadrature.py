"""Gaussian means whose values are known."""

import numpy as np
import pytest

from earnshaw.numerics import bivariate_gaussian_mean

ANGLES = (0.0, 1e-9, 1e-3, 0.4, np.pi / 2, 2.0, 3.1, np.pi - 1e-9, np.pi)


@pytest.mark.parametrize("angle", ANGLES)
def test_moments(angle):
    c = np.cos(angle)
    for function, expected in (
        (lambda x, y: np.ones_like(x), 1.0),
        (lambda x, y: x, 0.0),
        (lambda x, y: x * y, c),
        (lambda x, y: x**2 * y**2, 1 + 2 * c**2),
        (lambda x, y: x**3 * y, 3 * c),
        (lambda x, y: x**4 * y**4, 9 + 72 * c**2 + 24 * c**4),
    ):
        assert bivariate_gaussian_mean(function, angle) == pytest.approx(expected, rel=1e-13, abs=1e-13)


@pytest.mark.parametrize("angle", ANGLES)
def test_functions_with_kinks_and_jumps_at_zero(angle):
    def signs(x, y):
        return np.sign(x) * np.sign(y)

    assert bivariate_gaussian_mean(signs, angle) == pytest.approx(1 - 2 * angle / np.pi, abs=1e-12)
    expected = 2 / np.pi * (np.sin(angle) + (np.pi / 2 - angle) * np.cos(angle))
    assert bivariate_gaussian_mean(lambda x, y: np.abs(x * y), angle) == pytest.approx(expected, abs=1e-12)


def test_without_the_cuts_a_kink_costs_digits():
    """The cuts at the kinks are what makes the reference exact; without them it is not."""
    exact = 2 / np.pi * (np.sin(0.4) + (np.pi / 2 - 0.4) * np.cos(0.4))
    uncut = bivariate_gaussian_mean(lambda x, y: np.abs(x * y), 0.4, kinks=False)
    assert 1e-9 < abs(uncut - exact) < 1e-2
    assert bivariate_gaussian_mean(lambda x, y: x**2 * y**2, 0.4, kinks=False) == pytest.approx(
        1 + 2 * np.cos(0.4) ** 2
    )
