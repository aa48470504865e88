"""What became of a run, and the record of many runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from earnshaw.problems import TwoLayer

if TYPE_CHECKING:
    from earnshaw.descent.ledger import Ledger

Array = NDArray[np.float64]


class Outcome(Enum):
    """The fate of one run; the value is the sentence that explains it, the order is the code in files."""

    GLOBAL = "reached the global minimum"
    SPURIOUS = "ended at a strict local minimum that is not global"
    SADDLE = "ended at a stationary point with a direction of negative curvature"
    DEGENERATE = "a neuron shrank to zero, where the loss is not differentiable"
    DIVERGED = "grew without bound, also after the step was halved as often as allowed"
    UNDECIDED = "its fate was not clear when the step limit was reached"
    CONVERGED = "ended at a local minimum of a problem whose global minimum is not known"
    FLAT = "ended at a stationary point with flat directions and no negative curvature, where second derivatives do not decide"

    @property
    def code(self) -> int:
        """The number that stands for this outcome in an array."""
        return _ORDER.index(self)

    @classmethod
    def from_code(cls, code: int) -> Outcome:
        """Return the outcome of a number."""
        return _ORDER[code]


_ORDER = tuple(Outcome)


@dataclass(frozen=True)
class Trace:
    """Trajectories: one row for each recorded moment of each run, in the order of runs and then steps."""

    run: NDArray[np.int64]
    step: NDArray[np.int64]
    value: Array
    gradient_norm: Array
    weights: Array


@dataclass(frozen=True)
class Runs:
    """The results of a batch of runs; every array has one entry per run.

    Attributes
    ----------
    problem : what all runs were asked to learn.
    run : the lane index of each run; with the seed it determines the start.
    outcome : codes of :class:`Outcome`.
    value, gradient_norm : the loss and its gradient's norm at ``weights``.
    min_eigenvalue : the Hessian's smallest eigenvalue in R^(d+1) at ``weights``; NaN where it was not computed.
    steps : steps taken, those before a restart included.
    gradients, hessians : how many gradients, and Hessians or products with one, they cost.
    halvings : how often the step was halved after a divergence.
    by_value : whether the paper's value test at the step limit decided the outcome.
    weights : (runs, n, d), or (runs, n, d + 1) with trained output weights last: the polished point (the last iterate where no polish applies).
    last_weights : (runs, n, d), the last iterate of the descent, from which the polish started.
    """

    problem: TwoLayer
    run: NDArray[np.int64]
    outcome: NDArray[np.int8]
    value: Array
    gradient_norm: Array
    min_eigenvalue: Array
    steps: NDArray[np.int64]
    gradients: NDArray[np.int64]
    hessians: NDArray[np.int64]
    halvings: NDArray[np.int64]
    by_value: NDArray[np.bool_]
    weights: Array
    last_weights: Array

    def __len__(self) -> int:
        """Return the number of runs."""
        return len(self.run)

    def __getitem__(self, index: NDArray[np.bool_] | NDArray[np.int64] | slice) -> Runs:
        """Return some of the runs."""
        return Runs(self.problem, **{name: getattr(self, name)[index] for name in self.array_names()})

    @classmethod
    def array_names(cls) -> list[str]:
        """Return the names of the arrays that hold one entry per run."""
        return [field.name for field in dataclasses.fields(cls) if field.name != "problem"]

    def where(self, *outcomes: Outcome) -> Runs:
        """Return the runs with one of these outcomes."""
        return self[np.isin(self.outcome, [outcome.code for outcome in outcomes])]

    @property
    def spurious(self) -> Runs:
        """The runs that ended at spurious minima."""
        return self.where(Outcome.SPURIOUS)

    @property
    def outcomes(self) -> dict[str, int]:
        """How many runs had each outcome, by name; outcomes that did not occur are left out."""
        counts = np.bincount(self.outcome, minlength=len(_ORDER))
        return {outcome.name: int(counts[outcome.code]) for outcome in Outcome if counts[outcome.code]}

    @classmethod
    def of(cls, problem: TwoLayer, lanes: NDArray[np.int64], ledger: Ledger) -> Runs:
        """Return the results of the lanes of a ledger."""
        return cls(
            problem=problem,
            run=np.asarray(lanes, dtype=np.int64),
            outcome=ledger.outcome,
            value=ledger.value,
            gradient_norm=ledger.gradient_norm,
            min_eigenvalue=np.full(len(lanes), np.nan),
            steps=ledger.steps + ledger.wasted,
            gradients=ledger.gradients,
            hessians=ledger.hessians,
            halvings=ledger.halvings,
            by_value=ledger.by_value,
            weights=ledger.points,
            last_weights=ledger.last_points,
        )

    @classmethod
    def join(cls, parts: Sequence[Runs]) -> Runs:
        """Concatenate batches."""
        arrays = {name: np.concatenate([getattr(part, name) for part in parts]) for name in cls.array_names()}
        return cls(parts[0].problem, **arrays)
