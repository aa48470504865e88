"""What a sweep will compute: problems, optimisers, starts, stopping, and the cut into pieces that can be computed anywhere."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from earnshaw.descent import (
    Descent,
    GradientDescent,
    Outcome,
    Stopping,
    Trace,
    descend,
    descent_from_json,
    native,
    pool,
    suits,
)
from earnshaw.descent.outcomes import Begun
from earnshaw.descent.pool import Pool, pool_size
from earnshaw.errors import InputError, checked_seed, is_whole
from earnshaw.experiments.progress import reporting
from earnshaw.experiments.runs import Runs
from earnshaw.experiments.summary import summarise, with_families
from earnshaw.experiments.work import Context, Finished, Piece, Work
from earnshaw.numerics import backend, on_host
from earnshaw.problems import Problem, problem_from_json
from earnshaw.problems.base import whole
from earnshaw.starts import Start, check_start, start_from_json, usual_start
from earnshaw.store import Arrays, canonical_json
from earnshaw.symmetry import pack

MAX_RUNS = 10**8  # of a plan: every end point is kept, and every piece is listed
PIECE = 256  # lanes of a piece at least: several batches, so that decided lanes are replaced
REHEARSED = 4  # runs, of which most will do all that runs do
# What can take the steps: a library in C on a CPU, a pool of all problems' lanes on a GPU, where they cover the problem.
KERNELS = ("native", "pool", "xla")
TRACE = tuple(entry.name for entry in dataclasses.fields(Trace))


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One problem and one optimiser of a sweep.

    ``batch`` runs are computed together, by default what suits the device, and ``kernel``, one of ``KERNELS``, takes the
    steps: that of the plan, where it is left open.
    """

    problem: Problem
    descent: Descent = field(default_factory=GradientDescent)
    runs: int = 1000
    batch: int = 0
    label: str = ""
    kernel: str = ""
    insists: bool = field(default=False, compare=False)  # the kernel was asked for by its name

    def __post_init__(self) -> None:
        """Validate the numbers, and that the optimiser suits the problem."""
        if not isinstance(self.problem, Problem):
            kind = type(self.problem).__name__
            raise InputError(f"the problem is of type {kind}; give a problem, for example TwoLayer(teacher)")
        object.__setattr__(self, "runs", whole("runs", self.runs, 1, MAX_RUNS))
        if not is_whole(self.batch):
            raise InputError(f"the batch is {self.batch!r}; use a whole number from 1")
        _ = self.problem.shape  # a problem without points cannot be swept
        suits(self.problem, self.descent)
        suitable = self.problem.batch if backend() == "cpu" else 16_384  # a core's cache, or a whole GPU
        object.__setattr__(self, "batch", int(self.batch) or suitable)

    @property
    def name(self) -> str:
        """The file name: k10-n10, and the label, if there is one."""
        return f"{self.problem.name}-{self.label}" if self.label else self.problem.name

    def to_json(self) -> dict[str, Any]:
        """Return what a manifest keeps."""
        identity = {"problem": self.problem.to_json(), "descent": self.descent.to_json()}
        identity |= {"label": self.label} if self.label else {}
        plan = {"batch": self.batch} | ({"kernel": self.kernel} if self.kernel != "xla" else {})
        return {"identity": identity, "runs": self.runs, "plan": plan}

    @classmethod
    def from_json(cls, record: Mapping[str, Any], functions: bool) -> Self:
        """Rebuild a setting from its part of a manifest."""
        identity = record["identity"]
        problem = problem_from_json(identity["problem"], functions)
        descent = descent_from_json(identity["descent"], functions)
        runs, plan, label = record["runs"], record["plan"], identity.get("label", "")
        kernel = plan.get("kernel", "xla")
        return cls(problem=problem, descent=descent, runs=runs, batch=plan["batch"], label=label, kernel=kernel)


