import jax
import jax.numpy as jnp
import numpy as np
import pytest

from earnshaw.errors import InputError
from earnshaw.landscapes import deep
from earnshaw.problems import DeepTanh


def test_depth_two_has_one_hidden_layer_and_tanh_at_every_node():
    network = DeepTanh(2, 3, dimension=4, dtype="float64")
    assert network.layers == [(3, 4), (1, 3)]
    first, second = weights = deep.random_weights(network, jax.random.key(0))
    x = jax.random.normal(jax.random.key(1), (5, 4))
    by_hand = np.tanh(np.tanh(np.asarray(x) @ np.asarray(first).T) @ np.asarray(second).T)[:, 0]
    assert np.allclose(deep.output(weights, x), by_hand, rtol=1e-14)
    other = tuple(2 * w for w in weights)
    error = np.mean((np.asarray(deep.output(other, x)) - by_hand) ** 2)
    assert np.isclose(float(deep.error(other, weights, x)), error)
    assert float(deep.error(weights, weights, x)) == 0.0


@pytest.mark.slow
def test_weights_are_standard_normal_or_balanced():
    network = DeepTanh(3, 60, dimension=40)
    plain = deep.random_weights(network, jax.random.key(2))
    assert [w.dtype for w in plain] == [jnp.float32] * 3
    assert np.isclose(np.asarray(plain[1]).std(), 1.0, rtol=0.05)
    balanced = deep.random_weights(network, jax.random.key(2), balanced=True)
    assert np.isclose(np.asarray(balanced[1]).std(), 60**-0.5, rtol=0.05)


@pytest.mark.parametrize(
    ("sizes", "says"),
    [((1, 5, 3), "1 layers were asked for"), ((2, 0, 3), "0 neurons a layer"), ((2, 5, 0), "0 dimensions")],
)
def test_impossible_networks_are_refused(sizes, says):
    with pytest.raises(InputError, match=says):
        DeepTanh(*sizes)
