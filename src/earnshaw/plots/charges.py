"""Figures of charges: potentials, trajectories (also moving), recovery, and the errors of deep students."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from earnshaw.plots.style import COLOURS, PAPER_COLOUR, figure
from earnshaw.store import write_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from earnshaw.experiments.dynamics import Trajectory

PROTON = COLOURS[5]


@dataclass(frozen=True)
class _View:
    """The plane in which charges are drawn: their first two principal directions."""

    centre: np.ndarray
    axes: np.ndarray

    @classmethod
    def of(cls, points: np.ndarray) -> _View:
        centre = points.mean(0)
        return cls(centre, np.linalg.svd(points - centre)[2][:2])

    def __call__(self, points: np.ndarray) -> np.ndarray:
        return (points - self.centre) @ self.axes.T


def _frame(axes: Axes, trajectory: Trajectory, view: _View, lines: bool) -> list[Any]:
    """Draw protons and the start, fix the limits, and return the electrons' artists."""
    path = view(trajectory.positions)
    protons = view(trajectory.problem.protons)
    sizes = 60 + 120 * np.abs(trajectory.problem.proton_charges)
    axes.scatter(*protons.T, s=sizes, marker="+", color=PROTON, linewidths=2, zorder=2, label="proton (fixed)")
    axes.scatter(*path[0].T, s=16, facecolors="none", edgecolors="grey", zorder=1, label="start")
    artists = []
    for i in range(path.shape[1]):
        colour = COLOURS[i % 5]
        if lines:
            axes.plot(*path[:, i].T, color=colour, linewidth=1.4, zorder=3)
        artists += axes.plot(*path[-1 if lines else 0, i].T, "o", color=colour, markersize=6, zorder=4)
    everything = np.concatenate([path.reshape(-1, 2), protons])
    low, high = everything.min(0), everything.max(0)
    margin = 0.08 * (high - low).max() + 1e-9
    axes.set(
        xlim=(low[0] - margin, high[0] + margin),
        ylim=(low[1] - margin, high[1] + margin),
        xlabel="first principal direction",
        ylabel="second principal direction",
    )
    axes.set_aspect("equal")
    return artists


def _title(trajectory: Trajectory) -> str:
    problem = trajectory.problem
    reached = f"{len(trajectory.captures)} of {problem.electrons} electrons on a proton"
    return f"{problem.law.name}, d = {problem.dimension}: {reached}"


def trajectory_figure(trajectory: Trajectory, path: Path) -> None:
    """Draw the paths of all electrons, and the protons that they reach."""
    view = _View.of(np.concatenate([trajectory.positions[0], trajectory.problem.protons]))
    with figure(path, width=6.4, height=5.4) as (_, axes):
        _frame(axes, trajectory, view, lines=True)
        axes.plot([], [], "o", color=COLOURS[0], label="electron at the end, with its path")
        axes.set_title(_title(trajectory))
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncol=3, fontsize=9)


def energy_figure(trajectory: Trajectory, path: Path) -> None:
    """Draw the loss over time, with a mark where an electron reaches a proton."""
    with figure(path) as (_, axes):
        later = trajectory.times > 0
        axes.plot(trajectory.times[later], trajectory.energies[later], color=COLOURS[0])
        for capture in trajectory.captures:
            axes.axvline(capture.time, color=PROTON, linewidth=0.8, linestyle="--")
        axes.set(xscale="log", xlabel="time", ylabel="loss L", title="The loss; dashed: an electron reaches a proton")


