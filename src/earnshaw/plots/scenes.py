"""Scenes of sweeps and of a neuron that is added, moving, and in one picture: minima are found, proved, and understood."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from earnshaw.plots.style import GLOBAL, PAPER_COLOUR, SPURIOUS, Progress, canvas, common_style, unseen, write_movie
from earnshaw.plots.sweeps import draw_matrix

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from earnshaw.experiments.scenes import SplitScene, SweepScene

SIZE = (7.6, 4.2)  # inches; 684 pixels wide


def sweep_movie(scene: SweepScene, printed: float, path: Path, frames: int = 90, progress: Progress = unseen) -> None:
    """Show runs coming to rest, the histogram of their last losses filling up, and the paper's percentage."""
    from matplotlib.figure import Figure

    runs = len(scene.last)
    edges = np.geomspace(4e-4, 0.6, 40)
    shown = np.clip(scene.values, edges[0], edges[-1])
    highest = np.histogram(shown[-1], edges)[0].max() / runs * 100
    ended = np.searchsorted(np.sort(scene.last), np.arange(len(scene.steps)), side="right") / runs
    pace = 0.5 * ended + 0.5 * np.linspace(0, 1, len(scene.steps))  # slower where many runs end
    moments = np.searchsorted(pace, np.linspace(pace[0], 1, frames)).clip(0, len(scene.steps) - 1)
    with common_style():
        figure = Figure(figsize=SIZE)
        curves = figure.add_axes((0.095, 0.29, 0.51, 0.575))
        bars = figure.add_axes((0.635, 0.29, 0.34, 0.575), sharey=curves)
        share = figure.add_axes((0.095, 0.07, 0.88, 0.055))
        figure.suptitle(f"Gradient descent from {runs} random starts, k = n = {scene.size}", fontsize=11, y=0.975)

        def draw(frame: int) -> None:
            now = moments[frame]
            resting = scene.last <= now
            for axes in (curves, bars, share):
                axes.clear()
            _loss_curves(curves, scene, shown, now)
            _filling(bars, shown[now], resting, scene, edges, highest)
            _share(share, resting, scene.spurious, printed)

        write_movie(figure, draw, frames, path, still=-1, progress=progress)


