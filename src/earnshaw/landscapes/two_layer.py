"""The exact population risk of a two-layer student against a two-layer teacher: the energy of a system of charges."""

from __future__ import annotations

import dataclasses
import functools
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.errors import InputError
from earnshaw.landscapes.base import Landscape
from earnshaw.numerics.program import program
from earnshaw.potentials import Potential, Series, measure, potential
from earnshaw.problems import Activation, TwoLayer


def _potential_for(problem: TwoLayer) -> Potential:
    """Return the potential of a problem's activation; a series of a degree that suits the teacher's norms, with room."""
    phi = potential(problem.activation)
    if not isinstance(phi, Series):
        return phi
    norms = np.linalg.norm(problem.teacher, axis=1)
    phi = phi.fitted(1.5 * max(1.0, float(norms.max())))
    phi.warn(norms)
    return phi


class _Group(NamedTuple):
    """The pairs of all students with m charges.

    Their features (..., 1, m), the products (..., n, m) that the potential wants (cosines, or products of the weights),
    the charges (..., m), and the vectors (..., m, d), None for the first m coordinate vectors.
    """

    features: Any
    products: jax.Array
    charges: jax.Array
    vectors: jax.Array | None


def _spread(features: Any, axis: int) -> Any:
    """Return features with an axis more, along which they will be paired."""
    return jax.tree.map(lambda feature: jnp.expand_dims(feature, axis), features)


