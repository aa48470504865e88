"""Sign neurons on the circle: where descent ends, and what the ends look like."""

from __future__ import annotations

import math
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from earnshaw.descent.optimizers.first_order import projected_descent
from earnshaw.landscapes import PairEnergy
from earnshaw.landscapes import charges as on_circle
from earnshaw.numerics import TOLERANCES
from earnshaw.potentials.radial import Circle, turned


@dataclass(frozen=True)
class CircleEnds:
    """The ends of gradient descent of k electrons among k protons, all of charge 1.

    ``at_global`` counts those with an electron on every proton, ``flat_pairs`` those where some electrons are on protons
    and the rest opposite each other in pairs: no electron can go down alone, and a pair that turns together changes nothing.
    """

    runs: int
    at_global: int
    flat_pairs: int


def circle_ends(protons: int, runs: int, seed: int, step: float = 4e-3, steps: int = 2500) -> CircleEnds:
    """Run Algorithm 4 with fixed charges on the circle, then with a tenth and a hundredth of the step (Lemma 28).

    The step is one on the paper's L = 2 F.
    """
    rngs = [np.random.default_rng([seed, lane, protons]) for lane in range(runs)]
    fixed, start = np.stack([rng.uniform(-math.pi, math.pi, (2, protons)) for rng in rngs], 1)
    energy = _energy(fixed)
    point = projected_descent(energy, jnp.asarray(start)[..., None], steps=steps, step=2 * step)
    for shorter in (10, 100):
        point = projected_descent(energy, point, steps=steps // 4, step=2 * step / shorter)
    ends = np.asarray(point)[..., 0]
    reach = 4 / math.pi * step / 100 * 2 * protons + TOLERANCES.circle_reach  # how far the last steps go to and fro
    explained = [_explain(ends[lane], fixed[lane], reach) for lane in range(runs)]
    paired = [lane for lane, found in enumerate(explained) if found is not None and found[0]]
    at_global = sum(found is not None and not found[0] for found in explained)
    flat = _flat_among(fixed[paired], [explained[lane] for lane in paired]) if paired else 0
    return CircleEnds(runs, at_global, flat)


def _energy(protons: np.ndarray) -> PairEnergy:
    """Return the energy of as many electrons as protons, at angles (..., k), all with output weight 1."""
    ones = np.ones(protons.shape[-1])
    return PairEnergy.among(Circle(), protons[..., None], ones, student_output_weights=ones)


def _gap(first: float, second: float) -> float:
    return abs((first - second + math.pi) % (2 * math.pi) - math.pi)


def _explain(
    electrons: np.ndarray, protons: np.ndarray, reach: float
) -> tuple[list[tuple[int, int]], np.ndarray] | None:
    """Return antipodal pairs and exact angles if every electron is on a proton of its own or opposite another electron."""

    def search(left: list[int], free: list[int]) -> tuple[list[tuple[int, int]], dict[int, float]] | None:
        if not left:
            return [], {}
        first, rest = left[0], left[1:]
        angle = electrons[first]
        for j in free:
            if _gap(angle, protons[j]) < reach and (deeper := search(rest, [other for other in free if other != j])):
                return deeper[0], deeper[1] | {first: protons[j]}
        for second in rest:
            opposite = _gap(angle, electrons[second] + math.pi) < 2 * reach
            if opposite and (deeper := search([other for other in rest if other != second], free)):
                return [*deeper[0], (first, second)], deeper[1] | {first: angle, second: angle + math.pi}
        return None

    found = search(list(range(len(electrons))), list(range(len(protons))))
    return found and (found[0], np.array([found[1][i] for i in range(len(electrons))]))


def _flat_among(protons: np.ndarray, ends: list, turn: float = 1e-6) -> int:
    """Count the ends where no electron goes down by a small move, and where turning a pair together changes nothing."""
    lanes, k = protons.shape
    alone = np.concatenate([turn * np.eye(k), -turn * np.eye(k)])
    moves = np.zeros((lanes, 1 + 2 * k + 2 * (k // 2), k))
    moves[:, 1 : 1 + 2 * k] = alone
    for lane, (pairs, _) in enumerate(ends):
        for index, pair in enumerate(pairs):
            moves[lane, 1 + 2 * k + 2 * index, list(pair)] = turn
            moves[lane, 2 + 2 * k + 2 * index, list(pair)] = -turn
    angles = np.stack([snapped for _, snapped in ends])[:, None] + moves
    values = np.asarray(_energy(protons[:, None]).value(jnp.asarray(angles)[..., None]))
    rise = values - values[:, :1]
    flat, none = np.abs(rise[:, 1 + 2 * k :]) < TOLERANCES.circle_rise, rise >= -TOLERANCES.circle_rise
    return int((none.all(1) & flat.all(1)).sum())


@dataclass(frozen=True)
class NodeMinima:
    """The local minima of the loss of one neuron on the circle: how many, and how many are at plus or minus a w_j."""

    found: int
    at_teacher: int


def node_minima(instances: int, protons: int, seed: int) -> NodeMinima:
    """List all local minima for random output weights, on a fine grid (Lemma 29)."""
    rngs = [np.random.default_rng([seed, lane, 100 + protons]) for lane in range(instances)]
    angles = np.stack([rng.uniform(-math.pi, math.pi, protons) for rng in rngs])
    charges = np.stack([rng.uniform(-1, 1, protons) for rng in rngs])
    places, minima = on_circle.node_minima(PairEnergy.among(Circle(), angles[..., None], charges, students=1))
    distance = jnp.abs(turned(2 * (places[..., None] - angles[..., None, :]))).min(-1) / 2
    at_teacher = np.asarray(minima & (distance < TOLERANCES.circle_rise))
    return NodeMinima(int(np.asarray(minima).sum()), int(at_teacher.sum()))
