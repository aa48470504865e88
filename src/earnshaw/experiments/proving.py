"""Proofs for what a sweep found: every family, and every run that ended inside a proved basin."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from earnshaw.descent import GradientDescent
from earnshaw.errors import InputError
from earnshaw.experiments.plan import Plan, Setting
from earnshaw.numerics import TOLERANCES
from earnshaw.problems import TwoLayer, problem_from_json
from earnshaw.proof import Proof, Verdict, prove_pairs
from earnshaw.store import digest, read_json, read_npz, write_json
from earnshaw.symmetry import align
from earnshaw.symmetry import families as group


@dataclass(frozen=True)
class Target:
    """A point to prove: where it came from, which one it is there, and the stem of its certificates' names."""

    source: str
    index: int
    problem: TwoLayer
    weights: np.ndarray
    stem: str


@dataclass(frozen=True)
class Proved:
    """How far proofs reach for one setting of a sweep.

    Attributes
    ----------
    proved, saddles, inconclusive : families of end points (minima and saddles together) by verdict.
    runs_in_proved_basins : runs whose last iterate lies in the proved basin of their minimum, so that exact gradient
        descent from that iterate provably ends there.
    """

    proved: int
    saddles: int
    inconclusive: int
    runs_in_proved_basins: int

    def to_json(self) -> dict[str, int]:
        """Return the four keys that ``earnshaw sweep --prove --json`` adds."""
        return dataclasses.asdict(self)


def targets(path: Path) -> list[Target]:
    """Return the points of an ``.npz`` file (``weights``, optional ``teacher``), or every family of a run folder."""
    if path.is_dir():
        if not (path / "manifest.json").exists():
            raise InputError(f"{path} is not a run folder (it has no manifest.json); give one, or .npz files")
        names = list(read_json(path / "manifest.json")["identity"]["problems"])
        found = [target for name in names if (path / f"{name}.npz").exists() for target in _families(path, name)]
        return found
    arrays = read_npz(path)
    if "weights" not in arrays:
        raise InputError(f"{path} has no array 'weights'; it has {', '.join(sorted(arrays)) or 'none'}")
    weights = arrays["weights"]
    if weights.ndim == 2:
        weights = weights[None]
    if weights.ndim != 3 or weights.dtype.kind not in "fiu":
        raise InputError(
            f"'weights' in {path} has shape {weights.shape} and type {weights.dtype}; give numbers (points, neurons, dimension)"
        )
    problem = _problem(path, arrays, weights.shape)
    return [_target(str(path), path.stem, index, problem, point) for index, point in enumerate(weights)]


def _target(source: str, stem: str, index: int, problem: TwoLayer, weights: np.ndarray) -> Target:
    sizes = f"k{problem.teachers}-n{problem.students}"
    stem = stem if sizes in stem else f"{stem}-{sizes}"
    content = digest([problem.to_json(), [float(x).hex() for x in np.ravel(weights)]])[:8]
    return Target(source, index, problem, np.asarray(weights, dtype=np.float64), f"{stem}-family{index:03d}-{content}")


def _problem(path: Path, arrays: Mapping[str, np.ndarray], shape: tuple[int, ...]) -> TwoLayer:
    """Return the problem of a file's points: the one it states, or ReLU with its teacher (the standard basis if none)."""
    if "problem" not in arrays:
        return TwoLayer(arrays.get("teacher", np.eye(shape[2])), students=shape[1])
    try:
        stated = json.loads(str(arrays["problem"]))
        activation, trained = str(stated["objective"]).partition("/")[2], "trainable_output" in stated
        problem = problem_from_json(stated) if activation == "relu" and not trained else None
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} states no readable problem ({error}); it is damaged") from None
    if problem is None:
        raise _unprovable(f"{path} holds students", activation, trained)
    return problem


def _unprovable(who: str, activation: str, trained: bool) -> InputError:
    return InputError(
        f"{who} with activation {activation}{' and trained output weights' * trained}; "
        "proofs exist for ReLU with fixed output weights"
    )


