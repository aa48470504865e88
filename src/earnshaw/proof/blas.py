"""One BLAS thread for small linear algebra.

Our matrices have a few hundred rows. On a busy machine OpenBLAS's threads wait for one another at every step, and a
factorisation that takes 10 ms on one thread was seen to take 800 ms on two. OpenBLAS takes the number of threads from
the environment only when it is loaded, so it is told here through the library itself; with another BLAS, nothing
happens. (threadpoolctl does the same more widely; this is the one case we need, without a dependency.)
"""

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np
import scipy

_NAMES = [f"{lead}openblas_{{}}_num_threads{tail}" for lead in ("scipy_", "") for tail in ("64_", "")]


@contextmanager
def one_thread() -> Iterator[None]:
    """Run a block with OpenBLAS on one thread, then restore what was set."""
    before = [(put, get()) for get, put in _handles()]
    for put, _ in before:
        put(1)
    try:
        yield
    finally:
        for put, count in before:
            put(count)


@cache
def _handles() -> list[tuple[Callable[[], int], Callable[[int], None]]]:
    """Find the getter and setter in each OpenBLAS that NumPy and SciPy brought along."""
    found = []
    for module in (np, scipy):
        folder = Path(str(module.__file__)).parent
        for path in sorted(
            [*folder.parent.glob(f"{module.__name__}.libs/*openblas*"), *folder.glob(".dylibs/*openblas*")]
        ):
            try:
                library = ctypes.CDLL(str(path))
            except OSError:
                continue
            for name in _NAMES:
                if hasattr(library, name.format("set")) and hasattr(library, name.format("get")):
                    found.append((getattr(library, name.format("get")), getattr(library, name.format("set"))))
                    break
    return found
