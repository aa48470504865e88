"""The exact population risk of the convolutional network with weight normalisation."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.errors import InputError
from earnshaw.landscapes.base import Landscape
from earnshaw.landscapes.convnet_lanes import reduce_arrays
from earnshaw.numerics.compiling import program
from earnshaw.problems.convnet import ConvNet

PI, TAU = math.pi, 2 * math.pi


class Angles(NamedTuple):
    """Where the filter points: lengths, units and the angle to the teacher's filter, accurate at both ends."""

    length: jax.Array
    along: jax.Array  # v/|v|
    across: jax.Array  # the unit vector orthogonal to it, towards w* (0 when they are parallel)
    cosine: jax.Array
    sine: jax.Array
    angle: jax.Array
    supplement: jax.Array

    @property
    def overlap(self) -> jax.Array:
        r"""The function :math:`g = (\pi - \varphi)\cos\varphi + \sin\varphi`, from pi at 0 down to 0 at pi."""
        return self.supplement * self.cosine + self.sine

    @property
    def shortfall(self) -> jax.Array:
        """The difference pi - g, with full relative accuracy near 0."""
        near = PI * self.sine**2 / (1 + jnp.abs(self.cosine)) + self.angle * self.cosine - self.sine
        return jnp.where(self.cosine > 0, near, PI - self.overlap)


def _dot(first: jax.Array, second: jax.Array) -> jax.Array:
    return jnp.sum(first * second, -1)


