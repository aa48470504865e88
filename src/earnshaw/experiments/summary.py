"""What is reported of the runs of one setting: their families, counts and means."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from earnshaw.descent import Descent, Outcome
from earnshaw.experiments.runs import Runs
from earnshaw.landscapes import landscape, lane_landscape
from earnshaw.landscapes.two_layer import TwoLayerLandscape
from earnshaw.numerics import percentage
from earnshaw.problems import TwoLayer
from earnshaw.starts import Start
from earnshaw.symmetry import Family, FamilyRecord, label
from earnshaw.symmetry import families as group
from earnshaw.symmetry.assignment import describe
from earnshaw.threads import one_blas_thread

PADDED = 4  # sizes of Hessians are rounded up to one multiple of this
MINIMA = (Outcome.SPURIOUS, Outcome.CONVERGED)  # the ends that are grouped into families


@dataclass(frozen=True)
class Summary:
    """The counts and means of one setting; :meth:`to_json` is a line of ``earnshaw sweep --json`` without its times."""

    sizes: dict[str, Any]  #: what tables show of the problem (k, n and d for two layers)
    objective: str
    optimizer: str
    start: str
    runs: int
    seed: int
    outcomes: dict[str, int]
    spurious_percent: float | None  #: of the decided runs: those whose fate was clear at the end
    spurious_interval: tuple[float, float] | None
    mean_objective: float | None
    mean_min_eigenvalue: float | None
    best_objective: float | None
    families: tuple[FamilyRecord, ...]
    steps: int
    decided_by_value_test: int
    restarted: int

    @property
    def decided(self) -> int:
        """How many runs have a clear fate."""
        return self.runs - self.undecided

    @property
    def undecided(self) -> int:
        """How many runs have none: stopped on their way, or at a point with flat directions."""
        return sum(count for name, count in self.outcomes.items() if not Outcome[name].decides)

    @property
    def spurious(self) -> int:
        """How many runs ended at a spurious minimum."""
        return self.outcomes.get(Outcome.SPURIOUS.name, 0)

    @property
    def name(self) -> str:
        """The sizes in words: k=7, n=7."""
        return ", ".join(f"{name}={size:g}" for name, size in self.sizes.items() if name != "d")

    def to_json(self) -> dict[str, Any]:
        """Return the record as plain JSON data."""
        record = {entry.name: getattr(self, entry.name) for entry in dataclasses.fields(self) if entry.name != "sizes"}
        record["spurious_interval"] = self.spurious_interval and list(self.spurious_interval)
        record["families"] = [family.to_json() for family in self.families]
        return self.sizes | record | {"undecided": self.undecided}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Summary:
        """Read a summary back; the arrays of its families are in the result file."""
        names = [entry.name for entry in dataclasses.fields(cls) if entry.name != "sizes"]
        sizes = {key: record[key] for key in record if key not in {"sizes", *names, "undecided", "files"}}
        held = {name: record[name] for name in names}
        held["spurious_interval"] = held["spurious_interval"] and tuple(held["spurious_interval"])
        held["families"] = tuple(map(FamilyRecord.from_json, held["families"]))
        return cls(sizes=sizes, **held)


def families(runs: Runs, seed: int = 0) -> list[Family]:
    """Group end points into families under the symmetries that their problem declares, with eigenvalues and labels, the largest first.

    Usually called with ``runs.spurious``. Members are indices of runs: ``runs.of(family.members)`` are its runs. The seed
    matters only where every run has a teacher of its own.
    """
    problem = runs.problem
    names = (lambda point: describe(problem, point)) if isinstance(problem, TwoLayer) else (lambda point: None)
    with one_blas_thread():
        symmetric = problem.symmetry is not None
        points = np.asarray(landscape(problem).standard(jax.device_put(runs.weights))) if symmetric else runs.weights
        found = group(problem.symmetry, points, runs.value, runs=runs.run, scale=problem.scale, describe=names)
        return [
            dataclasses.replace(
                family,
                min_eigenvalue=_smallest(runs, seed, family),
                label=label(problem, family.weights),
                problem=problem,
            )
            for family in found
        ]


def _smallest(runs: Runs, seed: int, family: Family) -> float:
    """Return the Hessian's smallest eigenvalue (in one dimension more, for two layers), without the flat directions that every point has.

    The Hessian is that of padded sizes, of which the padding is cut off: many sizes share its program.
    """
    first = runs.of(family.members[:1])
    energy = lane_landscape(runs.problem, seed, first.run, first.extra).take(0)
    wide, points = energy.padded(family.weights[None], PADDED, max(energy.shape))
    inside = np.zeros(wide.shape, dtype=bool)
    inside[tuple(slice(size) for size in energy.shape)] = True
    blocks = [np.asarray(wide.hessian(points[0]))[inside.ravel()][:, inside.ravel()]]
    if isinstance(wide, TwoLayerLandscape):
        blocks.append(np.asarray(wide.extra_dimension(points[0]))[: len(family.weights), : len(family.weights)])
    spectrum = np.concatenate([np.linalg.eigvalsh(block) for block in blocks])
    return float(spectrum[np.argsort(np.abs(spectrum), kind="stable")[energy.gauge :]].min())


def with_families(runs: Runs, seed: int) -> tuple[Runs, list[Family]]:
    """Return the families of the minima among the runs' ends, and the runs with their smallest eigenvalues entered."""
    found = families(runs.where(*MINIMA), seed)
    eigenvalues = runs.min_eigenvalue.copy()
    for family in found:
        eigenvalues[np.isin(runs.run, family.members)] = family.min_eigenvalue
    return dataclasses.replace(runs, min_eigenvalue=eigenvalues), found


def summarise(runs: Runs, found: list[Family], descent: Descent, start: Start, seed: int) -> Summary:
    """Return the summary of a setting's runs and of the families of its end points."""
    spurious, ended = runs.spurious, runs.where(Outcome.GLOBAL, *MINIMA)
    decided = sum(count for name, count in runs.outcomes.items() if Outcome[name].decides)
    percent, interval = percentage(len(spurious), decided) if decided else (None, None)
    return Summary(
        sizes=runs.problem.sizes,
        objective=str(runs.problem.to_json()["objective"]),
        optimizer=optimizer_name(descent),
        start=str(start.to_json().get("kind", type(start).__name__)),
        runs=len(runs),
        seed=seed,
        outcomes=runs.outcomes,
        spurious_percent=percent,
        spurious_interval=interval,
        mean_objective=float(spurious.value.mean()) if len(spurious) else None,
        mean_min_eigenvalue=float(spurious.min_eigenvalue.mean()) if len(spurious) else None,
        best_objective=None if not len(ended) else float(ended.value.min()),
        families=tuple(found),
        steps=int(runs.steps.sum()),
        decided_by_value_test=int(runs.by_value.sum()),
        restarted=int((runs.halvings > 0).sum()),
    )


def optimizer_name(descent: Descent) -> str:
    """Return what a table calls an optimiser: its name, or its kind with the numbers that it was given, none of them rounded."""
    record = descent.to_json()
    if "name" in record:
        return str(record["name"])
    numbers = [float.fromhex(value) for value in record.values() if str(value).startswith("0x")]
    numbers = [f"{x:g}" if float(f"{x:g}") == x else repr(x) for x in numbers]
    return ":".join([str(record.get("kind", type(descent).__name__)), *numbers])
