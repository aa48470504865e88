"""Figures of charges: potentials, and trajectories, also moving."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from earnshaw.plots.style import COLOURS, DOTS_AN_INCH, Progress, common_style, figure, unseen, write_movie

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from earnshaw.experiments.dynamics import Trajectory

PROTON = COLOURS[5]


def plane_of_spread(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the centre (d,) of points (m, d) and two orthonormal directions (2, d) in which they are spread most."""
    centre = points.mean(0)
    return centre, np.linalg.svd(points - centre)[2][:2]


def _view(trajectory: Trajectory) -> Callable[[np.ndarray], np.ndarray]:
    """Return the projection to the plane in which charges are drawn: that of the most spread at the start."""
    centre, directions = plane_of_spread(np.concatenate([trajectory.positions[0], trajectory.problem.protons]))
    return lambda places: (places - centre) @ directions.T


def _frame(axes: Axes, trajectory: Trajectory, lines: bool) -> list[Any]:
    """Draw protons and the start, fix the limits, and return the electrons' artists."""
    view = _view(trajectory)
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
    axes.set(xlim=(low[0] - margin, high[0] + margin), ylim=(low[1] - margin, high[1] + margin))
    axes.set(xlabel="first principal direction", ylabel="second principal direction")
    axes.set_aspect("equal")
    return artists


def trajectory_figure(trajectory: Trajectory, path: Path) -> None:
    """Draw the paths of all electrons, and the protons that they reach."""
    with figure(path, width=6.4, height=5.4) as (_, axes):
        _frame(axes, trajectory, lines=True)
        axes.plot([], [], "o", color=COLOURS[0], label="electron at the end, with its path")
        problem = trajectory.problem
        reached = f"{len(trajectory.captures)} of {problem.electrons} electrons on a proton"
        axes.set_title(f"{problem.law.name}, d = {problem.dimension}: {reached}")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncol=3, fontsize=9)


def energy_figure(trajectory: Trajectory, path: Path) -> None:
    """Draw the loss over time, with a mark where an electron reaches a proton."""
    with figure(path) as (_, axes):
        later = trajectory.times > 0
        if later.any():
            axes.set_xscale("log")
            axes.plot(trajectory.times[later], trajectory.energies[later], color=COLOURS[0])
        else:  # all began on their protons
            axes.plot(trajectory.times, trajectory.energies, "o", color=COLOURS[0])
        for capture in trajectory.captures:
            axes.axvline(capture.time, color=PROTON, linewidth=0.8, linestyle="--")
        axes.set(xlabel="time", ylabel="loss L", title="The loss; dashed: an electron reaches a proton")
        axes.set_ylim(*_limits(trajectory.energies, trajectory.problem.law.bounded))
        if trajectory.captures and not trajectory.problem.law.bounded:
            axes.set_xlabel("time (after a capture: the energy of the charges that are left)")


