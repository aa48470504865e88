"""A family for every k: loss and smallest eigenvalue against h = k^(-1/2), down to h = 0, with what is proved of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from earnshaw.plots.style import COLOURS, SPURIOUS, canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from earnshaw.proof import Course

MARKED = (10, 20, 40, 100, 1000)


def course_figure(courses: Sequence[Course], path: Path) -> None:
    """Draw families, one a row: left the scaled loss, right the smallest eigenvalue; shaded is where they are proved to be."""
    with canvas(path, width=9.0, height=0.6 + 2.9 * len(courses)) as new:
        rows = new.subplots(len(courses), 2, squeeze=False)
        for (left, right), course in zip(rows, courses, strict=True):
            _draw(left, course, course.value)
            claim, scaled = course.claim, "F" if course.family == "A" else "k F"
            left.axhspan(claim.value_ge, claim.value_le, color=COLOURS[2], alpha=0.15, linewidth=0, label="proved")
            left.set_ylabel(scaled)
            left.legend(fontsize=8, loc="lower left")
            left.set_ylim(0, 1.08 * claim.value_le)
            left.set_title(f"Family {course.family}: loss, for every k from {course.first} on", loc="left", fontsize=10)
            _draw(right, course, course.least)
            edge, top = course.start**-0.5, 1.15 * float(np.max(course.least))
            steps = [0, edge, edge, course.first**-0.5], [claim.lambda_tail_ge] * 2 + [claim.lambda_head_ge] * 2
            right.fill_between(*steps, top, color=COLOURS[2], alpha=0.15, linewidth=0, label="proved")
            right.set_ylabel("smallest eigenvalue")
            right.set_ylim(0, top)
            right.set_title(f"Family {course.family}: smallest eigenvalue of the Hessian", loc="left", fontsize=10)


def _draw(axes: Axes, course: Course, numbers: np.ndarray) -> None:
    """Draw a number at each k of the head as dots, and for all real k of the tail as a line; name some k on the axis."""
    head = course.start - course.first
    axes.plot(course.h[head:], numbers[head:], color=SPURIOUS, label=f"all real k from {course.start} on")
    axes.plot(
        course.h[:head],
        numbers[:head],
        ".",
        color=SPURIOUS,
        markersize=5,
        label=f"k = {course.first} to {course.start - 1}",
    )
    ticks = [course.first, *(k for k in MARKED if k > 1.2 * course.first)]
    axes.set_xticks([0.0, *(k**-0.5 for k in ticks)], ["∞", *map(str, ticks)])
    axes.set_xlim(-0.005, 1.03 * float(course.h[0]))
    axes.set_xlabel("k, at h = k$^{-1/2}$")
