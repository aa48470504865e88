"""Plots: records in, figures out; one style, PNG and SVG."""

from earnshaw.plots import plot
from earnshaw.plots.intervals import OURS, Curve, Proportion, bars
from earnshaw.plots.plot import card_figures
from earnshaw.plots.style import GLOBAL, SPURIOUS
from earnshaw.plots.sweeps import example_figure, value_figure

__all__ = [
    "GLOBAL",
    "OURS",
    "SPURIOUS",
    "Curve",
    "Proportion",
    "bars",
    "card_figures",
    "example_figure",
    "plot",
    "value_figure",
]
