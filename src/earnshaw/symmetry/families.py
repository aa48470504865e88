"""Families: the distinct points among many end points, with counts, and how each run is moved to its family's point."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earnshaw.numerics import TOLERANCES
from earnshaw.problems import Problem, Symmetry
from earnshaw.showing import Shown
from earnshaw.symmetry.permutations import Alignment, align, canonical_alignment

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class FamilyRecord:
    """What a summary says of a family, without its points.

    Attributes
    ----------
    count : how many runs ended there.
    objective : the loss at the representative.
    min_eigenvalue : the Hessian's smallest eigenvalue there (in R^(d+1) for a network of neurons); NaN if nobody computed it.
    name : what its neurons do, when they copy or average teacher neurons.
    label : the group of permutations that fixes its point, after the letter of a family that has one: ``II (S_19)``,
        ``S_17 x S_2``; None where nobody asked, for other networks than those of two layers, and for a teacher without
        symmetry.
    """

    count: int
    objective: float
    min_eigenvalue: float = math.nan
    name: str | None = None
    label: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the record as plain JSON data; a name and a label only where there are any."""
        smallest = None if math.isnan(self.min_eigenvalue) else self.min_eigenvalue
        record = {"count": self.count, "objective": self.objective, "min_eigenvalue": smallest}
        words = {"name": self.name, "label": self.label}
        return record | {key: word for key, word in words.items() if word}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> FamilyRecord:
        """Read a record back from :meth:`to_json`."""
        count, objective, smallest = (record[name] for name in ("count", "objective", "min_eigenvalue"))
        smallest = math.nan if smallest is None else smallest
        words = {key: record.get(key) for key in ("name", "label")}
        return FamilyRecord(count=count, objective=objective, min_eigenvalue=smallest, **words)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Family(Shown, FamilyRecord):
    """Runs that ended at one point under the symmetries of the problem; two are equal when their records are.

    Attributes
    ----------
    weights : the family's representative, in canonical form where symmetries are declared: the order that shows its pattern.
    members : (count,) indices of the runs, ascending.
    alignments : for each member, the symmetry that moves its end point to ``weights``; None where none are declared.
    problem : what the runs were asked to learn; None where knowing it would take loading a user's own function.
    """

    weights: Array
    members: NDArray[np.int64]
    alignments: tuple[Alignment, ...] | None
    problem: Problem | None = None

    def _line(self) -> str:
        where = "" if self.problem is None else f"{self.problem.name}: "
        smallest = "" if math.isnan(self.min_eigenvalue) else f", smallest eigenvalue {self.min_eigenvalue:.6g}"
        words = "".join(f", {word}" for word in (self.label, self.name) if word)
        return f"{where}{self.count} runs, loss {self.objective:.8g}{smallest}{words}"

    def _facts(self) -> Mapping[str, object]:
        record = {"runs": self.count, "loss": self.objective, "smallest eigenvalue": self.min_eigenvalue}
        words = {"symmetry": self.label, "neurons": self.name}
        return record | {name: word for name, word in words.items() if word}

    def _matrix(self) -> Array:
        return np.atleast_2d(self.weights)


def families(
    symmetry: Symmetry | None,
    points: Array,
    values: Array,
    *,
    runs: NDArray[np.int64],
    scale: float = 1.0,
    tolerance: float = TOLERANCES.family,
    describe: Callable[[Array], str | None] = lambda point: None,
) -> list[Family]:
    """Group end points into families, the largest first.

    Two points closer than ``tolerance`` (Frobenius, after a declared symmetry) to the same first member are one family.
    Sorted entries and losses, which symmetries do not change, rule out most pairs before the search. Where no symmetry is
    declared (None), losses alone decide.

    Parameters
    ----------
    points : (count, ...), of any shape.
    values : (count,) losses; they agree when they differ by at most ``tolerance * scale``.
    runs : (count,) which run each point belongs to, ascending; members are these.
    scale : the square scale of the loss.
    describe : names a family by its point.
    """
    found = []
    left = np.arange(len(points))
    entries = np.sort(points.reshape(len(points), math.prod(points.shape[1:])), axis=1)
    while left.size:
        first, others = left[0], left[1:]
        weights, alignments = points[first], None
        others = others[np.abs(values[others] - values[first]) <= tolerance * scale]
        if symmetry is not None:
            home = canonical_alignment(symmetry, weights)
            others = others[np.abs(entries[others] - entries[first]).max(axis=1, initial=0.0) <= tolerance]
            moves = {index: align(symmetry, points[index], weights, tolerance) for index in others}
            others = np.array([index for index in others if moves[index] is not None], dtype=np.int64)
            alignments = (home, *(move.then(home) for move in moves.values() if move is not None))
            weights = home.move(weights)
        members = np.append(first, others)
        record = {"count": len(members), "objective": float(values[first]), "name": describe(points[first])}
        found.append(Family(**record, weights=weights, members=runs[members], alignments=alignments))
        left = left[~np.isin(left, members)]
    return sorted(found, key=lambda family: (-family.count, family.objective, family.members[0]))


def pack(found: Sequence[Family], num_runs: int, shape: tuple[int, ...]) -> dict[str, NDArray[Any]]:
    """Return families of points of this shape as arrays, to be stored beside the runs.

    ``family_weights`` (families, ...); ``family`` (num_runs,), each run's family or -1; and where symmetries are
    declared ``family_rows`` (num_runs, n) and ``family_columns`` (num_runs, d), so that
    ``points[i][family_rows[i]][:, family_columns[i]]`` is the representative; the identity for runs of no family.
    """
    owner = np.full(num_runs, -1, dtype=np.int32)
    for index, family in enumerate(found):
        owner[family.members] = index
    weights = np.array([family.weights for family in found], dtype=np.float64).reshape(-1, *shape)
    arrays: dict[str, NDArray[Any]] = {"family": owner, "family_weights": weights}
    if len(shape) == 2 and all(family.alignments is not None for family in found):
        for axis, side in enumerate(Alignment._fields):
            orders = np.tile(np.arange(shape[axis], dtype=np.min_scalar_type(shape[axis])), (num_runs, 1))
            for family in found:
                orders[family.members] = [getattr(alignment, side) for alignment in family.alignments or ()]
            arrays[f"family_{side}"] = orders
    return arrays


def unpack(
    records: Sequence[FamilyRecord], arrays: Mapping[str, NDArray[Any]], problem: Problem | None = None
) -> list[Family]:
    """Return the families of a problem of which these are the records and, from :func:`pack`, the arrays."""
    found = []
    for index, record in enumerate(records):
        members = np.flatnonzero(arrays["family"] == index)
        alignments = None
        if "family_rows" in arrays:
            rows, columns = (arrays[name][members].astype(np.int64) for name in ("family_rows", "family_columns"))
            alignments = tuple(Alignment(*pair) for pair in zip(rows, columns, strict=True))
        known = {field.name: getattr(record, field.name) for field in dataclasses.fields(FamilyRecord)}
        weights = arrays["family_weights"][index]
        found.append(Family(**known, weights=weights, members=members, alignments=alignments, problem=problem))
    return found
