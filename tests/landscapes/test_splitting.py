"""A split neuron changes nothing that the network computes, and opens directions of its own curvature."""

import jax.numpy as jnp
import numpy as np
import pytest

from earnshaw.errors import InputError
from earnshaw.experiments.scenes import shipped_minimum
from earnshaw.landscapes import landscape
from earnshaw.landscapes.two_layer import split_neuron
from earnshaw.problems import TwoLayer, standard_teacher


def of(students):
    return landscape(TwoLayer(standard_teacher(6), students=students))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_loss_and_gradients_stay(share):
    weights = np.random.default_rng(0).normal(size=(6, 6))
    split = split_neuron(weights, 2, share)
    assert float(of(7).value(jnp.asarray(split))) == pytest.approx(float(of(6).value(jnp.asarray(weights))), abs=1e-13)
    before = np.asarray(of(6).gradient(jnp.asarray(weights)))
    after = np.asarray(of(7).gradient(jnp.asarray(split)))
    np.testing.assert_allclose(after, np.concatenate([before, before[2:3]]), atol=1e-13)


def parted(share):
    """Return the curvatures of the shipped minimum with its first neuron split, along moves in which the halves part."""
    hessian = np.asarray(of(7).hessian(jnp.asarray(split_neuron(shipped_minimum(), 0, share)))).reshape(7, 6, 7, 6)
    block = hessian[0, :, 0] + hessian[6, :, 6] - hessian[0, :, 6] - hessian[6, :, 0]
    return np.linalg.eigvalsh(block)


def test_parting_has_the_curvature_of_the_formula():
    """It goes like 1 / (t (1 - t)), and is negative at the proved minimum: its split is a saddle."""
    half = parted(0.5)
    assert half[0] < -0.4
    np.testing.assert_allclose(parted(0.1) * 0.09, half * 0.25, atol=1e-12)


@pytest.mark.parametrize(("neuron", "share"), [(6, 0.5), (-1, 0.5), (0, 0.0), (0, 1.0), (0, float("nan"))])
def test_what_cannot_be_split_is_refused(neuron, share):
    with pytest.raises(InputError, match="use"):
        split_neuron(np.eye(6), neuron, share)
