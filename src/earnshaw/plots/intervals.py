"""Numbers with their intervals: proportions as bars or as dots, and curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from earnshaw.plots.style import COLOURS, PAPER_COLOUR, figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = "osD^vP*X<>hd"
OURS = "earnshaw, with 95% interval"
Interval = tuple[float, float]


@dataclass(frozen=True)
class Proportion:
    """A share in percent, with its 95% interval and a reference where there are some."""

    label: str
    percent: float
    interval: Interval | None = None
    reference: float | None = None


@dataclass(frozen=True)
class Curve:
    """Values over a number, with an interval each where there are some."""

    label: str
    at: Sequence[float] | np.ndarray
    value: Sequence[float] | np.ndarray
    interval: Sequence[Interval | None] | None = None

    @classmethod
    def around(cls, label: str, at: Sequence[float], value: Sequence[float], error: Sequence[float]) -> Curve:
        """Return a curve with the intervals value plus and minus error."""
        return cls(label, at, value, [(v - e, v + e) for v, e in zip(value, error, strict=True)])


def _reach(values: np.ndarray, intervals: Sequence[Interval | None] | None) -> np.ndarray | None:
    """Return how far the intervals reach below and above the values (2, values), as error bars are given; None without."""
    if intervals is None or None in intervals:
        return None
    low, high = np.array(intervals).T
    return np.maximum([values - low, high - values], 0)


def draw_curves(axes: Axes, curves: Sequence[Curve], apart: float = 0.0, **style: Any) -> None:
    """Draw curves with markers and error bars, each moved by ``apart`` from the one before, so that no bar hides another."""
    for index, curve in enumerate(curves):
        at, value = np.asarray(curve.at) + apart * index, np.asarray(curve.value)
        look = {"color": COLOURS[index % len(COLOURS)], "marker": MARKERS[index % len(MARKERS)], "capsize": 3}
        axes.errorbar(at, value, yerr=_reach(value, curve.interval), label=curve.label, **look | style)


def bars(
    groups: Mapping[str, Sequence[Proportion]],
    title: str,
    path: Path,
    *,
    axis: str = "runs (%)",
    reference: str = "printed in the paper",
    colours: Sequence[str] = COLOURS,
    notes: Sequence[str] = (),
    stacked: bool = False,
) -> None:
    """Draw shares as bars with their intervals, one colour a group, and the references as black marks.

    All groups have the same labels. Notes, one a label, lay the bars down and stand at their ends. Stacked groups are the
    parts of a whole, one after the other.
    """
    labels = [row.label for row in next(iter(groups.values()))]
    lying, beside = bool(notes), 1 if stacked else len(groups)
    width = max(8.0, 0.11 * len(title), 1.5 + (0.4 + 0.15 * beside) * len(labels))
    size = (8.0, 1.6 + 0.38 * len(labels)) if lying else (width, 4.2)
    with figure(path, *size) as (canvas, axes):
        thick = (0.6 if beside == 1 else 0.8) / beside
        base, top = np.zeros(len(labels)), np.ones(len(labels))
        marked = []
        for index, (name, rows) in enumerate(groups.items()):
            at = np.arange(len(labels)) + (0 if stacked else (index - 0.5 * (beside - 1)) * thick)
            percent = np.array([row.percent for row in rows])
            reach = _reach(percent, [row.interval for row in rows])
            bar: dict[str, Any] = {"color": colours[index], "alpha": 0.8, "label": name}
            line: dict[str, Any] = {"fmt": "none", "ecolor": "0.25", "capsize": 3, "linewidth": 1.2}
            if lying:
                axes.barh(at, percent, thick, left=base, **bar)
                axes.errorbar(base + percent, at, xerr=reach, **line)
            else:
                axes.bar(at, percent, thick, bottom=base, **bar)
                axes.errorbar(at, base + percent, yerr=reach, **line)
            marked += [(x, row.reference) for x, row in zip(at, rows, strict=True) if row.reference is not None]
            top = np.maximum(top, base + percent + (0 if reach is None else reach[1]))
            base = base + percent if stacked else base
        if marked:
            x, y = np.array(marked).T[:: -1 if lying else 1]
            axes.plot(x, y, "D", color=PAPER_COLOUR, markersize=5, label=reference)
        axes.set(title=title)
        axes.grid(visible=False, axis="y" if lying else "x")
        if lying:
            _lie_down(axes, labels, notes, top, axis)
        else:
            highest = max(top.max(), *(mark for _, mark in marked), 1.0)
            room = max(0.6, 0.5 * (5 - len(labels)))  # few bars are not made wide
            axes.set_xticks(range(len(labels)), [label.replace(", ", "\n") for label in labels], fontsize=9)
            axes.set(ylabel=axis, xlim=(-room, len(labels) - 1 + room), ylim=(0, min(105.0, 1.15 * highest)))
        if len(axes.get_legend_handles_labels()[1]) > 1 or not lying:
            canvas.legend(loc="outside lower center", ncols=len(groups) + bool(marked))


def _lie_down(axes: Axes, labels: Sequence[str], notes: Sequence[str], ends: np.ndarray, axis: str) -> None:
    """Label lying bars from the top to the bottom, with the notes at their ends and room for them."""
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()
    for place, (note, end) in enumerate(zip(notes, ends, strict=True)):
        axes.text(end + 1.5, place, note, va="center", fontsize=9)
    axes.set(xlabel=axis, xlim=(0, 104 + 1.75 * max(map(len, notes))), xticks=range(0, 101, 20))
    axes.spines["bottom"].set_bounds(0, 100)


def dots(groups: Mapping[str, Sequence[Proportion]], label: str, title: str, path: Path, axis: str) -> None:
    """Draw shares as dots with intervals, those of one label side by side: many groups stay apart. All have the same labels."""
    labels = [row.label for row in next(iter(groups.values()))]
    with figure(path, width=max(8.0, 3.5 + 0.7 * len(labels)), height=4.6) as (_, axes):
        left = np.arange(len(labels)) - 0.3 * (len(groups) > 1)
        curves = [
            Curve(name, left, [row.percent for row in rows], [row.interval for row in rows])
            for name, rows in groups.items()
        ]
        draw_curves(axes, curves, 0.6 / max(1, len(groups) - 1), linestyle="none", capsize=2, markersize=4)
        for edge in range(1, len(labels)):
            axes.axvline(edge - 0.5, color="0.8", linewidth=0.8)
        axes.grid(visible=False, axis="x")
        axes.set_xticks(range(len(labels)), labels)
        axes.tick_params(axis="x", length=0)
        axes.set(xlabel=label, ylabel=axis, title=title, xlim=(-0.5, len(labels) - 0.5), ylim=(0, 105))
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=9)
