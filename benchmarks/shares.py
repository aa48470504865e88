"""Where the CPU time of one worker goes, by kernel and stop rule: ``python benchmarks/shares.py``.

Each sweep is made twice by one worker, and the second time counts. A clock runs in what takes steps, in Newton's method, in what follows
and settles the runs that Newton's method leaves open, and in the search for families; the rest is Python, starts and looks.
The parts are called by their names in the code, and one that a tree does not have is left out, so that an older one can be timed,
too: ``PYTHONPATH=<tree>/src python benchmarks/shares.py``. Prints a table and writes ``out/bench/shares.json``.
"""

from __future__ import annotations

import functools
import importlib
import itertools
import json
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import jax
import numpy as np

import earnshaw as es

FILE = Path("out/bench/shares.json")
CASES = ((6, 6, 1000), (10, 10, 1000), (20, 20, 256), (14, 15, 500))  # k, n, runs
RULES = ("early", "paper")
REST = "the rest"
SEAMS = {
    "earnshaw.descent.lanes:_advance": "steps",
    "earnshaw.descent.lanes:_advance_until": "steps",
    "earnshaw.descent.judges.newton:NewtonJudge._polish": "Newton tests",
    "earnshaw.descent.judges.newton:NewtonJudge._follow": "followed",
    "earnshaw.descent.judges.newton:NewtonJudge._settle": "followed",
    "earnshaw.experiments.plan:with_families": "families",
    "earnshaw.experiments.plan:summarise": "families",
}


class Clock:
    """CPU seconds of this process by what it does; what is done within something else counts for itself alone."""

    def __init__(self) -> None:
        self.seconds, self.lane_steps = defaultdict[str, float](float), 0
        self._doing, self._since = [REST], time.process_time()

    def turn(self) -> None:
        """Give what is being done the time since the last turn."""
        now = time.process_time()
        self.seconds[self._doing[-1]] += now - self._since
        self._since = now

    @contextmanager
    def __call__(self, what: str) -> Iterator[None]:
        """Do something else."""
        self.turn()
        self._doing.append(what)
        try:
            yield
        finally:
            self.turn()
            self._doing.pop()

    def timed(self, function: Callable[..., Any], what: str) -> Callable[..., Any]:
        """Return a function that is timed, to the end of what it has begun on the device."""

        def call(*arguments: Any, **more: Any) -> Any:
            with self(what):
                done = jax.block_until_ready(function(*arguments, **more))
            if function.__name__ == "_advance":
                self.lane_steps += int(arguments[-1]) * len(arguments[3].point)
            if function.__name__ == "_advance_until":
                self.lane_steps += arguments[2] * int(done[2]) * len(arguments[5].point)
            return done

        return call


class Library:
    """The native library, timed."""

    def __init__(self, library: Any, clock: Clock) -> None:
        self._library, self._clock = library, clock

    def __getattr__(self, name: str) -> Any:
        function = getattr(self._library, name)
        return self._clock.timed(function, "steps") if name == "earnshaw_run" else function


def found(place: str) -> tuple[Any, str]:
    """Return the module or class of a part, and its name there."""
    module, names = place.split(":")
    *outer, name = names.split(".")
    return functools.reduce(getattr, outer, importlib.import_module(module)), name


@contextmanager
def seams(clock: Clock) -> Iterator[None]:
    """Time the parts of a sweep that this tree has."""
    with ExitStack() as stack:
        for place, what in SEAMS.items():
            owner, name = found(place)
            if hasattr(owner, name):
                stack.enter_context(mock.patch.object(owner, name, clock.timed(getattr(owner, name), what)))
        if "native" in kernels():
            native = importlib.import_module("earnshaw.descent.native")
            stack.enter_context(mock.patch.object(native, "_library", return_value=Library(native._library(), clock)))
        yield


def kernels() -> list[str]:
    """Return the kernels that this tree has here; the one of a tree that knows no others has no name."""
    try:
        native = importlib.import_module("earnshaw.descent.native")
    except ImportError:
        return [""]
    return ["xla"] if native.missing() else ["native", "xla"]


def shares(k: int, n: int, runs: int, rule: str, kernel: str) -> dict[str, Any]:
    """Return the CPU seconds of a sweep by one worker, and of its parts."""
    more: dict[str, Any] = {"kernel": kernel} if kernel else {}
    clock = Clock()
    with seams(clock):
        swept = es.sweep(es.TwoLayer(np.eye(k)), students=n, runs=runs, stop=rule, workers=1, **more)
        clock.turn()
    taken = int(swept.steps.sum())
    if clock.lane_steps:
        clock.seconds["empty lanes"] = max(0.0, 1 - taken / clock.lane_steps) * clock.seconds["steps"]
        clock.seconds["steps"] -= clock.seconds["empty lanes"]
    case = {"k": k, "n": n, "runs": runs, "rule": rule, "kernel": kernel or "xla", "steps": taken}
    return {**case, "seconds": sum(clock.seconds.values()), "parts": dict(clock.seconds)}


def main() -> None:
    """Print a line for each case."""
    for place in SEAMS:
        owner, name = found(place)
        if not hasattr(owner, name):
            print(f"this tree has no {place}: what it would take is among {REST}")
    rows = []
    for (k, n, runs), kernel, rule in itertools.product(CASES, kernels(), RULES):
        shares(k, n, runs, rule, kernel)  # compiles
        row = shares(k, n, runs, rule, kernel)
        rows.append(row)
        parts = sorted(row["parts"].items(), key=lambda part: -part[1])
        said = ", ".join(f"{what} {100 * seconds / row['seconds']:.0f}%" for what, seconds in parts)
        print(f"({k},{n}) {runs} runs, {rule}, {row['kernel']}: {row['seconds']:.2f} s: {said}", flush=True)
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
