"""Figures of the convolutional network: curves of runs, the approach to the spurious point, shares of outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from earnshaw.plots.intervals import Curve
from earnshaw.plots.style import COLOURS, GLOBAL, PAPER_COLOUR, SPURIOUS, figure

if TYPE_CHECKING:
    from earnshaw.experiments.convnet import Trajectory


def convergence_figure(run: Trajectory, lanes: int, level: float, title: str, path: Path) -> None:
    """Draw the losses of the first so many runs on a log scale, one of each fate in bold, as in figure 1b."""
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
        axes.axhline(
            level, color="black", linewidth=0.9, linestyle="--", zorder=5, label="loss of the spurious minimum"
        )
        axes.axvline(50, color=PAPER_COLOUR, linewidth=0.9, linestyle=":", label="the paper's 50 slow iterations")
        axes.set(xlabel="iteration", ylabel="loss", title=title, xlim=(0, run.step[-1]), ylim=(1e-16, 2))
        axes.legend(loc="upper right", bbox_to_anchor=(1, 0.86))


def phase_figure(run: Trajectory, lane: int, first: int, second: int, path: Path) -> None:
    """Draw the two phases of a run: slow until angle and product are of order 1 at step T1, then a fast linear rate to T2."""
    with figure(path, height=4.8) as (canvas, axes):
        axes.remove()
        upper, lower = canvas.subplots(2, 1, sharex=True)
        upper.semilogy(run.step, np.maximum(run.value[:, lane], 1e-17), color=COLOURS[0])
        upper.set(ylabel="loss", title="The two phases of a successful run", ylim=(1e-13, 2))
        lower.plot(run.step, np.cos(run.angle[:, lane]), color=COLOURS[2], label=r"$\cos\varphi$")
        lower.plot(
            run.step, run.product[:, lane], color=COLOURS[1], linestyle="--", label=r"$a\cdot a^*/(|w^*||a^*|^2)$"
        )
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
        axes.set(
            xlabel=r"size of the second layer's start over the teacher's, $S/|a^*|$",
            ylabel="runs at the spurious minimum (%)",
            title=title,
            xlim=(0, max(*shares.at, limit * 1.16)),
            ylim=(-1, 60),
        )
        axes.legend()
