"""The data set of a logistic problem: seeded, drawn in blocks, the same rows however they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from earnshaw.landscapes.rows import CHUNK, Rows
from earnshaw.potentials import derivatives
from earnshaw.problems.logistic import Labels, Logistic

Array = NDArray[np.float64]
BLOCK = 4096  # rows drawn from one key; a data set of n rows is the beginning of every larger one


def network(problem: Logistic, x: Array) -> Array:
    """Return the network's values (n,) at inputs (n, d)."""
    return derivatives(problem.activation, x @ problem.weights.T, 0)[0].mean(1)


def draw_rows(problem: Logistic, start: int = 0, stop: int | None = None) -> tuple[Array, Array]:
    """Return inputs (m, d) and labels (m,) of the rows from start to stop; they do not depend on how they are cut."""
    stop = problem.samples if stop is None else min(stop, problem.samples)
    x, y = np.empty((stop - start, problem.dimension)), np.empty(stop - start)
    for block in range(start // BLOCK, -(-stop // BLOCK)):
        first = block * BLOCK
        low, high = max(start, first), min(stop, first + BLOCK)
        for rows, drawn in zip((x, y), _block(problem, block), strict=True):
            rows[low - start : high - start] = drawn[low - first : high - first]
    return x, y


def _block(problem: Logistic, block: int) -> tuple[Array, Array]:
    generator = np.random.default_rng([problem.seed, block])
    x = generator.standard_normal((BLOCK, problem.dimension))
    chance = generator.random(BLOCK)
    value = network(problem, x)
    return x, value if problem.labels is Labels.REGRESSION else (chance < value).astype(np.float64)


def draw(problem: Logistic, chunk: int = CHUNK) -> Rows:
    """Return the whole data set in memory."""
    return Rows(*draw_rows(problem), chunk=chunk)


def draw_files(
    problem: Logistic, folder: Path, progress: Callable[[float, str], None] = lambda share, what: None
) -> Rows:
    """Write the data set as ``x.npy`` and ``y.npy`` into a folder, block by block, and return it memory-mapped."""
    folder.mkdir(parents=True, exist_ok=True)
    n, d = problem.samples, problem.dimension
    x = np.lib.format.open_memmap(folder / "x.npy", mode="w+", dtype=np.float64, shape=(n, d))
    y = np.lib.format.open_memmap(folder / "y.npy", mode="w+", dtype=np.float64, shape=(n,))
    for start in range(0, n, 16 * BLOCK):
        stop = min(n, start + 16 * BLOCK)
        x[start:stop], y[start:stop] = draw_rows(problem, start, stop)
        progress(stop / n, "rows")
    x.flush()
    y.flush()
    return Rows.open(folder / "x.npy", folder / "y.npy")
