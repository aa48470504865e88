"""Figures of sweeps: at which losses runs end, and how they get there; a minimum's weights; who wins the arena."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from earnshaw.plots.intervals import Proportion, bars, dots
from earnshaw.plots.points import draw_matrix
from earnshaw.plots.style import GLOBAL, SPURIOUS, figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from earnshaw.experiments.arena import Arena
    from earnshaw.experiments.runs import Runs

FAINTEST = 1e-6  # of the largest loss; smaller ones are in the first bar
ROUNDING = 1e-9  # of the largest loss; a negative one that is nearer to 0 is 0, rounded
BARS = 34


class Fate(NamedTuple):
    """Which runs share a fate, and how they look."""

    label: str
    mine: np.ndarray  # (runs,) whether a run has it
    colour: str
    hatch: str = ""
    marker: str = "o"


def fates(spurious: np.ndarray, found: np.ndarray) -> list[Fate]:
    """Return the fates of runs that found the global minimum, that ended at other minima, and of the rest."""
    return [
        Fate("the global minimum", found, GLOBAL),
        Fate("other minima", spurious, SPURIOUS, "///", "D"),
        Fate("neither", ~spurious & ~found, "0.6", "", "."),
    ]


def fates_of(runs: Runs) -> list[Fate]:
    """Return the fates of runs; those at minima that cannot be called spurious are at other minima, too."""
    from earnshaw.descent import Outcome

    at_minima = np.isin(runs.outcome, [Outcome.SPURIOUS.code, Outcome.CONVERGED.code])
    return fates(at_minima, runs.outcome == Outcome.GLOBAL.code)


def floor_of(values: np.ndarray) -> float | None:
    """Return the least loss that a logarithmic scale shows, smaller ones and rounding of 0 there; None where some are negative.

    Here and below losses that are not finite, of runs that diverged, do not count.
    """
    values = values[np.isfinite(values)]
    top = float(values.max(initial=-np.inf))
    if not top > 0 or float(values.min()) < -ROUNDING * top:
        return None
    return max(float(values[values > 0].min()), FAINTEST * top)


def loss_bars(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, float | None]:
    """Return the ends of the bars of a histogram of losses, the losses as they enter it, and the least that is told apart.

    The bars are equally wide, on a logarithmic scale if that is not None. Losses of 0 are a decade below the others.
    """
    known, low = values[np.isfinite(values)], floor_of(values)
    least, top = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
    if low is not None:
        low = low if least > 0 else max(low / 10, FAINTEST * top)
        return np.geomspace(0.9 * low, 1.1 * top, BARS), np.clip(values, low, None), low
    room = 0.02 * (top - least) or 1e-3
    return np.linspace(least - room, top + room, BARS), values, None


def draw_histogram(axes: Axes, values: np.ndarray, groups: Sequence[Fate]) -> None:
    """Draw at which losses runs end, in percent of all, one colour a fate; logarithmic where losses are positive."""
    edges, shown, low = loss_bars(values)
    known = np.isfinite(values)
    notes = [f"first bar: up to {low:.0e}"] if low is not None and (values[known] < low).any() else []
    notes += [_unshown(values)] if not known.all() else []
    if notes:
        axes.text(0.01, 0.98, "\n".join(notes), transform=axes.transAxes, va="top", fontsize=8)
    if low is not None:
        axes.set_xscale("log")
    for fate in groups:
        mine = fate.mine & known
        if not mine.any():
            continue
        share = np.full(int(mine.sum()), 100 / len(values))
        label = f"{fate.label}: {share.sum():.1f}%"
        look: dict[str, Any] = {"color": fate.colour, "alpha": 0.85, "hatch": fate.hatch, "edgecolor": "white"}
        axes.hist(shown[mine], edges.tolist(), weights=share, label=label, linewidth=0, **look)
    axes.set(xlabel="loss F at the end of a run", ylabel="runs (%)")


def _unshown(values: np.ndarray) -> str:
    return f"{np.count_nonzero(~np.isfinite(values))} without a finite loss"


def draw_paths(axes: Axes, paths: Sequence[np.ndarray], fate: Fate) -> None:
    """Draw the losses of runs of one fate, each (moments, 2) of steps and losses, and the ends; of many some as lines."""
    from matplotlib.collections import LineCollection

    some = paths[:: max(1, len(paths) // 60)]
    axes.add_collection(LineCollection(some, colors=fate.colour, linewidths=0.7, alpha=0.7))
    ends = np.array([path[-1] for path in paths]).reshape(-1, 2)
    axes.plot(*ends.T, fate.marker, color=fate.colour, markersize=3.2, alpha=0.8, label=fate.label)


def draw_values(axes: Axes, curves: Mapping[str, np.ndarray], above: bool = True) -> None:
    """Draw, for each setting, the share of runs that end below a given loss; ``above`` if some stop before they are there."""
    finite = {label: np.sort(values[np.isfinite(values)]) for label, values in curves.items()}
    top = max(float(ordered.max(initial=0.0)) for ordered in finite.values()) or 1.0
    least = min(float(ordered.min(initial=0.0)) for ordered in finite.values())
    styles = ("-", "--", "-.", ":")
    for index, (label, values) in enumerate(curves.items()):
        ordered = finite[label]
        share = 100 * np.arange(len(ordered) + 1) / len(values)
        x = np.concatenate([[least], ordered, [1.05 * top]])
        named = label if len(ordered) == len(values) else f"{label} ({_unshown(values)})"
        y = np.append(share, share[-1])
        axes.step(x, y, where="post", label=named, linestyle=styles[index % 4], linewidth=1.8)
    stops = "\n(a run that is sure to reach the global minimum stops above it)" * above
    axes.set_xlabel(f"loss at the end of the run{stops}")
    axes.set(ylabel="runs that end at or below (%)", xlim=(least - 0.01 * top, 1.05 * top), ylim=(0, 102))
    axes.legend(loc="lower right", fontsize=9)


def value_figure(curves: Mapping[str, np.ndarray], path: Path, above: bool = True) -> None:
    """Write the figure of :func:`draw_values`."""
    with figure(path) as (_, axes):
        draw_values(axes, curves, above)
        axes.set_title("Where runs end")


def example_figure(polished: np.ndarray, printed: np.ndarray, title: str, path: Path) -> None:
    """Draw a minimum's weights, each entry with ours and (where it differs when rounded) the printed one."""
    n, d = polished.shape
    ours, theirs = ({at: f"{value:.4f}" for at, value in np.ndenumerate(w)} for w in (polished, printed))
    texts = {at: ours[at] if ours[at] == theirs[at] else f"{ours[at]}\n({theirs[at]})" for at in ours}
    with figure(path, width=1.2 + 0.75 * d, height=1.2 + 0.5 * n) as (_, axes):
        draw_matrix(axes, polished, texts)
        note = "" if texts == ours else " (in brackets: printed, where it differs)"
        axes.set(xlabel="coordinate" + note, title=title)


