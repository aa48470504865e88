"""The arc-cosine kernel against quadrature, sampling, and differences at 130 digits."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from earnshaw.potentials import ReLU, potential, quadrature

RELU = ReLU()
D = 3
SMALL = [10.0**-p for p in range(3, 10)]


def unit(rng):
    vector = rng.normal(size=D)
    return vector / np.linalg.norm(vector)


def turned(vector, angle, rng):
    """A unit vector at this angle, to the relative precision of a small angle."""
    other = rng.normal(size=D)
    other -= (other @ vector) * vector
    other -= (other @ vector) * vector
    return np.cos(angle) * vector + np.sin(angle) * other / np.linalg.norm(other)


def pairs():
    """Named pairs: random, parallel, antiparallel, orthogonal, nearly so; norms from 1e-3 to 1e3."""
    rng = np.random.default_rng(0)
    for index in range(20):
        yield f"random{index}", rng.normal(size=D), rng.normal(size=D)
    for first, second in ((1e-3, 1e3), (1e3, 1e-3), (1e3, 1e3), (1e-3, 1e-3), (1.0, 2.5)):
        u = unit(rng)
        yield f"scales{first:g}-{second:g}", first * u, second * unit(rng)
        yield f"parallel{first:g}-{second:g}", first * u, second * u
        yield f"antiparallel{first:g}-{second:g}", first * u, -second * u
        yield f"orthogonal{first:g}-{second:g}", first * u, second * turned(u, np.pi / 2, rng)
    for angle in SMALL:
        u = unit(rng)
        yield f"near-parallel{angle:g}", 1.3 * u, 0.7 * turned(u, angle, rng)
        yield f"near-antiparallel{angle:g}", 1.3 * u, -0.7 * turned(u, angle, rng)
    axes = np.eye(D)
    yield "axes", axes[0], axes[1]
    yield "same-axis", axes[0], 2 * axes[0]
    yield "opposite-axis", axes[0], -2 * axes[0]


PAIRS = {name: (first, second) for name, first, second in pairs()}
every_pair = pytest.mark.parametrize("name", PAIRS)


def polar(first, second):
    """What the closed form takes: two norms and the cosine, as a landscape computes them."""
    norms = np.linalg.norm(first), np.linalg.norm(second)
    return jnp.asarray(norms[0]), jnp.asarray(norms[1]), jnp.asarray((first / norms[0]) @ (second / norms[1]))


@jax.jit
def derivatives(first, second):
    return RELU.second_derivatives(first, second)


@every_pair
def test_value_against_quadrature(name):
    first, second = PAIRS[name]
    scale = np.linalg.norm(first) * np.linalg.norm(second)
    expected = quadrature(RELU, first, second)
    assert abs(float(RELU.value(*polar(first, second))) - expected) <= 1e-12 * scale


@pytest.mark.parametrize("name", ["random0", "random1", "near-parallel0.001", "orthogonal1-2.5", "scales1000-0.001"])
def test_value_against_sampling(name):
    first, second = PAIRS[name]
    x = np.random.default_rng(1).normal(size=(200_000, len(first)))
    products = np.maximum(x @ first, 0) * np.maximum(x @ second, 0)
    estimate, error = products.mean(), products.std(ddof=1) / np.sqrt(len(x))
    value = float(RELU.value(*polar(first, second)))
    assert error < 0.02 * value
    assert abs(estimate - value) < 5 * error
    assert abs(estimate - 1.2 * value) > 5 * error


@every_pair
def test_gradient_against_differences_of_the_kernel(name, precise):
    first, second = PAIRS[name]
    along, toward = RELU.gradient(*polar(first, second))
    computed = along * first / np.linalg.norm(first) + toward * second / np.linalg.norm(second)
    expected = precise.gradient(lambda u: precise.kernel(u, precise.vector(second)), first)
    assert np.abs(np.asarray(computed) - expected).max() <= 2e-15 * np.linalg.norm(second)


@pytest.mark.parametrize(
    "name", [name for name in PAIRS if not name.startswith(("parallel", "anti", "same", "opposite"))]
)
def test_second_derivatives_against_differences_of_the_kernel(name, precise):
    """At exactly (anti)parallel pairs differences of a C^2 function converge too slowly; those have a test of their own."""
    first, second = PAIRS[name]
    whole = precise.second(
        lambda z: precise.kernel(z[:D], z[D:]), np.concatenate([first, second]), range(D), range(2 * D)
    )
    same, mixed = map(np.asarray, derivatives(first, second))
    ratio = np.linalg.norm(second) / np.linalg.norm(first)
    assert np.abs(same - whole[:, :D]).max() <= 1e-15 * ratio
    assert np.abs(mixed - whole[:, D:]).max() <= 2e-15


def test_a_bare_arccos_would_fail_here(precise):
    """The same comparison rejects the textbook formula with the angle from a clipped cosine."""
    worst = 0.0
    for angle in SMALL:
        first, second = PAIRS[f"near-parallel{angle:g}"]
        u, v = first / np.linalg.norm(first), second / np.linalg.norm(second)
        t = np.arccos(np.clip(u @ v, -1, 1))
        naive = (np.pi - t) / (2 * np.pi) * np.eye(D)
        if np.sin(t) > 0:
            bend = np.outer(u, v) + np.outer(v, u) - np.cos(t) * (np.outer(u, u) + np.outer(v, v))
            naive += bend / np.sin(t) / (2 * np.pi)
        entries = np.concatenate([first, second])
        exact = precise.second(lambda z: precise.kernel(z[:D], z[D:]), entries, range(D), range(D, 2 * D))
        worst = max(worst, np.abs(naive - exact).max())
    assert worst > 1e-9


@pytest.mark.parametrize("scales", [(1.0, 1.0), (1e-3, 1e3), (1e3, 1e-3)])
def test_exact_values_at_special_pairs(scales):
    a, b = scales
    axes = np.eye(D)
    same, mixed = map(np.asarray, derivatives(a * axes[0], b * axes[0]))
    assert np.array_equal(same, np.zeros((D, D)))
    np.testing.assert_allclose(mixed, np.eye(D) / 2, rtol=0, atol=1e-16)
    assert float(RELU.value(a, b, jnp.array(1.0))) == pytest.approx(a * b / 2, rel=1e-15)
    same, mixed = map(np.asarray, derivatives(a * axes[0], -b * axes[0]))
    assert np.array_equal(same, np.zeros((D, D)))
    assert np.array_equal(mixed, np.zeros((D, D)))
    assert float(RELU.value(a, b, jnp.array(-1.0))) == 0.0
    assert [float(part) for part in RELU.gradient(a, b, jnp.array(-1.0))] == [0.0, 0.0]
    same, mixed = map(np.asarray, derivatives(a * axes[0], b * axes[1]))
    np.testing.assert_allclose(same, b / a / (2 * np.pi) * np.diag([0, 2, 1]), rtol=1e-15)
    cross = np.zeros((D, D))
    cross[0, 1] = cross[1, 0] = 1
    np.testing.assert_allclose(mixed, np.eye(D) / 4 + cross / (2 * np.pi), rtol=1e-15)
    assert float(RELU.value(a, b, jnp.array(0.0))) == pytest.approx(a * b / (2 * np.pi), rel=1e-15)


@pytest.mark.parametrize("sign", [1, -1])
def test_second_derivatives_at_parallel_pairs_in_any_direction(sign):
    """Where rounding leaves a perpendicular part of 1e-17 with a random direction, it must not matter."""
    rng = np.random.default_rng(5)
    for _ in range(50):
        u = rng.normal(size=D)
        same, mixed = map(np.asarray, derivatives(u, sign * rng.uniform(0.1, 10) * u))
        np.testing.assert_allclose(same, 0, atol=5e-15)
        np.testing.assert_allclose(mixed, np.eye(D) / 2 if sign > 0 else np.zeros((D, D)), atol=5e-16)


def test_second_derivatives_are_those_of_the_value_by_automatic_differentiation():
    def value(first, second):
        u, v = jnp.linalg.norm(first), jnp.linalg.norm(second)
        return RELU.value(u, v, first @ second / (u * v))

    both = jax.jit(lambda u, v: (jax.hessian(value)(u, v), jax.jacfwd(jax.grad(value, 1), 0)(u, v)))
    rng = np.random.default_rng(6)
    for _ in range(10):
        u, v = rng.normal(size=(2, D))
        for computed, expected in zip(derivatives(u, v), both(u, v), strict=True):
            np.testing.assert_allclose(computed, expected, atol=1e-12)


def test_everything_broadcasts():
    rng = np.random.default_rng(7)
    first, second = rng.normal(size=(4, 1, D)), rng.normal(size=(5, D))
    same, mixed = derivatives(first, second)
    assert same.shape == mixed.shape == (4, 5, D, D)
    one_same, one_mixed = derivatives(first[2, 0], second[3])
    np.testing.assert_allclose(same[2, 3], one_same, atol=1e-16)
    np.testing.assert_allclose(mixed[2, 3], one_mixed, atol=1e-16)


def test_the_table_of_potentials():
    assert potential("relu") == RELU
    assert RELU.activation(np.array([-1.0, 0.0, 2.0])).tolist() == [0.0, 0.0, 2.0]
