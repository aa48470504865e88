"""The engine: pieces of work go to workers, finished pieces to a folder, finished settings to results.

How long it took, and on what, is kept apart from the results, which depend on neither.
"""

from __future__ import annotations

import logging
import math
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, TypedDict

from earnshaw.errors import DamageWarning, InputError, Interrupted, checked_time_limit, checked_workers
from earnshaw.experiments.cluster import Cluster, check_where, tasks
from earnshaw.experiments.crew import THREADS, Crew
from earnshaw.experiments.parts import Part
from earnshaw.experiments.progress import asked
from earnshaw.experiments.sending import Sent, sent
from earnshaw.experiments.stopping import heard, limited
from earnshaw.experiments.times import Times
from earnshaw.experiments.turns import in_turn
from earnshaw.experiments.work import (
    RECORD,
    Context,
    Done,
    Ended,
    Finished,
    Milestone,
    Piece,
    Progress,
    Standing,
    Timed,
    Work,
    put_beside,
    put_results,
    quiet,
    timed,
    timing,
    unheard,
)
from earnshaw.store import Arrays, RunFolder, read_manifest
from earnshaw.threads import brisk, cores, one_blas_thread

LOG = logging.getLogger("earnshaw")
LOOK = 1.0  # seconds between two looks whether to stop, and two records of the time
PAUSE = 0.05  # seconds between two reports of progress inside pieces, which take a look at all of them
GROUPS = 2  # that a device begins at the same time: while one comes to the host, it computes another
LOOKING = 2  # threads of a process where a device takes most of the steps: what is left needs Python more often
MUCH = 5e6  # effort for each worker, some seconds: with less, processes would take longer to begin than they gain


class How(TypedDict, total=False):
    """The keywords of :func:`run` that say how the work is done, and change no result."""

    part: str | Part | None
    cluster: str | None
    time_limit: float | None
    mixed: bool
    cancelled: Callable[[], bool]
    ended: Ended


def run(
    work: Work,
    out: str | Path | None = None,
    workers: int | None = None,
    progress: Progress | bool = quiet,
    *,
    part: str | Part | None = None,
    cluster: str | None = None,
    time_limit: float | None = None,
    mixed: bool = False,
    cancelled: Callable[[], bool] = lambda: False,
    ended: Ended = unheard,
) -> dict[str, Done]:
    """Do the work, or what is left of it in the folder ``out``, and return every setting's results by name.

    Every file appears whole or not at all. Interrupting raises :class:`Interrupted`; calling again resumes. Settings and
    runs that a folder already has are not computed again; without ``out`` nothing is written. Workers are threads, one
    for each core unless told otherwise; XLA and BLAS let go of Python meanwhile. More than six, with much to do in the
    paper's own case, are spread over processes (:mod:`earnshaw.experiments.crew`).

    ``progress`` is called with the share of the work done and what is being done; True shows it on the screen.
    ``part``, such as ``"2/8"``, computes that share of the pieces alone, into a folder of its own, and returns the settings
    that are whole there; :func:`earnshaw.merge` joins the folders. ``cluster``, ``"local:4"`` or the address of a Dask
    scheduler, has worker processes compute the pieces instead of threads. After ``time_limit`` seconds the work stops as if it
    were interrupted, and so it does within a second of ``cancelled`` saying yes. ``ended`` hears from the threads, as they
    end, at which losses runs did and with which outcomes; the runs of a cluster tell it nothing. ``mixed`` lets a folder that was begun with another
    kernel go on with this one. The logger ``earnshaw`` of :mod:`logging` hears of the beginning, of every setting, and of the end.
    """
    seconds = checked_time_limit(time_limit)
    chosen = None if part is None else Part.of(part)
    if chosen is not None and out is None:
        raise InputError(f"part {chosen} was asked for without a folder; give one (out), to merge it with the others")
    workers = checked_workers(workers) or cores()
    if cluster is not None:
        workers = check_where(cluster) or workers
    if out is None:
        with asked(progress, work.kind) as listener:
            return _Run(work, None, workers, listener, None, cluster, seconds, cancelled, ended).run()
    if not mixed and (Path(out) / "manifest.json").exists():
        work.resumable(read_manifest(Path(out), before=True)["settings"])
    mine = None if chosen is None else str(chosen)
    with (
        RunFolder(Path(out), work.kind, work.common, work.parts, mine) as folder,
        asked(progress, work.kind) as listener,
    ):
        if any(part["plan"] != folder.settings[name]["plan"] for name, part in work.parts.items()):
            work = work.resumed(folder.common, folder.settings, mixed)
        return _Run(work, folder, workers, listener, chosen, cluster, seconds, cancelled, ended).run()


