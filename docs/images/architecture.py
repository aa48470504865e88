"""Draw architecture.svg: the way of a start through the rooms. Run it with: python docs/images/architecture.py [PNG]."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

INK, LINE, PAPER = "#1b2733", "#5a6b7b", "#fbfaf7"  # on paper of its own, so that dark pages do not matter
BLUE, GREEN, ORANGE, GREY = "#dcebf7", "#dff1e6", "#fbe9d3", "#ececec"


def room(axes: Axes, x: float, y: float, width: float, name: str, nouns: str, colour: str, height: float = 1.5) -> None:
    """Draw a room with its name and the nouns that live there."""
    style = "round,pad=0,rounding_size=0.12"
    axes.add_patch(FancyBboxPatch((x, y), width, height, boxstyle=style, facecolor=colour, edgecolor=LINE, lw=1))
    axes.text(x + width / 2, y + height - 0.2, name, ha="center", va="top", weight="bold", size=10.5, color=INK)
    axes.text(x + width / 2, y + height - 0.62, nouns, ha="center", va="top", size=9.5, color=INK, linespacing=1.35)


def arrow(axes: Axes, begin: tuple[float, float], end: tuple[float, float], text: str = "", bend: float = 0.0) -> None:
    """Draw an arrow, with words beside its middle."""
    style = f"arc3,rad={bend}"
    line = FancyArrowPatch(
        begin, end, arrowstyle="-|>", mutation_scale=13, color=LINE, lw=1.3, connectionstyle=style, shrinkA=0, shrinkB=0
    )
    axes.add_patch(line)
    middle = (begin[0] + end[0]) / 2, (begin[1] + end[1]) / 2
    if text:
        axes.text(middle[0] + 0.12, middle[1], text, ha="left", va="center", size=9, style="italic", color=LINE)


def picture() -> mpl.figure.Figure:
    """Return the figure."""
    figure, axes = plt.subplots(figsize=(9.6, 6.9), facecolor=PAPER)
    axes.set(xlim=(0, 14.2), ylim=(0, 10.2))
    axes.axis("off")
    figure.subplots_adjust(left=0.01, right=0.99, bottom=0.01, top=0.99)
    box = FancyBboxPatch(
        (0.2, 5.0),
        13.8,
        5.0,
        boxstyle="round,pad=0,rounding_size=0.15",
        facecolor="none",
        edgecolor=LINE,
        lw=1,
        ls="--",
    )
    axes.add_patch(box)
    heading = "experiments/engine   Work is cut into Pieces; an Executor computes each, anywhere"
    axes.text(0.45, 9.8, heading, ha="left", va="top", size=10.5, weight="bold", color=INK)
    room(axes, 0.5, 7.3, 2.7, "problems", "Problem\nand its Symmetry", BLUE)
    room(axes, 3.9, 7.3, 2.5, "starts", "Start", BLUE)
    room(axes, 7.1, 7.3, 3.2, "descent", "Lanes: a Descent moves,\na Judge decides", BLUE)
    room(axes, 11.0, 7.3, 2.7, "experiments", "Ledger becomes\nRuns", BLUE)
    room(axes, 3.9, 5.25, 2.5, "potentials", "Potential", GREEN)
    room(axes, 7.1, 5.25, 3.2, "landscapes", "Landscape\n(PairEnergy)", GREEN)
    arrow(axes, (3.2, 8.05), (3.9, 8.05))
    arrow(axes, (6.4, 8.05), (7.1, 8.05))
    arrow(axes, (10.3, 8.05), (11.0, 8.05))
    arrow(axes, (1.85, 7.3), (3.9, 6.0))
    axes.text(0.6, 6.3, "activation, law", ha="left", va="center", size=9, style="italic", color=LINE)
    arrow(axes, (6.4, 6.0), (7.1, 6.0))
    arrow(axes, (8.7, 6.75), (8.7, 7.3), "value, gradient")
    axes.text(5.15, 9.0, "run i begins", ha="center", va="bottom", size=9, style="italic", color=LINE)
    axes.text(8.7, 9.0, "and moves, seen in Snapshots", ha="center", va="bottom", size=9, style="italic", color=LINE)
    axes.text(12.35, 9.0, "until it is decided", ha="center", va="bottom", size=9, style="italic", color=LINE)
    room(axes, 10.6, 2.75, 3.1, "symmetry", "Family: ends that\nare one point", ORANGE)
    room(axes, 7.0, 2.75, 2.9, "proof", "Proof = Verdict, Claim,\nCertificates", ORANGE)
    room(axes, 3.7, 2.75, 2.6, "proof/trusted", "the checker", ORANGE)
    room(axes, 1.2, 2.75, 1.8, "report", "Page", ORANGE)
    arrow(axes, (12.35, 7.3), (12.35, 4.25), "ends")
    arrow(axes, (10.6, 3.5), (9.9, 3.5))
    arrow(axes, (7.0, 3.5), (6.3, 3.5))
    arrow(axes, (3.7, 3.5), (3.0, 3.5))
    files = "manifest.json     pieces/     k7-n7.json, .npz: Runs and Families     certificates/     report.html"
    room(axes, 0.5, 0.3, 13.2, "store: a RunFolder keeps all of it", files, GREY, height=1.3)
    for x in (2.2, 8.45, 12.15):
        arrow(axes, (x, 2.75), (x, 1.6))
    arrow(axes, (0.8, 1.6), (0.8, 5.0))
    axes.text(0.92, 2.15, "work_of", ha="left", va="center", size=9, style="italic", color=LINE)
    return figure


if __name__ == "__main__":
    with mpl.rc_context({"svg.hashsalt": "earnshaw", "svg.fonttype": "path", "font.family": "DejaVu Sans"}):
        drawn = picture()
        drawn.savefig(Path(__file__).with_suffix(".svg"), facecolor=PAPER, metadata={"Date": None})
        if len(sys.argv) > 1:
            drawn.savefig(sys.argv[1], facecolor=PAPER, dpi=110)
