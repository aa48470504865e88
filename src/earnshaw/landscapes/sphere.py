"""The energy of moving charges on the unit sphere, under any potential of the inner product."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import jax
import jax.numpy as jnp

from earnshaw.landscapes.charges import Charged
from earnshaw.numerics.program import program
from earnshaw.potentials.spherical import Power, SignAngle, SphericalPotential
from earnshaw.problems.charges import ChargeLaw, Charges


def spherical_potential(law: ChargeLaw) -> SphericalPotential:
    """Return the potential of a law on the sphere."""
    return Power(law.degree) if law.name == "polynomial" else SignAngle()


@functools.partial(
    jax.tree_util.register_dataclass,
    data_fields=("protons", "proton_charges", "electron_charges"),
    meta_fields=("potential", "electrons", "regularisation"),
)
@dataclass(frozen=True)
class SphereLandscape(Charged):
    r"""The energy of :class:`ChargeLandscape` with :math:`\Phi(\theta^T w)`, as a function of directions.

    Points are those of :class:`ChargeLandscape`; positions count by their direction alone, :math:`G(\theta/|\theta|)`.
    So at unit vectors the gradient is the one along the sphere, and at a critical point the Hessian is that of the
    sphere, with a 0 for each radial direction.

    Reference: Panigrahy et al. (2018), appendix F.
    """

    protons: jax.Array  # (..., k, d), unit vectors
    proton_charges: jax.Array  # (..., k)
    electron_charges: jax.Array | None  # (..., n), or None: part of the point
    potential: SphericalPotential
    electrons: int
    regularisation: float = 0.0

    @classmethod
    def of(cls, problem: Charges) -> SphereLandscape:
        """Return the landscape of a problem on the sphere."""
        fixed = None if problem.electron_charges is None else jnp.asarray(problem.electron_charges)
        potential = spherical_potential(problem.law)
        protons, charges = jnp.asarray(problem.protons), jnp.asarray(problem.proton_charges)
        return cls(protons, charges, fixed, potential, problem.electrons, problem.regularisation)

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of one point."""
        return self.electrons, self.protons.shape[-1] + (self.electron_charges is None)

    @property
    def gauge(self) -> int:
        """The lengths of the positions, which count for nothing."""
        return self.electrons

    @property
    def global_value(self) -> float | None:
        """0 where every proton can be cancelled, else unknown."""
        free = self.electron_charges is None and self.regularisation == 0
        return 0.0 if free and self.electrons >= self.protons.shape[-2] else None

    def project(self, point: jax.Array) -> jax.Array:
        """Return the point with its positions scaled to length 1."""
        charges, positions = self.split(point)
        return self.join(charges, positions / jnp.linalg.norm(positions, axis=-1, keepdims=True))

    @program
    def value(self, point: jax.Array) -> jax.Array:
        """Return G, shape (...)."""
        charges, positions = self.split(self.project(point))
        own = jnp.einsum("...id,...jd->...ij", positions, positions)
        own = jnp.where(jnp.eye(self.electrons, dtype=bool), 1.0, own)
        other = jnp.einsum("...id,...jd->...ij", positions, self.protons)
        teacher = jnp.einsum("...id,...jd->...ij", self.protons, self.protons)
        teacher = jnp.where(jnp.eye(self.protons.shape[-2], dtype=bool), 1.0, teacher)
        phi, b = self.potential.value, self.proton_charges
        moving = jnp.einsum("...i,...j,...ij->...", charges, charges, phi(own))
        mixed = jnp.einsum("...i,...j,...ij->...", charges, b, phi(other))
        fixed = jnp.einsum("...i,...j,...ij->...", b, b, phi(teacher))
        return moving + 2 * mixed + fixed + self.regularisation * jnp.sum(charges**2, -1)

    @program
    def gradient(self, point: jax.Array) -> jax.Array:
        """Return the gradient, in the point's shape; lanes do not mix, so the sum over them has it."""
        return jax.grad(lambda x: jnp.sum(self.value(x)))(point)

    @program
    def hessian(self, point: jax.Array) -> jax.Array:
        """Return the Hessian (..., N, N), ordered as the point's entries."""
        size = self.shape[0] * self.shape[1]
        basis = jnp.eye(size).reshape(size, *self.shape)
        columns = jax.vmap(lambda v: self.hessian_vector(point, jnp.broadcast_to(v, point.shape)))(basis)
        return jnp.moveaxis(columns.reshape(size, *point.shape[:-2], size), 0, -1)

    @program
    def hessian_vector(self, point: jax.Array, direction: jax.Array) -> jax.Array:
        """Return the Hessian times a direction of the point's shape."""
        return jax.jvp(self.gradient, (point,), (direction,))[1]