@functools.partial(
    jax.tree_util.register_dataclass,
    data_fields=("teacher", "charges"),
    meta_fields=("activation", "potential", "trainable_output", "realisable", "coordinates"),
)
@dataclass(frozen=True)
class TwoLayerLandscape(Landscape):
    r"""Energy of moving charges a_i at w_i and fixed charges -b_j at v_j under the potential of the activation,

    .. math::
        F(W) = \tfrac12\sum_{ij} a_i a_j\,\Phi(w_i, w_j) - \sum_{ij} a_i b_j\,\Phi(w_i, v_j) + \tfrac12\sum_{ij} b_i b_j\,\Phi(v_i, v_j).

    A point holds the student's weights (..., n, d), neurons as rows; with trainable output weights a last column holds
    the charges, (..., n, d + 1). Every method takes any leading batch axes. The object is a JAX pytree: jit and vmap see
    the teacher as data, so another teacher of the same shape compiles nothing.

    Reference: Panigrahy et al. (2018), section 2; Safran & Shamir (2018), equations (6)-(10).
    """

    teacher: jax.Array
    charges: jax.Array  # (n + k,): the moving charges a_i (ones where they are learned), then the fixed ones -b_j
    activation: Activation
    potential: Potential
    trainable_output: bool = False
    realisable: bool = False
    coordinates: bool = False  # the teacher's neurons are the first coordinate vectors: products with them cost nothing

    @classmethod
    def of(cls, problem: TwoLayer) -> TwoLayerLandscape:
        """Return the landscape of a problem; warn when a user's activation cannot be computed well at the teacher's norms."""
        ones = np.ones
        student = ones(problem.students) if problem.student_output_weights is None else problem.student_output_weights
        teacher = ones(problem.teachers) if problem.output_weights is None else problem.output_weights
        return cls(
            jnp.asarray(problem.teacher),
            jnp.asarray(np.concatenate([student, -teacher])),
            problem.activation,
            _potential_for(problem),
            problem.trainable_output,
            problem.is_realisable,
            np.array_equal(problem.teacher, np.eye(*problem.teacher.shape)),
        )

    @property
    def students(self) -> int:
        """Number n of student neurons."""
        return self.charges.shape[0] - self.teacher.shape[0]

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of one point: (n, d), or (n, d + 1) with trainable output weights."""
        return self.students, self.teacher.shape[1] + self.trainable_output

    @property
    def global_value(self) -> float | None:
        """0 when the student can equal the teacher, else None: not known."""
        return 0.0 if self.realisable else None

    @property
    def gauge(self) -> int:
        """The number of directions along which the loss is constant at every point; see :meth:`standard`."""
        degree = self.activation.homogeneous
        return self.students if degree == 0 or (self.trainable_output and degree is not None) else 0

    @property
    def student_charges(self) -> jax.Array:
        """The fixed output weights a_i of the student (n,)."""
        return self.charges[: self.students]

    @property
    def teacher_charges(self) -> jax.Array:
        """The output weights b_j of the teacher (k,)."""
        return -self.charges[self.students :]

    def point(self, weights: np.ndarray | jax.Array) -> jax.Array:
        """Return a validated point; wrong shapes, NaN and zero neurons raise :class:`InputError`."""
        array = np.asarray(weights, dtype=np.float64)
        if array.shape[-2:] != self.shape:
            raise InputError(
                f"student weights have shape {array.shape}; this problem needs (..., {self.shape[0]}, {self.shape[1]})"
                + (", output weights in the last column" if self.trainable_output else "")
            )
        if not np.isfinite(array).all():
            raise InputError("student weights hold NaN or infinite entries; all must be finite")
        if self.potential.polar and not np.any(array[..., : self.teacher.shape[1]], axis=-1).all():
            raise InputError("a student neuron is exactly 0, where the loss is not differentiable; move it")
        return jnp.asarray(array)

    def stated_error(self, point: np.ndarray | jax.Array) -> float:
        """Return the largest stated error of the potential at the norms of a point; warn when it is above 1e-8 of Phi.

        Closed forms and mixtures are right to rounding or a few 1e-12 at any norm, and 0 is returned.
        """
        if not isinstance(self.potential, Series):
            return 0.0
        weights, _ = self.split(jnp.asarray(point))
        return self.potential.warn(np.linalg.norm(np.asarray(weights), axis=-1))

    def padded(self, points: jax.Array | np.ndarray, multiple: int) -> tuple[TwoLayerLandscape, jax.Array | np.ndarray]:
        """Return a landscape with n, k and d rounded up to multiples of this, and these points (lanes, n, d) in it.

        A padded neuron has charge 0, so that nobody notices it; a padded dimension adds the eigenvalues of
        :meth:`extra_dimension`, which lie between those that are there. Only ReLU with fixed output weights is padded.
        """
        if self.activation.kind != "relu" or self.trainable_output:
            return self, points
        (n, d), k = self.shape, self.teacher.shape[0]
        students, teachers, dimension = (-(-size // multiple) * multiple for size in (n, k, d))
        if (students, teachers, dimension) == (n, k, d):
            return self, points
        teacher, charges, known = np.eye(teachers, dimension), np.zeros(students + teachers), np.asarray(self.charges)
        teacher[dimension:, 0] = 1.0  # any unit vector, where there is no further coordinate
        teacher[:k] = 0.0
        teacher[:k, :d] = self.teacher
        charges[:n], charges[students : students + k] = known[:n], known[n:]
        points, room = np.asarray(points), np.zeros((len(points), students, dimension))
        room[:, :n, :d] = points
        room[:, n:, 0] = np.linalg.norm(points, axis=-1).max(axis=-1, keepdims=True)
        wide = dataclasses.replace(
            self,
            teacher=jnp.asarray(teacher),
            charges=jnp.asarray(charges),
            coordinates=self.coordinates and teachers <= dimension,
        )
        return wide, jnp.asarray(room)

    def standard(self, point: jax.Array) -> jax.Array:
        r"""Return the point moved along the directions that change nothing to a standard place, for comparing points.

        A neuron of a positively homogeneous activation, :math:`\sigma(rx) = r^p\sigma(x)`, computes the same with
        :math:`(a/r^p, r w)`: with trainable output weights it is scaled to :math:`|a| = 1` (p > 0; where a = 0 it stays),
        or to :math:`|w| = 1` (p = 0, with fixed ones too). If sigma is odd, :math:`(-a, -w)` computes the same too, and a is
        made positive.
        """
        weights, charges = self.split(point)
        sigma = self.activation
        if sigma.homogeneous == 0:
            norms = jnp.linalg.norm(weights, axis=-1, keepdims=True)
            weights = weights / jnp.where(norms > 0, norms, 1.0)
        if not self.trainable_output:
            return weights
        if sigma.homogeneous:
            size = jnp.where(charges == 0, 1.0, jnp.abs(charges))
            weights, charges = weights * size[..., None] ** (1.0 / sigma.homogeneous), charges / size
        if sigma.odd:
            sign = jnp.where(charges < 0, -1.0, 1.0)
            weights, charges = weights * sign[..., None], charges * sign
        return jnp.concatenate([weights, charges[..., None]], -1)

    def neurons(self, point: jax.Array) -> jax.Array:
        """Return the weights (..., n, d), output weights left out."""
        return self.split(point)[0]

    # ---- sums over pairs ---------------------------------------------------------------------------------------

    def split(self, point: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return the weights (..., n, d) and the output weights, (n,) fixed or (..., n) learned."""
        if not self.trainable_output:
            return point, self.student_charges
        return point[..., :-1], point[..., -1]

    def _all_charges(self, charges: jax.Array) -> jax.Array:
        """Return all charges, (n + k,) fixed or (..., n + k) with those of the student learned."""
        if not self.trainable_output:
            return self.charges
        fixed = self.charges[self.students :]
        return jnp.concatenate([charges, jnp.broadcast_to(fixed, (*charges.shape[:-1], *fixed.shape))], -1)

    def _everyone(self, weights: jax.Array) -> jax.Array:
        """Return the weights (..., n + k, d) of all charges, students first."""
        fixed = jnp.broadcast_to(self.teacher, (*weights.shape[:-2], *self.teacher.shape))
        return jnp.concatenate([weights, fixed], -2)

    def _groups(self, weights: jax.Array, charges: jax.Array) -> tuple[Any, jax.Array, _Group, _Group]:
        """Return the students' features (..., n, 1) and vectors (..., n, d), and their pairs with each of two groups.

        The groups are the moving and the fixed charges. The vectors are those that the potential's gradient combines:
        unit vectors, or the weights. A neuron with itself is exactly parallel.
        """
        sizes, vectors = measure(self.potential, weights)
        features = self.potential.prepare(sizes)
        products = jnp.matmul(vectors, jnp.swapaxes(vectors, -1, -2))
        same = 1.0 if self.potential.polar else sizes[..., None]
        products = jnp.where(jnp.eye(self.students, dtype=bool), same, products)
        moving = _Group(_spread(features, -2), products, charges, vectors)

        sizes, anchors = measure(self.potential, self.teacher)
        k = self.teacher.shape[0]
        everywhere = None if self.coordinates else jnp.broadcast_to(anchors, (*weights.shape[:-2], *anchors.shape))
        products = vectors[..., :k] if everywhere is None else jnp.matmul(vectors, jnp.swapaxes(everywhere, -1, -2))
        fixed = _Group(_spread(self.potential.prepare(sizes), -2), products, self.charges[-k:], everywhere)
        return _spread(features, -1), vectors, moving, fixed

    def _force(self, students: Any, vectors: jax.Array, group: _Group) -> jax.Array:
        r"""Return :math:`\sum_j q_j\,\partial_1\Phi(w_i, u_j)` over the charges of a group, (..., n, d)."""
        along, toward = self.potential.gradient(students, group.features, group.products)
        charges = group.charges[..., None, :]
        toward = toward * charges
        if group.vectors is None:
            spare = vectors.shape[-1] - toward.shape[-1]
            pull = jnp.pad(toward, [(0, 0)] * (toward.ndim - 1) + [(0, spare)])
        else:
            pull = jnp.matmul(toward, group.vectors)
        return jnp.sum(along * charges, -1)[..., None] * vectors + pull

    @program
    def value(self, point: jax.Array) -> jax.Array:
        """Return F, shape (...)."""
        weights, charges = self.split(point)
        students, _, moving, fixed = self._groups(weights, charges)
        return (
            0.5 * self._energy(students, charges, moving)
            + self._energy(students, charges, fixed)
            + self._teacher_energy()
        )

    def _energy(self, students: Any, charges: jax.Array, group: _Group) -> jax.Array:
        r"""Return :math:`\sum_{ij} a_i q_j\,\Phi(w_i, u_j)` over the charges of a group, (...)."""
        pairs = self.potential.value(students, group.features, group.products)
        return jnp.einsum("...ij,...i,...j->...", pairs, charges, group.charges)

    def _teacher_energy(self) -> jax.Array:
        sizes, vectors = measure(self.potential, self.teacher)
        same = 1.0 if self.potential.polar else sizes[:, None]
        products = jnp.where(jnp.eye(len(sizes), dtype=bool), same, vectors @ vectors.T)
        features = self.potential.prepare(sizes)
        rows = jax.tree.map(lambda feature: feature[..., :, None], features)
        columns = jax.tree.map(lambda feature: feature[..., None, :], features)
        pairs = self.potential.value(rows, columns, products)
        return 0.5 * jnp.einsum("ij,i,j->", pairs, self.teacher_charges, self.teacher_charges)

    @program
    def gradient(self, point: jax.Array) -> jax.Array:
        r"""Return dF/dW, of the point's shape.

        .. math:: \partial F/\partial w_i = a_i \sum_j q_j\,\partial_1\Phi(w_i, u_j), \qquad
            \partial F/\partial a_i = \sum_j q_j\,\Phi(w_i, u_j)

        over all charges :math:`(q_j, u_j)`, the neuron itself included (half the derivative of
        :math:`\Phi(w_i, w_i)` is :math:`\partial_1\Phi`).
        """
        weights, charges = self.split(point)
        students, vectors, moving, fixed = self._groups(weights, charges)
        force = self._force(students, vectors, moving) + self._force(students, vectors, fixed)
        slope = charges[..., None] * force
        if not self.trainable_output:
            return slope
        field = sum(
            jnp.sum(self.potential.value(students, group.features, group.products) * group.charges[..., None, :], -1)
            for group in (moving, fixed)
        )
        return jnp.concatenate([slope, jnp.asarray(field)[..., None]], -1)

    # ---- through a sample ---------------------------------------------------------------------------------------

    def draw(self, key: jax.Array, samples: int) -> jax.Array:
        """Return fresh inputs (samples, d) from N(0, I)."""
        return jax.random.normal(key, (samples, self.teacher.shape[1]))

    def sampled_losses(self, point: jax.Array, sample: jax.Array) -> jax.Array:
        """Return the half squared error of one point at each of the inputs (samples, d)."""
        weights, charges = self.split(point)
        sigma = self.potential.activation
        student = sigma(sample @ weights.T) @ charges
        teacher = sigma(sample @ self.teacher.T) @ self.teacher_charges
        return 0.5 * (student - teacher) ** 2

    def sampled_value(self, point: jax.Array, sample: jax.Array) -> jax.Array:
        """Return the mean loss of one point on these inputs; its mean over samples is the exact value."""
        return jnp.mean(self.sampled_losses(point, sample))

    # ---- second derivatives -------------------------------------------------------------------------------------

    @program
    def hessian_vector(self, point: jax.Array, direction: jax.Array) -> jax.Array:
        """Return the Hessian applied to a direction of the point's shape, without forming it."""
        return jax.jvp(self.gradient, (point,), (direction,))[1]

    @program
    def hessian(self, point: jax.Array) -> jax.Array:
        r"""Return the Hessian (..., N, N), N = n d or n (d + 1), rows ordered by neuron and then coordinate.

        Block (i, j) is :math:`a_i a_j \partial_1\partial_2\Phi(w_i, w_j)`, and block (i, i) adds
        :math:`a_i \sum_{j \ne i} q_j\,\partial_1^2\Phi(w_i, u_j)` to :math:`a_i^2 (\partial_1^2 + \partial_1\partial_2)
        \Phi(w_i, w_i)`. Of learned output weights, :math:`\partial^2 F/\partial a_i \partial a_j = \Phi(w_i, w_j)` and
        :math:`\partial^2 F/\partial w_i \partial a_j = a_i\,\partial_1\Phi(w_i, w_j) + [i = j] \sum_l q_l\,
        \partial_1\Phi(w_i, u_l)`.
        """
        weights, charges = self.split(point)
        n, batch = self.students, weights.shape[:-2]
        same, mixed = self.potential.second_derivatives(
            weights[..., :, None, :], self._everyone(weights)[..., None, :, :]
        )
        diagonal = jnp.einsum("...i,...j,...ijab->...iab", charges, self._all_charges(charges), same)
        factor = charges[..., :, None] * charges[..., None, :]
        blocks = factor[..., None, None] * mixed[..., :n, :, :]
        blocks = blocks + jnp.eye(n)[:, :, None, None] * diagonal[..., :, None, :, :]
        if self.trainable_output:
            blocks = self._with_output_rows(weights, charges, blocks)
        size = self.shape[0] * self.shape[1]
        return jnp.swapaxes(blocks, -3, -2).reshape(*batch, size, size)

    def _with_output_rows(self, weights: jax.Array, charges: jax.Array, blocks: jax.Array) -> jax.Array:
        """Return blocks (..., n, n, d + 1, d + 1) from (..., n, n, d, d): add the derivatives by output weights."""
        n = self.students
        students, vectors, moving, fixed = self._groups(weights, charges)
        along, toward = self.potential.gradient(students, moving.features, moving.products)
        slopes = along[..., None] * vectors[..., :, None, :] + toward[..., None] * vectors[..., None, :, :]
        force = self._force(students, vectors, moving) + self._force(students, vectors, fixed)
        cross = charges[..., :, None, None] * slopes + jnp.eye(n)[:, :, None] * force[..., :, None, :]
        values = self.potential.value(students, moving.features, moving.products)
        below = jnp.concatenate([jnp.swapaxes(cross, -3, -2), values[..., None]], -1)[..., None, :]
        return jnp.concatenate([jnp.concatenate([blocks, cross[..., None]], -1), below], -2)

    @program
    def extra_dimension(self, point: jax.Array) -> jax.Array:
        r"""Return the matrix M (..., n, n): what the Hessian gains, as a block, for each dimension added.

        Padding all weights with a zero coordinate leaves the gradient as it is, and along the new coordinate e

        .. math:: M_{ij} = a_i a_j\, e^T\partial_1\partial_2\Phi(w_i, w_j)\, e \quad (i \ne j), \qquad
            M_{ii} = a_i^2\, e^T\partial_1\partial_2\Phi(w_i, w_i)\, e + a_i \sum_j q_j\, e^T\partial_1^2\Phi(w_i, u_j)\, e .

        Like the Hessian it does not go through the cosine, which would cost 1e-9 next to a parallel pair.
        Reference: Safran & Shamir (2018), Corollary 1.
        """
        weights, charges = self.split(point)
        n = self.students
        everyone = self._everyone(weights)
        everyone = jnp.concatenate([everyone, jnp.zeros((*everyone.shape[:-1], 1))], -1)
        same, mixed = self.potential.second_derivatives(everyone[..., :n, None, :], everyone[..., None, :, :])
        diagonal = charges * jnp.sum(same[..., -1, -1] * self._all_charges(charges)[..., None, :], -1)
        mixed = charges[..., :, None] * charges[..., None, :] * mixed[..., :n, -1, -1]
        return mixed + jnp.eye(n) * diagonal[..., :, None]

    @functools.partial(jax.jit, inline=True, static_argnames="extra_dimension")
    def spectrum(self, point: jax.Array, extra_dimension: bool = False) -> jax.Array:
        """Return the Hessian's eigenvalues in ascending order; with ``extra_dimension``, those in R^(d+1)."""
        eigenvalues = jnp.linalg.eigvalsh(self.hessian(point))
        if not extra_dimension:
            return eigenvalues
        return jnp.sort(jnp.concatenate([eigenvalues, jnp.linalg.eigvalsh(self.extra_dimension(point))], -1), -1)

    @program
    def hessian_lipschitz(self, point: jax.Array, radius: jax.Array) -> jax.Array:
        r"""Return a Lipschitz constant of the Hessian on the ball of this radius; inf if it reaches a zero neuron.

        Known for ReLU with fixed output weights only; NaN, for unknown, with anything else.
        With :math:`\rho_i = |w_i| - R`,

        .. math::
            A_i = \frac{3\sqrt3}{4\pi\rho_i^2}\Big(\sum_{j\ne i} |a_i a_j| (|w_j| + R) + \sum_j |a_i b_j||v_j|\Big), \qquad
            B_i = \frac{3\sqrt{n-1}}{\pi\rho_i} \max|a|^2, \qquad L = \max_i \sqrt{A_i^2 + B_i^2}.

        The float twin of the bound that the proofs use; docs/certificates.md derives it.
        """
        if self.activation.kind != "relu" or self.trainable_output:
            return jnp.full(point.shape[:-2], jnp.nan)
        charges = jnp.abs(self.student_charges)
        norms = jnp.linalg.norm(point, axis=-1)
        radius = jnp.asarray(radius)[..., None]
        reach = charges * (norms + radius)
        fixed = jnp.sum(jnp.abs(self.teacher_charges) * jnp.linalg.norm(self.teacher, axis=-1))
        others = jnp.sum(reach, -1, keepdims=True) - reach + fixed
        room = norms - radius
        safe = jnp.where(room > 0, room, 1.0)
        first = 3 * math.sqrt(3) / (4 * math.pi) * charges * others / safe**2
        second = 3 * math.sqrt(self.shape[0] - 1) / math.pi * jnp.max(charges) ** 2 / safe
        return jnp.max(jnp.where(room > 0, jnp.hypot(first, second), jnp.inf), -1)