def animate(
    trajectory: Trajectory,
    path: Path,
    frames: int = 90,
    still: int | None = None,
    progress: Progress = unseen,
    dots: int = DOTS_AN_INCH,
) -> None:
    """Write the motion, and the loss beside it, as a GIF, and the frame ``still``, where given, as PNG; it is 7.6 inches wide.

    Frames follow the distance travelled, not the time: forces fall off exponentially, so most of the time nothing seems
    to move.
    """
    from matplotlib.figure import Figure

    shown, times, losses = moments(trajectory, frames)
    drawn = _view(trajectory)(shown)
    problem = trajectory.problem
    captured = np.array([capture.time for capture in trajectory.captures])
    with common_style():
        figure = Figure(figsize=(7.6, 4.2))
        axes = figure.add_axes((0.1, 0.125, 0.49, 0.765))
        artists = _frame(axes, trajectory, lines=False)
        _fill(axes, 0.49 * 7.6 / (0.765 * 4.2))
        tails = [axes.plot([], [], color=artist.get_color(), linewidth=1.2, alpha=0.6)[0] for artist in artists]
        axes.plot([], [], "o", color=COLOURS[0], markersize=6, label="electron (moves)")
        figure.legend(*axes.get_legend_handles_labels(), loc="upper left", bbox_to_anchor=(0.665, 0.49), fontsize=9)
        words = "A student neuron is an electron,\na teacher neuron a proton,\nand the loss their energy."
        figure.text(0.685, 0.13, words, fontsize=9, color="0.3")
        energy = figure.add_axes((0.69, 0.57, 0.285, 0.32))
        energy.set(xlabel="distance travelled by all", xlim=(0, frames - 1), xticks=[], ylabel="loss")
        energy.set_ylim(*_limits(losses, problem.law.bounded))
        (curve,) = energy.plot([], [], color=COLOURS[0])
        place = "" if problem.dimension == 2 else f", d = {problem.dimension}, drawn in a plane"
        axes.set_title(f"{problem.law.name} charges{place}", fontsize=10, loc="left")

        def draw(frame: int) -> None:
            for i, (artist, tail) in enumerate(zip(artists, tails, strict=True)):
                artist.set_data(drawn[frame : frame + 1, i, 0], drawn[frame : frame + 1, i, 1])
                tail.set_data(drawn[: frame + 1, i, 0], drawn[: frame + 1, i, 1])
            curve.set_data(np.arange(frame + 1), losses[: frame + 1])
            reached = int((captured <= times[frame] * (1 + 1e-9)).sum())
            words = f"time {times[frame]:.3g}\n{reached} of {problem.electrons} electrons on a proton"
            energy.set_title(words, fontsize=10, loc="left")

        write_movie(figure, draw, frames, path, still, progress, dots)


def _limits(losses: np.ndarray, bounded: bool) -> tuple[float, float]:
    """Return the limits of an axis of losses; under an unbounded law without the dives of pairs that are about to touch."""
    finite = losses[np.isfinite(losses)]
    low, high = min(0.0, finite.min()) if bounded else np.quantile(finite, 0.03), finite.max()
    room = 0.05 * max(high - low, 1e-12)
    return float(low - room), float(high + room)


def _fill(axes: Axes, shape: float) -> None:
    """Widen the shorter side of the limits until width : height is this shape, so that equal scales fill the panel."""
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    width, height = max(right - left, shape * (top - bottom)), max(top - bottom, (right - left) / shape)
    axes.set_xlim((left + right - width) / 2, (left + right + width) / 2)
    axes.set_ylim((bottom + top - height) / 2, (bottom + top + height) / 2)


def moments(trajectory: Trajectory, frames: int, within: float = np.inf) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return positions (frames, n, d), times and losses at equal distances of travel, between stored times by a line.

    Travel counts while coordinates are ``within`` this size: charges that nothing attracts fly away for ever.
    """
    moved = np.linalg.norm(np.diff(np.clip(trajectory.positions, -within, within), axis=0), axis=-1).sum(1)
    travelled = np.concatenate([[0.0], np.cumsum(moved)])
    places = np.linspace(0.0, travelled[-1], frames)
    index = np.minimum(np.searchsorted(travelled, places, side="right"), len(travelled) - 1)
    before = np.maximum(index - 1, 0)
    width = np.where(travelled[index] > travelled[before], travelled[index] - travelled[before], 1.0)
    share = np.clip((places - travelled[before]) / width, 0.0, 1.0)

    def between(values: np.ndarray) -> np.ndarray:
        weight = share.reshape(-1, *(1,) * (values.ndim - 1))
        return values[before] + weight * (values[index] - values[before])

    return between(trajectory.positions), between(trajectory.times), between(trajectory.energies)


def potential_figure(curves: Mapping[str, tuple[np.ndarray, np.ndarray]], radius: float, path: Path) -> None:
    """Draw potentials over the distance; outside the dotted line they are exactly lambda-harmonic."""
    with figure(path) as (_, axes):
        for index, (label, (distance, value)) in enumerate(curves.items()):
            axes.plot(distance, value, label=label, linestyle=("-", "--", "-.", ":")[index % 4], linewidth=1.8)
        axes.axvline(radius, color="grey", linestyle=":", linewidth=1)
        axes.set(xlabel="distance r", ylabel="potential", ylim=(0, 1.05))
        axes.set_title("Potentials; dotted: radius of the ball")
        axes.legend()
