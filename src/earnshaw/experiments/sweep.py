"""Sweeps: an optimiser from many starts, on one problem or many, and what a folder keeps of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from earnshaw.descent import Stop, Stopping, Trace
from earnshaw.descent import optimizer as named_optimizer
from earnshaw.errors import InputError, need
from earnshaw.experiments.engine import How, run
from earnshaw.experiments.plan import Plan
from earnshaw.experiments.runs import Runs, columns_of
from earnshaw.experiments.summary import Summary
from earnshaw.experiments.work import Done, Progress, finished, quiet, unfinished
from earnshaw.numerics import compute_on
from earnshaw.problems import Problem, TwoLayer
from earnshaw.problems.activations import is_function_name
from earnshaw.showing import Shown
from earnshaw.starts import Start
from earnshaw.starts import start as named_start
from earnshaw.store import RunFolder, read_manifest, sealed_certificates
from earnshaw.symmetry import Family, unpack


@dataclass(frozen=True, repr=False)
class SweepResult(Shown, Done):
    """One finished setting: its summary, the wall seconds it took without and for compilation, and its runs."""

    summary: Summary
    functions: bool = field(default=False, compare=False)

    def _line(self) -> str:
        summary = self.summary
        ended = ", ".join(f"{count} {name}" for name, count in summary.outcomes.items())
        return f"{self.name}, {summary.optimizer}: {summary.runs} runs, {ended}, {len(summary.families)} families"

    def _facts(self) -> Mapping[str, object]:
        summary = self.summary
        ended = {name: count for name, count in summary.outcomes.items()}
        kinds = [f"{family.count} runs, loss {family.objective:.8g}" for family in summary.families]
        return {**summary.sizes, "network": summary.objective, "optimizer": summary.optimizer, **ended} | {
            f"family {index}": words for index, words in enumerate(kinds)
        }

    def to_json(self) -> dict[str, Any]:
        """Return the line that ``earnshaw sweep --json`` prints."""
        return self.summary.to_json() | {"seconds": self.seconds, "compile_seconds": self.compile_seconds}

    @cached_property
    def runs(self) -> Runs:
        """Every run, with its end point."""
        return Runs.of_file(self.arrays, f"{self.files}.npz", self.functions)

    @cached_property
    def trace(self) -> Trace | None:
        """What was recorded of the runs on their way, where the sweep was asked for that."""
        if isinstance(self.files, Path):
            asked = RunFolder.open(self.files.parent).common["stopping"]["trace"]
        else:
            asked = "-trace" in self.files
        return Trace(**self.part("-trace")) if asked else None

    @cached_property
    def families(self) -> list[Family]:
        """The families of minima that are not (known to be) global, with their members and representatives."""
        own = is_function_name(self.summary.objective.partition("/")[2])  # which loads only if that is allowed
        return unpack(self.summary.families, self.arrays, None if own and not self.functions else self.runs.problem)

    def table(self) -> dict[str, np.ndarray]:
        """Return one row for each run, as columns: sizes, optimiser, run, outcome, family, its label, the verdict on it, and numbers.

        A verdict whose certificate is missing or changed is not repeated: :class:`InputError` says which it is.
        """
        verdicts = self.verdicts()
        columns, family = columns_of(self.summary.sizes, self.arrays), self.arrays["family"]
        labels = np.array([*(record.label for record in self.summary.families), None], dtype=object)  # -1: no family
        proved = [verdicts[index] if 0 <= index < len(verdicts) else None for index in family]
        head = {name: columns.pop(name) for name in (*self.summary.sizes, "run", "outcome")}
        more = {"optimizer": np.full(len(family), self.summary.optimizer, dtype=object)}
        return {
            **more,
            **head,
            "family": family,
            "label": labels[family],
            "proved": np.array(proved, dtype=object),
            **columns,
        }

    def verdicts(self) -> list[str]:
        """Return the verdicts on the families of minima, and then of saddles; none where nobody tried.

        One whose certificate is missing or changed is not repeated: :class:`InputError` says which it is.
        """
        if isinstance(self.files, Path):
            for fault in filter(None, sealed_certificates(self.files.parent, self.name).values()):
                raise InputError(fault)
        return [row["verdict"] for row in (self.proofs or {}).get("families", [])]

    def to_frame(self) -> Any:
        """Return :meth:`table` as a pandas DataFrame."""
        return need("pandas", extra="frame", purpose="to_frame").DataFrame(self.table())

    @property
    def proofs(self) -> Mapping[str, Any] | None:
        """What ``earnshaw sweep --prove`` found out about the families, None if nobody tried."""
        if not isinstance(self.files, Path):
            return None
        return RunFolder.open(self.files.parent).proofs(self.name)


@dataclass(frozen=True, repr=False)
class Sweep(Shown):
    """What a folder of a sweep holds: its finished settings, in order; ``settings`` are the names of all."""

    folder: Path
    settings: tuple[str, ...]
    results: tuple[SweepResult, ...]

    def _line(self) -> str:
        return f"{self.folder}: {len(self)} of {len(self.settings)} settings finished"

    def _facts(self) -> Mapping[str, object]:
        return {result.name: result._line() for result in self}

    def __len__(self) -> int:
        """Return the number of finished settings."""
        return len(self.results)

    def __iter__(self) -> Iterator[SweepResult]:
        """Go through the finished settings."""
        return iter(self.results)

    def __getitem__(self, key: int | str) -> SweepResult:
        """Return a finished setting by its place or its name."""
        if isinstance(key, int):
            return self.results[key]
        found = [result for result in self.results if result.name == key]
        if not found:
            raise InputError(f"{self.folder} has no finished setting {key!r}; it has {', '.join(r.name for r in self)}")
        return found[0]

    def whole(self) -> Sweep:
        """Return the sweep itself; where settings are not finished raise :class:`InputError`, which names them."""
        if missing := unfinished(self.folder):
            names = ", ".join(missing)
            raise InputError(f"{self.folder} is not finished ({names} missing); run the same sweep again to go on")
        return self

    def table(self) -> dict[str, list[Any]]:
        """Return the columns of all finished settings, one under the other; None where a setting has no such column."""
        tables = [result.table() for result in self]
        columns: dict[str, list[Any]] = {name: [] for table in tables for name in table}
        for table in tables:
            blank = [None] * len(table["run"])
            for name, column in columns.items():
                column += table[name].tolist() if name in table else blank
        return columns

    def to_frame(self) -> Any:
        """Return :meth:`table`, one row for each run, as a pandas DataFrame."""
        return need("pandas", extra="frame", purpose="to_frame").DataFrame(self.table())

    @property
    def runs(self) -> Runs:
        """The runs of a sweep of one setting."""
        if len(self.results) != 1:
            names = ", ".join(result.name for result in self) or "none"
            raise InputError(f"{self.folder} has several settings or none ({names}); take one: load(folder)[NAME].runs")
        return self.results[0].runs


def _results(finished: Iterable[Done], functions: bool) -> list[SweepResult]:
    """Return finished settings with their summaries; a damaged record raises :class:`InputError`."""
    results = []
    for done in finished:
        try:
            summary = Summary.from_json(done.record)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            found = f"{type(error).__name__}: {error}"
            raise InputError(f"{done.files}.json is damaged ({found}); remove it and run the sweep again") from None
        results.append(SweepResult(**vars(done), summary=summary, functions=functions))
    return results


def load_sweep(folder: Path, functions: bool = False) -> Sweep:
    """Return the finished settings of a sweep's folder; damaged records raise :class:`InputError`."""
    return Sweep(folder, tuple(read_manifest(folder)["settings"]), tuple(_results(finished(folder), functions)))


