"""How a paper's items are reproduced; one compared number: ours, what it is held against, and which references would agree.

A row is made from ours alone: how it was obtained fixes the interval of references that agree with it. Whether the reference
at hand agrees, and how wrong it could be without being noticed, follow from that interval.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import accumulate
from pathlib import Path
from typing import Any

from earnshaw.errors import InputError, checked_seed, checked_workers, is_whole

Z_LIMIT = 3.5  # standard deviations that two samples may be apart: of 100 true numbers, one fails in one case of twenty
NOTICED_POINTS = 25.0  # percentage points: the error of a percentage that a test must notice to be counted
NOTICED_SHARE = 0.5  # of the reference: the same for other numbers
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

    ``accepts`` has the least and the largest reference that agree with ours, infinite where the test does not look; None
    where there is no test. ``test`` says in words which test that is, or why there is none. A row counts if a reference
    that is wrong by ``notice`` would fail. ``interval`` is the 95% interval of ours, where it is a proportion, and
    ``erratum`` the place in the paper, as ``ERRATA`` has it, where a disagreement is known and explained.
    """

    paper: str
    item: str
    setting: str
    quantity: str
    ours: float | None
    reference: float
    source: Source
    test: str
    accepts: Interval | None
    notice: float
    interval: Interval | None = None
    erratum: str | None = None

    @property
    def detects(self) -> float | None:
        r"""The smallest error of the reference that fails, whatever its direction if the test looks in both.

        .. math:: \max(r - l, h - r), \qquad [l, h] \text{ the references that agree, infinite ends left out}

        and a billionth more, because the ends themselves agree. None where no error would be noticed.
        """
        low, high = self.accepts or (-math.inf, math.inf)
        ends = [low] * (low != -math.inf) + [high] * (high != math.inf)
        if not ends:
            return None
        rounding = 2 * math.ulp(max(map(abs, (self.reference, *ends))))
        return max(abs(end - self.reference) for end in ends) * (1 + 1e-9) + rounding

    @property
    def counts(self) -> bool:
        """Whether the test can fail: it does, or an error that a reader would call one is noticed."""
        return self.detects is not None and not (self._agrees and self.detects > self.notice)

    @property
    def _agrees(self) -> bool:
        return self.accepts is not None and self.accepts[0] <= self.reference <= self.accepts[1]

    @property
    def ok(self) -> bool | None:
        """Whether ours agrees with the reference; None for a row that does not count."""
        return self._agrees if self.counts else None

    @property
    def failed(self) -> bool:
        """Whether the two disagree."""
        return self.ok is False

    @property
    def answer(self) -> str:
        """The word of the column that says whether the two agree."""
        if self.ok is None:
            return "context"
        return "yes" if self.ok else "NO, erratum" if self.erratum else "NO"

    @property
    def words(self) -> str:
        """The test in words; for a row that does not count because of its numbers, that too."""
        if self.counts or self.accepts is None:
            return self.test
        return f"{self.test}; not counted: " + (
            "no reference would fail" if self.detects is None else f"only errors above {self.detects:.2g} would fail"
        )

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return {
            **{name: getattr(self, name) for name in ("paper", "item", "setting", "quantity")},
            "ours": _finite(self.ours),
            "reference": self.reference,
            "source": self.source.name,
            "counts": self.counts,
            "test": self.words,
            "ok": self.ok,
            "detects": _finite(self.detects),
            "erratum": self.erratum,
            "interval": self.interval,
        }


def _finite(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) else None


def tally(rows: Sequence[Comparison]) -> str:
    """Return in words how many of the rows that count agree."""
    counted = [row for row in rows if row.counts]
    known = sum(row.failed and row.erratum is not None for row in counted)
    said = f"{sum(row.ok is True for row in counted)} of {len(counted)} compared numbers agree"
    if known:
        said += f", {known} disagree{'s' if known == 1 else ''} as docs/errata.md explains"
    if len(rows) > len(counted):
        said += f"; {len(rows) - len(counted)} more are context"
    return said


def unexplained(rows: Iterable[Comparison]) -> list[Comparison]:
    """Return the rows that disagree with their reference and are no known erratum."""
    return [row for row in rows if row.failed and row.erratum is None]