def _loss_curves(axes: Axes, scene: SweepScene, shown: np.ndarray, now: int) -> None:
    from matplotlib.collections import LineCollection

    resting = scene.last <= now
    for state, colour, marker in (
        (~resting, "0.6", "."),
        (resting & ~scene.spurious, GLOBAL, "o"),
        (resting & scene.spurious, SPURIOUS, "D"),
    ):
        lanes = np.flatnonzero(state)
        ends = np.minimum(scene.last[lanes], now)
        some = lanes % max(1, len(scene.last) // 60) == 0
        paths = [
            np.column_stack([scene.steps[: end + 1], shown[: end + 1, lane]])
            for lane, end in zip(lanes[some], ends[some], strict=True)
        ]
        axes.add_collection(LineCollection(paths, colors=colour, linewidths=0.7, alpha=0.7))
        axes.plot(scene.steps[ends], shown[now, lanes], marker, color=colour, markersize=3.2, alpha=0.8)
    axes.set_yscale("log")
    axes.set(xlim=(0, 1.02 * scene.steps[-1]), ylim=(3.5e-4, 0.7), xlabel="step", ylabel="loss F")
    axes.set_title("each run: its loss, and where it comes to rest", fontsize=9, loc="left")


def _filling(
    axes: Axes, values: np.ndarray, resting: np.ndarray, scene: SweepScene, edges: np.ndarray, highest: float
) -> None:
    right = 1.08 * highest
    for group, colour, hatch in ((resting & ~scene.spurious, GLOBAL, ""), (resting & scene.spurious, SPURIOUS, "///")):
        counts = np.histogram(values[group], edges)[0] / len(values) * 100
        style: dict[str, Any] = {"color": colour, "alpha": 0.85, "align": "edge", "hatch": hatch, "edgecolor": "white"}
        axes.barh(edges[:-1], counts, np.diff(edges), linewidth=0, **style)
    for level in scene.levels:
        if np.isclose(values[resting & scene.spurious], level, rtol=1e-6).any():
            axes.axhline(level, color=SPURIOUS, linewidth=0.8, linestyle="--", zorder=0)
            axes.text(right, 1.12 * level, f"F = {level:.4f}", color=SPURIOUS, fontsize=9, ha="right")
    if (resting & scene.spurious).any():
        axes.text(right, 0.12, "spurious minima, one\nline for each family", color=SPURIOUS, fontsize=9, ha="right")
    if (resting & ~scene.spurious).any():
        axes.text(right, 1.6e-3, "found the teacher\n(stopped below 0.001)", color=GLOBAL, fontsize=9, ha="right")
    axes.tick_params(labelleft=False)
    axes.set(xlim=(0, 1.1 * highest), xlabel="runs (%)")
    axes.set_title("histogram of the last losses", fontsize=9, loc="left")


def _share(axes: Axes, resting: np.ndarray, spurious: np.ndarray, printed: float) -> None:
    """Draw the shares of all runs: at spurious minima from the left, at the teacher from the right."""
    bad, good = 100 * np.mean(resting & spurious), 100 * np.mean(resting & ~spurious)
    axes.barh([0], [bad], 1.0, color=SPURIOUS, alpha=0.85, hatch="///", edgecolor="white", linewidth=0)
    axes.barh([0], [100 - bad - good], 1.0, left=[bad], color="0.9")
    axes.barh([0], [good], 1.0, left=[100 - good], color=GLOBAL, alpha=0.85)
    words = f"at spurious minima {bad:.1f}%, at the teacher {good:.1f}% of all runs"
    words += f"; black line: {printed:g}% spurious in the paper"
    axes.axvline(printed, color=PAPER_COLOUR, linewidth=2.2)
    axes.set(xlim=(0, 100), ylim=(-0.5, 0.5), yticks=[])
    axes.set_title(words, fontsize=9, loc="left", pad=4)
    axes.grid(visible=False)
    axes.tick_params(axis="x", labelsize=8, pad=1, length=2)


def saddle_movie(scene: SplitScene, path: Path, frames: int = 96, progress: Progress = unseen) -> None:
    """Show a minimum of 6 neurons, the plane turning to the direction that a seventh opens, and the way out."""
    from matplotlib.figure import Figure

    acts = _acts(scene, frames)
    with common_style():
        figure = Figure(figsize=SIZE)
        plane = figure.add_axes((0.095, 0.125, 0.455, 0.69))
        spectrum = figure.add_axes((0.655, 0.555, 0.315, 0.26))
        losses = figure.add_axes((0.655, 0.125, 0.315, 0.26))
        title = figure.suptitle("", fontsize=11, y=0.975)

        def draw(frame: int) -> None:
            words, view, run, moment = acts[frame]
            for axes in (plane, spectrum, losses):
                axes.clear()
            _loss_map(plane, scene, view)
            added = view > 0
            if run is not None:
                trail = run.places[: moment + 1]
                plane.plot(*trail.T, color="black", linewidth=1.2)
                plane.plot(*trail[-1], "o", color="black", markersize=7)
            else:
                plane.plot(0, 0, "o", color="black", markersize=7)
            _eigenvalues(spectrum, scene.after if added else scene.before, 7 if added else 6)
            first = len(scene.stays.steps) - 1 if added else moment
            _two_losses(losses, scene, first, moment if run is scene.leaves else -1)
            title.set_text(words)

        write_movie(figure, draw, frames, path, still=-1, progress=progress)


def _acts(scene: SplitScene, frames: int) -> list[tuple[str, int, Any, int]]:
    """Return for each frame the words, the map, the run that is shown, and its moment."""
    first = second = frames // 4
    rest = len(scene.stays.steps) - 1
    stays = "6 neurons, a proved minimum: descent after a push comes back"
    opens = "One neuron is split in two, the loss stays: a direction opens that goes down"
    leaves = "7 neurons, a saddle: descent leaves, and finds the teacher"
    acts: list[tuple[str, int, Any, int]] = []
    acts += [(stays, 0, scene.stays, int(rest * (i / (first - 1)) ** 2)) for i in range(first)]
    views = np.linspace(0, len(scene.maps) - 1, second + 1)[1:].astype(int)
    acts += [(opens, max(1, int(view)), None, rest) for view in views]
    leaving = np.linspace(0, 0.72 * (len(scene.leaves.steps) - 1), frames - first - second).astype(int)
    return acts + [(leaves, len(scene.maps) - 1, scene.leaves, int(moment)) for moment in leaving]


def _loss_map(axes: Axes, scene: SplitScene, view: int) -> None:
    """Draw the loss on the plane: blue below the loss at the centre, orange above it."""
    below = np.array([-1e-9, 0.002, 0.006, 0.011, 0.016, 0.0205, 0.0235])
    above = scene.loss + np.array([0.0008, 0.0025, 0.006, 0.012, 0.025, 0.05, 0.1, 10.0])
    colours = ["#08519c", "#2b7bba", "#5ba3cf", "#8fc2de", "#bdd7ec", "#dbe9f6", "#eff5fb"]
    colours += ["#fff7ec", "#fdebd0", "#fddcae", "#fdc68a", "#fcab63", "#f58f41", "#e5721f", "#c9560b"]
    levels = np.concatenate([below, [scene.loss], above])
    axes.contourf(scene.across, scene.along, scene.maps[view], levels, colors=colours)
    axes.contour(scene.across, scene.along, scene.maps[view], [scene.loss], colors="0.35", linewidths=0.8)
    last = view == len(scene.maps) - 1
    axes.set(xlabel="along the way to where descent ends")
    axes.set_ylabel("along the softest direction" if view == 0 else "the two halves part" if last else "turning ...")
    curvature = f"{scene.curvatures[view]:+.4f}".replace("-", "\N{MINUS SIGN}")
    words = f"loss on a plane; blue: below F = {scene.loss:.4f}\ncurvature along the vertical axis: {curvature}"
    axes.set_title(words, fontsize=9, loc="left")
    axes.grid(visible=False)
    if last:
        end = scene.leaves.places[-1]
        axes.plot(*end, "*", color="#F0E442", markeredgecolor="black", markersize=14, zorder=4)
        look: dict[str, Any] = {"textcoords": "offset points", "color": "white", "fontsize": 9, "ha": "center"}
        axes.annotate("teacher, F = 0", end, (-10, 11), **look)
    axes.set_xticks([-0.5, 0.0, 0.5, 1.0, 1.5])
    axes.set(xlim=scene.across[[0, -1]], ylim=scene.along[[0, -1]])


def _eigenvalues(axes: Axes, values: np.ndarray, neurons: int) -> None:
    """Draw the lowest eigenvalues of the Hessian, negative ones as diamonds."""
    some = values[:14]
    places = np.arange(1, len(some) + 1)
    for low, colour, marker in ((True, SPURIOUS, "D"), (False, GLOBAL, "o")):
        mine = (some < -1e-9) == low
        axes.plot(places[mine], some[mine], marker, color=colour, markersize=4)
        axes.vlines(places[mine], 0, some[mine], color=colour, linewidth=1.5)
    axes.axhline(0, color="0.3", linewidth=0.8)
    axes.set(ylim=(-0.27, 0.17), xlim=(0.3, 14.7), xticks=[1, 5, 10])
    lowest = f"{values[0]:+.4f}".replace("-", "\N{MINUS SIGN}")
    axes.set_title(f"{neurons} neurons: lowest eigenvalues of\nthe Hessian, smallest {lowest}", fontsize=9, loc="left")


def _two_losses(axes: Axes, scene: SplitScene, first: int, second: int) -> None:
    """Draw the losses of both runs so far."""
    stays, leaves = scene.stays, scene.leaves
    axes.plot(stays.steps[: first + 1], stays.losses[: first + 1], color=GLOBAL, linewidth=1.8)
    if second >= 0:
        axes.plot(leaves.steps[: second + 1], leaves.losses[: second + 1], color=SPURIOUS, linewidth=1.8)
        axes.text(0.5 * stays.steps[-1], 0.003, "7 neurons", color=SPURIOUS, fontsize=9)
    axes.text(0.98 * stays.steps[-1], 0.0265, "6 neurons", color=GLOBAL, fontsize=9, ha="right")
    axes.set(xlim=(0, stays.steps[-1]), ylim=(-0.0008, 0.031), xlabel="step of gradient descent")
    axes.set_title("loss F", fontsize=9, loc="left")


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
        _loss_map(third, split, len(split.maps) - 1)
        third.plot(*split.leaves.places.T, color="black", linewidth=1.5)
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
    words = f"1. Found: where {runs} runs of gradient\ndescent end, k = n = {sweep.size}"
    axes.set_title(words, fontsize=10, loc="left")
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
