"""How a paper's items are reproduced, whichever the paper."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from earnshaw.papers.comparison import Comparison
from earnshaw.store import write_json


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """How to reproduce: where files go, how many runs, and who hears of the progress.

    Attributes
    ----------
    runs : how many runs (or data sets, or teachers) each setting gets; None leaves it to the item.
    quick : the smaller version that takes minutes at most.
    """

    out: Path
    runs: int | None = None
    seed: int = 0
    quick: bool = False
    workers: int | None = None
    progress: Callable[[float, str], None] = lambda share, what: None

    def count(self, full: int, quick: int) -> int:
        """Return the number of runs: the one asked for, or this item's own."""
        return self.runs if self.runs is not None else quick if self.quick else full

    def part(self, index: int, parts: int) -> Reproduction:
        """Return the same with a progress that counts as one of several equal parts."""
        return dataclasses.replace(self, progress=lambda share, what: self.progress((index + share) / parts, what))

    def write(self, item: str, compared: Sequence[Comparison]) -> list[Comparison]:
        """Write the compared numbers to ``item.json`` and return them."""
        write_json(self.out / f"{item}.json", [row.to_json() for row in compared])
        return list(compared)


Items = Mapping[str, Callable[[Reproduction], list[Comparison]]]  # what a paper's module offers, by name
