"""What an attempt at a proof ends with (a verdict, the numbers proved, certificates that carry them), and what a check does."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import Enum
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from earnshaw.errors import InputError
from earnshaw.problems import Problem
from earnshaw.proof.certificate import Certificate, path_of
from earnshaw.proof.claims import Claim, DensePoint, MinimumClaim, PatternPoint
from earnshaw.proof.splitting import Splitting
from earnshaw.proof.trusted import check_bytes, check_file
from earnshaw.proof.trusted import check_lines as trusted_lines
from earnshaw.showing import Shown, sized
from earnshaw.threads import one_blas_thread

# The sizes and the numbers that a row of ``prove --json`` shows, by network.
_COLUMNS = {
    "two-layer": (
        "n k d",
        "lambda_min_ge objective_ge enclosure_radius unique_radius basin_radius teacher_radius every_dimension split_neuron "
        "split_ge",
    ),
    "convnet": ("p k", "margin value product barrier saddle_angle enclosure_radius step_le"),
    "every-k": ("first from", "lambda_ge lambda_head_ge lambda_tail_ge value_ge value_le every_dimension"),
    "data": ("neurons d samples", "curvature_ge change_le growth_le gradient_le radius minimiser_within"),
}


class Missed(Exception):
    """An inequality of the theorem does not hold; the message says which, by how much, and what would help."""


class Verdict(Enum):
    """The ends of an attempt; the value is the sentence for people."""

    PROVED_MINIMUM = "proved: a spurious local minimum lies here"
    PROVED_SADDLE = "proved: a saddle point lies here"
    PROVED_EVERY_K = "proved: a spurious local minimum for every k"
    PROVED_CONVEX = "proved: the risk is strictly convex around here"
    PROVED_ABSENT = "proved: there is no bad minimum"
    INCONCLUSIVE = "inconclusive: nothing is proved about this point"


@dataclass(frozen=True, repr=False)
class Proof(Shown):
    """The result of :func:`earnshaw.proof.prove`.

    Attributes
    ----------
    verdict, reason : how the attempt ended, and why.
    network, sizes : the kind of problem, and its sizes.
    point : the centre of the claim (polished, where points are), and ``moved`` its distance from the point given; None
        where there is none.
    claim : what is proved, in numbers; None when nothing is.
    certificates : by kind, the verdict's own first.
    splitting : for a minimum of a ReLU network, what splitting each kind of its neurons does (floating point).
    seconds : how long it took.
    family : what the point's family is called by its symmetry; None where nobody said it. It is no part of the claim.
    """

    verdict: Verdict
    reason: str
    network: str
    sizes: Mapping[str, Any]
    point: DensePoint | PatternPoint | None = None
    claim: Claim | None = None
    certificates: Mapping[str, Certificate] = field(default_factory=dict)
    moved: float = 0.0
    seconds: float = 0.0
    splitting: tuple[Splitting, ...] = ()
    family: str | None = None

    @classmethod
    def undecided(cls, problem: Problem, reason: str, center: np.ndarray | None = None, moved: float = 0.0) -> Proof:
        """Return the end of an attempt that proved nothing."""
        point = None if center is None else DensePoint(center)
        return cls(Verdict.INCONCLUSIVE, reason, problem.network, problem.sizes, point, moved=moved)

    def _line(self) -> str:
        return f"{self.verdict.name}, {sized(self.sizes)}: {self.words}"

    def _facts(self) -> Mapping[str, object]:
        numbers = (
            {} if self.claim is None else {name: value for name, value in vars(self.claim).items() if value is not None}
        )
        return {
            "verdict": self.verdict.value,
            "reason": self.reason,
            **numbers,
            "certificates": ", ".join(self.certificates),
        }

    def _matrix(self) -> Any:
        return None if self.point is None else np.atleast_2d(self.point.weights)

    def named(self, family: str | None) -> Proof:
        """Return the proof with the name of its family, as a remark in its certificates too."""
        if family is None:
            return self
        certificates = {kind: item.remarked(family=family) for kind, item in self.certificates.items()}
        return replace(self, family=family, certificates=certificates)

    @property
    def words(self) -> str:
        """The numbers proved, in a line; the reason where nothing is."""
        return self.reason if self.claim is None else self.claim.words

    @property
    def main(self) -> Certificate | None:
        """The certificate of the verdict itself; None when inconclusive."""
        return next(iter(self.certificates.values()), None)

    @property
    def certificate(self) -> Certificate:
        """The certificate of the verdict itself; raises InputError when inconclusive."""
        if self.main is None:
            raise InputError(f"there is no certificate: {self.reason}")
        return self.main

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the main certificate to `path`, atomically."""
        return self.certificate.save(path)

    def save_all(self, folder: str | os.PathLike[str], stem: str) -> dict[str, Path]:
        """Write every certificate as FOLDER/STEM-KIND.json; return the path of each kind, the verdict's own first."""
        return {kind: item.save(Path(folder) / f"{stem}-{kind}.json") for kind, item in self.certificates.items()}

    def report(self, source: str, index: int, certificate: str | os.PathLike[str] | None) -> dict[str, object]:
        """Return the row that ``prove --json`` prints for this point."""
        sizes, numbers = (names.split() for names in _COLUMNS[self.network])
        return {
            "source": source,
            "index": index,
            **{name: self.sizes[name] for name in sizes},
            "verdict": self.verdict.name,
            "reason": self.reason,
            "family": self.family,
            **{name: getattr(self.claim, name, False if name == "every_dimension" else None) for name in numbers},
            **({"splitting": [row.to_json() for row in self.splitting]} if self.network == "two-layer" else {}),
            "seconds": self.seconds,
            "certificate": None if certificate is None else os.fspath(certificate),
        }

    def basin_holds(self, weights: ArrayLike, step: float) -> bool:
        """Say whether exact gradient descent with fixed `step` from `weights` provably converges to this minimum.

        Weights that equal a point of the basin up to a symmetry of the problem count only after that symmetry has been
        applied to them: permute neurons (and coordinates, where the teacher allows it) first.
        """
        claim, point = self.claim, self.point
        if not isinstance(claim, MinimumClaim) or claim.basin_radius is None or claim.step_lt is None:
            return False
        return (
            0 < step < claim.step_lt and isinstance(point, DensePoint) and point.is_within(claim.basin_radius, weights)
        )