@functools.partial(jax.tree_util.register_dataclass, data_fields=("filter", "outputs", "ones"), meta_fields=())
@dataclass(frozen=True)
class ConvNetLandscape(Landscape):
    r"""The loss F of a :class:`~earnshaw.problems.ConvNet` at points (v, a), one array (..., p + k).

    With :math:`\varphi` the angle of v and w*, :math:`g = (\pi - \varphi)\cos\varphi + \sin\varphi`, u the vector of
    ones and :math:`W = |w^*|`,

    .. math::
        4\pi F = (u\cdot a - W\,u\cdot a^*)^2 + (\pi - 1)|a - W a^*|^2 + 2 (\pi - g) W\, a\cdot a^* .

    In this form nothing cancels near the global minimum. Leaves may have a leading lane axis (one teacher a lane),
    which runs along the points' leading axis. ``ones`` is data, so that :meth:`reduced` can write any problem in
    five coordinates.

    Reference: Du et al. (2018), Theorems 2.1 and 2.2; equation (3) there misprints the cross term (docs/errata.md).
    """

    gauge = 1  # one direction is flat everywhere: the length of the filter
    global_value = 0.0  # the student can equal the teacher

    filter: jax.Array
    outputs: jax.Array
    ones: jax.Array

    @classmethod
    def of(cls, problem: ConvNet) -> ConvNetLandscape:
        """Return the landscape of a problem."""
        return cls(*jax.device_put((problem.filter, problem.output_weights, np.ones(problem.patches))))

    @property
    def shape(self) -> tuple[int]:
        """Shape (p + k,) of one point."""
        return (self.filter.shape[-1] + self.outputs.shape[-1],)

    def take(self, index: np.ndarray | jax.Array | int) -> ConvNetLandscape:
        """Return the landscape of some lanes; itself when one teacher serves all. (By NumPy: nothing is compiled.)"""
        if self.filter.ndim == 1:
            return self
        return jax.tree.map(lambda leaf: jax.device_put(np.asarray(leaf)[np.asarray(index)]), self)

    def point(self, *parts: Any) -> jax.Array:
        """Return validated points, from filters (..., p) and output weights (..., k) or from both in one array; NaN, wrong
        shapes and zero filters raise :class:`InputError`."""
        if len(parts) == 2:
            filter, outputs = (np.asarray(part, dtype=np.float64) for part in parts)
            sizes = self.filter.shape[-1:], self.outputs.shape[-1:]
            if (filter.shape[-1:], outputs.shape[-1:]) != sizes or filter.shape[:-1] != outputs.shape[:-1]:
                raise InputError(
                    f"the filter has shape {filter.shape} and the output weights {outputs.shape}; this problem needs "
                    f"(..., {sizes[0][0]}) and (..., {sizes[1][0]})"
                )
            parts = (np.concatenate([filter, outputs], -1),)
        point = super().point(*parts)
        if not np.any(np.asarray(self.split(point)[0]), axis=-1).all():
            raise InputError("the filter is exactly 0, where it has no direction; move it")
        return point

    def reduced(self, points: np.ndarray) -> tuple[ConvNetLandscape, np.ndarray, Callable[[np.ndarray], np.ndarray]]:
        """Return landscape and points (lanes, 5) in five coordinates, and the way back; see :mod:`.convnet_lanes`."""
        filter, outputs, ones = (np.asarray(leaf) for leaf in jax.tree.leaves(self))
        teacher, five, lift = reduce_arrays(filter, outputs, ones, points)
        return ConvNetLandscape(*jax.device_put(teacher)), five, lift

    def own_data(self) -> dict[str, np.ndarray]:
        """Return the lanes' teachers, if each has its own: ``filters`` (lanes, p) and ``outputs`` (lanes, k)."""
        if self.filter.ndim == 1:
            return {}
        return {"filters": np.asarray(self.filter), "outputs": np.asarray(self.outputs)}

    def split(self, point: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return the filter v (..., p) and the output weights a (..., k) of points."""
        p = self.filter.shape[-1]
        return point[..., :p], point[..., p:]

    # ---- the teacher's numbers -----------------------------------------------------------------------------------

    @property
    def norm(self) -> jax.Array:
        """W, the length of the teacher's filter."""
        return jnp.sqrt(_dot(self.filter, self.filter))

    @property
    def kappa(self) -> jax.Array:
        r""":math:`\kappa = k + \pi - 1`, k the number of patches (the squared length of ``ones``)."""
        return _dot(self.ones, self.ones) + PI - 1

    @property
    def square(self) -> jax.Array:
        """A, the squared length of the teacher's output weights."""
        return _dot(self.outputs, self.outputs)

    @property
    def total(self) -> jax.Array:
        """S, the sum of the teacher's output weights."""
        return _dot(self.ones, self.outputs)

    # ---- the loss ------------------------------------------------------------------------------------------------

    def angles(self, point: jax.Array) -> Angles:
        """Return the geometry of the filters of points."""
        v, _ = self.split(point)
        axis = self.filter / self.norm[..., None]
        forward = _dot(v, axis)
        sideways = v - forward[..., None] * axis
        width = jnp.sqrt(_dot(sideways, sideways))
        length = jnp.sqrt(_dot(v, v))
        cosine, sine = forward / length, width / length
        along = v / length[..., None]
        side = sideways / jnp.where(width > 0, width, 1.0)[..., None]
        across = jnp.where(width[..., None] > 0, sine[..., None] * axis - cosine[..., None] * side, 0.0)
        angle, supplement = jnp.arctan2(width, forward), jnp.arctan2(width, -forward)
        return Angles(length, along, across, cosine, sine, angle, supplement)

    def product(self, point: jax.Array) -> jax.Array:
        """Return a . a*, whose sign says whether the filter turns towards w* or away."""
        return _dot(self.split(point)[1], self.outputs)

    @program
    def value(self, point: jax.Array) -> jax.Array:
        """Return F, shape (...)."""
        _, a = self.split(point)
        norm = self.norm
        excess = a - norm[..., None] * self.outputs
        cross = 2 * self.angles(point).shortfall * norm * _dot(a, self.outputs)
        return (_dot(self.ones, excess) ** 2 + (PI - 1) * _dot(excess, excess) + cross) / (2 * TAU)

    @program
    def gradient(self, point: jax.Array) -> jax.Array:
        r"""Return dF, shape (..., p + k).

        .. math::
            \frac{\partial F}{\partial v} = -\frac{W\,a\cdot a^*}{2\pi|v|}(\pi - \varphi)\sin\varphi\;e, \qquad
            \frac{\partial F}{\partial a} = \frac1{2\pi}\big[u\,u\cdot(a - W a^*) + (\pi - 1) a - (g - 1) W a^*\big],

        e the unit vector orthogonal to v, towards w*. The first is orthogonal to v, so that :math:`|v|` never shrinks.
        """
        _, a = self.split(point)
        way, norm = self.angles(point), self.norm
        pull = -norm * _dot(a, self.outputs) * way.supplement * way.sine / (TAU * way.length)
        excess = a - norm[..., None] * self.outputs
        fall = (way.shortfall * norm)[..., None] * self.outputs
        push = (_dot(self.ones, excess)[..., None] * self.ones + (PI - 1) * excess + fall) / TAU
        return jnp.concatenate([pull[..., None] * way.across, push], -1)

    @program
    def hessian_vector(self, point: jax.Array, direction: jax.Array) -> jax.Array:
        r"""Return the Hessian applied to a direction (..., p + k), without forming it.

        With :math:`\bar v = v/|v|` and :math:`\psi = \pi - \varphi` its blocks are

        .. math::
            H_{vv} = \frac{W\,a\cdot a^*}{2\pi|v|^2}\big[\psi\cos\varphi\,(I - \bar v\bar v^T) - \sin\varphi\,e e^T
                     + \psi\sin\varphi\,(\bar v e^T + e\bar v^T)\big], \quad
            H_{va} = -\frac{W\psi\sin\varphi}{2\pi|v|}\,e\,a^{*T}, \quad
            H_{aa} = \frac{u u^T + (\pi - 1) I}{2\pi} .

        Nothing is singular at :math:`\varphi = 0, \pi`. At :math:`\pi` the block of v vanishes: the spurious point is
        degenerate, whatever it is.
        """
        (_, a), (x, y) = self.split(point), self.split(direction)
        way, norm = self.angles(point), self.norm
        radial, toward = _dot(way.along, x), _dot(way.across, x)
        twist = way.supplement * way.sine
        turned = -(way.supplement * way.cosine)[..., None] * (x - radial[..., None] * way.along)
        turned = turned + (way.sine * toward - twist * radial)[..., None] * way.across
        turned = turned - (twist * toward)[..., None] * way.along
        bent = -(norm * _dot(a, self.outputs) / (TAU * way.length**2))[..., None] * turned
        mixed = -norm * twist / (TAU * way.length)
        top = bent + (mixed * _dot(self.outputs, y))[..., None] * way.across
        low = (_dot(self.ones, y)[..., None] * self.ones + (PI - 1) * y) / TAU
        return jnp.concatenate([top, low + (mixed * toward)[..., None] * self.outputs], -1)

    # ---- the three values that matter ------------------------------------------------------------------------------

    @property
    def turning(self) -> jax.Array:
        r"""The value of g at which a . a* changes sign when a follows the filter,

        .. math:: g_c = \frac{\kappa A - \pi S^2}{\kappa A - S^2} ;

        positive exactly when the spurious point is a local minimum.
        """
        kappa = self.kappa
        return (kappa * self.square - PI * self.total**2) / (kappa * self.square - self.total**2)

    @property
    def barrier(self) -> jax.Array:
        r"""The least loss with :math:`a\cdot a^* = 0`, the same for every filter:

        .. math:: F_c = \frac{W^2}{4\pi}\,\frac{(\pi - 1)\,\kappa A^2}{\kappa A - S^2} .

        It is the saddles' value where they exist. Below it the sign of :math:`a\cdot a^*` cannot change.
        """
        kappa = self.kappa
        return self.norm**2 * (PI - 1) * kappa * self.square**2 / (2 * TAU * (kappa * self.square - self.total**2))

    @property
    def spurious_value(self) -> jax.Array:
        r"""The loss of the spurious point, :math:`\frac{W^2}{4}\,\frac{(\pi - 2)\kappa A + \pi S^2}{(\pi - 1)\kappa}`."""
        kappa = self.kappa
        return self.norm**2 * ((PI - 2) * kappa * self.square + PI * self.total**2) / (4 * (PI - 1) * kappa)

    def smoothness(self, point: jax.Array) -> jax.Array:
        r"""Return L such that gradient descent with a step up to 1/L, once below the barrier, lowers the loss for ever.

        The larger eigenvalue of :math:`\begin{pmatrix} h & m \\ m & n \end{pmatrix}`, :math:`h = \kappa/2\pi`,
        :math:`m = \pi\rho/8`, :math:`n = \rho^2`, :math:`\rho = W|a^*|/|v|`; it falls as the filter grows longer.
        """
        v, _ = self.split(point)
        h = self.kappa / TAU
        n = self.norm**2 * self.square / _dot(v, v)
        return 0.5 * (h + n + jnp.sqrt((h - n) ** 2 + n * (PI / 4) ** 2))

    def best_outputs(self, overlap: jax.Array | float) -> jax.Array:
        r"""Return the output weights that are best for a filter with this g,

        .. math:: a(g) = \frac{W}{\pi - 1}\Big[(g - 1)\,a^* + \frac{(\pi - g) S}{\kappa}\,u\Big]

        (..., k); :math:`W a^*` for g = pi, the spurious ones for g = 0.
        """
        overlap = jnp.asarray(overlap)[..., None]
        share = (self.total / self.kappa)[..., None] * self.ones
        return self.norm[..., None] / (PI - 1) * ((overlap - 1) * self.outputs + (PI - overlap) * share)

    # ---- through a sample ----------------------------------------------------------------------------------------

    def draw(self, key: jax.Array, samples: int) -> jax.Array:
        """Return fresh inputs (samples, k, p) from N(0, I); for one teacher, not in five coordinates."""
        return jax.random.normal(key, (samples, self.outputs.shape[-1], self.filter.shape[-1]))

    def sampled_losses(self, point: jax.Array, sample: jax.Array) -> jax.Array:
        """Return the half squared error of one point at each of the inputs (samples, k, p)."""
        v, a = self.split(point)
        student = jax.nn.relu(sample @ (v / jnp.linalg.norm(v))) @ a
        return 0.5 * (student - jax.nn.relu(sample @ self.filter) @ self.outputs) ** 2

    def sampled_value(self, point: jax.Array, sample: jax.Array) -> jax.Array:
        """Return the mean loss of one point on these inputs; its mean over samples is the exact value."""
        return jnp.mean(self.sampled_losses(point, sample))
