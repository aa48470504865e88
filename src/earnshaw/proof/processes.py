"""Processes that prove: Flint's precision is global to a process, so that proofs never share one at the same time."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from threadpoolctl import threadpool_limits

from earnshaw.errors import InputError
from earnshaw.threads import deaf_children

Result = TypeVar("Result")
Elsewhere = Callable[[Callable[..., Any], Sequence[tuple[Any, ...]]], Iterator[Any]]  # as in_processes, without workers


_pools: list[ProcessPoolExecutor] = []  # the last one is that of `processes` around us
_alone = threading.Lock()


def in_processes(
    work: Callable[..., Result], jobs: Sequence[tuple[Any, ...]], workers: int | Elsewhere
) -> Iterator[Result]:
    """Yield ``work(*job)`` for each job, in order: from spawned processes, or from this one where one would do.

    ``workers`` may be who has processes elsewhere. When the caller goes away, jobs that have not begun never do.
    """
    if callable(workers):
        yield from workers(work, jobs)
        return
    if min(len(jobs), workers) <= 1:
        yield from (work(*job) for job in jobs)
        return
    with _pool(min(len(jobs), workers)) as pool, _unbroken():
        with deaf_children():
            futures = [pool.submit(work, *job) for job in jobs]
        for future in futures:
            yield future.result()


@contextmanager
def processes(workers: int) -> Iterator[None]:
    """Let :func:`apart`, called from any thread meanwhile, compute in so many spawned processes; with one, here."""
    if workers <= 1:
        yield
        return
    with _pool(workers) as pool:
        _pools.append(pool)
        try:
            yield
        finally:
            _pools.remove(pool)


def apart(work: Callable[..., Result], *job: Any) -> Result:
    """Return ``work(*job)`` from one of the :func:`processes` around us; with none, from here, one at a time."""
    if not _pools:
        with _alone:
            return work(*job)
    with _unbroken():
        with deaf_children():
            future = _pools[-1].submit(work, *job)
        return future.result()


class Call(Generic[Result]):
    """A call ``work(*job)`` in a spawned process of its own, which ends with the ``with`` around it, whatever it is doing.

    ``memory`` bytes are the most that it may have, where the system can set that (not on Windows).
    """

    def __init__(self, work: Callable[..., Result], *job: Any, memory: int | None = None) -> None:
        context = get_context("spawn")
        self._answer, there = context.Pipe(duplex=False)
        self._process = context.Process(target=_serve, args=(there, memory, work, job), daemon=True)
        with deaf_children():
            self._process.start()
        there.close()

    def __enter__(self) -> Self:
        """Return the call."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()
        self._answer.close()

    def ready(self, seconds: float) -> bool:
        """Wait so long at most, and say whether there is an answer, or will never be one."""
        return self._answer.poll(seconds)

    def result(self) -> Result:
        """Wait for what the call returned; an :class:`InputError` there is one here, and so is a process that ended.

        Any other error there is a fault of ours: a :class:`RuntimeError` with its words.
        """
        try:
            fault, answer = self._answer.recv()
        except (EOFError, OSError):
            said = "the process that proves was ended from outside, or had not enough memory"
            raise InputError(f"{said}; try a smaller problem, or try again") from None
        if fault is not None:
            raise fault(answer)
        return answer


def _serve(
    answer: Connection, memory: int | None, work: Callable[..., Any], job: tuple[Any, ...]
) -> None:  # pragma: no cover (in another process)
    _begin()
    if memory is not None and os.name == "posix":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    try:
        answer.send((None, work(*job)))
    except InputError as error:
        answer.send((InputError, str(error)))
    except MemoryError:
        raise  # as one that the system ends
    except Exception as error:
        answer.send((RuntimeError, f"{type(error).__name__}: {error}"))


@contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(workers, get_context("spawn"), _begin) as pool:
        try:
            yield pool
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _unbroken() -> Iterator[None]:
    try:
        yield
    except BrokenProcessPool:
        raise InputError(
            "a process that proves was ended from outside, perhaps for memory: use fewer workers, and the same command goes on; or "
            "this is a script without a main guard (if __name__ == '__main__')"
        ) from None


def _begin() -> None:
    """Prepare a process: one BLAS thread, as processes are the parallelism, and an end when its parent is gone."""
    threadpool_limits(1)
    parent = parent_process()
    assert parent is not None
    threading.Thread(target=_follow, args=(parent.sentinel,), daemon=True).start()


def _follow(parent: int) -> None:
    wait([parent])
    os._exit(1)
