"""Figures of students of deep tanh teachers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from earnshaw.plots.intervals import Curve, draw_curves
from earnshaw.plots.style import PAPER_COLOUR, figure

STYLES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))


def width_figure(ours: Sequence[Curve], printed: Sequence[Curve], note: str, path: Path) -> None:
    """Draw the test error over the width, a curve for each depth: ours in colours, the printed in black.

    ``note`` says how ours were trained, below the axis.
    """
    with figure(path, width=7.4, height=4.6) as (_, axes):
        draw_curves(axes, ours)
        for curve, style in zip(printed, STYLES, strict=False):
            axes.plot(
                curve.at,
                curve.value,
                "D",
                color=PAPER_COLOUR,
                linestyle=style,
                linewidth=1,
                markersize=4,
                label=curve.label,
            )
        axes.set(
            xlabel=f"width\n{note}",
            ylabel="mean squared test error",
            xscale="log",
            title="Students of deep tanh teachers",
        )
        ticks = sorted({int(width) for curve in (*ours, *printed) for width in curve.at})
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
        axes.minorticks_off()
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)


def training_figure(curves: Sequence[Curve], limit: float, path: Path) -> None:
    """Draw test errors over the steps of training, and a black line at the printed limit."""
    with figure(path) as (_, axes):
        for curve in curves:
            axes.plot(curve.at, curve.value, label=curve.label)
        axes.axhline(limit, color=PAPER_COLOUR, linestyle="--", linewidth=1, label=f"printed: under {limit:g}")
        axes.set(
            yscale="log", xlabel="steps", ylabel="mean squared test error", title="Depth 2: students of tanh teachers"
        )
        axes.legend()
