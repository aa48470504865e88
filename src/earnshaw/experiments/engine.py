"""The engine: work is cut into pieces, pieces go to an executor, finished pieces to a folder, finished settings to results.

Everything that takes long is *work*: sweeps of every network, the arena, deep students, charges in motion, measurements on
data sets. Work is plain data with a two-way JSON form, so that a worker needs nothing but the manifest of a folder.
"""

from __future__ import annotations

import itertools
import platform
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from importlib.metadata import version
from numbers import Integral
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, TypeVar

from earnshaw.errors import InputError
from earnshaw.numerics import compilations
from earnshaw.records import decode, fields_of, unpack
from earnshaw.store import Arrays, RunFolder, digest, read_json, read_manifest, read_sealed, write_json
from earnshaw.threads import cores, one_blas_thread

Progress = Callable[[float, str], None]  # (share of the work done, what was finished)
Item = TypeVar("Item")
Result = TypeVar("Result")
KINDS: dict[str, type[Work]] = {}


class Interrupted(Exception):
    """The work was stopped; a folder can be resumed."""


def quiet(share: float, what: str) -> None:
    """Report progress to nobody."""


@dataclass(frozen=True)
class Piece:
    """Some lanes of one setting, to be computed together; ``weight`` says how much of the work that is."""

    setting: str
    low: int
    high: int
    weight: float = 1.0


@dataclass(frozen=True)
class Context:
    """What the computation of a piece may ask for: whether to stop, who hears of the progress, and where to keep stages.

    ``keep(stage, compute)`` returns the arrays of a stage of the piece, from the folder if they are there already.
    """

    cancelled: Callable[[], bool] = lambda: False
    progress: Progress = quiet
    keep: Callable[[int, Callable[[], Arrays]], Arrays] = lambda stage, compute: compute()


@dataclass(frozen=True)
class Finished:
    """A setting's results: the record (``NAME.json``) and the arrays of its files (``NAME.npz``, ``NAME-trace.npz``)."""

    record: dict[str, Any]
    files: Mapping[str, Arrays]


class Work:
    """What is to be computed. Subclasses are frozen dataclasses that name their kind.

    As it stands here, work is one setting of the name of its kind, computed in one piece, and its result is a dataclass
    with a ``to_json`` for people, which a file keeps as arrays (:func:`earnshaw.records.pack`).
    """

    kind: ClassVar[str]
    result: ClassVar[type]

    def __init_subclass__(cls, **more: Any) -> None:
        """Enter the class into the registry of readers."""
        super().__init_subclass__(**more)
        KINDS[cls.kind] = cls

    @property
    def common(self) -> dict[str, Any]:
        """What determines the results of all settings, as JSON."""
        return fields_of(self)

    @property
    def parts(self) -> dict[str, dict[str, Any]]:
        """For each setting, by name: its ``identity``, its number of ``runs``, and the ``plan`` that cuts it into pieces."""
        return {self.kind: {"identity": {}, "runs": 1, "plan": {}}}

    @classmethod
    def from_json(cls, common: Mapping[str, Any], parts: Mapping[str, Any], functions: bool = False) -> Self:
        """Rebuild the work from these two; ``functions``: may a user's code be loaded?"""
        return decode(cls, common)

    @property
    def hash(self) -> str:
        """A hash of everything that determines the results, up to the last bits."""
        parts = {name: [part["identity"], part["runs"]] for name, part in self.parts.items()}
        return digest([self.kind, self.common, parts])

    def pieces(self, name: str) -> list[Piece]:
        """Return the pieces of a setting; a piece depends on nothing outside it."""
        return [Piece(name, 0, self.parts[name]["runs"])]

    def compute(self, piece: Piece, context: Context) -> Arrays:
        """Return the arrays of a piece: a function of the work and the piece alone."""
        raise NotImplementedError

    def finish(self, name: str, pieces: list[Arrays]) -> Finished:
        """Return a setting's results from those of its pieces."""
        return Finished(unpack(self.result, pieces[0]).to_json(), {"": pieces[0]})

    def cut(self, files: Mapping[str, Arrays], piece: Piece) -> Arrays:
        """Return a piece's arrays out of finished results that hold its lanes."""
        return {name: array[piece.low : piece.high] for name, array in files[""].items()}

    @classmethod
    def load(cls, folder: Path, functions: bool = False) -> Any:
        """Return what a finished folder of this kind holds, as the function that computed it returned it."""
        return unpack(cls.result, read_sealed(folder / f"{cls.kind}.npz")[0])


