"""The atlas: named families of critical points proved for every k in a range, one small certificate a line.

A folder has one file a family, ``II.jsonl``, its lines certificates in ascending k. Each line is written only after the
trusted checker has accepted it, and each file appears whole or not at all: what is interrupted is resumed. A certificate
depends on the family and on k alone.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from earnshaw.errors import InputError, Interrupted, checked_time_limit, checked_workers
from earnshaw.experiments.cluster import proving
from earnshaw.problems.named import NamedFamily, named_family
from earnshaw.proof import Certificate, Proof, check, prove_families
from earnshaw.proof.blocks import block_spectra
from earnshaw.proof.processes import in_processes
from earnshaw.store import regular, write_bytes
from earnshaw.symmetry import Pattern, named
from earnshaw.threads import cores

# What the loss of a family tends to as k grows: in words, the number, and the power of k that it is divided by.
LIMITS = {
    "II": ("k F tends to 1/2 - 2/pi^2", 0.5 - 2 / math.pi**2, 1),
    "I": ("F tends to 1/2 - 1/pi", 0.5 - 1 / math.pi, 0),
    "A": ("F tends to 1/2 - 1/pi", 0.5 - 1 / math.pi, 0),
    "B": ("k F tends to 0.267255", 0.267255, 1),
}
CHUNK = 20  # sizes that a process proves at a time
Progress = Callable[[float, str], None]  # (share done, what was done last)


@dataclass(frozen=True)
class AtlasPoint:
    """A line of the atlas: what a certificate says of one point of a family; ``reason`` says why there is none.

    Attributes
    ----------
    family, k, n : the family's name, and the sizes.
    kind : minimum or saddle; None: nothing is proved.
    objective_ge, objective_le : the loss at the critical point.
    lambda_ge : a bound below the smallest eigenvalue of a minimum's Hessian, in every dimension; for a saddle a bound above
        one that is negative.
    enclosure_radius, unique_radius : how near the critical point is, and how far no other is (None for a saddle).
    """

    family: str
    k: int
    n: int
    kind: str | None
    objective_ge: float | None = None
    objective_le: float | None = None
    lambda_ge: float | None = None
    enclosure_radius: float | None = None
    unique_radius: float | None = None
    reason: str | None = None
    certificate: Certificate | None = field(default=None, repr=False, compare=False)

    def report(self) -> dict[str, Any]:
        """Return the row that ``atlas show --json`` prints."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "certificate"}


@dataclass(frozen=True)
class Atlas:
    """What a folder of the atlas has: the points of each family, by ascending k."""

    folder: Path
    points: Mapping[str, Sequence[AtlasPoint]] = field(repr=False)

    def __iter__(self) -> Iterator[AtlasPoint]:
        """Go through all points, family by family."""
        for some in self.points.values():
            yield from some

    def columns(self, family: str) -> dict[str, np.ndarray]:
        """Return k, the loss, and the radii (near: of the enclosure; far: without another) of a family's points; NaN for none."""
        names = {"k": "k", "objective": "objective_ge", "near": "enclosure_radius", "far": "unique_radius"}
        points = [point for point in self.points[family] if point.kind is not None]
        return {
            key: np.array([getattr(point, name) for point in points], dtype=np.float64) for key, name in names.items()
        }

    def least_eigenvalues(self, family: str, places: int) -> dict[str, tuple[list[int], list[float]]]:
        """Return for each block of the Hessian its smallest eigenvalue at up to so many sizes, and the sizes."""
        certificates = [(point.k, point.certificate) for point in self.points[family] if point.certificate is not None]
        found: dict[str, tuple[list[int], list[float]]] = {}
        for index in np.unique(np.geomspace(1, len(certificates), places).astype(int) - 1):
            k, certificate = certificates[index]
            for block, (_, values) in block_spectra(certificate).items():
                sizes, smallest = found.setdefault(block, ([], []))
                sizes.append(k)
                smallest.append(float(values[0]))
        return found


