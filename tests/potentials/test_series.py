"""Any function as a Hermite series: right where it says so, and warning where it is not."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from earnshaw.errors import AccuracyWarning, InputError
from earnshaw.landscapes import landscape
from earnshaw.potentials import Series, gradient_at, potential, value_at
from earnshaw.problems import TwoLayer

D = 3


def swish(x):
    return x * jax.nn.sigmoid(x)


def tanh(x):
    return jnp.tanh(x)


def gelu(x):
    return jax.nn.gelu(x, approximate=False)


def ramp(x):
    return jnp.maximum(x, 0.0)


def step(x):
    return jnp.where(x > 0, 1.0, -1.0)


def elu(x):
    return jnp.where(x > 0, x, jnp.expm1(jnp.minimum(x, 0.0)))


# What a function must agree with: its closed form, whose own tests are elsewhere.
TWINS = {"tanh": (tanh, "tanh"), "relu": (ramp, "relu"), "sign": (step, "sign")}


def angled(r, s, angle):
    turn = np.linalg.qr(np.random.default_rng(4).normal(size=(D, D)))[0]
    return np.array([r, 0, 0]) @ turn, s * np.array([np.cos(angle), np.sin(angle), 0]) @ turn


ANGLES = (0.0, 1e-6, 1e-3, 0.1, 0.7, np.pi / 2, 2.0, np.pi - 1e-3, np.pi)
NORMS = ((1e-3, 1.0), (0.3, 0.3), (1.0, 1.5), (2.0, 0.5), (5.0, 1e-3), (30.0, 1.0), (1e3, 1e3))


@pytest.mark.parametrize("name", ["relu", *(pytest.param(n, marks=pytest.mark.slow) for n in ("tanh", "sign"))])
def test_the_error_is_at_most_the_stated_one_at_every_norm_and_angle(name):
    """Norms from 1e-3 to 1e3; where the series is bad, it says so."""
    function, twin = TWINS[name]
    series, exact = potential(function), potential(twin)
    found = np.array([angled(r, s, angle) for r, s in NORMS for angle in ANGLES])
    values = jax.jit(lambda u, v: (value_at(series, u, v), value_at(exact, u, v)))(found[:, 0], found[:, 1])
    errors = np.abs(np.subtract(*map(np.asarray, values))).reshape(len(NORMS), len(ANGLES))
    for (r, s), row in zip(NORMS, errors, strict=True):
        for angle, error in zip(ANGLES, row, strict=True):
            assert error <= series.stated_error(r, s, np.cos(angle)) + 1e-12 * max(1, r * s)
    good = series.stated_error(0.3, 0.3)
    assert good < 1e-13 if name == "tanh" else good > 1e-6  # a kink shows
    assert series.stated_error(1e3, 1e3) > 1e-6
    assert series.stated_error(0.3, 0.3, 0.5) < 1e-13


def test_the_stated_error_is_not_far_too_large():
    """At parallel pairs the bound is the error, up to the rounding of both."""
    series, exact = potential(ramp), potential("relu")
    u, v = angled(1.0, 1.0, 0.0)
    error = abs(float(value_at(series, u, v)) - float(value_at(exact, u, v)))
    assert error > 0.5 * series.stated_error(1.0, 1.0)
    assert potential(tanh).stated_error(0.5, 0.5) < 1e-13


@pytest.mark.slow
def test_derivatives_against_the_closed_form():
    series, exact = potential(gelu).fitted(1.5), potential("gelu")
    found = np.array([angled(r, s, angle) for r, s in NORMS[:3] for angle in ANGLES])

    @jax.jit
    def both(u, v):
        return [[gradient_at(phi, u, v), *phi.second_derivatives(u, v)] for phi in (series, exact)]

    given, expected = both(found[:, 0], found[:, 1])
    for ours, theirs in zip(given, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=2e-9)
        assert np.abs(theirs).max() > 0.1


@pytest.mark.slow
def test_derivatives_need_no_derivative_of_the_function():
    """A step has derivative 0 wherever automatic differentiation looks, and yet the gradient is that of the angle."""
    series, exact = potential(step), potential("sign")
    u, v = angled(1.3, 0.4, 1.2)

    @jax.jit
    def derivatives(u, v):
        return (
            jax.grad(lambda u: value_at(series, u, v))(u),
            gradient_at(series, u, v),
            *series.second_derivatives(u, v),
        )

    expected = [gradient_at(exact, u, v)] * 2 + list(exact.second_derivatives(u, v))
    for ours, theirs in zip(derivatives(u, v), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-9)


@pytest.mark.slow
def test_derivatives_against_automatic_differentiation():
    phi = potential(elu)

    @jax.jit
    @jax.vmap
    def both(u, v):
        slope = jax.grad(lambda u: value_at(phi, u, v))(u)
        bend = jax.jacfwd(lambda u, v: gradient_at(phi, u, v), (0, 1))(u, v)
        return slope, *bend, gradient_at(phi, u, v), *phi.second_derivatives(u, v)

    found = [np.asarray(array) for array in both(*np.random.default_rng(3).normal(size=(2, 6, D)))]
    for expected, given in zip(found[:3], found[3:], strict=True):
        assert np.abs(given).max() > 0.05
        np.testing.assert_allclose(given, expected, atol=1e-12)


@pytest.mark.slow
def test_a_degree_is_chosen_for_the_norms():
    series = potential(tanh)
    assert series.fitted(0.3).degree < series.fitted(1.5).degree <= series.fitted(50.0).degree
    assert series.fitted(1.5).stated_error(1.5, 1.5) < 1e-10


def test_a_landscape_warns_once_where_the_series_cannot_be_trusted():
    with pytest.warns(AccuracyWarning, match=r"may be \d.*kink") as caught:
        landscape(TwoLayer(np.eye(2), activation=ramp))
    assert len(caught) == 1
    with pytest.warns(AccuracyWarning, match="length 300"):
        landscape(TwoLayer(300 * np.eye(2), activation=tanh))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        smooth = landscape(TwoLayer(np.eye(2), activation=swish))
        assert smooth.stated_error(np.eye(2)) < 1e-10
        assert landscape(TwoLayer(300 * np.eye(2), activation="tanh")).stated_error(np.eye(2)) == 0.0
    with pytest.warns(AccuracyWarning):
        assert smooth.stated_error(100 * np.eye(2)) > 1e-8


def test_a_function_for_numpy_alone_is_refused_with_advice():
    with pytest.raises(InputError, match=r"cannot be traced by JAX .*jax\.numpy"):
        potential(lambda x: np.asarray(x).copy() * 2.0)


def test_the_same_function_is_the_same_program():
    assert potential(swish) == potential(swish)
    assert potential(swish) != potential(tanh)
    assert isinstance(potential("jax.nn:silu"), Series)
