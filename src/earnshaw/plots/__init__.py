"""Plots: records in, figures out; one style, PNG and SVG."""

from earnshaw.plots import plot
from earnshaw.plots.every_k import course_figure
from earnshaw.plots.films import Film, animate
from earnshaw.plots.intervals import OURS, Curve, Proportion, bars
from earnshaw.plots.plot import card_figures
from earnshaw.plots.style import GLOBAL, SPURIOUS
from earnshaw.plots.sweeps import example_figure, value_figure

__all__ = [
    "GLOBAL",
    "OURS",
    "SPURIOUS",
    "Curve",
    "Film",
    "Proportion",
    "animate",
    "bars",
    "card_figures",
    "course_figure",
    "example_figure",
    "plot",
    "value_figure",
]
