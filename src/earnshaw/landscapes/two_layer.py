"""The exact population risk of a two-layer student against a two-layer teacher: the energy of a system of charges."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.errors import InputError
from earnshaw.potentials import POTENTIALS, Potential
from earnshaw.problems import TwoLayer

# Called by itself, a method is one program instead of a hundred small ones, each compiled apart; called inside another
# program it melts into it and changes nothing there.
_program = functools.partial(jax.jit, inline=True)


@functools.partial(jax.tree_util.register_dataclass, data_fields=("teacher", "charges"), meta_fields=("activation",))
@dataclass(frozen=True)
class TwoLayerLandscape:
    r"""Energy of moving charges a_i at w_i and fixed charges -b_j at v_j under the potential of the activation,

    .. math::
        F(W) = \tfrac12\sum_{ij} a_i a_j\,\Phi(w_i, w_j) - \sum_{ij} a_i b_j\,\Phi(w_i, v_j) + \tfrac12\sum_{ij} b_i b_j\,\Phi(v_i, v_j).

    Parameters are the student's weights (..., n, d), neurons as rows; every method takes any leading batch axes. The
    object is a JAX pytree: jit and vmap see the teacher as data, so another teacher of the same shape compiles nothing.

    Reference: Panigrahy et al. (2018), section 2; Safran & Shamir (2018), equations (6)-(10).
    """

    teacher: jax.Array
    charges: jax.Array  # (n + k,): the moving charges a_i, then the fixed ones -b_j
    activation: str

    @classmethod
    def of(cls, problem: TwoLayer) -> TwoLayerLandscape:
        """Return the landscape of a problem."""
        ones = np.ones
        student = ones(problem.students) if problem.student_output_weights is None else problem.student_output_weights
        teacher = ones(problem.teachers) if problem.output_weights is None else problem.output_weights
        return cls(jnp.asarray(problem.teacher), jnp.asarray(np.concatenate([student, -teacher])), problem.activation)

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (n, d) of one point."""
        return self.charges.shape[0] - self.teacher.shape[0], self.teacher.shape[1]

    @property
    def student_charges(self) -> jax.Array:
        """The output weights a_i of the student (n,)."""
        return self.charges[: self.shape[0]]

    @property
    def teacher_charges(self) -> jax.Array:
        """The output weights b_j of the teacher (k,)."""
        return -self.charges[self.shape[0] :]

    @property
    def potential(self) -> Potential:
        """The potential of the activation."""
        return POTENTIALS[self.activation]

    def point(self, weights: np.ndarray | jax.Array) -> jax.Array:
        """Return validated student weights; wrong shapes, NaN and zero neurons raise :class:`InputError`."""
        array = np.asarray(weights, dtype=np.float64)
        if array.shape[-2:] != self.shape:
            raise InputError(
                f"student weights have shape {array.shape}; this problem needs (..., {self.shape[0]}, {self.shape[1]})"
            )
        if not np.isfinite(array).all():
            raise InputError("student weights hold NaN or infinite entries; all must be finite")
        if not np.any(array, axis=-1).all():
            raise InputError("a student neuron is exactly 0, where the loss is not differentiable; move it")
        return jnp.asarray(array)

    # ---- sums over pairs ---------------------------------------------------------------------------------------

    def _everyone(self, weights: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return norms (..., n + k) and unit vectors (..., n + k, d) of all charges, students first."""
        fixed = jnp.broadcast_to(self.teacher, (*weights.shape[:-2], *self.teacher.shape))
        everyone = jnp.concatenate([weights, fixed], -2)
        norms = jnp.sqrt(jnp.sum(everyone * everyone, -1))
        return norms, everyone / norms[..., None]

    def _cosines(self, units: jax.Array) -> jax.Array:
        """Return the cosines (..., n, n + k) of students against all; exactly 1 for a neuron with itself."""
        n, total = self.shape[0], units.shape[-2]
        cosines = jnp.matmul(units[..., :n, :], jnp.swapaxes(units, -1, -2))
        return jnp.where(jnp.eye(n, total, dtype=bool), 1.0, cosines)

    @_program
    def value(self, weights: jax.Array) -> jax.Array:
        """Return F, shape (...)."""
        n = self.shape[0]
        norms, units = self._everyone(weights)
        pairs = self.potential.value(norms[..., :n, None], norms[..., None, :], self._cosines(units))
        factor = jnp.where(jnp.arange(self.charges.shape[0]) < n, 0.5, 1.0) * self.charges
        moving = jnp.einsum("...ij,i,j->...", pairs, self.student_charges, factor)
        return moving + self._teacher_energy()

    def _teacher_energy(self) -> jax.Array:
        norms = jnp.sqrt(jnp.sum(self.teacher * self.teacher, -1))
        units = self.teacher / norms[:, None]
        cosines = jnp.where(jnp.eye(len(norms), dtype=bool), 1.0, units @ units.T)
        pairs = self.potential.value(norms[:, None], norms[None, :], cosines)
        return 0.5 * jnp.einsum("ij,i,j->", pairs, self.teacher_charges, self.teacher_charges)

    @_program
    def gradient(self, weights: jax.Array) -> jax.Array:
        r"""Return dF/dW, shape (..., n, d).

        .. math:: \partial F/\partial w_i = a_i \sum_j q_j\,\partial_1\Phi(w_i, u_j)

        over all charges :math:`(q_j, u_j)`, the neuron itself included (half the derivative of
        :math:`\Phi(w_i, w_i)` is :math:`\partial_1\Phi`).
        """
        n = self.shape[0]
        norms, units = self._everyone(weights)
        along, toward = self.potential.gradient(norms[..., :n, None], norms[..., None, :], self._cosines(units))
        radial = jnp.sum(along * self.charges, -1)
        pull = jnp.matmul(toward * self.charges, units)
        return self.student_charges[:, None] * (radial[..., None] * units[..., :n, :] + pull)

    @_program
    def hessian_vector(self, weights: jax.Array, direction: jax.Array) -> jax.Array:
        """Return the Hessian applied to a direction (..., n, d), without forming it."""
        return jax.jvp(self.gradient, (weights,), (direction,))[1]

    @_program
    def hessian(self, weights: jax.Array) -> jax.Array:
        r"""Return the Hessian (..., n d, n d), rows ordered by neuron and then coordinate.

        Block (i, j) is :math:`a_i a_j \partial_1\partial_2\Phi(w_i, w_j)`, and block (i, i) adds
        :math:`a_i \sum_{j \ne i} q_j\,\partial_1^2\Phi(w_i, u_j)` to :math:`a_i^2 (\partial_1^2 + \partial_1\partial_2)
        \Phi(w_i, w_i)`.
        """
        n, d = self.shape
        batch = weights.shape[:-2]
        everyone = jnp.concatenate([weights, jnp.broadcast_to(self.teacher, (*batch, *self.teacher.shape))], -2)
        same, mixed = self.potential.second_derivatives(weights[..., :, None, :], everyone[..., None, :, :])
        diagonal = jnp.einsum("i,j,...ijab->...iab", self.student_charges, self.charges, same)
        blocks = self.student_charges[:, None, None, None] * self.student_charges[:, None, None] * mixed[..., :n, :, :]
        blocks = blocks + jnp.eye(n)[:, :, None, None] * diagonal[..., :, None, :, :]
        return jnp.swapaxes(blocks, -3, -2).reshape(*batch, n * d, n * d)

    @_program
    def extra_dimension(self, weights: jax.Array) -> jax.Array:
        r"""Return the matrix M (..., n, n): what the Hessian gains, as a block, for each dimension added.

        Padding all weights with a zero coordinate leaves the gradient as it is, and along the new coordinate e

        .. math:: M_{ij} = a_i a_j\, e^T\partial_1\partial_2\Phi(w_i, w_j)\, e \quad (i \ne j), \qquad
            M_{ii} = a_i^2\, e^T\partial_1\partial_2\Phi(w_i, w_i)\, e + a_i \sum_j q_j\, e^T\partial_1^2\Phi(w_i, u_j)\, e .

        Like the Hessian it does not go through the cosine, which would cost 1e-9 next to a parallel pair.
        Reference: Safran & Shamir (2018), Corollary 1.
        """
        n = self.shape[0]
        fixed = jnp.broadcast_to(self.teacher, (*weights.shape[:-2], *self.teacher.shape))
        everyone = jnp.concatenate([weights, fixed], -2)
        everyone = jnp.concatenate([everyone, jnp.zeros((*everyone.shape[:-1], 1))], -1)
        same, mixed = self.potential.second_derivatives(everyone[..., :n, None, :], everyone[..., None, :, :])
        diagonal = self.student_charges * jnp.sum(same[..., -1, -1] * self.charges, -1)
        mixed = self.student_charges[:, None] * self.student_charges * mixed[..., :n, -1, -1]
        return mixed + jnp.eye(n) * diagonal[..., :, None]

    @functools.partial(_program, static_argnames="extra_dimension")
    def spectrum(self, weights: jax.Array, extra_dimension: bool = False) -> jax.Array:
        """Return the Hessian's eigenvalues in ascending order; with ``extra_dimension``, those in R^(d+1)."""
        eigenvalues = jnp.linalg.eigvalsh(self.hessian(weights))
        if not extra_dimension:
            return eigenvalues
        return jnp.sort(jnp.concatenate([eigenvalues, jnp.linalg.eigvalsh(self.extra_dimension(weights))], -1), -1)

    @_program
    def hessian_lipschitz(self, weights: jax.Array, radius: jax.Array) -> jax.Array:
        r"""Return a Lipschitz constant of the Hessian on the ball of this radius (ReLU only; inf if it reaches a zero neuron).

        With :math:`\rho_i = |w_i| - R`,

        .. math::
            A_i = \frac{3\sqrt3}{4\pi\rho_i^2}\Big(\sum_{j\ne i} |a_i a_j| (|w_j| + R) + \sum_j |a_i b_j||v_j|\Big), \qquad
            B_i = \frac{3\sqrt{n-1}}{\pi\rho_i} \max|a|^2, \qquad L = \max_i \sqrt{A_i^2 + B_i^2}.

        The float twin of the bound that the proofs use; docs/certificates.md derives it.
        """
        charges = jnp.abs(self.student_charges)
        norms = jnp.linalg.norm(weights, axis=-1)
        radius = jnp.asarray(radius)[..., None]
        reach = charges * (norms + radius)
        fixed = jnp.sum(jnp.abs(self.teacher_charges) * jnp.linalg.norm(self.teacher, axis=-1))
        others = jnp.sum(reach, -1, keepdims=True) - reach + fixed
        room = norms - radius
        safe = jnp.where(room > 0, room, 1.0)
        first = 3 * math.sqrt(3) / (4 * math.pi) * charges * others / safe**2
        second = 3 * math.sqrt(self.shape[0] - 1) / math.pi * jnp.max(charges) ** 2 / safe
        return jnp.max(jnp.where(room > 0, jnp.hypot(first, second), jnp.inf), -1)
