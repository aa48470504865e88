"""Scenes of sweeps and of a neuron that is added, moving, and in one picture: minima are found, proved, and understood."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from earnshaw.plots.points import draw_map, draw_matrix, draw_spectrum, mark, signed
from earnshaw.plots.style import GLOBAL, PAPER_COLOUR, SPURIOUS, Progress, canvas, common_style, unseen, write_movie
from earnshaw.plots.sweeps import draw_histogram, draw_paths, fates, floor_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from earnshaw.experiments.scenes import SplitScene, SweepScene
    from earnshaw.experiments.views import Fitted, Place, Slice
    from earnshaw.problems import Problem

SIZE = (7.6, 4.2)  # inches; 684 pixels wide
LINES = 40  # edges of the bars of a film's histogram
LOWEST = 14  # eigenvalues that are shown beside a split neuron


def sized(given: Problem | Place | Fitted) -> str:
    """Return the sizes of a problem, a point or a fit as titles say them: k = 10, n = 10."""
    return ", ".join(f"{name} = {size:g}" for name, size in given.sizes.items() if name != "d")


def sweep_movie(
    scene: SweepScene, path: Path, frames: int = 90, printed: float | None = None, progress: Progress = unseen
) -> None:
    """Show runs coming to rest, and the histogram of their last losses filling up; and a paper's percentage, where one is given."""
    from matplotlib.figure import Figure

    runs = len(scene.last)
    edges, scale = _edges(scene)
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
        more = f" ({scene.lost} more diverged)" if scene.lost else ""
        figure.suptitle(f"{runs} random starts{more}, {sized(scene.problem)}", fontsize=11, y=0.975)

        def draw(frame: int) -> None:
            now = moments[frame]
            resting = scene.last <= now
            for axes in (curves, bars, share):
                axes.clear()
            _loss_curves(curves, scene, shown, now)
            curves.set_yscale(scale)
            curves.set_ylim(edges[0], edges[-1])
            _filling(bars, shown[now], resting, scene, edges, highest)
            _share(share, resting, scene, printed)

        write_movie(figure, draw, frames, path, still=-1, progress=progress)


def _edges(scene: SweepScene) -> tuple[np.ndarray, str]:
    """Return the edges of the bars, from the least loss at an end to the middle one at a start, and which scale suits them."""
    ends = scene.values[-1]
    low, top = floor_of(ends), max(2 * float(ends.max()), float(np.median(scene.values[0])))
    if low is None:
        least = float(ends.min())
        return np.linspace(least - 0.05 * (top - least), top, LINES), "linear"
    return np.geomspace(0.8 * low, top, LINES), "log"


def _loss_curves(axes: Axes, scene: SweepScene, shown: np.ndarray, now: int) -> None:
    resting = scene.last <= now
    for fate in fates(resting & scene.spurious, resting & scene.found)[::-1]:
        lanes = np.flatnonzero(fate.mine)
        ends = np.minimum(scene.last[lanes], now) + 1
        paths = [np.column_stack([scene.steps[:end], shown[:end, lane]]) for lane, end in zip(lanes, ends, strict=True)]
        draw_paths(axes, paths, fate)
    axes.set(xlim=(0, 1.02 * scene.steps[-1]), xlabel="step", ylabel="loss F")
    axes.set_title("each run: its loss, and where it is stopped", fontsize=9, loc="left")


