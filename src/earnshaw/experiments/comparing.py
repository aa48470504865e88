"""Two sweeps held against each other: the same settings, how often runs end at spurious minima, and in which families."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from earnshaw.errors import InputError
from earnshaw.experiments.sweep import SweepResult, sweep_in
from earnshaw.numerics import TOLERANCES, two_proportions
from earnshaw.problems import Problem
from earnshaw.symmetry import Family, align


@dataclass(frozen=True)
class Share:
    r"""How often something happened in two sweeps, of the decided runs, and the two-sample statistic of the difference,

    .. math:: z = \frac{p_1 - p_2}{\sqrt{p(1-p)(1/m_1 + 1/m_2)}} ;

    beyond 2 in absolute value in one of twenty comparisons of equal chances. None where a sweep has no decided run.
    """

    counts: tuple[int, int]
    decided: tuple[int, int]
    z: float | None

    @classmethod
    def of(cls, first: int, second: int, decided: tuple[int, int]) -> Share:
        """Return the comparison of two counts."""
        if not all(decided):
            return cls((first, second), decided, None)
        z = two_proportions(first / decided[0], decided[0], second / decided[1], decided[1])
        return cls((first, second), decided, z)

    @property
    def percent(self) -> tuple[float | None, float | None]:
        """Both shares, in percent."""
        first, second = (100 * c / m if m else None for c, m in zip(self.counts, self.decided, strict=True))
        return first, second


@dataclass(frozen=True)
class MatchedFamily:
    """A family of minima of one of the sweeps, or of both; ``label`` is its name by symmetry, ``objective`` its loss."""

    label: str | None
    objective: float
    share: Share


@dataclass(frozen=True)
class Compared:
    """One setting of both sweeps: ``optimizers`` and ``seeds`` of each, spurious runs, and every family of minima."""

    name: str
    optimizers: tuple[str, str]
    seeds: tuple[int, int]
    spurious: Share
    families: tuple[MatchedFamily, ...]

    def to_json(self) -> dict[str, Any]:
        """Return a line of ``earnshaw runs compare --json``."""
        return asdict(self)


def compare(first: str | Path, second: str | Path) -> list[Compared]:
    """Compare the settings that two folders of sweeps have in common: those of equal name and equal problem.

    Families are matched by the symmetries of the problem: two are one if a symmetry takes one point to the other. Optimisers,
    starts and seeds may differ; that is what is compared. Folders without a common setting raise :class:`InputError`, and so do
    settings of equal sizes whose teachers differ.
    """
    one, other = (
        {result.name: result for result in sweep_in(folder).whole()} for folder in (Path(first), Path(second))
    )
    common = [name for name in one if name in other]
    if not common:
        raise InputError(
            f"{first} has {', '.join(one)} and {second} has {', '.join(other)}: no setting in common; give sweeps of the same sizes"
        )
    return [_compared(one[name], other[name], f"{first} and {second}") for name in common]


def _compared(first: SweepResult, second: SweepResult, where: str) -> Compared:
    problem = first.runs.problem
    if problem != second.runs.problem:
        raise InputError(
            f"{first.name} of {where} are of different problems; compare sweeps of the same teacher and network"
        )
    summaries = first.summary, second.summary
    decided = (summaries[0].decided, summaries[1].decided)
    families = [
        MatchedFamily(family.label, family.objective, Share.of(*counts, decided))
        for family, counts in _matched(problem, first.families, second.families)
    ]
    return Compared(
        name=first.name,
        optimizers=(summaries[0].optimizer, summaries[1].optimizer),
        seeds=(summaries[0].seed, summaries[1].seed),
        spurious=Share.of(summaries[0].spurious, summaries[1].spurious, decided),
        families=tuple(sorted(families, key=lambda found: -sum(found.share.counts))),
    )


def _matched(problem: Problem, first: list[Family], second: list[Family]) -> list[tuple[Family, tuple[int, int]]]:
    """Return every family with its counts in both sweeps."""
    left = list(second)
    found = []
    for family in first:
        same = next((other for other in left if _same(problem, family, other)), None)
        if same is not None:
            left = [other for other in left if other is not same]
        found.append((family, (family.count, 0 if same is None else same.count)))
    return found + [(family, (0, family.count)) for family in left]


def _same(problem: Problem, one: Family, other: Family) -> bool:
    close = abs(one.objective - other.objective) <= TOLERANCES.family * problem.scale
    symmetry = problem.symmetry
    if symmetry is None or not close:
        return close
    return align(symmetry, np.asarray(one.weights), np.asarray(other.weights), TOLERANCES.family) is not None
