"""How long something took, and on what: kept apart from the results, which depend on neither."""

from __future__ import annotations

import itertools
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from earnshaw.experiments.work import record_of
from earnshaw.store import Arrays, RunFolder, write_json

Span = tuple[float, float]


@dataclass(frozen=True)
class Timed:
    """A computed piece, when it was computed, and when that was compilation."""

    arrays: Arrays
    span: Span
    compiling: list[Span]


def covered(spans: Sequence[Span]) -> float:
    """Return the length of the union of intervals."""
    total, reach = 0.0, float("-inf")
    for begin, end in sorted(spans):
        total += max(0.0, end - max(begin, reach))
        reach = max(reach, end)
    return total


def _without(span: Span, holes: Sequence[Span]) -> list[Span]:
    """Return what of an interval lies outside of others."""
    cuts = [span[0], *itertools.chain.from_iterable(sorted(holes)), span[1]]
    return [(begin, end) for begin, end in zip(cuts[::2], cuts[1::2], strict=True) if end > begin]


class Times:
    """The record of how a folder was computed: versions, machine, seconds; kept apart from the results."""

    def __init__(self, folder: RunFolder | None, workers: int) -> None:
        self.path = folder.path / "record.json" if folder is not None else None
        before = record_of(self.path) if self.path is not None else {}
        times = before.get("times")
        self.before: dict[str, dict[str, float]] = times if isinstance(times, dict) else {}
        self.busy: dict[str, list[Span]] = {}
        self.compiling: dict[str, list[Span]] = {}
        self.workers = workers

    def add(self, name: str, timed: Timed) -> None:
        """Add a piece's times to its setting's."""
        self.busy.setdefault(name, []).extend(_without(timed.span, timed.compiling))
        self.compiling.setdefault(name, []).extend(timed.compiling)

    def of(self, name: str) -> tuple[float, float]:
        """Return the seconds of a setting without compilation, and those for it."""
        old = self.before.get(name) or {}
        return (
            float(old.get("seconds", 0.0)) + covered(self.busy.get(name, [])),
            float(old.get("compile_seconds", 0.0)) + covered(self.compiling.get(name, [])),
        )

    def write(self) -> None:
        """Write the record."""
        if self.path is None:
            return
        names = {*self.before, *self.busy}
        times = {name: dict(zip(("seconds", "compile_seconds"), self.of(name), strict=True)) for name in sorted(names)}
        write_json(self.path, {**machine(), "workers": self.workers, "times": times})


def machine() -> dict[str, Any]:
    """Return with which versions and on what something is being computed."""
    import jax

    return {
        "versions": {name: version(name) for name in ("earnshaw", "jax", "jaxlib", "numpy", "scipy")},
        "python": platform.python_version(),
        "machine": platform.processor() or platform.machine(),
        "device": jax.devices()[0].device_kind,
        "dtype": "float64",
    }
