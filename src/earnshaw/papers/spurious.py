"""Safran & Shamir (2018), Spurious local minima are common in two-layer ReLU neural networks: tables, figure, examples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from earnshaw.descent import settle
from earnshaw.experiments import Plan, Setting, Summary, SweepResult, run_plan
from earnshaw.landscapes import landscape
from earnshaw.numerics import TOLERANCES, two_proportions
from earnshaw.papers.comparison import Comparison
from earnshaw.papers.reproduction import Items, Reproduction
from earnshaw.plots import Percentages, example_figure, percentage_figure, value_figure
from earnshaw.problems import TwoLayer, standard_teacher
from earnshaw.store import read_npz
from earnshaw.symmetry import align

PAPER = "spurious"
PRINTED_RUNS = 1000
Z_LIMIT = 4.0


@dataclass(frozen=True)
class Row:
    """A printed row: percent of runs at spurious minima, mean smallest eigenvalue, mean loss, each with its last digit."""

    k: int
    n: int
    percent: float
    eigenvalue: float
    eigenvalue_unit: float
    objective: float

    @property
    def setting(self) -> Setting:
        """The problem of this row."""
        return Setting(TwoLayer(standard_teacher(self.k), students=self.n))


def _rows(text: str, extra: int) -> tuple[Row, ...]:
    rows = []
    for line in text.split("|"):
        k, percent, eigenvalue, objective = line.split()
        unit = 10.0 ** -len(eigenvalue.split(".")[1])
        rows.append(Row(int(k), int(k) + extra, float(percent), float(eigenvalue), unit, float(objective)))
    return tuple(rows)


TABLE_1 = _rows(
    "6 .3 .0047 .025|7 5.5 .014 .023|8 12.6 .021 .021|9 21.8 .027 .020|10 34.6 .030 .022|11 45.5 .034 .022|12 58.5 .035 .021|"
    "13 73 .037 .022|14 73.6 .038 .023|15 80.3 .038 .024|16 85.1 .038 .027|17 89.7 .039 .027|18 90 .039 .029|"
    "19 93.4 .038 .031|20 94 .038 .033",
    extra=0,
)
TABLE_2 = _rows(
    "8 .1 .0059 .021|10 .1 .0057 .018|11 .1 .0056 .017|12 .3 .0054 .016|13 1.5 .0015 .038|14 5.5 .002 .033|15 10.1 .004 .032|"
    "16 18 .0055 .031|17 20.9 .007 .031|18 36.9 .0064 .028|19 49.1 .0077 .027",
    extra=1,
)
FIGURE_1 = ((8, 8), (10, 10), (12, 12), (15, 15), (20, 20), (15, 16), (19, 20))


@dataclass(frozen=True)
class Example:
    """A printed local minimum: its weights (neurons as rows), and the bounds proved for it."""

    name: str
    weights: np.ndarray
    runs: int
    eigenvalue_ge: float
    objective_ge: float


def _example_1() -> np.ndarray:
    weights = np.full((6, 6), -0.0504)
    np.fill_diagonal(weights, 0.9867)
    weights[0, 1:], weights[1:, 0], weights[0, 0] = 0.2245, 0.3080, -0.6015
    return weights


def _example_2() -> np.ndarray:
    weights = np.full((9, 8), -0.0298)
    np.fill_diagonal(weights, 0.9841)
    weights[:7, 7] = 0.2301
    weights[7], weights[7, 7] = 0.1263, -0.1890
    weights[8], weights[8, 7] = 0.0687, -0.4862
    return weights


EXAMPLES = (
    Example("example 1", _example_1(), 3, 0.004699, 0.02508),
    Example("example 2", _example_2(), 1, 0.005944, 0.02056),
)


def _runs(how: Reproduction) -> int:
    return how.count(full=1000, quick=200)


def sweeps(how: Reproduction, settings: Sequence[Setting]) -> list[SweepResult]:
    """Run or reuse one sweep per setting; tables and figures share them."""
    results = []
    for index, setting in enumerate(settings):
        plan = Plan(settings=(setting,), runs=_runs(how), seed=how.seed)
        results += run_plan(plan, _folder(how, setting), how.workers, how.part(index, len(settings)).progress)
    return results


def _folder(how: Reproduction, setting: Setting) -> Path:
    return how.out / "runs" / f"{setting.name}-{_runs(how)}-seed{how.seed}"


def table_figure(rows: Sequence[Row], results: Sequence[SweepResult], path: Path) -> None:
    """Draw a table's percentages, ours and the printed ones."""
    percentages = [
        Percentages(
            f"k={row.k}, n={row.n}", result.summary.spurious_percent, result.summary.spurious_interval, row.percent
        )
        for row, result in zip(rows, results, strict=True)
    ]
    percentage_figure(percentages, f"Runs that end at spurious minima ({results[0].summary.runs} runs each)", path)


