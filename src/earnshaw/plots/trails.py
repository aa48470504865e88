"""Minima along a path of teachers: the smallest eigenvalue and the loss over t, where trails end, what is proved."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from earnshaw.plots.style import COLOURS, SPURIOUS, canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from earnshaw.experiments.follow import Followed


def draw_trails(axes: Axes, followed: Followed, quantity: str = "least") -> None:
    """Draw a number (``least`` or ``value``) of every trail over t: a cross where it ends on the way, a dot at a station,
    filled where a minimum is proved."""
    named: set[str] = set()
    for trail in followed.trails:
        if not len(trail.t):
            continue
        colour, family = COLOURS[trail.source % len(COLOURS)], trail.name.partition(",")[0]
        label = None if family in named else family
        named.add(family)
        axes.plot(trail.t, getattr(trail, quantity), color=colour, linewidth=1.6, label=label)
        for proved in (True, False):
            some = [station for station in trail.stations if station.proved == proved]
            places = [s.t for s in some], [getattr(s, quantity) for s in some]
            axes.plot(*places, "o", color=colour, markerfacecolor=colour if proved else "white", markersize=4.5)
        if trail.fate.name != "ARRIVES":
            at = trail.t[-1], getattr(trail, quantity)[-1]
            axes.plot(*at, "X", color=SPURIOUS, markersize=8, zorder=3)
            if quantity == "least":
                look = {"textcoords": "offset points", "fontsize": 8, "rotation": 90, "ha": "center", "va": "top"}
                axes.annotate(f"{at[0]:.4f}", at, (0, -8), **look)
    words = {"least": "smallest eigenvalue of the Hessian", "value": "loss F"}
    axes.set(xlabel="t, from the first teacher to the last", ylabel=words[quantity], xlim=(-0.02, 1.02))
    axes.axhline(0, color="0.3", linewidth=0.8)
    if quantity == "least":
        axes.set_ylim(-0.16 * axes.get_ylim()[1])  # room for where trails end


def follow_figure(followed: Followed, path: Path) -> None:
    """Write the smallest eigenvalue and the loss of every trail over t as ``PATH.png`` and ``PATH.svg``."""
    with canvas(path, 10.5, 4.4) as figure:
        left, right = figure.subplots(1, 2)
        draw_trails(left, followed)
        draw_trails(right, followed, "value")
        right.set_ylim(0)
        ended = sum(trail.fate.name not in ("ARRIVES", "NONE") for trail in followed.trails)
        arrive = sum(trail.fate.name == "ARRIVES" for trail in followed.trails)
        left.set_title(f"{len(followed.trails)} minima: {arrive} arrive, {ended} end (cross)", loc="left", fontsize=10)
        right.set_title("dots: stations, filled where proved", loc="left", fontsize=10)
        left.legend(fontsize=9, loc="upper right")