def require_provable(problem: TwoLayer) -> None:
    """Raise :class:`InputError` unless proofs exist for problems of this kind."""
    if problem.activation.kind != "relu" or problem.trainable_output:
        raise _unprovable("--prove was asked for students", problem.activation.name, problem.trainable_output)


def _families(folder: Path, name: str) -> list[Target]:
    """Return the families of minima and then of saddles of one setting."""
    arrays = read_npz(folder / f"{name}.npz")
    problem = _problem(folder, arrays, arrays["weights"].shape)
    points = list(arrays["family_weights"])
    saddles = arrays["saddle_weights"]
    points += [family.weights for family in group(problem, saddles, arrays["value"][arrays["saddle_run"]])]
    return [_target(str(folder), name, index, problem, point) for index, point in enumerate(points)]


def prove_targets(
    points: list[Target],
    workers: int | None = None,
    precision: int | None = None,
    reported: Callable[[Target, Proof], None] = lambda t, p: None,
) -> list[Proof]:
    """Prove points in order; call ``reported`` as each proof comes."""
    proofs = []
    pairs = ((point.problem, point.weights) for point in points)
    options = {} if precision is None else {"precision": precision}
    for point, proof in zip(points, prove_pairs(pairs, workers=workers, **options), strict=True):
        reported(point, proof)
        proofs.append(proof)
    return proofs


def prove_sweep(
    plan: Plan, folder: Path, workers: int | None = None, progress: Callable[[float, str], None] = lambda s, w: None
) -> list[Proved]:
    """Prove every family of a finished sweep; write certificates to ``folder/certificates`` and counts beside the results."""
    out = folder / "certificates"
    out.mkdir(exist_ok=True)
    results = []
    for index, setting in enumerate(plan.settings):
        points = _families(folder, setting.name)
        if not setting.problem.is_realisable:
            points = []
        proofs = prove_targets(points, workers)
        rows: list[dict[str, Any]] = []
        for point, proof in zip(points, proofs, strict=True):
            paths = proof.save_all(out, point.stem)
            row = proof.report(
                setting.name, point.index, proof.main and str(next(iter(paths.values())).relative_to(folder))
            )
            rows.append({key: value for key, value in row.items() if key != "seconds"})
        verdicts = [proof.verdict for proof in proofs]
        counts = Proved(
            proved=verdicts.count(Verdict.PROVED_MINIMUM),
            saddles=verdicts.count(Verdict.PROVED_SADDLE),
            inconclusive=verdicts.count(Verdict.INCONCLUSIVE),
            runs_in_proved_basins=_in_basins(plan, setting, folder, proofs),
        )
        write_json(folder / f"{setting.name}-proofs.json", counts.to_json() | {"families": rows})
        results.append(counts)
        progress((index + 1) / len(plan.settings), setting.name)
    return results


def _in_basins(plan: Plan, setting: Setting, folder: Path, proofs: list[Proof]) -> int:
    """Count the runs whose last iterate, moved by the symmetry that takes its end to the proved point, is in the basin.

    The basins are those of gradient descent; runs of another optimiser are not counted.
    """
    if not isinstance(plan.descent, GradientDescent):
        return 0
    arrays = read_npz(folder / f"{setting.name}.npz")
    inside = 0
    for weights, last, run, family in zip(
        arrays["weights"], arrays["last_weights"], arrays["run"], arrays["family"], strict=True
    ):
        proof = proofs[family] if proofs else None
        if proof is None or proof.verdict is not Verdict.PROVED_MINIMUM:
            continue
        found = align(setting.problem, weights, arrays["family_weights"][family], TOLERANCES.family)
        step = plan.descent.step / 2.0 ** int(arrays["halvings"][run])
        inside += found is not None and proof.basin_holds(last[found[0]][:, found[1]], step)
    return inside
