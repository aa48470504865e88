"""The energy of moving charges among fixed ones, under any potential of the distance."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.landscapes.base import Landscape
from earnshaw.numerics.program import program
from earnshaw.potentials.radial import AlmostYukawa, Coulomb, RadialPotential, Variant, Yukawa
from earnshaw.problems.charges import ChargeLaw, Charges


def radial_potential(law: ChargeLaw, dimension: int) -> RadialPotential:
    """Return the potential of a law of the distance."""
    if law.name == "coulomb":
        return Coulomb(dimension)
    if law.name == "yukawa":
        return Yukawa(dimension, law.eigenvalue)
    return AlmostYukawa(dimension, law.eigenvalue, law.radius, Variant[law.variant])


Lanes = TypeVar("Lanes", bound="Charged")


class Pairs(NamedTuple):
    """Phi of pairs of charges and its first two derivatives in the first position."""

    value: jax.Array  # (..., n, m)
    slope: jax.Array  # (..., n, m, d)
    curvature: jax.Array  # (..., n, m, d, d)


class Charged(Landscape):
    """What landscapes of charges share, on R^d and on the sphere: a point holds positions, and charges before them if free."""

    protons: jax.Array
    electron_charges: jax.Array | None

    def take(self: Lanes, index: jax.Array | np.ndarray | int) -> Lanes:
        """Return the landscape of some lanes."""
        if self.protons.ndim == 2:
            return self
        return jax.tree.map(lambda leaf: leaf[index], self)

    def split(self, point: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return charges (..., n) and positions (..., n, d) of a point."""
        if self.electron_charges is None:
            return point[..., 0], point[..., 1:]
        return jnp.broadcast_to(self.electron_charges, point.shape[:-1]), point

    def join(self, charges: jax.Array, positions: jax.Array) -> jax.Array:
        """Return the point with these charges and positions."""
        return jnp.concatenate([charges[..., None], positions], -1) if self.electron_charges is None else positions


