"""How a paper's items are reproduced, whichever the paper."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from earnshaw.papers.comparison import Comparison, Item


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

    def parts(self, costs: Sequence[float]) -> list[Reproduction]:
        """Return the same once for each part of the work, with a progress that counts by the part's share of the costs."""
        ends = list(accumulate(costs, initial=0.0))
        return [self._part(begin / ends[-1], cost / ends[-1]) for begin, cost in zip(ends, costs, strict=False)]

    def _part(self, begin: float, share: float) -> Reproduction:
        return dataclasses.replace(self, progress=lambda done, what: self.progress(begin + done * share, what))

    def write(self, item: Item, compared: Sequence[Comparison]) -> list[Comparison]:
        """Write the compared numbers to ``ITEM.json`` and return them."""
        from earnshaw.store import write_json  # NumPy, which the list of papers does not need

        write_json(self.out / f"{item.name}.json", [row.to_json() for row in compared])
        return list(compared)
