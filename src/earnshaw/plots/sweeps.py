"""Figures of sweeps: at which values runs end, a minimum's weights, and who wins the arena."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from earnshaw.plots.intervals import Proportion, bars, dots
from earnshaw.plots.style import figure


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
            xlabel="loss at the end of the run (a run that is sure to reach the global minimum stops above it)",
            ylabel="runs that end at or below (%)",
            xlim=(-0.01 * top, 1.05 * top),
            ylim=(0, 102),
        )
        axes.set_title("Where runs end")
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


def arena_figure(
    standings: Mapping[str, Sequence[Proportion]], costs: Sequence[str], label: str, title: str, path: Path
) -> None:
    """Draw the share of runs at the global minimum, by optimiser: over the sizes, or, for a single one, with the costs."""
    axis = "runs at the global minimum (%)"
    if len(next(iter(standings.values()))) > 1:
        dots(standings, label, title, path, axis)
        return
    rows = [Proportion(name, only.percent, only.interval) for name, (only,) in standings.items()]
    bars({"": rows}, title, path, axis=f"{axis}, and the median cost of a run", notes=costs)
