"""Random keys: the key of a lane depends on the root seed and the lane's index alone."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np


def lane_keys(seed: int, lanes: np.ndarray) -> jax.Array:
    """Return one key per lane index; the same for every batch, order, engine and device."""
    root = jax.random.key(seed, impl="threefry2x32")
    return jax.vmap(jax.random.fold_in, in_axes=(None, 0))(root, jnp.asarray(lanes, dtype=jnp.uint32))
