"""Run a plan: pieces to worker threads, finished pieces to the folder, finished settings to result files."""

from __future__ import annotations

import dataclasses
import itertools
import platform
import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from earnshaw.descent import Outcome, Runs, Stop, Stopping, Trace, descend
from earnshaw.descent import optimizer as named_optimizer
from earnshaw.errors import InputError
from earnshaw.experiments.plan import Plan, Setting
from earnshaw.experiments.summary import Summary, families, result_arrays, summarise, with_eigenvalues
from earnshaw.numerics import compile_seconds
from earnshaw.problems import TwoLayer
from earnshaw.starts import Start
from earnshaw.starts import start as named_start
from earnshaw.store import RunFolder, read_json, write_json, write_npz
from earnshaw.threads import cores, one_blas_thread

KEPT = (Outcome.SPURIOUS, Outcome.CONVERGED)
Progress = Callable[[float, str], None]  # (share of the work done, what was finished)


class Interrupted(Exception):
    """The sweep was stopped; the folder can be resumed."""


@dataclass(frozen=True)
class SweepResult:
    """One finished setting: its summary, and the seconds it took without and for compilation."""

    summary: Summary
    seconds: float
    compile_seconds: float

    def to_json(self) -> dict[str, Any]:
        """Return the line that ``earnshaw sweep --json`` prints."""
        return self.summary.to_json() | {"seconds": self.seconds, "compile_seconds": self.compile_seconds}


@dataclass(frozen=True)
class _Piece:
    runs: Runs
    trace: Trace | None
    seconds: float
    compile_seconds: float


def _compute(plan: Plan, setting: Setting, lanes: np.ndarray, cancelled: Callable[[], bool]) -> _Piece:
    begin, compiling = time.perf_counter(), compile_seconds()
    starts = plan.start.draw(setting.problem, plan.seed, lanes)
    runs, trace = descend(
        setting.problem, plan.descent, plan.stopping, starts, lanes, plan.batches[setting.name], plan.seed, cancelled
    )
    compiling = compile_seconds() - compiling
    return _Piece(runs, trace, time.perf_counter() - begin - compiling, compiling)


def sweep(
    problem: TwoLayer,
    students: int | None = None,
    runs: int = 1000,
    seed: int = 0,
    optimizer: str | Any = "gd:0.1",
    start: str | np.ndarray | Start = "xavier",
    stop: Stop = Stop.EARLY,
    max_steps: int = 200_000,
    batch: int | None = None,
    workers: int | None = None,
) -> Runs:
    """Run an optimiser from ``runs`` random starts on one problem and return what became of each run.

    ``optimizer`` and ``start`` are names (see :func:`earnshaw.descent.optimizer` and :func:`earnshaw.starts.start`) or
    objects; an array (runs, n, d) is a start, too. Nothing is written; use the command ``earnshaw sweep`` for a folder
    that can be resumed. The result depends on the arguments alone, not on ``workers``.
    """
    setting = Setting(problem if students is None else problem.with_students(students))
    plan = Plan(
        settings=(setting,),
        runs=runs,
        seed=seed,
        start=named_start(start),
        descent=named_optimizer(optimizer),
        stopping=Stopping(rule=stop, max_steps=max_steps),
        batches={setting.name: batch} if batch is not None else {},
    )
    collected: dict[str, _Piece] = {}
    _run_pieces(
        plan,
        [(setting, *piece) for piece in plan.pieces(setting)],
        workers,
        lambda name, piece: collected.update({name: piece}),
    )
    together = Runs.join([collected[name].runs for name, _ in plan.pieces(setting)])
    return _with_families(together)[0]


def _with_families(runs: Runs) -> tuple[Runs, np.ndarray, list]:
    kept = np.flatnonzero(np.isin(runs.outcome, [outcome.code for outcome in KEPT]))
    found = families(runs[kept])
    return with_eigenvalues(runs, found), kept, found


def _count(workers: int | None) -> int:
    """Return the number of worker threads: one for each core that this process may use, unless told otherwise."""
    if workers is not None and workers < 1:
        raise InputError(f"{workers} workers were asked for; use at least 1")
    return workers or cores()


def _run_pieces(
    plan: Plan,
    pieces: list[tuple[Setting, str, np.ndarray]],
    workers: int | None,
    finished: Callable[[str, _Piece], None],
) -> None:
    """Compute pieces in worker threads; call ``finished`` in this thread for each one as it comes."""
    workers = _count(workers)
    stop = threading.Event()
    with one_blas_thread(), ThreadPoolExecutor(workers) as pool:
        futures: dict[Future[_Piece], str] = {}
        try:
            for setting, name, lanes in pieces:
                futures[pool.submit(_compute, plan, setting, lanes, stop.is_set)] = name
            while futures:
                done, _ = wait(futures, return_when=FIRST_COMPLETED)
                for future in done:
                    finished(futures.pop(future), future.result())
        except BaseException as error:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            if isinstance(error, KeyboardInterrupt):
                raise Interrupted from error
            raise


