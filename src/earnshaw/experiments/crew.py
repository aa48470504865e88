"""Many cores: processes with a few threads each, so that no more of these than a few wait for one interpreter's lock.

They are begun by this process and end with it, whatever ends it. They read calls and write answers, one pickle after the
other, through pipes. A call that a process died of, or with, is made again in another.
"""

from __future__ import annotations

import contextlib
import heapq
import itertools
import logging
import math
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import numpy as np

from earnshaw.errors import InputError
from earnshaw.experiments.work import Context, unheard
from earnshaw.threads import brisk, deaf_children, one_blas_thread

LOG = logging.getLogger("earnshaw")
THREADS = 6  # of a process: each needs Python for a seventh of its time, so that these seldom wait
TRIES = 3  # of a call, before it is given up
EVERY = 0.25  # seconds between two reports on a call that goes on
BEGIN = "import sys; sys.path[:] = {path!r}; from earnshaw.experiments.crew import serve; serve({threads})"
Call = Callable[[Context], Any]  # plain data that can be called


@dataclass
class _Job:
    number: int
    weight: float
    call: Call
    context: Context
    received: Callable[[Any], None]
    future: Future[Any] = field(default_factory=Future)
    tries: int = 0
    error: BaseException | None = None  # what was raised by somebody who was told of it

    def __lt__(self, other: _Job) -> bool:
        """Say whether this comes before another: the heavier, and of equals the one that waits longer."""
        return (-self.weight, self.number) < (-other.weight, other.number)


