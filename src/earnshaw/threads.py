"""Threads: one for BLAS, so that results do not depend on the number of cores, turns of ours, and how many cores there are."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import Any

TURN = 2e-4  # seconds that a thread may keep Python while another waits


def one_blas_thread() -> AbstractContextManager[Any]:
    """Run a block with BLAS on one thread, then restore what was set; not to be entered from several threads at once.

    Our matrices have a few hundred rows. On a busy machine the threads of OpenBLAS wait for one another at every step:
    a factorisation that takes 10 ms on one thread was seen to take 800 ms on two.
    """
    return _libraries("scipy.linalg" in sys.modules).limit(limits=1, user_api="blas")


@cache
def _libraries(scipy: bool) -> Any:
    """Find the BLAS libraries that are loaded, once with NumPy's and once when SciPy has brought its own."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def brisk() -> Iterator[None]:
    """Let threads take turns more often: one that only asks XLA for the next number must not wait 5 ms for Python each time."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(TURN)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def cores() -> int:
    """Return how many cores this process may use, which on a shared machine is not all that there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
