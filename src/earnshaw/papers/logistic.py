"""Fu, Chi & Liang (2018), Local geometry of one-hidden-layer neural networks for logistic regression: figures and more.

The paper prints no tables. Figures 2 to 4 are recomputed, and compared with values that were computed independently
(figure 2) or read off the figures (3 and 4). Where the paper leaves a setting open (the weights, the kind of labels, the
step and the radius of figure 3) we use standard normal weights, classification, step 200 and 0.1 of the weights' norm.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from earnshaw.experiments.logistic import (
    Consensus,
    Estimate,
    StartContest,
    consensus,
    contest,
    curvature_over_ball,
    estimate,
    spread_out,
)
from earnshaw.landscapes.empirical import EmpiricalRisk
from earnshaw.landscapes.logistic_data import draw
from earnshaw.landscapes.logistic_theory import theory as theorems
from earnshaw.numerics import proportion_interval
from earnshaw.papers.comparison import Comparison
from earnshaw.papers.reproduction import Items, Reproduction
from earnshaw.plots.logistic import (
    Ball,
    Contest,
    Errors,
    Rates,
    StartErrors,
    ball_figure,
    contest_figure,
    error_figure,
    rho_figure,
    success_figure,
    tensor_figure,
)
from earnshaw.potentials.bounded import BOUNDED
from earnshaw.potentials.constants import rho
from earnshaw.problems import Data
from earnshaw.problems.logistic import Labels, Logistic, gaussian_weights, orthogonal_weights
from earnshaw.proof import ConvexityClaim, prove
from earnshaw.starts.tensor import TensorStart
from earnshaw.store import canonical_json, digest, read_json, write_json
from earnshaw.symmetry.assignment import relative_error

PAPER = "logistic"
NEURONS = 3
RHO = {0.1: 7.66e-7, 0.5: 3.18e-4, 1.0: 2.14e-3, 1.5: 3.56e-3, 2.0: 3.07e-3, 3.0: 1.75e-3, 5.0: 5.60e-4, 10.0: 8.2e-5}


def _compare(item: str, setting: str, quantity: str, ours: float, expected: float, test: str, ok: bool) -> Comparison:
    return Comparison(PAPER, item, setting, quantity, float(ours), float(expected), test, bool(ok))


def _kept(how: Reproduction, name: str, settings: dict[str, Any], compute: Callable[[], list[dict[str, Any]]]) -> list:
    """Return records from an earlier run with the same settings, or compute and keep them."""
    path = how.out / "data" / f"{name}-{digest(settings)[:12]}.json"
    if path.exists():
        stored = read_json(path)
        if canonical_json(stored.get("settings")) == canonical_json(settings):
            return stored["records"]
    records = compute()
    write_json(path, {"settings": settings, "records": records})
    return records


def figure2(how: Reproduction) -> list[Comparison]:
    """Figure 2: rho(sigma) of the sigmoid, with the other activations beside it."""
    scale = np.geomspace(0.1, 20, 120)
    curves = {name: rho(activation, scale) for name, activation in BOUNDED.items()}
    rho_figure(scale, curves, RHO, how.out / "figure2")
    compared = []
    for sigma, expected in RHO.items():
        ours = float(rho(BOUNDED["sigmoid"], sigma))
        limit = 0.5 * 10 ** (math.floor(math.log10(expected)) - (1 if sigma == 10 else 2))
        test = f"equal in the digits given, to {limit:.1g}"
        compared.append(
            _compare("figure2", f"sigma={sigma:g}", "rho", ours, expected, test, abs(ours - expected) <= limit)
        )
    fine = np.linspace(1.2, 1.7, 501)
    values = rho(BOUNDED["sigmoid"], fine)
    top = float(fine[values.argmax()])
    compared.append(_compare("figure2", "maximum", "sigma", top, 1.45, "to 0.01", abs(top - 1.45) <= 0.01))
    compared.append(
        _compare(
            "figure2", "maximum", "rho", float(values.max()), 3.57e-3, "to 5e-6", abs(values.max() - 3.57e-3) <= 5e-6
        )
    )
    return how.write("figure2", compared)


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


def _consensus(how: Reproduction, dimension: int, samples: int, sets: int, starts: int) -> list[Consensus]:
    settings = {
        "d": dimension,
        "n": samples,
        "sets": sets,
        "starts": starts,
        "seed": how.seed,
        "steps": 2000,
        "step": 200,
    }

    def one(index: int) -> Consensus:
        seed = 1000 * how.seed + index
        return consensus(Logistic(gaussian_weights(NEURONS, dimension, seed), samples, seed=seed), starts)

    def compute() -> list[dict[str, Any]]:
        return [asdict(result) for result in spread_out(one, range(sets), how.workers, how.progress)]

    return [Consensus(**record) for record in _kept(how, f"figure3-d{dimension}-n{samples}", settings, compute)]


def figure3(how: Reproduction) -> list[Comparison]:
    """Figure 3: on how many data sets gradient descent from 20 starts around the truth ends at one point."""
    grids = FIGURE_3_QUICK if how.quick else FIGURE_3
    sets, starts = how.count(full=50, quick=4), 5 if how.quick else 20
    tasks = [(grid.dimension, n) for grid in grids for n in grid.samples]
    weights = np.array([d * n for d, n in tasks], dtype=float)
    ends = np.concatenate([[0.0], np.cumsum(weights) / weights.sum()])
    found: dict[tuple[int, int], list[Consensus]] = {}
    for index, (d, n) in enumerate(tasks):
        low, high = ends[index], ends[index + 1]
        part = Reproduction(
            out=how.out,
            seed=how.seed,
            workers=how.workers,
            progress=lambda share, what, low=low, high=high, d=d, n=n: how.progress(
                low + share * (high - low), f"d={d} n={n} {what}"
            ),
        )
        found[d, n] = _consensus(part, d, n, sets, starts)
    rates = {key: float(np.mean([result.success for result in results])) for key, results in found.items()}
    curves = []
    for grid in grids:
        intervals = [proportion_interval(round(rates[grid.dimension, n] * sets), sets) for n in grid.samples]
        rate = [rates[grid.dimension, n] for n in grid.samples]
        curves.append(Rates(f"d = {grid.dimension}", grid.samples, rate, intervals))
    title = f"All of {starts} starts end at one point ({sets} data sets, K = 3)"
    success_figure(curves, title, how.out / "figure3")
    compared = []
    for (d, n), results in found.items():
        rate = rates[d, n]
        low, high = proportion_interval(round(rate * sets), sets)
        growth = float(np.median([result.growth for result in results]))
        test = f"median length of the ends {growth:.2g} of the truth's"
        read_off = {(20, 2000): 0.0, (20, 8000): 1.0}.get((d, n))
        before = [rates[key] for key in rates if key[0] == d and key[1] < n]
        expected = read_off if read_off is not None else max(before, default=0.0)
        if read_off is not None:
            ok = abs(rate - expected) <= 0.1 or low <= expected <= high
            test = f"read off the figure: within 0.1, or inside the 95% interval; {test}"
        else:
            ok = high >= expected
            test = f"not below the rate at smaller n by more than chance; {test}"
        row = Comparison(
            PAPER, "figure3", f"d={d}, n={n}", "success_rate", rate, expected, test, bool(ok), (100 * low, 100 * high)
        )
        compared.append(row)
    for larger, smaller, n in ((40, 20, 8000), (60, 40, 8000)):
        if (larger, n) in rates and (smaller, n) in rates:
            setting, test = f"n={n}", f"success at d={larger} is not above that at d={smaller}"
            fine = rates[larger, n] <= rates[smaller, n]
            compared.append(
                _compare("figure3", setting, f"success_rate_d{larger}", rates[larger, n], rates[smaller, n], test, fine)
            )
    return how.write("figure3", compared)


FIGURE_4 = (Grid(20, (8000, 16_000, 32_000, 64_000)), Grid(40, (16_000, 32_000, 64_000)), Grid(60, (32_000, 64_000)))
FIGURE_4_QUICK = (Grid(20, (8000, 16_000, 64_000)),)


def figure4(how: Reproduction) -> list[Comparison]:
    """Figure 4: the error of the minimiser next to the truth falls like one over the root of n."""
    grids = FIGURE_4_QUICK if how.quick else FIGURE_4
    sets = how.count(full=100, quick=12)
    tasks = [(grid.dimension, n) for grid in grids for n in grid.samples]
    errors: dict[tuple[int, int], np.ndarray] = {}
    for index, (d, n) in enumerate(tasks):
        part = how.part(index, len(tasks))

        def one(seed: int, d: int = d, n: int = n) -> Estimate:
            seed = 1000 * how.seed + seed
            return estimate(Logistic(gaussian_weights(NEURONS, d, seed), n, seed=seed))

        def compute(part: Reproduction = part, one: Callable[[int], Estimate] = one) -> list[dict[str, Any]]:
            return [asdict(result) for result in spread_out(one, range(sets), how.workers, part.progress)]

        settings = {"d": d, "n": n, "sets": sets, "seed": how.seed, "distance": 0.1}
        records = _kept(how, f"figure4-d{d}-n{n}", settings, compute)
        errors[d, n] = np.array([record["error"] if record["found"] else np.nan for record in records])
    curves, compared = [], []
    for grid in grids:
        d = grid.dimension
        means = [float(np.nanmean(errors[d, n])) for n in grid.samples]
        spreads = [float(np.nanstd(errors[d, n]) / math.sqrt(sets)) for n in grid.samples]
        curves.append(Errors(f"d = {d}", grid.samples, means, spreads))
        # Data sets of one seed begin with the same rows, so that slopes are taken for each seed and then averaged.
        first, last = (n for n in (grid.samples[0 if d > 20 else 1], grid.samples[-1]))
        slopes = np.log(errors[d, last] / errors[d, first]) / math.log(last / first)
        slope, limit = float(np.nanmean(slopes)), 0.1 + 3 * float(np.nanstd(slopes)) / math.sqrt(sets)
        test = f"within 0.1 and three standard errors, {limit:.2f}"
        compared.append(
            _compare("figure4", f"d={d}, n={first} to {last}", "slope", slope, -0.5, test, abs(slope + 0.5) <= limit)
        )
    for n, expected in ((8000, 0.26), (16_000, 0.16)):
        ours, found = float(np.nanmedian(errors[20, n])), int(np.isfinite(errors[20, n]).sum())
        test = f"within a quarter; {found} of {sets} data sets have a strict minimum in reach"
        compared.append(
            _compare(
                "figure4",
                f"d=20, n={n}",
                "median_relative_error",
                ours,
                expected,
                test,
                abs(ours / expected - 1) <= 0.25,
            )
        )
    error_figure(curves, how.out / "figure4")
    return how.write("figure4", compared)


@dataclass(frozen=True)
class TensorCase:
    """One line of the table of tensor starts."""

    labels: Labels
    samples: int
    norm: float
    limit: float

    @property
    def name(self) -> str:
        """The setting in words."""
        return f"{self.labels.name.lower()}, norms {self.norm:g}, n={self.samples:,}"


TENSOR = (
    TensorCase(Labels.REGRESSION, 10_000, 1.0, 0.2),
    TensorCase(Labels.CLASSIFICATION, 1_000_000, 1.0, 0.25),
    TensorCase(Labels.CLASSIFICATION, 100_000, 3.0, 0.3),
)


def tensor(how: Reproduction) -> list[Comparison]:
    """The tensor start, ours and the paper's version on the same data sets (K = 3, d = 20, orthogonal weights)."""
    sets = how.count(full=8, quick=8)
    rows, compared = [], []
    for index, case in enumerate(TENSOR):
        errors = np.empty((2, sets))
        for seed in range(sets):
            weights = orthogonal_weights(NEURONS, 20, 1000 * how.seed + seed, case.norm)
            problem = Logistic(weights, case.samples, case.labels, seed=1000 * how.seed + seed)
            data = draw(problem)
            for version, start in enumerate((TensorStart(), TensorStart.paper())):
                errors[version, seed] = relative_error(start.guess(data, NEURONS).weights, weights)
            how.part(index, len(TENSOR)).progress((seed + 1) / sets, case.name)
        ours, paper = float(np.median(errors[0])), float(np.median(errors[1]))
        rows.append(StartErrors(case.name.replace(", ", "\n"), errors[0].tolist(), errors[1].tolist(), case.limit))
        compared.append(
            _compare(
                "tensor", case.name, "median_relative_error", ours, case.limit, "below the limit", ours < case.limit
            )
        )
        compared.append(
            _compare(
                "tensor",
                case.name,
                "the_papers_version",
                paper,
                1.0,
                "fails: above 0.8, where weights 0 have 1",
                paper > 0.8,
            )
        )
    tensor_figure(rows, how.out / "tensor")
    return how.write("tensor", compared)


