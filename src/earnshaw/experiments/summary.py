"""What is reported of the runs of one setting, and the files that hold it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from earnshaw.descent import Outcome, Runs
from earnshaw.errors import InputError
from earnshaw.landscapes import TwoLayerLandscape, landscape
from earnshaw.numerics import proportion_interval
from earnshaw.problems import TwoLayer
from earnshaw.store import canonical_json, read_json
from earnshaw.symmetry import Family
from earnshaw.symmetry import families as group
from earnshaw.symmetry.copies import describe
from earnshaw.threads import one_blas_thread


@dataclass(frozen=True)
class Summary:
    """The counts and means of one setting; :meth:`to_json` is a line of ``earnshaw sweep --json`` without its times."""

    k: int
    n: int
    d: int
    runs: int
    seed: int
    outcomes: dict[str, int]
    spurious_percent: float
    spurious_interval: tuple[float, float]
    mean_objective: float | None
    mean_min_eigenvalue: float | None
    best_objective: float | None
    families: tuple[dict[str, Any], ...]
    steps: int
    decided_by_value_test: int
    restarted: int

    def to_json(self) -> dict[str, Any]:
        """Return the record as plain JSON data."""
        return dataclasses.asdict(self) | {
            "spurious_interval": list(self.spurious_interval),
            "families": list(self.families),
        }


def families(runs: Runs) -> list[Family]:
    """Group end points into families under the symmetries of their landscape, with eigenvalues, the largest first.

    Usually called with ``runs.spurious``.
    """
    return families_of(runs.problem, runs.weights, runs.value, runs.run)


def families_of(problem: TwoLayer, points: np.ndarray, values: np.ndarray, runs: np.ndarray) -> list[Family]:
    """Group points (count, *shape) with their losses, of these runs, as :func:`families` does."""
    energy = landscape(problem)
    with one_blas_thread():
        standard = np.asarray(energy.standard(jnp.asarray(points)))
        found = group(
            problem.symmetry,
            standard,
            values,
            runs=runs,
            scale=problem.scale,
            describe=lambda point: describe(problem, point),
        )
        return [dataclasses.replace(f, min_eigenvalue=_smallest(energy, f.weights)) for f in found]


def _smallest(energy: TwoLayerLandscape, point: np.ndarray) -> float:
    """Return the Hessian's smallest eigenvalue in R^(d+1), without the flat directions that every point has."""
    spectrum = np.asarray(energy.spectrum(jnp.asarray(point), extra_dimension=True))
    return float(spectrum[np.argsort(np.abs(spectrum), kind="stable")[energy.gauge :]].min())


def with_eigenvalues(runs: Runs, found: list[Family]) -> Runs:
    """Return the runs, all from 0, with each family's smallest eigenvalue entered for its members."""
    eigenvalues = runs.min_eigenvalue.copy()
    for family in found:
        eigenvalues[family.members] = family.min_eigenvalue
    return dataclasses.replace(runs, min_eigenvalue=eigenvalues)


def summarise(runs: Runs, found: list[Family], seed: int) -> Summary:
    """Return the summary of a setting's runs and of the families of its end points."""
    spurious, ended = runs.spurious, runs.where(Outcome.GLOBAL, Outcome.SPURIOUS, Outcome.CONVERGED)
    low, high = proportion_interval(len(spurious), len(runs))
    return Summary(
        k=runs.problem.teachers,
        n=runs.problem.students,
        d=runs.problem.dimension,
        runs=len(runs),
        seed=seed,
        outcomes=runs.outcomes,
        spurious_percent=100 * len(spurious) / len(runs),
        spurious_interval=(100 * low, 100 * high),
        mean_objective=float(spurious.value.mean()) if len(spurious) else None,
        mean_min_eigenvalue=float(spurious.min_eigenvalue.mean()) if len(spurious) else None,
        best_objective=None if not len(ended) else float(ended.value.min()),
        families=tuple(family.to_json() for family in found),
        steps=int(runs.steps.sum()),
        decided_by_value_test=int(runs.by_value.sum()),
        restarted=int((runs.halvings > 0).sum()),
    )


def result_arrays(runs: Runs, kept: np.ndarray, found: list[Family]) -> dict[str, np.ndarray]:
    """Return the arrays of a setting's result file.

    ``weights``, ``last_weights``, ``run`` and ``family`` describe the runs that ended at a minimum that is not (known to
    be) global; ``saddle_weights`` and ``saddle_run`` those at saddles; the others have one entry per run.
    """
    family = np.zeros(len(runs), dtype=np.int64)
    for index, member in enumerate(found):
        family[member.members] = index
    saddles = np.flatnonzero(runs.outcome == Outcome.SADDLE.code)
    return {
        "weights": runs.weights[kept],
        "last_weights": runs.last_weights[kept],
        "run": runs.run[kept],
        "family": family[kept],
        "family_weights": np.array([f.weights for f in found]).reshape(-1, *runs.weights.shape[1:]),
        "saddle_weights": runs.weights[saddles],
        "saddle_run": runs.run[saddles],
        "teacher": np.array(runs.problem.teacher),
        "problem": np.array(canonical_json(runs.problem.to_json())),
        "outcome": np.array([Outcome.from_code(code).name for code in runs.outcome]),
        "value": runs.value,
        "gradient_norm": runs.gradient_norm,
        "min_eigenvalue": runs.min_eigenvalue,
        "steps": runs.steps,
        "gradients": runs.gradients,
        "hessians": runs.hessians,
        "halvings": runs.halvings,
        "by_value": runs.by_value,
    }


def load_summaries(folder: Path) -> list[dict[str, Any]]:
    """Return the records of all finished settings of a run folder, with their times where known."""
    if not (folder / "manifest.json").exists():
        raise InputError(f"{folder} is not a run folder (it has no manifest.json); give one that earnshaw sweep wrote")
    times = read_json(folder / "record.json")["times"] if (folder / "record.json").exists() else {}
    names = list(read_json(folder / "manifest.json")["identity"]["problems"])
    return [
        read_json(folder / f"{name}.json") | times.get(name, {}) for name in names if (folder / f"{name}.json").exists()
    ]
