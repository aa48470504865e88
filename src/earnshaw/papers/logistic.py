"""Fu, Chi & Liang (2018), Local geometry of one-hidden-layer neural networks for logistic regression: figures and more.

The paper prints no tables, and its figures have no numbers. Figures 2 to 4 are recomputed, and compared with values that
were computed apart from this code, and with what the text claims. Where the paper leaves a setting open (the weights, the kind of labels, the
step and the radius of figure 3) we use standard normal weights, classification, step 200 and 0.1 of the weights' norm.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np

from earnshaw.experiments import logistic as experiment
from earnshaw.landscapes.empirical import EmpiricalRisk
from earnshaw.landscapes.logistic_data import draw
from earnshaw.landscapes.logistic_theory import rho
from earnshaw.landscapes.logistic_theory import theory as theorems
from earnshaw.numerics import percentage
from earnshaw.papers.comparison import Comparison, Item, Reproduction, Source, reproduces
from earnshaw.plots import Curve, Proportion, bars
from earnshaw.plots import logistic as figures
from earnshaw.problems import Data, activation
from earnshaw.problems.logistic import Labels, Logistic, gaussian_weights, orthogonal_weights
from earnshaw.proof import ConvexityClaim, check, prove
from earnshaw.starts.tensor import TensorStart
from earnshaw.symmetry.assignment import relative_error

PAPER = "logistic"
NEURONS = 3
# rho of the sigmoid, computed apart from this code; the paper has a curve without numbers.
RHO = {0.1: 7.66e-7, 0.5: 3.18e-4, 1.0: 2.14e-3, 1.5: 3.56e-3, 2.0: 3.07e-3, 3.0: 1.75e-3, 5.0: 5.60e-4, 10.0: 8.2e-5}
TOP, RHO_AT_TOP = 1.45, 3.57e-3


@reproduces(PAPER)
def figure2(how: Reproduction, item: Item) -> Iterator[Comparison]:
    """Figure 2: rho(sigma) of the sigmoid, with the other activations beside it."""
    scale = np.geomspace(0.1, 20, 120)
    curves = {name: rho(activation(name), scale) for name in ("sigmoid", "unit-tanh", "unit-erf")}
    figures.rho_figure(scale, curves, RHO, how.out / "figure2")
    for sigma, known in RHO.items():
        ours = float(rho(activation("sigmoid"), sigma))
        room = 0.5 * 10 ** (math.floor(math.log10(known)) - (1 if sigma == 10 else 2))
        test = f"equal in the digits given, to {room:.1g}"
        yield item.within(f"sigma={sigma:g}", "rho", ours, known, Source.MEASURED, room, test)
    fine = np.linspace(1.2, 1.7, 501)
    values = rho(activation("sigmoid"), fine)
    yield item.within("maximum", "sigma", float(fine[values.argmax()]), TOP, Source.MEASURED, 0.01)
    yield item.within("maximum", "rho", float(values.max()), RHO_AT_TOP, Source.MEASURED, 5e-6)


@reproduces(PAPER)
def theory(how: Reproduction, item: Item) -> Iterator[Comparison]:
    """Theorems 1 and 2 in numbers, beside the curvature sampled over balls and the radius proved for the data set."""
    settings = (
        ("orthonormal, regression", Logistic(orthogonal_weights(NEURONS, 20, how.seed), 20_000, Labels.REGRESSION)),
        ("normal entries, classification", Logistic(gaussian_weights(NEURONS, 20, how.seed), 20_000)),
    )
    balls, marks = [], []
    for index, (label, problem) in enumerate(settings):
        said, data = theorems(problem), draw(problem)
        proof = prove(Data(data.x, data.y, NEURONS), problem.weights)
        verified = proof.main is not None and check(proof.main).verified
        radius = proof.claim.radius if verified and isinstance(proof.claim, ConvexityClaim) else 0.0
        radii = np.concatenate([[0.0], np.geomspace(1e-4, 10.0, 11 if how.quick else 21)])
        risk = EmpiricalRisk.of(data, NEURONS)
        sampled = experiment.curvature_over_ball(risk, problem.weights, radii, 3 if how.quick else 10, how.seed)
        least, most = float(sampled.least[0]), float(sampled.most[0])
        positive = radii[: int(np.argmax(sampled.least <= 0)) or len(radii)]
        balls.append(Curve(f"{label}: sampled", radii[1:], sampled.least[1:] / sampled.least[1]))
        marks.append((radius, said.radius, said.radius_of_the_proof))
        error = experiment.estimate(problem).error * float(np.linalg.norm(problem.weights))
        yield item.same(label, "convexity_proved", verified, True, Source.CLOSED_FORM, "a proof is found and checked")
        h_max = said.most_curvature
        test = "at most Theorem 1's H_max"
        yield item.compare(label, "most_curvature", most, h_max, Source.CLOSED_FORM, (most, math.inf), test)
        beside = (
            f"proved, beside Theorem 1's with its constant set to 1 (that of its proof: {said.radius_of_the_proof:.2g})"
        )
        for quantity, ours, reference, why in (
            ("least_curvature", least, said.least_curvature, "Theorem 1's H_min with its constant set to 1"),
            ("proved_radius", radius, said.radius, beside),
            (
                "sampled_convex_radius",
                float(positive[-1]),
                radius,
                "convex at every point tried, beside the proved radius",
            ),
            ("samples", problem.samples, said.samples, "used here, beside what Theorem 1 asks for"),
            ("error", error, said.error, "beside Theorem 2's bound, far above it"),
            ("step", said.practical_step, said.step, "one over the curvature, beside Theorem 2's step"),
        ):
            yield item.context(label, quantity, ours, reference, Source.CLOSED_FORM, why)
        how.progress((index + 1) / len(settings), label)
    figures.ball_figure(balls, marks, how.out / "theory")


FIGURE_3 = {  # sample sizes by dimension, as the grids below
    20: (2000, 3000, 4000, 5000, 6000, 8000),
    40: (4000, 6000, 8000, 10_000, 12_000, 16_000),
    60: (8000, 12_000, 16_000, 20_000, 24_000, 32_000),
}
FIGURE_3_QUICK = {20: (2000, 4000, 8000), 40: (8000, 16_000), 60: (8000,)}
SUCCESS = {(20, 2000): 0.0, (20, 8000): 100.0}  # percent of 10 data sets, computed apart from this code, by d and n
SUCCESS_SETS = 10
RISE = 50.0  # percentage points by which more samples, or fewer dimensions, must help
FIGURE_4 = {
    20: (8000, 16_000, 32_000, 64_000, 128_000),
    40: (16_000, 32_000, 64_000, 128_000, 256_000),
    60: (32_000, 64_000, 128_000, 256_000, 512_000),
}
FIGURE_4_QUICK = {20: (8000, 16_000, 64_000, 128_000)}
ERROR = {8000: 0.26, 16_000: 0.16}  # median relative errors for d = 20, computed apart from this code, by n
NEAR = 0.1  # by how much the last errors may still be from those that hold for many rows


def _sizes(grid: Mapping[int, tuple[int, ...]], sets: int) -> dict[tuple[int, int], experiment.DataSets]:
    """Return the data sets of a grid by dimension and number of samples."""
    pairs = [(d, n) for d, samples in grid.items() for n in samples]
    return {(d, n): experiment.DataSets(neurons=NEURONS, dimension=d, samples=n, sets=sets) for d, n in pairs}


@reproduces(PAPER)
def figure3(how: Reproduction, item: Item) -> Iterator[Comparison]:
    """Figure 3: on how many data sets gradient descent from 20 starts around the truth ends at one point."""
    grid = FIGURE_3_QUICK if how.quick else FIGURE_3
    sets, starts = how.count(full=50, quick=4), 5 if how.quick else 20
    sizes = _sizes(grid, sets)
    folder = how.out / "data" / f"figure3-{sets}x{starts}-seed{how.seed}"
    measured = experiment.measure(
        "consensus", sizes.values(), folder, how.seed, how.workers, how.progress, how.cluster, starts=starts
    )
    found: dict[tuple[int, int], list[experiment.Consensus]] = {key: measured[size.name] for key, size in sizes.items()}
    counts = {key: sum(result.success for result in results) for key, results in found.items()}
    shares = {key: percentage(count, sets) for key, count in counts.items()}
    curves = []
    for d, samples in grid.items():
        percents, intervals = zip(*(shares[d, n] for n in samples), strict=True)
        curves.append(Curve(f"d = {d}", samples, percents, intervals))
    title = f"All of {starts} starts end at one point ({sets} data sets, K = 3)"
    figures.success_figure(curves, title, how.out / "figure3")
    before = 0.0
    for (d, n), results in found.items():
        setting, growth = f"d={d}, n={n}", float(np.median([result.growth for result in results]))
        if (d, n) in SUCCESS:
            of = SUCCESS_SETS
            yield item.sampled(setting, "success_percent", counts[d, n], sets, SUCCESS[d, n], of, Source.MEASURED)
        else:
            percent, interval = shares[d, n]
            why = f"beside it that at the next smaller n, or 0; median length of the ends {growth:.2g} of the truth's"
            yield item.context(setting, "success_percent", percent, before, Source.MEASURED, why, interval)
        before = shares[d, n][0] if n < grid[d][-1] else 0.0
    for d, samples in grid.items():
        if len(samples) > 1:
            rise = shares[d, samples[-1]][0] - shares[d, samples[0]][0]
            setting = f"d={d}, n={samples[0]} to {samples[-1]}"
            yield item.at_least(setting, "success_percent_rises_by", rise, RISE, "more samples help")
    for larger, smaller, n in ((40, 20, 8000), (60, 40, 16_000)):
        if (larger, n) in shares and (smaller, n) in shares:
            fall, setting = shares[smaller, n][0] - shares[larger, n][0], f"n={n}, d={smaller} to {larger}"
            yield item.at_least(setting, "success_percent_falls_by", fall, RISE, "more dimensions need more samples")


@reproduces(PAPER)
def figure4(how: Reproduction, item: Item) -> Iterator[Comparison]:
    """Figure 4: the error of the minimiser next to the truth, beside what it is for many rows, which falls like n^(-1/2)."""
    grid, sets = FIGURE_4_QUICK if how.quick else FIGURE_4, how.count(full=100, quick=12)
    sizes = _sizes(grid, sets)
    folder = how.out / "data" / f"figure4-{sets}-seed{how.seed}"
    measured = experiment.measure("estimate", sizes.values(), folder, how.seed, how.workers, how.progress, how.cluster)
    ends: dict[tuple[int, int], list[experiment.Estimate]] = {key: measured[size.name] for key, size in sizes.items()}
    errors = {key: np.array([end.error if end.found else np.nan for end in some]) for key, some in ends.items()}
    many = {key: np.array([end.expected for end in some]) for key, some in ends.items()}
    curves, limits = [], []
    for d, samples in grid.items():
        means = [float(np.nanmean(errors[d, n])) for n in samples]
        spreads = [float(np.nanstd(errors[d, n]) / math.sqrt(sets)) for n in samples]
        curves.append(Curve.around(f"d = {d}", samples, means, spreads))
        limits.append(Curve(f"d = {d}", samples, [float(np.sqrt(np.mean(many[d, n] ** 2))) for n in samples]))
        rises = sum(after >= before for before, after in pairwise(means))
        yield item.none(f"d={d}", "rises_of_the_mean_error", rises, len(samples) - 1, "falls with n", Source.PRINTED)
        for n in samples:
            squares = (errors[d, n] / many[d, n]) ** 2
            ratio = math.sqrt(np.nanmean(squares))
            spread = float(np.nanstd(squares)) / (2 * ratio * math.sqrt(sets))
            setting, quantity = f"d={d}, n={n}", "error_over_that_for_many_rows"
            if n < samples[-1]:
                why = "too few rows for the rate to hold where this is far above 1"
                yield item.context(setting, quantity, ratio, 1.0, Source.CLOSED_FORM, why)
            else:
                room = NEAR + 3 * spread
                test = f"root mean square, within {NEAR:g} and three standard errors, {room:.2f}"
                yield item.within(setting, quantity, ratio, 1.0, Source.CLOSED_FORM, room, test)
        # Data sets of one seed begin with the same rows, so that slopes are taken for each seed and then averaged.
        first, last = samples[-2:]
        slopes = np.log(errors[d, last] / errors[d, first]) / math.log(last / first)
        room = NEAR + 3 * float(np.nanstd(slopes)) / math.sqrt(sets)
        setting, test = f"d={d}, n={first} to {last}", f"within {NEAR:g} and three standard errors, {room:.2f}"
        yield item.within(setting, "slope", float(np.nanmean(slopes)), -0.5, Source.PRINTED, room, test)
    for n, known in ERROR.items():
        ours, reached = float(np.nanmedian(errors[20, n])), int(np.isfinite(errors[20, n]).sum())
        test = f"within a quarter; {reached} of {sets} data sets have a strict minimum in reach"
        yield item.within(f"d=20, n={n}", "median_relative_error", ours, known, Source.MEASURED, 0.25 * known, test)
    figures.error_figure(curves, limits, how.out / "figure4")


FAILS = 0.8  # a relative error above this is a failure; weights 0 have 1
TENSOR = (  # labels, samples, norms of the neurons, limit of the median relative error
    (Labels.REGRESSION, 10_000, 1.0, 0.2),
    (Labels.CLASSIFICATION, 1_000_000, 1.0, 0.25),
    (Labels.CLASSIFICATION, 100_000, 3.0, 0.3),
)


@reproduces(PAPER)
def tensor(how: Reproduction, item: Item) -> Iterator[Comparison]:
    """The tensor start, ours and the paper's version on the same data sets (K = 3, d = 20, orthogonal weights)."""
    sets = how.count(full=8, quick=8)
    drawn = []
    for part, (labels, samples, norm, limit) in zip(how.parts([1] * len(TENSOR)), TENSOR, strict=True):
        name, errors = f"{labels.name.lower()}, norms {norm:g}, n={samples:,}", np.empty((2, sets))
        for index in range(sets):
            seed = 1000 * how.seed + index
            weights = orthogonal_weights(NEURONS, 20, seed, norm)
            data = draw(Logistic(weights, samples, labels, seed=seed))
            for version, start in enumerate((TensorStart(), TensorStart.paper())):
                errors[version, index] = relative_error(start.guess(data, NEURONS).weights, weights)
            part.progress((index + 1) / sets, name)
        ours, paper = np.median(errors, axis=1)
        drawn.append((name.replace(", ", "\n"), errors, limit))
        zero, fails = "weights 0 have 1", "it fails, as errata.md says"
        yield item.at_most(name, "median_relative_error", ours, limit, zero)
        yield item.at_least(name, "the_papers_version", paper, FAILS, fails, wrong=limit)
    figures.tensor_figure(drawn, how.out / "tensor")


