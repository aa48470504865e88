"""Figures of logistic regression with one hidden layer."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from earnshaw.plots.intervals import Curve, draw_curves
from earnshaw.plots.style import COLOURS, PAPER_COLOUR, figure


def training_curve(step: ArrayLike, value: ArrayLike, gradient: ArrayLike, descent_steps: int, path: Path) -> None:
    """Draw risk and gradient norm against the step, Newton's steps at the end marked."""
    step, value, gradient = (np.asarray(array) for array in (step, value, gradient))
    with figure(path) as (_, axes):
        axes.semilogy(step, np.maximum(value, 1e-34), color=COLOURS[0], label="risk")
        axes.semilogy(step, np.maximum(gradient, 1e-34), color=COLOURS[1], label="gradient norm")
        if (step > descent_steps).any():
            axes.axvspan(descent_steps, step[-1], color=COLOURS[2], alpha=0.15, label="Newton's method")
        axes.set(xlabel="step", title="Training curve")
        axes.legend()


def rho_figure(scale: ArrayLike, curves: Mapping[str, ArrayLike], checked: Mapping[float, float], path: Path) -> None:
    """Draw rho(sigma) of activations, and the values that were checked."""
    with figure(path) as (_, axes):
        for (label, values), style in zip(curves.items(), itertools.cycle(("-", "--", "-."))):
            axes.plot(np.asarray(scale), np.asarray(values), label=label, linestyle=style)
        known = list(checked), list(checked.values())
        axes.plot(*known, "D", color=PAPER_COLOUR, markersize=4, label="reference values")
        axes.set(xlabel=r"scale of the weights $\sigma$", ylabel=r"bound on the curvature $\rho(\sigma)$")
        axes.set(title="How convex the population risk is at the truth", xscale="log", yscale="log")
        axes.legend()


def success_figure(curves: Sequence[Curve], title: str, path: Path) -> None:
    """Draw the percentage of data sets on which all starts end at one point, against the sample size."""
    with figure(path) as (_, axes):
        draw_curves(axes, curves)
        axes.set(xlabel="samples n", ylabel="data sets (%)", title=title, ylim=(-3, 105), xlim=(0, None))
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))


def error_figure(curves: Sequence[Curve], limits: Sequence[Curve], path: Path) -> None:
    """Draw mean relative errors against the sample size, each with what it is for many rows: lines of slope -1/2."""
    with figure(path) as (_, axes):
        draw_curves(axes, curves)
        for limit, colour in zip(limits, COLOURS, strict=False):
            axes.plot(limit.at, limit.value, "--", color=colour, linewidth=1.0)
        axes.plot([], [], "--", color="grey", label=r"for many rows, $\propto n^{-1/2}$")
        axes.set(xscale="log", yscale="log", xlabel="samples n", ylabel="mean relative error")
        axes.set_title("Error of the minimiser")
        axes.set_xticks(sorted({n for curve in curves for n in curve.at}), minor=False)
        axes.get_xaxis().set_major_formatter(lambda n, _: f"{n / 1000:g}k")
        axes.minorticks_off()
        axes.set_yticks([0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0], minor=False)
        axes.get_yaxis().set_major_formatter(lambda error, _: f"{error:g}")
        errors = [error for curve in (*curves, *limits) for error in curve.value]
        axes.set_ylim(0.8 * min(errors), 1.3 * max(errors))
        axes.legend()


def tensor_figure(rows: Sequence[tuple[str, np.ndarray, float]], path: Path) -> None:
    """Draw each data set's error on a logarithmic scale; rows are a label, errors (2, sets), ours and the paper's, a limit."""
    with figure(path, width=max(6.0, 2.2 * len(rows))) as (_, axes):
        for place, (_, both, limit) in enumerate(rows):
            for shift, errors, colour in zip((-0.15, 0.15), both, (COLOURS[0], COLOURS[5]), strict=True):
                axes.plot(np.full(len(errors), place + shift), errors, "o", color=colour, alpha=0.45, markersize=5)
                bar = [place + shift - 0.1, place + shift + 0.1]
                axes.plot(bar, [np.median(errors)] * 2, color=colour, linewidth=2.5)
            axes.plot([place - 0.28, place - 0.02], [limit] * 2, ":", color=PAPER_COLOUR)
        axes.axhline(1.0, color="grey", linewidth=0.8)
        axes.text(-0.4, 1.04, "weights 0", ha="left", fontsize=8, color="grey")
        axes.plot([], [], "o", color=COLOURS[0], label="ours, bar: median")
        axes.plot([], [], "o", color=COLOURS[5], label="as in the paper")
        axes.plot([], [], ":", color=PAPER_COLOUR, label="limit of the test")
        axes.set_xticks(range(len(rows)), [label for label, _, _ in rows])
        axes.set(yscale="log", ylabel="relative error of the start", title="Tensor start")
        axes.grid(visible=False, axis="x")
        axes.legend(loc="upper left", fontsize=8, ncols=3)
        low, high = axes.get_ylim()
        axes.set_ylim(low, high * 2.5)


def ball_figure(curves: Sequence[Curve], radii: Sequence[tuple[float, float, float]], path: Path) -> None:
    """Draw the least curvature met on spheres, relative to that at the centre, with the proved radius and Theorem 1's two."""
    with figure(path, width=9.5) as (_, axes):
        for curve, (proved, theorem, theorem_of_proof), colour in zip(curves, radii, COLOURS, strict=False):
            axes.plot(curve.at, curve.value, color=colour, label=curve.label)
            axes.axvline(proved, color=colour, alpha=0.9, linewidth=1.2)
            axes.axvline(theorem, color=colour, linestyle="--", linewidth=1.0)
            axes.axvline(theorem_of_proof, color=colour, linestyle=":", linewidth=1.2)
        for style, label in (
            ("-", "radius proved for the data set"),
            ("--", "Theorem 1, c = 1"),
            (":", r"Theorem 1, c = 6$\sqrt{3}$"),
        ):
            axes.plot([], [], style, color="grey", label=label)
        axes.axhline(0.0, color=PAPER_COLOUR, linewidth=0.8)
        axes.set(xlabel="distance from the truth (Frobenius)", ylabel="least curvature, relative to the centre")
        axes.set(title="Where the empirical risk is convex", xscale="log", ylim=(-1.0, 1.1))
        axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
