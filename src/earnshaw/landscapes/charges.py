"""The landscapes of charges: the energy of pairs in R^d, on the unit sphere, and on the circle."""

from __future__ import annotations

import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp

from earnshaw.landscapes.base import Landscape
from earnshaw.landscapes.energy import PairEnergy, pytree
from earnshaw.numerics.compiling import program
from earnshaw.potentials import Hermite, Potential, Sign
from earnshaw.potentials.radial import AlmostYukawa, Coulomb, Variant, Yukawa, turned
from earnshaw.problems.charges import ChargeLaw, Charges


def law_potential(law: ChargeLaw, dimension: int) -> Potential:
    """Return the potential of a law; one that this dimension does not have raises :class:`InputError`."""
    if law.name == "coulomb":
        return Coulomb(dimension)
    if law.name == "yukawa":
        return Yukawa(dimension, law.eigenvalue)
    if law.name == "almost-yukawa":
        return AlmostYukawa(dimension, law.eigenvalue, law.radius, Variant[law.variant])
    return Hermite(law.degree) if law.name == "polynomial" else Sign()


def charge_energy(problem: Charges, kind: type[PairEnergy] = PairEnergy) -> PairEnergy:
    """Return the energy of a problem in R^d, even under a law on the sphere."""
    return kind.among(
        law_potential(problem.law, problem.dimension),
        problem.protons,
        problem.proton_charges,
        students=problem.electrons,
        student_output_weights=problem.electron_charges,
        regularisation=problem.regularisation,
        realisable=problem.is_realisable,
    )


def charge_landscape(problem: Charges) -> PairEnergy:
    """Return the landscape of a problem, in R^d or on the sphere as its law has it."""
    return charge_energy(problem, OnSphere if problem.law.on_sphere else PairEnergy)


@pytree
@dataclass(frozen=True)
class OnSphere(PairEnergy):
    r"""The energy as a function of directions: :math:`F(w/|w|)`.

    So at unit vectors the gradient is the one along the sphere, and at a critical point the Hessian is that of the
    sphere, with a 0 for each radial direction. On the sphere the potential of :math:`He_l/\sqrt{l!}` is
    :math:`(w\cdot v)^l`.

    Reference: Panigrahy et al. (2018), appendix F.
    """

    hessian = Landscape.hessian  # through the projection, by differentiation

    @property
    def gauge(self) -> int:
        """The lengths of the positions, which count for nothing."""
        return self.students

    @property
    def _layout(self) -> str:
        return ""

    def project(self, point: jax.Array) -> jax.Array:
        """Return the point with its positions scaled to length 1."""
        places, charges = self.split(point)
        return self.join(places / jnp.linalg.norm(places, axis=-1, keepdims=True), charges)

    @program
    def value(self, point: jax.Array) -> jax.Array:
        """Return F, shape (...)."""
        return super().value(self.project(point))

    @program
    def gradient(self, point: jax.Array) -> jax.Array:
        """Return the gradient, of the point's shape: the energy's, through the derivative of the projection."""
        there, back = jax.vjp(self.project, point)
        return back(super().gradient(there))[0]


def node_minima(energy: PairEnergy, samples: int = 2000) -> tuple[jax.Array, jax.Array]:
    r"""Return angles on the circle and a mask: where one more charge, with its best output weight, has a local minimum of F.

    With :math:`a = S(\theta)` the loss is a constant minus :math:`S(\theta)^2/2`. It is looked at on a grid of
    ``samples`` angles together with all :math:`\pm w_j`, the teacher's angles (..., k, 1), sorted (..., samples + 2k): a
    minimum is an angle whose :math:`S^2` is above that of both neighbours. The potential is that of the circle.
    """
    fixed = energy.teacher[..., 0]
    grid = jnp.linspace(-math.pi, math.pi, samples, endpoint=False)
    grid = jnp.broadcast_to(grid, (*fixed.shape[:-1], samples))
    angles = jnp.sort(jnp.concatenate([grid, turned(fixed), turned(fixed + math.pi)], -1), -1)
    size = energy.field(angles[..., None])[0] ** 2
    return angles, (size > jnp.roll(size, 1, -1)) & (size > jnp.roll(size, -1, -1))
