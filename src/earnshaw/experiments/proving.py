"""Proofs for what a sweep found: every family, and every run that ended inside a proved basin."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from earnshaw.descent import Outcome
from earnshaw.errors import InputError
from earnshaw.experiments.cluster import proving
from earnshaw.experiments.summary import families
from earnshaw.experiments.sweep import Sweep, SweepResult
from earnshaw.experiments.work import Progress, load, quiet
from earnshaw.numerics import TOLERANCES
from earnshaw.problems import Problem, TwoLayer, problem_from_json
from earnshaw.proof import Certificate, Proof, Verdict, prove_pairs
from earnshaw.proof.processes import Elsewhere
from earnshaw.store import RunFolder, digest, read_manifest, read_npz
from earnshaw.store.folder import file_digest
from earnshaw.symmetry import Family, align, label


@dataclass(frozen=True)
class Target:
    """A point to prove: where it came from, which one it is there, and the stem of its certificates' names."""

    source: str
    index: int
    problem: Problem
    weights: np.ndarray
    stem: str


@dataclass(frozen=True)
class Proved:
    """How far proofs reach for one setting of a sweep: families of end points, minima and saddles together, by verdict."""

    proved: int
    saddles: int
    inconclusive: int
    #: those whose last iterate is in the proved basin of their minimum: exact gradient descent from it provably ends there
    runs_in_proved_basins: int

    def to_json(self) -> dict[str, int]:
        """Return the four keys that ``earnshaw sweep --prove --json`` adds."""
        return dataclasses.asdict(self)


def targets(path: Path) -> list[Target]:
    """Return every family of a run folder, the center of a certificate, or the points of an ``.npz`` file.

    That has ``weights`` and states its ``problem``. Without one it is ReLU with the ``teacher`` of the file, the standard basis if there is none.
    """
    if path.is_dir():
        found = load(path)
        if isinstance(found, Sweep):
            return [target for result in found.whole() for target in sweep_targets(result, str(path))]
        kind = read_manifest(path)["kind"]
        raise InputError(f"{path} holds work of the kind {kind!r}, which has no minima to prove; give a sweep's folder")
    if path.suffix == ".json":
        return [_centre(path)]
    problem, weights = points_of(path)
    require_provable(problem, f"{path} holds points of a problem")
    return [target_of(str(path), path.stem, index, problem, point) for index, point in enumerate(weights)]


def points_of(path: Path) -> tuple[Problem, np.ndarray]:
    """Return the problem that an ``.npz`` file states, or that of its teacher, and its points (points, neurons, dimension)."""
    arrays = read_npz(path)
    if "weights" not in arrays:
        raise InputError(f"{path} has no array 'weights'; it has {', '.join(sorted(arrays)) or 'none'}")
    weights = arrays["weights"]
    weights = weights[None] if weights.ndim == 2 else weights
    if weights.ndim != 3 or weights.dtype.kind not in "fiu":
        given = f"'weights' in {path} has shape {weights.shape} and type {weights.dtype}"
        raise InputError(f"{given}; give numbers (points, neurons, dimension)")
    if "problem" in arrays:
        try:
            problem = problem_from_json(json.loads(str(arrays["problem"])))
        except ValueError as error:
            raise InputError(f"{path} states no readable problem ({error}); it is damaged") from None
    else:
        problem = TwoLayer(arrays.get("teacher", np.eye(weights.shape[2])), students=weights.shape[1])
    return problem, weights.astype(np.float64)


def _centre(path: Path) -> Target:
    """Return the center of a certificate about a ReLU network; the certificate is not checked here."""
    document = Certificate.load(path).document
    try:
        problem = problem_from_json(document["problem"])
        center = np.array([[float.fromhex(entry) for entry in row] for row in document["center"]])
    except (KeyError, TypeError, ValueError):
        problem, center = None, np.zeros(0)
    if not isinstance(problem, TwoLayer) or center.shape != (problem.students, problem.dimension):
        raise InputError(
            f"{path} is no certificate about a point of a ReLU network; give one, a run folder or an .npz file"
        )
    return target_of(str(path), path.stem.partition("-family")[0], 0, problem, center)


def target_of(source: str, stem: str, index: int, problem: Problem, weights: np.ndarray) -> Target:
    """Return a point to prove; the names of its certificates hold the problem's, its place and a hash of it."""
    stem = stem if problem.name in stem else f"{stem}-{problem.name}"
    content = digest([problem.to_json(), [float(x).hex() for x in np.ravel(weights)]])[:8]
    return Target(source, index, problem, np.asarray(weights, dtype=np.float64), f"{stem}-family{index:03d}-{content}")


def require_provable(problem: Problem, who: str = "--prove was asked for a problem") -> Problem:
    """Return the problem, or raise :class:`InputError` if there are no proofs about it."""
    if problem.unprovable is not None:
        raise InputError(f"{who} that has no proofs: {problem.unprovable}")
    return problem


