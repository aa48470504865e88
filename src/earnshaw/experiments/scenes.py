"""What the animations show, computed: a sweep that fills its histogram, and a minimum that becomes a saddle."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.descent import GradientDescent, Outcome, Stopping, Trace
from earnshaw.experiments.engine import run
from earnshaw.experiments.plan import Plan
from earnshaw.experiments.runs import Runs
from earnshaw.experiments.summary import families
from earnshaw.landscapes import TwoLayerLandscape, landscape
from earnshaw.landscapes.two_layer import split_neuron
from earnshaw.numerics import compiled
from earnshaw.problems import TwoLayer, standard_teacher
from earnshaw.proof.certificate import Certificate, shipped_certificate

EVERY = 10  # steps between the moments of a descent that is shown


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
class Descended:
    """A run seen in a plane."""

    steps: np.ndarray  # (T,)
    losses: np.ndarray  # (T,)
    places: np.ndarray  # (T, 2), its two coordinates there


@dataclass(frozen=True)
class SplitScene:
    """A proved minimum of k = n = 6, and the same network with one neuron split in two.

    The ``maps`` (A, rows, columns) show the loss of the 7 neurons on a plane that turns about the point, from one in
    which the halves move alike, as with 6 neurons, to the one that holds the way out.
    """

    loss: float  # F at the point, the same before and after
    gradient: float  # the gradient's norm after the split
    before: np.ndarray  # the Hessian's eigenvalues with 6 neurons, ascending
    after: np.ndarray  # with 7
    across: np.ndarray  # the coordinates of the maps' columns
    along: np.ndarray  # of their rows
    maps: np.ndarray
    curvatures: np.ndarray  # (A,) the second derivative along the plane's second direction
    stays: Descended  # gradient descent with 6 neurons from a push, in the first plane
    leaves: Descended  # with 7 neurons from a far smaller push along the new direction, in the last plane


def shipped_minimum() -> np.ndarray:
    """Return the weights (6, 6) of the proved minimum whose certificate comes with the package."""
    with shipped_certificate() as path:
        center = Certificate.load(path).document["center"]
    return np.array([[float.fromhex(entry) for entry in row] for row in center])


def split_scene(maps: int = 24, resolution: int = 61, push: float = 0.15, steps: int = 2500) -> SplitScene:
    """Split the first neuron of the shipped minimum in halves, and compute what there is to see.

    The last plane is spanned by the direction of most negative curvature and by where descent along it ends; the first
    plane by what of that end a network of 6 neurons can do, and by a softest direction of the minimum.
    """
    old = shipped_minimum()
    new = split_neuron(old, 0)
    small, large = (landscape(TwoLayer(standard_teacher(6), students=n)) for n in (6, 7))
    hessian = np.asarray(large.hessian(jnp.asarray(new)))
    after, vectors = np.linalg.eigh(hessian)
    parting = vectors[:, 0].reshape(new.shape)
    parting *= np.sign(parting[-1].sum()) or 1.0
    run = _descend(large, new + 1e-3 * parting, steps)
    away = _unit(_beside(run[-1] - new, parting))
    before, eigenvectors = np.linalg.eigh(np.asarray(small.hessian(jnp.asarray(old))))
    # A move of 6 neurons is one of 7 in which each half of the split neuron makes half of it.
    together = _unit(split_neuron(_merged(away), 0))
    soft = eigenvectors[:, before < before[0] + 1e-6]
    some = (soft @ soft.T @ np.random.default_rng(0).normal(size=old.size)).reshape(old.shape)
    softest = _unit(_beside(split_neuron(_beside(some, _merged(away)), 0), together))

    turn = np.linspace(0, np.pi / 2, maps)[:, None, None]
    first = np.stack([_unit(axis) for axis in np.cos(turn) * together + np.sin(turn) * away])
    second = np.cos(turn) * softest + np.sin(turn) * parting
    second = np.stack([_unit(_beside(axis, other)) for axis, other in zip(second, first, strict=True)])
    across, along = np.linspace(-0.5, 1.5, resolution), np.linspace(-0.55, 1.05, resolution)
    columns, rows = across[:, None, None], along[:, None, None, None]
    planes = [new + columns * x + rows * y for x, y in zip(first, second, strict=True)]
    start = old + push * _unit(_unit(_merged(together)) + _unit(_merged(softest)))
    back = _descend(small, start, steps)
    flat = second.reshape(maps, -1)
    return SplitScene(
        loss=float(large.value(jnp.asarray(new))),
        gradient=float(np.linalg.norm(np.asarray(large.gradient(jnp.asarray(new))))),
        before=before,
        after=after,
        across=across,
        along=along,
        maps=np.stack([np.asarray(large.value(jnp.asarray(plane))) for plane in planes]),
        curvatures=np.einsum("ai,ij,aj->a", flat, hessian, flat),
        stays=_seen(small, back, np.stack([split_neuron(p - old, 0) for p in back]), first[0], second[0]),
        leaves=_seen(large, run, run - new, first[-1], second[-1]),
    )


def _descend(energy: TwoLayerLandscape, start: np.ndarray, steps: int) -> np.ndarray:
    """Return the iterates of plain gradient descent at every tenth step."""

    @compiled
    def walk(point: jax.Array) -> jax.Array:
        def some(point: jax.Array, _: None) -> tuple[jax.Array, jax.Array]:
            onward = jax.lax.fori_loop(0, EVERY, lambda _, p: p - GradientDescent().step * energy.gradient(p), point)
            return onward, point

        return jax.lax.scan(some, point, None, length=steps // EVERY + 1)[1]

    return np.asarray(walk(jnp.asarray(start)))


def _merged(change: np.ndarray) -> np.ndarray:
    """Return a move of 7 neurons as one of 6, the halves put together again."""
    merged = change[:-1].copy()
    merged[0] += change[-1]
    return merged


def _beside(direction: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the part of a direction that is at right angles to another."""
    return direction - np.vdot(direction, other) / np.vdot(other, other) * other


def _unit(direction: np.ndarray) -> np.ndarray:
    return direction / np.linalg.norm(direction)


def _seen(energy: TwoLayerLandscape, points: np.ndarray, moves: np.ndarray, *plane: np.ndarray) -> Descended:
    places = np.stack([np.tensordot(moves, axis, 2) for axis in plane], -1)
    return Descended(EVERY * np.arange(len(points)), np.asarray(energy.value(jnp.asarray(points))), places)
