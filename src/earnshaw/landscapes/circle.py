"""Charges on the circle, by their angles: where one more of them has a local minimum."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp

from earnshaw.landscapes.energy import PairEnergy
from earnshaw.potentials.radial import turned


def node_minima(energy: PairEnergy, samples: int = 2000) -> tuple[jax.Array, jax.Array]:
    r"""Return angles and a mask: where one more charge, with its best output weight, has a local minimum of F.

    With :math:`a = S(\theta)` the loss is a constant minus :math:`S(\theta)^2/2`. It is looked at on a grid of
    ``samples`` angles together with all :math:`\pm w_j`, sorted (..., samples + 2k): a minimum is an angle whose
    :math:`S^2` is above that of both neighbours.

    Parameters
    ----------
    energy : of the potential :class:`~earnshaw.potentials.radial.Circle`; its teacher (..., k, 1) are the angles w_j.
    """
    fixed = energy.teacher[..., 0]
    grid = jnp.linspace(-math.pi, math.pi, samples, endpoint=False)
    grid = jnp.broadcast_to(grid, (*fixed.shape[:-1], samples))
    angles = jnp.sort(jnp.concatenate([grid, turned(fixed), turned(fixed + math.pi)], -1), -1)
    size = energy.field(angles[..., None])[0] ** 2
    return angles, (size > jnp.roll(size, 1, -1)) & (size > jnp.roll(size, -1, -1))
