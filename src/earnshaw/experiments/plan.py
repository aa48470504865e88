"""What a sweep will compute, and how it is cut into pieces that can be computed anywhere, in any order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from earnshaw.descent import GradientDescent
from earnshaw.errors import InputError
from earnshaw.problems import TwoLayer
from earnshaw.starts import Xavier
from earnshaw.store import digest

LANES_PER_PIECE = 256
MAX_RUNS = 2**32 - 1


def default_batch() -> int:
    """Return the number of lanes computed together: what fits a core's cache, or what fills a GPU."""
    import jax

    return 32 if jax.default_backend() == "cpu" else 16384


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

    ``identity`` is what the run's hash covers; ``batch`` only decides how the work is cut, and with it the last bits.
    """

    settings: tuple[Setting, ...]
    runs: int = 1000
    seed: int = 0
    start: Xavier = field(default_factory=Xavier)
    descent: GradientDescent = field(default_factory=GradientDescent)
    batch: int = 32

    def __post_init__(self) -> None:
        """Validate the numbers."""
        if not 1 <= self.runs <= MAX_RUNS:
            raise InputError(f"{self.runs} runs were asked for; use 1 to {MAX_RUNS}")
        if not 0 <= self.seed < 2**63:
            raise InputError(f"the seed is {self.seed}; use a whole number from 0 to 2^63 - 1")
        if not 1 <= self.batch <= MAX_RUNS:
            raise InputError(f"the batch is {self.batch}; use a whole number from 1")
        if not self.settings:
            raise InputError("there is no (k, n) to run; give at least one")
        names = [setting.name for setting in self.settings]
        if len(set(names)) < len(names):
            raise InputError("two settings of one sweep have the same k and n; sweep them apart")

    @property
    def identity(self) -> dict[str, Any]:
        """What determines the results, up to the last bits."""
        return {
            "kind": "sweep",
            "problems": {setting.name: digest(setting.problem.to_json()) for setting in self.settings},
            "start": self.start.to_json(),
            "descent": self.descent.to_json(),
            "seed": self.seed,
            "runs": self.runs,
        }

    @property
    def hash(self) -> str:
        """The hash of the identity."""
        return digest(self.identity)

    def pieces(self, setting: Setting) -> list[tuple[str, np.ndarray]]:
        """Return the names and lane indices of a setting's pieces; a piece depends on nothing outside it."""
        size = max(self.batch, LANES_PER_PIECE // self.batch * self.batch)
        lows = range(0, self.runs, size)
        return [(f"{setting.name}-{low:08d}", np.arange(low, min(low + size, self.runs))) for low in lows]