def _table(item: str, rows: Sequence[Row], how: Reproduction) -> list[Comparison]:
    results = sweeps(how, [row.setting for row in rows])
    compared: list[Comparison] = []
    for row, result in zip(rows, results, strict=True):
        compared += compare_row(item, row, result.summary)
    table_figure(rows, results, how.out / item)
    return how.write(item, compared)


def compare_row(item: str, row: Row, summary: Summary) -> list[Comparison]:
    """Compare the three numbers of a printed row with a sweep of ours."""
    setting = f"k={row.k}, n={row.n}"
    z = two_proportions(summary.spurious_percent / 100, summary.runs, row.percent / 100, PRINTED_RUNS)
    test = f"two-sample z = {z:.2f}, limit {Z_LIMIT:g}"
    interval = summary.spurious_interval
    rows = [
        Comparison(
            PAPER,
            item,
            setting,
            "spurious_percent",
            summary.spurious_percent,
            row.percent,
            test,
            abs(z) <= Z_LIMIT,
            interval,
        )
    ]
    for quantity, printed, unit, mean, key in (
        ("mean_min_eigenvalue", row.eigenvalue, row.eigenvalue_unit, summary.mean_min_eigenvalue, "min_eigenvalue"),
        ("mean_objective", row.objective, 1e-3, summary.mean_objective, "objective"),
    ):
        rows.append(_compare_mean(item, setting, quantity, mean, printed, unit, row, summary, key))
    return rows


def _compare_mean(
    item: str,
    setting: str,
    quantity: str,
    mean: float | None,
    printed: float,
    unit: float,
    row: Row,
    summary: Summary,
    key: str,
) -> Comparison:
    """Compare means over spurious runs: a unit of the last printed digit (they are truncated) plus four standard errors."""
    if mean is None:
        return Comparison(PAPER, item, setting, quantity, None, printed, "no spurious run of ours to average", True)
    counts = np.array([family["count"] for family in summary.families], dtype=float)
    values = np.array([family[key] for family in summary.families])
    spread = math.sqrt(float(np.average((values - np.average(values, weights=counts)) ** 2, weights=counts)))
    theirs = max(1.0, row.percent / 100 * PRINTED_RUNS)
    # Few runs may all have met one family: then the spread says nothing, and the known range of minima stands in for it.
    if counts.sum() < 10 or theirs < 10:
        spread = max(spread, 0.5 * printed)
    limit = unit + Z_LIMIT * spread * math.sqrt(1 / counts.sum() + 1 / theirs)
    difference = mean - printed
    return Comparison(
        PAPER,
        item,
        setting,
        quantity,
        mean,
        printed,
        f"difference {difference:+.2g}, limit {limit:.2g}",
        abs(difference) <= limit,
    )


def table1(how: Reproduction) -> list[Comparison]:
    """Table 1: n = k = 6..20."""
    return _table("table1", TABLE_1[:5] if how.quick else TABLE_1, how)


def table2(how: Reproduction) -> list[Comparison]:
    """Table 2: n = k + 1."""
    return _table("table2", [row for row in TABLE_2 if row.k in (8, 13, 14)] if how.quick else TABLE_2, how)


