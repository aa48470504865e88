import math
from fractions import Fraction
from itertools import pairwise

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import spherical_jn

from earnshaw.errors import InputError
from earnshaw.potentials.radial import (
    AlmostYukawa,
    Coulomb,
    Realisation,
    Transform,
    Variant,
    Yukawa,
    laplacian,
    realisability,
)
from earnshaw.potentials.radial.base import yukawa_coefficients

DISTANCES = jnp.concatenate([jnp.linspace(0.05, 0.45, 9), jnp.linspace(0.5, 12.0, 300)])
EVERYWHERE = np.linspace(0.0, 6.0, 1201)


def traced_laplacian(potential, distance):
    """The Laplacian by automatic differentiation of the value in all d coordinates."""

    def value(x):
        return potential.value(jnp.sqrt(jnp.sum(x * x)))

    point = distance * jnp.ones(potential.dimension) / math.sqrt(potential.dimension)
    return jnp.trace(jax.hessian(value)(point))


@pytest.mark.parametrize("variant", Variant)
@pytest.mark.parametrize("d", [3, 7])
def test_the_laplacian_is_lambda_times_the_potential_outside_the_ball(d, variant):
    for eigenvalue in (1.0, 2.5):
        potential = AlmostYukawa(d, eigenvalue, 0.5, variant)
        ratio = np.asarray(jax.jit(lambda r, p=potential: laplacian(p, r) / p.value(r))(DISTANCES)) / eigenvalue
        assert np.abs(ratio[9:] - 1).max() < 1e-12
        assert np.abs(ratio[:9] - 1).min() > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("d", [3, 7])
def test_the_same_by_automatic_differentiation(d):
    potential = AlmostYukawa(d)
    distances = jnp.array([0.51, 0.8, 2.0, 7.0])
    traced = jax.jit(jax.vmap(lambda r: traced_laplacian(potential, r)))(distances)
    assert np.abs(traced / potential.value(distances) - 1).max() < 1e-12


@pytest.mark.parametrize("potential", [Coulomb(2), Coulomb(3), Coulomb(5)])
def test_coulomb_is_harmonic(potential):
    r = jnp.linspace(0.1, 5.0, 50)
    size = jnp.abs(potential.curvature(r))
    assert float(jnp.max(jnp.abs(laplacian(potential, r)) / size)) < 1e-14
    assert np.allclose(jax.vmap(jax.grad(potential.value))(r), potential.slope(r), rtol=1e-13)


def test_yukawa_is_the_textbook_function():
    r = jnp.linspace(0.2, 6.0, 40)
    assert np.allclose(Yukawa(3).value(r), jnp.exp(-r) / r, rtol=1e-15)
    assert np.allclose(Yukawa(7).value(r), jnp.exp(-r) * (r**-3 + 3 * r**-4 + 3 * r**-5), rtol=1e-14)
    assert np.allclose(Yukawa(5).slope(r), -r * Yukawa(7).value(r), rtol=1e-14)
    assert np.allclose(laplacian(Yukawa(5, 2.0), r), 2.0 * Yukawa(5, 2.0).value(r), rtol=1e-12)
    assert yukawa_coefficients(3, 1) == (0, 1, 1)


@pytest.mark.parametrize("variant", Variant)
def test_derivatives_are_those_of_the_value_on_both_sides(variant):
    potential = AlmostYukawa(5, 1.7, 0.6, variant)
    r = jnp.array([0.01, 0.2, 0.59, 0.61, 1.5, 4.0])

    @jax.jit
    def both(r):
        first, second = jax.vmap(jax.grad(potential.value))(r), jax.vmap(jax.grad(potential.slope))(r)
        return first, potential.slope(r), second, potential.curvature(r)

    first, slope, second, curvature = both(r)
    assert np.allclose(first, slope, rtol=1e-11)
    assert np.allclose(second, curvature, rtol=1e-11)


def test_variant_t_is_the_taylor_polynomial():
    eps = 0.5
    with mp.workdps(40):
        taylor = mp.taylor(lambda r: mp.exp(-r) * (r**-3 + 3 * r**-4 + 3 * r**-5), eps, 6)
        top = float(mp.polyval(taylor, -eps, asc=True))
        inner = [float(mp.polyval(taylor, r - eps, asc=True)) / top for r in (0.0, 0.1, 0.3, 0.49)]
    assert np.allclose(AlmostYukawa(7, 1.0, eps).value(jnp.array([0.0, 0.1, 0.3, 0.49])), inner, rtol=1e-13)
    factor = math.exp(-eps) * (3 / eps + 2 + eps / 2)
    assert math.isclose(
        float(AlmostYukawa(3, 1.0, eps).value(jnp.array(2.0))), math.exp(-2) / 2 / factor, rel_tol=1e-14
    )
    balls = math.exp(-eps) * (8 / (3 * eps) + 5 / 3 + eps / 3)
    potential = AlmostYukawa(3, 1.0, eps, Variant.B)
    assert math.isclose(float(potential.value(jnp.array(2.0))), math.exp(-2) / 2 / balls, rel_tol=1e-14)