STARTS_QUICK = (  # labels, neurons, dimension, samples, and whether all starts should meet
    (Labels.REGRESSION, 3, 6, 5000, True),
    (Labels.REGRESSION, 6, 6, 5000, False),
    (Labels.CLASSIFICATION, 3, 6, 1000, False),
    (Labels.CLASSIFICATION, 3, 6, 4000, True),
    (Labels.CLASSIFICATION, 6, 6, 20_000, False),
)
STARTS = (
    *STARTS_QUICK,
    (Labels.REGRESSION, 3, 20, 10_000, True),
    (Labels.REGRESSION, 8, 20, 10_000, False),
    (Labels.REGRESSION, 10, 12, 5000, False),
    (Labels.CLASSIFICATION, 3, 20, 4000, False),
    (Labels.CLASSIFICATION, 3, 20, 20_000, True),
    (Labels.CLASSIFICATION, 6, 12, 40_000, False),
)


@reproduces(PAPER)
def starts(how: Reproduction, item: Item) -> Iterator[Comparison]:
    """Random starts beside the tensor start: how often each reaches the best minimiser found."""
    cases = STARTS_QUICK if how.quick else STARTS
    sets, random = how.count(full=10, quick=4), 6 if how.quick else 10
    sizes = [
        experiment.DataSets(neurons=k, dimension=d, samples=n, sets=sets, labels=labels) for labels, k, d, n, _ in cases
    ]
    folder = how.out / "data" / f"starts-{sets}x{random}-seed{how.seed}"
    measured = experiment.measure(
        "contest", sizes, folder, how.seed, how.workers, how.progress, how.cluster, random=random
    )
    by_chance, by_tensor = [], []
    for (labels, k, d, n, agree), size in zip(cases, sizes, strict=True):
        label = f"K={k}, d={d}, n={n}, {'exact' if labels is Labels.REGRESSION else '0/1'}"
        results: list[experiment.StartContest] = measured[size.name]
        percent = 100 * sum(result.best for result in results) / (random * sets)
        tensor_percent, interval = percentage(sum(result.tensor_is_best for result in results), sets)
        by_chance.append(Proportion(label, percent))  # starts on one data set are not independent: no interval
        by_tensor.append(Proportion(label, tensor_percent, interval))
        ends = max(result.ends for result in results)
        undecided = sum(result.undecided for result in results)
        quantity = "percent_of_random_starts_at_the_best_minimiser"
        beside = f"{ends} minimiser(s) at most on one data set, {undecided} of {random * sets} starts reached none"
        if agree:
            yield item.at_least(label, quantity, percent, 95.0, f"all should meet; {beside}", wrong=75)
        else:
            why = f"beside the tensor start's; {beside}"
            yield item.context(label, quantity, percent, tensor_percent, Source.MEASURED, why)
    groups = {"random starts": by_chance, "tensor start, with 95% interval": by_tensor}
    title = f"Which starts find the best minimiser ({sets} data sets each)"
    bars(groups, title, how.out / "starts", axis="reach the best minimiser (%)")
