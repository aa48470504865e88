"""Gaussian means whose values are known, of two variables and of one."""

import warnings

import mpmath as mp
import numpy as np
import pytest

from earnshaw.errors import AccuracyWarning
from earnshaw.numerics import bivariate_gaussian_mean
from earnshaw.numerics.quadrature import gaussian_mean
from earnshaw.potentials import derivatives
from earnshaw.problems import activation

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


SIGMOID = activation("sigmoid")


def test_closed_forms():
    frequencies = np.array([0.0, 1.0, 3.0])
    found = gaussian_mean(lambda z: np.cos(frequencies[:, None] * z))
    np.testing.assert_allclose(found, np.exp(-(frequencies**2) / 2), rtol=1e-13)
    np.testing.assert_allclose(gaussian_mean(lambda z: z**8), 105, rtol=1e-12)


@pytest.mark.parametrize("scale", [0.1, 7.0, 60.0])
def test_steep_slopes_against_a_slow_integral(scale):
    def slope(z):
        return mp.exp(-(z**2) / 2) / mp.sqrt(2 * mp.pi) / (4 * mp.cosh(scale * z / 2) ** 2)

    expected = float(mp.quad(slope, [-12, -1 / scale, 0, 1 / scale, 12]))
    found = gaussian_mean(lambda z: derivatives(SIGMOID, scale * z, 1)[1])
    assert abs(found / expected - 1) < 1e-11


def test_the_usual_rule_is_wrong_where_this_one_is_right():
    nodes, weights = np.polynomial.hermite_e.hermegauss(150)
    weights = weights / np.sqrt(2 * np.pi)

    def convexity(mean, scale):
        a0, a1, b0 = (
            mean(lambda z, p=p: derivatives(SIGMOID, scale * z, 1)[1] ** p[0] * z ** p[1])
            for p in ((1, 0), (1, 1), (2, 0))
        )
        return b0 - a0**2 - a1**2

    for scale, low, high in ((7.0, 0.01, 0.1), (10.0, 0.1, 0.6)):
        ours = convexity(lambda f: gaussian_mean(f), scale)
        theirs = convexity(lambda f: float(weights @ f(nodes)), scale)
        assert low < abs(theirs / ours - 1) < high


@pytest.mark.parametrize(
    "function",
    [np.abs, lambda z: 1 / (1 + (3e5 * z) ** 2), lambda z: np.exp(z**2 / 2.0001)],
    ids=["kink", "spike", "growth"],
)
def test_it_warns_when_it_cannot_be_trusted(function):
    with pytest.warns(AccuracyWarning, match="only known to about"):
        gaussian_mean(function)


def test_it_is_silent_when_it_can():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gaussian_mean(lambda z: derivatives(SIGMOID, 100 * z, 1)[1])