def figure1(how: Reproduction) -> list[Comparison]:
    """Figure 1: the empirical distribution of end values; compared through the share of runs below the gap at 1e-3..1e-2."""
    sizes = [size for size in FIGURE_1 if not how.quick or max(size) <= 12]
    settings = [Setting(TwoLayer(standard_teacher(k), students=n)) for k, n in sizes]
    sweeps(how, settings)
    printed = {(row.k, row.n): row.percent for row in TABLE_1 + TABLE_2}
    compared, curves = [], {}
    for (k, n), setting in zip(sizes, settings, strict=True):
        arrays = read_npz(_folder(how, setting) / f"{setting.name}.npz")
        value = arrays["value"]
        curves[f"k={k}, n={n}"] = value
        share, theirs = float((value < 1e-3).mean()), 1 - printed[k, n] / 100
        z = two_proportions(share, len(value), theirs, PRINTED_RUNS)
        compared.append(
            Comparison(
                PAPER,
                "figure1",
                f"k={k}, n={n}",
                "share_below_0.001",
                share,
                theirs,
                f"two-sample z = {z:.2f}, limit {Z_LIMIT:g}",
                abs(z) <= Z_LIMIT,
            )
        )
        between = int(((value >= 1e-3) & (value < 1e-2)).sum())
        compared.append(
            Comparison(
                PAPER, "figure1", f"k={k}, n={n}", "runs_between_0.001_and_0.01", between, 0, "equal", between == 0
            )
        )
    value_figure(curves, how.out / "figure1")
    return how.write("figure1", compared)


def examples(how: Reproduction) -> list[Comparison]:
    """Examples 1 and 2: the printed matrices, polished, and how often a sweep of ours ends there."""
    compared: list[Comparison] = []
    for example in EXAMPLES:
        n, k = example.weights.shape
        setting = Setting(TwoLayer(standard_teacher(k), students=n))
        energy = landscape(setting.problem)
        point, norm, _ = settle(energy, example.weights)
        rows = [
            (
                "largest_change_of_an_entry",
                float(np.abs(point - example.weights).max()),
                0.0,
                "rounding of the printed entries, 5e-5",
                5.1e-5,
            ),
            ("gradient_norm_polished", norm, 0.0, "at most 1e-14", 1e-14),
        ]
        for quantity, ours, printed, test, limit in rows:
            compared.append(
                Comparison(PAPER, "examples", example.name, quantity, ours, printed, test, abs(ours - printed) <= limit)
            )
        eigenvalue = float(energy.spectrum(energy.point(point), extra_dimension=True)[0])
        objective = float(energy.value(energy.point(point)))
        for quantity, ours, printed in (
            ("min_eigenvalue", eigenvalue, example.eigenvalue_ge),
            ("objective", objective, example.objective_ge),
        ):
            ok = printed <= ours <= 1.001 * printed
            compared.append(
                Comparison(
                    PAPER,
                    "examples",
                    example.name,
                    quantity,
                    ours,
                    printed,
                    "printed bound holds and is tight to 0.1%",
                    ok,
                )
            )
        sweeps(how, [setting])
        arrays = read_npz(_folder(how, setting) / f"{setting.name}.npz")
        runs, found = arrays["value"], arrays["weights"]
        hits = sum(align(setting.problem.symmetry, weights, point, TOLERANCES.family) is not None for weights in found)
        z = two_proportions(hits / len(runs), len(runs), example.runs / PRINTED_RUNS, PRINTED_RUNS)
        compared.append(
            Comparison(
                PAPER,
                "examples",
                example.name,
                "percent_of_runs",
                100 * hits / len(runs),
                100 * example.runs / PRINTED_RUNS,
                f"two-sample z = {z:.2f}, limit {Z_LIMIT:g}",
                abs(z) <= Z_LIMIT,
            )
        )
        example_figure(point, example.weights, f"{example.name}: k={k}, n={n}", how.out / example.name.replace(" ", ""))
    return how.write("examples", compared)


ITEMS: Items = {
    "table1": table1,
    "table2": table2,
    "figure1": figure1,
    "examples": examples,
}
