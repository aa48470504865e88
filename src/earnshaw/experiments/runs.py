"""The results of many runs: one class for every network, which its folder's array file is."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earnshaw.descent import Ledger, Outcome, Trace
from earnshaw.errors import InputError, need
from earnshaw.problems import Problem, problem_from_json
from earnshaw.showing import Shown
from earnshaw.store import Arrays, canonical_json, read_npz, write_npz

Array = NDArray[np.float64]
EXTRA = "extra_"  # before the names of a network's own arrays in a file


@dataclass(frozen=True, eq=False, repr=False)
class Runs(Shown):
    """The results of a batch of runs; every array has one entry per run."""

    problem: Problem  #: what all runs were asked to learn
    run: NDArray[
        np.int64
    ]  #: its index; with the seed it determines the start (and the teacher, where each has its own)
    outcome: NDArray[np.int8]  #: codes of :class:`~earnshaw.descent.Outcome`
    value: Array  #: the loss at ``weights``
    gradient_norm: Array  #: its gradient's norm there
    min_eigenvalue: Array  #: the Hessian's smallest there (in R^(d+1) for two layers); NaN where it was not computed
    steps: NDArray[np.int64]  #: steps taken, those before a restart included
    gradients: NDArray[np.int64]  #: how many gradients they cost
    hessians: NDArray[np.int64]  #: how many Hessians, or products with one, they cost
    halvings: NDArray[np.int64]  #: how often the step was halved after a divergence
    by_value: NDArray[np.bool_]  #: whether the paper's value test at the step limit decided the outcome
    weights: Array  #: ``(runs, *shape)``, the polished end point (the last iterate where no polish applies)
    last_weights: Array  #: the last iterate of the descent, from which the polish started
    #: what else a network keeps of each run, by name: the teachers of runs that have their own
    extra: Mapping[str, np.ndarray] = field(default_factory=dict)
    trace: Trace | None = None  #: what was recorded on the way, where that was asked for; kept in a file of its own

    def __len__(self) -> int:
        """Return the number of runs."""
        return len(self.run)

    def _line(self) -> str:
        ended = ", ".join(f"{count} {name}" for name, count in self.outcomes.items())
        return f"{self.problem.name}: {len(self)} runs, {ended}"

    def _facts(self) -> Mapping[str, object]:
        parts = {outcome: self.where(Outcome[outcome]) for outcome in self.outcomes}
        ended = {
            name: f"{len(part)} ({100 * len(part) / len(self):.1f}%), loss {part.value.min():.6g} to {part.value.max():.6g}"
            for name, part in parts.items()
        }
        steps = f"{np.median(self.steps):.0f} (median)" if len(self) else "0"
        return {"problem": repr(self.problem), **ended, "steps": steps, "traced": "yes" if self.trace else "no"}

    def __eq__(self, other: object) -> bool:
        """Runs are equal when their problem and every number are."""
        if not isinstance(other, Runs) or self.problem != other.problem:
            return False
        mine, others = self.arrays(), other.arrays()
        return set(mine) == set(others) and all(np.array_equal(mine[n], others[n], equal_nan=True) for n in mine)

    def __hash__(self) -> int:
        """Hash consistently with equality."""
        return hash((self.problem, self.run.tobytes(), self.outcome.tobytes()))

    def __getitem__(self, index: NDArray[np.bool_] | NDArray[np.int64] | slice) -> Runs:
        """Return some of the runs, with what was recorded of them."""
        some = Runs.of_arrays(self.problem, {name: array[index] for name, array in self.arrays().items()})
        return some if self.trace is None else dataclasses.replace(some, trace=self.trace.of(some.run))

    def where(self, *outcomes: Outcome) -> Runs:
        """Return the runs with one of these outcomes."""
        return self[np.isin(self.outcome, [outcome.code for outcome in outcomes])]

    def of(self, runs: Sequence[int] | NDArray[np.int64]) -> Runs:
        """Return the runs with these indices, such as the members of a family."""
        places = {int(run): place for place, run in enumerate(self.run)}
        if unknown := [int(run) for run in runs if int(run) not in places]:
            raise InputError(f"there is no run {unknown[0]} among these {len(self)}; their indices are in .run")
        return self[np.array([places[int(run)] for run in runs], dtype=np.int64)]

    @property
    def spurious(self) -> Runs:
        """The runs that ended at spurious minima."""
        return self.where(Outcome.SPURIOUS)

    @property
    def outcomes(self) -> dict[str, int]:
        """How many runs had each outcome, by name; outcomes that did not occur are left out."""
        counts = np.bincount(self.outcome, minlength=len(Outcome))
        return {outcome.name: int(counts[outcome.code]) for outcome in Outcome if counts[outcome.code]}

    # ---- arrays, files, tables -------------------------------------------------------------------------------------

    @classmethod
    def names(cls) -> list[str]:
        """Return the names of the arrays that every network has."""
        return [entry.name for entry in dataclasses.fields(cls) if entry.name not in ("problem", "extra", "trace")]

    def arrays(self) -> Arrays:
        """Return all arrays by name, those of ``extra`` with their prefix."""
        extra = {EXTRA + name: array for name, array in self.extra.items()}
        return {name: getattr(self, name) for name in self.names()} | extra

    @classmethod
    def of_arrays(cls, problem: Problem, arrays: Mapping[str, np.ndarray]) -> Runs:
        """Return the runs of arrays by name; other arrays among them are left alone."""
        missing = [name for name in cls.names() if name not in arrays]
        if missing:
            raise InputError(f"these arrays hold no runs: {', '.join(missing)} is missing")
        extra = {name.removeprefix(EXTRA): array for name, array in arrays.items() if name.startswith(EXTRA)}
        held: dict[str, Any] = {name: arrays[name] for name in cls.names()}
        return cls(problem, **held, extra=extra)

    @classmethod
    def of_ledger(cls, problem: Problem, lanes: NDArray[np.int64], ledger: Ledger, **extra: np.ndarray) -> Runs:
        """Return the results of the lanes of a ledger."""
        same = ("outcome", "value", "gradient_norm", "gradients", "hessians", "halvings", "by_value")
        return cls(
            problem=problem,
            run=np.asarray(lanes, dtype=np.int64),
            min_eigenvalue=np.full(len(lanes), np.nan),
            steps=ledger.steps + ledger.wasted,
            weights=ledger.points,
            last_weights=ledger.last_points,
            extra=extra,
            **{name: getattr(ledger, name) for name in same},
        )

    @classmethod
    def join(cls, parts: Sequence[Runs]) -> Runs:
        """Concatenate batches."""
        pieces = [part.arrays() for part in parts]
        return cls.of_arrays(parts[0].problem, {name: np.concatenate([p[name] for p in pieces]) for name in pieces[0]})

    def save(self, path: str | Path) -> None:
        """Write the runs and their problem to an ``.npz`` file, whole or not at all."""
        write_npz(Path(path), self.arrays() | {"problem": np.array(canonical_json(self.problem.to_json()))})

    @classmethod
    def load(cls, path: str | Path, functions: bool = False) -> Runs:
        """Read runs that :meth:`save`, or a sweep's folder, wrote; ``functions``: may a user's activation be loaded?"""
        return cls.of_file(read_npz(Path(path)), str(path), functions)

    @classmethod
    def of_file(cls, arrays: Mapping[str, np.ndarray], source: str, functions: bool = False) -> Runs:
        """Return the runs of a file's arrays, the problem among them."""
        if "problem" not in arrays:
            held = ", ".join(sorted(arrays)) or "none"
            raise InputError(f"{source} holds no runs (no array 'problem'); it has {held}")
        try:
            record = json.loads(str(arrays["problem"]))
        except ValueError as error:
            raise InputError(f"{source} states no readable problem ({error}); it is damaged") from None
        return cls.of_arrays(problem_from_json(record, functions), arrays)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row for each run: sizes, run, outcome by name and every single number."""
        pandas = need("pandas", extra="frame", purpose="to_frame")
        return pandas.DataFrame(columns_of(self.problem.sizes, self.arrays()))


def columns_of(sizes: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the single numbers of runs as columns of a table, outcomes by name."""
    run = arrays["run"]
    names = [name for name in Runs.names() if name not in ("run", "outcome", "weights", "last_weights")]
    outcome = np.array([Outcome.from_code(code).name for code in arrays["outcome"]], dtype=object)
    columns = {name: np.full(len(run), size) for name, size in sizes.items()}
    return {**columns, "run": run, "outcome": outcome, **{name: arrays[name] for name in names}}
