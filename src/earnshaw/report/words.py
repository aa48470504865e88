"""Numbers and names as pages write them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from earnshaw.experiments import Summary, SweepResult
from earnshaw.numerics import percentage


def number(value: float | None, digits: int) -> str:
    """Return a number with so many digits, and 0 without a sign; nothing for one that is not known."""
    return "" if value is None or math.isnan(value) else f"{round(value, digits) + 0.0:.{digits}f}"


def many(count: int, one: str, more: str) -> str:
    """Return a count with its noun."""
    return f"{count} {one if count == 1 else more}"


def share(count: int, total: int) -> str:
    """Return a share in percent with its exact 95% interval: 50.0% (1.3 to 98.7)."""
    percent, interval = percentage(count, total)
    return percent_of(percent, interval)


def percent_of(percent: float, interval: tuple[float, float]) -> str:
    """Return a percentage with its interval."""
    return f"{percent:.1f}% ({interval[0]:.1f} to {interval[1]:.1f})"


def symbols(label: str) -> str:
    """Return the name of a family with its group as a formula: II (S_5) with a lower 5."""
    return re.sub(r"S_(\d+)", r"$S_\1$", label).replace("$ x $", "$ \N{MULTIPLICATION SIGN} $")


def labels(results: Sequence[SweepResult]) -> dict[str, str]:
    """Return what to call each setting: its sizes, and its optimiser where there are several."""
    several = len({result.summary.optimizer for result in results}) > 1
    return {x.name: x.summary.name + f", {x.summary.optimizer}" * several for x in results}


def sizes(summary: Summary) -> dict[str, str]:
    """Return the sizes of a setting by name; the dimension only says what k says."""
    return {name: f"{size:g}" for name, size in summary.sizes.items() if name != "d"}