def sweep_targets(result: SweepResult, source: str) -> list[Target]:
    """Return the families of minima and then of saddles of one setting."""
    who, activation = f"{source} holds runs of a problem", result.summary.objective.partition("/")[2]
    if ":" in activation:  # it may be a user's own, which need not be loaded for this
        raise InputError(f"{who} that has no proofs: the activation is {activation}, and the theorems cover relu only")
    runs = result.runs
    problem = require_provable(runs.problem, who)
    saddles = families(runs.where(Outcome.SADDLE), result.summary.seed)
    points = [family.weights for family in [*result.families, *saddles]]
    return [target_of(source, result.name, index, problem, point) for index, point in enumerate(points)]


def concerns(certificate: Certificate, target: Target) -> bool:
    """Say whether a verified certificate is of this point: of its problem, with a center that a symmetry moves to the point.

    The two may differ by what separates families, and by the radius within which there is no other critical point.
    """
    document, symmetry = certificate.document, target.problem.symmetry
    if document["problem"] != target.problem.to_json() or symmetry is None or "center" not in document:
        return False
    center = np.array([[float.fromhex(entry) for entry in row] for row in document["center"]])
    alone = float.fromhex(document.get("R_unique") or "inf")  # a saddle has none
    return align(symmetry, center, target.weights, min(alone, TOLERANCES.family)) is not None


def prove_targets(
    points: list[Target],
    workers: int | Elsewhere | None = None,
    precision: int | None = None,
    reported: Callable[[Target, Proof], None] = lambda t, p: None,
    every_n: bool = False,
    cluster: str | None = None,
) -> list[Proof]:
    """Prove points in order and name their families; call ``reported`` as each proof comes.

    ``every_n`` asks for minima with every larger number of neurons, too. ``cluster`` is that of
    :func:`earnshaw.experiments.run`: it proves in place of processes of this machine.
    """
    proofs = []
    pairs = ((point.problem, point.weights) for point in points)
    options = ({} if precision is None else {"precision": precision}) | ({"every_n": True} if every_n else {})
    with proving(cluster, workers) as who:
        for point, proof in zip(points, prove_pairs(pairs, workers=who, **options), strict=True):
            named = None if proof.point is None else label(point.problem, proof.point.weights)
            proofs.append(proof.named(named))
            reported(point, proofs[-1])
    return proofs


def prove_sweep(
    results: list[SweepResult],
    folder: Path,
    workers: int | None = None,
    progress: Progress = quiet,
    cluster: str | None = None,
) -> list[Proved]:
    """Prove every family of finished settings; write certificates to ``folder/certificates`` and counts beside the results.

    ``cluster`` is that of :func:`earnshaw.experiments.run`: it proves in place of processes of this machine.
    """
    with proving(cluster, workers) as who:
        return _prove_sweep(results, folder, who, progress)


def _prove_sweep(
    results: list[SweepResult], folder: Path, workers: int | Elsewhere | None, progress: Progress
) -> list[Proved]:
    run, counted = RunFolder.open(folder), []
    for place, result in enumerate(map(dataclasses.replace, results)):  # a copy, which takes its runs with it
        points = sweep_targets(result, result.name) if result.runs.problem.is_realisable else []
        proofs = prove_targets(points, workers)
        run.still_there()
        rows, certificates = [], {}
        for point, proof in zip(points, proofs, strict=True):
            paths = proof.save_all(folder / "certificates", point.stem).values()
            saved = {str(path.relative_to(folder)): file_digest(path) for path in paths}
            row = proof.report(result.name, point.index, next(iter(saved), None))
            certificates |= saved
            rows.append({key: value for key, value in row.items() if key not in ("seconds", "splitting")})
        verdicts = [proof.verdict for proof in proofs]
        kinds = Verdict.PROVED_MINIMUM, Verdict.PROVED_SADDLE, Verdict.INCONCLUSIVE
        proved, saddles, inconclusive = map(verdicts.count, kinds)
        minima = zip(result.families, proofs, strict=False)  # the saddles come after them
        inside = sum(_in_basin(result, family, proof) for family, proof in minima)
        counts = Proved(proved, saddles, inconclusive, inside)
        run.put_proofs(result.name, counts.to_json() | {"families": rows, "certificates": certificates})
        counted.append(counts)
        progress((place + 1) / len(results), result.name)
    return counted


def _in_basin(result: SweepResult, family: Family, proof: Proof) -> int:
    """Count the members whose last iterate, moved by the symmetry that takes its end to the proved point, is in the basin."""
    # The basins are those of gradient descent; runs of another optimiser are not counted.
    kind, _, step = result.summary.optimizer.partition(":")
    if proof.verdict is not Verdict.PROVED_MINIMUM or kind != "gd" or family.alignments is None:
        return 0
    runs = result.runs.of(family.members)
    lengths = float(step) / 2.0**runs.halvings
    return sum(
        proof.basin_holds(alignment.move(last), float(length))
        for last, alignment, length in zip(runs.last_weights, family.alignments, lengths, strict=True)
    )
