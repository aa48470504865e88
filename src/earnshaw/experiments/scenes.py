"""What the animations show, computed: a sweep that fills its histogram, and a minimum that becomes a saddle."""

from __future__ import annotations

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from earnshaw.descent import GradientDescent, Outcome, Stopping, Trace
from earnshaw.errors import InputError
from earnshaw.experiments.engine import run
from earnshaw.experiments.plan import Plan
from earnshaw.experiments.runs import Runs
from earnshaw.experiments.summary import families
from earnshaw.experiments.views import Descended, Place, beside, descend, place_of, plane, seen, unit
from earnshaw.landscapes import landscape
from earnshaw.landscapes.two_layer import split_neuron
from earnshaw.problems import TwoLayer, standard_teacher
from earnshaw.proof.certificate import Certificate, shipped_certificate


@dataclass(frozen=True)
class SweepScene:
    """The losses of all runs of one size over their steps."""

    size: int  # k = n
    steps: np.ndarray  # (T,) the moments
    values: np.ndarray  # (T, runs) losses; those of a run that has ended stay where it ended
    last: np.ndarray  # (runs,) the index of the moment at which each run has come to rest
    spurious: np.ndarray  # (runs,) whether it ended at a minimum that is not global
    levels: tuple[float, ...]  # the losses of the families of such minima, the most frequent first


def sweep_scene(size: int = 10, runs: int = 200, seed: int = 0, every: int = 25) -> SweepScene:
    """Run gradient descent from random starts as ``earnshaw sweep`` does, and keep every run's loss over time."""
    plan = Plan.of(TwoLayer(standard_teacher(size)), runs=runs, seed=seed, stopping=Stopping(trace=every))
    (result,) = run(plan).values()
    ended = Runs.of_arrays(plan.settings[0].problem, result.arrays)
    trace = Trace(**result.part("-trace"))
    spurious = ended.outcome == Outcome.SPURIOUS.code
    steps = np.arange(0, int(ended.steps.max()) + every, every)
    values = np.empty((len(steps), runs))
    for lane in range(runs):
        mine = trace.run == lane
        at, loss = trace.step[mine], trace.value[mine]
        before = np.clip(np.searchsorted(at, steps, side="right") - 1, 0, len(at) - 1)
        values[:, lane] = np.where(steps >= ended.steps[lane], ended.value[lane], loss[before])
    last = np.searchsorted(steps, ended.steps, side="left")
    levels = tuple(family.objective for family in families(ended.spurious))
    return SweepScene(size, steps, values, last, spurious, levels)


@dataclass(frozen=True)
class SplitScene:
    """A minimum of n neurons, and the same network with one of them split in two.

    The ``maps`` (A, rows, columns) show the loss of the n + 1 neurons on a plane that turns about the point, from one in
    which the halves move alike, as with n neurons, to the one that holds the way out.
    """

    neurons: int  # n
    loss: float  # F at the point, the same before and after
    gradient: float  # the gradient's norm after the split
    before: np.ndarray  # the Hessian's eigenvalues with n neurons, ascending
    after: np.ndarray  # with n + 1
    across: np.ndarray  # the coordinates of the maps' columns
    along: np.ndarray  # of their rows
    maps: np.ndarray
    curvatures: np.ndarray  # (A,) the second derivative along the plane's second direction
    stays: Descended  # gradient descent with n neurons from a push, in the first plane
    leaves: Descended  # with n + 1 neurons from a far smaller push along the new direction, in the last plane


def shipped_minimum() -> np.ndarray:
    """Return the weights (6, 6) of the proved minimum whose certificate comes with the package."""
    with shipped_certificate() as path:
        return place_of(Certificate.load(path)).ordered()


def split_scene(
    place: Place | None = None,
    neuron: int = 0,
    *,
    maps: int = 24,
    resolution: int = 61,
    push: float = 0.15,
    steps: int = 2500,
) -> SplitScene:
    """Split a neuron of a minimum (the shipped one, if none is given) in halves, and compute what there is to see.

    The last plane is spanned by the direction of most negative curvature and by where descent along it ends; the first
    plane by what of that end a network without the split can do, and by a softest direction of the minimum.
    """
    place = place or Place(TwoLayer(standard_teacher(6)), shipped_minimum())
    problem, old = place.problem, place.weights
    if not isinstance(problem, TwoLayer) or problem.unprovable is not None:
        what = problem.unprovable or "it has another network"
        raise InputError(f"neurons are split of ReLU networks that sum them, and of this problem not: {what}")
    new = split_neuron(old, neuron)
    small, large = landscape(problem), landscape(problem.with_students(problem.students + 1))
    step = GradientDescent().step
    hessian = np.asarray(large.hessian(jnp.asarray(new)))
    after, vectors = np.linalg.eigh(hessian)
    parting = vectors[:, 0].reshape(new.shape)
    parting *= np.sign(parting[-1].sum()) or 1.0
    run = descend(large, new + 1e-3 * parting, steps, step)
    moved = beside(run[-1] - new, parting)
    opens = np.linalg.norm(moved) > 1e-2  # a minimum that stays one leads nowhere: any other direction will do then
    away = unit(moved if opens else beside(vectors[:, 1].reshape(new.shape), parting))
    before, eigenvectors = np.linalg.eigh(np.asarray(small.hessian(jnp.asarray(old))))
    # A move of n neurons is one of n + 1 in which each half of the split neuron makes half of it.
    together = unit(split_neuron(_merged(away, neuron), neuron))
    soft = eigenvectors[:, before < before[0] + 1e-6]
    some = (soft @ soft.T @ np.random.default_rng(0).normal(size=old.size)).reshape(old.shape)
    softest = unit(beside(split_neuron(beside(some, _merged(away, neuron)), neuron), together))

    turn = np.linspace(np.pi / 2, 0, maps)[::-1, None, None]
    first = np.stack([unit(axis) for axis in np.cos(turn) * together + np.sin(turn) * away])
    second = np.cos(turn) * softest + np.sin(turn) * parting
    second = np.stack([unit(beside(axis, other)) for axis, other in zip(second, first, strict=True)])
    end = [float(np.vdot(run[-1] - new, axis[-1])) for axis in (first, second)]
    room = max(0.5, 0.5 * max(map(abs, end)))
    across, along = (np.linspace(min(0.0, x) - room, max(0.0, x) + room, resolution) for x in end)
    start = old + push * unit(unit(_merged(together, neuron)) + unit(_merged(softest, neuron)))
    back = descend(small, start, steps, step)
    flat = second.reshape(maps, -1)
    return SplitScene(
        neurons=len(old),
        loss=float(large.value(jnp.asarray(new))),
        gradient=float(np.linalg.norm(np.asarray(large.gradient(jnp.asarray(new))))),
        before=before,
        after=after,
        across=across,
        along=along,
        maps=np.stack([plane(large, new, x, y, across, along) for x, y in zip(first, second, strict=True)]),
        curvatures=np.einsum("ai,ij,aj->a", flat, hessian, flat),
        stays=seen(small, back, np.stack([split_neuron(p - old, neuron) for p in back]), first[0], second[0]),
        leaves=seen(large, run, run - new, first[-1], second[-1]),
    )


def _merged(change: np.ndarray, neuron: int) -> np.ndarray:
    """Return a move of n + 1 neurons as one of n, the halves put together again."""
    merged = change[:-1].copy()
    merged[neuron] += change[-1]
    return merged