@dataclass(frozen=True)
class StartCase:
    """One setting of the comparison of starts; ``agree`` where all starts should meet."""

    neurons: int
    dimension: int
    samples: int
    labels: Labels
    agree: bool = False

    @property
    def label(self) -> str:
        """The setting in short."""
        kind = "exact" if self.labels is Labels.REGRESSION else "0/1"
        return f"K={self.neurons}, d={self.dimension}\nn={self.samples}\n{kind}"


STARTS_QUICK = (
    StartCase(3, 6, 5000, Labels.REGRESSION, agree=True),
    StartCase(6, 6, 5000, Labels.REGRESSION),
    StartCase(3, 6, 1000, Labels.CLASSIFICATION),
    StartCase(3, 6, 4000, Labels.CLASSIFICATION, agree=True),
    StartCase(6, 6, 20_000, Labels.CLASSIFICATION),
)
STARTS = (
    *STARTS_QUICK,
    StartCase(3, 20, 10_000, Labels.REGRESSION, agree=True),
    StartCase(8, 20, 10_000, Labels.REGRESSION),
    StartCase(10, 12, 5000, Labels.REGRESSION),
    StartCase(3, 20, 4000, Labels.CLASSIFICATION),
    StartCase(3, 20, 20_000, Labels.CLASSIFICATION, agree=True),
    StartCase(6, 12, 40_000, Labels.CLASSIFICATION),
)


