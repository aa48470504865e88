"""How a folder was computed: how long, on what and with which versions; kept apart from the results, which depend on none of it."""

from __future__ import annotations

import itertools
import math
import platform
import time
from collections.abc import Sequence
from importlib.metadata import version

from earnshaw.experiments.work import RECORD, Span, Timed, how_computed
from earnshaw.store import RunFolder, write_json


class Times:
    """The record of how a folder was computed: versions, machine, seconds; kept apart from the results."""

    def __init__(self, folder: RunFolder | None, workers: int) -> None:
        how = how_computed(folder.path) if folder is not None else {"times": {}, "tools": {}}
        self.before: dict[str, dict[str, float]] = how["times"]
        self.tools = {name: set(used) for name, used in how["tools"].items()}
        self.lost = not self.before and folder is not None and (folder.path / RECORD).exists()
        self.spans: dict[str, dict[str, list[Span]]] = {"seconds": {}, "compile_seconds": {}}
        self.workers = workers
        self._known: dict[str, dict[str, float]] = {}
        self._written = -math.inf

    def add(self, name: str, timed: Timed, tool: str = "") -> None:
        """Add a piece's times to its setting's, and with what it was computed."""
        self._known.pop(name, None)
        if tool:
            self.tools.setdefault(name, set()).add(tool)
        cuts = [timed.span[0], *itertools.chain.from_iterable(sorted(timed.compiling)), timed.span[1]]
        busy = [(begin, end) for begin, end in zip(cuts[::2], cuts[1::2], strict=True) if end > begin]
        self.spans["seconds"].setdefault(name, []).extend(busy)
        self.spans["compile_seconds"].setdefault(name, []).extend(timed.compiling)

    def of(self, name: str) -> dict[str, float]:
        """Return the seconds of a setting without compilation, and those for it."""
        if name not in self._known:
            old = self.before.get(name) or {}
            spans = {key: covered(some.get(name, [])) for key, some in self.spans.items()}
            self._known[name] = {key: float(old.get(key, 0.0)) + seconds for key, seconds in spans.items()}
        return self._known[name]

    def write(self, folder: RunFolder, every: float = 0.0) -> None:
        """Write the record: with which versions, on what, and how long; if it was not written less than so many seconds ago."""
        import jax

        folder.still_there()
        if time.monotonic() < self._written + every:
            return
        names = sorted({*self.before, *self.spans["seconds"]})
        record = {
            "versions": {name: version(name) for name in ("earnshaw", "jax", "jaxlib", "numpy", "scipy")},
            "python": platform.python_version(),
            "machine": platform.processor() or platform.machine(),
            "device": jax.devices()[0].device_kind,
            "dtype": "float64",
            "workers": self.workers,
            "tools": {name: sorted(used) for name, used in sorted(self.tools.items())},
            "times": {name: self.of(name) for name in names},
        }
        write_json(folder.path / RECORD, record)
        self._written = time.monotonic()


def covered(spans: Sequence[Span]) -> float:
    """Return the length of the union of intervals."""
    total, reach = 0.0, float("-inf")
    for begin, end in sorted(spans):
        total += max(0.0, end - max(begin, reach))
        reach = max(reach, end)
    return total
