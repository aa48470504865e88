"""Figures of proofs of absence: the cells of a walk by what closed them, and a map of teachers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from earnshaw.plots.style import COLOURS, GLOBAL, PAPER_COLOUR, SPURIOUS, canvas, figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from earnshaw.proof import AbsenceMap, Leaves, SphereLeaves

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


def sphere_figure(rows: Mapping[str, SphereLeaves], path: Path) -> None:
    """Draw the cells on the sphere of the first student, a row for each title: from (1, 1, 1), from behind, and enlarged."""
    from matplotlib.patches import Patch

    used: dict[str, str] = {}
    with canvas(path, 8.8, 0.6 + 3.1 * len(rows)) as new:
        axes = new.subplots(len(rows), 3, squeeze=False)
        for (title, leaves), views in zip(rows.items(), axes, strict=True):
            spread = np.linalg.norm(leaves.outlines - leaves.outlines[:, :1], axis=2).max(axis=1)
            finest = leaves.outlines[spread.argmin()].mean(axis=0)
            sizes = 1.0, 1.0, float(np.clip(8 * spread.min(), 0.05, 0.4))
            for view, toward, size in zip(views, (np.ones(3), -np.ones(3), finest), sizes, strict=True):
                _hemisphere(view, leaves, toward, size, used)
            views[0].set_title(title, loc="left", fontsize=10)
            views[1].set_title("from behind", fontsize=9)
            views[2].set_title("where the cells are smallest", fontsize=9)
        handles = [Patch(color=colour, label=NAMES.get(name, "left open")) for name, colour in used.items()]
        for mark, label in (("+", "the teacher"), ("o", "the other students")):
            handles += axes[0, 0].plot([], [], mark, color=PAPER_COLOUR, fillstyle="none", label=label)
        new.legend(handles=handles, loc="outside lower center", ncols=4, fontsize=8)


def _hemisphere(view: Axes, leaves: SphereLeaves, toward: np.ndarray, size: float, used: dict[str, str]) -> None:
    """Draw half of the sphere in orthographic projection, or what of it is within `size` of the middle."""
    from matplotlib.collections import PolyCollection
    from matplotlib.patches import Circle

    toward = toward / np.linalg.norm(toward)
    up = np.array([0.0, 0.0, 1.0]) if abs(toward[2]) < 0.9 else np.array([0.0, 1.0, 0.0])
    right = np.cross(up, toward) / np.linalg.norm(np.cross(up, toward))
    plane = np.stack([right, np.cross(toward, right)], axis=1)
    flat, height = leaves.outlines @ plane, leaves.outlines @ toward
    reach = np.linalg.norm(flat, axis=2, keepdims=True)
    flat = np.where(height[:, :, None] < 0, flat / np.maximum(reach, 1e-9), flat)  # what is behind goes to the rim
    shown = height.max(axis=1) > 1e-9
    for number, name in [*enumerate(leaves.tests, 1), (0, "open")]:
        some = flat[shown & (leaves.closed_by == number)]
        if len(some):
            colour = used.setdefault(name, SHADES.get(name, OPEN))
            view.add_collection(PolyCollection(list(some), facecolor=colour, edgecolor="white", linewidth=0.4))
            if number == 0:  # too small to be seen
                view.plot(*some.mean(axis=1).T, "x", color=OPEN, markersize=7)
    for points, marker in ((leaves.teacher, "+"), (leaves.others, "o")):
        front = points[points @ toward > 0] @ plane
        view.plot(*front.T, marker, color=PAPER_COLOUR, markersize=9, fillstyle="none", linestyle="none")
    if size == 1:
        view.add_patch(Circle((0, 0), 1.0, facecolor="none", edgecolor="grey", linewidth=0.8))
    view.set(xlim=(-1.03 * size, 1.03 * size), ylim=(-1.03 * size, 1.03 * size), aspect="equal")
    view.axis("off")


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
