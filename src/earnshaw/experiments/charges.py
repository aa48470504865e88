"""Counts for the theorems about charges: many random instances in, how many behave as the theorem says out.

The paper's L and G are twice our energy F: its steps are twice as long on F, and its thresholds half as large.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.descent.newton.dense import critical_points
from earnshaw.descent.optimizers.first_order import projected_descent
from earnshaw.descent.optimizers.nodewise import log_nodewise_descent, nodewise_descent
from earnshaw.descent.optimizers.second_order import second_gd
from earnshaw.landscapes import OnSphere, PairEnergy
from earnshaw.numerics import TOLERANCES
from earnshaw.potentials import Hermite
from earnshaw.potentials.radial import AlmostYukawa, Coulomb, Variant
from earnshaw.problems.charges import random_protons, spread

CANDIDATES = 200


def instances(
    dimension: int, protons: int, factor: float, count: int, seed: int, radius: float, **electrons: Any
) -> tuple[np.ndarray, PairEnergy]:
    """Return protons (count, k, d) of Theorem 12's random instances, one a lane, and the energy of electrons among them."""
    drawn = [random_protons(dimension, protons, factor, seed, lane) for lane in range(count)]
    places, charges = map(np.stack, zip(*drawn, strict=True))
    return places, PairEnergy.among(AlmostYukawa(dimension, 1.0, radius), places, charges, **electrons)


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
    dimension: int, protons: int, factor: float, count: int, seed: int, radius: float = 0.5, printed: bool = False
) -> Recovery:
    """Run node-wise descent in the log domain, or Algorithm 3 as printed, on random instances (Theorem 17)."""
    places, landscape = instances(dimension, protons, factor, count, seed, radius, students=protons)
    candidates = spread(dimension, factor) * normals((count, protons, CANDIDATES, dimension), seed, 1)
    end = (nodewise_descent if printed else log_nodewise_descent)(landscape, jnp.asarray(candidates))
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
    places, landscape = instances(dimension, protons, factor, count, seed, radius, students=protons, regularisation=1.0)
    positions = spread(dimension, factor) * normals((count, protons, dimension), seed, 2)
    positions[:, 0] = 0.0
    moving = np.zeros((count, protons))
    moving[:, 0] = 0.5 * np.asarray(landscape.field(jnp.zeros((count, 1, dimension)))[0])[:, 0]
    start = landscape.join(jnp.asarray(positions), jnp.asarray(moving))
    end = second_gd(
        landscape, start, max_steps=100_000, step=2 * step, gradient_threshold=0.5e-6, curvature_threshold=0.5e-6
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
    places, landscape = instances(
        d, protons, factor, count, seed, radius, students=electrons, regularisation=regularisation
    )
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
    traces = np.trace(_own_blocks(hessian, electrons)[..., :d, :d], axis1=2, axis2=3)
    expected = -2 * (1 + regularisation) * moving[found] ** 2
    error = float(np.abs(traces / expected - 1).max()) if len(traces) else 0.0
    return Saddles(len(traces), error, np.linalg.eigvalsh(hessian)[:, 0] if len(traces) else np.zeros(0))


def coulomb_trace(dimension: int, count: int, seed: int) -> float:
    """Return the largest |trace| / norm of an electron's block of the Hessian under Coulomb's law (Theorem 9)."""
    k = 3
    places = normals((count, k, dimension), seed, 4)
    landscape = PairEnergy.among(Coulomb(dimension), places, np.ones(k), student_output_weights=np.ones(k))
    point = normals((count, k, dimension), seed, 5)
    own = _own_blocks(np.asarray(landscape.hessian(jnp.asarray(point))), k)
    return float((np.abs(np.trace(own, axis1=2, axis2=3)) / np.linalg.norm(own, axis=(2, 3))).max())


def _own_blocks(hessian: np.ndarray, electrons: int) -> np.ndarray:
    """Return the diagonal blocks (lanes, n, width, width) of Hessians, one for each electron."""
    width = hessian.shape[-1] // electrons
    return np.einsum("niaib->niab", hessian.reshape(-1, electrons, width, electrons, width))


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
    energy = OnSphere.among(Hermite(degree), bases, charges, students=1)
    point = energy.join(jnp.asarray(start), energy.field(jnp.asarray(start))[0])
    cosines, there = np.zeros(count), np.zeros(count, dtype=bool)
    for _ in range(20):
        point = projected_descent(energy, point, steps=10_000, step=0.2)
        cosines = np.abs(np.einsum("nd,nkd->nk", np.asarray(point)[:, 0, :-1], bases)).max(1)
        there = cosines > 1 - TOLERANCES.at_teacher
        if there.all():
            break
    return Powers(count, int(there.sum()), float(1 - cosines.min()))


@dataclass(frozen=True)
class Flows:
    """Theorem 5: gradient flow on L/2 beside the dynamics of charges, each integrated on its own.

    ``difference`` is their largest distance, at 50 times, for the dynamics under Phi, ``doubled_difference`` that under
    2 Phi; ``speed_ratio`` is the speed under 2 Phi over that of the flow, at the start.
    """

    difference: float
    doubled_difference: float
    speed_ratio: float


def integrate(
    velocity: Callable[[jax.Array], jax.Array], start: jax.Array, times: jax.Array, tolerance: float = 1e-11
) -> jax.Array:
    """Return the solution (times, *shape) of an autonomous equation."""
    import diffrax

    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(lambda t, y, args: velocity(y)),
        diffrax.Tsit5(),
        t0=0.0,
        t1=times[-1],
        dt0=None,
        y0=start,
        saveat=diffrax.SaveAt(ts=times),
        stepsize_controller=diffrax.PIDController(rtol=tolerance, atol=tolerance),
        max_steps=100_000,
    )
    assert solution.ys is not None
    return solution.ys


def compare_flows(seed: int, electrons: int = 3, protons: int = 4, until: float = 20.0) -> Flows:
    """Integrate both for random charges under the smooth variant S, and compare.

    The flow takes the gradient of F = L/2 by automatic differentiation of the loss; the dynamics add up pair forces.
    """
    d = 3
    places, charges = random_protons(d, protons, 0.25, seed)
    moving = np.random.default_rng([seed, 0, 10]).uniform(-1, 1, electrons)
    start = spread(d, 0.25) * np.random.default_rng([seed, 0, 11]).normal(size=(electrons, d))
    potential = AlmostYukawa(d, 1.0, 0.5, Variant.S)
    landscape = PairEnergy.among(potential, places, charges, student_output_weights=-moving)
    times, start = jnp.linspace(0.0, until, 50), jnp.asarray(start)

    def downhill(x: jax.Array) -> jax.Array:
        return -jax.grad(landscape.value)(x)

    flow = jax.jit(lambda x: integrate(downhill, x, times))(start)
    charges_move = jax.jit(lambda x, factor: integrate(lambda y: factor * landscape.velocity(y), x, times))
    single, double = charges_move(start, 1.0), charges_move(start, 2.0)
    ratio = jnp.linalg.norm(2 * landscape.velocity(start)) / jnp.linalg.norm(downhill(start))
    return Flows(float(jnp.abs(flow - single).max()), float(jnp.abs(flow - double).max()), float(ratio))
