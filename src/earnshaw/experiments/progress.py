"""Progress that people can read: what is being done, how many runs have ended and how, and how long it will still take."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from earnshaw.descent.outcomes import Ledger, Outcome, watched
from earnshaw.experiments.work import Context, Milestone, Piece, Progress, quiet
from earnshaw.numerics.compiling import compiling_now, compiling_seconds
from earnshaw.store import Arrays

if TYPE_CHECKING:
    from rich.console import Console

Compute = TypeVar("Compute", bound=Callable[..., Any])
STEP = 0.01  # of a piece, between two reports
EVERY = 30.0  # seconds between the lines where there is no terminal
ENOUGH, SEEN = 1.0, 0.01  # seconds of work, and share of it, before a time is predicted


def reporting(compute: Compute) -> Compute:
    """Let the context of a piece of runs hear how many of them have ended, how many at spurious minima, and at which losses."""

    @functools.wraps(compute)
    def call(self: Any, piece: Piece, context: Context) -> Arrays:
        ledgers: list[Ledger] = []
        heard: list[np.ndarray] = []  # which lanes of each were told
        told = 0.0

        def closed(ledger: Ledger) -> None:
            nonlocal told
            if all(ledger is not known for known in ledgers):
                ledgers.append(ledger)
                heard.append(np.zeros(len(ledger.outcome), dtype=bool))
            lanes = len(ledgers[0].outcome)
            runs = piece.high - piece.low  # fewer, where a run has several tries
            decided = sum(int((known.outcome != Outcome.UNDECIDED.code).sum()) for known in ledgers)
            share = min(1.0, decided / lanes)
            if share < told + STEP and share < 1:
                return
            told = share
            counts = {"decided": round(share * runs)}
            if lanes == runs:
                counts["spurious"] = sum(int((known.outcome == Outcome.SPURIOUS.code).sum()) for known in ledgers)
                for known, before in zip(ledgers, heard, strict=True):
                    new = (known.outcome != Outcome.UNDECIDED.code) & ~before
                    before |= new
                    context.ended(known.value[new], known.outcome[new])
            context.counted(counts)
            context.progress(share, piece.setting)

        with watched(closed):
            return compute(self, piece, context)

    return cast(Compute, call)


class Meter:
    """Predicts how long work will take.

    With w seconds of work and c of compilation for a share s that is done, :math:`(1 - s)(w/s + c)` are left: work goes on as
    it did, while programs are compiled now and then, and mostly at the beginning.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, compiled: Callable[[], float] = compiling_seconds
    ) -> None:
        self.clock, self.compiled = clock, compiled
        self.first: float | None = None  # the share that was there at the beginning
        self.share = self.spent = self.prepared = 0.0
        self.last = self.began = clock()
        self.before = compiled()

    def hear(self, share: float) -> None:
        """Take note of a share of the work that is done now."""
        if self.first is None:
            self.first = share
        self.last, self.share = self.clock(), share
        self.prepared = self.compiled() - self.before
        self.spent = self.last - self.began - self.prepared

    @property
    def left(self) -> str:
        """How long it will still take, in words; nothing while nobody can know."""
        done = self.share - (self.first or 0.0)
        if self.spent < ENOUGH or done < SEEN or self.share >= 1:
            return ""
        seconds = (1 - self.share) * (self.spent / done + self.prepared)
        for size, unit in ((3600.0, "h"), (60.0, "min")):
            if seconds >= 1.5 * size:
                return f"about {seconds / size:.0f} {unit} left"
        return f"about {max(1, round(seconds)):d} s left"


@contextmanager
def shown(title: str, console: Console) -> Iterator[Progress]:
    """Show a bar on a terminal or in a notebook, and elsewhere a line now and then; yield what moves it.

    Settings that are finished have lines of their own, above the bar.
    """
    from rich import progress
    from rich.table import Column
    from rich.text import Text

    meter = Meter()
    live = console.is_terminal or console.is_jupyter

    class Now(progress.ProgressColumn):
        max_refresh = 0.5

        def render(self, task: Any) -> Text:
            doing = "compiling" if compiling_now() else ""
            return Text("  ".join(filter(None, (doing, meter.left, task.fields["what"]))))

    columns = (
        "[bold]{task.description}",
        progress.BarColumn(20),
        progress.TaskProgressColumn(),
        Now(Column(no_wrap=True)),
    )
    spoken = meter.began
    with progress.Progress(
        *columns, progress.TimeElapsedColumn(), console=console, transient=True, disable=not live
    ) as bar:
        task = bar.add_task(title, total=1.0, what="")

        def move(share: float, what: str) -> None:
            nonlocal spoken
            meter.hear(share)
            if isinstance(what, Milestone) and live:
                bar.console.print(what, markup=False, highlight=False)
            bar.update(task, completed=share, what="" if isinstance(what, Milestone) else what)
            if not live and meter.last - spoken >= EVERY:
                spoken = meter.last
                words = ", ".join(filter(None, (f"{title}: {100 * share:.0f}%", what, meter.left)))
                console.print(words, soft_wrap=True, markup=False)

        yield move


@contextmanager
def asked(progress: Progress | bool, title: str) -> Iterator[Progress]:
    """Yield who hears of the progress: True shows it to the person at the screen, False to nobody."""
    if progress is True:
        from rich.console import Console

        with shown(title, Console(stderr=True, highlight=False)) as move:
            yield move
    else:
        yield quiet if progress is False else progress