def arena_figure(arenas: Sequence[Arena], title: str, path: Path) -> None:
    """Draw the share of runs at the global minimum, by optimiser: over the sizes, or, for a single one, with the costs.

    Problems are told apart by k where that is enough, by n, or by both; their global minimum is known.
    """
    axis, sizes = "runs at the global minimum (%)", [(x.problem.sizes["k"], x.problem.sizes["n"]) for x in arenas]
    if len(arenas) == 1:
        rows = [Proportion(s.optimizer, s.global_percent, s.global_interval) for s in arenas[0].scores]
        costs = [
            f"{s.median_gradients:,.0f} gradients"
            + f", {s.median_hessians:,.0f} Hessian products" * bool(s.median_hessians)
            for s in arenas[0].scores
        ]
        title += ", k = {}, n = {}".format(*sizes[0])
        bars({"": rows}, title, path, axis=f"{axis}, and the median cost of a run", notes=costs)
        return
    apart = {n - k for k, n in sizes}
    if len(apart) == 1:
        extra = apart.pop()
        label, shown = f"teacher neurons k (n = k{f' + {extra}' if extra else ''})", [str(k) for k, _ in sizes]
    elif len({k for k, _ in sizes}) == 1:
        label, shown = f"student neurons n (k = {sizes[0][0]})", [str(n) for _, n in sizes]
    else:
        label, shown = "teacher neurons k, student neurons n", [f"{k}, {n}" for k, n in sizes]
    standings: dict[str, list[Proportion]] = {}
    for size, arena in zip(shown, arenas, strict=True):
        for s in arena.scores:
            standings.setdefault(s.optimizer, []).append(Proportion(size, s.global_percent, s.global_interval))
    dots(standings, label, title, path, axis)