def animate(trajectory: Trajectory, path: Path, frames: int = 90, per_second: int = 20) -> None:
    """Write the motion as a GIF, whole or not at all; frames follow the distance travelled, not the time.

    Forces fall off exponentially, so most of the time nothing seems to move.
    """
    from matplotlib.animation import FuncAnimation, PillowWriter
    from matplotlib.figure import Figure as NewFigure

    moved = np.linalg.norm(np.diff(trajectory.positions, axis=0), axis=-1).sum(1)
    travelled = np.concatenate([[0.0], np.cumsum(moved)])
    places = np.linspace(0.0, travelled[-1], frames)
    index = np.minimum(np.searchsorted(travelled, places, side="right"), len(travelled) - 1)
    before = np.maximum(index - 1, 0)
    width = np.where(travelled[index] > travelled[before], travelled[index] - travelled[before], 1.0)
    share = np.clip((places - travelled[before]) / width, 0.0, 1.0)
    shown = trajectory.positions[before] + share[:, None, None] * (
        trajectory.positions[index] - trajectory.positions[before]
    )
    times = trajectory.times[before] + share * (trajectory.times[index] - trajectory.times[before])

    view = _View.of(np.concatenate([trajectory.positions[0], trajectory.problem.protons]))
    drawn = view(shown)
    canvas = NewFigure(figsize=(5.2, 5.0))
    axes = canvas.add_axes((0.13, 0.11, 0.84, 0.81))
    artists = _frame(axes, trajectory, view, lines=False)
    tails = [axes.plot([], [], color=artist.get_color(), linewidth=1.2, alpha=0.6)[0] for artist in artists]
    captured = {c.electron: c.time for c in trajectory.captures}

    def draw(frame: int) -> list[Any]:
        for i, (artist, tail) in enumerate(zip(artists, tails, strict=True)):
            artist.set_data(drawn[frame : frame + 1, i, 0], drawn[frame : frame + 1, i, 1])
            tail.set_data(drawn[: frame + 1, i, 0], drawn[: frame + 1, i, 1])
        reached = sum(time <= times[frame] * (1 + 1e-9) for time in captured.values())
        axes.set_title(f"{trajectory.problem.law.name}: time {times[frame]:.3g}, {reached} reached", fontsize=10)
        return [*artists, *tails]

    movie = FuncAnimation(canvas, draw, frames=[*range(frames), *[frames - 1] * (per_second // 2)], blit=False)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "movie.gif"
        movie.save(target, writer=PillowWriter(fps=per_second), dpi=90)
        write_bytes(path.with_suffix(".gif"), target.read_bytes())


def potential_figure(curves: Mapping[str, tuple[np.ndarray, np.ndarray]], radius: float, path: Path) -> None:
    """Draw potentials over the distance; outside the dotted line they are exactly lambda-harmonic."""
    with figure(path) as (_, axes):
        for index, (label, (distance, value)) in enumerate(curves.items()):
            axes.plot(distance, value, label=label, linestyle=("-", "--", "-.", ":")[index % 4], linewidth=1.8)
        axes.axvline(radius, color="grey", linestyle=":", linewidth=1)
        axes.set(
            xlabel="distance r", ylabel="potential", ylim=(0, 1.05), title="Potentials; dotted: radius of the ball"
        )
        axes.legend()


@dataclass(frozen=True)
class Bars:
    """One bar of a chart: a label, the share in percent, and its 95% interval."""

    label: str
    percent: float
    interval: tuple[float, float]


def share_figure(groups: Mapping[str, Sequence[Bars]], title: str, path: Path) -> None:
    """Draw shares in percent, with intervals, one colour a group; all groups have the same labels."""
    labels = [bar.label for bar in next(iter(groups.values()))]
    with figure(path, width=max(6.0, 1.5 + 0.55 * len(labels))) as (_, axes):
        width = 0.8 / len(groups)
        for index, (name, bars) in enumerate(groups.items()):
            places = np.arange(len(bars)) + (index - 0.5 * (len(groups) - 1)) * width
            heights = np.array([bar.percent for bar in bars])
            low, high = np.array([bar.interval for bar in bars]).T
            spread = [np.maximum(heights - low, 0), np.maximum(high - heights, 0)]
            axes.bar(places, heights, width, color=COLOURS[index], alpha=0.8, label=name)
            axes.errorbar(places, heights, yerr=spread, fmt="none", ecolor="dimgrey", capsize=2, linewidth=1)
        axes.set_xticks(np.arange(len(labels)), [label.replace(", ", "\n") for label in labels], fontsize=8)
        axes.grid(visible=False, axis="x")
        axes.set(ylabel="instances (%)", ylim=(0, 105), title=title)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncol=len(groups))


def width_figure(
    ours: Mapping[int, Sequence[tuple[int, float, float]]],
    printed: Mapping[int, Sequence[tuple[int, float]]],
    note: str,
    path: Path,
) -> None:
    """Draw the test error over the width, a colour for each depth: ours (width, mean, error), and the printed in black.

    ``note`` says how ours were trained, below the axis.
    """
    styles = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
    with figure(path, width=7.4, height=4.6) as (_, axes):
        for index, (depth, rows) in enumerate(sorted(ours.items())):
            width, mean, error = np.array(rows).T
            axes.errorbar(
                width, mean, yerr=error, marker="o", capsize=3, color=COLOURS[index % 7], label=f"depth {depth}, ours"
            )
            if depth in printed:
                width, value = np.array(printed[depth]).T
                axes.plot(
                    width,
                    value,
                    marker="D",
                    markersize=4,
                    color=PAPER_COLOUR,
                    linestyle=styles[index % 5],
                    linewidth=1,
                    label=f"depth {depth}, printed",
                )
        axes.set(
            xlabel=f"width\n{note}",
            ylabel="mean squared test error",
            xscale="log",
            title="Students of deep tanh teachers",
        )
        everyone = [*ours.values(), *printed.values()]
        ticks = sorted({int(row[0]) for rows in everyone for row in rows})
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
        axes.minorticks_off()
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)


def training_figure(curves: Mapping[str, tuple[np.ndarray, np.ndarray]], limit: float, path: Path) -> None:
    """Draw test errors (steps, mean) during training, and a black line at the printed limit."""
    with figure(path) as (_, axes):
        for label, (steps, error) in curves.items():
            axes.plot(steps, error, label=label)
        axes.axhline(limit, color=PAPER_COLOUR, linestyle="--", linewidth=1, label=f"printed: under {limit:g}")
        axes.set(
            yscale="log", xlabel="steps", ylabel="mean squared test error", title="Depth 2: students of tanh teachers"
        )
        axes.legend()
