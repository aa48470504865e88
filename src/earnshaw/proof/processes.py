"""Processes that prove: Flint's precision is global to a process, so that proofs never share one at the same time."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

from earnshaw.errors import InputError

Result = TypeVar("Result")
Elsewhere = Callable[[Callable[..., Any], Sequence[tuple[Any, ...]]], Iterator[Any]]  # as in_processes, without workers


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
    with ProcessPoolExecutor(min(len(jobs), workers), get_context("spawn"), _begin) as pool:
        futures = [pool.submit(work, *job) for job in jobs]
        try:
            for future in futures:
                yield future.result()
        except BrokenProcessPool:
            raise InputError(
                "a process that proves was ended from outside, perhaps for memory, or the script has no main guard; use one "
                "worker (--workers 1)"
            ) from None
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _begin() -> None:
    """Prepare a process: one BLAS thread, as processes are the parallelism, and an end when its parent is gone."""
    threadpool_limits(1)
    parent = parent_process()
    assert parent is not None
    threading.Thread(target=_follow, args=(parent.sentinel,), daemon=True).start()


def _follow(parent: int) -> None:
    wait([parent])
    os._exit(1)