def _filling(
    axes: Axes, values: np.ndarray, resting: np.ndarray, scene: SweepScene, edges: np.ndarray, highest: float
) -> None:
    right = 1.08 * highest
    for fate in fates(resting & scene.spurious, resting & scene.found)[:2]:
        counts = np.histogram(values[fate.mine], edges)[0] / len(values) * 100
        style: dict[str, Any] = {"color": fate.colour, "alpha": 0.85, "align": "edge", "edgecolor": "white"}
        label = f"{fate.label}: {100 * fate.mine.mean():.1f}%"
        axes.barh(edges[:-1], counts, np.diff(edges), linewidth=0, hatch=fate.hatch, label=label, **style)
    for level in _apart(scene.levels, edges):
        if np.isclose(values[resting & scene.spurious], level, rtol=1e-6).any():
            axes.axhline(level, color=SPURIOUS, linewidth=0.8, linestyle="--", zorder=0)
            words: dict[str, Any] = {"textcoords": "offset points", "color": SPURIOUS, "fontsize": 9, "ha": "right"}
            axes.annotate(f"F = {level:.4f}", (right, level), (0, 3), **words)
    axes.tick_params(labelleft=False)
    axes.set(xlim=(0, 1.1 * highest), xlabel="runs (%)")
    axes.legend(loc="upper right", fontsize=9)
    axes.set_title("histogram of the last losses", fontsize=9, loc="left")


def _apart(levels: Sequence[float], edges: np.ndarray) -> list[float]:
    """Return the first levels that have room for their numbers: three bars from each other at least."""
    chosen: list[float] = []
    for level in levels:
        places = np.searchsorted(edges, [*chosen, level])
        if np.all(np.abs(places[:-1] - places[-1]) > 2):
            chosen.append(level)
    return chosen


def _share(axes: Axes, resting: np.ndarray, scene: SweepScene, printed: float | None) -> None:
    """Draw the shares of all runs: at other minima from the left, at the global one from the right."""
    bad, good = 100 * np.mean(resting & scene.spurious), 100 * np.mean(resting & scene.found)
    axes.barh([0], [bad], 1.0, color=SPURIOUS, alpha=0.85, hatch="///", edgecolor="white", linewidth=0)
    axes.barh([0], [100 - bad - good], 1.0, left=[bad], color="0.9")
    axes.barh([0], [good], 1.0, left=[100 - good], color=GLOBAL, alpha=0.85)
    words = f"at other minima {bad:.1f}%, at the global one {good:.1f}% of all runs"
    if printed is not None:
        words += f"; black line: {printed:g}% in the paper"
        axes.axvline(printed, color=PAPER_COLOUR, linewidth=2.2)
    axes.set(xlim=(0, 100), ylim=(-0.5, 0.5), yticks=[])
    axes.set_title(words, fontsize=9, loc="left", pad=4)
    axes.grid(visible=False)
    axes.tick_params(axis="x", labelsize=8, pad=1, length=2)


def slice_movie(scene: Slice, path: Path, frames: int = 60, progress: Progress = unseen) -> None:
    """Show gradient descent on the plane through a point, and its loss."""
    from matplotlib.figure import Figure

    run = scene.path
    travelled = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(run.places, axis=0), axis=1)))
    moments = np.searchsorted(travelled, np.linspace(0, travelled[-1], frames)).clip(0, len(travelled) - 1)
    moments[-1] = len(run.steps) - 1
    with common_style():
        figure = Figure(figsize=SIZE)
        plane = figure.add_axes((0.12, 0.125, 0.43, 0.74))
        losses = figure.add_axes((0.655, 0.125, 0.315, 0.74))

        def draw(frame: int) -> None:
            now = moments[frame]
            plane.clear()
            losses.clear()
            draw_slice(plane, scene, now)
            losses.plot(run.steps[: now + 1], run.losses[: now + 1], color=GLOBAL, linewidth=1.8)
            losses.axhline(scene.loss, color="0.3", linewidth=0.8)
            room = 0.08 * float(np.ptp([*run.losses, scene.loss])) or 1e-3
            bottom, top = min(run.losses.min(), scene.loss) - room, max(run.losses.max(), scene.loss) + room
            losses.set(xlim=(0, run.steps[-1]), ylim=(bottom, top), xlabel="step of gradient descent")
            losses.set_title(f"loss F; thin line: at the point, {scene.loss:.6g}", fontsize=9, loc="left")

        write_movie(figure, draw, frames, path, still=-1, progress=progress)


