"""Figures of the arena: who reaches the global minimum, and at what cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from earnshaw.plots.style import COLOURS, figure

MARKERS = "osD^vP*X<>hd"


@dataclass(frozen=True)
class Standing:
    """One optimiser on one size (as the axis shows it): percent of runs at the global minimum, interval, cost of a run."""

    size: str
    percent: float
    interval: tuple[float, float]
    gradients: float
    hessians: float


def arena_figure(standings: Mapping[str, Sequence[Standing]], label: str, title: str, path: Path) -> None:
    """Draw percentages against the size, or, for a single size, one row for each optimiser with its cost."""
    sizes = [standing.size for standing in next(iter(standings.values()))]
    if len(sizes) == 1:
        _one_size({name: rows[0] for name, rows in standings.items()}, title, path)
        return
    with figure(path, width=max(8.0, 3.5 + 0.7 * len(sizes)), height=4.6) as (_, axes):
        shift = 0.6 / max(1, len(standings) - 1)
        for index, (name, rows) in enumerate(standings.items()):
            place = np.arange(len(sizes)) + shift * index - 0.3 * (len(standings) > 1)
            percent = np.array([row.percent for row in rows])
            low, high = np.array([row.interval for row in rows]).T
            colour, marker = COLOURS[index % len(COLOURS)], MARKERS[index % len(MARKERS)]
            bars = [np.maximum(percent - low, 0), np.maximum(high - percent, 0)]
            axes.errorbar(place, percent, yerr=bars, fmt=marker, color=colour, capsize=2, markersize=4, label=name)
        for edge in range(1, len(sizes)):
            axes.axvline(edge - 0.5, color="0.8", linewidth=0.8)
        axes.grid(visible=False, axis="x")
        axes.set_xticks(range(len(sizes)), sizes)
        axes.tick_params(axis="x", length=0)
        axes.set(xlabel=label, ylabel="runs at the global minimum (%)", title=title, ylim=(0, 105))
        axes.set_xlim(-0.5, len(sizes) - 0.5)
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=9)


def _one_size(standings: Mapping[str, Standing], title: str, path: Path) -> None:
    names, rows = list(standings), list(standings.values())
    with figure(path, width=8.0, height=1.6 + 0.42 * len(names)) as (_, axes):
        places = np.arange(len(names))[::-1]
        percent = np.array([row.percent for row in rows])
        low, high = np.array([row.interval for row in rows]).T
        axes.barh(places, percent, 0.6, color=COLOURS[0], alpha=0.75)
        bars = [np.maximum(percent - low, 0), np.maximum(high - percent, 0)]
        axes.errorbar(percent, places, xerr=bars, fmt="none", ecolor=COLOURS[5], capsize=3)
        for place, row, end in zip(places, rows, high, strict=True):
            cost = f"{row.gradients:,.0f} gradients" + (
                f", {row.hessians:,.0f} Hessian products" if row.hessians else ""
            )
            axes.text(end + 1.5, place, cost, va="center", fontsize=9)
        axes.set_yticks(places, names)
        axes.grid(visible=False, axis="y")
        axes.set(xlabel="runs at the global minimum (%), and the median cost of a run", title=title, xlim=(0, 165))
        axes.set_xticks(range(0, 101, 20))
        axes.spines["bottom"].set_bounds(0, 100)
