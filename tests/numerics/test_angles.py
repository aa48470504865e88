"""The sine and the supplement of an angle, and the arc sine, next to every edge of their formulas."""

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest

from earnshaw.numerics import arcsine, sine_and_supplement


def neighbours(x, count=12):
    """The doubles next to x on both sides, and others nearby."""
    below, above = [x], [x]
    for _ in range(count):
        below.append(np.nextafter(below[-1], -np.inf))
        above.append(np.nextafter(above[-1], np.inf))
    near = [x + sign * 10.0**-p for p in range(2, 17) for sign in (1, -1)]
    return [c for c in [*below, *above, *near] if -1 <= c <= 1]


EDGES = np.unique([c for edge in (-1.0, -0.5, 0.0, 0.5, 1.0) for c in neighbours(edge)])
COSINES = np.concatenate([np.random.default_rng(0).uniform(-1, 1, 2000), EDGES])


def ulps(computed, exact):
    """The error in units of the last place of the exact value."""
    return float(abs(mp.mpf(float(computed)) - exact)) / np.spacing(abs(float(exact)) or 5e-324)


@pytest.mark.parametrize("jitted", [False, True])
def test_sine_and_supplement_are_right_to_a_few_units_in_the_last_place(jitted):
    function = jax.jit(sine_and_supplement) if jitted else sine_and_supplement
    sine, supplement = map(np.asarray, function(jnp.asarray(COSINES)))
    with mp.workdps(40):
        for c, s, p in zip(COSINES, sine, supplement, strict=True):
            exact = mp.mpf(float(c))
            assert ulps(s, mp.sqrt(1 - exact**2)) <= 2, c
            # pi - t is formed by a subtraction for c > 0, from values of up to pi.
            assert ulps(p, mp.acos(-exact)) <= 3, c


def test_the_ends_are_exact():
    sine, supplement = sine_and_supplement(jnp.array([1.0, -1.0, 0.0]))
    assert sine.tolist() == [0.0, 0.0, 1.0]
    assert supplement.tolist() == [np.pi, 0.0, np.pi / 2]


def test_a_cosine_that_rounding_pushed_over_the_edge_is_clipped():
    over = jnp.array([1.0 + 3e-16, -1.0 - 3e-16, 1.5])
    sine, supplement = sine_and_supplement(over)
    assert sine.tolist() == [0.0, 0.0, 0.0]
    assert supplement.tolist() == [np.pi, 0.0, np.pi]


def test_nan_stays_nan():
    assert np.isnan(np.asarray(sine_and_supplement(jnp.array([jnp.nan])))).all()


def test_derivatives_are_finite_everywhere_and_right_inside():
    for index, derivative in ((0, lambda c: -c / mp.sqrt(1 - c**2)), (1, lambda c: 1 / mp.sqrt(1 - c**2))):
        slope = jax.vmap(jax.grad(lambda c, index=index: sine_and_supplement(c)[index]))
        computed = np.asarray(slope(jnp.asarray(COSINES)))
        assert np.isfinite(computed).all()
        assert computed[np.abs(COSINES) == 1].tolist() == [0.0, 0.0]
        with mp.workdps(40):
            for c, value in zip(COSINES, computed, strict=True):
                if abs(c) < 1:
                    exact = float(derivative(mp.mpf(float(c))))
                    assert value == pytest.approx(exact, rel=1e-15, abs=1e-300), c


def test_the_arc_sine_keeps_its_relative_accuracy():
    """Also of small numbers, which an angle less a right one would lose."""
    x = np.concatenate(
        [COSINES[np.abs(COSINES) > 1e-300], 10.0 ** np.arange(-300.0, 0), -(10.0 ** np.arange(-300.0, 0))]
    )
    computed = np.asarray(jax.jit(arcsine)(jnp.asarray(x)))
    with mp.workdps(40):
        for given, value in zip(x, computed, strict=True):
            assert ulps(value, mp.asin(mp.mpf(float(given)))) <= 3, given
    assert arcsine(jnp.array([1.5, -1.0, 0.0])).tolist() == [np.pi / 2, -np.pi / 2, 0.0]
    assert np.isnan(np.asarray(arcsine(jnp.array([jnp.nan])))).all()


def test_the_slope_of_the_arc_sine():
    slope = jax.vmap(jax.grad(arcsine))
    x = np.array([-0.9, -0.5, -1e-9, 0.0, 0.3, 0.5, 0.999])
    np.testing.assert_allclose(slope(jnp.asarray(x)), 1 / np.sqrt(1 - x**2), rtol=1e-13)
    assert slope(jnp.array([1.0, -1.0])).tolist() == [0.0, 0.0]
