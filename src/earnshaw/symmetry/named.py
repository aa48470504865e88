"""The named families of critical points (:mod:`earnshaw.problems.named`) in doubles, as patterns."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from earnshaw.problems.named import Rows, named_family
from earnshaw.symmetry.patterns import Pattern


@functools.lru_cache(maxsize=1024)
def named(family: str, k: int) -> tuple[Pattern, NDArray[np.float64]]:
    """Return the pattern and the numbers of a named family's critical point for k teacher neurons.

    Doubles do for k up to about 10,000; :func:`earnshaw.proof.prove_family` has the numbers for any k.
    """
    known = named_family(family)
    numbers = np.asarray(known.follow(k, _settled), dtype=np.float64)
    numbers.setflags(write=False)
    return Pattern.of(known.sizes(k), known.rows), numbers


def _settled(sizes: Sequence[float], rows: Rows, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Correct numbers for sizes that need not be integers."""
    return Pattern(tuple(sizes), rows, (True,) * len(sizes)).settle(numbers)  # type: ignore[arg-type]
