"""``es.plot``: what became of runs, and what a minimum looks like, in the house style.

Every function takes the axes to draw on, or none, and then makes a figure of pyplot, which a notebook shows; each returns
the axes. Numbers are computed by the rooms below (:mod:`earnshaw.experiments.views`); here they are only drawn.

A *point* is a family, a proof or a certificate: each knows its problem. A fit has its weights and its spectrum alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from earnshaw.errors import InputError
from earnshaw.plots.points import draw_matrix, draw_spectrum, signed
from earnshaw.plots.scenes import draw_slice, sized, split_panels
from earnshaw.plots.style import KINDS, canvas, on
from earnshaw.plots.sweeps import draw_histogram, draw_paths, draw_values, fates_of, floor_of
from earnshaw.plots.trails import draw_trails

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from earnshaw.descent import Trace
    from earnshaw.experiments import Fit, Followed, Runs, SweepResult, Target
    from earnshaw.experiments.views import Place
    from earnshaw.proof import Certificate, Proof
    from earnshaw.symmetry import Family

    Point = Family | Proof | Certificate | Target | Place

WRITTEN_IN_A_CARD = 7  # columns of a matrix up to which numbers have room in a narrow one
__all__ = ["compare", "draw", "follow", "histogram", "slice", "spectrum", "split", "trace", "weights"]


def histogram(runs: Runs, ax: Axes | None = None) -> Axes:
    """Draw at which losses runs end, in percent of all: the global minimum, other minima, neither.

    Losses are on a logarithmic scale where none is negative; those below a millionth of the largest are in the first bar.
    """
    _some(runs)
    with on(ax) as axes:
        draw_histogram(axes, runs.value, fates_of(runs))
        axes.set_title(f"Where {len(runs)} runs end, {sized(runs.problem)}", loc="left")
        if axes.get_legend_handles_labels()[0]:  # else every run diverged
            axes.legend(fontsize=9)
    return axes


def weights(point: Point | Fit, ax: Axes | None = None, *, numbers: bool = True) -> Axes:
    """Draw the weights of a point as colours, neurons as rows, in the order that shows their pattern.

    Up to 144 entries are written out, with two digits, unless ``numbers`` are not wanted.
    """
    from earnshaw.experiments.views import seen_of

    place = seen_of(point)
    matrix = np.atleast_2d(place.ordered())
    with on(ax, 1.6 + 0.5 * min(matrix.shape[1], 16), 1.4 + 0.34 * min(matrix.shape[0], 16)) as axes:
        draw_matrix(axes, matrix, None if numbers else {})
        axes.set(xlabel="coordinate")
        axes.set_title(f"Weights, {sized(place)}: loss {place.loss:.6f}", loc="left", fontsize=10)
    return axes


def spectrum(point: Point | Fit, ax: Axes | None = None, label: str | None = None) -> Axes:
    r"""Draw the eigenvalues of the Hessian at a point, ascending; :math:`\times m` stands at m equal ones.

    Negative ones are diamonds. ``label`` is for a legend, where several points are drawn on the same axes.
    """
    from earnshaw.experiments.views import Spectrum, seen_of

    found = Spectrum.at(seen_of(point))
    with on(ax) as axes:
        draw_spectrum(axes, found, label=label)
        levels = f"{len(found.levels)} distinct of {len(found.values)}"
        axes.set_title(f"Spectrum: smallest {signed(found.values[0], 6)}, {levels}", loc="left", fontsize=10)
    return axes


def slice(
    point: Point,
    towards: ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    directions: tuple[int, int] | None = None,
    run: Trace | None = None,
    reach: float | None = None,
    resolution: int = 61,
) -> Axes:
    """Draw the loss on a plane through a point, and gradient descent in all dimensions as its shadow on that plane.

    Blue is below the loss at the point, orange above it. The plane holds eigenvectors of the smallest eigenvalue of the
    Hessian and of the next one that differs (at a saddle: of the smallest positive one), or those at two places of the
    spectrum, the ``directions``; or, ``towards`` another point of the same shape, the way there. ``reach`` is how far the
    plane goes. A recorded ``run`` is drawn in place of a descent that starts on the plane.
    """
    from earnshaw.experiments.views import place_of, slice_of

    place = place_of(point)
    found = slice_of(place, towards, directions=directions, run=run, reach=reach, resolution=resolution)
    with on(ax, 5.2, 4.4) as axes:
        draw_slice(axes, found)
    return axes


def split(point: Point, neuron: int = 0, ax: Axes | None = None, *, resolution: int = 61) -> Axes:
    """Draw what splitting a neuron of a ReLU network in two halves opens: the loss with one neuron more, on a plane.

    The plane holds the direction in which the halves part with the most negative curvature, and where descent along it
    ends.
    """
    from earnshaw.experiments.scenes import split_scene
    from earnshaw.experiments.views import place_of

    place = place_of(point)
    scene = split_scene(type(place)(place.problem, place.ordered()), neuron, maps=1, resolution=resolution)
    with on(ax, 5.2, 4.4) as axes:
        split_panels(axes, scene, neuron)
    return axes


def trace(runs: Runs | SweepResult, ax: Axes | None = None) -> Axes:
    """Draw the loss of every run over its steps, and where it ends; what was recorded on the way is needed.

    It is there after ``es.sweep(..., trace=25)``, and in ``es.load(folder)["k6-n6"]`` after ``earnshaw sweep --trace 25``.
    """
    from earnshaw.experiments import scenes

    recorded = scenes.recorded(runs)
    ended: Any = getattr(runs, "runs", runs)
    _some(ended)
    low = floor_of(np.concatenate([recorded.value, ended.value]))
    with on(ax) as axes:
        for fate in fates_of(ended):
            paths = [_path(recorded, ended, int(lane)) for lane in np.flatnonzero(fate.mine)]
            if paths:
                draw_paths(axes, paths if low is None else [np.maximum(path, [0, low]) for path in paths], fate)
        if low is not None:
            axes.set_yscale("log")
        axes.autoscale_view()
        axes.set(xlabel="step", ylabel="loss F")
        axes.set_title(f"{len(ended)} runs on their way, {sized(ended.problem)}", loc="left")
        axes.legend(fontsize=9)
    return axes


def _path(recorded: Any, runs: Runs, lane: int) -> np.ndarray:
    """Return steps and losses (moments, 2) of a run, from its start to its end."""
    mine = recorded.run == runs.run[lane]
    steps = np.append(recorded.step[mine], runs.steps[lane])
    return np.column_stack([steps, np.append(recorded.value[mine], runs.value[lane])])


def compare(
    first: Runs, second: Runs, ax: Axes | None = None, *, labels: tuple[str, str] = ("first", "second")
) -> Axes:
    r"""Draw where two sweeps end: for each the share of runs that end at or below a loss.

    The title has both shares of spurious runs and the two-sample statistic
    :math:`z = (p_1 - p_2)/\sqrt{p(1-p)(1/m_1 + 1/m_2)}` of these.
    """
    from earnshaw.descent import Outcome
    from earnshaw.experiments.views import spurious_shares

    for runs in (first, second):
        _some(runs)
    shares, z = spurious_shares(first, second)
    with on(ax) as axes:
        curves = dict(zip(labels, (first.value, second.value), strict=True))
        stopped = any((runs.outcome == Outcome.GLOBAL.code).any() for runs in (first, second))
        draw_values(axes, curves, above=stopped)
        words = " and ".join("unknown" if share is None else f"{share:.1f}%" for share in shares)
        tested = "" if z is None else f", z = {signed(z, 2)}"
        axes.set_title(f"Where runs end; spurious {words}{tested}", loc="left", fontsize=10)
    return axes


def follow(followed: Followed, ax: Axes | None = None) -> Axes:
    """Draw the smallest eigenvalue of minima that were followed to another teacher, over t.

    A cross is where one ends on the way; dots are stations, filled where a minimum is proved.
    """
    with on(ax) as axes:
        draw_trails(axes, followed)
        axes.set_title(f"Minima on the way to another teacher: {followed._line()}", loc="left", fontsize=10)
        axes.legend(fontsize=9)
    return axes


def draw(
    point: Point, path: str | Path, *, towards: ArrayLike | None = None, neuron: int = 0, kinds: Sequence[str] = KINDS
) -> list[Path]:
    """Write a picture of a point as ``PATH.png``, ``PATH.svg`` and ``PATH.pdf``; return the files.

    Its panels: the weights, the spectrum, the loss on a plane, and for ReLU networks that sum their neurons the plane
    that one more neuron opens (the one at place ``neuron`` is split).
    """
    from earnshaw.experiments.scenes import splits
    from earnshaw.experiments.views import place_of

    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise InputError(f"a picture of the kind {unknown[0]!r} was asked for; use {', '.join(KINDS)}")
    place, path = place_of(point), Path(path)
    more = splits(place.problem)
    with canvas(path, *((11.0, 8.6) if more else (14.0, 4.4)), kinds) as figure:
        first, second, third, *rest = figure.subplots(*((2, 2) if more else (1, 3))).flat
        weights(place, first)
        spectrum(place, second)
        slice(place, towards, third)
        for fourth in rest:
            split(place, neuron, fourth)
    return [path.with_name(f"{path.name}.{kind}") for kind in kinds]


def card_figures(point: Point, path: Path) -> dict[str, Path]:
    """Write the weights and the spectrum of a point for a narrow column, as PNG; return the files by what they show."""
    from earnshaw.experiments.views import place_of

    place, files = place_of(point), {}
    few = place.weights.shape[-1] <= WRITTEN_IN_A_CARD
    for name, height in (("weights", 3.3), ("spectrum", 2.5)):
        with canvas(path.with_name(f"{path.name}-{name}"), 4.4, height, ("png",)) as figure:
            axes = figure.add_subplot()
            if name == "weights":
                weights(place, axes, numbers=few)
            else:
                spectrum(place, axes)
            axes.set_title("", loc="left")
        files[name] = path.with_name(f"{path.name}-{name}.png")
    return files


def _some(runs: Runs) -> None:
    if not len(runs):
        raise InputError("there are no runs to draw; give at least one")
