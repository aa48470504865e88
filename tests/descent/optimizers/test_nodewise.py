import jax.numpy as jnp
import numpy as np
import pytest

from earnshaw.descent.optimizers.nodewise import climb_log_field, log_nodewise_descent
from earnshaw.experiments.charges import reach_one, recover
from earnshaw.landscapes import PairEnergy
from earnshaw.potentials.radial import AlmostYukawa


def test_climbing_finds_a_proton_that_the_loss_cannot_see():
    """At a distance of 60 the field is 1e-28: F does not change in any digit, its logarithm does."""
    protons = jnp.array([[[0.0, 0.0, 0.0]]])
    node = PairEnergy.among(AlmostYukawa(3), protons, jnp.array([[-0.3]]), students=1)
    far = jnp.array([[[60.0, 0.0, 0.0]]])
    assert float(jnp.abs(node.field(far)[0])[0, 0]) < 1e-28
    theta, steps = climb_log_field(node, far)
    assert float(jnp.linalg.norm(theta)) < 1e-12
    assert 60 < int(steps[0]) < 200


@pytest.mark.slow
def test_two_near_protons_of_opposite_sign_are_told_apart():
    protons = np.array([[[0.0, 0.0, 0.0], [0.2, 0.0, 0.0]]])
    landscape = PairEnergy.among(AlmostYukawa(3), protons, jnp.array([[1.0, -0.9]]), students=2)
    starts = jnp.asarray(np.random.default_rng(0).normal(size=(1, 2, 20, 3)))
    end = log_nodewise_descent(landscape, starts)
    apart = np.linalg.norm(protons[:, :, None] - np.asarray(end.positions)[:, None], axis=-1)
    assert apart.min(-1).max() < 1e-10
    assert abs(float(end.value[0])) < 1e-12
    order = apart[0].argmin(0)
    assert np.allclose(np.asarray(end.charges)[0], np.array([1.0, -0.9])[order], atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("d", [3, 7])
def test_the_log_domain_recovers_every_proton(d, k):
    for factor in (0.25, 1.0, 4.0):
        found = recover(d, k, factor, 100, seed=0)
        assert found.found() == 100
        assert found.steps < 130


@pytest.mark.slow
def test_the_printed_algorithm_rarely_does():
    assert recover(3, 3, 1.0, 100, seed=0, printed=True).found() <= 20


@pytest.mark.slow
def test_algorithm_2_puts_some_electron_within_eps():
    for factor in (0.25, 1.0):
        assert (reach_one(3, 4, factor, 8, seed=0).distances < 0.5).all()
    assert (reach_one(3, 4, 1.0, 8, seed=0, step=0.5).steps < 2000).all()
