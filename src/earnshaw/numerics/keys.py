"""Random keys: the key of a lane depends on the root seed and the lane's index alone."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.numerics.compiling import compiled, on_host


def lane_keys(seed: int, lanes: np.ndarray) -> jax.Array:
    """Return one key per lane index; the same for every batch, order, engine and device."""
    root = jax.random.key(seed, impl="threefry2x32")
    return jax.vmap(jax.random.fold_in, in_axes=(None, 0))(root, jnp.asarray(lanes, dtype=jnp.uint32))


@on_host()
def lane_normals(seed: int, lanes: np.ndarray, count: int, stream: int | None = None) -> np.ndarray:
    """Return standard normal numbers (lanes, count) of each lane's key, or of one of the key's streams.

    The CPU draws them, whatever the device is: starts are the same to the last bit. The i-th number of a key does not
    depend on how many are drawn, so that a program for the next power of two serves all smaller sizes.
    """
    room, places = (1 << (max(size, 1) - 1).bit_length() for size in (count, len(lanes)))
    padded = np.concatenate([lanes, np.zeros(places - len(lanes), dtype=np.asarray(lanes).dtype)])
    return np.asarray(_normals(np.int64(seed), padded.astype(np.uint32), stream, room))[: len(lanes), :count]


@functools.partial(compiled, static_argnums=3)
def _normals(seed: int, lanes: np.ndarray, stream: int | None, count: int) -> jax.Array:
    keys = lane_keys(seed, lanes)
    if stream is not None:
        keys = jax.vmap(jax.random.fold_in, in_axes=(0, None))(keys, stream)
    return jax.vmap(lambda key: jax.random.normal(key, (count,)))(keys)
