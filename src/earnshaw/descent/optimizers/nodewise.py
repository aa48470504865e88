"""Algorithm 3 of Panigrahy et al., one neuron after the other: as printed, and in the log domain, where it works.

It places a neuron, leaves it there and turns to the next: there is no step of a whole point, and so it is a function and
no :class:`~earnshaw.descent.Descent`.
"""

from __future__ import annotations

import dataclasses
import functools
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp

from earnshaw.descent.optimizers.second_gd import second_gd
from earnshaw.landscapes import PairEnergy
from earnshaw.numerics import TOLERANCES


@functools.partial(
    jax.tree_util.register_dataclass, data_fields=("charges", "positions", "value", "steps"), meta_fields=()
)
@dataclass(frozen=True)
class NodewiseResult:
    """The output weights found, (lanes, n), and positions (lanes, n, d), the loss at the end, and the steps of each node."""

    charges: jax.Array
    positions: jax.Array
    value: jax.Array
    steps: jax.Array


def _best_start(node: PairEnergy, candidates: jax.Array) -> jax.Array:
    """Return, of candidates (lanes, m, d), those (lanes, 1, d) where a new charge lowers the loss most: |S| is largest.

    Next to a proton that has been found, S is what rounding leaves of two cancelling charges. A candidate where |S| is
    not far above the rounding of its terms is taken only if there is no other.
    """
    size = jnp.abs(node.field(candidates)[0])
    terms = dataclasses.replace(node, charges=-jnp.abs(node.charges)).field(candidates)[0]
    share = size / jnp.where(terms > 0, terms, 1.0)
    meant = share > TOLERANCES.credible_field
    score = jnp.where(meant, size, jnp.where(jnp.any(meant, -1, keepdims=True), 0.0, share))
    best = jnp.argmax(score, -1)[:, None, None]
    return jnp.take_along_axis(candidates, best, -2)


def _place(array: jax.Array, node: int, value: jax.Array) -> jax.Array:
    return array.at[:, node].set(value)


def nodewise_descent(
    landscape: PairEnergy,
    candidates: jax.Array,
    *,
    max_steps: int = 2000,
    step: float = 0.1,
    gradient_threshold: float = 1e-6,
    curvature_threshold: float = 1e-6,
) -> NodewiseResult:
    r"""Run Algorithm 3 as printed: each (a_i, theta_i) in turn by Algorithm 2 on L = 2 F, all others held fixed.

    A node starts at the best of its candidates, with the output weight S(theta) that is best there (Lemma 26). Step and
    thresholds are those for L.

    Parameters
    ----------
    landscape : with a teacher (lanes, k, d), one instance a lane, and output weights that are learned.
    candidates : (lanes, nodes, m, d) starts to choose from, for each node.
    """
    lanes, nodes, _, d = candidates.shape
    charges, positions = jnp.zeros((lanes, nodes)), jnp.zeros((lanes, nodes, d))
    counts = []
    for i in range(nodes):
        node = landscape.node(positions, charges)
        theta = _best_start(node, candidates[:, i])
        end = second_gd(
            node,
            node.join(theta, node.field(theta)[0]),
            max_steps=max_steps,
            step=2 * step,
            gradient_threshold=gradient_threshold / 2,
            curvature_threshold=curvature_threshold / 2,
        )
        theta, charge = node.split(end.point)
        positions, charges = _place(positions, i, theta[:, 0]), _place(charges, i, charge[:, 0])
        counts.append(end.steps)
    return NodewiseResult(
        charges, positions, landscape.value(landscape.join(positions, charges)), jnp.stack(counts, -1)
    )


class _Climb(NamedTuple):
    theta: jax.Array  # (lanes, 1, d)
    height: jax.Array  # (lanes, 1): log |S|
    direction: jax.Array  # (lanes, 1, d)
    length: jax.Array  # (lanes, 1)
    steps: jax.Array  # (lanes,)
    turn: jax.Array


@functools.partial(jax.jit, static_argnames=("max_steps", "longest", "shortest"))
def climb_log_field(
    node: PairEnergy, start: jax.Array, *, max_steps: int = 400, longest: float = 1.0, shortest: float = 1e-14
) -> tuple[jax.Array, jax.Array]:
    r"""Return the positions (lanes, 1, d) where :math:`\log|S|` has a local maximum uphill of the start, and the steps.

    Steps go along the gradient of :math:`\log|S|`, a unit vector times a length: doubled after a step that climbs, up to
    ``longest``, and halved after one that does not, until it is ``shortest``. So it does not matter how small the field
    is, and the cone tip at a charge is approached to rounding.
    """

    def look(theta: jax.Array) -> tuple[jax.Array, jax.Array]:
        value, slope = node.field(theta)
        uphill = slope * jnp.sign(value)[..., None]
        size = jnp.linalg.norm(uphill, axis=-1, keepdims=True)
        return jnp.log(jnp.abs(value)), uphill / jnp.where(size > 0, size, 1.0)

    def going(s: _Climb) -> jax.Array:
        return (s.length > shortest) & jnp.isfinite(s.height)

    def body(s: _Climb) -> _Climb:
        trial = s.theta + s.length[..., None] * s.direction
        height, direction = look(trial)
        better = going(s) & (height > s.height)
        length = jnp.where(better, jnp.minimum(2 * s.length, longest), 0.5 * s.length)
        return _Climb(
            jnp.where(better[..., None], trial, s.theta),
            jnp.where(better, height, s.height),
            jnp.where(better[..., None], direction, s.direction),
            jnp.where(going(s), length, s.length),
            s.steps + going(s)[:, 0],
            s.turn + 1,
        )

    height, direction = look(start)
    lanes = start.shape[0]
    first = _Climb(
        start,
        height,
        direction,
        jnp.full_like(height, longest),
        jnp.zeros(lanes, dtype=jnp.int64),
        jnp.asarray(0),
    )
    end = jax.lax.while_loop(lambda s: jnp.any(going(s)) & (s.turn < max_steps), body, first)
    return end.theta, end.steps


def log_nodewise_descent(landscape: PairEnergy, candidates: jax.Array, *, max_steps: int = 400) -> NodewiseResult:
    r"""Find the protons one after the other by climbing :math:`\log|S|`, and refit all charges after each.

    For a single neuron the best a is :math:`S(\theta)`, and then :math:`F = F_0 - S(\theta)^2/2`. Outside the balls
    :math:`\Delta S = \lambda S`, so :math:`|S|` has no local maximum there: uphill leads to a proton. Its logarithm has
    a slope of order 1 however far away the proton is, where F itself is flat to all digits.

    Parameters
    ----------
    landscape : with a teacher (lanes, k, d), one instance a lane, and output weights that are learned.
    candidates : (lanes, nodes, m, d) starts to choose from, for each node.

    Reference: Panigrahy et al. (2018), Theorem 17 (the algorithm is ours).
    """
    lanes, nodes, _, d = candidates.shape
    charges, positions = jnp.zeros((lanes, nodes)), jnp.zeros((lanes, nodes, d))
    counts = []
    for i in range(nodes):
        node = landscape.node(positions, charges)
        theta, steps = climb_log_field(node, _best_start(node, candidates[:, i]), max_steps=max_steps)
        positions = _place(positions, i, theta[:, 0])
        placed = jnp.broadcast_to(jnp.arange(nodes) <= i, (lanes, nodes))
        charges = landscape.best_charges(positions, placed)
        counts.append(steps)
    return NodewiseResult(
        charges, positions, landscape.value(landscape.join(positions, charges)), jnp.stack(counts, -1)
    )
