"""Labelled inputs that need not fit in memory: sums over rows, chunk by chunk, the same for every number of threads."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from earnshaw.errors import InputError
from earnshaw.store import regular
from earnshaw.threads import cores, one_blas_thread

Array = NDArray[np.float64]
Sums = tuple[Array, ...]
LARGEST = 1e6  # of an input, beyond which curvatures over- or underflow
CHUNK = 8192  # rows: a chunk of 20 columns is 1.3 MB, which stays in the cache between the steps of a sum


@dataclass(frozen=True, eq=False)
class Rows:
    """Inputs (n, d) and labels (n,), in memory or memory-mapped, of any real type; chunks come out as float64."""

    x: np.ndarray
    y: np.ndarray
    chunk: int = CHUNK  #: rows that are in memory at a time, for each thread
    #: threads over chunks, one for each core when None; no result changes: sums of chunks are added in their order
    threads: int | None = None

    def __post_init__(self) -> None:
        """Check the shapes; the numbers are checked by :meth:`validate`, which reads them all."""
        if self.x.ndim != 2 or 0 in self.x.shape:
            raise InputError(f"the inputs have shape {self.x.shape}; give a matrix (samples, dimension)")
        if self.y.shape != (len(self.x),):
            raise InputError(
                f"there are {len(self.x)} inputs, but the labels have shape {self.y.shape}; give one label for each input"
            )
        if self.chunk < 1:
            raise InputError(f"chunks of {self.chunk} rows were asked for; use at least 1")
        if self.threads is not None and self.threads < 1:
            raise InputError(f"{self.threads} threads were asked for; use at least 1")

    @classmethod
    def of(cls, x: ArrayLike, y: ArrayLike) -> Rows:
        """Return rows of what NumPy takes for arrays; others than real numbers raise :class:`InputError`."""
        arrays = [np.asanyarray(values) for values in (x, y)]
        for name, array in zip(("inputs", "labels"), arrays, strict=True):
            if array.dtype.kind not in "biuf":
                raise InputError(f"the {name} hold {array.dtype}, not real numbers; give arrays of numbers")
        return cls(arrays[0], arrays[1][:, 0] if arrays[1].ndim == 2 and arrays[1].shape[1] == 1 else arrays[1])

    def to_json(self) -> dict[str, Any]:
        """Return the sizes and a hash of all numbers, chunk by chunk."""
        total = hashlib.sha256()
        for x, y in self.chunks():
            total.update(np.ascontiguousarray(x).tobytes())
            total.update(np.ascontiguousarray(y).tobytes())
        return {"samples": len(self), "dimension": self.dimension, "sha256": total.hexdigest()}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Rows:
        """Refuse: a hash does not hold the data."""
        raise InputError("the data are not in the folder, only their hash; give them again")

    @classmethod
    def open(cls, x: Path, y: Path, chunk: int = CHUNK) -> Rows:
        """Return rows memory-mapped from two ``.npy`` files."""
        return cls(_mapped(x), _mapped(y), chunk)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.x)

    @property
    def dimension(self) -> int:
        """Dimension d of the inputs."""
        return self.x.shape[1]

    def part(self, start: int, stop: int) -> Rows:
        """Return the rows from start to stop, without copying."""
        return replace(self, x=self.x[start:stop], y=self.y[start:stop])

    def chunks(self) -> Iterator[tuple[Array, Array]]:
        """Yield inputs and labels chunk by chunk, as float64; copies only where the type differs."""
        for start in range(0, len(self.x), self.chunk):
            yield self._take(start)

    def _take(self, start: int) -> tuple[Array, Array]:
        rows = slice(start, start + self.chunk)
        return np.asarray(self.x[rows], dtype=np.float64), np.asarray(self.y[rows], dtype=np.float64)

    def total(self, function: Callable[[Array, Array], Sums]) -> Sums:
        """Return the sums over chunks of a function of (inputs, labels) that returns a tuple of arrays.

        Groups of chunks go to the threads, and the sums of every chunk are added in the order of the rows. Threads over
        chunks are the only ones: with those of BLAS on top, two cores would be fifty times slower than one.
        """
        starts = range(0, len(self.x), self.chunk)
        threads = self.threads or cores()
        group = max(1, min(16, len(starts) // (2 * threads)))
        groups = [starts[first : first + group] for first in range(0, len(starts), group)]

        def work(several: range) -> list[Sums]:
            return [function(*self._take(start)) for start in several]

        with one_blas_thread():
            if threads == 1 or len(starts) == 1:
                return _added(function(*self._take(start)) for start in starts)
            with ThreadPoolExecutor(threads) as pool:
                return _added(sums for several in pool.map(work, groups) for sums in several)

    def validate(self) -> None:
        """Read everything once; NaN, infinite entries and labels outside [0, 1] raise :class:`InputError`."""
        row = 0
        low, high = np.inf, -np.inf
        for x, y in self.chunks():
            for name, values in (("inputs", x.sum(1)), ("labels", y)):
                bad = np.flatnonzero(~np.isfinite(values))
                if bad.size and not (name == "inputs" and np.isfinite(x[bad[0]]).all()):
                    raise InputError(
                        f"the {name} have a missing or infinite value in row {row + bad[0]}; remove or fill such rows"
                    )
            if np.abs(x).max() > LARGEST:
                raise InputError(f"the inputs reach {np.abs(x).max():.3g} in size; rescale them to {LARGEST:g} at most")
            low, high = min(low, y.min()), max(high, y.max())
            row += len(y)
        if low < 0 or high > 1:
            raise InputError(
                f"the labels run from {low:.6g} to {high:.6g}; they must be probabilities or classes in [0, 1]: rescale them"
            )
        if low == high:
            raise InputError(f"all labels are {low:.6g}; nothing can be learnt from labels that do not vary")


def _added(parts: Iterator[Sums]) -> Sums:
    total = [np.array(array, dtype=np.float64) for array in next(parts)]
    for part in parts:
        for array, more in zip(total, part, strict=True):
            array += more
    return tuple(total)


def _mapped(path: Path) -> np.ndarray:
    try:
        array = np.load(regular(path), mmap_mode="r", allow_pickle=False)
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"cannot read {path} ({error.strerror or error})") from None
    except (ValueError, EOFError) as error:
        raise InputError(f"{path} is not a .npy array ({error}); save one with numpy.save") from None
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "biuf":
        raise InputError(f"{path} does not hold one array of real numbers; save one with numpy.save")
    return array
