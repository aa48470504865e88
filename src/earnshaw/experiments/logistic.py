"""Measurements on data sets drawn from the logistic model: where descents end, from which starts, and how convex it is there."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from typing import TypeVar

import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from earnshaw.descent import GradientDescent, Lanes, Outcome, Stopping, run_lanes
from earnshaw.descent.judges.budget import BudgetJudge
from earnshaw.experiments.fit import STATIONARY, FitPlan, descend_risk, name_end, safe_step
from earnshaw.experiments.sweep import Interrupted
from earnshaw.landscapes.empirical import EmpiricalRisk
from earnshaw.landscapes.logistic_data import draw
from earnshaw.problems.logistic import Logistic
from earnshaw.starts.logistic import random_starts, starts_around
from earnshaw.starts.tensor import TensorStart
from earnshaw.symmetry.assignment import relative_error, spread
from earnshaw.threads import cores, one_blas_thread

Array = NDArray[np.float64]
Item = TypeVar("Item")
Result = TypeVar("Result")
SAME = 1e-4  # two ends closer than this, relative to their size, are one minimiser
STRICT = (Outcome.CONVERGED, Outcome.GLOBAL)
SUCCESS = 1e-2  # the paper's limit for the spread of the ends


def spread_out(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    workers: int | None = None,
    progress: Callable[[float, str], None] = lambda share, what: None,
) -> list[Result]:
    """Return the function's results for all items, in their order, computed by several threads; BLAS has one."""
    stop = threading.Event()

    def guarded(item: Item) -> Result:
        if stop.is_set():
            raise Interrupted
        return function(item)

    with one_blas_thread(), ThreadPoolExecutor(workers or cores()) as pool:
        try:
            futures = {pool.submit(guarded, item): index for index, item in enumerate(items)}
            for done, future in enumerate(as_completed(futures), start=1):
                future.result()
                progress(done / len(items), f"{done}/{len(items)}")
        except BaseException as error:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            if isinstance(error, KeyboardInterrupt):
                raise Interrupted from error
            raise
        return [future.result() for future in futures]


@dataclass(frozen=True)
class Consensus:
    """Where descents from around the truth ended on one data set.

    Attributes
    ----------
    spread : the standard deviation of the aligned ends.
    error : their mean distance from the truth, relative.
    growth : their mean Frobenius norm, relative to the truth's: far above 1 where the weights run away.
    """

    spread: float
    error: float
    growth: float

    @property
    def success(self) -> bool:
        """Whether all ends are one by the paper's limit."""
        return self.spread <= SUCCESS


def consensus(
    problem: Logistic, starts: int, steps: int = 2000, step: float = 200.0, distance: float = 0.1
) -> Consensus:
    """Run gradient descent from points around the truth on one data set, for the paper's number of steps.

    A lane whose gradient falls below 1e-8 stops there. Reference: Fu, Chi & Liang (2018), section 6.
    """
    risk = EmpiricalRisk.of(draw(problem), problem.neurons, problem.activation)
    lanes = np.arange(starts)
    stopping = Stopping(max_steps=steps)
    work = Lanes(
        landscape=risk,
        descent=GradientDescent(step=step, check_every=100),
        judge=BudgetJudge(stopping, STATIONARY),
        starts=starts_around(problem.weights, distance, problem.seed, lanes),
        indices=lanes,
        batch=starts,
    )
    ledger, _ = run_lanes(work)
    ends = ledger.last_points
    errors = [relative_error(end, problem.weights) for end in ends]
    growth = np.linalg.norm(ends, axis=(1, 2)).mean() / np.linalg.norm(problem.weights)
    return Consensus(spread(ends), float(np.mean(errors)), float(growth))


@dataclass(frozen=True)
class Estimate:
    """The minimiser next to the truth on one data set: its relative error, and whether a strict minimum was reached."""

    error: float
    found: bool


def estimate(problem: Logistic, distance: float = 0.1) -> Estimate:
    """Descend from one point at this relative distance from the truth to the minimiser, with Newton's finish."""
    rows = replace(draw(problem), threads=1)
    risk = EmpiricalRisk.of(rows, problem.neurons, problem.activation)
    start = starts_around(problem.weights, distance, problem.seed, np.arange(1))
    plan = FitPlan(neurons=problem.neurons, activation=problem.activation, max_steps=200)
    (end,), _ = descend_risk(rows, risk, plan, safe_step(risk, start), start)
    return Estimate(relative_error(end.point, problem.weights), name_end(end) in STRICT)


@dataclass(frozen=True)
class StartContest:
    """Random starts against the tensor start on one data set.

    Attributes
    ----------
    random : how many random starts there were.
    best : how many of them ended at the lowest risk that anything reached.
    tensor_is_best : whether the tensor start ended there.
    ends : how many different minimisers the random starts found.
    undecided : how many random starts reached no strict minimum.
    """

    random: int
    best: int
    tensor_is_best: bool
    ends: int
    undecided: int


def contest(problem: Logistic, random: int) -> StartContest:
    """Descend from one tensor start and several random ones, and compare the ends."""
    rows = replace(draw(problem), threads=1)
    risk = EmpiricalRisk.of(rows, problem.neurons, problem.activation)
    tensor = TensorStart().guess(rows, problem.neurons, problem.activation).weights[None]
    chance = random_starts(problem.neurons, problem.dimension, problem.seed, np.arange(random))
    starts = np.concatenate([tensor, chance])
    plan = FitPlan(neurons=problem.neurons, activation=problem.activation, max_steps=200)
    ends, _ = descend_risk(rows, risk, plan, min(safe_step(risk, tensor), safe_step(risk, chance)), starts)
    settled = np.array([name_end(end) in STRICT for end in ends])
    best = ends[int(np.argmin(np.where(settled, [end.value for end in ends], np.inf)))].point
    reached = [bool(ok) and relative_error(end.point, best) < SAME for ok, end in zip(settled, ends, strict=True)]
    different: list[Array] = []
    for ok, end in zip(settled[1:], ends[1:], strict=True):
        if ok and not any(relative_error(end.point, other) < SAME for other in different):
            different.append(end.point)
    return StartContest(random, sum(reached[1:]), reached[0], len(different), int((~settled[1:]).sum()))


@dataclass(frozen=True)
class Curvature:
    """Extreme Hessian eigenvalues over spheres around a point, sampled: (radii,) arrays."""

    radius: Array
    least: Array
    most: Array


def curvature_over_ball(risk: EmpiricalRisk, weights: Array, radii: Array, samples: int, seed: int) -> Curvature:
    """Sample the Hessian at random points of spheres of these radii, and along the least-curved direction both ways."""
    values, vectors = np.linalg.eigh(np.asarray(risk.hessian(jnp.asarray(weights))))
    generator = np.random.default_rng([seed, 4])
    directions = generator.normal(size=(samples, *weights.shape))
    directions /= np.linalg.norm(directions, axis=(1, 2), keepdims=True)
    weakest = vectors[:, 0].reshape(weights.shape)
    directions = np.concatenate([directions, [weakest, -weakest]])
    least, most = [], []
    for radius in radii:
        spectra = np.asarray(risk.spectrum(weights + radius * directions))
        least.append(spectra[:, 0].min())
        most.append(spectra[:, -1].max())
    del values
    return Curvature(np.asarray(radii), np.array(least), np.array(most))
