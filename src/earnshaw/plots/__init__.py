"""Plots: records in, figures out; one style, PNG and SVG."""

from earnshaw.plots.spurious import Percentages, example_figure, percentage_figure, value_figure

__all__ = ["Percentages", "example_figure", "percentage_figure", "value_figure"]
