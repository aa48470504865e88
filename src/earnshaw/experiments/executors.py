"""Executors: where pieces are computed. Threads of this process today."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from numbers import Integral
from typing import Protocol, TypeVar

from earnshaw.errors import InputError
from earnshaw.threads import cores, one_blas_thread

Item = TypeVar("Item")
Result = TypeVar("Result")


class Interrupted(Exception):
    """The work was stopped; a folder can be resumed."""


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