def file_name(name: str) -> str:
    """Return a name as files can have it."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-")


def labelled(descents: Mapping[str, Descent]) -> dict[str, Descent]:
    """Return optimisers by names that files can have."""
    named = {file_name(name): descent for name, descent in descents.items()}
    if not named or len(named) < len(descents):
        raise InputError("several optimisers need different names; two of those given have the same, or none is given")
    return named


@dataclass(frozen=True, kw_only=True)
class Plan(Work):
    """All of a sweep: the settings, the start, the stopping and the seed. Every part of it goes through JSON and back."""

    kind: ClassVar[str] = "sweep"

    settings: tuple[Setting, ...]
    start: Start = None  # type: ignore[assignment]  # the usual one of the first problem
    stopping: Stopping = field(default_factory=Stopping)
    seed: int = 0

    def __post_init__(self) -> None:
        """Validate what no setting checks."""
        object.__setattr__(self, "seed", checked_seed(self.seed))
        if not self.settings:
            raise InputError("there is no (k, n) to run; give at least one")
        names = [setting.name for setting in self.settings]
        if len(set(names)) < len(names):
            raise InputError("two settings of one sweep have the same sizes; sweep them apart")
        if self.start is None:
            object.__setattr__(self, "start", usual_start(self.settings[0].problem))
        total = sum(setting.runs for setting in self.settings)
        if total > MAX_RUNS:
            asked = f"{total} runs were asked for in {len(self.settings)} settings"
            raise InputError(f"{asked}; one sweep has at most {MAX_RUNS}: use fewer, or several folders")
        for setting in self.settings:
            check_start(self.start, setting.problem, setting.runs)
        object.__setattr__(self, "settings", tuple(map(self._with_kernel, self.settings)))

    def _with_kernel(self, setting: Setting) -> Setting:
        """Return a setting with its kernel: where nothing is asked for, the usual one."""
        if setting.kernel not in ("", *KERNELS):
            raise InputError(f"the kernel is {setting.kernel!r}; choose {' or '.join(KERNELS)}")
        return dataclasses.replace(setting, kernel=setting.kernel or self.usual_kernel(setting))

    def usual_kernel(self, setting: Setting) -> str:
        """Return the kernel that takes a setting's steps here where none is asked for: the native one, or on a GPU the pool, if it can."""
        own, name = (native, "native") if backend() == "cpu" else (pool, "pool")
        return "xla" if own.obstacle(setting.problem, setting.descent, self.stopping) else name

    @classmethod
    def of(
        cls,
        problems: Problem | Sequence[Problem],
        runs: int = 1000,
        descent: Descent | Mapping[str, Descent] | None = None,
        batch: int = 0,
        kernel: str = "",
        **more: Any,
    ) -> Self:
        """Return the plan of these problems with one optimiser, or with each of several by name."""
        several = problems if isinstance(problems, Sequence) else [problems]
        descents = labelled(descent) if isinstance(descent, Mapping) else {"": descent or GradientDescent()}
        settings = tuple(
            Setting(
                problem=problem,
                descent=chosen,
                runs=runs,
                batch=batch,
                label=label,
                kernel=kernel,
                insists=bool(kernel),
            )
            for problem, (label, chosen) in itertools.product(several, descents.items())
        )
        plan = cls(settings=settings, **more)
        for setting in settings:
            if kernel in ("native", "pool"):
                (native if kernel == "native" else pool).require(setting.problem, setting.descent, plan.stopping)
        return plan

    @property
    def parts(self) -> dict[str, dict[str, Any]]:
        """The settings as a manifest keeps them."""
        return {setting.name: setting.to_json() for setting in self.settings}

    @classmethod
    def from_json(cls, common: Mapping[str, Any], parts: Mapping[str, Any], functions: bool = False) -> Self:
        """Rebuild a plan from its manifest."""
        settings = tuple(Setting.from_json(part, functions) for part in parts.values())
        start, stopping = start_from_json(common["start"]), Stopping.from_json(common["stopping"])
        return cls(settings=settings, seed=common["seed"], start=start, stopping=stopping)

    def resumable(self, parts: Mapping[str, Any]) -> None:
        """Raise :class:`InputError` where a folder's setting has another kernel than was asked for by its name."""
        for setting in self.settings:
            there = parts.get(setting.name, {"plan": {"kernel": setting.kernel}})["plan"].get("kernel", "xla")
            if setting.insists and there != setting.kernel:
                raise InputError(
                    f"{setting.name} was begun with the kernel {there}, and {setting.kernel} was asked for; leave the kernel out "
                    "to go on as it began, use --mixed, which makes last bits of two kinds, or choose another --out"
                )

    def resumed(self, common: Mapping[str, Any], parts: Mapping[str, Any], mixed: bool) -> Self:
        """Return the plan as the folder has it: its batches and its kernels; with ``mixed``, the kernels of this plan."""
        there = super().resumed(common, parts, mixed)
        if not mixed:
            return there
        own = {setting.name: setting.kernel for setting in self.settings}
        settings = [dataclasses.replace(one, kernel=own.get(one.name, one.kernel)) for one in there.settings]
        return dataclasses.replace(there, settings=tuple(settings))

    @property
    def portable(self) -> bool:
        """Whether it is the paper's own case, of which XLA compiles little, from starts of this library."""
        ours = type(self.start).__module__.partition(".")[0] == "earnshaw"
        return ours and all(self._host_kernel(setting) == "native" for setting in self.settings)

    def _host_kernel(self, setting: Setting) -> str:
        """Return what takes the steps of a setting where workers compute: what a pool has begun goes on with the native kernel, if it can."""
        if setting.kernel != "pool":
            return setting.kernel
        return "xla" if native.obstacle(setting.problem, setting.descent, self.stopping) else "native"

    def tool(self, name: str) -> str:
        """Return the kernel of a setting."""
        return self.by_name[name].kernel

    def pieces(self, name: str) -> list[Piece]:
        """Return the pieces of a setting: blocks of lanes, whose size depends on the batch alone."""
        setting = self.by_name[name]
        size = PIECE // 2 if setting.kernel == "pool" else max(PIECE, 4 * setting.batch)  # what a pool leaves is uneven
        ends = [(low, min(low + size, setting.runs)) for low in range(0, setting.runs, size)]
        return [Piece(name, low, high, setting.problem.effort * (high - low)) for low, high in ends]

    def groups(self, pieces: Sequence[Piece]) -> list[list[Piece]]:
        """Return the pieces whose runs share a pool."""
        groups: dict[Any, list[Piece]] = {}
        for piece in pieces:
            setting = self.by_name[piece.setting]
            if setting.kernel == "pool":
                groups.setdefault((pool_size(setting.problem), setting.descent), []).append(piece)
        return list(groups.values())

    def begin(self, contexts: Mapping[Piece, Context]) -> Iterator[tuple[Piece, Arrays, float]]:
        """Take the runs of a group of pieces to where they need a look, in a pool; that counts as half of their way.

        What is left is heavy where many runs have found no rest: the others need little more than that look.
        """
        pieces = list(contexts)
        problems = [self.by_name[piece.setting].problem for piece in pieces]
        starts = [partial(self._starts, piece) for piece in pieces]
        pool = Pool(list(zip(problems, starts, strict=True)), self.by_name[pieces[0].setting].descent, self.stopping)

        def heard(place: int, share: float) -> None:
            contexts[pieces[place]].progress(share / 2, pieces[place].setting)

        for place, begun in pool.run(contexts[pieces[0]].cancelled, heard):
            restless = np.count_nonzero(begun.steps >= pool.limit)
            yield pieces[place], begun._asdict(), problems[place].effort * restless

    def rehearse(self, name: str, context: Context) -> None:
        """Take a few runs of a setting to their ends, without a pool, and group these."""
        setting = self.by_name[name]
        few = dataclasses.replace(setting, runs=min(setting.runs, REHEARSED), kernel=self._host_kernel(setting))
        plan = dataclasses.replace(self, settings=(few,))
        plan.finish(name, [plan.compute(piece, context) for piece in plan.pieces(name)])

    def _starts(self, piece: Piece) -> np.ndarray:
        return self.start.draw(self.by_name[piece.setting].problem, self.seed, np.arange(piece.low, piece.high))

    @reporting
    def compute(self, piece: Piece, context: Context) -> Arrays:
        """Run the lanes of a piece, each from its start ``(lanes, *shape)`` or from several tries ``(tries, lanes, *shape)``."""
        setting, starts, lanes = self.by_name[piece.setting], self._starts(piece), np.arange(piece.low, piece.high)
        problem, begun = setting.problem, context.begun
        if setting.kernel == "pool" and begun is None:
            ((_, begun, _),) = self.begin({piece: context})
        tries = 1 if starts.ndim == 1 + len(problem.shape) else len(starts)
        points, every = starts.reshape(-1, *problem.shape), np.tile(lanes, tries)
        kernel, batch = self._host_kernel(setting), setting.batch if begun is None else problem.batch
        how = (batch, self.seed, context.cancelled, kernel, None if begun is None else Begun(**begun))
        with nullcontext() if setting.kernel == "xla" else on_host():
            ledger, trace, extra = descend(problem, setting.descent, self.stopping, points, every, *how)
        runs = Runs.of_ledger(problem, every, ledger, **extra)
        if tries > 1:
            runs, trace = _best_tries(runs, tries), None
        return runs.arrays() | ({} if trace is None else {f"trace_{name}": getattr(trace, name) for name in TRACE})

    def told(self, name: str, record: Mapping[str, Any]) -> str:
        """Say how many runs of a setting ended how, and in how many families of minima."""
        ended = ", ".join(f"{count} {outcome.lower()}" for outcome, count in record["outcomes"].items())
        families = len(record["families"])
        return f"{name}: {ended}" + (f"; {families} {'family' if families == 1 else 'families'}" if families else "")

    @on_host()
    def finish(self, name: str, pieces: list[Arrays]) -> Finished:
        """Join the runs, group their ends into families, and count."""
        setting = self.by_name[name]
        runs = Runs.join([Runs.of_arrays(setting.problem, arrays) for arrays in pieces])
        runs, found = with_families(runs, self.seed)
        problem = {"problem": np.array(canonical_json(setting.problem.to_json()))}
        files = {"": runs.arrays() | problem | pack(found, len(runs), setting.problem.shape)}
        if self.stopping.trace:
            files["-trace"] = {n: np.concatenate([arrays[f"trace_{n}"] for arrays in pieces]) for n in TRACE}
        return Finished(summarise(runs, found, setting.descent, self.start, self.seed).to_json(), files)

    def tally(self, arrays: Arrays) -> dict[str, int]:
        """Return how many runs of a piece had each outcome."""
        return {outcome.name: int((arrays["outcome"] == outcome.code).sum()) for outcome in Outcome}

    @classmethod
    def load(cls, folder: Path, functions: bool = False) -> Any:
        """Return the finished settings of a sweep's folder."""
        from earnshaw.experiments.sweep import load_sweep

        return load_sweep(folder, functions)

    def results(self, name: str) -> tuple[str, ...]:
        """Return the parts of a setting's results: all runs, and their traces."""
        return ("", "-trace") if self.stopping.trace else ("",)

    def cut(self, files: Mapping[str, Arrays], piece: Piece) -> Arrays:
        """Return the lanes of a piece out of a finished setting."""
        runs = Runs.of_arrays(self.by_name[piece.setting].problem, files[""])[piece.low : piece.high]
        arrays = dataclasses.replace(runs, min_eigenvalue=np.full(len(runs), np.nan)).arrays()
        if "-trace" in files:
            mine = (files["-trace"]["run"] >= piece.low) & (files["-trace"]["run"] < piece.high)
            arrays |= {f"trace_{name}": files["-trace"][name][mine] for name in TRACE}
        return arrays


def _best_tries(runs: Runs, tries: int) -> Runs:
    """Return the best of several tries of every run, with what all of them took."""
    best = np.argmin(np.where(np.isfinite(runs.value), runs.value, np.inf).reshape(tries, -1), axis=0)
    kept = runs[best * len(best) + np.arange(len(best))]
    spent = {name: getattr(runs, name).reshape(tries, -1).sum(0) for name in ("steps", "gradients", "hessians")}
    spent["halvings"] = runs.halvings.reshape(tries, -1).max(0)
    return dataclasses.replace(kept, **spent, extra={**kept.extra, "signs": best.astype(np.int8)})
