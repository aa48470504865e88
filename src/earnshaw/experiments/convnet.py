"""Sweeps of the convolutional network: one random teacher and one random start (or its four signs) a run."""

from __future__ import annotations

import dataclasses
import math
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from earnshaw.descent import GradientDescent, Lanes, Ledger, Outcome, Stopping, run_lanes
from earnshaw.descent.judges.barrier import BarrierJudge, check_step
from earnshaw.errors import InputError
from earnshaw.landscapes.convnet import ConvNetLandscape
from earnshaw.landscapes.convnet_reduced import Axes, reduce_arrays, reduce_lanes
from earnshaw.numerics import compile_seconds, proportion_interval
from earnshaw.problems.convnet import ConvNet
from earnshaw.starts.signs import SIGNS, RandomTeachers, SphereAndBall, sign_flips
from earnshaw.store import RunFolder, digest, read_json, write_json, write_npz
from earnshaw.threads import one_blas_thread

BATCH = 1024
PIECE = 4096
MAX_RUNS = 2**32 - 1


class Tries(Enum):
    """How many starts a run gets; the value is the sentence that explains it."""

    ONE = "one start, its signs as drawn"
    FOUR = "the four signs of one start, of which the best end counts"


@dataclass(frozen=True)
class ConvRuns:
    """The results of runs, each with a teacher of its own; every array has one entry per run.

    Attributes
    ----------
    outcome : codes of :class:`~earnshaw.descent.Outcome`.
    value : the loss at ``points``.
    steps : gradient steps until the run was decided (of all its tries together).
    signs : which of the four signs of the start ended best; 0 is the start as drawn.
    filters, outputs : the teachers (runs, p) and (runs, k).
    points : (runs, p + k), the stationary point that the run converges to, by its closed form.
    last_points : (runs, p + k), the iterate at which it was decided.
    """

    run: NDArray[np.int64]
    outcome: NDArray[np.int8]
    value: NDArray[np.float64]
    steps: NDArray[np.int64]
    halvings: NDArray[np.int64]
    signs: NDArray[np.int8]
    filters: NDArray[np.float64]
    outputs: NDArray[np.float64]
    points: NDArray[np.float64]
    last_points: NDArray[np.float64]

    def __len__(self) -> int:
        """Return the number of runs."""
        return len(self.run)

    @property
    def outcomes(self) -> dict[str, int]:
        """How many runs had each outcome, by name; outcomes that did not occur are left out."""
        counts = {outcome.name: int(np.sum(self.outcome == outcome.code)) for outcome in Outcome}
        return {name: count for name, count in counts.items() if count}

    @property
    def spurious_share(self) -> float:
        """The share of runs that end at the spurious minimum."""
        return float(np.mean(self.outcome == Outcome.SPURIOUS.code))

    @classmethod
    def join(cls, parts: Sequence[ConvRuns]) -> ConvRuns:
        """Concatenate batches."""
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.names()))

    @classmethod
    def names(cls) -> list[str]:
        """Return the names of the arrays."""
        return [entry.name for entry in dataclasses.fields(cls)]


@dataclass(frozen=True, kw_only=True)
class ConvPlan:
    """All of a sweep: the teachers, the start, how often it is tried, the step, the seed and the number of runs."""

    teachers: RandomTeachers
    runs: int = 2000
    seed: int = 0
    tries: Tries = Tries.ONE
    start: SphereAndBall = field(default_factory=SphereAndBall)
    descent: GradientDescent = field(default_factory=GradientDescent)
    stopping: Stopping = field(default_factory=Stopping)

    def __post_init__(self) -> None:
        """Validate the numbers."""
        if not 1 <= self.runs <= MAX_RUNS:
            raise InputError(f"{self.runs} runs were asked for; use 1 to {MAX_RUNS}")
        if not 0 <= self.seed < 2**63:
            raise InputError(f"the seed is {self.seed}; use a whole number from 0 to 2^63 - 1")
        check_step(self.descent.step, self.teachers.patches)

    @property
    def name(self) -> str:
        """The file name: p20-k25-ratio0.5."""
        return f"p{self.teachers.filter_size}-k{self.teachers.patches}-ratio{self.teachers.ratio:g}"

    @property
    def identity(self) -> dict[str, Any]:
        """What determines the results, up to the last bits."""
        return {
            "kind": "convnet-sweep",
            "problems": {self.name: digest(self.teachers.to_json())},
            "teachers": self.teachers.to_json(),
            "start": self.start.to_json(),
            "tries": self.tries.name.lower(),
            "descent": self.descent.to_json(),
            "stopping": self.stopping.to_json(),
            "seed": self.seed,
            "runs": self.runs,
        }

    @property
    def hash(self) -> str:
        """The hash of the identity."""
        return digest(self.identity)