def run_plan(
    plan: Plan, out: Path, workers: int | None = None, progress: Progress = lambda share, what: None
) -> list[SweepResult]:
    """Run a plan into a folder, or what is left of it, and return the summaries in the plan's order.

    Every file appears whole or not at all. Interrupting raises :class:`Interrupted`; calling again resumes.
    """
    _count(workers)
    with RunFolder(out, plan.identity, {"batches": plan.batches}) as folder:
        plan = dataclasses.replace(plan, batches=folder.plan["batches"])
        times = _Times(folder.path, workers)
        missing = [setting for setting in plan.settings if not (folder.path / f"{setting.name}.json").exists()]
        todo = [piece for piece in _in_turn(plan, missing, times.workers) if not folder.has(piece[1])]
        weight = {s.name: s.problem.students * (s.problem.students + s.problem.teachers) for s in plan.settings}
        total = sum(weight[s.name] * plan.runs for s in plan.settings)
        left = sum(weight[s.name] * len(lanes) for s, _, lanes in todo)
        owner = {name: s for s in missing for name, _ in plan.pieces(s)}
        waiting = {s.name: sum(piece[0] is s for piece in todo) for s in missing}

        def finished(name: str, piece: _Piece) -> None:
            nonlocal left
            setting = owner[name]
            folder.put(name, _to_arrays(piece))
            times.add(setting.name, piece)
            left -= weight[setting.name] * len(piece.runs)
            waiting[setting.name] -= 1
            if not waiting[setting.name]:
                _finish(plan, setting, folder, times)
            progress(1 - left / total, setting.name)

        progress(1 - left / total, "")
        for setting in missing:
            if not waiting[setting.name]:
                _finish(plan, setting, folder, times)
        _run_pieces(plan, todo, workers, finished)
        return [times.result(setting, _read_summary(folder.path, setting)) for setting in plan.settings]


def _in_turn(plan: Plan, settings: list[Setting], workers: int) -> list[tuple[Setting, str, np.ndarray]]:
    """Return all pieces, those of settings far apart in turn: so workers compile programs, not wait for each other's."""
    stride = -(-len(settings) // workers)
    order = []
    for first in range(stride):
        pieces = [[(s, *piece) for piece in plan.pieces(s)] for s in settings[first::stride]]
        order += [piece for row in itertools.zip_longest(*pieces) for piece in row if piece is not None]
    return order


def _to_arrays(piece: _Piece) -> dict[str, np.ndarray]:
    arrays = {name: getattr(piece.runs, name) for name in Runs.array_names()}
    if piece.trace is not None:
        arrays |= {f"trace_{name}": value for name, value in piece.trace.__dict__.items()}
    return arrays


def _finish(plan: Plan, setting: Setting, folder: RunFolder, times: _Times) -> None:
    """Join a setting's pieces into its result files, then drop the pieces."""
    stored = [folder.get(name) for name, _ in plan.pieces(setting)]
    parts = [Runs(setting.problem, **{name: arrays[name] for name in Runs.array_names()}) for arrays in stored]
    runs, kept, found = _with_families(Runs.join(parts))
    write_npz(folder.path / f"{setting.name}.npz", result_arrays(runs, kept, found))
    if plan.stopping.trace:
        names = ("run", "step", "value", "gradient_norm", "weights")
        trace = {name: np.concatenate([arrays[f"trace_{name}"] for arrays in stored]) for name in names}
        write_npz(folder.path / f"{setting.name}-trace.npz", trace)
    write_json(folder.path / f"{setting.name}.json", summarise(runs, found, plan.seed).to_json())
    times.write()
    for name, _ in plan.pieces(setting):
        (folder.path / "pieces" / f"{name}.npz").unlink(missing_ok=True)


def _read_summary(path: Path, setting: Setting) -> Summary:
    record = read_json(path / f"{setting.name}.json")
    return Summary(
        **record | {"families": tuple(record["families"]), "spurious_interval": tuple(record["spurious_interval"])}
    )


class _Times:
    """The record of how a folder was computed: versions, machine, seconds; kept apart from the results."""

    def __init__(self, path: Path, workers: int | None) -> None:
        import jax

        self.path = path / "record.json"
        self.workers = _count(workers)
        self.seconds: dict[str, list[float]] = {}
        self.record: dict[str, Any] = {
            "versions": {name: version(name) for name in ("earnshaw", "jax", "jaxlib", "numpy", "scipy")},
            "python": platform.python_version(),
            "machine": platform.processor() or platform.machine(),
            "device": jax.devices()[0].device_kind,
            "dtype": "float64",
            "workers": self.workers,
            "times": read_json(self.path)["times"] if self.path.exists() else {},
        }

    def add(self, name: str, piece: _Piece) -> None:
        """Add a piece's times to its setting's."""
        old = self.record["times"].setdefault(name, {"seconds": 0.0, "compile_seconds": 0.0})
        old["seconds"] += piece.seconds / self.workers
        old["compile_seconds"] += piece.compile_seconds / self.workers

    def write(self) -> None:
        """Write the record."""
        write_json(self.path, self.record)

    def result(self, setting: Setting, summary: Summary) -> SweepResult:
        """Return a setting's summary with its times."""
        times = self.record["times"].get(setting.name, {"seconds": 0.0, "compile_seconds": 0.0})
        return SweepResult(summary, times["seconds"], times["compile_seconds"])
