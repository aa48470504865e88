"""What the loss does around a minimum whose neuron is split in two: along the set of minima, and across it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from earnshaw.errors import InputError
from earnshaw.landscapes import landscape
from earnshaw.landscapes.growing import parted
from earnshaw.problems import TwoLayer
from earnshaw.proof import Proof, Splitting

REACH, COUNT = 0.9, 61  # how far the parts are moved, in units of the shorter one, and how many places are looked at


@dataclass(frozen=True)
class SplitScene:
    """A minimum with a split-stable neuron, and the loss when that neuron, or another, is split.

    Attributes
    ----------
    teacher, weights, value : the teacher (k, d), the minimum (n, d) and its loss.
    chosen : the split-stable neurons.
    shares, parting : (S,) and (T,): t of the parts (1 - t) w and t w, and how far they are moved apart, in units of the neuron.
    rise : (S, T), the loss minus that of the minimum when the stable neuron is split so.
    across : for each kind of neuron (T,), the same at t = 1/2 along its own lowest direction.
    """

    teacher: np.ndarray
    weights: np.ndarray
    value: float
    chosen: Splitting
    shares: np.ndarray
    parting: np.ndarray
    rise: np.ndarray
    across: tuple[tuple[Splitting, np.ndarray], ...]


def split_scene(proof: Proof, problem: TwoLayer) -> SplitScene:
    """Return the scene of a proof for every n; one without raises :class:`InputError`."""
    if "every_n" not in proof.certificates or proof.point is None:
        raise InputError(f"there is no split-stable neuron to draw: {proof.reason}")
    weights = proof.point.weights
    problem = problem.with_students(len(weights))
    ground, one_more = landscape(problem), landscape(problem.with_students(len(weights) + 1))
    value = float(ground.value(weights))
    chosen = next(row for row in proof.splitting if row.is_stable and proof.claim.split_neuron in row.neurons)  # type: ignore[union-attr]
    parting = np.linspace(-REACH / 2, REACH / 2, COUNT)
    shares = np.linspace(0.05, 0.95, 31)

    def rise(row: Splitting, share: float) -> np.ndarray:
        direction = np.array([row.direction])
        sizes = parting / min(share, 1 - share)
        points = np.stack([parted(weights, row.neurons[:1], direction, share, float(size)) for size in sizes])
        return np.asarray(one_more.value(points)) - value

    grid = np.stack([rise(chosen, float(share)) for share in shares])
    across = tuple((row, rise(row, 0.5)) for row in proof.splitting if row.direction)
    return SplitScene(problem.teacher, weights, value, chosen, shares, parting, grid, across)
