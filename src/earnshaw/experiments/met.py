"""Families across sweeps: which were met, where, how often, and whether they are proved."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from earnshaw.errors import InputError
from earnshaw.experiments.sweep import SweepResult, sweep_in
from earnshaw.numerics import percentage
from earnshaw.proof import Verdict
from earnshaw.store import canonical_json, read_manifest
from earnshaw.symmetry import Family, label
from earnshaw.symmetry import families as group


@dataclass(frozen=True, kw_only=True)
class MetFamily:
    """A family of minima as the runs of one setting, of one or several sweeps, met it.

    Attributes
    ----------
    sizes, network, optimizer, start : the setting.
    label, name : by the symmetry of its point, and by what its neurons do; None where there is nothing to say.
    count, decided : how many runs ended there, of how many whose fate is clear.
    percent, interval : that share in percent, and its exact (Clopper-Pearson) 95% interval.
    objective, min_eigenvalue : the loss, and the Hessian's smallest eigenvalue.
    verdict : what a sweep's proofs say of it; None where nobody tried.
    weights : its point.
    """

    sizes: Mapping[str, Any]
    network: str
    optimizer: str
    start: str
    label: str | None
    name: str | None
    count: int
    decided: int
    percent: float
    interval: tuple[float, float]
    objective: float
    min_eigenvalue: float
    verdict: str | None
    weights: np.ndarray = field(repr=False, compare=False)

    def to_json(self) -> dict[str, Any]:
        """Return a line of ``earnshaw runs families --json``."""
        record = {item.name: getattr(self, item.name) for item in dataclasses.fields(self)}
        smallest = None if np.isnan(self.min_eigenvalue) else self.min_eigenvalue
        record |= {"interval": list(self.interval), "min_eigenvalue": smallest}
        return {**record.pop("sizes"), **{key: value for key, value in record.items() if key != "weights"}}


@dataclass(frozen=True)
class _Seen:
    """A family of one result, with the verdict on it."""

    family: Family
    verdict: str | None


def families_met(*folders: str | Path) -> list[MetFamily]:
    """Return every family of minima that the sweeps in these folders met, by setting and then the most frequent first.

    Settings of equal problem, optimiser and start are one, and their runs are counted together; families that a symmetry
    takes to each other are one. Sweeps that hold the same runs, by their seed, raise :class:`InputError`.
    """
    if not folders:
        raise InputError("no folder was given; give one or several that earnshaw sweep wrote")
    results: dict[str, list[SweepResult]] = defaultdict(list)
    held: dict[tuple[str, int], str] = {}
    for folder in dict.fromkeys(Path(folder) for folder in folders):
        manifest = read_manifest(folder)
        for result in sweep_in(folder).whole():
            try:
                identity = manifest["settings"][result.name]["identity"]
                same = [identity["problem"], identity["descent"], manifest["common"]["start"]]
            except (KeyError, TypeError):
                raise InputError(f"{folder / 'manifest.json'} does not describe a sweep; sweep into another") from None
            key, seed, where = canonical_json(same), result.summary.seed, f"{folder} ({result.name})"
            if (key, seed) in held:
                raise InputError(f"{held[key, seed]} and {where} hold the same runs, of seed {seed}; give one of them")
            held[key, seed] = where
            results[key].append(result)
    found = [family for same in results.values() for family in _met(same)]
    return sorted(found, key=lambda met: (list(met.sizes.values()), met.network, met.optimizer, met.start, -met.count))


def _met(results: list[SweepResult]) -> list[MetFamily]:
    """Return the families of results of one setting, those of equal points joined."""
    seen = [one for result in results for one in _seen(result)]
    if not seen:
        return []
    problem, summary = results[0].runs.problem, results[0].summary
    points, values = (np.array([getattr(one.family, name) for one in seen]) for name in ("weights", "objective"))
    decided, found = sum(result.summary.decided for result in results), []
    for joined in group(problem.symmetry, points, values, runs=np.arange(len(seen)), scale=problem.scale):
        same = [seen[index] for index in joined.members]
        first, count = same[0].family, sum(one.family.count for one in same)
        verdicts = [one.verdict for one in same if one.verdict is not None]
        percent, interval = percentage(count, decided)
        found.append(
            MetFamily(
                sizes=summary.sizes,
                network=summary.objective,
                optimizer=summary.optimizer,
                start=summary.start,
                label=label(problem, first.weights),
                name=first.name,
                count=count,
                decided=decided,
                percent=percent,
                interval=interval,
                objective=first.objective,
                min_eigenvalue=first.min_eigenvalue,
                verdict=min(verdicts, key=Verdict.INCONCLUSIVE.name.__eq__, default=None),
                weights=first.weights,
            )
        )
    return found


def _seen(result: SweepResult) -> list[_Seen]:
    """Return the families of a result with the verdicts of its certificates, which must be there and as they were written."""
    verdicts = result.verdicts()
    return [
        _Seen(family, verdicts[index] if index < len(verdicts) else None)
        for index, family in enumerate(result.families)
    ]
