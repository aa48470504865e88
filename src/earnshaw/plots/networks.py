"""Figures of single networks: of the convolutional one how runs go and where they end, of deep ones what they learn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from earnshaw.plots.intervals import Curve, draw_curves
from earnshaw.plots.style import COLOURS, GLOBAL, PAPER_COLOUR, SPURIOUS, canvas, figure

if TYPE_CHECKING:
    from earnshaw.experiments.convnet import Trajectory


def convergence_figure(
    run: Trajectory, lanes: int, level: float | None, title: str, path: Path, slow: float | None = None
) -> None:
    """Draw the losses of the first so many runs on a log scale, one of each fate in bold, as in figure 1b.

    ``level`` is the loss of the spurious minimum, where there is one, and ``slow`` how many iterations the paper calls slow.
    """
    shown = np.maximum(run.value[:, :lanes], 1e-17)
    with figure(path, height=4.4) as (_, axes):
        for fails, colour, label in (
            (False, GLOBAL, "success: global minimum"),
            (True, SPURIOUS, "failure: spurious minimum"),
        ):
            some = shown[:, run.spurious[:lanes] == fails]
            if some.size:
                axes.semilogy(run.step, some, color=colour, linewidth=0.6, alpha=0.3)
                middle = np.argsort(np.log(some).mean(0))[some.shape[1] // 2]
                axes.semilogy(run.step, some[:, middle], color=colour, linewidth=2.2, label=label)
        line: dict[str, Any] = {"color": PAPER_COLOUR, "linewidth": 0.9}
        if level is not None:
            axes.axhline(level, linestyle="--", zorder=5, label="loss of the spurious minimum", **line)
        if slow is not None:
            axes.axvline(slow, linestyle=":", label=f"the paper's {slow:g} slow iterations", **line)
        axes.set(xlabel="iteration", ylabel="loss", title=title, xlim=(0, run.step[-1]), ylim=(1e-16, 2))
        axes.legend(loc="upper right", bbox_to_anchor=(1, 0.86))


def phase_figure(run: Trajectory, lane: int, first: int, second: int, path: Path) -> None:
    """Draw the two phases of a run: slow until angle and product are of order 1 at step T1, then a fast linear rate to T2."""
    with canvas(path, height=4.8) as whole:
        upper, lower = whole.subplots(2, 1, sharex=True)
        upper.semilogy(run.step, np.maximum(run.value[:, lane], 1e-17), color=COLOURS[0])
        upper.set(ylabel="loss", title="The two phases of a successful run", ylim=(1e-13, 2))
        lower.plot(run.step, np.cos(run.angle[:, lane]), color=COLOURS[2], label=r"$\cos\varphi$")
        label = r"$a\cdot a^*/(|w^*||a^*|^2)$"
        lower.plot(run.step, run.product[:, lane], color=COLOURS[1], linestyle="--", label=label)
        lower.axhline(0.5, color="grey", linewidth=0.7, linestyle=":")
        lower.set(xlabel="iteration", ylabel="signal", xlim=(0, 1.2 * second), ylim=(-0.05, 1.1))
        lower.legend(loc="lower center")
        for name, place, level in (("T1", first, 1e-12), ("T2", second, 1e-3)):
            for panel in (upper, lower):
                panel.axvline(place, color=PAPER_COLOUR, linewidth=1)
            upper.annotate(f" {name} = {place}", (place, level), va="bottom", fontsize=9)


def approach_figure(step: np.ndarray, supplement: np.ndarray, law: np.ndarray, path: Path) -> None:
    """Draw how the angle approaches pi at the spurious minimum, with the law 1/t."""
    with figure(path) as (_, axes):
        axes.loglog(step, supplement, color=SPURIOUS, linewidth=2, label=r"$\pi - \varphi$ of a run")
        label = r"$2\pi|v|^2\,/\,(\eta\,|w^*|\,|a_s\cdot a^*|\,t)$"
        axes.loglog(step, law, color="grey", linestyle="--", label=label)
        axes.set(xlabel="iteration t", ylabel=r"angle to the antipode $\pi - \varphi$")
        axes.set_title("The spurious minimum is approached like 1/t, not linearly")
        axes.legend()


def probability_figure(shares: Curve, references: Mapping[float, float], limit: float, title: str, path: Path) -> None:
    """Draw the percentage of runs at the spurious minimum against S/|a*|, and where that minimum ceases to exist."""
    with figure(path) as (_, axes):
        low, high = np.array(shares.interval).T
        axes.fill_between(shares.at, low, high, color=COLOURS[0], alpha=0.2, linewidth=0)
        axes.plot(shares.at, shares.value, "o-", color=COLOURS[0], markersize=4, label=shares.label)
        known: dict[str, Any] = {"color": PAPER_COLOUR, "markersize": 5, "fillstyle": "none"}
        axes.plot(list(references), list(references.values()), "D", label="measured apart from this code", **known)
        axes.axvline(limit, color=SPURIOUS, linewidth=1.2, linestyle="--")
        text = "from here on\nthere is no\nspurious\nminimum"
        axes.annotate(text, (limit, 30), xytext=(5, 0), textcoords="offset points", color=SPURIOUS, fontsize=9)
        axes.set(xlabel=r"sum of the teacher's output weights over their norm, $S/|a^*|$", title=title)
        axes.set(ylabel="runs at the spurious minimum (%)", xlim=(0, max(*shares.at, limit * 1.16)), ylim=(-1, 60))
        axes.legend()


def width_figure(ours: Sequence[Curve], printed: Sequence[Curve], note: str, path: Path) -> None:
    """Draw the test error over the width, one colour a depth: ours filled, how they were trained below, the printed hollow."""
    with figure(path, width=7.4, height=4.8) as (_, axes):
        draw_curves(axes, ours)
        for curve, colour in zip(printed, COLOURS, strict=False):
            axes.plot(curve.at, curve.value, "D--", color=colour, linewidth=1, markersize=5, fillstyle="none")
        axes.plot([], [], "D--", color=PAPER_COLOUR, linewidth=1, markersize=5, fillstyle="none", label="printed")
        axes.set(xlabel=f"width\n{note}", ylabel="mean squared test error", xscale="log", yscale="log")
        axes.set_title("Students of deep tanh teachers")
        ticks = sorted({int(width) for curve in (*ours, *printed) for width in curve.at})
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
        axes.minorticks_off()
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=9)


def error_table(depths: Sequence[int], widths: Sequence[int], errors: np.ndarray, note: str, path: Path) -> None:
    """Draw errors (2, depths, widths), ours above the printed one in each cell, with the ratio as its colour."""
    ours, printed = errors
    with figure(path, width=2.6 + 1.25 * len(widths), height=2.0 + 0.55 * len(depths)) as (whole, axes):
        image = axes.imshow(np.log10(ours / printed), cmap="RdBu_r", vmin=-1, vmax=1, aspect="auto")
        for (row, column), value in np.ndenumerate(ours):
            if np.isfinite(value):
                dark = abs(np.log10(value / printed[row, column])) > 0.6
                text = f"{value:.4f}\n({printed[row, column]:.4f})"
                axes.text(column, row, text, ha="center", va="center", fontsize=8, color="white" if dark else "black")
        axes.grid(visible=False)
        axes.set_xticks(range(len(widths)), [str(width) for width in widths])
        axes.set_yticks(range(len(depths)), [str(depth) for depth in depths])
        axes.set(xlabel=f"width\n{note}", ylabel="depth", title="Mean test error: ours (printed)")
        bar = whole.colorbar(image, ax=axes, shrink=0.9, label="ours over printed", ticks=[-1, -0.5, 0, 0.5, 1])
        bar.ax.set_yticklabels(["1/10", "1/3", "1", "3", "10"])


def training_figure(curves: Sequence[Curve], limit: float, note: str, path: Path) -> None:
    """Draw test errors over the steps of training, how it was done below, and a black line at the printed limit."""
    with figure(path, height=4.5) as (_, axes):
        for curve in curves:
            axes.plot(curve.at, curve.value, label=curve.label)
        axes.axhline(limit, color=PAPER_COLOUR, linestyle="--", linewidth=1, label=f"printed: under {limit:g}")
        axes.set(yscale="log", xlabel=f"steps\n{note}", ylabel="mean squared test error")
        axes.set_title("Depth 2: students of tanh teachers")
        axes.legend()
