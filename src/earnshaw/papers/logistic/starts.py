"""The tensor start, ours and the paper's, and beside random starts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from earnshaw.experiments.logistic import DataSets, StartContest, measure
from earnshaw.landscapes.logistic_data import draw
from earnshaw.numerics import percentage
from earnshaw.papers.comparison import Comparison, Item, Source
from earnshaw.papers.logistic import NEURONS, PAPER
from earnshaw.papers.reproduction import Reproduction
from earnshaw.plots import Proportion, bars
from earnshaw.plots.logistic import StartErrors, tensor_figure
from earnshaw.problems.logistic import Labels, Logistic, orthogonal_weights
from earnshaw.starts.tensor import TensorStart
from earnshaw.symmetry.assignment import relative_error

FAILS = 0.8  # a relative error above this is a failure; weights 0 have 1


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
    item = Item(PAPER, "tensor")
    sets = how.count(full=8, quick=8)
    drawn, compared = [], []
    for part, case in zip(how.parts([1] * len(TENSOR)), TENSOR, strict=True):
        errors = np.empty((2, sets))
        for index in range(sets):
            seed = 1000 * how.seed + index
            weights = orthogonal_weights(NEURONS, 20, seed, case.norm)
            data = draw(Logistic(weights, case.samples, case.labels, seed=seed))
            for version, start in enumerate((TensorStart(), TensorStart.paper())):
                errors[version, index] = relative_error(start.guess(data, NEURONS).weights, weights)
            part.progress((index + 1) / sets, case.name)
        ours, paper = np.median(errors, axis=1)
        drawn.append(StartErrors(case.name.replace(", ", "\n"), errors[0].tolist(), errors[1].tolist(), case.limit))
        limit, fails = "below the limit", "fails: above the limit (weights 0 have 1)"
        compared += [
            item.compare(case.name, "median_relative_error", ours, case.limit, Source.LIMIT, limit, ours < case.limit),
            item.compare(case.name, "the_papers_version", paper, FAILS, Source.LIMIT, fails, paper > FAILS),
        ]
    tensor_figure(drawn, how.out / "tensor")
    return how.write(item, compared)


@dataclass(frozen=True)
class StartCase:
    """One setting of the comparison of starts; ``agree`` where all starts should meet."""

    neurons: int
    dimension: int
    samples: int
    labels: Labels
    agree: bool = False

    def data_sets(self, sets: int) -> DataSets:
        """So many data sets of this size."""
        sizes = {"neurons": self.neurons, "dimension": self.dimension, "samples": self.samples}
        return DataSets(**sizes, sets=sets, labels=self.labels)

    @property
    def label(self) -> str:
        """The setting in short."""
        kind = "exact" if self.labels is Labels.REGRESSION else "0/1"
        return f"K={self.neurons}, d={self.dimension}, n={self.samples}, {kind}"


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
    item = Item(PAPER, "starts")
    cases = STARTS_QUICK if how.quick else STARTS
    sets, random = how.count(full=10, quick=4), 6 if how.quick else 10
    sizes = [case.data_sets(sets) for case in cases]
    folder = how.out / "data" / f"starts-{sets}x{random}-seed{how.seed}"
    measured = measure("contest", sizes, folder, how.seed, how.workers, how.progress, random=random)
    by_chance, by_tensor, compared = [], [], []
    for case, size in zip(cases, sizes, strict=True):
        results: list[StartContest] = measured[size.name]
        percent = 100 * sum(result.best for result in results) / (random * sets)
        tensor_percent, interval = percentage(sum(result.tensor_is_best for result in results), sets)
        by_chance.append(Proportion(case.label, percent))  # starts on one data set are not independent: no interval
        by_tensor.append(Proportion(case.label, tensor_percent, interval))
        ends = max(result.ends for result in results)
        undecided = sum(result.undecided for result in results)
        if case.agree:
            reference, source, limit, test = 95.0, Source.LIMIT, 95.0, "95% or more"
        else:
            reference, source, limit = tensor_percent, Source.MEASURED, tensor_percent - 35
            test = "at most 35 below the tensor start's"
        test += f"; {ends} minimiser(s) at most on one data set, {undecided} of {random * sets} starts reached none"
        quantity = "percent_of_random_starts_at_the_best_minimiser"
        compared.append(item.compare(case.label, quantity, percent, reference, source, test, percent >= limit))
    groups = {"random starts": by_chance, "tensor start, with 95% interval": by_tensor}
    title = f"Which starts find the best minimiser ({sets} data sets each)"
    bars(groups, title, how.out / "starts", axis="reach the best minimiser (%)")
    return how.write(item, compared)
