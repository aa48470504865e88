"""Figures of over-parameterised networks: which minimum was made from which, and what splitting a neuron does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from earnshaw.plots.style import COLOURS, GLOBAL, SPURIOUS, canvas, figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from earnshaw.experiments.grow import Ladder
    from earnshaw.experiments.splits import SplitScene


def ladder_figure(ladder: Ladder, path: Path) -> None:
    """Draw every minimum at its number of neurons and its loss, with its name, and a line from what it was made of."""
    k = len(ladder.teacher)
    minima = {(rung.neurons, place): m for rung in ladder.rungs for place, m in enumerate(rung.minima)}
    highest = max((minimum.value for minimum in minima.values()), default=1.0)
    near = 0.03 * highest  # names of minima as near as this go to both sides
    with figure(path, width=7.5, height=4.8) as (_, axes):
        for (n, _place), minimum in minima.items():
            colour = SPURIOUS if minimum.stable else GLOBAL
            if minimum.parent:
                before, origin = minimum.parent
                line = [minima[before, origin].value, minimum.value]
                axes.plot([before, n], line, color="grey", linewidth=0.8, zorder=1)
            style = {"s": 90, "marker": "*"} if minimum.stable else {"s": 30, "marker": "o"}
            face = colour if minimum.proved else "white"
            axes.scatter(n, minimum.value, color=face, edgecolors=colour, zorder=2, **style)
            name = (minimum.family or "").partition(" (")[0]
            above = [v for (m, _), other in minima.items() if m == n and 0 < (v := other.value - minimum.value) < near]
            left: dict[str, Any] = {"xytext": (-5, 2), "ha": "right"} if above else {"xytext": (5, 2)}
            axes.annotate(name, (n, minimum.value), textcoords="offset points", fontsize=7, **left)
        fates = [f"{len(rung.minima)} of {rung.tried}" for rung in ladder.rungs]
        for rung, text in zip(ladder.rungs, fates, strict=True):
            turn = 0 if len(fates) <= 8 else 90
            box = {"facecolor": "white", "edgecolor": "none", "pad": 1}
            place = (rung.neurons, axes.get_ylim()[1] * 0.01)
            axes.annotate(text, place, ha="center", va="bottom", fontsize=7, color="grey", rotation=turn, bbox=box)
        whole = [rung.neurons for rung in ladder.rungs]
        title = f"Spurious minima for k = {k}: filled proved, star for every larger n; minima kept of candidates below"
        axes.set(xlabel="n", ylabel="F", ylim=(0, None), xlim=(whole[0] - 0.6, whole[-1] + 0.6))
        axes.set_xticks(whole)
        axes.set_title(title, fontsize=9)


def split_figure(scene: SplitScene, path: Path) -> None:
    """Draw a minimum with a split-stable neuron (in the plane), the loss along and across the minima made of it, and others."""
    flat = scene.teacher.shape[1] == 2
    with canvas(path, width=10.5 if flat else 7.5, height=3.7) as whole:
        panels = list(whole.subplots(1, 3 if flat else 2))
        if flat:
            _plane(panels.pop(0), scene)
        contour, cuts = panels
        levels = np.geomspace(scene.rise.max() / 300, scene.rise.max(), 9)
        contour.contourf(scene.parting, scene.shares, scene.rise, [0, *levels], cmap="Blues")
        contour.axvline(0, color=SPURIOUS, linewidth=2)
        neuron = scene.chosen.neurons[0]
        contour.set(xlabel="parts moved apart", ylabel="share of the second part")
        contour.set_title(f"neuron {neuron} split: F - F* (0 on the line)", fontsize=9)
        contour.grid(visible=False)
        for (row, rise), colour in zip(scene.across, COLOURS, strict=False):
            cuts.plot(scene.parting, rise, color=SPURIOUS if row is scene.chosen else colour, label=row.words)
        cuts.axhline(0, color="grey", linewidth=0.8)
        cuts.set(xlabel="halves moved apart", ylabel="F - F*")
        cuts.set_title("each neuron in two halves", fontsize=9)
        cuts.legend(fontsize=7)


def _plane(axes: Axes, scene: SplitScene) -> None:
    """Draw the teacher's neurons and the students, the stable one as two parts."""
    for rows, colour, label, width in (
        (scene.teacher, "black", "teacher", 1.2),
        (scene.weights, GLOBAL, "student", 2.2),
    ):
        for place, (x, y) in enumerate(rows):
            stable = rows is scene.weights and place == scene.chosen.neurons[0]
            shade = SPURIOUS if stable else colour
            name = "split-stable" if stable else label if place == 0 or (place == 1 and label == "student") else None
            axes.plot([0, x], [0, y], color=shade, linewidth=width, solid_capstyle="round")
            axes.plot(x, y, "o", color=shade, markersize=5, label=name)
            if stable:
                axes.plot([0.4 * x, 0.6 * x], [0.4 * y, 0.6 * y], "|", color=shade, markersize=9)
    axes.set_aspect("equal")
    axes.margins(x=0.35)
    axes.set_title(f"the minimum, F* = {scene.value:.5f}", fontsize=9)
    handles, labels = axes.get_legend_handles_labels()
    only = dict(zip(labels, handles, strict=True))
    axes.legend(list(only.values()), list(only), fontsize=7, loc="lower left")