def draw_slice(axes: Axes, found: Slice, now: int | None = None) -> None:
    """Draw the loss on a plane through a point, and the shadow of gradient descent on it, up to a moment if one is given."""
    draw_map(axes, found.across, found.along, found.values, found.loss, found.values)
    trail = found.path.places if now is None else found.path.places[: now + 1]
    axes.plot(*trail.T, color="black", linewidth=1.2)
    axes.plot(*trail[0], "o", color="white", markeredgecolor="black", markersize=6)
    axes.plot(*(0, 0) if now is None else trail[-1], "o", color="black", markersize=7)
    if found.target is not None:
        mark(axes, found.target, "the other point")
    axes.set(xlabel=found.labels[0], ylabel=found.labels[1])
    words = f"Loss on a plane; blue: below F = {found.loss:.6f}"
    axes.set_title(f"{words}\nline: gradient descent, seen from above", loc="left", fontsize=10)


def saddle_movie(scene: SplitScene, path: Path, frames: int = 96, progress: Progress = unseen) -> None:
    """Show a minimum of n neurons, the plane turning to the direction that one more opens, and the way out."""
    from matplotlib.figure import Figure

    acts = _acts(scene, frames)
    with common_style():
        figure = Figure(figsize=SIZE)
        plane = figure.add_axes((0.12, 0.125, 0.43, 0.69))
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
            _eigenvalues(spectrum, scene, added)
            first = len(scene.stays.steps) - 1 if added else moment
            _two_losses(losses, scene, first, moment if run is scene.leaves else -1)
            title.set_text(words)

        write_movie(figure, draw, frames, path, still=-1, progress=progress)


def _acts(scene: SplitScene, frames: int) -> list[tuple[str, int, Any, int]]:
    """Return for each frame the words, the map, the run that is shown, and its moment."""
    first = second = frames // 4
    rest = len(scene.stays.steps) - 1
    n, low = scene.neurons, -1e-9
    home = "a minimum: descent after a push comes back" if scene.before[0] > low else "a saddle already"
    stays = f"{n} neurons, {home}"
    saddle = scene.after[0] < low
    opens = f"One neuron is split in two, the loss stays: {'a direction opens that goes down' if saddle else 'no direction goes down'}"
    found = "finds the teacher" if scene.leaves.losses[-1] < 1e-3 * scene.loss else "goes further down"
    leaves = f"{n + 1} neurons, " + (f"a saddle: descent leaves, and {found}" if saddle else "and still no way down")
    acts: list[tuple[str, int, Any, int]] = []
    acts += [(stays, 0, scene.stays, int(rest * (i / (first - 1)) ** 2)) for i in range(first)]
    views = np.linspace(0, len(scene.maps) - 1, second + 1)[1:].astype(int)
    acts += [(opens, max(1, int(view)), None, rest) for view in views]
    leaving = np.linspace(0, 0.72 * (len(scene.leaves.steps) - 1), frames - first - second).astype(int)
    return acts + [(leaves, len(scene.maps) - 1, scene.leaves, int(moment)) for moment in leaving]


def _loss_map(axes: Axes, scene: SplitScene, view: int) -> None:
    """Draw the loss on the plane: blue below the loss at the centre, orange above it."""
    draw_map(axes, scene.across, scene.along, scene.maps[view], scene.loss, scene.maps)
    last = view == len(scene.maps) - 1
    axes.set(xlabel="along the way to where descent ends")
    axes.set_ylabel("the two halves part" if last else "along the softest direction" if view == 0 else "turning ...")
    curvature = signed(scene.curvatures[view], 4, plus=True)
    words = f"loss on a plane; blue: below F = {scene.loss:.4f}\ncurvature along the vertical axis: {curvature}"
    axes.set_title(words, fontsize=9, loc="left")
    if last:
        end = scene.leaves.losses[-1]
        mark(axes, scene.leaves.places[-1], "teacher, F = 0" if end < 1e-3 * scene.loss else f"F = {end:.4f}")