def sweep_in(folder: Path) -> Sweep:
    """Return the sweep of a folder; a folder of another kind raises :class:`InputError`, which says what it holds."""
    kind = read_manifest(folder)["kind"]
    if kind != "sweep":
        raise InputError(f"{folder} holds work of the kind {kind!r}, not runs; see it with earnshaw runs show {folder}")
    return load_sweep(folder)


def run_plan(
    plan: Plan,
    out: str | Path | None = None,
    workers: int | None = None,
    progress: Progress | bool = quiet,
    **how: Unpack[How],
) -> list[SweepResult]:
    """Run a plan, into a folder or what is left of it there, and return every setting's result in the plan's order.

    ``how`` are the keywords of :func:`earnshaw.experiments.run`: ``part``, ``cluster``, ``time_limit``, ``mixed``, ``cancelled``, ``ended``.
    """
    return _results(run(plan, out, workers, progress, **how).values(), functions=True)


def sweep(
    problem: Problem,
    students: int | None = None,
    runs: int = 1000,
    seed: int = 0,
    optimizer: str | Any = "gd:0.1",
    start: str | Path | np.ndarray | Start | None = None,
    stop: Stop | str = Stop.EARLY,
    max_steps: int = 200_000,
    trace: int = 0,
    batch: int | None = None,
    workers: int | None = None,
    kernel: str | None = None,
    out: str | Path | None = None,
    progress: Progress | bool = quiet,
    cluster: str | None = None,
    device: str | None = None,
    time_limit: float | None = None,
    mixed: bool = False,
) -> Runs:
    """Run an optimiser from ``runs`` random starts on one problem and return what became of each run.

    Parameters
    ----------
    problem : any problem with a landscape: :class:`~earnshaw.TwoLayer`, :class:`~earnshaw.ConvNet`,
        :class:`~earnshaw.RandomConvNets`, :class:`~earnshaw.Charges`, :class:`~earnshaw.Data`, :class:`~earnshaw.Logistic`
    students : another number of student neurons, for two layers
    runs, seed : how many runs, and the root of all their random numbers
    optimizer, start : names (see :func:`earnshaw.descent.optimizer` and :func:`earnshaw.starts.start`) or objects; an array
        ``(runs, *shape)`` is a start, too. The usual start of the problem when not given
    stop, max_steps : when a run ends: ``early`` once its fate is clear, ``paper`` when its gradient has vanished
    trace : record every run every so many steps, in ``runs.trace``; 0 records nothing
    batch, workers : how many runs are computed together, and by how many threads; ``workers`` never changes a result
    kernel : what takes the steps: ``native``, ``pool``, ``xla``, or what suits problem and device when not given
    out : a folder that keeps the results; the same call again goes on where it stopped, and with more runs extends it
    progress : True shows a bar with what is being done, runs decided and spurious so far, and the time left; a function is called
        with the share of the work done, and what is being done
    device : ``cpu`` or ``gpu``, if JAX has not begun on another; its choice when not given
    cluster : ``"local:4"``, or the address of a Dask scheduler: worker processes there, in place of threads
    time_limit : seconds after which :class:`~earnshaw.experiments.Interrupted` is raised; the folder keeps what is done
    mixed : may a folder that was begun with another kernel go on with this one? Which runs have which last bits then depends on
        where it was interrupted

    Examples
    --------
    >>> runs = sweep(TwoLayer(np.eye(6)), runs=1000, seed=0)
    >>> runs.outcomes
    {'GLOBAL': 997, 'SPURIOUS': 3}
    """
    if device is not None:
        compute_on(device)
    if students is not None:
        if not isinstance(problem, TwoLayer):
            raise InputError(f"students={students} is for a TwoLayer problem, not for {problem!r:.60}; leave it out")
        problem = problem.with_students(students)
    if batch is not None and not batch:
        raise InputError(f"the batch is {batch}; use a whole number from 1")
    descent, begin = named_optimizer(optimizer), None if start is None else named_start(start)
    stopping = Stopping(rule=stop, max_steps=max_steps, trace=trace)  # type: ignore[arg-type]
    how: dict[str, Any] = {"batch": batch or 0, "kernel": kernel or ""}
    plan = Plan.of(problem, runs, descent, **how, seed=seed, start=begin, stopping=stopping)
    (result,) = run_plan(plan, out, workers, progress, cluster=cluster, time_limit=time_limit, mixed=mixed)
    return dataclasses.replace(Runs.of_arrays(plan.settings[0].problem, result.arrays), trace=result.trace)
