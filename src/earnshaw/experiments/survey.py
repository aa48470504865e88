"""A map of k and n: where a spurious minimum is proved, found, or not found, with its family.

For each (k, n) the named families that have n neurons are tried in turn, until one is a minimum and its certificate is
accepted by the trusted checker. A cell depends on k and n alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from earnshaw.errors import InputError, checked_workers
from earnshaw.experiments.engine import run
from earnshaw.experiments.work import Context, Done, Piece, Progress, Work, finished, quiet
from earnshaw.numerics import TOLERANCES
from earnshaw.problems.base import whole
from earnshaw.problems.named import families_of
from earnshaw.proof import Proof, Verdict, check, prove_pattern
from earnshaw.proof.claims import MinimumClaim
from earnshaw.proof.processes import apart, processes
from earnshaw.records import decode, pack, unpack
from earnshaw.store import Arrays
from earnshaw.symmetry import named
from earnshaw.threads import cores

LARGEST = 4096  # k and n of a cell: floating point looks for the families
MAX_CELLS = 10_000  # of one folder: each has two files and a certificate


class Status(Enum):
    """What is known of a spurious minimum with n neurons for k teacher neurons; the value is the word for people."""

    PROVED = "proved"
    FOUND = "found"
    NOT_FOUND = "not found"


@dataclass(frozen=True)
class Place:
    """One k and n, to be looked at."""

    k: int
    n: int

    def __post_init__(self) -> None:
        """Refuse what has no spurious minimum by definition, and what is too large."""
        object.__setattr__(self, "k", whole("teacher neurons", self.k, 1, LARGEST))
        object.__setattr__(self, "n", whole(f"students for k = {self.k}", self.n, self.k, LARGEST))

    @property
    def name(self) -> str:
        """What its files are called."""
        return f"k{self.k}-n{self.n}"


@dataclass(frozen=True)
class Cell:
    """What is known of one (k, n).

    Attributes
    ----------
    status : proved (the checker accepts the certificate), found (in floating point alone), or not found.
    family : the name of the first family that is a minimum there; None where none is.
    objective, least : its loss and the Hessian's smallest eigenvalue, in floating point.
    objective_ge, lambda_ge : the bounds below these that its certificate proves; it is a minimum in every dimension.
    tried : what became of each family that was tried, by its name.
    certificate : the text of the certificate.
    """

    k: int
    n: int
    status: Status
    family: str | None
    objective: float | None
    least: float | None
    objective_ge: float | None
    lambda_ge: float | None
    tried: dict[str, str]
    certificate: str | None = field(repr=False)

    @property
    def name(self) -> str:
        """What its files are called."""
        return Place(self.k, self.n).name

    def to_json(self) -> dict[str, Any]:
        """Return the record: everything but the certificate."""
        kept = ("k", "n", "family", "objective", "least", "objective_ge", "lambda_ge", "tried")
        return {"status": self.status.value, **{name: getattr(self, name) for name in kept}}

    def files(self) -> dict[str, bytes]:
        """Return the certificate by its path in a folder, if there is one."""
        return {} if self.certificate is None else {f"certificates/{self.name}.json": self.certificate.encode("ascii")}


@dataclass(frozen=True)
class AtlasMap:
    """The cells that are computed, by (k, n)."""

    cells: Mapping[tuple[int, int], Cell] = field(repr=False)

    def __iter__(self) -> Iterator[Cell]:
        """Go through all cells, by ascending k and n."""
        yield from (self.cells[place] for place in sorted(self.cells))

    def __getitem__(self, place: tuple[int, int]) -> Cell:
        """Return the cell of (k, n)."""
        return self.cells[place]

    def __len__(self) -> int:
        """How many cells there are."""
        return len(self.cells)

    def count(self, status: Status) -> int:
        """Return how many cells have a status."""
        return sum(cell.status is status for cell in self)

    @property
    def smallest(self) -> dict[int, Cell]:
        """For each n - k, ascending, the cell with the smallest k at which a spurious minimum is proved."""
        found: dict[int, Cell] = {}
        for cell in self:
            if cell.status is Status.PROVED:
                found.setdefault(cell.n - cell.k, cell)
        return dict(sorted(found.items()))


@dataclass(frozen=True)
class Surveying(Work):
    """A map: a setting for each (k, n)."""

    kind: ClassVar[str] = "map"
    result: ClassVar[type] = Cell

    settings: tuple[Place, ...]

    @property
    def parts(self) -> dict[str, dict[str, Any]]:
        """One setting for each cell."""
        return {
            place.name: {"identity": {"k": place.k, "n": place.n}, "runs": 1, "plan": {}} for place in self.settings
        }

    @classmethod
    def from_json(cls, common: Mapping[str, Any], parts: Mapping[str, Any], functions: bool = False) -> Self:
        """Rebuild the map from its manifest."""
        return cls(tuple(decode(Place, part["identity"]) for part in parts.values()))

    @classmethod
    def beside(cls, arrays: Arrays) -> dict[str, bytes]:
        """Return the certificate."""
        return unpack(Cell, arrays).files()

    def compute(self, piece: Piece, context: Context) -> Arrays:
        """Look at a cell."""
        place = self.by_name[piece.setting]
        return pack(apart(look, place.k, place.n))

    @classmethod
    def load(cls, folder: Path, functions: bool = False) -> AtlasMap:
        """Return the cells of a folder that are finished."""
        return _joined(finished(folder))


def look(k: int, n: int) -> Cell:
    """Try the families that have n neurons for k teacher neurons; return the first that is proved, else the first found."""
    tried: dict[str, str] = {}
    found: Cell | None = None
    for family in families_of(k, n):
        try:
            pattern, numbers = named(family.name, k)
        except InputError:
            tried[family.name] = "lost on the way from the size at which it is known"
            continue
        least = min(float(np.linalg.eigvalsh(block.matrix)[0]) for block in pattern.blocks(numbers))
        if not least > TOLERANCES.strict:
            tried[family.name] = f"a saddle, smallest eigenvalue {least:.3g}"
            continue
        cell = Cell(k, n, Status.FOUND, family.name, pattern.value(numbers), least, None, None, tried, None)
        proof = prove_pattern(family.sizes(k), family.rows, numbers.tolist(), family=family.label(k))
        reason = proof.reason if proof.verdict is not Verdict.PROVED_MINIMUM else _rejected(proof)
        tried[family.name] = reason or Status.PROVED.value
        if reason is None:
            assert isinstance(proof.claim, MinimumClaim)
            return replace(
                cell,
                status=Status.PROVED,
                objective_ge=proof.claim.objective_ge,
                lambda_ge=proof.claim.lambda_min_ge,
                certificate=proof.certificate.to_text(),
            )
        found = found or cell
    return found or Cell(k, n, Status.NOT_FOUND, None, None, None, None, None, tried, None)


def _rejected(proof: Proof) -> str | None:
    """Return why the trusted checker rejects a proof; None if it accepts it."""
    checked = check(proof.certificate)
    return None if checked.verified else f"the checker rejects it: {checked.reason}"


def atlas_map(
    places: Iterable[tuple[int, int]],
    out: str | Path | None = None,
    workers: int | None = None,
    progress: Progress = quiet,
    cluster: str | None = None,
    time_limit: float | None = None,
) -> AtlasMap:
    """Say for each (k, n) whether a spurious minimum is proved, found in floating point alone, or not found.

    Named families are tried (:func:`earnshaw.problems.named.families_of`), so that *not found* says nothing about others.

    Parameters
    ----------
    places : pairs (k, n), n >= k; the teacher is the k coordinate vectors.
    out : a folder that keeps every cell as it is finished, and its certificate; the same call goes on from there, and a
        call with other places adds to it.
    workers : how many processes look and prove, one for each core unless told otherwise; the results do not depend on it.
    progress : called with the share of the work done, and what was finished
    cluster : that of :func:`earnshaw.experiments.run`, whose processes look and prove in place of ``workers`` of this machine.
    time_limit : seconds after which :class:`~earnshaw.experiments.Interrupted` is raised; the folder keeps what is done.
    """
    wanted = tuple(Place(k, n) for k, n in sorted(set(places)))
    if not 1 <= len(wanted) <= MAX_CELLS:
        raise InputError(f"{len(wanted)} places (k, n) were asked for; give 1 to {MAX_CELLS}")
    workers = checked_workers(workers)
    with processes(min(workers or cores(), len(wanted)) if cluster is None else 0):
        return _joined(run(Surveying(wanted), out, workers, progress, cluster=cluster, time_limit=time_limit).values())


def _joined(cells: Iterable[Done]) -> AtlasMap:
    every = [unpack(Cell, done.arrays) for done in cells]
    return AtlasMap({(cell.k, cell.n): cell for cell in every})