@functools.partial(
    jax.tree_util.register_dataclass,
    data_fields=("protons", "proton_charges", "electron_charges"),
    meta_fields=("potential", "electrons", "regularisation"),
)
@dataclass(frozen=True)
class ChargeLandscape(Charged):
    r"""The energy of moving charges (a_i, theta_i) among fixed charges (b_j, w_j),

    .. math::
        G = \sum_{ij} a_i a_j \Phi(|\theta_i - \theta_j|) + 2\sum_{ij} a_i b_j \Phi(|\theta_i - w_j|)
            + \sum_{ij} b_i b_j \Phi(|w_i - w_j|) + \rho\,|a|^2 ,

    where the energy of a charge with itself is left out if the potential is unbounded (equation (2) of the paper).
    A point has one row a charge: (a_i, theta_i), shape (n, d + 1), or theta_i alone, (n, d), where the charges are
    fixed. Fixed charges may have a leading axis of lanes, one instance each, that runs along the points' first axis.

    At a cone tip, theta_i = w_j under the variants T and B, there is no gradient: the pair is then left out of it.

    Reference: Panigrahy et al. (2018), equations (1), (2) and section 4.
    """

    protons: jax.Array  # (..., k, d)
    proton_charges: jax.Array  # (..., k)
    electron_charges: jax.Array | None  # (..., n), or None: part of the point
    potential: RadialPotential
    electrons: int
    regularisation: float = 0.0

    @classmethod
    def of(cls, problem: Charges) -> ChargeLandscape:
        """Return the landscape of a problem on R^d."""
        fixed = None if problem.electron_charges is None else jnp.asarray(problem.electron_charges)
        potential = radial_potential(problem.law, problem.dimension)
        return cls(
            jnp.asarray(problem.protons),
            jnp.asarray(problem.proton_charges),
            fixed,
            potential,
            problem.electrons,
            problem.regularisation,
        )

    @property
    def dimension(self) -> int:
        """The dimension d."""
        return self.protons.shape[-1]

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of one point."""
        return self.electrons, self.dimension + (self.electron_charges is None)

    @property
    def global_value(self) -> float | None:
        """0 where every proton can be cancelled, else unknown."""
        free = self.electron_charges is None and self.regularisation == 0
        return 0.0 if free and self.potential.bounded and self.electrons >= self.protons.shape[-2] else None

    def project(self, point: jax.Array) -> jax.Array:
        """Return the point itself: all of R^d is allowed."""
        return point

    # ---- pairs -------------------------------------------------------------------------------------------------

    def _distances(self, first: jax.Array, second: jax.Array) -> tuple[jax.Array, jax.Array]:
        apart = first[..., :, None, :] - second[..., None, :, :]
        square = jnp.sum(apart * apart, -1)
        return apart, jnp.where(square > 0, jnp.sqrt(jnp.where(square > 0, square, 1.0)), 0.0)

    def _values(self, first: jax.Array, second: jax.Array, same: bool) -> jax.Array:
        """Return Phi of all pairs; with ``same`` the diagonal is a charge with itself."""
        _, distance = self._distances(first, second)
        if not same:
            return self.potential.value(distance)
        itself = jnp.eye(first.shape[-2], dtype=bool)
        alone = 1.0 if self.potential.bounded else 0.0
        return jnp.where(itself, alone, self.potential.value(jnp.where(itself, 1.0, distance)))

    def pairs(self, first: jax.Array, second: jax.Array, same: bool) -> Pairs:
        r"""Return Phi and its derivatives, :math:`\Phi' u` and :math:`\Phi'' uu^T + \frac{\Phi'}r(I - uu^T)`, u the unit vector."""
        apart, distance = self._distances(first, second)
        touching = distance == 0
        safe = jnp.where(touching, 1.0, distance)
        unit = apart / safe[..., None]
        slope = jnp.where(touching, 0.0, self.potential.slope(safe))
        curvature = jnp.where(touching, 0.0, self.potential.curvature(safe))
        outer = unit[..., :, None] * unit[..., None, :]
        across = (slope / safe)[..., None, None] * (jnp.eye(self.dimension) - outer)
        second_derivative = curvature[..., None, None] * outer + across
        return Pairs(self._values(first, second, same), slope[..., None] * unit, second_derivative)

    # ---- the landscape -----------------------------------------------------------------------------------------

    @program
    def value(self, point: jax.Array) -> jax.Array:
        """Return G, shape (...)."""
        charges, positions = self.split(point)
        moving = jnp.einsum("...i,...j,...ij->...", charges, charges, self._values(positions, positions, True))
        mixed = jnp.einsum(
            "...i,...j,...ij->...", charges, self.proton_charges, self._values(positions, self.protons, False)
        )
        fixed = jnp.einsum(
            "...i,...j,...ij->...",
            self.proton_charges,
            self.proton_charges,
            self._values(self.protons, self.protons, True),
        )
        return moving + 2 * mixed + fixed + self.regularisation * jnp.sum(charges**2, -1)

    @program
    def gradient(self, point: jax.Array) -> jax.Array:
        """Return dG at a point, in the point's shape."""
        charges, positions = self.split(point)
        own, other = self.pairs(positions, positions, True), self.pairs(positions, self.protons, False)
        force = jnp.einsum("...j,...ijd->...id", charges, own.slope)
        force = 2 * charges[..., None] * (force + jnp.einsum("...j,...ijd->...id", self.proton_charges, other.slope))
        if self.electron_charges is not None:
            return force
        field = jnp.einsum("...j,...ij->...i", charges, own.value)
        field = field + jnp.einsum("...j,...ij->...i", self.proton_charges, other.value)
        return self.join(2 * (field + self.regularisation * charges), force)

    @program
    def hessian(self, point: jax.Array) -> jax.Array:
        """Return the Hessian (..., N, N), N = n (d + 1) or n d, ordered as the point's entries."""
        n, d = self.electrons, self.dimension
        charges, positions = self.split(point)
        own, other = self.pairs(positions, positions, True), self.pairs(positions, self.protons, False)
        identity = jnp.eye(n)
        diagonal = jnp.einsum("...j,...ijde->...ide", charges, own.curvature)
        diagonal = diagonal + jnp.einsum("...j,...ijde->...ide", self.proton_charges, other.curvature)
        blocks = identity[:, :, None, None] * (charges[..., None, None] * diagonal)[..., :, None, :, :]
        blocks = 2 * (blocks - (charges[..., :, None] * charges[..., None, :])[..., None, None] * own.curvature)
        if self.electron_charges is None:
            slope = jnp.einsum("...j,...ijd->...id", charges, own.slope)
            slope = slope + jnp.einsum("...j,...ijd->...id", self.proton_charges, other.slope)
            mixed = identity[:, :, None] * slope[..., :, None, :] - charges[..., None, :, None] * own.slope
            corner = own.value + self.regularisation * identity
            top = jnp.concatenate([corner[..., None, None], mixed[..., None, :]], -1)
            bottom = jnp.concatenate([jnp.swapaxes(mixed, -3, -2)[..., None], 0.5 * blocks], -1)
            blocks = 2 * jnp.concatenate([top, bottom], -2)
            d += 1
        return jnp.swapaxes(blocks, -3, -2).reshape(*point.shape[:-2], n * d, n * d)

    @program
    def hessian_vector(self, point: jax.Array, direction: jax.Array) -> jax.Array:
        """Return the Hessian times a direction of the point's shape."""
        return jax.jvp(self.gradient, (point,), (direction,))[1]

    # ---- fields and charges ------------------------------------------------------------------------------------

    @program
    def field(self, position: jax.Array) -> tuple[jax.Array, jax.Array]:
        r"""Return :math:`S(\theta) = \sum_j b_j \Phi(|\theta - w_j|)` of the fixed charges and its gradient, for (..., m, d)."""
        pairs = self.pairs(position, self.protons, False)
        value = jnp.einsum("...j,...ij->...i", self.proton_charges, pairs.value)
        return value, jnp.einsum("...j,...ijd->...id", self.proton_charges, pairs.slope)

    @program
    def velocity(self, point: jax.Array) -> jax.Array:
        r"""Return the velocities (..., n, d) of the moving charges under electron-proton dynamics,

        .. math:: \frac{d\theta_i}{dt} = -\sum_{j\ne i} a_i a_j \nabla_{\theta_i}\Phi(\theta_i, \theta_j)
            - \sum_j a_i b_j \nabla_{\theta_i}\Phi(\theta_i, w_j) .

        It is minus half the gradient of L: gradient flow on L/2 (docs/errata.md says where the paper's factor differs).
        Reference: Panigrahy et al. (2018), Definition 4 and Theorem 5.
        """
        charges, positions = self.split(point)
        everyone = jnp.concatenate(
            [positions, jnp.broadcast_to(self.protons, (*positions.shape[:-2], *self.protons.shape[-2:]))], -2
        )
        fixed = jnp.broadcast_to(self.proton_charges, (*charges.shape[:-1], self.proton_charges.shape[-1]))
        apart, distance = self._distances(positions, everyone)
        safe = jnp.where(distance > 0, distance, 1.0)
        slope = jnp.where(distance > 0, self.potential.slope(safe) / safe, 0.0)
        force = charges[..., :, None] * jnp.concatenate([charges, fixed], -1)[..., None, :] * slope
        return -jnp.sum(force[..., None] * apart, -2)

    @program
    def best_charges(self, positions: jax.Array, placed: jax.Array | None = None) -> jax.Array:
        r"""Return the charges (..., n) that minimise G at these positions: :math:`(\Phi_{ee} + \rho I)\,a = -\Phi_{ep}\,b`.

        Where ``placed`` (..., n) is given, the other charges are 0.
        """
        n = positions.shape[-2]
        use = jnp.ones(positions.shape[:-1], dtype=bool) if placed is None else placed
        matrix = self._values(positions, positions, True) + self.regularisation * jnp.eye(n)
        matrix = jnp.where(use[..., :, None] & use[..., None, :], matrix, jnp.eye(n))
        pull = jnp.einsum("...j,...ij->...i", self.proton_charges, self._values(positions, self.protons, False))
        return jnp.linalg.solve(matrix, jnp.where(use, -pull, 0.0)[..., None])[..., 0]

    def node(self, charges: jax.Array, positions: jax.Array) -> ChargeLandscape:
        """Return the landscape of one more charge, everything at hand (..., n) held fixed beside the protons."""
        lanes = positions.shape[:-2]
        fixed = jnp.broadcast_to(self.protons, (*lanes, *self.protons.shape[-2:]))
        protons = jnp.broadcast_to(self.proton_charges, (*lanes, self.protons.shape[-2]))
        return replace(
            self,
            protons=jnp.concatenate([fixed, positions], -2),
            proton_charges=jnp.concatenate([protons, charges], -1),
            electron_charges=None,
            electrons=1,
        )
