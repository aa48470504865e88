"""Many machines: Dask hands pieces and proofs to worker processes, which rebuild the work from JSON and compile for themselves.

Only this process writes files. A task is a function of plain data, and its key is the hash of that: whether it is computed
once or, because a worker died, again, the result is the same.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import pickle
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from earnshaw.errors import InputError, need
from earnshaw.experiments.sending import Sent, sent
from earnshaw.experiments.work import Context, Piece, Timed, Work
from earnshaw.proof.processes import Elsewhere
from earnshaw.store import digest
from earnshaw.threads import deaf_children, one_blas_thread

PATIENCE = 10.0  # seconds until an address that does not answer is given up
DEPEND = ("jax", "jaxlib", "numpy", "scipy")  # what bits depend on, beside our own code
MOST = 1000  # processes on this machine
FORMS = (
    f"use local:4 for four processes here ({MOST} at most), or the address of a Dask scheduler such as tcp://host:8786"
)
LOUD, SILENT = ("distributed", "tornado", "asyncio"), logging.CRITICAL + 1
Result = TypeVar("Result")
Count = TypeVar("Count", int, int | Elsewhere | None)


@cache
def versions() -> tuple[tuple[str, str], ...]:
    """Return what a result depends on: this code, by its hash, and the libraries that compute."""
    source = hashlib.sha256()
    home = Path(__file__).parents[1]
    for file in sorted(file for kind in ("py", "c", "h") for file in home.rglob(f"*.{kind}")):
        source.update(file.relative_to(home).as_posix().encode() + file.read_bytes())
    ours = f"{version('earnshaw')} (source {source.hexdigest()[:8]})"
    return (("earnshaw", ours), *((name, version(name)) for name in DEPEND))


@dataclass(frozen=True)
class Task:
    """A piece of work as plain data, and with which versions it is to be computed."""

    sent: Sent
    piece: Piece
    versions: tuple[tuple[str, str], ...]

    @property
    def key(self) -> str:
        """The name of the task on the cluster: the hash of what it computes and with what."""
        piece = [self.piece.setting, self.piece.low, self.piece.high]
        return f"earnshaw-{digest([self.sent.kind, self.sent.common, self.sent.part, piece, self.versions])[:24]}"

    def __call__(self) -> Timed:
        """Compute the piece; in a worker process."""
        cancelled = _ready(self.versions)
        with one_blas_thread():
            return self.sent.compute(self.piece, Context(cancelled))


def _ready(wanted: tuple[tuple[str, str], ...]) -> Callable[[], bool]:
    """Refuse to compute in a worker that would give other bits; return what says whether the task is still wanted."""
    from dask.context import thread_state
    from distributed import get_worker

    worker, key = get_worker(), thread_state.key
    for (name, theirs), (_, mine) in zip(wanted, versions(), strict=True):
        if theirs != mine:
            who = f"the worker {worker.address} has {name} {mine}, and this process {theirs}"
            raise InputError(f"{who}; install the same versions everywhere")
    if worker.state.nthreads != 1:
        who = f"the worker {worker.address} has {worker.state.nthreads} threads"
        raise InputError(f"{who}; start workers with one each (dask worker --nthreads 1), and more of them")

    def cancelled() -> bool:
        task = worker.state.tasks.get(key)
        return task is None or task.state == "cancelled"

    return cancelled


@dataclass(frozen=True)
class Job:
    """A call of a function that is no piece, such as a proof."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    versions: tuple[tuple[str, str], ...]

    def __call__(self) -> Any:
        """Do it; in a worker process."""
        _ready(self.versions)
        with one_blas_thread():
            return self.function(*self.arguments)


