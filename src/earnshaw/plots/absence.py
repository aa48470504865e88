"""Figures of proofs of absence: the cells of a walk by what closed them, and a map of teachers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from earnshaw.plots.style import COLOURS, GLOBAL, PAPER_COLOUR, SPURIOUS, figure

if TYPE_CHECKING:
    from earnshaw.proof import AbsenceMap, Leaves

NAMES = {
    "norms": "no lengths possible",
    "first order": "no critical point",
    "second order": "negative curvature",
    "parallel": "negative curvature, nearly parallel",
    "near": "only the teacher",
}
SHADES = {
    "norms": "#BBBBBB",
    "first order": "#DCE9F2",
    "second order": COLOURS[1],
    "parallel": COLOURS[3],
    "near": COLOURS[2],
}
OPEN = COLOURS[5]


def cells_figure(leaves: Leaves, path: Path) -> None:
    """Draw the cells of two students in the plane of their angles."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Patch, Rectangle

    with figure(path, width=8.8, height=5.2) as (_, axes):
        handles = []
        for number, name in [*enumerate(leaves.tests, 1), (0, "open")]:
            some = leaves.closed_by == number
            if not some.any():
                continue
            colour = SHADES.get(name, OPEN)
            boxes = [
                Rectangle(tuple(low), *(high - low))
                for low, high in zip(leaves.low[some], leaves.high[some], strict=True)
            ]
            axes.add_collection(PatchCollection(boxes, facecolor=colour, edgecolor="white", linewidth=0.4))
            handles.append(Patch(color=colour, label=NAMES.get(name, "left open")))
        left = leaves.closed_by == 0
        if left.any():  # too small to be seen
            axes.plot(*((leaves.low + leaves.high)[left] / 2).T, "x", color=OPEN, markersize=7)
        first, second = np.meshgrid(leaves.teacher, leaves.teacher)
        apart = first != second
        handles += axes.plot(first[apart], second[apart], "+", color=PAPER_COLOUR, markersize=9, label="the teacher")
        axes.set(xlim=(-45, 315), ylim=(-45, 315), xlabel="angle of the first student (degrees)")
        axes.set_ylabel("angle of the second student (degrees)")
        axes.set_xticks(range(-45, 316, 45))
        axes.set_yticks(range(-45, 316, 45))
        axes.grid(False)
        axes.set_aspect("equal")
        axes.set_title("All directions of two students, in cells, by what closed them", loc="left", fontsize=10)
        axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1.0), fontsize=8)


def map_figure(found: AbsenceMap, path: Path) -> None:
    """Draw for which teachers of two neurons absence is proved."""
    with figure(path, width=8.0, height=3.4) as (_, axes):
        turns, sizes = np.meshgrid(found.angles, found.ratios)
        for some, marker, colour, label in (
            (found.proved, "o", GLOBAL, "proved: no bad minimum"),
            (found.bad, "s", SPURIOUS, "proved: a bad minimum"),
            (~found.proved & ~found.bad, "x", "grey", "undecided"),
        ):
            if some.any():
                axes.plot(turns[some], sizes[some], marker, color=colour, label=label, linestyle="none")
        axes.set_yscale("log")
        axes.set_yticks(found.ratios, [f"{ratio:g}" for ratio in found.ratios])
        axes.minorticks_off()
        axes.set(xlabel="angle between the two teacher neurons (degrees)", ylabel="ratio of lengths", xlim=(0, 180))
        axes.set_title("Two neurons learn two", loc="left", fontsize=10)
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), fontsize=9)
