"""Counts for the theorems about charges: many random instances in, how many behave as the theorem says out.

The paper's L and G are twice our energy F: its steps are twice as long on F, and its thresholds half as large.
"""

from __future__ import annotations

import math
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
from earnshaw.experiments.dynamics import solve
from earnshaw.landscapes import OnSphere, PairEnergy
from earnshaw.landscapes import charges as on_circle
from earnshaw.numerics import TOLERANCES
from earnshaw.potentials import Hermite
from earnshaw.potentials.radial import AlmostYukawa, Circle, Coulomb, Variant, turned
from earnshaw.problems.charges import random_protons, spread

CANDIDATES = 200
RADIUS = 0.5


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


def recover(dimension: int, protons: int, factor: float, count: int, seed: int, printed: bool = False) -> Recovery:
    """Run node-wise descent in the log domain, or Algorithm 3 as printed, on random instances (Theorem 17)."""
    places, landscape = instances(dimension, protons, factor, count, seed, RADIUS, students=protons)
    candidates = spread(dimension, factor) * normals((count, protons, CANDIDATES, dimension), seed, 1)
    end = (nodewise_descent if printed else log_nodewise_descent)(landscape, jnp.asarray(candidates))
    apart = np.linalg.norm(places[:, :, None] - np.asarray(end.positions)[:, None], axis=-1)
    return Recovery(apart.min(-1), float(np.mean(np.asarray(end.steps))))


@dataclass(frozen=True)
class Reach:
    """Algorithm 2 on G: the least distance of an electron to a proton, and the steps, one an instance."""

    distances: np.ndarray
    steps: np.ndarray


def reach_one(dimension: int, protons: int, factor: float, count: int, seed: int, step: float = 0.2) -> Reach:
    """Run Algorithm 2 on G = L + |a|^2, started as in Lemma 22: one electron at 0 with its best charge (Theorem 12)."""
    places, landscape = instances(dimension, protons, factor, count, seed, RADIUS, students=protons, regularisation=1.0)
    positions = spread(dimension, factor) * normals((count, protons, dimension), seed, 2)
    positions[:, 0] = 0.0
    moving = np.zeros((count, protons))
    moving[:, 0] = 0.5 * np.asarray(landscape.field(jnp.zeros((count, 1, dimension)))[0])[:, 0]
    start = landscape.join(jnp.asarray(positions), jnp.asarray(moving))
    limits = {"gradient_threshold": 0.5e-6, "curvature_threshold": 0.5e-6}
    end = second_gd(landscape, start, max_steps=100_000, step=2 * step, **limits)
    apart = np.linalg.norm(np.asarray(end.point)[:, :, None, :-1] - places[:, None], axis=-1)
    return Reach(apart.min((1, 2)), np.asarray(end.steps))


@dataclass(frozen=True)
class Saddles:
    """Critical points of G with every electron in empty space."""

    found: int  #: how many
    trace_error: float  #: the worst error of the trace, relative to :math:`-2(1 + \rho)\lambda a_i^2`
    clump_error: float  #: the same for all electrons moved together, see :func:`saddles`
    curvature: np.ndarray  #: (found,) the least eigenvalues


def saddles(
    electrons: int, protons: int, factor: float, count: int, seed: int, radius: float = 0.2, regularisation: float = 1.0
) -> Saddles:
    r"""Look for critical points of G from starts between two protons, and measure the Hessian there (Theorem 11).

    The trace of an electron's block is :math:`-2(1 + \rho)\lambda a_i^2`, with :math:`\rho` the regularisation. Electrons
    that are moved together keep their distances: their forces on each other drop out, and the trace over the moves of all is

    .. math:: -2\lambda\Big[\sum_{ij} a_i a_j \Phi(\theta_i, \theta_j) + \rho\sum_i a_i^2\Big],

    for a clump at one place :math:`-2\lambda[(\sum a_i)^2 + \rho\sum a_i^2]`.
    """
    d = 3
    electron = {"students": electrons, "regularisation": regularisation}
    places, landscape = instances(d, protons, factor, count, seed, radius, **electron)
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
    if not len(traces):
        return Saddles(0, 0.0, 0.0, np.zeros(0))
    charges, distances = (
        moving[found],
        np.linalg.norm(positions[found][:, :, None] - positions[found][:, None], axis=-1),
    )
    pairs = np.asarray(AlmostYukawa(d, 1.0, radius).value(jnp.asarray(distances)))
    energy = np.einsum("ni,nj,nij->n", charges, charges, pairs)
    together = np.einsum("niaja->n", hessian.reshape(-1, electrons, d + 1, electrons, d + 1)[:, :, :d, :, :d])
    clump = -2 * (energy + regularisation * (charges**2).sum(1))
    error, clump_error = (
        float(np.abs(measured / formula - 1).max()) for measured, formula in ((traces, expected), (together, clump))
    )
    return Saddles(len(traces), error, clump_error, np.linalg.eigvalsh(hessian)[:, 0])


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
    """Theorem 5: gradient flow on L/2 beside the dynamics of charges, each integrated on its own."""

    difference: float  #: their largest distance, at 50 times, for the dynamics under Phi
    doubled_difference: float  #: that under 2 Phi
    speed_ratio: float  #: the speed under 2 Phi over that of the flow, at the start


def compare_flows(seed: int, electrons: int = 3, protons: int = 4, until: float = 20.0) -> Flows:
    """Integrate both for random charges under the smooth variant S, and compare."""
    d = 3
    places, charges = random_protons(d, protons, 0.25, seed)
    moving = np.random.default_rng([seed, 0, 10]).uniform(-1, 1, electrons)
    start = spread(d, 0.25) * np.random.default_rng([seed, 0, 11]).normal(size=(electrons, d))
    potential = AlmostYukawa(d, 1.0, 0.5, Variant.S)
    landscape = PairEnergy.among(potential, places, charges, student_output_weights=-moving)
    times, start = jnp.linspace(0.0, until, 50), jnp.asarray(start)

    def downhill(
        x: jax.Array,
    ) -> jax.Array:  # by automatic differentiation of the loss; the dynamics add up pair forces
        return -jax.grad(landscape.value)(x)

    def path(velocity: Callable[[jax.Array], jax.Array], start: jax.Array) -> jax.Array:
        import diffrax

        return solve(velocity, start, 0.0, times[-1], 1e-11, 100_000, saveat=diffrax.SaveAt(ts=times)).ys

    flow = jax.jit(lambda x: path(downhill, x))(start)
    charges_move = jax.jit(lambda x, factor: path(lambda y: factor * landscape.velocity(y), x))
    single, double = charges_move(start, 1.0), charges_move(start, 2.0)
    ratio = jnp.linalg.norm(2 * landscape.velocity(start)) / jnp.linalg.norm(downhill(start))
    return Flows(float(jnp.abs(flow - single).max()), float(jnp.abs(flow - double).max()), float(ratio))


# ---- sign neurons on the circle: where descent ends, and what the ends look like -----------------------------------------


@dataclass(frozen=True)
class CircleEnds:
    """The ends of gradient descent of k electrons among k protons, all of charge 1."""

    runs: int
    at_global: int  #: those with an electron on every proton
    #: those where some electrons are on protons and the rest opposite each other in pairs: no electron can go down alone,
    #: and a pair that turns together changes nothing
    flat_pairs: int


def circle_ends(protons: int, runs: int, seed: int, step: float = 4e-3, steps: int = 2500) -> CircleEnds:
    """Run Algorithm 4 with fixed charges on the circle, then with a tenth and a hundredth of the step (Lemma 28)."""
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
