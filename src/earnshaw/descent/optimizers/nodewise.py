"""Algorithm 3 of Panigrahy et al., one neuron after the other: as printed, and in the log domain, where it works.

It places a neuron, leaves it there and turns to the next: there is no step of a whole point, and so it is a function and
no :class:`~earnshaw.descent.Descent`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from earnshaw.descent.optimizers.second_order import SecondGD, second_gd
from earnshaw.landscapes import PairEnergy
from earnshaw.numerics import TOLERANCES


class NodewiseResult(NamedTuple):
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


def _in_turn(landscape: PairEnergy, candidates: jax.Array, place: Callable[..., tuple]) -> NodewiseResult:
    """Place one node after the other, from the best of its candidates (lanes, nodes, m, d), all before it held fixed.

    ``place`` returns the position, the output weight and the steps of a node; where the weight is None, all of those that
    have been placed are fitted anew.
    """
    lanes, nodes, _, d = candidates.shape
    charges, positions, counts = jnp.zeros((lanes, nodes)), jnp.zeros((lanes, nodes, d)), []
    for i in range(nodes):
        node = landscape.node(positions, charges)
        theta, charge, steps = place(node, _best_start(node, candidates[:, i]))
        positions = positions.at[:, i].set(theta[:, 0])
        if charge is None:
            charges = landscape.best_charges(positions, jnp.broadcast_to(jnp.arange(nodes) <= i, (lanes, nodes)))
        else:
            charges = charges.at[:, i].set(charge[:, 0])
        counts.append(steps)
    value = landscape.value(landscape.join(positions, charges))
    return NodewiseResult(charges, positions, value, jnp.stack(counts, -1))


def nodewise_descent(landscape: PairEnergy, candidates: jax.Array) -> NodewiseResult:
    r"""Run Algorithm 3 as printed: each (a_i, theta_i) in turn by Algorithm 2 on L = 2 F, all others held fixed.

    A node starts at the best of its candidates, with the output weight S(theta) that is best there (Lemma 26). On L the
    step is 0.1 and both thresholds are 1e-6; at most 2000 steps a node.

    Parameters
    ----------
    landscape : with a teacher (lanes, k, d), one instance a lane, and output weights that are learned.
    candidates : (lanes, nodes, m, d) starts to choose from, for each node.
    """

    def place(node: PairEnergy, theta: jax.Array) -> tuple:
        start, thresholds = node.join(theta, node.field(theta)[0]), dict.fromkeys(SecondGD.numbers[1:], 0.5e-6)
        end = second_gd(node, start, max_steps=2000, step=0.2, **thresholds)
        return *node.split(end.point), end.steps

    return _in_turn(landscape, candidates, place)


class _Climb(NamedTuple):
    theta: jax.Array  # (lanes, 1, d)
    height: jax.Array  # (lanes, 1): log |S|
    direction: jax.Array  # (lanes, 1, d)
    length: jax.Array  # (lanes, 1)
    steps: jax.Array  # (lanes,)
    turn: jax.Array


@jax.jit
def climb_log_field(node: PairEnergy, start: jax.Array) -> tuple[jax.Array, jax.Array]:
    r"""Return the positions (lanes, 1, d) where :math:`\log|S|` has a local maximum uphill of the start, and the steps.

    Steps go along the gradient of :math:`\log|S|`, a unit vector times a length: doubled after a step that climbs, up to
    1, and halved after one that does not, until it is 1e-14, for at most 400 steps. So it does not matter how small the field
    is, and the cone tip at a charge is approached to rounding.
    """

    def look(theta: jax.Array) -> tuple[jax.Array, jax.Array]:
        value, slope = node.field(theta)
        uphill = slope * jnp.sign(value)[..., None]
        size = jnp.linalg.norm(uphill, axis=-1, keepdims=True)
        return jnp.log(jnp.abs(value)), uphill / jnp.where(size > 0, size, 1.0)

    def going(s: _Climb) -> jax.Array:
        return (s.length > 1e-14) & jnp.isfinite(s.height)

    def body(s: _Climb) -> _Climb:
        trial = s.theta + s.length[..., None] * s.direction
        height, direction = look(trial)
        better = going(s) & (height > s.height)
        length = jnp.where(better, jnp.minimum(2 * s.length, 1.0), 0.5 * s.length)
        return _Climb(
            jnp.where(better[..., None], trial, s.theta),
            jnp.where(better, height, s.height),
            jnp.where(better[..., None], direction, s.direction),
            jnp.where(going(s), length, s.length),
            s.steps + going(s)[:, 0],
            s.turn + 1,
        )

    height, direction = look(start)
    none = jnp.zeros(start.shape[0], dtype=jnp.int64)
    first = _Climb(start, height, direction, jnp.ones_like(height), none, jnp.asarray(0))
    end = jax.lax.while_loop(lambda s: jnp.any(going(s)) & (s.turn < 400), body, first)
    return end.theta, end.steps


def log_nodewise_descent(landscape: PairEnergy, candidates: jax.Array) -> NodewiseResult:
    r"""Find the protons one after the other by climbing :math:`\log|S|`, and refit all charges after each.

    For a single neuron the best a is :math:`S(\theta)`, and then :math:`F = F_0 - S(\theta)^2/2`. Outside the balls
    :math:`\Delta S = \lambda S`, so :math:`|S|` has no local maximum there: uphill leads to a proton. Its logarithm has
    a slope of order 1 however far away the proton is, where F itself is flat to all digits. Parameters as for
    :func:`nodewise_descent`.

    Reference: Panigrahy et al. (2018), Theorem 17 (the algorithm is ours).
    """

    def place(node: PairEnergy, theta: jax.Array) -> tuple:
        theta, steps = climb_log_field(node, theta)
        return theta, None, steps

    return _in_turn(landscape, candidates, place)
