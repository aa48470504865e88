"""Measurements on data sets drawn from the logistic model: where descents end, from which starts, and how convex it is there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from earnshaw.descent import GradientDescent, Lanes, Outcome, Stopping, run_lanes
from earnshaw.descent.judges.base import BudgetJudge, name_end
from earnshaw.descent.newton.dense import NewtonEnd
from earnshaw.errors import checked_seed
from earnshaw.experiments.engine import run
from earnshaw.experiments.fit import FitPlan, descend_risk, safe_step
from earnshaw.experiments.work import Context, Done, Finished, Piece, Progress, Work, finished, quiet
from earnshaw.landscapes.empirical import EmpiricalRisk
from earnshaw.landscapes.logistic_data import draw
from earnshaw.landscapes.logistic_theory import asymptotic_error
from earnshaw.landscapes.rows import Rows
from earnshaw.numerics import TOLERANCES
from earnshaw.problems.logistic import Labels, Logistic, gaussian_weights
from earnshaw.records import decode, fields_of
from earnshaw.starts import Xavier, starts_around
from earnshaw.starts.tensor import TensorStart
from earnshaw.store import Arrays
from earnshaw.symmetry.assignment import relative_error, spread

Array = NDArray[np.float64]
STRICT = (Outcome.CONVERGED, Outcome.GLOBAL)


@dataclass(frozen=True)
class Consensus:
    """Where descents from around the truth ended on one data set."""

    spread: float  #: the standard deviation of the aligned ends
    error: float  #: their mean distance from the truth, relative
    growth: float  #: their mean Frobenius norm, relative to the truth's: far above 1 where the weights run away

    @property
    def success(self) -> bool:
        """Whether all ends are one by the paper's limit."""
        return self.spread <= TOLERANCES.consensus


def consensus(
    problem: Logistic, starts: int, steps: int = 2000, step: float = 200.0, distance: float = 0.1
) -> Consensus:
    """Run gradient descent from points around the truth on one data set, for the paper's number of steps.

    A lane whose gradient falls below 1e-8 stops there. Reference: Fu, Chi & Liang (2018), section 6.
    """
    work = Lanes(
        landscape=EmpiricalRisk.of(draw(problem), problem.neurons, problem.activation),
        descent=GradientDescent(step=step, check_every=100),
        judge=BudgetJudge(stopping=Stopping(max_steps=steps)),
        starts=starts_around(problem.weights, distance, problem.seed, np.arange(starts)),
        indices=np.arange(starts),
        batch=starts,
    )
    ends = run_lanes(work)[0].last_points
    error = np.mean([relative_error(end, problem.weights) for end in ends])
    growth = np.linalg.norm(ends, axis=(1, 2)).mean() / np.linalg.norm(problem.weights)
    return Consensus(spread(ends), float(error), float(growth))


@dataclass(frozen=True)
class Estimate:
    """The minimiser next to the truth on one data set: its distance from it, relative to the truth's norm."""

    error: float
    found: bool  #: whether a strict minimum was reached
    expected: float  #: the root mean square error that holds for many rows (:func:`asymptotic_error`), relative as well


def estimate(problem: Logistic, distance: float = 0.1) -> Estimate:
    """Descend from one point at this relative distance from the truth to the minimiser, with Newton's finish."""
    start = starts_around(problem.weights, distance, problem.seed, np.arange(1))
    rows = replace(draw(problem), threads=1)
    # So near the minimiser twenty steps do: two hundred lead to the same points, to 1e-11, and take three times as long.
    (end,) = _minimisers(problem, rows, 20, start)
    expected = asymptotic_error(problem, rows) / float(np.linalg.norm(problem.weights))
    return Estimate(relative_error(end.point, problem.weights), name_end(end) in STRICT, expected)


def _minimisers(problem: Logistic, rows: Rows, steps: int, *starts: Array) -> list[NewtonEnd]:
    """Take some steps from several kinds of starts, of a length that is safe for each kind, with Newton's finish."""
    risk = EmpiricalRisk.of(rows, problem.neurons, problem.activation)
    plan = FitPlan(neurons=problem.neurons, activation=problem.activation, max_steps=steps)
    return descend_risk(rows, risk, plan, min(safe_step(risk, some) for some in starts), np.concatenate(starts))[0]


@dataclass(frozen=True)
class StartContest:
    """Random starts against the tensor start on one data set."""

    random: int  #: how many random starts
    best: int  #: those of them that ended at the lowest risk that anything reached
    tensor_is_best: bool  #: whether the tensor start ended there
    ends: int  #: the different minimisers that they found
    undecided: int  #: those that ended at no strict minimum


def contest(problem: Logistic, random: int) -> StartContest:
    """Descend from one tensor start and several random ones, and compare the ends."""
    rows = replace(draw(problem), threads=1)
    tensor = TensorStart().guess(rows, problem.neurons, problem.activation).weights[None]
    ends = _minimisers(problem, rows, 200, tensor, Xavier().draw(problem, problem.seed, np.arange(random)))
    settled = np.array([name_end(end) in STRICT for end in ends])
    best = ends[int(np.argmin(np.where(settled, [end.value for end in ends], np.inf)))].point

    def same(point: Array, other: Array) -> bool:
        return relative_error(point, other) < TOLERANCES.same_minimiser

    reached = [bool(ok) and same(end.point, best) for ok, end in zip(settled, ends, strict=True)]
    different: list[Array] = []
    for ok, end in zip(settled[1:], ends[1:], strict=True):
        if ok and not any(same(end.point, other) for other in different):
            different.append(end.point)
    return StartContest(random, sum(reached[1:]), reached[0], len(different), int((~settled[1:]).sum()))


