"""Figures of the atlas: loss, eigenvalues and radii of families against k, spectra with multiplicities, and the map of k and n."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from earnshaw.experiments import Atlas, AtlasMap, Status
from earnshaw.experiments.atlas import LIMITS
from earnshaw.plots.style import COLOURS, GLOBAL, PAPER_COLOUR, canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKS = ("o", "s", "^", "D", "v", "P", "X")
STATUS_COLOURS = {Status.PROVED: GLOBAL, Status.FOUND: COLOURS[1], Status.NOT_FOUND: "#D9D9D9"}
WITH_NAMES = 80  # sizes k up to which names have room on a map
DRAWN = 40  # sizes at which blocks are drawn


def atlas_figure(atlas: Atlas, path: Path) -> None:
    """Draw an atlas against k: the loss and the radii of all families, and of each the smallest eigenvalue of every block.

    Eigenvalues beyond 0.5, such as those that grow like k, are not in the picture.
    """
    curves = {name: atlas.columns(name) for name, points in atlas.points.items() if any(point.kind for point in points)}
    rows = (len(curves) + 1) // 2
    with canvas(path, 10.0, 4.2 + 3.3 * rows) as figure:
        grid = figure.add_gridspec(1 + rows, 2)
        loss, radii = figure.add_subplot(grid[0, 0]), figure.add_subplot(grid[0, 1])
        for colour, (name, curve) in zip(COLOURS, curves.items(), strict=False):
            k = curve["k"]
            loss.loglog(k, curve["objective"], color=colour, label=name)
            if name in LIMITS:
                words, value, power = LIMITS[name]
                loss.loglog(k, value / k**power, color=colour, linestyle=":", label=f"{name}: {words}")
            radii.loglog(k, curve["near"], color=colour, label=f"{name}: the point is within")
            known = np.isfinite(curve["far"])
            radii.loglog(k[known], curve["far"][known], color=colour, linestyle="--", label=f"{name}: no other within")
        loss.set(xlabel="k", ylabel="loss F", title="Loss at the critical point, and what it tends to")
        radii.set(xlabel="k", ylabel="distance (all weights)", title="Radii of the proofs")
        for axes in (loss, radii):
            axes.legend(fontsize=8)
            _plain(axes)
        for index, name in enumerate(curves):
            some = atlas.least_eigenvalues(name, DRAWN)
            axes = figure.add_subplot(grid[1 + index // 2, index % 2])
            for mark, colour, (block, (sizes, values)) in zip(MARKS, COLOURS, some.items(), strict=False):
                axes.semilogx(sizes, values, marker=mark, markersize=3, color=colour, label=block)
            axes.axhline(0.25 - 0.5 / np.pi, color=PAPER_COLOUR, linestyle=":", linewidth=1, label="1/4 - 1/(2 pi)")
            axes.axhline(0.0, color=PAPER_COLOUR, linewidth=0.8)
            axes.set(xlabel="k", ylabel="smallest eigenvalue", title=f"Family {name}: each block of the Hessian")
            least, most = (end(value for _, values in some.values() for value in values) for end in (min, max))
            axes.set_ylim(min(-0.01, 1.1 * least), min(0.5, 1.1 * most))
            axes.legend(fontsize=8, loc="center right", bbox_to_anchor=(1.0, 0.52))
            _plain(axes)


def _plain(axes: Axes) -> None:
    """Write the sizes on a logarithmic axis as they are."""
    from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(ScalarFormatter())
    axes.xaxis.set_minor_formatter(NullFormatter())


def spectrum_figure(spectra: Mapping[str, tuple[np.ndarray, np.ndarray]], path: Path) -> None:
    """Draw Hessian spectra, one below the other: each eigenvalue at its place, as high as the Hessian has it often.

    Up to 0.1 the axis is linear, beyond it logarithmic; eigenvalues that agree to 1e-9 count as one.
    """
    with canvas(path, 8.0, 0.8 + 2.2 * len(spectra)) as figure:
        axes = np.atleast_1d(figure.subplots(len(spectra), 1, sharex=True))
        for index, (name, (values, times)) in enumerate(spectra.items()):
            places, owner = np.unique(np.round(values, 9), return_inverse=True)
            counts, colour = np.bincount(owner, times), COLOURS[index % len(COLOURS)]
            axes[index].vlines(places, 0.7, counts, color=colour, linewidth=1.5)
            axes[index].plot(places, counts, "o", color=colour, markersize=4)
            axes[index].set(yscale="log", ylabel="multiplicity", title=name)
            axes[index].set_ylim(0.7, 2.0 * float(counts.max()))
        least = min(float(values.min()) for values, _ in spectra.values())
        most = max(float(values.max()) for values, _ in spectra.values())
        axes[-1].set_xscale("symlog", linthresh=0.1)
        axes[-1].set(xlabel="eigenvalue of the Hessian", xlim=(min(-0.005, 1.3 * least), 1.3 * most))
        for each in axes:
            each.axvline(0.0, color=PAPER_COLOUR, linewidth=0.8)


def map_figure(found: AtlasMap, path: Path) -> None:
    """Draw the cells that are computed at k and n - k, as :func:`draw_cells` does, as large as their number needs."""
    width, height = (int(ends.max() - ends.min()) + 1 for ends in _places(found))
    with canvas(path, 1.6 + min(30.0, 0.36 * max(width, 12)), 1.4 + min(24.0, 0.26 * max(height, 8))) as figure:
        draw_cells(figure.add_subplot(), found)


def draw_cells(axes: Axes, found: AtlasMap) -> None:
    """Draw a square for each (k, n): coloured by what is known of a spurious minimum, with the name of its family."""
    from matplotlib.patches import Rectangle

    (k, more), side = _places(found), 0.92
    for status, colour in STATUS_COLOURS.items():
        some = [cell for cell in found if cell.status is status]
        for cell in some:
            corner = (cell.k - side / 2, cell.n - cell.k - side / 2)
            axes.add_patch(Rectangle(corner, side, side, facecolor=colour, edgecolor="none"))
        axes.plot([], [], "s", color=colour, markersize=9, label=f"{status.value}: {len(some)}")
    for cell in found if np.ptp(k) <= WITH_NAMES else ():
        if cell.family is not None:
            look = {"ha": "center", "va": "center", "fontsize": 7 if len(cell.family) < 5 else 5, "color": "white"}
            axes.text(cell.k, cell.n - cell.k, cell.family, **look).set_in_layout(False)
    for ticks, ends in ((axes.set_xticks, k), (axes.set_yticks, more)):
        ticks(range(ends.min(), ends.max() + 1, 1 + int(np.ptp(ends)) // 40))
    axes.set(xlim=(k.min() - 0.8, k.max() + 0.8), ylim=(more.min() - 0.8, more.max() + 0.8))
    axes.set(xlabel="k, neurons of the teacher", ylabel="n - k, more neurons of the student")
    axes.set_title("Spurious minima and their families", fontsize=10)
    axes.grid(visible=False)
    axes.legend(loc="upper left")


def _places(found: AtlasMap) -> tuple[np.ndarray, np.ndarray]:
    k, more = np.array([(cell.k, cell.n - cell.k) for cell in found]).T
    return k, more
