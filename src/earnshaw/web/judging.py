"""What the processes of the page compute: a proof, and what the trusted checker says of certificates. It brings no JAX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from earnshaw.proof import Proof


def prove_point(record: dict[str, Any], weights: np.ndarray) -> Proof:
    """Prove a point of the problem of a record; a point that is refused is inconclusive."""
    from earnshaw.problems import problem_from_json
    from earnshaw.proof.producer import prove_many

    return next(prove_many(problem_from_json(record), [weights], workers=1))


def judge(certificates: dict[str, bytes]) -> dict[str, dict[str, Any]]:
    """Return for each certificate whether the trusted checker verifies it, its kind, the sentence, and the theorem in words."""
    return {name: _judged(data) for name, data in certificates.items()}


def _judged(data: bytes) -> dict[str, Any]:
    import json

    from earnshaw.proof import Certificate, explain
    from earnshaw.proof.trusted import check_bytes

    verified, kind, sentence = check_bytes(data)
    told = {"verified": verified, "kind": kind, "sentence": sentence, "words": None, "latex": None}
    if verified and kind is not None:
        theorem = explain(Certificate(kind, json.loads(data)))
        if theorem.verified:
            told |= {"words": theorem.words, "latex": theorem.latex}
    return told
