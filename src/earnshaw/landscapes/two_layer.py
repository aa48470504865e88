"""The exact population risk of a two-layer student against a two-layer teacher: the energy of a system of charges."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.errors import InputError
from earnshaw.landscapes.energy import PairEnergy, pytree
from earnshaw.numerics.compiling import program
from earnshaw.potentials import Invariant, Series, potential
from earnshaw.problems import Activation, TwoLayer


def _potential_for(problem: TwoLayer) -> Invariant:
    """Return the potential of a problem's activation; a series of a degree that suits the teacher's norms, with room."""
    phi = potential(problem.activation)
    if not isinstance(phi, Series):
        return phi
    norms = np.linalg.norm(problem.teacher, axis=1)
    phi = phi.fitted(1.5 * max(1.0, float(norms.max())))
    phi.warn(norms)
    return phi


@pytree
@dataclass(frozen=True)
class TwoLayerLandscape(PairEnergy):
    r"""The exact population risk of a two-layer problem, :math:`F(W) = \tfrac12 E[(\text{student} - \text{teacher})^2]`.

    The energy of charges under the potential of the activation. A point holds the student's weights, neurons as rows.

    Reference: Panigrahy et al. (2018), section 2; Safran & Shamir (2018), equations (6)-(10).
    """

    potential: Invariant
    activation: Activation = dataclasses.field(kw_only=True)
    coordinates: bool = False  # the teacher's neurons are the first coordinate vectors: products with them cost nothing

    @classmethod
    def of(cls, problem: TwoLayer) -> TwoLayerLandscape:
        """Return the landscape of a problem; warn when a user's activation cannot be computed well at the teacher's norms."""
        student, teacher = problem.charges
        return cls(
            jax.device_put(problem.teacher),  # jnp.asarray would compile for each shape
            jax.device_put(np.concatenate([student, -teacher])),
            _potential_for(problem),
            problem.trainable_output,
            realisable=problem.is_realisable,
            activation=problem.activation,
            coordinates=np.array_equal(problem.teacher, np.eye(*problem.teacher.shape)),
        )

    @property
    def gauge(self) -> int:
        """The number of directions along which the loss is constant at every point; see :meth:`standard`."""
        degree = self.activation.homogeneous
        return self.students if degree == 0 or (self.trainable_output and degree is not None) else 0

    def point(self, *parts: Any) -> jax.Array:
        """Return a validated point; wrong shapes, NaN and zero neurons raise :class:`InputError`."""
        point = super().point(*parts)
        if self.potential.polar and not np.any(np.asarray(self.neurons(point)), axis=-1).all():
            raise InputError("a student neuron is exactly 0, where the loss is not differentiable; move it")
        return point

    def stated_error(self, point: np.ndarray | jax.Array) -> float:
        """Return the largest stated error of the potential at the norms of a point, and warn when it is above 1e-8 of Phi;
        0 for closed forms and mixtures, which are right to rounding or a few 1e-12 at any norm."""
        if not isinstance(self.potential, Series):
            return 0.0
        weights, _ = self.split(jnp.asarray(point))
        return self.potential.warn(np.linalg.norm(np.asarray(weights), axis=-1))

    def widened(self, multiple: int, least: int = 0) -> TwoLayerLandscape:
        """Return a landscape with n, k and d at least ``least`` and rounded up to multiples.

        A padded neuron has charge 0, so that nobody notices it; a padded dimension adds the eigenvalues of
        :meth:`extra_dimension`, which lie between those that are there. Only ReLU with fixed output weights is padded.
        """
        if self.activation.kind != "relu" or self.trainable_output:
            return self
        (n, d), k = self.shape, self.teacher.shape[0]
        students, teachers, dimension = (-(-max(size, least) // multiple) * multiple for size in (n, k, d))
        if (students, teachers, dimension) == (n, k, d):
            return self
        teacher, charges, known = np.eye(teachers, dimension), np.zeros(students + teachers), np.asarray(self.charges)
        teacher[dimension:, 0] = 1.0  # any unit vector, where there is no further coordinate
        teacher[:k] = 0.0
        teacher[:k, :d] = self.teacher
        charges[:n], charges[students : students + k] = known[:n], known[n:]
        return dataclasses.replace(
            self,
            teacher=jax.device_put(teacher),
            charges=jax.device_put(charges),
            coordinates=self.coordinates and teachers <= dimension,
        )

    def room(self, points: jax.Array | np.ndarray) -> jax.Array | np.ndarray:
        """Return points (lanes, n, d) in arrays of this shape; a padded neuron, of charge 0, is as long as the longest."""
        _, n, d = points.shape
        if (n, d) == self.shape:
            return points
        points, room = np.asarray(points), np.zeros((len(points), *self.shape))
        room[:, :n, :d] = points
        room[:, n:, 0] = np.linalg.norm(points, axis=-1).max(axis=-1, keepdims=True)
        return room

    def standard(self, point: jax.Array) -> jax.Array:
        r"""Return the point moved along the directions that change nothing to a standard place.

        A neuron of a positively homogeneous activation, :math:`\sigma(rx) = r^p\sigma(x)`, computes the same with
        :math:`(a/r^p, r w)`: with trainable output weights it is scaled to :math:`|a| = 1` (p > 0; where a = 0 it stays),
        or to :math:`|w| = 1` (p = 0, with fixed ones too). If sigma is odd, :math:`(-a, -w)` computes the same too, and a is
        made positive.
        """
        sigma = self.activation
        if not self.trainable_output and sigma.homogeneous != 0:
            return point
        weights, charges = self.split(point)
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
        return self.join(weights, charges)

    def _placed_teacher(self) -> Any:
        return self.potential.place(self.teacher, self.coordinates)

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

    # ---- more dimensions, and how fast the Hessian changes --------------------------------------------------------

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

    def spectrum(self, point: jax.Array, extra_dimension: bool = False) -> jax.Array:
        """Return the Hessian's eigenvalues in ascending order; with ``extra_dimension``, those in R^(d+1)."""
        eigenvalues = super().spectrum(point)
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

        The float twin of the bound that the proofs use; docs/certificates.md derives it. Neurons of charge 0 do not count.
        """
        if self.activation.kind != "relu" or self.trainable_output:
            return jnp.full(point.shape[:-2], jnp.nan)
        charges = jnp.abs(self.student_charges)
        norms = jnp.linalg.norm(point, axis=-1)
        radius = jnp.asarray(radius)[..., None]
        reach = charges * (norms + radius)
        fixed = jnp.sum(jnp.abs(self.teacher_charges) * jnp.linalg.norm(self.teacher, axis=-1), -1, keepdims=True)
        others = jnp.sum(reach, -1, keepdims=True) - reach + fixed
        room = norms - radius
        safe = jnp.where(room > 0, room, 1.0)
        first = 3 * math.sqrt(3) / (4 * math.pi) * charges * others / safe**2
        charged = jnp.sum(charges > 0, -1, keepdims=True)
        second = 3 * jnp.sqrt(jnp.maximum(charged - 1, 0)) / math.pi * jnp.max(charges) ** 2 / safe
        return jnp.max(jnp.where(room > 0, jnp.hypot(first, second), jnp.inf), -1)


def split_neuron(weights: np.ndarray, neuron: int, share: float = 0.5) -> np.ndarray:
    r"""Return weights (n + 1, d) of the same ReLU network, neuron w replaced by (1 - t) w in its place and t w as the last row.

    ReLU is positively homogeneous, so the network, the loss and every neuron's gradient stay as they are: a critical
    point remains one. Its Hessian gains directions in which the halves part, :math:`(-u, u)`, and along these, with the
    residual r = student - teacher,

    .. math:: \frac{d^2}{d\epsilon^2} F = \frac{1}{t(1-t)}\, E\big[r(x)\,\delta(w\cdot x)\,(u\cdot x)^2\big],

    which no curvature of the smaller network speaks about: a minimum may become a saddle. At t = 0 the added neuron is
    0, where the loss is not differentiable, hence 0 < t < 1.
    """
    n = len(weights)
    if not 0 <= neuron < n:
        raise InputError(f"neuron {neuron} of {n} was to be split; use 0 to {n - 1}")
    if not 0 < share < 1:
        raise InputError(f"the share of the new neuron is {share}; use a number between 0 and 1")
    result = np.concatenate([weights, share * weights[neuron : neuron + 1]])
    result[neuron] *= 1 - share
    return result