def starts(how: Reproduction) -> list[Comparison]:
    """Random starts beside the tensor start: how often each reaches the best minimiser found."""
    cases = STARTS_QUICK if how.quick else STARTS
    sets, random = how.count(full=10, quick=4), 6 if how.quick else 10
    rows, compared = [], []
    for index, case in enumerate(cases):
        part = how.part(index, len(cases))

        def one(seed: int, case: StartCase = case) -> StartContest:
            seed = 1000 * how.seed + seed
            weights = gaussian_weights(case.neurons, case.dimension, seed)
            return contest(Logistic(weights, case.samples, case.labels, seed=seed), random)

        def compute(part: Reproduction = part, one: Callable[[int], StartContest] = one) -> list[dict[str, Any]]:
            return [asdict(result) for result in spread_out(one, range(sets), how.workers, part.progress)]

        settings = {"K": case.neurons, "d": case.dimension, "n": case.samples, "labels": case.labels.name}
        settings |= {"sets": sets, "random": random, "seed": how.seed}
        results = [StartContest(**record) for record in _kept(how, f"starts-{index}", settings, compute)]
        share = sum(result.best for result in results) / (random * sets)
        by_tensor = sum(result.tensor_is_best for result in results) / sets
        rows.append(Contest(case.label, share, by_tensor))
        setting = case.label.replace("\n", ", ")
        ends = max(result.ends for result in results)
        undecided = sum(result.undecided for result in results)
        test = f"{ends} minimiser(s) at most on one data set, {undecided} of {random * sets} starts reached none"
        quantity = "random_starts_at_the_best_minimiser"
        if case.agree:
            compared.append(_compare("starts", setting, quantity, share, 1.0, f"all do; {test}", share >= 0.95))
        else:
            test = f"not far below the tensor start's share; {test}"
            compared.append(_compare("starts", setting, quantity, share, by_tensor, test, share >= by_tensor - 0.35))
    contest_figure(rows, f"Which starts find the best minimiser ({sets} data sets each)", how.out / "starts")
    return how.write("starts", compared)


