"""Figures of sweeps: at which values runs end, a minimum's weights, and who wins the arena."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from earnshaw.plots.intervals import Proportion, bars, dots
from earnshaw.plots.style import figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def value_figure(curves: Mapping[str, np.ndarray], path: Path, above: bool = True) -> None:
    """Draw, for each setting, the share of runs that end below a given loss; ``above`` if some stop before they are there."""
    with figure(path) as (_, axes):
        top = max(float(values.max()) for values in curves.values()) or 1.0
        styles = ("-", "--", "-.", ":")
        for index, (label, values) in enumerate(curves.items()):
            ordered = np.sort(values)
            share = 100 * np.arange(1, len(ordered) + 1) / len(ordered)
            x = np.concatenate([[0.0], ordered, [1.05 * top]])
            y = np.concatenate([[0.0], share, [100.0]])
            axes.step(x, y, where="post", label=label, linestyle=styles[index % 4], linewidth=1.8)
        stops = " (a run that is sure to reach the global minimum stops above it)" * above
        axes.set_xlabel(f"loss at the end of the run{stops}")
        axes.set(ylabel="runs that end at or below (%)", xlim=(-0.01 * top, 1.05 * top), ylim=(0, 102))
        axes.set_title("Where runs end")
        axes.legend(loc="lower right", fontsize=9)


def draw_matrix(canvas: Figure, axes: Axes, weights: np.ndarray, texts: Mapping[tuple[int, int], str]) -> None:
    """Draw weights, neurons as rows, as colours with the given texts, by row and column."""
    limit = float(np.abs(weights).max())
    image = axes.imshow(weights, cmap="RdBu_r", vmin=-limit, vmax=limit, aspect="auto")
    for (row, column), text in texts.items():
        colour = "white" if abs(weights[row, column]) > 0.55 * limit else "black"
        axes.text(column, row, text, ha="center", va="center", fontsize=8, color=colour)
    axes.grid(visible=False)
    axes.set_yticks(range(len(weights)), [str(neuron) for neuron in range(1, len(weights) + 1)])
    axes.set_xticks(range(weights.shape[1]), [str(coordinate) for coordinate in range(1, weights.shape[1] + 1)])
    axes.set(ylabel="student neuron")
    canvas.colorbar(image, ax=axes, shrink=0.85, label="weight")


def example_figure(polished: np.ndarray, printed: np.ndarray, title: str, path: Path) -> None:
    """Draw a minimum's weights, each entry with ours and (where it differs when rounded) the printed one."""
    n, d = polished.shape
    ours, theirs = ({at: f"{value:.4f}" for at, value in np.ndenumerate(w)} for w in (polished, printed))
    texts = {at: ours[at] if ours[at] == theirs[at] else f"{ours[at]}\n({theirs[at]})" for at in ours}
    with figure(path, width=1.2 + 0.75 * d, height=1.2 + 0.5 * n) as (canvas, axes):
        draw_matrix(canvas, axes, polished, texts)
        note = "" if texts == ours else " (in brackets: printed, where it differs)"
        axes.set(xlabel="coordinate" + note, title=title)


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
