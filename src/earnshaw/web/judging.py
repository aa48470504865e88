"""What the processes of the page compute: a proof, and what the trusted checker says of certificates. It brings no JAX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from earnshaw.errors import InputError

if TYPE_CHECKING:
    import numpy as np

    from earnshaw.proof import Proof


def prove_point(record: dict[str, Any], weights: np.ndarray) -> Proof:
    """Prove a point of the problem of a record; a point that is refused is inconclusive."""
    from earnshaw.problems import problem_from_json
    from earnshaw.proof.producer import prove_many

    return next(prove_many(problem_from_json(record), [weights], workers=1))


def prove_theorem(name: str) -> dict[str, Any]:
    """Prove that a family (II, A or B) is a minimum for every k, or that there is none (``absence``) for k = 2, and check it."""
    from dataclasses import asdict

    from earnshaw.proof import absence, check, course, prove_every_k

    if name == "absence":
        found = absence(2)
        item, words, file = found.certificate, found.reason, "k2-absence.json"
        command = "earnshaw absence -k 2 --out certs"
    else:
        proof = prove_every_k(name)
        item, words, file = proof.main, proof.words, f"{name}-from-k{proof.sizes['first']}-every_k.json"
        command = f"earnshaw prove --family {name} --every-k --out certs"
    if item is None:
        raise InputError(f"nothing is proved: {words}")
    checked = check(item)
    curve = course(item) if checked.verified and name != "absence" else None
    return {
        "verified": checked.verified,
        "says": checked.statement if checked.verified else checked.reason,
        "words": words,
        "seconds": checked.seconds,
        "certificate": item.to_text() if checked.verified else None,
        "file": file,
        "command": f"{command}\nearnshaw check certs",
        "course": curve and {"first": curve.first, "start": curve.start, **asdict(curve.claim)},
    }


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
