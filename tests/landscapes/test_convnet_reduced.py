"""Five coordinates hold a whole run."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from earnshaw.landscapes.convnet import ConvNetLandscape


def lanes(p, k, count=6, seed=0):
    rng = np.random.default_rng(seed)
    energy = ConvNetLandscape(
        jnp.asarray(rng.normal(size=(count, p))), jnp.asarray(rng.normal(size=(count, k))), jnp.ones((count, k))
    )
    return energy, rng.normal(size=(count, p + k))


@jax.jit
def descend(energy, points, steps):
    return jax.lax.fori_loop(0, steps, lambda _, x: x - 0.02 * energy.gradient(x), points)


@pytest.mark.parametrize(
    ("p", "k"), [(7, 9), *(pytest.param(*shape, marks=pytest.mark.slow) for shape in ((2, 1), (3, 2)))]
)
def test_a_reduced_run_is_the_run(p, k):
    energy, points = lanes(p, k)
    reduced, small, lift = energy.reduced(points)
    assert small.shape == (6, 5)
    assert np.abs(lift(small) - points).max() < 1e-14
    for steps in (0, 400):
        far, near = descend(energy, points, steps), descend(reduced, small, steps)
        assert np.abs(lift(np.asarray(near)) - far).max() < 1e-12
        assert np.abs(reduced.value(near) - energy.value(far)).max() < 1e-12
    assert np.abs(far - points).max() > 0.1
    for name in ("norm", "kappa", "square", "total", "barrier", "turning", "spurious_value"):
        assert np.allclose(getattr(reduced, name), getattr(energy, name), rtol=1e-12, atol=1e-12), name


def test_degenerate_lanes_reduce_too():
    """Equal output weights (no contrast), a start without output weights, and a filter along the teacher's."""
    filter, outputs = np.array([0.6, 0.8, 0.0]), np.full(4, 0.7)
    energy = ConvNetLandscape(jnp.asarray(filter), jnp.asarray(outputs), jnp.ones(4))
    points = np.stack([np.concatenate([v, a]) for v, a in ((filter, np.zeros(4)), (-filter, outputs), (filter, [1.0, 2, 3, 4]))])  # fmt: skip
    reduced, small, lift = energy.reduced(points)
    assert np.abs(lift(small) - points).max() < 1e-15
    assert np.all(small[:2, 1] == 0)
    assert np.abs(reduced.value(small) - energy.value(points)).max() < 1e-14
    assert np.all(np.isfinite(reduced.gradient(small)))
