"""The energy of moving charges among fixed ones, under any potential: what every student of a teacher minimises."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.errors import InputError
from earnshaw.landscapes.base import Landscape
from earnshaw.numerics.compiling import program
from earnshaw.potentials.base import Pairs, Potential

Kind = TypeVar("Kind", bound="PairEnergy")


def _sum(values: jax.Array, first: jax.Array, second: jax.Array) -> jax.Array:
    return jnp.einsum("...ij,...i,...j->...", values, first, second)


def pytree(cls: type[Kind]) -> type[Kind]:
    """Register an energy with JAX: the first two fields, teacher and charges, are data, the rest belongs to the program."""
    fields = [field.name for field in dataclasses.fields(cls)]
    return jax.tree_util.register_dataclass(cls, data_fields=fields[:2], meta_fields=fields[2:])


@pytree
@dataclass(frozen=True)
class PairEnergy(Landscape):
    r"""Half the energy of all pairs of moving charges a_i at w_i and fixed charges -b_j at v_j,

    .. math::
        F = \tfrac12\sum_{ij} a_i a_j\,\Phi(w_i, w_j) - \sum_{ij} a_i b_j\,\Phi(w_i, v_j)
            + \tfrac12\sum_{ij} b_i b_j\,\Phi(v_i, v_j) + \tfrac\rho2\,|a|^2 .

    The moving charges are the student's neurons with their output weights a_i, the fixed ones the teacher's with b_j. The
    energy of a charge with itself is left out where the potential is unbounded. A point holds the places w_i, (..., n, d),
    one a row; charges that are learned are its last column, (..., n, d + 1). The teacher and the charges may have leading
    axes too, one instance a lane. They are data to jit and vmap: another teacher of the same shape compiles nothing.

    Reference: Panigrahy et al. (2018), section 2 and equations (1), (2); its L and G are 2 F.
    """

    teacher: jax.Array  # (..., k, d)
    charges: jax.Array  # (..., n + k): the moving charges a_i (ones where they are learned), then the fixed ones -b_j
    potential: Potential
    trainable_output: bool = False
    regularisation: float = 0.0
    realisable: bool = False

    @classmethod
    def among(
        cls,
        potential: Potential,
        teacher: jax.Array | np.ndarray,
        output_weights: jax.Array | np.ndarray,
        *,
        students: int | None = None,
        student_output_weights: jax.Array | np.ndarray | None = None,
        **more: Any,
    ) -> Self:
        """Return the energy of students among a teacher (..., k, d) with output weights (..., k).

        Give either the fixed output weights (..., n) of the students, or their number: then the weights are learned.
        """
        if not students and student_output_weights is None:
            raise InputError("neither students nor student_output_weights were given; give the number or the weights")
        learned = student_output_weights is None
        own = jnp.ones(students or 0) if student_output_weights is None else jnp.asarray(student_output_weights)
        teacher, fixed = jnp.asarray(teacher), -jnp.asarray(output_weights)
        lanes = jnp.broadcast_shapes(teacher.shape[:-2], fixed.shape[:-1], own.shape[:-1])
        charges = [jnp.broadcast_to(some, (*lanes, some.shape[-1])) for some in (own, fixed)]
        return cls(teacher, jnp.concatenate(charges, -1), potential, trainable_output=learned, **more)

    @property
    def students(self) -> int:
        """Number n of moving charges."""
        return self.charges.shape[-1] - self.teacher.shape[-2]

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of one point: (n, d), or (n, d + 1) where the charges are learned."""
        return self.students, self.teacher.shape[-1] + self.trainable_output

    @property
    def global_value(self) -> float | None:
        """0 when the student can equal the teacher, else None: not known."""
        return 0.0 if self.realisable else None

    @property
    def student_charges(self) -> jax.Array:
        """The fixed output weights a_i of the student (..., n)."""
        return self.charges[..., : self.students]

    @property
    def teacher_charges(self) -> jax.Array:
        """The output weights b_j of the teacher (..., k)."""
        return -self._fixed

    @property
    def _fixed(self) -> jax.Array:
        """The charges -b_j (..., k)."""
        return self.charges[..., self.students :]

    @property
    def _layout(self) -> str:
        return ", output weights in the last column" if self.trainable_output else ""

    def split(self, point: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return the places (..., n, d) and the output weights, (..., n) learned or as they are fixed."""
        if not self.trainable_output:
            return point, self.student_charges
        return point[..., :-1], point[..., -1]

    def join(self, places: jax.Array, charges: jax.Array) -> jax.Array:
        """Return the point with these places (..., n, d) and output weights (..., n), which are dropped if fixed."""
        return jnp.concatenate([places, charges[..., None]], -1) if self.trainable_output else places

    def neurons(self, point: jax.Array) -> jax.Array:
        """Return the places of a point."""
        return self.split(point)[0]

    def take(self, index: jax.Array | np.ndarray | int) -> Self:
        """Return the landscape of some lanes."""
        return self if self.teacher.ndim == 2 else jax.tree.map(lambda leaf: leaf[index], self)

    # ---- sums over pairs ---------------------------------------------------------------------------------------

    def _placed_teacher(self) -> Any:
        return self.potential.place(self.teacher)

    def _pairs(self, places: jax.Array) -> tuple[Pairs, Pairs]:
        """Return the pairs of moving charges at these places with each other, and with the fixed ones."""
        placed = self.potential.place(places)
        return self.potential.pairs(placed), self.potential.pairs(placed, self._placed_teacher())

    def _all_charges(self, charges: jax.Array) -> jax.Array:
        """Return all charges (..., n + k), with those of the student learned."""
        if not self.trainable_output:
            return self.charges
        fixed = jnp.broadcast_to(self._fixed, (*charges.shape[:-1], self.teacher.shape[-2]))
        return jnp.concatenate([charges, fixed], -1)

    def _everyone(self, places: jax.Array) -> jax.Array:
        """Return the places (..., n + k, d) of all charges, students first."""
        fixed = jnp.broadcast_to(self.teacher, (*places.shape[:-2], *self.teacher.shape[-2:]))
        return jnp.concatenate([places, fixed], -2)

    @program
    def value(self, point: jax.Array) -> jax.Array:
        """Return F, shape (...)."""
        places, charges = self.split(point)
        own, other = self._pairs(places)
        energy = 0.5 * _sum(own.values(), charges, charges) + _sum(other.values(), charges, self._fixed)
        energy = energy + self.teacher_energy()
        return energy + 0.5 * self.regularisation * jnp.sum(charges**2, -1) if self.regularisation else energy

    def teacher_energy(self) -> jax.Array:
        r"""Return :math:`\tfrac12\sum_{ij} b_i b_j\,\Phi(v_i, v_j)`, the loss of a student whose output is 0."""
        pairs = self.potential.pairs(self.potential.place(self.teacher))
        return 0.5 * _sum(pairs.values(), self.teacher_charges, self.teacher_charges)

    @program
    def gradient(self, point: jax.Array) -> jax.Array:
        r"""Return dF, of the point's shape.

        .. math:: \partial F/\partial w_i = a_i \sum_j q_j\,\partial_1\Phi(w_i, u_j), \qquad
            \partial F/\partial a_i = \sum_j q_j\,\Phi(w_i, u_j) + \rho\,a_i

        over all charges :math:`(q_j, u_j)`, the neuron itself included (half the derivative of
        :math:`\Phi(w_i, w_i)` is :math:`\partial_1\Phi`).
        """
        places, charges = self.split(point)
        own, other = self._pairs(places)
        slope = charges[..., None] * (own.force(charges) + other.force(self._fixed))
        if not self.trainable_output:
            return slope
        field = jnp.sum(own.values() * charges[..., None, :], -1)
        field = field + jnp.sum(other.values() * self._fixed[..., None, :], -1)
        return self.join(slope, field + self.regularisation * charges if self.regularisation else field)

    @program
    def hessian(self, point: jax.Array) -> jax.Array:
        r"""Return the Hessian (..., N, N), N = n d or n (d + 1), rows ordered by neuron and then coordinate.

        Block (i, j) is :math:`a_i a_j \partial_1\partial_2\Phi(w_i, w_j)`, and block (i, i) adds
        :math:`a_i \sum_{j \ne i} q_j\,\partial_1^2\Phi(w_i, u_j)` to :math:`a_i^2 (\partial_1^2 + \partial_1\partial_2)
        \Phi(w_i, w_i)`. Of learned output weights, :math:`\partial^2 F/\partial a_i \partial a_j = \Phi(w_i, w_j) + [i = j]
        \rho` and :math:`\partial^2 F/\partial w_i \partial a_j = a_i\,\partial_1\Phi(w_i, w_j) + [i = j] \sum_l q_l\,
        \partial_1\Phi(w_i, u_l)`.
        """
        places, charges = self.split(point)
        n, batch = self.students, places.shape[:-2]
        everyone = self._everyone(places)[..., None, :, :]
        same, mixed = self.potential.second_derivatives(places[..., :, None, :], everyone)
        diagonal = jnp.einsum("...i,...j,...ijab->...iab", charges, self._all_charges(charges), same)
        factor = charges[..., :, None] * charges[..., None, :]
        blocks = factor[..., None, None] * mixed[..., :n, :, :]
        blocks = blocks + jnp.eye(n)[:, :, None, None] * diagonal[..., :, None, :, :]
        if self.trainable_output:
            blocks = self._with_output_rows(places, charges, blocks)
        size = self.shape[0] * self.shape[1]
        return jnp.swapaxes(blocks, -3, -2).reshape(*batch, size, size)

    def _penalised(self, values: jax.Array) -> jax.Array:
        """Return the second derivatives by output weights (..., n, n) from the values of their pairs."""
        return values + self.regularisation * jnp.eye(values.shape[-1]) if self.regularisation else values

    def _with_output_rows(self, places: jax.Array, charges: jax.Array, blocks: jax.Array) -> jax.Array:
        """Return blocks (..., n, n, d + 1, d + 1) from (..., n, n, d, d): add the derivatives by output weights."""
        own, other = self._pairs(places)
        identity = jnp.eye(self.students)
        force = own.force(charges) + other.force(self._fixed)
        cross = charges[..., :, None, None] * own.slopes() + identity[:, :, None] * force[..., :, None, :]
        values = self._penalised(own.values())
        below = jnp.concatenate([jnp.swapaxes(cross, -3, -2), values[..., None]], -1)[..., None, :]
        return jnp.concatenate([jnp.concatenate([blocks, cross[..., None]], -1), below], -2)

    # ---- the field, and one charge more ------------------------------------------------------------------------

    @program
    def field(self, places: jax.Array) -> tuple[jax.Array, jax.Array]:
        r"""Return :math:`S(w) = \sum_j b_j\,\Phi(w, v_j)` and its gradient at places (..., m, d).

        For one student at w the best output weight is S(w), or :math:`S(w)/(1 + \rho)` with regularisation, if
        :math:`\Phi(w, w) = 1`.
        """
        other = self.potential.pairs(self.potential.place(places), self._placed_teacher())
        value = jnp.sum(other.values() * self.teacher_charges[..., None, :], -1)
        return value, other.force(self.teacher_charges)

    @program
    def velocity(self, point: jax.Array) -> jax.Array:
        r"""Return the velocities (..., n, d) of charges that follow the forces on them,

        .. math:: \frac{dw_i}{dt} = -\sum_{j\ne i} a_i a_j \nabla_{w_i}\Phi(w_i, w_j) + \sum_j a_i b_j \nabla_{w_i}\Phi(w_i, v_j) ,

        gradient flow on F in the places (docs/errata.md says where the paper's factor differs).
        Reference: Panigrahy et al. (2018), Definition 4 and Theorem 5.
        """
        places, charges = self.split(point)
        everyone = self.potential.pairs(self.potential.place(places), self.potential.place(self._everyone(places)))
        return -charges[..., None] * everyone.force(self._all_charges(charges))

    @program
    def best_charges(self, places: jax.Array, placed: jax.Array | None = None) -> jax.Array:
        r"""Return the output weights (..., n) that minimise F at these places: :math:`(\Phi_{ww} + \rho I)\,a = \Phi_{wv}\,b`.

        Where ``placed`` (..., n) is given, the other charges are 0.
        """
        use = jnp.ones(places.shape[:-1], dtype=bool) if placed is None else placed
        own, other = self._pairs(places)
        matrix = self._penalised(own.values())
        matrix = jnp.where(use[..., :, None] & use[..., None, :], matrix, jnp.eye(places.shape[-2]))
        pull = jnp.sum(other.values() * self.teacher_charges[..., None, :], -1)
        return jnp.linalg.solve(matrix, jnp.where(use, pull, 0.0)[..., None])[..., 0]

    def node(self, places: jax.Array, charges: jax.Array) -> Self:
        """Return the energy of one more charge, to be learned, all at hand (..., n) held fixed beside the teacher."""
        lanes = places.shape[:-2]
        fixed = jnp.broadcast_to(self._fixed, (*lanes, self.teacher.shape[-2]))
        teacher = jnp.broadcast_to(self.teacher, (*lanes, *self.teacher.shape[-2:]))
        return dataclasses.replace(
            self,
            teacher=jnp.concatenate([teacher, places], -2),
            charges=jnp.concatenate([jnp.ones((*lanes, 1)), fixed, charges], -1),
            trainable_output=True,
        )