@pytest.mark.parametrize("d", [3, 7, 11])
def test_lemma_13_signs_hold_for_t_and_fail_for_b_where_known(d):
    def wrong(variant):
        potential = AlmostYukawa(d, 1.0, 0.5, variant)
        signed = [(-1) ** n * np.asarray(potential.derivative(EVERYWHERE, n)) for n in range(d)]
        return [n for n, values in enumerate(signed) if values.min() < -1e-12 * np.abs(values).max()]

    assert wrong(Variant.T) == []
    assert wrong(Variant.B) == {3: [], 7: [3, 4, 5], 11: [3, 4, 5, 6, 7, 8, 9]}[d]


def test_variant_s_has_no_cone_tip_and_the_others_have():
    tips = {v: float(AlmostYukawa(3, 1.0, 0.5, v).slope(jnp.array(0.0))) for v in Variant}
    assert abs(tips[Variant.S]) < 1e-14
    assert tips[Variant.T] < -1
    assert tips[Variant.B] < -1


@pytest.mark.parametrize("variant", Variant)
def test_values_are_one_at_zero_and_continuous_at_the_edge(variant):
    potential = AlmostYukawa(7, 1.0, 0.4, variant)
    assert math.isclose(float(potential.value(jnp.array(0.0))), 1.0, rel_tol=1e-13)
    for order in range(3):
        below, above = (float(potential.derivative(jnp.array(0.4 + h), order)) for h in (-1e-9, 1e-9))
        assert math.isclose(below, above, rel_tol=1e-6)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: AlmostYukawa(4), "odd number"),
        (lambda: Yukawa(1), "odd number"),
        (lambda: AlmostYukawa(3, -1.0), "lambda = -1"),
        (lambda: AlmostYukawa(3, 1.0, 0.0), "the radius = 0"),
        (lambda: AlmostYukawa(3, 1.0, 50.0), "at most 20"),
        (lambda: Coulomb(1), "2 or more"),
        (lambda: Yukawa(3, float("nan")), "positive number"),
    ],
)
def test_mistakes_are_explained(make, sentence):
    with pytest.raises(InputError, match=sentence):
        make()


# ---- Fourier -------------------------------------------------------------------------------------------------------


def direct_transform(potential, w):
    """The transform by quadrature of the potential itself, nothing taken from the library's formula."""
    m = (potential.dimension - 1) // 2
    factor = (2 * math.pi) ** (m + 0.5) * math.sqrt(2 / math.pi)
    value = jax.jit(potential.value)

    def integrand(r):
        z = w * r
        kernel = spherical_jn(m - 1, z) / z ** (m - 1)
        return float(value(r)) * r ** (2 * m) * kernel

    edges = [1e-9, potential.radius, 4.0, 12.0, 45.0]
    return factor * sum(quad(integrand, a, b, epsabs=1e-13, epsrel=1e-11, limit=200)[0] for a, b in pairwise(edges))


@pytest.mark.parametrize("variant", Variant)
def test_the_transform_is_that_of_the_potential(variant):
    potential = AlmostYukawa(3, 1.3, 0.5, variant)
    for w in (0.3, 2.0, 9.0):
        assert math.isclose(float(Transform(potential)(np.array([w]))[0]), direct_transform(potential, w), rel_tol=1e-8)


@pytest.mark.slow
def test_both_ways_to_the_transform_agree_where_both_are_good():
    for d in (3, 7):
        for variant in Variant:
            transform = Transform(AlmostYukawa(d, 1.0, 0.5, variant))
            w = np.array([40.0, 57.0, 60.0])
            assert np.allclose(transform._by_parts(w), transform._by_quadrature(w), rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("variant", Variant)
@pytest.mark.parametrize("d", [3, 7, 11])
def test_every_variant_is_realisable(d, variant):
    test = realisability(AlmostYukawa(d, 1.0, 0.5, variant), frequencies=5000)
    assert test.realisable
    assert test.smallest <= 1


class Crater(AlmostYukawa):
    """Rises from the centre: no activation can have it."""

    inside = (Fraction(1), Fraction(2))


def test_a_crater_is_not_realisable():
    assert not realisability(Crater(3), frequencies=500).realisable


def test_a_cone_tip_decides_the_decay():
    potential = AlmostYukawa(7)
    amplitude, _ = Transform(potential).decay
    w = np.array([3e4])
    assert math.isclose(float((Transform(potential)(w) * w**8)[0]), amplitude, rel_tol=1e-4)
    assert Transform(AlmostYukawa(7, 1.0, 0.5, Variant.S)).decay == (0.0, 0.0)


# ---- the activation ------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("d", "variant"), [(3, Variant.T), (7, Variant.T), (7, Variant.B), (3, Variant.S), (7, Variant.S)]
)
def test_the_activation_realises_the_potential(d, variant):
    potential = AlmostYukawa(d, 1.0, 0.5, variant)
    activation = Realisation(potential)
    assert abs(activation.norm() - 1) < 2e-4
    for r in (0.1, 0.45, 0.55, 1.5):
        assert abs(activation.convolved(r) - float(potential.value(jnp.array(r)))) < 1e-3
    for r in (0.2, 0.8):
        mean, error = activation.sampled(r, 100_000, seed=1)
        assert error < 2e-3
        assert abs(mean - float(potential.value(jnp.array(r)))) < 5 * error
    x, centre = np.array([[0.3] * d, [1.0] * d]), np.full(d, 0.1)
    undone = activation.activation(x, centre) / ((2 * math.pi) ** (d / 4) * np.exp((x**2).sum(1) / 4))
    assert np.allclose(undone, activation.radial(np.linalg.norm(x - centre, axis=1)))
