import jax
import jax.numpy as jnp
import numpy as np
import pytest

from earnshaw.errors import InputError
from earnshaw.landscapes.deep import DeepTanh


def test_depth_two_has_one_hidden_layer_and_tanh_at_every_node():
    network = DeepTanh(2, 3, dimension=4, dtype="float64")
    assert network.shapes == [(3, 4), (1, 3)]
    first, second = weights = network.random(jax.random.key(0))
    x = network.draw(jax.random.key(1), 5)
    by_hand = np.tanh(np.tanh(np.asarray(x) @ np.asarray(first).T) @ np.asarray(second).T)[:, 0]
    assert np.allclose(network.output(weights, x), by_hand, rtol=1e-14)
    other = tuple(2 * w for w in weights)
    error = np.mean((np.asarray(network.output(other, x)) - by_hand) ** 2)
    assert np.isclose(float(network.error(other, weights, x)), error)
    assert float(network.error(weights, weights, x)) == 0.0


@pytest.mark.slow
def test_weights_are_standard_normal_or_balanced():
    network = DeepTanh(3, 60, dimension=40)
    plain = network.random(jax.random.key(2))
    assert [w.dtype for w in plain] == [jnp.float32] * 3
    assert np.isclose(np.asarray(plain[1]).std(), 1.0, rtol=0.05)
    balanced = network.random(jax.random.key(2), balanced=True)
    assert np.isclose(np.asarray(balanced[1]).std(), 60**-0.5, rtol=0.05)


@pytest.mark.parametrize("sizes", [(1, 5, 3), (2, 0, 3), (2, 5, 0)])
def test_impossible_networks_are_refused(sizes):
    with pytest.raises(InputError, match="depth must be at least 2"):
        DeepTanh(*sizes)