class _Run:
    """One call of :func:`run`."""

    def __init__(
        self,
        work: Work,
        folder: RunFolder | None,
        workers: int,
        progress: Progress,
        part: Part | None = None,
        cluster: str | None = None,
        time_limit: float = math.inf,
        cancelled: Callable[[], bool] = lambda: False,
        ended: Ended = unheard,
    ) -> None:
        self.work, self.folder, self.workers, self.progress = work, folder, workers, progress
        self.part, self.cluster, self.time_limit = part, cluster, time_limit
        self.cancelled, self.ended = cancelled, ended
        self.stop = threading.Event()
        self.runs = {name: part["runs"] for name, part in work.parts.items()}
        self.times = Times(folder, workers)
        self.results: dict[str, Finished] = {}
        self.stored: dict[Piece, Arrays | None] = {}  # pieces that are there; None: in the folder
        self.shorter: dict[str, tuple[int, tuple[str, ...]]] = {}  # settings that have results, of so many runs
        self.opened: tuple[str, dict[str, Arrays]] = ("", {})  # the results of the last one of those
        self.stages: dict[str, list[Arrays]] = {}  # of settings that are there with fewer runs
        self.began: dict[Piece, Timed] = {}  # when the device had what pieces
        self.inside: dict[Piece, float] = {}  # how far the pieces that are being computed have come
        self.counts: dict[Piece, Mapping[str, int]] = {}  # how many of their runs have ended, and how
        self.decided = Counter[str]()  # the sums of these
        self.total = self.left = 0.0
        self.lock = threading.Lock()
        self.told = -math.inf  # when somebody heard of the progress
        self.crew: Crew | None = None  # processes on this computer

    def run(self) -> dict[str, Done]:
        """Compute what is missing and finish every setting."""
        self.pieces = {name: self.work.pieces(name) for name in self.runs}
        every = [piece for some in self.pieces.values() for piece in some]
        self.mine = mine = set(every if self.part is None else self.part.share(every))
        self.total = sum(piece.weight for piece in mine) or 1.0
        for name, some in self.pieces.items():
            self._look(name, some)
        unfinished = {name: some for name, some in self.pieces.items() if name not in self.results}
        missing = {name: [piece for piece in some if piece not in self.stored] for name, some in unfinished.items()}
        wanted = {name: [piece for piece in some if piece in mine] for name, some in missing.items()}
        self.left = sum(piece.weight for some in wanted.values() for piece in some)
        self.progress(1 - self.left / self.total, "")
        self.waiting = {name: len(some) for name, some in missing.items()}
        whole = [name for name, count in self.waiting.items() if not count]
        self._log("begins with")
        try:
            self._compute_all(in_turn(wanted, self.workers, self.work.portable), whole)
        except BaseException:
            if self.folder is not None and self.times.spans["seconds"]:
                with suppress(InputError):
                    self.times.write(self.folder)
            raise
        self._log("is done:")
        if self.folder is not None and any(wanted.values()):
            self.times.write(self.folder)
        if self.folder is not None and self.times.lost and not self.times.spans["seconds"]:
            (self.folder.path / RECORD).unlink(missing_ok=True)  # nobody knows any more how these results were computed
        whole = [name for name in self.runs if name in self.results]
        files = {name: self.folder.path / name if self.folder else self.results[name].files for name in whole}
        return {name: Done(name, self.results[name].record, files[name], **self.times.of(name)) for name in whole}

    def _begun(self, pieces: Sequence[Piece]) -> Crew | None:
        """Return processes on this computer, if there are cores and work enough for them."""
        many = self.workers > THREADS and len(pieces) > self.workers
        much = sum(piece.weight for piece in pieces) >= MUCH * self.workers
        if not (many and much) or self.cluster is not None or not self.work.portable:
            return None
        first = [group[0].setting for group in self.work.groups(pieces)]
        crew = Crew(self.workers, LOOKING if first else THREADS)
        crew.rehearse([partial(self.sent[name].rehearse, name) for name in first])  # while the device begins
        return crew

    @cached_property
    def sent(self) -> dict[str, Sent]:
        """The settings, as other processes get them."""
        return sent(self.work, list(self.runs), None if self.folder is None else self.folder.path)

    def _executor(self) -> Executor:
        """Return who computes pieces: threads or processes here, or workers elsewhere."""
        return Cluster(self.cluster) if self.cluster is not None else self.crew or ThreadPoolExecutor(self.workers)

    def _look_for_workers(self, executor: Any, waited: bool) -> bool:
        """Say so where a cluster has nobody who computes; return whether it has not."""
        if self.cluster is None or executor.workers:
            return False
        self._report("waiting for workers")
        if not waited:
            LOG.info(f"waiting for workers at {self.cluster}")
        return True

    def _submit(self, executor: Executor, beginners: Executor, pieces: Sequence[Piece]) -> dict[Future[Timed], Piece]:
        """Hand out the pieces: as tasks that can be sent, or as calls here, which the device may have begun in groups."""
        if self.cluster is not None:
            return {executor.submit(task): piece for piece, task in tasks(self.work, pieces).items()}
        groups = [{piece: Future[Timed]() for piece in group} for group in self.work.groups(pieces)]
        promised = {piece: future for group in groups for piece, future in group.items()}
        for group in groups:
            beginners.submit(self._begin, executor, group)
        futures = {piece: promised.get(piece) or self._hand(executor, piece) for piece in pieces}
        return {future: piece for piece, future in futures.items()}

    def _hand(self, executor: Executor, piece: Piece, begun: Arrays | None = None, left: float = 0.0) -> Future[Timed]:
        """Hand out a piece, with what has begun of it and the weight of what is left; others come in the order of all."""
        if not isinstance(executor, Crew):
            return executor.submit(self._compute, piece, begun)
        call = partial(self.sent[piece.setting].compute, piece, begun=begun)
        return executor.submit(call, self._context(piece), partial(self._received, piece), left)

    def _begin(self, executor: Executor, promised: Mapping[Piece, Future[Timed]]) -> None:
        """Begin several pieces together on the device, hand each out as soon as that is done, and keep its promise with the result."""
        stop, left = timing(), dict(promised)
        try:
            for piece, arrays, weight in self.work.begin({piece: self._context(piece) for piece in promised}):
                self.began[piece] = stop({})
                self._hand(executor, piece, arrays, weight).add_done_callback(partial(_keep, left.pop(piece)))
        except BaseException as error:
            for future in left.values():
                future.set_exception(error)

    def _compute_all(self, pieces: Sequence[Piece], whole: Sequence[str]) -> None:
        """Give the pieces to workers and take each as it comes; threads beside them finish settings whose pieces are all there.

        ``whole`` are those that are so from the beginning. Ctrl-C, or an error, stops the others and is raised.
        """
        if not pieces:
            for name in whole:
                self._close(name, self._finished(name, self._fetch_all(name)))
            return
        with ExitStack() as stack:
            for around in (one_blas_thread(), brisk(), heard(self.stop), limited(self.stop, self.time_limit)):
                stack.enter_context(around)
            self.crew = self._begun(pieces)
            finishers = stack.enter_context(self.crew or ThreadPoolExecutor(self.workers))
            executor = stack.enter_context(self._executor())
            beginners = stack.enter_context(ThreadPoolExecutor(GROUPS))
            going: dict[Future[Any], Piece | str] = {}
            try:
                going |= {self._finish(finishers, name): name for name in whole}
                going |= self._submit(executor, beginners, pieces)
                done = SimpleQueue[Future[Any]]()
                for future in going:
                    future.add_done_callback(done.put)
                waited = self._look_for_workers(executor, False)
                while going:
                    ready = _drained(done, LOOK)
                    waited = not ready and self._look_for_workers(executor, waited)
                    for future in sorted(ready, key=lambda future: future.exception() is not None):  # keep what is done
                        what = going.pop(future)
                        if isinstance(what, str):
                            self._close(what, future.result())
                            self._report(Milestone(self.work.told(what, self.results[what].record)))
                            continue
                        self._take(what, future.result())
                        if not self.waiting[what.setting]:
                            going[last := self._finish(finishers, what.setting)] = what.setting
                            last.add_done_callback(done.put)
                    if self.cancelled():
                        self.stop.set()
                    if self.stop.is_set():
                        raise KeyboardInterrupt  # which somebody swallowed
            except BaseException as error:
                told = self.stop.is_set() or isinstance(error, KeyboardInterrupt)
                self.stop.set()
                beginners.shutdown(wait=True, cancel_futures=True)
                executor.shutdown(wait=True, cancel_futures=True)
                finishers.shutdown(wait=True, cancel_futures=True)
                for future, what in going.items():  # no results stay without their record
                    if isinstance(what, str) and future.done() and not future.cancelled() and not future.exception():
                        self._close(what, future.result())
                if told:
                    self._log("was stopped at")
                    raise Interrupted(self._standing()) from error
                raise

    def _finish(self, finishers: Executor, name: str) -> Future[Finished]:
        """Have a setting finished whose pieces are all there, before anything that waits."""
        if self.crew is None:
            return finishers.submit(self._finished, name, self._fetch_all(name))
        pieces = [piece if self._in_a_file(piece) else self._fetch(piece) for piece in self.pieces[name]]
        return self.crew.submit(partial(self.sent[name].finish, name, pieces), weight=math.inf)

    def _store(self, piece: Piece, arrays: Arrays) -> None:
        """Keep a piece that is computed: by its worker, or here where that is elsewhere or has better things to do."""
        if self.folder is not None:
            self.folder.put(piece.setting, piece.low, piece.high, arrays)
        self.stored[piece] = arrays if self.folder is None else None

    def _take(self, piece: Piece, timed: Timed) -> None:
        if piece not in self.stored:
            self._store(piece, timed.arrays)
        for one in (self.began.pop(piece, None), timed):
            if one is not None:
                self.times.add(piece.setting, one, self.work.tool(piece.setting))
        with self.lock:
            self.inside.pop(piece, None)
            self.left -= piece.weight
        self.waiting[piece.setting] -= 1
        self._report(piece.setting)

    def _log(self, words: str) -> None:
        if LOG.isEnabledFor(logging.INFO):  # it takes a look at every piece
            LOG.info(f"{self.work.kind} {self.work.hash[:16]} {words} {self._standing()}")

    def _standing(self) -> Standing:
        """Say how far the work, or this part of it, has come."""
        done = [piece for piece in self.mine if piece.setting in self.results or piece in self.stored]
        outcomes = Counter[str]()
        for finished in self.results.values():
            outcomes.update(finished.record.get("outcomes", {}))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DamageWarning)  # results that are being replaced by longer ones
            for piece in done:
                if piece.setting not in self.results and (arrays := self._held(piece)) is not None:
                    outcomes.update(self.work.tally(arrays))
        return Standing(
            settings=len(self.results),
            of_settings=len(self.runs),
            pieces=len(done),
            of_pieces=len(self.mine),
            runs=sum(piece.high - piece.low for piece in done),
            of_runs=sum(piece.high - piece.low for piece in self.mine),
            outcomes={name: count for name, count in outcomes.items() if count},
        )

    def _look(self, name: str, pieces: list[Piece]) -> None:
        """Find out what the folder has of a setting: all of it, all but the record, a shorter run, or single pieces."""
        if self.folder is None:
            return
        before = self.folder.get_record(name)
        due = before is not None
        count, parts = (before["runs"], before["files"]) if due else (self.runs[name], self.work.results(name))
        found = {part: self.folder.get(name, 0, count, part, due) for part in parts}
        kept = {part: arrays for part, arrays in found.items() if arrays is not None}
        if len(kept) == len(parts):
            if due and count == self.runs[name]:
                self.results[name] = Finished(before, {})
                put_beside(self.folder, self.work, kept)
                self.folder.drop_pieces(name)  # a process that was killed, or a merge, may have left some
                return
            self.shorter[name] = count, tuple(parts)
            self.stored |= {piece: None for piece in pieces if piece.high <= count}
            self.stages[name] = self.work.stages(kept) if count < self.runs[name] else []
        for piece in pieces:
            if piece not in self.stored and self.folder.get(name, piece.low, piece.high) is not None:
                self.stored[piece] = None

    def _received(self, piece: Piece, timed: Timed) -> None:
        """Keep a piece that another process of this computer has computed, and written where there is a folder."""
        self.stored[piece] = timed.arrays if self.folder is None else None

    def _compute(self, piece: Piece, begun: Arrays | None) -> Timed:
        result = timed(self.work, piece, replace(self._context(piece), begun=begun))
        self._store(piece, result.arrays)
        return result

    def _context(self, piece: Piece) -> Context:
        """Return what the computation of a piece may ask for, and tell."""

        def inside(share: float, what: str) -> None:
            self.inside[piece] = max(share, self.inside.get(piece, 0.0))  # who goes on counts from 0
            if time.monotonic() > self.told + PAUSE:
                self._report(what)

        def counted(counts: Mapping[str, int]) -> None:
            with self.lock:
                self.decided.update(counts)
                self.decided.subtract(self.counts.get(piece, {}))
                self.counts[piece] = counts

        def keep(stage: int, compute: Callable[[], Arrays]) -> Arrays:
            if self.folder is None:
                return compute()
            if stage < len(known := self.stages.get(piece.setting, [])):
                return known[stage]
            part, place = f"-stage{stage:04d}", (piece.setting, piece.low, piece.low)  # whatever the number of runs
            found = self.folder.get(*place, part)
            if found is None:
                found = compute()
                self.folder.put(*place, found, part)
            return found

        return Context(self.stop.is_set, inside, keep, counted, self.ended)

    def _report(self, what: str) -> None:
        with self.lock:
            self.told = time.monotonic()
            inside = sum(piece.weight * share for piece, share in list(self.inside.items()))
            if self.counts and not isinstance(what, Milestone):
                what = ", ".join([what, *(f"{count} {name}" for name, count in self.decided.items())])
            self.progress(min(1.0, 1 - (self.left - inside) / self.total), what)

    def _in_a_file(self, piece: Piece) -> bool:
        """Whether a piece that is there has a file of its own."""
        return self.stored[piece] is None and piece.high > self.shorter.get(piece.setting, (0, ()))[0]

    def _held(self, piece: Piece) -> Arrays | None:
        arrays, name = self.stored[piece], piece.setting
        if arrays is not None or self.folder is None:
            return arrays
        count, parts = self.shorter.get(name, (0, ()))
        if self._in_a_file(piece):
            return self.folder.get(name, piece.low, piece.high)
        if self.opened[0] != name:
            found = {part: self.folder.get(name, 0, count, part) for part in parts}
            self.opened = name, {part: arrays for part, arrays in found.items() if arrays is not None}
        files = self.opened[1]
        return self.work.cut(files, piece) if len(files) == len(parts) else None

    def _fetch(self, piece: Piece) -> Arrays:
        arrays = self._held(piece)
        if arrays is None:
            raise InputError(f"a piece of {piece.setting} vanished from its folder; run the same command again")
        return arrays

    def _fetch_all(self, name: str) -> list[Arrays]:
        """Return a setting's pieces."""
        return [self._fetch(piece) for piece in self.pieces[name]]

    def _finished(self, name: str, pieces: list[Arrays]) -> Finished:
        """Join a setting's pieces into its results, and write all but the record."""
        finished = self.work.finish(name, pieces)
        self._write(name, finished)
        return finished

    def _write(self, name: str, finished: Finished) -> None:
        """Write a setting's results, all but the record."""
        if self.folder is not None:
            put_results(self.folder, self.work, name, finished.files)

    def _close(self, name: str, finished: Finished) -> None:
        """Write the record of a setting whose results are there, then drop its pieces."""
        record = {**finished.record, "runs": self.runs[name], "files": list(finished.files)}
        self.results[name] = Finished(record, finished.files if self.folder is None else {})
        if self.folder is not None:
            self.folder.put_record(name, record)
            self.times.write(self.folder, every=LOOK)
            self.folder.drop_pieces(name)
        ended = ", ".join(f"{count} {what}" for what, count in record.get("outcomes", {}).items())
        LOG.info(f"{name} is finished: {self.runs[name]} runs{f', {ended}' if ended else ''}")
        for piece in self.pieces[name]:
            del self.stored[piece]


def _keep(promised: Future[Timed], done: Future[Timed]) -> None:
    """Give a promised future what another has come to."""
    error = CancelledError() if done.cancelled() else done.exception()
    promised.set_result(done.result()) if error is None else promised.set_exception(error)


def _drained(queue: SimpleQueue[Future[Any]], seconds: float) -> list[Future[Any]]:
    """Return what is in a queue, and wait so long at most for the first of it."""
    found = []
    with suppress(Empty):
        found.append(queue.get(timeout=seconds))
        while True:
            found.append(queue.get_nowait())
    return found