def split_panels(axes: Axes, scene: SplitScene, neuron: int) -> None:
    """Draw the plane that a split neuron opens, and the way out."""
    _loss_map(axes, scene, len(scene.maps) - 1)
    axes.plot(*scene.leaves.places.T, color="black", linewidth=1.5)
    axes.plot(0, 0, "o", color="black", markersize=7)
    fate = "a saddle" if scene.after[0] < -1e-9 else "still no way down"
    words = f"Neuron {neuron + 1} split in two: {fate} (blue: lower);\nsmallest eigenvalue {signed(scene.after[0], 4)}"
    axes.set_title(words, fontsize=10, loc="left")


def _eigenvalues(axes: Axes, scene: SplitScene, added: bool) -> None:
    """Draw the lowest eigenvalues of the Hessian, before or after the split, on one scale."""
    from earnshaw.experiments.views import Spectrum

    shown = np.concatenate([scene.before[:LOWEST], scene.after[:LOWEST]])
    values = scene.after if added else scene.before
    draw_spectrum(axes, Spectrum(values), lowest=LOWEST)
    room = 0.12 * float(np.ptp(shown))
    axes.set(ylim=(shown.min() - room, shown.max() + room), xlim=(0.3, LOWEST + 0.7), xticks=[1, 5, 10])
    axes.set(xlabel="", ylabel="")
    words = f"{scene.neurons + added} neurons: lowest eigenvalues of\nthe Hessian, smallest {signed(values[0], 4, plus=True)}"
    axes.set_title(words, fontsize=9, loc="left")


def _two_losses(axes: Axes, scene: SplitScene, first: int, second: int) -> None:
    """Draw the losses of both runs so far."""
    stays, leaves = scene.stays, scene.leaves
    axes.plot(stays.steps[: first + 1], stays.losses[: first + 1], color=GLOBAL, linewidth=1.8)
    if second >= 0:
        axes.plot(leaves.steps[: second + 1], leaves.losses[: second + 1], color=SPURIOUS, linewidth=1.8)
        axes.text(0.5 * stays.steps[-1], 0.1 * scene.loss, f"{scene.neurons + 1} neurons", color=SPURIOUS, fontsize=9)
    words = f"{scene.neurons} neurons"
    axes.text(0.98 * stays.steps[-1], 1.05 * scene.loss, words, color=GLOBAL, fontsize=9, ha="right")
    top = 1.05 * max(float(stays.losses.max()), 1.15 * scene.loss)
    axes.set(xlim=(0, stays.steps[-1]), ylim=(-0.03 * top, top), xlabel="step of gradient descent")
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
        _matrix(second, minimum)
        split_panels(third, split, 0)
        words = "3. Understood: one neuron split in two\nmakes it a saddle (blue: lower)"
        third.set_title(words, fontsize=10, loc="left")


def _histogram(axes: Axes, sweep: SweepScene, printed: float) -> None:
    draw_histogram(axes, sweep.values[-1], fates(sweep.spurious, sweep.found))
    axes.set_ylim(0, 1.4 * axes.get_ylim()[1])  # room for the legend
    axes.plot([], [], "D", color=PAPER_COLOUR, markersize=4, label=f"spurious, in the paper: {printed:g}%")
    words = f"1. Found: where {len(sweep.spurious)} runs of gradient\ndescent end, {sized(sweep.problem)}"
    axes.set_title(words, fontsize=10, loc="left")
    axes.legend(loc="upper right", fontsize=9)


def _matrix(axes: Axes, minimum: ProvedMinimum) -> None:
    weights = minimum.weights
    draw_matrix(axes, weights)
    axes.set(xlabel="coordinate (teacher neurons are unit vectors)")
    loss, curvature = down(minimum.loss_ge), down(minimum.eigenvalue_ge)
    words = f"2. Proved (k = n = {len(weights)}): loss at least {loss},\ncurvature at least {curvature}, alone within {down(minimum.alone_within)}"
    axes.set_title(words, fontsize=10, loc="left")


def down(value: float) -> str:
    """Return a proved lower bound with five digits after the point, rounded to the safe side."""
    return f"{math.floor(value * 1e5) / 1e5:.5f}"