@dataclass(frozen=True)
class Check:
    """Whether a certificate was verified, and what it proves or why it was rejected."""

    file: str | None
    verified: bool
    kind: str | None
    statement: str | None
    reason: str | None
    seconds: float

    def __str__(self) -> str:
        """Return the line that the command prints."""
        return f"VERIFIED {self.statement}" if self.verified else f"REJECTED {self.reason}"

    def report(self) -> dict[str, object]:
        """Return the row that ``check --json`` prints."""
        return asdict(self)


def check(certificate: Proof | Certificate | str | os.PathLike[str], limit: float = 1.0) -> Check:
    """Run the trusted checker on a certificate: an object, its JSON text (starting with a brace), or a file's path.

    Of a proof its main certificate is checked; one that is inconclusive has none, and raises InputError. A certificate
    whose check would cost more than `limit` times what is allowed by default is rejected at once, with the reason.
    """
    if not limit > 0:
        raise InputError(f"limit is {limit}; give a positive number, how many times the default cost may be spent")
    begun = perf_counter()
    file = None
    if isinstance(certificate, Proof):
        certificate = certificate.certificate
    with one_blas_thread():
        if isinstance(certificate, Certificate):
            accepted, kind, sentence = check_bytes(certificate.to_text().encode(), limit)
        elif isinstance(certificate, str) and certificate.lstrip().startswith("{"):
            accepted, kind, sentence = check_bytes(certificate.encode("utf-8", errors="replace"), limit)
        else:
            file = path_of(certificate)
            accepted, kind, sentence = check_file(file, limit)
    return _checked(file, (accepted, kind, sentence), begun)


def check_lines(path: str | os.PathLike[str], limit: float = 1.0) -> Iterator[Check]:
    """Run the trusted checker on a file of many certificates, one a line, such as those of the atlas; yield each result."""
    with one_blas_thread():
        results, number = trusted_lines(path_of(path), limit), 0
        while True:
            begun, number = perf_counter(), number + 1
            result = next(results, None)
            if result is None:
                return
            yield _checked(f"{os.fspath(path)}:{number}", result, begun)


def _checked(file: str | None, result: tuple[bool, str | None, str], begun: float) -> Check:
    accepted, kind, sentence = result
    statement, reason = (sentence, None) if accepted else (None, sentence)
    return Check(file, accepted, kind, statement, reason, perf_counter() - begun)
