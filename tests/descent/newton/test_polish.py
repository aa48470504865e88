"""Newton's polish and the general Newton method against the full Hessian, and conjugate gradients against dense algebra.

The step to the boundary is tested with the trust region.
"""

import functools
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from six_points import MINIMUM, SADDLE

from earnshaw.descent import polish, settle
from earnshaw.descent.newton.polish import conjugate_gradients
from earnshaw.landscapes import landscape
from earnshaw.problems import TwoLayer, standard_teacher

SIX = landscape(TwoLayer(standard_teacher(6)))
PROBE = np.random.default_rng(0).normal(size=(6, 6))


@pytest.fixture(scope="module")
def polished():
    rng = np.random.default_rng(0)
    lanes = [
        MINIMUM + 1e-3 * rng.normal(size=(6, 6)),
        MINIMUM + 1e-5 * rng.normal(size=(6, 6)),
        SADDLE + 1e-3 * rng.normal(size=(6, 6)),
        np.eye(6)[[2, 0, 1, 5, 4, 3]] + 1e-2 * rng.normal(size=(6, 6)),
    ]
    result = polish(SIX, np.array(lanes), PROBE, np.full(4, 1e-9))  # of so short steps, many are before every lane
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
    near = [0, 1, 3]
    np.testing.assert_allclose(result.smallest[near], spectra[near, 0], atol=1e-9)
    np.testing.assert_allclose(result.largest[near], spectra[near, -1], atol=1e-9)
    np.testing.assert_allclose(result.smallest_at_start[near], at_start[near, 0], atol=1e-7)
    assert np.isnan(result.smallest[2])  # negative curvature was met: nobody asks how negative


def test_the_radius_satisfies_its_equation_and_is_zero_without_convexity(polished):
    _, result = polished
    bound = np.asarray(SIX.hessian_lipschitz(result.point, result.radius))
    near = [0, 1, 3]
    np.testing.assert_allclose((result.radius * bound)[near], 0.9 * result.smallest[near], rtol=1e-6)
    assert result.radius[2] == 0


def test_the_wait_is_that_of_gradient_descent_and_a_short_one_asks_no_more(polished):
    starts, _ = polished
    far = MINIMUM + 3e-3 * np.random.default_rng(1).normal(size=(6, 6))
    lanes, length = np.stack([far, starts[1], starts[2], far]), 0.1
    result = polish(SIX, lanes, PROBE, np.full(4, length))
    assert np.isnan(np.asarray(result.smallest_at_start)[[0, 1, 3]]).all()
    point, inside = far, 0
    while np.linalg.norm(point - np.asarray(result.point[0])) > 0.95 * float(result.radius[0]):
        point, inside = point - length * np.asarray(SIX.gradient(point)), inside + 1
    assert inside > 20
    assert inside <= float(result.wait[0]) < 3 * inside, "the slowest direction alone is reckoned with"
    assert float(result.wait[1]) < 0, "it is in the ball"


def test_polish_does_not_take_a_saddle_for_a_minimum_when_it_stands_on_it():
    point, norm, _ = settle(SIX, SADDLE)
    assert norm < 1e-13
    result = polish(SIX, np.repeat(point[None], 4, axis=0), PROBE, np.full(4, 0.1))
    smallest = float(np.linalg.eigvalsh(np.asarray(SIX.hessian(point)))[0])
    assert smallest < -1e-3
    assert not (np.asarray(result.convex) & ~(np.asarray(result.smallest) < -1e-3)).any()
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


N = 7


@functools.partial(jax.tree_util.register_dataclass, data_fields=("matrices",), meta_fields=())
@dataclass(frozen=True)
class Quadratic:
    """x . A x / 2 - sum x, another A for each lane."""

    matrices: jax.Array

    def gradient(self, point):
        return jnp.einsum("lij,lj->li", self.matrices, point) - 1.0


def problems():
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.normal(size=(3, N, N)))[0]
    values = np.stack([np.linspace(1, 9, N), np.linspace(-2, 3, N), np.linspace(1, 2, N)])
    return Quadratic(jnp.asarray(np.einsum("lij,lj,lkj->lik", axes, values, axes))), rng.normal(size=(3, N))


def solved(radius=None):
    energy, points = problems()
    gradient = energy.gradient(jnp.asarray(points))
    goal = 1e-24 * jnp.sum(gradient**2, -1)
    active = jnp.array([True, True, False])
    found = conjugate_gradients(energy, jnp.asarray(points), gradient, goal, active, spare=5, radius=radius)
    return energy, np.asarray(gradient), type(found)(*map(np.asarray, found))


def test_newtons_step_and_negative_curvature():
    energy, gradient, found = solved()
    np.testing.assert_allclose(found.step[0], np.linalg.solve(energy.matrices[0], -gradient[0]), atol=1e-10)
    assert found.convex.tolist() == [True, False, True]
    np.testing.assert_allclose(found.image, np.einsum("lij,lj->li", energy.matrices, found.step), atol=1e-12)
    assert N <= found.products[0] <= N + 5
    assert not found.step[2].any(), "a lane that is not active stays"
    assert found.products[2] == 0


def test_inside_a_ball_negative_curvature_is_followed_to_the_boundary():
    energy, gradient, found = solved(radius=jnp.full(3, 0.5))
    np.testing.assert_allclose(np.linalg.norm(found.step[:2], axis=1), 0.5, rtol=1e-12)
    model = np.sum(gradient * found.step, -1) + 0.5 * np.sum(found.step * found.image, -1)
    steepest = -0.5 * gradient / np.linalg.norm(gradient, axis=1, keepdims=True)
    image = np.einsum("lij,lj->li", energy.matrices, steepest)
    cauchy = np.sum(gradient * steepest, -1) + 0.5 * np.sum(steepest * image, -1)
    assert (model[:2] <= cauchy[:2] + 1e-12).all()
    _, _, wide = solved(radius=jnp.full(3, 1e3))
    np.testing.assert_allclose(wide.step[0], solved()[2].step[0], atol=1e-12)