MEASUREMENTS: dict[str, Callable[..., Any]] = {"consensus": consensus, "estimate": estimate, "contest": contest}
RESULTS = {"consensus": Consensus, "estimate": Estimate, "contest": StartContest}


@dataclass(frozen=True, kw_only=True)
class DataSets:
    """Data sets of one size, each from a network of standard normal weights."""

    neurons: int
    dimension: int
    samples: int
    sets: int
    labels: Labels = Labels.CLASSIFICATION

    @property
    def name(self) -> str:
        """The file name: K3-d20-n8000."""
        kind = "-exact" if self.labels is Labels.REGRESSION else ""
        return f"K{self.neurons}-d{self.dimension}-n{self.samples}{kind}"

    def problem(self, seed: int, index: int) -> Logistic:
        """Return the problem of one data set."""
        seed = 1000 * seed + index
        return Logistic(gaussian_weights(self.neurons, self.dimension, seed), self.samples, self.labels, seed=seed)


@dataclass(frozen=True, kw_only=True)
class Measurement(Work):
    """One measurement, by name and with its numbers, on many data sets of several sizes; each data set is a piece."""

    kind: ClassVar[str] = "data-sets"

    what: str
    numbers: Mapping[str, float]
    settings: tuple[DataSets, ...]
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse a seed that is none."""
        checked_seed(self.seed)

    @property
    def parts(self) -> dict[str, dict[str, Any]]:
        """One setting for each size."""
        identities = {size: fields_of(replace(size, sets=0)) for size in self.settings}
        return {size.name: {"identity": identities[size], "runs": size.sets, "plan": {}} for size in self.settings}

    @classmethod
    def from_json(cls, common: Mapping[str, Any], parts: Mapping[str, Any], functions: bool = False) -> Self:
        """Rebuild the work from its manifest."""
        sizes = [decode(DataSets, {**part["identity"], "sets": part["runs"]}) for part in parts.values()]
        return decode(cls, common, settings=tuple(sizes))

    def pieces(self, name: str) -> list[Piece]:
        """Return one piece for each data set."""
        size = self.by_name[name]
        return [Piece(name, i, i + 1, size.dimension * size.samples) for i in range(size.sets)]

    def compute(self, piece: Piece, context: Context) -> Arrays:
        """Measure one data set."""
        if context.cancelled():
            raise InterruptedError("the measurement was cancelled")
        found = MEASUREMENTS[self.what](self.by_name[piece.setting].problem(self.seed, piece.low), **self.numbers)
        return {name: np.array([value]) for name, value in asdict(found).items()}

    def finish(self, name: str, pieces: list[Arrays]) -> Finished:
        """Put the numbers of all data sets one under the other."""
        arrays = {key: np.concatenate([piece[key] for piece in pieces]) for key in pieces[0]}
        return Finished(fields_of(self.by_name[name]) | {"what": self.what}, {"": arrays})

    @classmethod
    def load(cls, folder: Path, functions: bool = False) -> dict[str, list[Any]]:
        """Return the measurements of a finished folder by the name of the size."""
        return {done.name: _read(done) for done in finished(folder)}


def _read(done: Done) -> list[Any]:
    """Return the measurements of one size as the objects that were measured."""
    result = RESULTS[done.record["what"]]
    columns = [done.arrays[entry.name].tolist() for entry in fields(result)]
    return [result(*row) for row in zip(*columns, strict=True)]


def measure(
    what: str,
    sizes: Iterable[DataSets],
    out: Path | None = None,
    seed: int = 0,
    workers: int | None = None,
    progress: Progress = quiet,
    cluster: str | None = None,
    **numbers: float,
) -> dict[str, list[Any]]:
    """Measure ``consensus``, ``estimate`` or ``contest`` on data sets of these sizes; return the results by size's name.

    With ``out`` finished data sets are kept, and more of them extend what is there. ``cluster`` is that of
    :func:`earnshaw.experiments.run`.
    """
    work = Measurement(what=what, numbers=numbers, settings=tuple(sizes), seed=seed)
    return {name: _read(done) for name, done in run(work, out, workers, progress, cluster=cluster).items()}


@dataclass(frozen=True)
class Curvature:
    """Extreme Hessian eigenvalues over spheres around a point, sampled: (radii,) arrays."""

    radius: Array
    least: Array
    most: Array


def curvature_over_ball(risk: EmpiricalRisk, weights: Array, radii: Array, samples: int, seed: int) -> Curvature:
    """Sample the Hessian at random points of spheres of these radii, and along the least-curved direction both ways."""
    vectors = np.linalg.eigh(np.asarray(risk.hessian(jnp.asarray(weights))))[1]
    directions = np.random.default_rng([seed, 4]).normal(size=(samples, *weights.shape))
    directions /= np.linalg.norm(directions, axis=(1, 2), keepdims=True)
    weakest = vectors[:, 0].reshape(weights.shape)
    directions = np.concatenate([directions, [weakest, -weakest]])
    spectra = [np.asarray(risk.spectrum(weights + radius * directions)) for radius in radii]
    least, most = [some[:, 0].min() for some in spectra], [some[:, -1].max() for some in spectra]
    return Curvature(np.asarray(radii), np.array(least), np.array(most))