def theory(how: Reproduction) -> list[Comparison]:
    """Theorems 1 and 2 in numbers, beside the curvature sampled over balls and the radius proved for the data set."""
    settings = (
        ("orthonormal, regression", Logistic(orthogonal_weights(NEURONS, 20, how.seed), 20_000, Labels.REGRESSION)),
        ("normal entries, classification", Logistic(gaussian_weights(NEURONS, 20, how.seed), 20_000)),
    )
    balls, compared = [], []
    for index, (label, problem) in enumerate(settings):
        said, data = theorems(problem), draw(problem)
        claim = prove(Data(data.x, data.y, NEURONS), problem.weights).claim
        proved = claim.radius if isinstance(claim, ConvexityClaim) else 0.0
        radii = np.concatenate([[0.0], np.geomspace(1e-4, 10.0, 11 if how.quick else 21)])
        risk = EmpiricalRisk.of(data, NEURONS)
        sampled = curvature_over_ball(risk, problem.weights, radii, 3 if how.quick else 10, how.seed)
        positive = radii[: int(np.argmax(sampled.least <= 0)) or len(radii)]
        balls.append(
            Ball(
                label,
                radii[1:].tolist(),
                sampled.least[1:].tolist(),
                proved,
                said.radius,
                said.radius_of_the_proof,
            )
        )
        found = estimate(problem)
        error = found.error * float(np.linalg.norm(problem.weights))
        rows: Sequence[tuple[str, float, float, str, bool]] = (
            ("least_curvature", float(sampled.least[0]), said.least_curvature, "Theorem 1's H_min, constant 1", sampled.least[0] > 0),
            ("most_curvature", float(sampled.most[0]), said.most_curvature, "at most Theorem 1's H_max", sampled.most[0] <= said.most_curvature),
            ("proved_radius", proved, said.radius, f"proved, beside Theorem 1's with c = 1 (c of its proof: {said.radius_of_the_proof:.2g})", proved > 0),
            ("sampled_convex_radius", float(positive[-1]), proved, "convex at every point tried within the proved radius", bool(np.all(sampled.least[radii <= proved] > 0))),
            ("samples", float(problem.samples), said.samples, "far fewer than Theorem 1 asks for", problem.samples < said.samples),
            ("error", error, said.error, "below Theorem 2's bound", error < said.error),
            ("step", said.practical_step, said.step, "one over the curvature, beside Theorem 2's step", said.practical_step > said.step),
        )  # fmt: skip
        compared += [
            _compare("theory", label, quantity, ours, expected, test, bool(ok))
            for quantity, ours, expected, test, ok in rows
        ]
        how.progress((index + 1) / len(settings), label)
    ball_figure(balls, how.out / "theory")
    return how.write("theory", compared)


ITEMS: Items = {
    "figure2": figure2,
    "figure3": figure3,
    "figure4": figure4,
    "tensor": tensor,
    "starts": starts,
    "theory": theory,
}
