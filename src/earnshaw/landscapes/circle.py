"""The energy of charges on the circle under the potential of sign neurons, in angles."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp


def turned(angle: jax.Array) -> jax.Array:
    """Return the angle in [-pi, pi)."""
    return jnp.mod(angle + math.pi, 2 * math.pi) - math.pi


@functools.partial(
    jax.tree_util.register_dataclass,
    data_fields=("protons", "proton_charges", "electron_charges"),
    meta_fields=("electrons",),
)
@dataclass(frozen=True)
class CircleLandscape:
    r"""The energy of :class:`ChargeLandscape` on the circle, :math:`\Phi = 1 - 2|\alpha|/\pi` with alpha the angle between.

    .. math:: L = \sum_{ij} a_i a_j \Phi(\theta_i - \theta_j) + 2 \sum_{ij} a_i b_j \Phi(\theta_i - w_j)
        + \sum_{ij} b_i b_j \Phi(w_i - w_j) .

    Piecewise linear in the angles: every charge pulls with a constant force, whatever the distance. A point has one row
    a charge: (a_i, theta_i), or theta_i alone where the charges are fixed. At a kink the gradient leaves that pair out.

    Reference: Panigrahy et al. (2018), Lemmas 28, 29.
    """

    protons: jax.Array  # (..., k) angles
    proton_charges: jax.Array  # (..., k)
    electron_charges: jax.Array | None  # (..., n), or None: part of the point
    electrons: int

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of one point."""
        return self.electrons, 1 + (self.electron_charges is None)

    @property
    def global_value(self) -> float | None:
        """0 where every proton can be cancelled, else unknown."""
        return 0.0 if self.electrons >= self.protons.shape[-1] and self.electron_charges is None else None

    def split(self, point: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return charges (..., n) and angles (..., n) of a point."""
        if self.electron_charges is None:
            return point[..., 0], point[..., 1]
        return jnp.broadcast_to(self.electron_charges, point.shape[:-1]), point[..., 0]

    def join(self, charges: jax.Array | None, angles: jax.Array) -> jax.Array:
        """Return the point with these charges and angles."""
        return (
            angles[..., None]
            if charges is None or self.electron_charges is not None
            else jnp.stack([charges, angles], -1)
        )

    def project(self, point: jax.Array) -> jax.Array:
        """Return the point with its angles in [-pi, pi)."""
        charges, angles = self.split(point)
        return self.join(charges, turned(angles))

    def field(self, angle: jax.Array) -> jax.Array:
        r"""Return :math:`S(\theta) = \sum_j b_j\Phi(\theta - w_j)` for angles (..., m)."""
        away = turned(angle[..., :, None] - self.protons[..., None, :])
        return jnp.sum(self.proton_charges[..., None, :] * (1 - 2 / math.pi * jnp.abs(away)), -1)

    def node_minima(self, samples: int = 2000) -> tuple[jax.Array, jax.Array]:
        r"""Return angles and a mask: where one more charge, with its best charge, has a local minimum of L.

        With :math:`a = -S(\theta)` the loss is a constant minus :math:`S(\theta)^2`. It is looked at on a grid of
        ``samples`` angles together with all :math:`\pm w_j`, sorted (..., samples + 2k): a minimum is an angle whose
        :math:`S^2` is above that of both neighbours.
        """
        grid = jnp.linspace(-math.pi, math.pi, samples, endpoint=False)
        grid = jnp.broadcast_to(grid, (*self.protons.shape[:-1], samples))
        angles = jnp.sort(jnp.concatenate([grid, turned(self.protons), turned(self.protons + math.pi)], -1), -1)
        size = self.field(angles) ** 2
        return angles, (size > jnp.roll(size, 1, -1)) & (size > jnp.roll(size, -1, -1))

    def value(self, point: jax.Array) -> jax.Array:
        """Return L, shape (...)."""
        charges, angles = self.split(point)
        b, w = self.proton_charges, self.protons

        def energy(q: jax.Array, x: jax.Array, p: jax.Array, y: jax.Array) -> jax.Array:
            phi = 1 - 2 / math.pi * jnp.abs(turned(x[..., :, None] - y[..., None, :]))
            return jnp.einsum("...i,...j,...ij->...", q, p, phi)

        return energy(charges, angles, charges, angles) + 2 * energy(charges, angles, b, w) + energy(b, w, b, w)

    def gradient(self, point: jax.Array) -> jax.Array:
        """Return the gradient, in the point's shape."""
        charges, angles = self.split(point)
        own = turned(angles[..., :, None] - angles[..., None, :])
        other = turned(angles[..., :, None] - self.protons[..., None, :])
        pull = jnp.sum(charges[..., None, :] * jnp.sign(own), -1)
        pull = pull + jnp.sum(self.proton_charges[..., None, :] * jnp.sign(other), -1)
        slope = -4 / math.pi * charges * pull
        if self.electron_charges is not None:
            return slope[..., None]
        size = 1 - 2 / math.pi * jnp.abs(own)
        total = jnp.sum(charges[..., None, :] * size, -1) + self.field(angles)
        return jnp.stack([2 * total, slope], -1)
