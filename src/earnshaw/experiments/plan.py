"""What a sweep will compute, and how it is cut into pieces that can be computed anywhere, in any order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from earnshaw.descent import Descent, GradientDescent, Stopping
from earnshaw.errors import InputError
from earnshaw.problems import TwoLayer
from earnshaw.starts import Start, Xavier
from earnshaw.store import digest

MAX_RUNS = 2**32 - 1
PIECE = 256  # lanes of a piece, if the batch is not larger: several batches, so that decided lanes are replaced


def default_batch(problem: TwoLayer) -> int:
    """Return how many lanes to compute together: what suits a core's cache, or what fills a GPU."""
    import jax

    if jax.default_backend() != "cpu":
        return 16_384
    pairs = problem.students * (problem.students + problem.teachers)
    return 64 if pairs <= 300 else 32


@dataclass(frozen=True)
class Setting:
    """One (k, n) of a sweep: a problem with a name for files."""

    problem: TwoLayer

    @property
    def name(self) -> str:
        """The file name: k10-n10."""
        return f"k{self.problem.teachers}-n{self.problem.students}"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """All of a sweep: the settings, the start, the descent, the seed, and the cut into pieces.

    ``identity`` is what the run's hash covers. ``batches`` says how many lanes of each setting are computed together,
    by name; it only decides how the work is cut, and with it the last bits. Settings it does not name get the default.
    """

    settings: tuple[Setting, ...]
    runs: int = 1000
    seed: int = 0
    start: Start = field(default_factory=Xavier)
    descent: Descent = field(default_factory=GradientDescent)
    stopping: Stopping = field(default_factory=Stopping)
    batches: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Validate the numbers."""
        if not 1 <= self.runs <= MAX_RUNS:
            raise InputError(f"{self.runs} runs were asked for; use 1 to {MAX_RUNS}")
        if not 0 <= self.seed < 2**63:
            raise InputError(f"the seed is {self.seed}; use a whole number from 0 to 2^63 - 1")
        if not self.settings:
            raise InputError("there is no (k, n) to run; give at least one")
        names = [setting.name for setting in self.settings]
        if len(set(names)) < len(names):
            raise InputError("two settings of one sweep have the same k and n; sweep them apart")
        batches = {
            s.name: self.batches[s.name] if s.name in self.batches else default_batch(s.problem) for s in self.settings
        }
        if min(batches.values()) < 1:
            raise InputError(f"the batch is {min(batches.values())}; use a whole number from 1")
        object.__setattr__(self, "batches", batches)

    @property
    def identity(self) -> dict[str, Any]:
        """What determines the results, up to the last bits."""
        return {
            "kind": "sweep",
            "problems": {setting.name: digest(setting.problem.to_json()) for setting in self.settings},
            "start": self.start.to_json(),
            "descent": self.descent.to_json(),
            "stopping": self.stopping.to_json(),
            "seed": self.seed,
            "runs": self.runs,
        }

    @property
    def hash(self) -> str:
        """The hash of the identity."""
        return digest(self.identity)

    def pieces(self, setting: Setting) -> list[tuple[str, np.ndarray]]:
        """Return the names and lane indices of a setting's pieces; a piece depends on nothing outside it."""
        size = max(PIECE, self.batches[setting.name])
        lows = range(0, self.runs, size)
        return [(f"{setting.name}-{low:08d}", np.arange(low, min(low + size, self.runs))) for low in lows]
