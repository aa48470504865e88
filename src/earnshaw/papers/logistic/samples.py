"""Figures 3 and 4: how many samples make the minimiser next to the truth unique, and how close it then is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from earnshaw.experiments.logistic import Consensus, DataSets, Estimate, measure
from earnshaw.numerics import percentage
from earnshaw.papers.comparison import Comparison, Item, Source
from earnshaw.papers.logistic import NEURONS, PAPER
from earnshaw.papers.reproduction import Reproduction
from earnshaw.plots import Curve
from earnshaw.plots.logistic import error_figure, success_figure


@dataclass(frozen=True)
class Grid:
    """Sample sizes for one dimension."""

    dimension: int
    samples: tuple[int, ...]


FIGURE_3 = (
    Grid(20, (2000, 3000, 4000, 5000, 6000, 8000)),
    Grid(40, (4000, 6000, 8000, 10_000, 12_000, 16_000)),
    Grid(60, (8000, 12_000, 16_000, 20_000, 24_000)),
)
FIGURE_3_QUICK = (Grid(20, (2000, 4000, 8000)), Grid(40, (8000, 16_000)), Grid(60, (8000,)))
SUCCESS_READ_OFF = {(20, 2000): 0.0, (20, 8000): 100.0}  # percent, by d and n
FIGURE_4 = (Grid(20, (8000, 16_000, 32_000, 64_000)), Grid(40, (16_000, 32_000, 64_000)), Grid(60, (32_000, 64_000)))
FIGURE_4_QUICK = (Grid(20, (8000, 16_000, 64_000)),)
ERROR_READ_OFF = {8000: 0.26, 16_000: 0.16}  # by n, for d = 20


def _sizes(grids: Sequence[Grid], sets: int) -> dict[tuple[int, int], DataSets]:
    """Return the data sets of grids by dimension and number of samples."""
    pairs = [(grid.dimension, n) for grid in grids for n in grid.samples]
    return {(d, n): DataSets(neurons=NEURONS, dimension=d, samples=n, sets=sets) for d, n in pairs}


def figure3(how: Reproduction) -> list[Comparison]:
    """Figure 3: on how many data sets gradient descent from 20 starts around the truth ends at one point."""
    item = Item(PAPER, "figure3")
    grids = FIGURE_3_QUICK if how.quick else FIGURE_3
    sets, starts = how.count(full=50, quick=4), 5 if how.quick else 20
    sizes = _sizes(grids, sets)
    folder = how.out / "data" / f"figure3-{sets}x{starts}-seed{how.seed}"
    measured = measure("consensus", sizes.values(), folder, how.seed, how.workers, how.progress, starts=starts)
    found: dict[tuple[int, int], list[Consensus]] = {key: measured[size.name] for key, size in sizes.items()}
    counts = {key: sum(result.success for result in results) for key, results in found.items()}
    shares = {key: percentage(count, sets) for key, count in counts.items()}
    curves = []
    for grid in grids:
        percents, intervals = zip(*(shares[grid.dimension, n] for n in grid.samples), strict=True)
        curves.append(Curve(f"d = {grid.dimension}", grid.samples, percents, intervals))
    title = f"All of {starts} starts end at one point ({sets} data sets, K = 3)"
    success_figure(curves, title, how.out / "figure3")
    compared = []
    for (d, n), results in found.items():
        percent, (low, high) = shares[d, n]
        growth = float(np.median([result.growth for result in results]))
        fewer = [shares[key][0] for key in shares if key[0] == d and key[1] < n]
        if (d, n) in SUCCESS_READ_OFF:
            reference, source = SUCCESS_READ_OFF[d, n], Source.READ_OFF
            test, ok = (
                "within 10, or inside the 95% interval",
                low <= reference <= high or abs(percent - reference) <= 10,
            )
        elif fewer:
            reference, source = max(fewer), Source.MEASURED
            test, ok = "not below that at smaller n by more than chance", high >= reference
        else:
            reference, source, test, ok = 0.0, Source.LIMIT, "no smaller n to compare with", True
        test = f"{test}; median length of the ends {growth:.2g} of the truth's"
        compared.append(
            item.share(
                f"d={d}, n={n}", "success_percent", counts[d, n], sets, test, ok, reference=reference, source=source
            )
        )
    for larger, smaller, n in ((40, 20, 8000), (60, 40, 8000)):
        if (larger, n) in shares and (smaller, n) in shares:
            ours, other = shares[larger, n][0], shares[smaller, n][0]
            quantity, test = f"success_percent_d{larger}", f"not above that at d={smaller}"
            compared.append(item.compare(f"n={n}", quantity, ours, other, Source.MEASURED, test, ours <= other))
    return how.write(item, compared)


def figure4(how: Reproduction) -> list[Comparison]:
    """Figure 4: the error of the minimiser next to the truth falls like one over the root of n."""
    item = Item(PAPER, "figure4")
    grids = FIGURE_4_QUICK if how.quick else FIGURE_4
    sets = how.count(full=100, quick=12)
    sizes, errors = _sizes(grids, sets), {}
    folder = how.out / "data" / f"figure4-{sets}-seed{how.seed}"
    measured = measure("estimate", sizes.values(), folder, how.seed, how.workers, how.progress)
    for key, size in sizes.items():
        ends: list[Estimate] = measured[size.name]
        errors[key] = np.array([end.error if end.found else np.nan for end in ends])
    curves, compared = [], []
    for grid in grids:
        d = grid.dimension
        means = [float(np.nanmean(errors[d, n])) for n in grid.samples]
        spreads = [float(np.nanstd(errors[d, n]) / math.sqrt(sets)) for n in grid.samples]
        curves.append(Curve.around(f"d = {d}", grid.samples, means, spreads))
        # Data sets of one seed begin with the same rows, so that slopes are taken for each seed and then averaged.
        first, last = grid.samples[0 if d > 20 else 1], grid.samples[-1]
        slopes = np.log(errors[d, last] / errors[d, first]) / math.log(last / first)
        room = 0.1 + 3 * float(np.nanstd(slopes)) / math.sqrt(sets)
        setting, test = f"d={d}, n={first} to {last}", f"within 0.1 and three standard errors, {room:.2f}"
        compared.append(item.within(setting, "slope", float(np.nanmean(slopes)), -0.5, Source.PRINTED, room, test))
    for n, read_off in ERROR_READ_OFF.items():
        ours, found = float(np.nanmedian(errors[20, n])), int(np.isfinite(errors[20, n]).sum())
        test = f"within a quarter; {found} of {sets} data sets have a strict minimum in reach"
        setting, room = f"d=20, n={n}", 0.25 * read_off
        compared.append(item.within(setting, "median_relative_error", ours, read_off, Source.READ_OFF, room, test))
    error_figure(curves, how.out / "figure4")
    return how.write(item, compared)
