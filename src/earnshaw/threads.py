"""Threads: one for BLAS, so that results do not depend on the number of cores, turns of ours, and how many cores there are.

And processes, which a terminal's Ctrl-C is not for.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from multiprocessing import resource_tracker
from typing import Any

BRING = ("numpy._core._multiarray_umath", "scipy.linalg._fblas")  # each loads a BLAS library
TURN = 2e-4  # seconds that a thread may keep Python while another waits
Undo = dict[str, Callable[[], object]]  # what restores each thing that was set


class _Shared:
    """A setting of the whole process for the time of a block: the last of the threads that want it restores what was there."""

    def __init__(self, take: Callable[[Undo], None]) -> None:
        self._take, self._undo, self._users, self._lock = take, Undo(), 0, threading.Lock()

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Take the setting, also where another thread has it already: there may be more to set by now."""
        with self._lock:
            self._take(self._undo)
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                while not self._users and self._undo:
                    self._undo.popitem()[1]()


def _one_thread(undo: Undo) -> None:
    for library in _libraries(*(name in sys.modules for name in BRING)).select(user_api="blas").lib_controllers:
        undo.setdefault(library.filepath, partial(library.set_num_threads, library.num_threads))
        library.set_num_threads(1)  # also where somebody else has set another number since


@cache
def _libraries(*loaded: bool) -> Any:
    """Find the BLAS libraries that are loaded: once, and again when NumPy or SciPy has brought its own."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _short_turns(undo: Undo) -> None:
    undo.setdefault("turn", partial(sys.setswitchinterval, sys.getswitchinterval()))
    sys.setswitchinterval(TURN)


#: Run a block with BLAS on one thread. Our matrices have a few hundred rows. On a busy machine the threads of OpenBLAS wait for
#: one another at every step: a factorisation that takes 10 ms on one thread was seen to take 800 ms on two.
one_blas_thread = _Shared(_one_thread)
#: Let threads take turns more often: one that only asks XLA for the next number must not wait 5 ms for Python each time.
brisk = _Shared(_short_turns)


@contextmanager
def deaf_children() -> Iterator[None]:
    """Let processes that begin inside, in this thread or in threads that do, never hear Ctrl-C: who began them tells them what to do.

    A terminal sends it to all processes of a command, to those too that are just beginning. Not on Windows.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # else the first process that multiprocessing begins would have it begun, and all signals let in
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def cores() -> int:
    """Return how many cores this process may use, which on a shared machine is not all that there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