def build_atlas(
    out: str | Path,
    families: Iterable[str],
    k: Iterable[int],
    workers: int | None = None,
    progress: Progress = lambda share, what: None,
    cluster: str | None = None,
    time_limit: float | None = None,
) -> Atlas:
    """Prove named families for all sizes k, or what is left of them in the folder ``out``, and return what it has.

    A point that could not be proved is listed in the result, with the reason, and tried again the next time. Sizes for
    which a family is not known are refused before anything is computed. ``cluster`` is that of
    :func:`earnshaw.experiments.run`: its processes prove, in place of ``workers`` of this machine. After ``time_limit`` seconds
    :class:`~earnshaw.experiments.Interrupted` is raised, when the next points are proved; the same call goes on.
    """
    over = time.monotonic() + checked_time_limit(time_limit)
    folder, chosen, sizes = Path(out), [named_family(name) for name in families], sorted({int(size) for size in k})
    if not chosen or not sizes:
        raise InputError("nothing was asked for; give at least one family and one k")
    workers = checked_workers(workers)
    for family in chosen:
        for size in (sizes[0], sizes[-1]):
            family.sizes(size)
    found = {family.name: _read(folder, family) for family in chosen}
    jobs = [
        (family.name, missing)
        for family in chosen
        for begin in range(sizes[0] // CHUNK * CHUNK, sizes[-1] + 1, CHUNK)
        if (missing := [k for k in sizes if begin <= k < begin + CHUNK and k not in found[family.name]])
    ]
    total, done = sum(len(missing) for _, missing in jobs), 0
    failed: dict[str, dict[int, AtlasPoint]] = {family.name: {} for family in chosen}
    with proving(cluster, workers or cores()) as who:
        for (name, _), points in zip(jobs, in_processes(prove_points, jobs, who), strict=True):
            for point in points:
                (failed if point.kind is None else found)[name][point.k] = point
            _write(folder, name, found[name])
            done += len(points)
            progress(done / total, f"{name} {points[-1].k}")
            if time.monotonic() > over and done < total:
                raise Interrupted(f"{done} of {total} points")
    every = {name: sorted([*found[name].values(), *failed[name].values()], key=lambda point: point.k) for name in found}
    return Atlas(folder, every)


def load_atlas(folder: str | Path) -> Atlas:
    """Read a folder of the atlas; what its certificates say is believed here: ``check`` them to know."""
    folder = Path(folder)
    files = sorted(folder.glob("*.jsonl"))
    if not files:
        raise InputError(f"{folder} is no atlas: it has no .jsonl file; earnshaw atlas build makes one")
    families = [named_family(path.stem.replace("_", ":").replace("-", ",")) for path in files]
    found = {family.name: sorted(_read(folder, family).values(), key=lambda point: point.k) for family in families}
    for name, points in found.items():
        if not points:
            raise InputError(f"{_path(folder, name)} is empty; remove it, and build again")
    return Atlas(folder, found)


class Line(NamedTuple):
    """An eigenvalue of a Hessian, how often it has it, and the part of the weights that it belongs to."""

    eigenvalue: float
    multiplicity: int
    block: str


def family_spectrum(family: str, k: int) -> list[Line]:
    """Return the Hessian's eigenvalues at a family's point, or at the global minimum (``global``), in ascending order.

    They come from the blocks in doubles, which do for k up to about 10,000.
    """
    if family == "global":
        if k < 2:
            raise InputError(f"k is {k}; give at least 2")
        pattern, numbers = Pattern.of((k,), (0,)), np.array([1.0, 0.0])
    else:
        pattern, numbers = named(family, k)
    lines = [
        Line(float(value), block.multiplicity, block.name)
        for block in pattern.blocks(numbers)
        for value in np.linalg.eigvalsh(block.matrix)
    ]
    return sorted(lines)


def prove_points(name: str, sizes: Sequence[int]) -> list[AtlasPoint]:
    """Prove a family at some sizes; each point whose ``kind`` is not None has a certificate that the trusted checker accepted."""
    return [_point(name, k, proof) for k, proof in zip(sizes, prove_families(name, sizes), strict=True)]


def _point(name: str, k: int, proof: Proof) -> AtlasPoint:
    family = named_family(name)
    if proof.main is None:
        return AtlasPoint(name, k, family.neurons(k), None, reason=proof.reason)
    checked = check(proof.main)
    if not checked.verified:
        return AtlasPoint(name, k, family.neurons(k), None, reason=f"the checker rejects it: {checked.reason}")
    return _said(family, proof.main)


def _said(family: NamedFamily, certificate: Certificate) -> AtlasPoint:
    """Return what a certificate says; KeyError, TypeError or ValueError where it is no such certificate."""
    document = certificate.document
    claims, problem = document["claims"], document["problem"]
    low, high = (float.fromhex(claims[name]) for name in ("F_ge", "F_le"))
    near, sizes = float.fromhex(document["R_enclosure"]), (family.name, problem["k"], problem["n"])
    if certificate.kind == "blocks_saddle":
        return AtlasPoint(
            *sizes, "saddle", low, high, float.fromhex(claims["curvature_le"]), near, None, None, certificate
        )
    least = min(float.fromhex(claims[name]) for name in ("lambda_min_ge", "lambda_ext_ge"))
    far = float.fromhex(document["R_unique"])
    return AtlasPoint(*sizes, "minimum", low, high, least, near, far, None, certificate)


def _path(folder: Path, name: str) -> Path:
    return folder / f"{name.replace(':', '_').replace(',', '-')}.jsonl"


def _read(folder: Path, family: NamedFamily) -> dict[int, AtlasPoint]:
    """Return the points that a family's file has, by k; damage raises :class:`InputError`."""
    path = _path(folder, family.name)
    if not path.exists():
        return {}
    found = {}
    for number, line in enumerate(regular(path).read_bytes().splitlines(), 1):
        try:
            document = json.loads(line)
            point = _said(family, Certificate(document["kind"], document))
            right = document["pattern"] == {"sizes": list(family.sizes(point.k)), "rows": list(family.rows)}
        except (KeyError, TypeError, ValueError, RecursionError):
            right, point = False, None
        if not right or point is None or point.k in found:
            raise InputError(
                f"line {number} of {path} is no certificate of family {family.name}, or the second one of its size; "
                "remove the line, and build again"
            )
        found[point.k] = point
    return found


def _write(folder: Path, name: str, points: Mapping[int, AtlasPoint]) -> None:
    documents = [point.certificate.document for _, point in sorted(points.items()) if point.certificate is not None]
    if documents:
        lines = [json.dumps(document, separators=(",", ":")) + "\n" for document in documents]
        write_bytes(_path(folder, name), "".join(lines).encode("ascii"))
