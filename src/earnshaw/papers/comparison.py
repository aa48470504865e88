"""How a paper's items are reproduced; one compared number: ours, what it is held against, and where that comes from."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import accumulate
from pathlib import Path
from typing import Any

Z_LIMIT = 4.0  # standard deviations that two samples may be apart
Interval = tuple[float, float]


class Source(Enum):
    """What a reference is; the value is the sentence that says it."""

    PRINTED = "stated in the paper: a number, or what a theorem of it promises"
    READ_OFF = "read off a figure of the paper"
    CLOSED_FORM = "computed from a formula"
    MEASURED = "found by us in other runs or in another way; the paper gives no number"
    LIMIT = "the limit of the test, not a value to meet"

    @property
    def word(self) -> str:
        """The name as a column of a table shows it."""
        return self.name.lower().replace("_", " ")


@dataclass(frozen=True)
class Comparison:
    """Ours beside a reference: a line of ``earnshaw reproduce --json``.

    ``test`` is the test applied, in words, with its result, by which the two agree or not; ``interval`` is the 95%
    interval of ours, where it is a proportion.
    """

    paper: str
    item: str
    setting: str
    quantity: str
    ours: float | None
    reference: float
    source: Source
    test: str
    ok: bool
    interval: Interval | None = None

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return dataclasses.asdict(self) | {"source": self.source.name}


@dataclass(frozen=True)
class Item:
    """A table, a figure or a set of claims of a paper: makes its rows of comparison."""

    paper: str
    name: str

    def compare(
        self,
        setting: str,
        quantity: str,
        ours: float | None,
        reference: float,
        source: Source,
        test: str,
        ok: bool,
        interval: Interval | None = None,
    ) -> Comparison:
        """Return one compared number."""
        numbers = None if ours is None else float(ours), float(reference)
        return Comparison(self.paper, self.name, setting, quantity, *numbers, source, test, bool(ok), interval)

    def within(
        self, setting: str, quantity: str, ours: float, reference: float, source: Source, room: float, test: str = ""
    ) -> Comparison:
        """Compare two numbers that may differ by ``room``; ``test`` says so in better words, where there are some."""
        ok = abs(ours - reference) <= room
        return self.compare(setting, quantity, ours, reference, source, test or f"within {room:g}", ok)

    def at_most(self, setting: str, quantity: str, ours: float, limit: float, what: str = "") -> Comparison:
        """Compare a number, an error or a count of faults, with its limit; ``what`` says how it was computed."""
        test = f"{what}{': ' if what else ''}at most {limit:g}"
        return self.compare(setting, quantity, ours, limit, Source.LIMIT, test, ours <= limit)

    def share(
        self,
        setting: str,
        quantity: str,
        count: int,
        of: int,
        test: str,
        ok: bool | None = None,
        reference: float = 100.0,
        source: Source = Source.PRINTED,
    ) -> Comparison:
        """Compare a percentage, which gets its interval; where ``ok`` is not given, all must be counted."""
        from earnshaw.numerics import percentage

        percent, interval = percentage(count, of)
        ok = count == of if ok is None else ok
        return self.compare(setting, quantity, percent, reference, source, test, ok, interval)

    def sampled(
        self, setting: str, quantity: str, count: int, of: int, reference: float, reference_of: int
    ) -> Comparison:
        """Compare the share of our runs that count with the printed percentage, as two samples of one proportion."""
        from earnshaw.numerics import percentage, two_proportions

        percent, _ = percentage(count, of)
        z = two_proportions(percent / 100, of, reference / 100, reference_of)
        test = f"two-sample z = {z:.2f}, limit {Z_LIMIT:g}"
        return self.share(setting, quantity, count, of, test, abs(z) <= Z_LIMIT, reference)


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """How to reproduce: where files go, how many runs, and who hears of the progress.

    Each setting gets so many ``runs`` (or data sets, or teachers), None leaves it to the item; the ``quick`` version takes
    minutes at most.
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

        def part(begin: float, share: float) -> Reproduction:
            return dataclasses.replace(self, progress=lambda done, what: self.progress(begin + done * share, what))

        return [part(begin / ends[-1], cost / ends[-1]) for begin, cost in zip(ends, costs, strict=False)]


Reproducer = Callable[[Reproduction], list[Comparison]]


def reproduces(paper: str) -> Callable[[Callable[[Reproduction, Item], Iterable[Comparison]]], Reproducer]:
    """Make the function that gives the rows of an item, and has its name, write them to ``ITEM.json`` and return them."""

    def decorate(rows: Callable[[Reproduction, Item], Iterable[Comparison]]) -> Reproducer:
        item = Item(paper, rows.__name__)

        @functools.wraps(rows)
        def reproducer(how: Reproduction) -> list[Comparison]:
            from earnshaw.store import write_json  # NumPy, which the list of papers does not need

            compared = list(rows(how, item))
            write_json(how.out / f"{item.name}.json", [row.to_json() for row in compared])
            return compared

        return reproducer

    return decorate
