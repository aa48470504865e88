"""What a proof attempt ends with: a verdict, the numbers proved, and the certificates that carry them."""

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from earnshaw.errors import InputError
from earnshaw.proof.basin import inside
from earnshaw.proof.certificate import Certificate


class Verdict(Enum):
    """The three ends of an attempt; the value is the sentence for people."""

    PROVED_MINIMUM = "proved: a spurious local minimum lies here"
    PROVED_SADDLE = "proved: a saddle point lies here"
    INCONCLUSIVE = "inconclusive: nothing is proved about this point"


@dataclass(frozen=True)
class Proof:
    """The result of :func:`earnshaw.proof.prove`.

    Every number is rounded to the safe side: ``_ge`` down, radii that are claimed to hold down, radii that enclose up.
    ``weights`` (n, d) is the polished centre and ``moved`` its distance from the point given.
    """

    verdict: Verdict
    reason: str
    n: int
    k: int
    d: int
    weights: np.ndarray = field(repr=False)
    moved: float = 0.0
    lambda_min_ge: float | None = None
    lambda_ext_ge: float | None = None
    curvature_le: float | None = None
    objective_ge: float | None = None
    enclosure_radius: float | None = None
    unique_radius: float | None = None
    basin_radius: float | None = None
    step_lt: float | None = None
    teacher_radius: float | None = None
    every_dimension: bool = False
    seconds: float = 0.0
    certificates: Mapping[str, Certificate] = field(default_factory=dict, repr=False)

    @property
    def main(self) -> Certificate | None:
        """The certificate of the verdict itself: `minimum` or `saddle`, None when inconclusive."""
        return self.certificates.get("minimum") or self.certificates.get("saddle")

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the main certificate to `path`, atomically."""
        if self.main is None:
            raise InputError(f"there is no certificate to save: {self.reason}")
        return self.main.save(path)

    def save_all(self, folder: str | os.PathLike[str], stem: str) -> dict[str, Path]:
        """Write every certificate as FOLDER/STEM-KIND.json; return the path of each kind."""
        return {kind: item.save(Path(folder) / f"{stem}-{kind}.json") for kind, item in self.certificates.items()}

    def report(self, source: str, index: int, certificate: str | os.PathLike[str] | None) -> dict[str, object]:
        """Return the row that ``prove --json`` prints for this point."""
        return {
            "source": source,
            "index": index,
            "n": self.n,
            "k": self.k,
            "d": self.d,
            "verdict": self.verdict.name,
            "reason": self.reason,
            "lambda_min_ge": self.lambda_min_ge,
            "objective_ge": self.objective_ge,
            "enclosure_radius": self.enclosure_radius,
            "unique_radius": self.unique_radius,
            "basin_radius": self.basin_radius,
            "teacher_radius": self.teacher_radius,
            "every_dimension": self.every_dimension,
            "seconds": self.seconds,
            "certificate": None if certificate is None else os.fspath(certificate),
        }

    def basin_holds(self, weights: ArrayLike, step: float) -> bool:
        """Say whether exact gradient descent with fixed `step` from `weights` provably converges to this minimum.

        Weights that equal a point of the basin up to a symmetry of the problem count only after that symmetry has been
        applied to them: permute neurons (and coordinates, where the teacher allows it) first.
        """
        if self.basin_radius is None or self.step_lt is None or not 0 < step < self.step_lt:
            return False
        return inside(weights, self.weights, self.basin_radius)

    def timed(self, seconds: float) -> "Proof":
        """Return a copy that says how long it took."""
        return dataclasses.replace(self, seconds=seconds)