def load(folder: str | Path, functions: bool = False) -> Any:
    """Return what is in a folder that this library wrote: a sweep, a fit, a trajectory, as it was when it was computed.

    A folder may name a function of a user's own, and loading that runs code: ``functions`` allows it.
    """
    return _kind(Path(folder), read_manifest(Path(folder))).load(Path(folder), functions)


def _kind(folder: Path, manifest: Mapping[str, Any]) -> type[Work]:
    kind = manifest["kind"]
    if kind not in KINDS:
        raise InputError(f"{folder} holds work of the kind {kind!r}; this version knows {', '.join(sorted(KINDS))}")
    return KINDS[kind]


def work_of(folder: str | Path, functions: bool = False) -> Work:
    """Rebuild the work of a run folder from its manifest alone."""
    manifest = read_manifest(Path(folder))
    return _kind(Path(folder), manifest).from_json(manifest["common"], manifest["settings"], functions)


# ---- executors ------------------------------------------------------------------------------------------------------


class Executor(Protocol):
    """Computes a function of many items somewhere; ``done`` is called in this thread for each result as it comes."""

    def run(
        self, function: Callable[[Item], Result], items: Sequence[Item], done: Callable[[Item, Result], None]
    ) -> None:
        """Compute all items, or raise what the first of them to fail has raised."""
        ...


