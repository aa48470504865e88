"""Calling the trusted checker from the library: the same code, with a result object."""

import os
from dataclasses import dataclass
from time import perf_counter

from earnshaw.errors import InputError
from earnshaw.proof.certificate import Certificate, path_of
from earnshaw.proof.trusted import check_bytes, check_file
from earnshaw.proof.verdict import Proof
from earnshaw.threads import one_blas_thread


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
        return {
            "file": self.file,
            "verified": self.verified,
            "kind": self.kind,
            "statement": self.statement,
            "reason": self.reason,
            "seconds": self.seconds,
        }


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
    seconds = perf_counter() - begun
    if accepted:
        return Check(file, True, kind, sentence, None, seconds)
    return Check(file, False, None, None, sentence, seconds)