def run_convnets(
    energy: ConvNetLandscape,
    starts: np.ndarray,
    descent: GradientDescent,
    stopping: Stopping,
    lanes: np.ndarray | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> tuple[Ledger, Axes]:
    """Run Algorithm 1 from starts (lanes, p + k), one teacher a lane, and decide each by the proved rule.

    The runs are computed in five coordinates; the ledger holds reduced points, which the axes lift. A run whose step is
    too long for the rule (:func:`~earnshaw.descent.judges.barrier.longest_step`) stays undecided.
    """
    reduced, points, axes = reduce_lanes(energy, starts)
    return run_reduced(reduced, points, descent, stopping, lanes, cancelled), axes


def run_reduced(
    reduced: ConvNetLandscape,
    points: np.ndarray,
    descent: GradientDescent,
    stopping: Stopping,
    lanes: np.ndarray | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Ledger:
    """Run lanes that are already in five coordinates, of any p and k."""
    judge = BarrierJudge.of(reduced, descent, stopping)
    indices = np.arange(len(points)) if lanes is None else lanes
    work = Lanes(landscape=reduced, descent=descent, judge=judge, starts=points, indices=indices, batch=BATCH)
    with one_blas_thread():
        return run_lanes(work, cancelled)[0]


def best_of_four(problems: Sequence[ConvNet], seed: int = 0, step: float = 0.1) -> NDArray[np.int8]:
    """Return the outcome code of the best of the four signs of a random start, for each problem; p and k may differ."""
    reduced, points = [], []
    for problem, start in zip(problems, SphereAndBall().draw_many(problems, seed), strict=True):
        check_step(step, problem.patches, math.sqrt(problem.scale))
        teacher = problem.filter, problem.output_weights, np.ones(problem.patches)
        small, five, _ = reduce_arrays(*teacher, sign_flips(start[None], problem.filter_size)[:, 0])
        reduced.append(small)
        points.append(five)
    together = ConvNetLandscape(*jax.device_put([np.concatenate(leaves) for leaves in zip(*reduced, strict=True)]))
    ledger = run_reduced(together, np.concatenate(points), GradientDescent(step=step), Stopping())
    best = np.argmin(np.where(np.isfinite(ledger.value), ledger.value, np.inf).reshape(-1, 4), axis=1)
    return ledger.outcome.reshape(-1, 4)[np.arange(len(problems)), best]


def _compute(plan: ConvPlan, lanes: np.ndarray) -> ConvRuns:
    """Run some lanes of a plan."""
    filters, outputs = plan.teachers.draw(plan.seed, lanes)
    starts = plan.start.draw_each(filters, outputs, plan.seed, lanes)
    tries = len(SIGNS) if plan.tries is Tries.FOUR else 1
    points = sign_flips(starts, filters.shape[1])[:tries].reshape(-1, starts.shape[1])
    teachers = [np.tile(leaf, (tries, 1)) for leaf in (filters, outputs, np.ones_like(outputs))]
    energy = ConvNetLandscape(*jax.device_put(teachers))
    ledger, axes = run_convnets(energy, points, plan.descent, plan.stopping, np.tile(lanes, tries))
    value = np.where(np.isfinite(ledger.value), ledger.value, np.inf).reshape(tries, -1)
    best = np.argmin(value, axis=0)
    kept = best * len(lanes) + np.arange(len(lanes))
    return ConvRuns(
        run=np.asarray(lanes, dtype=np.int64),
        outcome=ledger.outcome[kept],
        value=ledger.value[kept],
        steps=(ledger.steps + ledger.wasted).reshape(tries, -1).sum(0),
        halvings=ledger.halvings.reshape(tries, -1).max(0),
        signs=best.astype(np.int8),
        filters=filters,
        outputs=outputs,
        points=axes.lift(ledger.points)[kept],
        last_points=axes.lift(ledger.last_points)[kept],
    )


def conv_sweep(
    filter_size: int,
    patches: int,
    ratio: float,
    runs: int = 2000,
    seed: int = 0,
    step: float = 0.1,
    tries: Tries = Tries.ONE,
) -> ConvRuns:
    r"""Run Algorithm 1 on random teachers with :math:`|w^*| = |a^*| = 1` and :math:`S = \text{ratio}`; write nothing."""
    teachers = RandomTeachers(filter_size=filter_size, patches=patches, ratio=ratio)
    plan = ConvPlan(teachers=teachers, runs=runs, seed=seed, descent=GradientDescent(step=step), tries=tries)
    return ConvRuns.join([_compute(plan, lanes) for _, lanes in _pieces(plan)])


@dataclass(frozen=True)
class ConvSummary:
    """The counts and means of a sweep; :meth:`to_json` is the line of ``earnshaw sweep --network conv --json``.

    The teachers of a sweep differ by rotations alone, so that their spurious points are one family, with one loss. Its
    smallest eigenvalue is 0: the Hessian vanishes on the filter there.
    """

    p: int
    k: int
    ratio: float
    starts: Tries
    runs: int
    seed: int
    outcomes: dict[str, int]
    spurious: int
    objective: float | None
    steps: int
    restarted: int
    seconds: float = 0.0
    compile_seconds: float = 0.0

    @classmethod
    def of(cls, plan: ConvPlan, runs: ConvRuns) -> ConvSummary:
        """Summarise the runs of a plan."""
        spurious = runs.outcome == Outcome.SPURIOUS.code
        return cls(
            p=plan.teachers.filter_size,
            k=plan.teachers.patches,
            ratio=plan.teachers.ratio,
            starts=plan.tries,
            runs=len(runs),
            seed=plan.seed,
            outcomes=runs.outcomes,
            spurious=int(spurious.sum()),
            objective=float(runs.value[spurious].mean()) if spurious.any() else None,
            steps=int(runs.steps.sum()),
            restarted=int((runs.halvings > 0).sum()),
        )

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval of the spurious share."""
        return proportion_interval(self.spurious, self.runs)

    def to_json(self) -> dict[str, Any]:
        """Return the record as plain JSON data, with the keys of every sweep (n = k patches, d = p)."""
        family = {"count": self.spurious, "objective": self.objective, "min_eigenvalue": 0.0}
        return {
            "network": "conv",
            "k": self.k,
            "n": self.k,
            "d": self.p,
            "p": self.p,
            "ratio": self.ratio,
            "starts": self.starts.name.lower(),
            "runs": self.runs,
            "seed": self.seed,
            "outcomes": self.outcomes,
            "spurious_percent": 100 * self.spurious / self.runs,
            "spurious_interval": [100 * end for end in self.interval],
            "mean_objective": self.objective,
            "mean_min_eigenvalue": 0.0 if self.spurious else None,
            "families": [family] if self.spurious else [],
            "steps": self.steps,
            "decided_by_value_test": 0,
            "restarted": self.restarted,
        }

    def timed(self) -> dict[str, Any]:
        """Return the record with its times: the line that the command prints."""
        return self.to_json() | {"seconds": self.seconds, "compile_seconds": self.compile_seconds}


def _pieces(plan: ConvPlan) -> list[tuple[str, np.ndarray]]:
    """Return names and lane indices of a sweep's pieces; a piece depends on nothing outside it."""
    lows = range(0, plan.runs, PIECE)
    return [(f"{plan.name}-{low:08d}", np.arange(low, min(low + PIECE, plan.runs))) for low in lows]


def run_conv_plan(
    plan: ConvPlan, out: Path, progress: Callable[[float, str], None] = lambda share, what: None
) -> ConvSummary:
    """Run a plan into a folder, or what is left of it; every file appears whole or not at all."""
    with RunFolder(out, plan.identity, {"piece": PIECE, "batch": BATCH}) as folder:
        target, record = folder.path / f"{plan.name}.npz", folder.path / "record.json"
        times = read_json(record)["times"][plan.name] if record.exists() else {"seconds": 0.0, "compile_seconds": 0.0}
        pieces = _pieces(plan)
        if not (folder.path / f"{plan.name}.json").exists():
            for index, (name, lanes) in enumerate(pieces):
                if not folder.has(name):
                    begin, compiling = time.perf_counter(), compile_seconds()
                    runs = _compute(plan, lanes)
                    folder.put(name, {field: getattr(runs, field) for field in ConvRuns.names()})
                    compiling = compile_seconds() - compiling
                    times["seconds"] += time.perf_counter() - begin - compiling
                    times["compile_seconds"] += compiling
                    write_json(record, _machine() | {"times": {plan.name: times}})
                progress((index + 1) / len(pieces), plan.name)
            runs = ConvRuns.join([ConvRuns(**folder.get(name)) for name, _ in pieces])
            write_npz(target, {name: getattr(runs, name) for name in ConvRuns.names()})
            write_json(folder.path / f"{plan.name}.json", ConvSummary.of(plan, runs).to_json())
            for name, _ in pieces:
                (folder.path / "pieces" / f"{name}.npz").unlink(missing_ok=True)
        stored = read_json(folder.path / f"{plan.name}.json")
    return ConvSummary(
        p=stored["p"],
        k=stored["k"],
        ratio=stored["ratio"],
        starts=plan.tries,
        runs=stored["runs"],
        seed=stored["seed"],
        outcomes=stored["outcomes"],
        spurious=stored["outcomes"].get(Outcome.SPURIOUS.name, 0),
        objective=stored["mean_objective"],
        steps=stored["steps"],
        restarted=stored["restarted"],
        **times,
    )


def _machine() -> dict[str, Any]:
    """Return how a folder was computed: versions and machine, kept apart from the results."""
    return {
        "versions": {name: version(name) for name in ("earnshaw", "jax", "jaxlib", "numpy", "scipy")},
        "python": platform.python_version(),
        "machine": platform.processor() or platform.machine(),
        "device": jax.devices()[0].device_kind,
        "dtype": "float64",
        "workers": 1,
    }
