"""Counts for the theorems about charges: many random instances in, how many behave as the theorem says out.

The paper's L and G are twice our energy F: its steps are twice as long on F, and its thresholds half as large.
"""

from __future__ import annotations

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from earnshaw.descent.newton.dense import critical_points
from earnshaw.descent.optimizers.first_order import projected_descent
from earnshaw.descent.optimizers.nodewise import log_nodewise_descent, nodewise_descent
from earnshaw.descent.optimizers.second_order import second_gd
from earnshaw.landscapes import OnSphere, PairEnergy
from earnshaw.numerics import TOLERANCES
from earnshaw.potentials import Hermite
from earnshaw.potentials.radial import AlmostYukawa, Coulomb
from earnshaw.problems.charges import random_protons, spread

CANDIDATES = 200


def instances(dimension: int, protons: int, factor: float, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return protons (count, k, d) and charges (count, k) of Theorem 12's random instances, one a lane."""
    drawn = [random_protons(dimension, protons, factor, seed, lane) for lane in range(count)]
    return np.stack([positions for positions, _ in drawn]), np.stack([charges for _, charges in drawn])


def normals(shape: tuple[int, ...], seed: int, purpose: int) -> np.ndarray:
    """Return standard normal numbers whose lane i depends on the seed, the purpose and i alone."""
    return np.stack([np.random.default_rng([seed, lane, purpose]).normal(size=shape[1:]) for lane in range(shape[0])])


@dataclass(frozen=True)
class Recovery:
    """Node-wise descent on random instances: the distance (instances, k) of each proton to the nearest charge found."""

    distances: np.ndarray
    steps: float

    def found(self, within: float = 1e-2) -> int:
        """Return how many instances have every proton found."""
        return int((self.distances < within).all(1).sum())


def recover(
    dimension: int,
    protons: int,
    factor: float,
    count: int,
    seed: int,
    radius: float = 0.5,
    printed: bool = False,
) -> Recovery:
    """Run node-wise descent in the log domain, or Algorithm 3 as printed, on random instances (Theorem 17)."""
    places, charges = instances(dimension, protons, factor, count, seed)
    landscape = PairEnergy.among(AlmostYukawa(dimension, 1.0, radius), places, charges, students=protons)
    candidates = spread(dimension, factor) * normals((count, protons, CANDIDATES, dimension), seed, 1)
    run = nodewise_descent if printed else log_nodewise_descent
    end = run(landscape, jnp.asarray(candidates))
    apart = np.linalg.norm(places[:, :, None] - np.asarray(end.positions)[:, None], axis=-1)
    return Recovery(apart.min(-1), float(np.mean(np.asarray(end.steps))))


@dataclass(frozen=True)
class Reach:
    """Algorithm 2 on G: the least distance of an electron to a proton, and the steps, one an instance."""

    distances: np.ndarray
    steps: np.ndarray


def reach_one(
    dimension: int, protons: int, factor: float, count: int, seed: int, radius: float = 0.5, step: float = 0.2
) -> Reach:
    """Run Algorithm 2 on G = L + |a|^2, started as in Lemma 22: one electron at 0 with its best charge (Theorem 12)."""
    places, charges = instances(dimension, protons, factor, count, seed)
    potential = AlmostYukawa(dimension, 1.0, radius)
    landscape = PairEnergy.among(potential, places, charges, students=protons, regularisation=1.0)
    positions = spread(dimension, factor) * normals((count, protons, dimension), seed, 2)
    positions[:, 0] = 0.0
    moving = np.zeros((count, protons))
    moving[:, 0] = 0.5 * np.asarray(landscape.field(jnp.zeros((count, 1, dimension)))[0])[:, 0]
    end = second_gd(
        landscape,
        landscape.join(jnp.asarray(positions), jnp.asarray(moving)),
        max_steps=100_000,
        step=2 * step,
        gradient_threshold=0.5e-6,
        curvature_threshold=0.5e-6,
    )
    apart = np.linalg.norm(np.asarray(end.point)[:, :, None, :-1] - places[:, None], axis=-1)
    return Reach(apart.min((1, 2)), np.asarray(end.steps))


@dataclass(frozen=True)
class Saddles:
    """Critical points of G with every electron in empty space: how many, the worst error of the trace, and the curvature.

    ``trace_error`` is relative to :math:`-2(1 + \\rho)\\lambda a_i^2`; ``curvature`` (found,) the least eigenvalues.
    """

    found: int
    trace_error: float
    curvature: np.ndarray


def saddles(
    electrons: int, protons: int, factor: float, count: int, seed: int, radius: float = 0.2, regularisation: float = 1.0
) -> Saddles:
    """Look for critical points of G from starts between two protons, and measure the Hessian there (Theorem 11)."""
    d = 3
    places, charges = instances(d, protons, factor, count, seed)
    potential = AlmostYukawa(d, 1.0, radius)
    landscape = PairEnergy.among(potential, places, charges, students=electrons, regularisation=regularisation)
    start = np.empty((count, electrons, d))
    for lane in range(count):
        rng = np.random.default_rng([seed, lane, 3])
        for i in range(electrons):
            pair = rng.choice(protons, 2, replace=False)
            start[lane, i] = places[lane, pair].mean(0) + 0.1 * rng.normal(size=d)
    best = landscape.best_charges(jnp.asarray(start))
    end = critical_points(landscape, landscape.join(jnp.asarray(start), best), steps=200)
    positions, moving = map(np.asarray, landscape.split(end.point))
    apart = np.linalg.norm(positions[:, :, None] - np.concatenate([positions, places], 1)[:, None], axis=-1)
    apart[:, np.arange(electrons), np.arange(electrons)] = np.inf
    found = 2 * np.asarray(end.gradient_norm) < TOLERANCES.critical_gradient  # of G = 2 F
    found &= (np.abs(moving).min(1) > 1e-3) & (apart.min((1, 2)) > radius)
    hessian = 2 * np.asarray(landscape.take(jnp.asarray(np.flatnonzero(found))).hessian(end.point[found]))
    blocks = hessian.reshape(-1, electrons, d + 1, electrons, d + 1)
    traces = np.stack([np.trace(blocks[:, i, :d, i, :d], axis1=1, axis2=2) for i in range(electrons)], -1)
    expected = -2 * (1 + regularisation) * moving[found] ** 2
    error = float(np.abs(traces / expected - 1).max()) if len(traces) else 0.0
    return Saddles(len(traces), error, np.linalg.eigvalsh(hessian)[:, 0] if len(traces) else np.zeros(0))


def coulomb_trace(dimension: int, count: int, seed: int) -> float:
    """Return the largest |trace| / norm of an electron's block of the Hessian under Coulomb's law (Theorem 9)."""
    k = 3
    places = normals((count, k, dimension), seed, 4)
    landscape = PairEnergy.among(Coulomb(dimension), places, np.ones(k), student_output_weights=np.ones(k))
    point = normals((count, k, dimension), seed, 5)
    blocks = np.asarray(landscape.hessian(jnp.asarray(point))).reshape(count, k, dimension, k, dimension)
    worst = 0.0
    for i in range(k):
        block = blocks[:, i, :, i]
        worst = max(
            worst, float((np.abs(np.trace(block, axis1=1, axis2=2)) / np.linalg.norm(block, axis=(1, 2))).max())
        )
    return worst


@dataclass(frozen=True)
class Powers:
    """Descent of one neuron under a power of the inner product: how many ends are at plus or minus a teacher neuron."""

    ends: int
    at_teacher: int
    worst: float


def power_descent(degree: int, count: int, seed: int, dimension: int = 5) -> Powers:
    """Run Algorithm 4 for one neuron against an orthonormal teacher (Theorem 30)."""
    bases = np.linalg.qr(normals((count, dimension, dimension), seed, 6))[0]
    charges = np.stack([np.random.default_rng([seed, lane, 7]).uniform(-1, 1, dimension) for lane in range(count)])
    start = normals((count, 1, dimension), seed, 8)
    start /= np.linalg.norm(start, axis=-1, keepdims=True)
    energy = PairEnergy.among(Hermite(degree), bases, charges, students=1)
    point = energy.join(jnp.asarray(start), energy.field(jnp.asarray(start))[0])
    cosines, there = np.zeros(count), np.zeros(count, dtype=bool)
    for _ in range(20):
        point = projected_descent(OnSphere(energy), point, steps=10_000, step=0.2)
        cosines = np.abs(np.einsum("nd,nkd->nk", np.asarray(point)[:, 0, :-1], bases)).max(1)
        there = cosines > 1 - TOLERANCES.at_teacher
        if there.all():
            break
    return Powers(count, int(there.sum()), float(1 - cosines.min()))
