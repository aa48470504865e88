"""A point in pictures: its weights, the spectrum of its Hessian, the loss on a plane through it. Numbers in, axes drawn on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from earnshaw.plots.style import GLOBAL, SPURIOUS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from earnshaw.experiments.views import Spectrum

WRITTEN = 144  # entries of a matrix up to which each is written out
BELOW = ("#08519c", "#2b7bba", "#5ba3cf", "#8fc2de", "#bdd7ec", "#dbe9f6", "#eff5fb")
ABOVE = ("#fff7ec", "#fdebd0", "#fddcae", "#fdc68a", "#fcab63", "#f58f41", "#e5721f", "#c9560b")


def signed(value: float, digits: int, plus: bool = False) -> str:
    """Return a number with so many digits after the point, and a minus sign that is one."""
    return f"{round(float(value), digits) + 0.0:{'+' * plus}.{digits}f}".replace("-", "\N{MINUS SIGN}")


def draw_matrix(axes: Axes, weights: np.ndarray, texts: Mapping[tuple[int, int], str] | None = None) -> None:
    """Draw weights, neurons as rows, as colours with texts by row and column; if none are given, small ones as numbers."""
    limit = float(np.abs(weights).max()) or 1.0
    if texts is None:
        few = weights.size <= WRITTEN
        texts = {at: signed(value, 2) for at, value in np.ndenumerate(weights)} if few else {}
    image = axes.imshow(weights, cmap="RdBu_r", vmin=-limit, vmax=limit, aspect="auto")
    for (row, column), text in texts.items():
        colour = "white" if abs(weights[row, column]) > 0.55 * limit else "black"
        axes.text(column, row, text, ha="center", va="center", fontsize=8, color=colour)
    axes.grid(visible=False)
    for set_ticks, count in ((axes.set_yticks, weights.shape[0]), (axes.set_xticks, weights.shape[1])):
        some = range(0, count, -(-count // 20))
        set_ticks(some, [str(number + 1) for number in some])
    axes.set(ylabel="student neuron")
    axes.get_figure(root=True).colorbar(image, ax=axes, shrink=0.85, label="weight")  # type: ignore[union-attr]


def draw_spectrum(axes: Axes, spectrum: Spectrum, lowest: int | None = None, label: str | None = None) -> None:
    """Draw eigenvalues over their places, all or the lowest ones, negative ones as diamonds; equal ones have their number.

    The scale is logarithmic where all of them are shown and positive.
    """
    values = spectrum.values[:lowest]
    log = lowest is None and float(values.min()) > 0
    places = np.arange(1, len(values) + 1)
    for low, colour, marker in ((True, SPURIOUS, "D"), (False, GLOBAL, "o")):
        mine = (values < -1e-9) == low
        if mine.any():
            named = label if low == (values[0] < -1e-9) else None
            axes.plot(places[mine], values[mine], marker, color=colour, markersize=4, label=named)
        if not log:
            axes.vlines(places[mine], 0, values[mine], color=colour, linewidth=1.5)
    if log:
        axes.set_yscale("log")
    else:
        axes.axhline(0, color="0.3", linewidth=0.8)
    if lowest is None:
        begin, least = 1, max(2, len(values) / 25)
        for value, count in spectrum.levels:
            if count >= least:
                middle = begin + (count - 1) / 2
                offset: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "fontsize": 9, "color": "0.25"}
                axes.annotate(f"\N{MULTIPLICATION SIGN}{count}", (middle, value), (0, 5), **offset)
            begin += count
    axes.set(xlabel="direction, in order of curvature", ylabel="eigenvalue of the Hessian")


def draw_map(
    axes: Axes, across: np.ndarray, along: np.ndarray, values: np.ndarray, loss: float, all_values: Any
) -> None:
    """Draw the loss on a plane, blue below the loss at the centre and orange above it, in bands for the range of all values."""
    least, most = float(np.min(all_values)), float(np.max(all_values))
    below, above = max(loss - least, 1e-12), max(most - loss, 1e-12)
    levels = [*(loss - below * (1 - np.array([-1e-6, 0.08, 0.24, 0.44, 0.64, 0.82, 0.94]))), loss]
    levels += [*(loss + above * (np.arange(1, len(ABOVE) + 1) / len(ABOVE)) ** 2)]
    levels[0], levels[-1] = levels[0] - 1e-9, levels[-1] + 1e-9
    axes.contourf(across, along, values, levels, colors=[*BELOW, *ABOVE])
    if values.min() < loss < values.max():
        axes.contour(across, along, values, [loss], colors="0.35", linewidths=0.8)
    axes.grid(visible=False)
    axes.set(xlim=(across[0], across[-1]), ylim=(along[0], along[-1]))


def mark(axes: Axes, at: Any, words: str) -> None:
    """Draw a star with words over it: where a way leads."""
    axes.plot(*at, "*", color="#F0E442", markeredgecolor="black", markersize=14, zorder=4)
    look: dict[str, Any] = {"textcoords": "offset points", "fontsize": 9, "ha": "center"}
    box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "alpha": 0.7, "linewidth": 0}
    axes.annotate(words, at, (0, 11), bbox=box, **look)
