"""Safran & Shamir (2018), Spurious local minima are common in two-layer ReLU neural networks: tables, figure, examples."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from earnshaw.descent import settle
from earnshaw.experiments import Plan, Summary, SweepResult, run_plan
from earnshaw.landscapes import landscape
from earnshaw.numerics import TOLERANCES
from earnshaw.numerics.statistics import counted_covariance, range_in_ellipse
from earnshaw.papers.comparison import Z_LIMIT, Comparison, Item, Reproduction, Source, reproduces
from earnshaw.plots import OURS, Proportion, bars, example_figure, value_figure
from earnshaw.problems import TwoLayer, standard_teacher
from earnshaw.symmetry import align

PAPER = "spurious"
PRINTED_RUNS = 1000
PAIR_LIMIT = 3.9  # standard deviations of a pair: as likely to be exceeded as Z_LIMIT by one number
OBJECTIVE_UNIT = 1e-3  # of the last printed digit of a mean loss
FEWEST = 10  # spurious runs, ours and the paper's, from which a mean over them is compared
# Where a printed number is not ours, by k, n and quantity: which erratum says what follows.
DISAGREEMENTS = {
    (10, 10, "mean_objective"): "Table 1, k = 10 and 11",
    (11, 11, "mean_objective"): "Table 1, k = 10 and 11",
    (13, 13, "spurious_percent"): "Table 1, k = 13",
}


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
    def problem(self) -> TwoLayer:
        """The problem of this row."""
        return TwoLayer(standard_teacher(self.k), students=self.n)


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


def _runs(how: Reproduction, problem: TwoLayer | None = None) -> int:
    """Return the number of runs of a setting; in full, one in dispute gets ten times as many as the paper has."""
    disputed = problem is not None and any(key[:2] == (problem.teachers, problem.students) for key in DISAGREEMENTS)
    return how.count(full=10_000 if disputed else 1000, quick=200)


def sweeps(how: Reproduction, problems: Sequence[TwoLayer], runs: int) -> list[SweepResult]:
    """Sweep these problems, or take them from the folder, which tables and figures share."""
    plan = Plan.of(problems, runs=runs, seed=how.seed)
    return run_plan(plan, how.out / "runs" / f"{runs}-seed{how.seed}", how.workers, how.progress, cluster=how.cluster)


def _table(how: Reproduction, item: Item, rows: Sequence[Row]) -> list[Comparison]:
    swept = {}
    counts = [_runs(how, row.problem) for row in rows]
    groups = {
        runs: [row for row, count in zip(rows, counts, strict=True) if count == runs] for runs in sorted({*counts})
    }
    parts = how.parts([runs * len(some) for runs, some in groups.items()])
    for part, (runs, some) in zip(parts, groups.items(), strict=True):
        swept |= dict(zip(some, sweeps(part, [row.problem for row in some], runs), strict=True))
    compared = [line for row in rows for line in compare_row(item, row, swept[row].summary)]
    drawn = [
        Proportion(line.setting, line.ours or 0.0, line.interval, line.reference)
        for line in compared
        if line.quantity == "spurious_percent"
    ]
    numbers = " or ".join(f"{runs:,}" for runs in groups)
    bars({OURS: drawn}, f"Runs that end at spurious minima ({numbers} runs each)", how.out / item.name)
    return compared


def compare_row(item: Item, row: Row, summary: Summary) -> list[Comparison]:
    """Compare the three numbers of a printed row with a sweep of ours."""
    setting, of = f"k={row.k}, n={row.n}", summary.decided
    rows = [
        item.sampled(setting, "spurious_percent", summary.spurious, of, row.percent, PRINTED_RUNS),
        *_compare_means(item, row, summary),
    ]
    known = [DISAGREEMENTS.get((row.k, row.n, line.quantity)) for line in rows]
    return [replace(line, erratum=place) for line, place in zip(rows, known, strict=True)]


def _compare_means(item: Item, row: Row, summary: Summary) -> Iterator[Comparison]:
    r"""Compare means over spurious runs, which are mixtures of the exact values of the families.

    With C the covariance of (smallest eigenvalue, loss) over our families by their counts, the difference of the two pairs of
    means has the covariance :math:`C(1/m_1 + 1/m_2)`, with :math:`m_1, m_2` the numbers of spurious runs, ours and the
    paper's. A printed number stands for all that are printed so, whether rounded or truncated: half a unit of its last digit
    below it to a unit above. The two columns are means over the same runs: the eigenvalue is compared by itself, the loss
    together with the eigenvalue printed beside it.
    """
    setting, printed = f"k={row.k}, n={row.n}", (row.eigenvalue, row.objective)
    names, means = ("min_eigenvalue", "objective"), (summary.mean_min_eigenvalue, summary.mean_objective)
    ours, theirs = summary.spurious, round(row.percent / 100 * PRINTED_RUNS)
    least, loss = means
    if least is None or loss is None or min(ours, theirs) < FEWEST:
        why = f"{ours} spurious runs of ours, {theirs} of the paper's: under {FEWEST} say little about the mixture"
        for name, mean, number in zip(names, means, printed, strict=True):
            yield item.context(setting, f"mean_{name}", mean, number, Source.PRINTED, why)
        return
    values = [[getattr(family, name) for name in names] for family in summary.families]
    covariance = counted_covariance(values, [family.count for family in summary.families]) * (1 / ours + 1 / theirs)
    error, unit = math.sqrt(covariance[0, 0]), row.eigenvalue_unit
    accepts = least - Z_LIMIT * error - unit, least + Z_LIMIT * error + unit / 2
    gap = max(
        row.eigenvalue - unit / 2 - least, least - row.eigenvalue - unit, 0.0
    )  # to the nearest that is printed so
    away = f"{gap / error:.1f} standard errors from" if error and gap else "off" if gap else "within"
    test = f"{away} the printed digits, limit {Z_LIMIT:g} of {error:.1g}"
    yield item.compare(setting, "mean_min_eigenvalue", least, row.eigenvalue, Source.PRINTED, accepts, test)
    beside = row.eigenvalue - unit / 2 - least, row.eigenvalue + unit - least
    low, high = (loss + end for end in range_in_ellipse(covariance, PAIR_LIMIT, beside))
    test = f"with the eigenvalue printed beside it the mean is in {low:.4f} to {high:.4f}"
    accepts = low - OBJECTIVE_UNIT, high + OBJECTIVE_UNIT / 2
    yield item.compare(setting, "mean_objective", loss, row.objective, Source.PRINTED, accepts, test)


@reproduces(PAPER)
def table1(how: Reproduction, item: Item) -> list[Comparison]:
    """Table 1: n = k = 6..20."""
    return _table(how, item, TABLE_1[:5] if how.quick else TABLE_1)


@reproduces(PAPER)
def table2(how: Reproduction, item: Item) -> list[Comparison]:
    """Table 2: n = k + 1."""
    return _table(how, item, [row for row in TABLE_2 if row.k in (8, 13, 14)] if how.quick else TABLE_2)


@reproduces(PAPER)
def figure1(how: Reproduction, item: Item) -> Iterator[Comparison]:
    """Figure 1: the empirical distribution of end values; compared through the share of runs below the gap at 1e-3..1e-2."""
    sizes = [size for size in FIGURE_1 if not how.quick or max(size) <= 12]
    results = sweeps(how, [TwoLayer(standard_teacher(k), students=n) for k, n in sizes], _runs(how))
    value_figure({result.summary.name: result.arrays["value"] for result in results}, how.out / item.name)
    printed = {(row.k, row.n): row.percent for row in TABLE_1 + TABLE_2}
    for size, result in zip(sizes, results, strict=True):
        words, value = result.summary.name, result.arrays["value"]
        below, between = int((value < 1e-3).sum()), int(((value >= 1e-3) & (value < 1e-2)).sum())
        line = item.sampled(words, "percent_below_0.001", below, len(value), 100 - printed[size], PRINTED_RUNS)
        yield replace(line, erratum=DISAGREEMENTS.get((*size, "spurious_percent")))
        yield item.none(words, "runs_between_0.001_and_0.01", between, len(value), source=Source.READ_OFF)


@reproduces(PAPER)
def examples(how: Reproduction, item: Item) -> Iterator[Comparison]:
    """Examples 1 and 2: the printed matrices, polished, and how often a sweep of ours ends there."""
    for example in EXAMPLES:
        name, (n, k) = example.name, example.weights.shape
        problem = TwoLayer(standard_teacher(k), students=n)
        energy = landscape(problem)
        point, norm, _ = settle(energy, example.weights)
        change = float(np.abs(point - example.weights).max())
        size = float(np.abs(example.weights).min())
        words = "rounding of the printed entries"
        yield item.at_most(name, "largest_change_of_an_entry", change, 5.1e-5, words, wrong=size)
        yield item.at_most(name, "gradient_norm_polished", norm, 1e-14, wrong=TOLERANCES.paper_gradient)
        eigenvalue = float(energy.spectrum(energy.point(point), extra_dimension=True)[0])
        objective = float(energy.value(energy.point(point)))
        for quantity, ours, printed in (
            ("min_eigenvalue", eigenvalue, example.eigenvalue_ge),
            ("objective", objective, example.objective_ge),
        ):
            test, accepts = "the printed bound holds and is tight to 0.1%", (ours / 1.001, ours)
            yield item.compare(name, quantity, ours, printed, Source.PRINTED, accepts, test)
        (result,) = sweeps(how, [problem], _runs(how))
        here = [align(problem.symmetry, family.weights, point, TOLERANCES.family) for family in result.families]
        hits = sum(family.count for family, found in zip(result.families, here, strict=True) if found is not None)
        printed = 100 * example.runs / PRINTED_RUNS
        yield item.sampled(name, "percent_of_runs", hits, result.summary.runs, printed, PRINTED_RUNS)
        example_figure(point, example.weights, f"{name}: k={k}, n={n}", how.out / name.replace(" ", ""))