class Crew(Executor):
    """Processes on this computer, of at most so many ``threads`` each, for as many calls at a time as there are ``workers``."""

    def __init__(self, workers: int, threads: int = THREADS) -> None:
        self._waiting: list[_Job] = []  # a heap
        self._numbers = itertools.count()
        self._lock = threading.RLock()
        self._idle = threading.Condition(self._lock)
        self._stopping = self._over = False
        self._threads = threads
        count = math.ceil(workers / threads)
        sizes = [workers // count + (place < workers % count) for place in range(count)]
        with self._lock:
            self._members = [_Member(self, size) for size in sizes]

    def submit(  # type: ignore[override]
        self,
        call: Call,
        /,
        context: Context = Context(),  # noqa: B008
        received: Callable[[Any], None] = lambda answer: None,
        weight: float = 0.0,
    ) -> Future[Any]:
        """Have a process make a call; ``received`` gets the answer before the future does, in a thread that reads.

        The call's context is told there what ``context`` is told here, and it is cancelled when this executor is shut down.
        The heaviest of those that wait is made first.
        """
        job = _Job(next(self._numbers), weight, call, context, received)
        with self._lock:
            if self._over:
                raise RuntimeError("the crew has gone home")
            if not self._members:  # all were ended from outside while there was nothing to do
                self._members.append(_Member(self, self._threads))
            heapq.heappush(self._waiting, job)
            self._hand_out()
        return job.future

    def rehearse(self, calls: Sequence[Call]) -> None:
        """Have every process make these calls before others, for what it learns by them: nobody hears of answers or errors.

        Each begins with another one, so that of what they compile each can find some on disk.
        """
        with self._lock:
            for place, member in enumerate(self._members if calls else ()):
                first = place % len(calls)
                for call in (*calls[first:], *calls[:first]):
                    member.send((None, call, False))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Wait for the calls that were made, or with ``cancel_futures`` stop them, and end the processes."""
        with self._lock:
            if self._over:
                return
            if cancel_futures:
                self._stopping = True
                while self._waiting:
                    self._waiting.pop().future.cancel()
                for member in self._members:
                    member.send(None)  # stop
            while wait and (self._waiting or any(member.jobs for member in self._members)):
                self._idle.wait(1.0)
            self._over = True
        for member in self._members:
            member.end()

    @property
    def processes(self) -> list[int]:
        """The numbers by which the system knows the processes."""
        return [member.process.pid for member in self._members]

    def _hand_out(self) -> None:
        """Give waiting calls to whoever has a thread free: to the process with most of them."""
        while self._waiting and self._members:
            free, member = max(((one.threads - len(one.jobs), one) for one in self._members), key=lambda pair: pair[0])
            if free <= 0:
                return
            job = heapq.heappop(self._waiting)
            if not job.tries and not job.future.set_running_or_notify_cancel():
                continue
            job.tries += 1
            member.jobs[job.number] = job
            member.send((job.number, job.call, job.context.ended is not unheard))

    def _answered(self, member: _Member, number: int, raised: bool, answer: Any) -> None:
        """Take an answer: store it, say so, and hand out the next call."""
        with self._lock:
            job = member.jobs[number]
        if not raised:
            try:
                job.received(answer)
            except BaseException as error:
                job.error = job.error or error
        raised, answer = raised or job.error is not None, job.error or answer
        with self._lock:
            del member.jobs[number]
            self._hand_out()
            self._idle.notify_all()
        job.future.set_exception(answer) if raised else job.future.set_result(answer)

    def _lost(self, member: _Member) -> None:
        """Begin another process in place of one that is gone, for the calls that it had."""
        code = member.process.wait()
        with self._lock:
            if self._over:
                return
            LOG.info(f"worker process {member.process.pid} is gone (exit code {code}); what it had is computed again")
            tries = 0 if self._stopping else TRIES
            spent = [job for job in member.jobs.values() if job.tries >= tries]
            for job in member.jobs.values():
                if job.tries < tries:
                    heapq.heappush(self._waiting, job)
            self._members.remove(member)
            busy = bool(member.jobs)
            member.jobs.clear()
            try:
                # One that had nothing to do died by itself, and so might the next.
                if self._waiting and (busy or not self._members):
                    self._members.append(_Member(self, member.threads))
            except InputError as error:
                if not self._members:  # nobody is left to do what waits
                    for job in self._waiting:
                        job.future.set_exception(error)
                    self._waiting.clear()
            self._hand_out()
            self._idle.notify_all()
        for job in spent:
            job.future.set_exception(
                InputError(
                    f"a piece ended {TRIES} worker processes, one after the other; they were perhaps killed for memory: "
                    f"give fewer workers; up to {THREADS} are threads of one process"
                )
            )


class _Member:
    """A process of a crew, with the calls that it makes now, and the thread that reads its answers."""

    def __init__(self, crew: Crew, threads: int) -> None:
        self.threads, self.jobs = threads, dict[int, _Job]()
        words = [sys.executable, "-c", BEGIN.format(path=sys.path, threads=threads)]
        own = {"JAX_PLATFORMS": "cpu", "OPENBLAS_NUM_THREADS": "1"}
        try:
            with deaf_children():
                self.process = subprocess.Popen(
                    words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **own}
                )
        except OSError as error:
            raise InputError(f"a worker process could not be started ({error.strerror}); give fewer workers") from None
        self._reader = threading.Thread(target=self._read, args=(crew,), name="earnshaw-crew", daemon=True)
        self._reader.start()

    def send(self, message: Any) -> None:
        """Send a message; a process that is gone gets none, and the reader notices."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError, ValueError):
            pickle.dump(message, self.process.stdin, protocol=5)
            self.process.stdin.flush()

    def end(self) -> None:
        """Let the process end: there is nothing more to read for it."""
        self._close()
        self.process.wait()
        self._reader.join()

    def _close(self) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()

    def _read(self, crew: Crew) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as stream, contextlib.suppress(EOFError, OSError, pickle.UnpicklingError):
            while True:
                number, what, content = pickle.load(stream)
                if what == "told":
                    _tell(self.jobs[number], *content)
                else:
                    crew._answered(self, number, what == "raised", content)
        self._close()
        crew._lost(self)


def _tell(job: _Job, progress: tuple[float, str] | None, counts: Mapping[str, int] | None, ended: list[Any]) -> None:
    """Tell what a call has said; who hears of it may raise, as a bar does after Ctrl-C, and then that is the answer."""
    try:
        for values, outcomes in ended:
            job.context.ended(values, outcomes)
        if counts is not None:
            job.context.counted(counts)
        if progress is not None:
            job.context.progress(*progress)
    except BaseException as error:
        job.error = job.error or error


class _Told:
    """What a call has said since it was last reported, in the process that makes it."""

    def __init__(self, stop: threading.Event, say: Callable[[str, Any], None], listening: bool) -> None:
        self._say, self._when = say, time.monotonic()
        self._progress: tuple[float, str] | None = None
        self._counts: Mapping[str, int] | None = None
        self._ended: list[tuple[np.ndarray, np.ndarray]] = []
        ended = self._end if listening else unheard
        self.context = Context(stop.is_set, self._move, counted=self._count, ended=ended)

    def report(self) -> None:
        """Say it."""
        if self._progress or self._counts or self._ended:
            self._say("told", (self._progress, self._counts, self._ended))
        self._progress, self._counts, self._ended = None, None, []
        self._when = time.monotonic()

    def _move(self, share: float, what: str) -> None:
        self._progress = share, what
        if time.monotonic() - self._when > EVERY:
            self.report()

    def _count(self, counts: Mapping[str, int]) -> None:
        self._counts = counts

    def _end(self, values: np.ndarray, outcomes: np.ndarray) -> None:
        self._ended.append((values, outcomes))


def serve(threads: int) -> None:
    """Make the calls that come in, and end when nothing more can come: the life of a process."""
    calls, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # what somebody prints is no answer
    stop, lock = threading.Event(), threading.Lock()

    def say(number: int, what: str, content: Any) -> None:
        _write(answers, lock, (number, what, content))

    def make(number: int | None, call: Call, listening: bool) -> None:
        if number is None:
            with contextlib.suppress(Exception):
                call(Context(stop.is_set))
            return
        told = _Told(stop, lambda what, content: say(number, what, content), listening)
        try:
            answer = call(told.context)
            told.report()
            say(number, "done", answer)
        except BaseException as error:
            say(number, "raised", error)

    with one_blas_thread(), brisk(), ThreadPoolExecutor(threads) as pool:
        with contextlib.suppress(EOFError):
            while True:
                message = pickle.load(calls)
                if message is None:
                    stop.set()
                else:
                    pool.submit(make, *message)
        os._exit(0)  # also in the middle of a call: nobody reads its answer


def _write(stream: BinaryIO, lock: threading.Lock, message: tuple[int, str, Any]) -> None:
    """Write a message whole; an error that does not go through a pipe goes as its words."""
    try:
        content = pickle.dumps(message, protocol=5)
        if message[1] == "raised":
            pickle.loads(content)
    except Exception:
        number, what, error = message
        content = pickle.dumps((number, what, RuntimeError(f"{type(error).__name__}: {error}")), protocol=5)
    with lock, contextlib.suppress(OSError):
        stream.write(content)
        stream.flush()