class Cluster(Executor):
    """Workers somewhere: ``local:N`` starts N processes here, an address leads to a Dask scheduler that has or will have some."""

    def __init__(self, where: str) -> None:
        self.where, count = where, check_where(where)
        self._dask = need("distributed", extra="cluster", purpose=f"the cluster {where}")
        self._local: Any = None
        self._hushed = _hush()
        try:
            # Apart: what is half begun cannot be ended, so that after Ctrl-C this waits; and in a notebook this thread has a loop.
            with deaf_children(), warnings.catch_warnings(), ThreadPoolExecutor(1) as apart:
                warnings.simplefilter("ignore")  # versions are compared in every task
                apart.submit(self._begin, count).result()
        except BaseException as error:
            self._close()
            if not isinstance(error, OSError | ValueError | RuntimeError):
                raise
            why = "is this a script without a main guard (if __name__ == '__main__')?"
            failed = f"{count} worker processes could not be started ({error}); {why}"
            raise InputError(failed if count else f"no Dask scheduler answers at {where} ({error}); {FORMS}") from None
        self._executor = self.client.get_executor()

    def _begin(self, count: int) -> None:
        """Begin so many workers here, or look whether a scheduler answers, and reach it."""
        if count:
            self._local = self._dask.LocalCluster(
                n_workers=count,
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address=None,
                memory_limit=0,
                silence_logs=SILENT,
                preload=__name__,
            )
        else:
            asyncio.run(_scheduler_at(self.where))
        self.client = self._dask.Client(self._local or self.where, timeout=PATIENCE, set_as_default=False)

    @property
    def workers(self) -> int:
        """How many workers there are now; none where a scheduler is gone."""
        try:
            return len(self.client.scheduler_info(n_workers=-1)["workers"])
        except (OSError, ValueError, TypeError):
            return 0

    def submit(self, fn: Callable[[], Any], /, *_: Any, **__: Any) -> Future[Any]:
        """Hand a task over; one that has a key is computed once, whoever asks for it.

        It goes as bytes, which nobody reads on the way, and with a function that is sent itself: a worker that cannot load this
        library says so, where one that could not even read the task would end.
        """
        key = {"key": fn.key} if isinstance(fn, Task) else {"pure": False}
        return self._executor.submit(lambda content: pickle.loads(content)(), pickle.dumps(fn), **key)

    def map_in_order(self, function: Callable[..., Result], jobs: Sequence[tuple[Any, ...]]) -> Iterator[Result]:
        """Yield ``function(*job)`` for each job, in order."""
        futures = [self.submit(Job(function, job, versions())) for job in jobs]
        while futures:
            yield futures.pop(0).result()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let go of the workers; those that were started here end."""
        with contextlib.suppress(Exception):  # a scheduler that is gone has nothing to cancel
            self._executor.shutdown(wait=False)
        self._close()

    def _close(self) -> None:
        for one in (getattr(self, "client", None), self._local):
            if one is not None:
                with contextlib.suppress(Exception):
                    one.close(timeout=PATIENCE)
        for logger, level in self._hushed.items():
            logger.setLevel(level)

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        """Let go of the workers, and say in a sentence what became of them."""
        from distributed import KilledWorker
        from distributed.comm.core import CommClosedError

        super().__exit__(kind, error, trace)
        if isinstance(error, KilledWorker):
            many = f"a task ended {error.allowed_failures + 1} workers, one after the other"
            raise InputError(
                f"{many}; they were perhaps killed for memory: give them more, or use a smaller --batch"
            ) from None
        if isinstance(error, CommClosedError | CancelledError | TimeoutError):
            raise InputError(
                f"the Dask scheduler at {self.where} is gone; run the same command again to go on"
            ) from None
        if isinstance(error, ModuleNotFoundError):
            raise InputError(f"the workers at {self.where} cannot load earnshaw ({error}); install it there") from None


def _hush() -> dict[logging.Logger, int]:
    """Let Dask tell nothing of its own, such as tracebacks of what is stopped: we say what became of it. Return the levels before."""
    names = {*LOUD, *(name for name in logging.root.manager.loggerDict if name.partition(".")[0] in LOUD)}
    before = {logger: logger.level for logger in map(logging.getLogger, names)}
    for logger in before:
        logger.setLevel(SILENT)
    return before


def dask_setup(_: Any) -> None:
    """Prepare a process that was started here: what becomes of it is for the one that started it to say."""
    _hush()


async def _scheduler_at(where: str) -> None:
    """Raise :class:`OSError` or :class:`ValueError`, in words, if no Dask scheduler answers there; Dask may wait for ever."""
    from distributed.core import rpc
    from distributed.security import Security

    async def identity() -> Any:
        async with rpc(where, timeout=PATIENCE, connection_args=Security().get_connection_args("client")) as there:
            return await there.identity()

    try:
        found = await asyncio.wait_for(identity(), 2 * PATIENCE)  # so long to reach it, and again to be answered
    except TimeoutError:
        raise OSError("what is there says nothing that Dask understands") from None
    except TypeError as error:
        if "TLS" not in str(error):
            raise
        raise OSError("Dask has no certificates for tls://, see docs/cluster.md") from None
    if found["type"] != "Scheduler":
        raise OSError(f"that is the address of a {found['type'].lower()}")


def check_where(where: str) -> int:
    """Return how many local processes are asked for, 0 for an address; what is neither raises :class:`InputError`."""
    match = re.fullmatch(r"local:(\d+)", where) if isinstance(where, str) else None
    if match is not None and 1 <= int(match[1]) <= MOST:
        return int(match[1])
    if match is not None or not re.fullmatch(r"(tcp|tls|ucx|ws|wss)://\S+", str(where)):
        raise InputError(f"the cluster is {where!r}; {FORMS}")
    return 0


def tasks(work: Work, pieces: Sequence[Piece]) -> dict[Piece, Task]:
    """Return pieces of some work as tasks."""
    settings = sent(work, sorted({piece.setting for piece in pieces}))
    return {piece: Task(settings[piece.setting], piece, versions()) for piece in pieces}


@contextlib.contextmanager
def proving(cluster: str | None, workers: Count) -> Iterator[Count | Elsewhere]:
    """Yield who proves, as :func:`earnshaw.proof.prove_many` takes it: a cluster, which begins when it is needed, or ``workers``."""
    if cluster is None:
        yield workers
        return
    check_where(cluster)
    with contextlib.ExitStack() as begun:
        start = cache(lambda: begun.enter_context(Cluster(cluster)))
        yield lambda function, jobs: start().map_in_order(function, jobs) if jobs else iter(())