@dataclass(frozen=True)
class Item:
    """A table, a figure or a set of claims of a paper: makes its rows of comparison."""

    paper: str
    name: str

    def compare(
        self,
        setting: str,
        quantity: str,
        ours: float,
        reference: float,
        source: Source,
        accepts: Interval,
        test: str,
        notice: float | None = None,
        interval: Interval | None = None,
        erratum: str | None = None,
    ) -> Comparison:
        """Return one compared number, from the references that agree with ours."""
        notice = NOTICED_SHARE * abs(reference) if notice is None else notice
        numbers = float(ours), float(reference)
        ends = float(accepts[0]), float(accepts[1])
        return Comparison(
            self.paper, self.name, setting, quantity, *numbers, source, test, ends, float(notice), interval, erratum
        )

    def context(
        self,
        setting: str,
        quantity: str,
        ours: float | None,
        reference: float,
        source: Source,
        why: str,
        interval: Interval | None = None,
    ) -> Comparison:
        """Return a number with another beside it that no test holds it against; ``why`` says why not."""
        numbers = None if ours is None else float(ours), float(reference)
        return Comparison(self.paper, self.name, setting, quantity, *numbers, source, why, None, 0.0, interval)

    def within(
        self,
        setting: str,
        quantity: str,
        ours: float,
        reference: float,
        source: Source,
        room: float,
        test: str = "",
        notice: float | None = None,
    ) -> Comparison:
        """Compare two numbers that may differ by ``room``; ``test`` says so in better words, where there are some."""
        accepts = ours - room, ours + room
        return self.compare(setting, quantity, ours, reference, source, accepts, test or f"within {room:g}", notice)

    def at_most(
        self, setting: str, quantity: str, ours: float, limit: float, what: str = "", wrong: float = 1.0
    ) -> Comparison:
        """Compare an error with its limit; it counts if the limit is below what a ``wrong`` computation would have."""
        test = f"{what}{': ' if what else ''}at most {limit:g}"
        notice = math.inf if limit < wrong else 0.0
        return self.compare(setting, quantity, ours, limit, Source.LIMIT, (ours, math.inf), test, notice)

    def at_least(
        self, setting: str, quantity: str, ours: float, limit: float, what: str = "", wrong: float = 0.0
    ) -> Comparison:
        """Compare a number with the limit below which it must not be; it counts if a ``wrong`` one is below the limit."""
        test = f"{what}{': ' if what else ''}at least {limit:g}"
        notice = math.inf if wrong < limit else 0.0
        return self.compare(setting, quantity, ours, limit, Source.LIMIT, (-math.inf, ours), test, notice)

    def none(
        self, setting: str, quantity: str, faults: int, of: int, what: str = "", source: Source = Source.LIMIT
    ) -> Comparison:
        """Compare a number of faults with 0: whole numbers, so that half of one is noticed; of no case there is no test."""
        test, accepts = f"{what}{': ' if what else ''}none of {of}", (faults - 0.5, faults + 0.5)
        return self.compare(setting, quantity, faults, 0.0, source, accepts, test, 1.0 if of else 0.0)

    def same(
        self, setting: str, quantity: str, ours: bool, reference: bool, source: Source, test: str = "the same"
    ) -> Comparison:
        """Compare two answers, yes (1) or no (0)."""
        return self.within(setting, quantity, ours, reference, source, 0.25, test, 0.5)

    def share(
        self,
        setting: str,
        quantity: str,
        count: int,
        of: int,
        test: str = "all",
        reference: float = 100.0,
        source: Source = Source.PRINTED,
        accepts: Interval | None = None,
    ) -> Comparison:
        """Compare a percentage, which gets its interval; all must be counted, to half of a case, unless told otherwise."""
        from earnshaw.numerics import percentage

        percent, interval = percentage(count, of)
        accepts = (percent - 50 / of, percent + 50 / of) if accepts is None else accepts
        return self.compare(setting, quantity, percent, reference, source, accepts, test, NOTICED_POINTS, interval)

    def sampled(
        self,
        setting: str,
        quantity: str,
        count: int,
        of: int,
        reference: float,
        reference_of: int,
        source: Source = Source.PRINTED,
    ) -> Comparison:
        """Compare the share of our runs that count with a percentage of other runs, as two samples of one proportion."""
        from earnshaw.numerics import agreeing_proportions, two_proportions

        z = two_proportions(count / of, of, reference / 100, reference_of)
        low, high = agreeing_proportions(count / of, of, reference_of, Z_LIMIT)
        test = f"two-sample z = {z:.2f}, limit {Z_LIMIT:g}"
        return self.share(setting, quantity, count, of, test, reference, source, (100 * low, 100 * high))


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """How to reproduce: where files go, how many runs, and who hears of the progress.

    Each setting gets so many ``runs`` (or data sets, or teachers), None leaves it to the item; the ``quick`` version takes
    minutes at most. ``cluster`` is that of :func:`earnshaw.experiments.run`.
    """

    out: Path
    runs: int | None = None
    seed: int = 0
    quick: bool = False
    workers: int | None = None
    progress: Callable[[float, str], None] = lambda share, what: None
    cluster: str | None = None

    def __post_init__(self) -> None:
        """Refuse what no item could use."""
        if self.runs is not None and not is_whole(self.runs, 1):
            raise InputError(f"{self.runs!r} runs were asked for; use at least 1")
        checked_seed(self.seed)
        checked_workers(self.workers)
        if self.cluster is not None:
            from earnshaw.experiments.cluster import check_where

            check_where(self.cluster)

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
