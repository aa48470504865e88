"""Figures of sweeps: how often runs end at spurious minima, and at which values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from earnshaw.plots.style import COLOURS, PAPER_COLOUR, figure


@dataclass(frozen=True)
class Percentages:
    """One bar: ours with its 95% interval, and the printed value where there is one."""

    label: str
    ours: float
    interval: tuple[float, float]
    printed: float | None = None


def percentage_figure(rows: Sequence[Percentages], title: str, path: Path) -> None:
    """Draw percentages with intervals, the paper's values as black marks."""
    with figure(path, width=max(5.0, 1.5 + 0.55 * len(rows))) as (_, axes):
        places = np.arange(len(rows))
        ours = np.array([row.ours for row in rows])
        low, high = np.array([row.interval for row in rows]).T
        axes.bar(places, ours, 0.6, color=COLOURS[0], alpha=0.75, label="earnshaw, with 95% interval")
        axes.errorbar(
            places,
            ours,
            yerr=[np.maximum(ours - low, 0), np.maximum(high - ours, 0)],
            fmt="none",
            ecolor=COLOURS[5],
            capsize=3,
        )
        printed = [(place, row.printed) for place, row in zip(places, rows, strict=True) if row.printed is not None]
        if printed:
            axes.plot(*zip(*printed, strict=True), "D", color=PAPER_COLOUR, markersize=5, label="printed in the paper")
        axes.set_xticks(places, [row.label.replace(", ", "\n") for row in rows], fontsize=9)
        axes.grid(visible=False, axis="x")
        room = max(0.6, 0.5 * (5 - len(rows)))  # few bars are not made wide
        axes.set_xlim(-room, len(rows) - 1 + room)
        axes.set(
            ylabel="runs (%)", title=title, ylim=(0, min(105.0, 1.15 * max(high.max(), *(p for _, p in printed), 1.0)))
        )
        axes.legend(loc="upper left")


def value_figure(curves: Mapping[str, np.ndarray], path: Path) -> None:
    """Draw, for each setting, the share of runs that end below a given loss."""
    with figure(path) as (_, axes):
        top = max(float(values.max()) for values in curves.values())
        styles = ("-", "--", "-.", ":")
        for index, (label, values) in enumerate(curves.items()):
            ordered = np.sort(values)
            share = 100 * np.arange(1, len(ordered) + 1) / len(ordered)
            x = np.concatenate([[0.0], ordered, [1.05 * top]])
            y = np.concatenate([[0.0], share, [100.0]])
            axes.step(x, y, where="post", label=label, linestyle=styles[index % 4], linewidth=1.8)
        axes.set(
            xlabel="loss at the end of the run (runs on their way to the global minimum stop below 0.001)",
            ylabel="runs that end at or below (%)",
            xlim=(-0.01 * top, 1.05 * top),
            ylim=(0, 102),
        )
        axes.set_title("Where gradient descent ends")
        axes.legend(loc="lower right", fontsize=9)


def example_figure(polished: np.ndarray, printed: np.ndarray, title: str, path: Path) -> None:
    """Draw a minimum's weights, neurons as rows, each entry with ours and (where it differs when rounded) the printed one."""
    n, d = polished.shape
    with figure(path, width=1.2 + 0.75 * d, height=1.2 + 0.5 * n) as (canvas, axes):
        limit = float(np.abs(polished).max())
        differs = False
        image = axes.imshow(polished, cmap="RdBu_r", vmin=-limit, vmax=limit, aspect="auto")
        for row in range(n):
            for column in range(d):
                text = f"{polished[row, column]:.4f}"
                if text != f"{printed[row, column]:.4f}":
                    text += f"\n({printed[row, column]:.4f})"
                    differs = True
                dark = abs(polished[row, column]) > 0.6 * limit
                axes.text(column, row, text, ha="center", va="center", fontsize=8, color="white" if dark else "black")
        axes.grid(visible=False)
        note = " (in brackets: printed, where it differs)" if differs else ""
        axes.set(xlabel="coordinate" + note, ylabel="student neuron", title=title)
        axes.set_xticks(range(d))
        axes.set_yticks(range(n))
        canvas.colorbar(image, ax=axes, shrink=0.8, label="weight")
