"""The engine: pieces of work go to an executor, finished pieces to a folder, finished settings to results."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from earnshaw.errors import InputError
from earnshaw.experiments.executors import Threads
from earnshaw.experiments.times import Timed, Times
from earnshaw.experiments.work import Context, Finished, Piece, Progress, Work, quiet, record_of
from earnshaw.numerics import compilations
from earnshaw.store import Arrays, RunFolder, write_json


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
        self.times = Times(folder, executor.count)
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

        def done(piece: Piece, timed: Timed) -> None:
            self._store(piece, timed.arrays)
            self.times.add(piece.setting, timed)
            self.inside.pop(piece, None)
            self.left -= piece.weight
            waiting[piece.setting] -= 1
            if not waiting[piece.setting]:
                self._finish(piece.setting, pieces[piece.setting])
            self._report(piece.setting)

        self.executor.run(self._compute, in_turn(missing, self.executor.count), done)
        found = self.results
        return {name: Done(found[name].record, *self.times.of(name), found[name].files) for name in self.runs}

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

    def _compute(self, piece: Piece) -> Timed:
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
        return Timed(arrays, (begin, time.perf_counter()), compilations()[before:])

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
