"""Conjugate gradients against dense algebra; the step to the boundary is tested with the trust region."""

import functools
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.descent.newton.polish import conjugate_gradients

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
