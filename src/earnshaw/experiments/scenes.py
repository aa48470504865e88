"""What films show, computed: a sweep that fills its histogram, a minimum that becomes a saddle, charges in motion."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

import jax.numpy as jnp
import numpy as np

from earnshaw.descent import GradientDescent, Outcome, Trace
from earnshaw.errors import InputError
from earnshaw.experiments.dynamics import Trajectory
from earnshaw.experiments.plan import Plan
from earnshaw.experiments.runs import Runs
from earnshaw.experiments.summary import MINIMA, families
from earnshaw.experiments.sweep import Sweep, SweepResult, run_plan
from earnshaw.experiments.views import (
    Descended,
    Place,
    Slice,
    beside,
    descend,
    place_of,
    places_in,
    plane,
    seen,
    slice_of,
    unit,
)
from earnshaw.experiments.work import load, work_of
from earnshaw.landscapes import landscape
from earnshaw.landscapes.two_layer import split_neuron
from earnshaw.problems import Problem, TwoLayer, standard_teacher
from earnshaw.proof.certificate import Certificate, shipped_certificate

EVERY = 25  # steps between the records of runs that are run again
MOMENTS = 200  # of a film of a sweep, and as many more while most runs are on their way
FILMED = 200  # runs that are run again, where nothing was recorded of them


@dataclass(frozen=True, eq=False)
class SweepScene:
    """The losses of all runs of one problem over their steps."""

    problem: Problem
    steps: np.ndarray  # (T,) the moments
    values: np.ndarray  # (T, runs) losses; those of a run that has ended stay where it ended
    last: np.ndarray  # (runs,) the index of the moment at which each run has come to rest
    found: np.ndarray  # (runs,) whether it found the global minimum
    spurious: np.ndarray  # (runs,) whether it ended at a minimum that is not (known to be) global
    levels: tuple[float, ...]  # the losses of the families of such minima, the most frequent first
    again: bool = False  # whether these are runs of a folder that were run again, to be recorded
    lost: int = 0  # runs that diverged, and are not here


def sweep_scene(runs: Runs, again: bool = False) -> SweepScene:
    """Return the losses over time of runs that were recorded on their way.

    Moments are closer while nine in ten of the runs are on their way than after that. Runs that diverged are left out.
    """
    trace, many = recorded(runs), len(runs)
    runs = runs[np.isfinite(runs.value)]
    if not len(runs):
        raise InputError(f"none of these {many} runs ended at a finite loss; there is nothing to show")
    ends = MOMENTS * np.ceil(np.array([np.quantile(runs.steps, 0.9), runs.steps.max()]) / MOMENTS).astype(int)
    steps = np.unique([np.linspace(0, max(end, MOMENTS), MOMENTS + 1, dtype=int) for end in ends])
    values = np.empty((len(steps), len(runs)))
    for lane, run in enumerate(runs.run):
        mine = trace.run == run
        at, loss = trace.step[mine], trace.value[mine]
        before = np.clip(np.searchsorted(at, steps, side="right") - 1, 0, len(at) - 1)
        values[:, lane] = np.where(steps >= runs.steps[lane], runs.value[lane], loss[before])
    return SweepScene(
        problem=runs.problem,
        steps=steps,
        values=values,
        last=np.searchsorted(steps, runs.steps, side="left"),
        found=runs.outcome == Outcome.GLOBAL.code,
        spurious=np.isin(runs.outcome, [outcome.code for outcome in MINIMA]),
        levels=tuple(family.objective for family in families(runs.where(*MINIMA))),
        again=again,
        lost=many - len(runs),
    )


def recorded(runs: Runs | SweepResult) -> Trace:
    """Return what was recorded of runs on their way; where nothing was, raise :class:`InputError`."""
    if runs.trace is None:
        raise InputError("of these runs nothing was recorded on the way; sweep with trace=25, a record every 25 steps")
    return runs.trace


def traced(plan: Plan, name: str, most: int) -> Runs:
    """Run the first runs of a setting, so many at most, and record them every 25 steps."""
    setting = plan.by_name[name]
    some = dataclasses.replace(setting, runs=min(setting.runs, most), kernel="")
    stopping = dataclasses.replace(plan.stopping, trace=EVERY)
    (result,) = run_plan(dataclasses.replace(plan, settings=(some,), stopping=stopping))
    return dataclasses.replace(result.runs, trace=result.trace)


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


def splits(problem: Problem) -> TypeGuard[TwoLayer]:
    """Whether neurons of this problem can be split: ReLU networks that sum them."""
    return isinstance(problem, TwoLayer) and problem.unprovable is None


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
    if not splits(problem):
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


Scene = SweepScene | SplitScene | Slice | Trajectory


def scenes_of(source: Any, quick: bool = False) -> Iterator[tuple[str, Scene]]:
    """Yield what there is to be filmed, with a name: of a run folder, a certificate or a file of points, or of an object.

    Of a sweep each setting is a scene, of a folder of charges in motion their trajectory. Of a point it is a neuron that is
    split in two, or where neurons are not split, the loss on a plane through it. Runs of a folder that were not recorded
    on their way are run again, the first 200 of each setting; ``quick`` asks for 32, and for coarse maps.
    """
    if isinstance(source, str | Path):
        folder = Path(source)
        if (folder / "manifest.json").exists():
            held = load(folder)
            if not isinstance(held, Sweep | Trajectory):
                kind = type(held).__name__
                raise InputError(f"{folder} holds a {kind}; films are made of sweeps, charges in motion and points")
            source = held.whole() if isinstance(held, Sweep) else held
        else:
            for name, place in places_in(folder).items():
                yield name, _of_point(place, quick)
            return
    if isinstance(source, Sweep):
        for result in source:
            yield result.name, _of_result(result, quick)
    elif isinstance(source, SweepResult):
        yield source.name, _of_result(source, quick)
    elif isinstance(source, Runs):
        yield source.problem.name, sweep_scene(source)
    elif isinstance(source, Trajectory):
        yield "dynamics", source
    else:
        place = place_of(source)
        yield f"{place.problem.name}-point", _of_point(place, quick)


def _of_result(result: SweepResult, quick: bool) -> SweepScene:
    if result.trace is not None or not isinstance(result.files, Path):
        return sweep_scene(dataclasses.replace(result.runs, trace=recorded(result)))
    plan = work_of(result.files.parent)
    assert isinstance(plan, Plan)
    return sweep_scene(traced(plan, result.name, 32 if quick else FILMED), again=True)


def _of_point(place: Place, quick: bool) -> SplitScene | Slice:
    place = Place(place.problem, place.ordered())
    coarse: dict[str, Any] = {"resolution": 21} if quick else {}
    if not splits(place.problem):
        return slice_of(place, **coarse)
    return split_scene(place, maps=3 if quick else 24, **coarse)
