"""Newton's polish and the general Newton method against the full Hessian."""

import numpy as np
import pytest

from earnshaw.descent import polish, settle
from earnshaw.landscapes import landscape
from earnshaw.problems import TwoLayer, standard_teacher

SIX = landscape(TwoLayer(standard_teacher(6)))


def symmetric_point(a, b, c, d, e):
    """A point of type S_5 at k = n = 6: `a` on the diagonal, `b` off it, `c` odd column, `d` odd row, `e` the corner."""
    weights = np.full((6, 6), b)
    np.fill_diagonal(weights, a)
    weights[:-1, -1], weights[-1, :-1], weights[-1, -1] = c, d, e
    return weights


MINIMUM = symmetric_point(0.98670382, -0.0504134, 0.30801099, 0.22451581, -0.60151192)
SADDLE = symmetric_point(-0.5877, 0.3912, -0.0138, 0.0168, 1.0684)


@pytest.fixture(scope="module")
def polished():
    rng = np.random.default_rng(0)
    lanes = [
        MINIMUM + 1e-3 * rng.normal(size=(6, 6)),
        MINIMUM + 1e-5 * rng.normal(size=(6, 6)),
        SADDLE + 1e-3 * rng.normal(size=(6, 6)),
        np.eye(6)[[2, 0, 1, 5, 4, 3]] + 1e-2 * rng.normal(size=(6, 6)),
    ]
    result = polish(SIX, np.array(lanes))
    return np.array(lanes), type(result)(*map(np.asarray, result))


def test_lanes_near_minima_are_polished_to_rounding(polished):
    starts, result = polished
    near = [0, 1, 3]
    assert result.convex.tolist() == [True, True, False, True]
    assert (result.gradient_norm[near] < 1e-14).all()
    recomputed = np.linalg.norm(np.asarray(SIX.gradient(result.point)), axis=(1, 2))
    assert (recomputed[near] < 1e-14).all()
    np.testing.assert_allclose(result.point[:2], np.stack([MINIMUM] * 2), atol=1e-7)
    np.testing.assert_allclose(result.point[3], np.round(starts[3]), atol=1e-14)
    np.testing.assert_allclose(result.value, SIX.value(result.point), atol=1e-15)
    np.testing.assert_allclose(result.distance, np.linalg.norm(result.point - starts, axis=(1, 2)), rtol=1e-12)


def test_ritz_values_are_the_extreme_eigenvalues(polished):
    starts, result = polished
    spectra = np.linalg.eigvalsh(np.asarray(SIX.hessian(result.point)))
    at_start = np.linalg.eigvalsh(np.asarray(SIX.hessian(starts)))
    np.testing.assert_allclose(result.smallest, spectra[:, 0], atol=1e-9)
    np.testing.assert_allclose(result.largest, spectra[:, -1], atol=1e-9)
    np.testing.assert_allclose(result.smallest_at_start, at_start[:, 0], atol=1e-7)
    assert result.smallest[2] < -1e-3


def test_the_radius_satisfies_its_equation_and_is_zero_without_convexity(polished):
    _, result = polished
    bound = np.asarray(SIX.hessian_lipschitz(result.point, result.radius))
    near = [0, 1, 3]
    np.testing.assert_allclose((result.radius * bound)[near], 0.9 * result.smallest[near], rtol=1e-6)
    assert result.radius[2] == 0


def test_polish_does_not_take_a_saddle_for_a_minimum_when_it_stands_on_it():
    point, norm, _ = settle(SIX, SADDLE)
    assert norm < 1e-13
    result = polish(SIX, np.repeat(point[None], 4, axis=0))
    smallest = float(np.linalg.eigvalsh(np.asarray(SIX.hessian(point)))[0])
    assert smallest < -1e-3
    np.testing.assert_allclose(result.smallest, smallest, atol=1e-8)
    assert (np.asarray(result.radius) == 0).all()


def test_settle_reaches_stationary_points_of_any_kind():
    rng = np.random.default_rng(1)
    for start, kind in ((MINIMUM, 1), (SADDLE, -1)):
        point, norm, spectrum = settle(SIX, start + 1e-4 * rng.normal(size=(6, 6)))
        assert norm < 1e-13
        assert np.abs(point - start).max() < 1e-2
        assert np.sign(spectrum[0]) == kind
        np.testing.assert_allclose(spectrum, SIX.spectrum(point), atol=1e-12)


def test_settle_never_makes_the_gradient_larger():
    """From far away Newton's step may lead anywhere; a worse point is not taken."""
    start = np.random.default_rng(2).normal(size=(6, 6))
    before = np.linalg.norm(np.asarray(SIX.gradient(start)))
    point, norm, _ = settle(SIX, start)
    assert norm <= before
    assert norm == pytest.approx(np.linalg.norm(np.asarray(SIX.gradient(point))), abs=1e-15)


@pytest.mark.slow
def test_settle_finds_the_published_saddle(published):
    if "k15-n16" not in published:
        pytest.skip("the file k15-n16 is not at hand")
    energy = landscape(TwoLayer(standard_teacher(15), students=16))
    kinds = []
    for weights in published["k15-n16"]:
        point, norm, spectrum = settle(energy, weights)
        assert norm < 1e-13
        assert np.linalg.norm(point - weights) < 1e-6
        kinds.append(float(spectrum[0]))
    assert sum(value < -1e-9 for value in kinds) == 1
    assert min(kinds) == pytest.approx(-0.0027, abs=1e-4)
