"""One picture of what this is about: minima are found, proved, and understood."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from earnshaw.plots.animations import loss_map
from earnshaw.plots.style import GLOBAL, PAPER_COLOUR, SPURIOUS, canvas
from earnshaw.plots.sweeps import draw_matrix

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from earnshaw.experiments.scenes import SplitScene, SweepScene


@dataclass(frozen=True)
class ProvedMinimum:
    """A minimum's weights, neurons as rows, and the bounds that the checker has verified."""

    weights: np.ndarray
    loss_ge: float
    eigenvalue_ge: float
    alone_within: float


def overview_figure(sweep: SweepScene, printed: float, minimum: ProvedMinimum, split: SplitScene, path: Path) -> None:
    """Draw the last losses of a sweep, a proved minimum, and the plane on which one more neuron finds a way out."""
    with canvas(path, width=11.0, height=3.9) as figure:
        first, second, third = figure.subplots(1, 3, width_ratios=(1.05, 1, 1.05))
        _histogram(first, sweep, printed)
        _matrix(figure, second, minimum)
        loss_map(third, split, len(split.maps) - 1)
        places = split.leaves.places
        third.plot(*places.T, color="black", linewidth=1.5)
        third.plot(0, 0, "o", color="black", markersize=7)
        words = "3. Understood: one neuron split in two\nmakes it a saddle (blue: lower)"
        third.set_title(words, fontsize=10, loc="left")


def _histogram(axes: Axes, sweep: SweepScene, printed: float) -> None:
    last = np.clip(sweep.values[-1], 4e-4, None)
    edges = np.geomspace(4e-4, 0.1, 34).tolist()
    runs = len(last)
    percent = 100 * sweep.spurious.mean()
    for mine, colour, hatch, label in (
        (~sweep.spurious, GLOBAL, "", f"the teacher (F < 0.001): {100 - percent:.1f}%"),
        (sweep.spurious, SPURIOUS, "///", f"spurious minima: {percent:.1f}%"),
    ):
        weights = np.full(int(mine.sum()), 100 / runs)
        style: dict[str, Any] = {"color": colour, "alpha": 0.85, "hatch": hatch, "edgecolor": "white", "linewidth": 0}
        axes.hist(last[mine], edges, weights=weights, label=label, **style)
    axes.plot([], [], "D", color=PAPER_COLOUR, markersize=4, label=f"spurious, in the paper: {printed:g}%")
    axes.set_xscale("log")
    axes.set(xlabel="loss F at the end of a run", ylabel="runs (%)", ylim=(0, 50))
    axes.set_title(
        f"1. Found: where {runs} runs of gradient\ndescent end, k = n = {sweep.size}", fontsize=10, loc="left"
    )
    axes.legend(loc="upper right", fontsize=9)


def _matrix(figure: Figure, axes: Axes, minimum: ProvedMinimum) -> None:
    weights = minimum.weights[np.argsort(np.abs(minimum.weights).argmax(1))]
    texts = {at: f"{value:.2f}".replace("-", "\N{MINUS SIGN}") for at, value in np.ndenumerate(weights)}
    draw_matrix(figure, axes, weights, texts)
    axes.set(xlabel="coordinate (teacher neurons are unit vectors)")
    loss, curvature = down(minimum.loss_ge), down(minimum.eigenvalue_ge)
    words = f"2. Proved (k = n = {len(weights)}): loss at least {loss},\ncurvature at least {curvature}, alone within {down(minimum.alone_within)}"
    axes.set_title(words, fontsize=10, loc="left")


def down(value: float) -> str:
    """Return a proved lower bound with five digits after the point, rounded to the safe side."""
    return f"{math.floor(value * 1e5) / 1e5:.5f}"
