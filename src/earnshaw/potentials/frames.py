r"""The plane of two vectors: second derivatives there have few entries, and none of them suffers from cancellation.

For vectors u and v write :math:`v = \beta\,\bar u + m\,\bar n` with :math:`\bar u = u/|u|`, :math:`\bar n` a unit vector
perpendicular to it, and :math:`m \ge 0`. By symmetry a second derivative of :math:`\Phi(u, v)` is

.. math:: t\,(I - \bar u\bar u^T - \bar n\bar n^T) + t_{uu}\,\bar u\bar u^T + t_{un}\,\bar u\bar n^T
    + t_{nu}\,\bar n\bar u^T + t_{nn}\,\bar n\bar n^T .

Where u or m is 0 the unit vector does not exist and is set to 0; by the same symmetry nothing is lost.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp


class Frame(NamedTuple):
    """The plane of pairs of vectors (..., d): three lengths (...) and two unit vectors (..., d)."""

    length: jax.Array  # |u|
    along: jax.Array  # beta
    across: jax.Array  # m
    unit: jax.Array
    normal: jax.Array


class Entries(NamedTuple):
    """The entries of a matrix in a frame, shape (...) each; ``rest`` is the factor of what is perpendicular to the plane."""

    rest: jax.Array
    uu: jax.Array
    un: jax.Array
    nu: jax.Array
    nn: jax.Array


def safe_divide(numerator: jax.Array, denominator: jax.Array) -> jax.Array:
    """Return the quotient, 0 where the denominator is not positive."""
    positive = denominator > 0
    return jnp.where(positive, numerator / jnp.where(positive, denominator, 1.0), 0.0)


def frame(first: jax.Array, second: jax.Array) -> Frame:
    """Return the frame of vectors u and v (..., d); the perpendicular part keeps its relative accuracy."""
    length = jnp.linalg.norm(first, axis=-1)
    unit = safe_divide(first, length[..., None])
    along = jnp.sum(second * unit, -1)
    across = second - along[..., None] * unit
    across = across - jnp.sum(across * unit, -1, keepdims=True) * unit
    size = jnp.linalg.norm(across, axis=-1)
    return Frame(length, along, size, unit, safe_divide(across, size[..., None]))


def assemble(plane: Frame, entries: Entries) -> jax.Array:
    """Return the matrices (..., d, d) with these entries in the frame."""
    u, n = plane.unit, plane.normal
    rest = entries.rest
    shape = jnp.broadcast_shapes(rest.shape, entries.uu.shape)
    left = (entries.uu - rest)[..., None] * u + entries.nu[..., None] * n
    right = entries.un[..., None] * u + (entries.nn - rest)[..., None] * n
    plane_part = left[..., :, None] * u[..., None, :] + right[..., :, None] * n[..., None, :]
    return jnp.broadcast_to(rest, shape)[..., None, None] * jnp.eye(u.shape[-1]) + plane_part
