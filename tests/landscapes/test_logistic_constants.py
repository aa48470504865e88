import jax.numpy as jnp
import numpy as np
import pytest

from earnshaw.landscapes.logistic_theory import (
    alpha,
    beta,
    derivative_bound,
    gamma,
    moment_orders,
    neuron_moment,
    neuron_moment_slope,
    rho,
)
from earnshaw.potentials import derivatives
from earnshaw.problems import activation

SIGMOID = activation("sigmoid")
EVEN = activation(lambda z: jnp.exp(-z * z))
SKEW = activation(lambda z: 1 / (1 + jnp.exp(1 - 2 * z)))


def test_rho_at_the_values_of_figure_2():
    scales = [0.1, 0.5, 1, 1.5, 2, 3, 5, 10]
    expected = [7.66e-7, 3.18e-4, 2.14e-3, 3.56e-3, 3.07e-3, 1.75e-3, 5.60e-4, 8.2e-5]
    np.testing.assert_allclose(rho(SIGMOID, scales), expected, rtol=5e-3)
    grid = np.linspace(1.2, 1.7, 51)
    values = rho(SIGMOID, grid)
    assert abs(grid[values.argmax()] - 1.45) < 0.006
    assert abs(values.max() - 3.57e-3) < 5e-6


def test_rho_is_made_of_the_means_of_its_definition():
    for scale in (0.7, 4.0):
        a = [alpha(SIGMOID, q, scale) for q in (0, 1, 2)]
        b = [beta(SIGMOID, q, scale) for q in (0, 2)]
        assert min(b[0] - a[0] ** 2 - a[1] ** 2, b[1] - a[1] ** 2 - a[2] ** 2) == pytest.approx(
            float(rho(SIGMOID, scale)), rel=1e-10
        )
    z = np.random.default_rng(0).normal(size=400_000)
    sample = derivatives(SIGMOID, 2.0 * z, 1)[1] ** 2 * z**2
    assert abs(sample.mean() - beta(SIGMOID, 2, 2.0)) < 5 * sample.std() / np.sqrt(len(z))


@pytest.mark.parametrize("sigma", [SIGMOID, EVEN, SKEW], ids=["sigmoid", "even", "skew"])
def test_moments_of_a_neuron(sigma):
    scale = 1.3
    g = [gamma(sigma, power, scale) for power in range(5)]
    expected = [g[1], g[2] - g[0], g[3] - 3 * g[1], g[4] + 3 * g[0] - 6 * g[2]]
    found = [float(neuron_moment(sigma, order, scale)) for order in (1, 2, 3, 4)]
    np.testing.assert_allclose(found, expected, atol=1e-13)
    step = 1e-5
    for order in (1, 2, 3, 4):
        pair = neuron_moment(sigma, order, [scale + step, scale - step])
        assert abs((pair[0] - pair[1]) / (2 * step) - neuron_moment_slope(sigma, order, scale)) < 1e-9


def test_which_moments_are_left():
    odd, even, skew = moment_orders(SIGMOID), moment_orders(EVEN), moment_orders(SKEW)
    assert (odd.nonzero, odd.subspace, odd.directions, odd.magnitudes) == ((1, 3), 3, 3, 1)
    assert (even.nonzero, even.subspace, even.directions, even.magnitudes) == ((2, 4), 2, 4, 2)
    assert (skew.nonzero, skew.subspace, skew.directions, skew.magnitudes) == ((1, 2, 3, 4), 2, 3, 1)
    assert odd.signs_identifiable
    assert not even.signs_identifiable


def test_bounds_of_derivatives():
    assert derivative_bound(SIGMOID) == pytest.approx(0.25, abs=1e-9)
    assert derivative_bound(activation("unit-erf")) == pytest.approx(2 / np.sqrt(np.pi), abs=1e-9)
    assert derivative_bound(activation("unit-tanh")) == pytest.approx(1.0, abs=1e-9)  # the third derivative at 0
    assert derivative_bound(activation(lambda z: z * z)) == np.inf