@dataclass(frozen=True)
class Threads:
    """Worker threads of this process, one for each core unless told otherwise; XLA and BLAS let go of Python meanwhile."""

    workers: int | None = None
    stop: threading.Event = field(default_factory=threading.Event, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Check the number of workers."""
        if self.workers is not None and not (isinstance(self.workers, Integral) and self.workers >= 1):
            raise InputError(f"{self.workers!r} workers were asked for; use at least 1")

    @property
    def count(self) -> int:
        """The number of worker threads."""
        return self.workers or cores()

    def run(
        self, function: Callable[[Item], Result], items: Sequence[Item], done: Callable[[Item, Result], None]
    ) -> None:
        """Compute all items; Ctrl-C, or an error, stops the others and is raised, the former as :class:`Interrupted`."""
        with one_blas_thread(), ThreadPoolExecutor(self.count) as pool:
            try:
                futures: dict[Future[Result], Item] = {pool.submit(function, item): item for item in items}
                while futures:
                    ready, _ = wait(futures, return_when=FIRST_COMPLETED)
                    for future in sorted(ready, key=lambda future: future.exception() is not None):  # keep what is done
                        done(futures.pop(future), future.result())
            except BaseException as error:
                self.stop.set()
                pool.shutdown(wait=True, cancel_futures=True)
                if isinstance(error, KeyboardInterrupt):
                    raise Interrupted from error
                raise


# ---- running --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Done:
    """A finished setting: its record, the wall time in which some worker computed it, or compiled for it, and its files.

    The arrays of the files are here only if nothing was written.
    """

    record: dict[str, Any]
    seconds: float = 0.0
    compile_seconds: float = 0.0
    files: Mapping[str, Arrays] = field(default_factory=dict, repr=False)


def run(work: Work, out: Path | None = None, workers: int | None = None, progress: Progress = quiet) -> dict[str, Done]:
    """Do the work, or what is left of it in the folder ``out``, and return every setting's results by name.

    Every file appears whole or not at all. Interrupting raises :class:`Interrupted`; calling again resumes. Settings and
    runs that a folder already has are not computed again; without ``out`` nothing is written.
    """
    executor = Threads(workers)
    if out is None:
        return _Run(work, None, executor, progress).run()
    with RunFolder(out, work.kind, work.common, work.parts) as folder:
        work = (
            type(work).from_json(folder.common, folder.settings, functions=True) if _replanned(work, folder) else work
        )
        return _Run(work, folder, executor, progress).run()


def _replanned(work: Work, folder: RunFolder) -> bool:
    """Whether the folder has another plan for some setting than the work."""
    return any(part["plan"] != folder.settings[name]["plan"] for name, part in work.parts.items())


class _Run:
    """One call of :func:`run`."""

    def __init__(self, work: Work, folder: RunFolder | None, executor: Threads, progress: Progress) -> None:
        self.work, self.folder, self.executor, self.progress = work, folder, executor, progress
        self.runs = {name: part["runs"] for name, part in work.parts.items()}
        self.times = _Times(folder, executor.count)
        self.results: dict[str, Finished] = {}
        self.stored: dict[Piece, Arrays | None] = {}  # pieces that are there; None: in the folder
        self.inside: dict[Piece, float] = {}  # how far the pieces that are being computed have come
        self.total = self.left = 0.0
        self.lock = threading.Lock()

    def run(self) -> dict[str, Done]:
        """Compute what is missing and finish every setting."""
        pieces = {name: self.work.pieces(name) for name in self.runs}
        self.total = sum(piece.weight for some in pieces.values() for piece in some) or 1.0
        for name in pieces:
            self._look(name, pieces[name])
        missing = {
            name: [piece for piece in some if piece not in self.stored]
            for name, some in pieces.items()
            if name not in self.results
        }
        self.left = sum(piece.weight for some in missing.values() for piece in some)
        self.progress(1 - self.left / self.total, "")
        waiting = {name: len(some) for name, some in missing.items()}
        for name, count in waiting.items():
            if not count:
                self._finish(name, pieces[name])

        def done(piece: Piece, timed: _Timed) -> None:
            self._store(piece, timed.arrays)
            self.times.add(piece.setting, timed)
            self.inside.pop(piece, None)
            self.left -= piece.weight
            waiting[piece.setting] -= 1
            if not waiting[piece.setting]:
                self._finish(piece.setting, pieces[piece.setting])
            self._report(piece.setting)

        self.executor.run(self._compute, in_turn(missing, self.executor.count), done)
        return {name: self.times.done(name, self.results[name]) for name in self.runs}

    def _look(self, name: str, pieces: list[Piece]) -> None:
        """Find out what the folder has of a setting: all of it, whole pieces of a shorter run, or single pieces."""
        if self.folder is None:
            return
        before = record_of(self.folder.path / f"{name}.json")
        count = before.get("runs")
        if isinstance(count, int):
            files = {part: self.folder.get(name, 0, count, part) for part in before.get("files", [""])}
            if all(arrays is not None for arrays in files.values()):
                kept = {part: arrays for part, arrays in files.items() if arrays is not None}
                if count == self.runs[name]:
                    self.results[name] = Finished(before, {})
                    return
                for piece in pieces:
                    if piece.high <= count:
                        self.stored[piece] = self.work.cut(kept, piece)
        for piece in pieces:
            if piece not in self.stored and self.folder.get(name, piece.low, piece.high) is not None:
                self.stored[piece] = None

    def _compute(self, piece: Piece) -> _Timed:
        def inside(share: float, what: str) -> None:
            self.inside[piece] = share
            self._report(what)

        def keep(stage: int, compute: Callable[[], Arrays]) -> Arrays:
            if self.folder is None:
                return compute()
            part = f"-stage{stage:04d}"
            found = self.folder.get(piece.setting, piece.low, piece.high, part)
            if found is None:
                found = compute()
                self.folder.put(piece.setting, piece.low, piece.high, found, part)
            return found

        begin, before = time.perf_counter(), len(compilations())
        arrays = self.work.compute(piece, Context(self.executor.stop.is_set, inside, keep))
        return _Timed(arrays, (begin, time.perf_counter()), compilations()[before:])

    def _report(self, what: str) -> None:
        with self.lock:
            inside = sum(piece.weight * share for piece, share in list(self.inside.items()))
            self.progress(min(1.0, 1 - (self.left - inside) / self.total), what)

    def _store(self, piece: Piece, arrays: Arrays) -> None:
        if self.folder is not None:
            self.folder.put(piece.setting, piece.low, piece.high, arrays)
        self.stored[piece] = None if self.folder is not None else arrays

    def _fetch(self, piece: Piece) -> Arrays:
        arrays = self.stored[piece]
        if arrays is None and self.folder is not None:
            arrays = self.folder.get(piece.setting, piece.low, piece.high)
        if arrays is None:
            raise InputError(f"a piece of {piece.setting} vanished from its folder; run the same command again")
        return arrays

    def _finish(self, name: str, pieces: list[Piece]) -> None:
        """Join a setting's pieces into its result files, then drop the pieces."""
        finished = self.work.finish(name, [self._fetch(piece) for piece in pieces])
        record = {**finished.record, "runs": self.runs[name], "files": list(finished.files)}
        self.results[name] = Finished(record, {} if self.folder is not None else finished.files)
        if self.folder is not None:
            for part, arrays in finished.files.items():
                self.folder.put(name, 0, self.runs[name], arrays, part)
            write_json(self.folder.path / f"{name}.json", record)
            self.times.write()
            self.folder.drop_pieces(name)
        for piece in pieces:
            del self.stored[piece]


def in_turn(missing: Mapping[str, list[Piece]], workers: int) -> list[Piece]:
    """Return all pieces, those of settings far apart in turn: so workers compile programs, not wait for each other's."""
    settings = [pieces for pieces in missing.values() if pieces]
    stride = -(-len(settings) // workers)
    order: list[Piece] = []
    for first in range(stride):
        rows = itertools.zip_longest(*settings[first::stride])
        order += [piece for row in rows for piece in row if piece is not None]
    return order


def finished_records(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the records of all finished settings of a run folder by name, with their times where those are known."""
    names = read_manifest(folder)["settings"]
    times = record_of(folder / "record.json").get("times") or {}
    found = {name: read_json(folder / f"{name}.json") for name in names if (folder / f"{name}.json").exists()}
    for name, record in found.items():
        if not isinstance(record, dict):
            raise InputError(f"{folder / name}.json is damaged (it is no record); remove it and run the same again")
    return {name: record | (times.get(name) or {}) for name, record in found.items()}


def record_of(path: Path) -> dict[str, Any]:
    """Return a record, or an empty one where it is missing or damaged: what it speaks of is then computed again."""
    try:
        record = read_json(path) if path.exists() else {}
    except InputError:
        return {}
    return record if isinstance(record, dict) else {}


# ---- how long it took -----------------------------------------------------------------------------------------------

Span = tuple[float, float]


@dataclass(frozen=True)
class _Timed:
    arrays: Arrays
    span: Span
    compiling: list[Span]


def covered(spans: Sequence[Span]) -> float:
    """Return the length of the union of intervals."""
    total, reach = 0.0, float("-inf")
    for begin, end in sorted(spans):
        total += max(0.0, end - max(begin, reach))
        reach = max(reach, end)
    return total


def _without(span: Span, holes: Sequence[Span]) -> list[Span]:
    """Return what of an interval lies outside of others."""
    cuts = [span[0], *itertools.chain.from_iterable(sorted(holes)), span[1]]
    return [(begin, end) for begin, end in zip(cuts[::2], cuts[1::2], strict=True) if end > begin]


class _Times:
    """The record of how a folder was computed: versions, machine, seconds; kept apart from the results."""

    def __init__(self, folder: RunFolder | None, workers: int) -> None:
        self.path = folder.path / "record.json" if folder is not None else None
        before = record_of(self.path) if self.path is not None else {}
        times = before.get("times")
        self.before: dict[str, dict[str, float]] = times if isinstance(times, dict) else {}
        self.busy: dict[str, list[Span]] = {}
        self.compiling: dict[str, list[Span]] = {}
        self.workers = workers

    def add(self, name: str, timed: _Timed) -> None:
        """Add a piece's times to its setting's."""
        self.busy.setdefault(name, []).extend(_without(timed.span, timed.compiling))
        self.compiling.setdefault(name, []).extend(timed.compiling)

    def _sum(self, name: str) -> tuple[float, float]:
        old = self.before.get(name) or {}
        return (
            float(old.get("seconds", 0.0)) + covered(self.busy.get(name, [])),
            float(old.get("compile_seconds", 0.0)) + covered(self.compiling.get(name, [])),
        )

    def done(self, name: str, finished: Finished) -> Done:
        """Return a setting's results with its times."""
        return Done(finished.record, *self._sum(name), finished.files)

    def write(self) -> None:
        """Write the record."""
        if self.path is None:
            return
        names = {*self.before, *self.busy}
        times = {
            name: dict(zip(("seconds", "compile_seconds"), self._sum(name), strict=True)) for name in sorted(names)
        }
        write_json(self.path, {**machine(), "workers": self.workers, "times": times})


def machine() -> dict[str, Any]:
    """Return with which versions and on what something is being computed."""
    import jax

    return {
        "versions": {name: version(name) for name in ("earnshaw", "jax", "jaxlib", "numpy", "scipy")},
        "python": platform.python_version(),
        "machine": platform.processor() or platform.machine(),
        "device": jax.devices()[0].device_kind,
        "dtype": "float64",
    }
