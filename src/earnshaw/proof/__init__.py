"""Rigorous proofs in ball arithmetic about points of ReLU networks, about convolutional networks, and about data sets.

:func:`prove` decides a point and writes certificates, :func:`check` runs the trusted checker on one, :func:`explain`
says what it proves. Only ``proof/trusted/`` has to be believed. Nothing here imports JAX, and names are loaded when
first used (PEP 562), so that checking a certificate does not wait for the producer.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from earnshaw.proof.certificate import Certificate
    from earnshaw.proof.checking import Check, check
    from earnshaw.proof.claims import ConvexityClaim, ConvNetClaim, DensePoint, MinimumClaim, SaddleClaim
    from earnshaw.proof.explanation import Explanation, explain
    from earnshaw.proof.paper_chain import EXAMPLES, PaperChain, follow_paper
    from earnshaw.proof.producer import prove, prove_many, prove_pairs
    from earnshaw.proof.verdict import Proof, Verdict

_HOMES = {
    "Certificate": "certificate",
    "Check": "checking",
    "check": "checking",
    "ConvNetClaim": "claims",
    "ConvexityClaim": "claims",
    "DensePoint": "claims",
    "MinimumClaim": "claims",
    "SaddleClaim": "claims",
    "Explanation": "explanation",
    "explain": "explanation",
    "EXAMPLES": "paper_chain",
    "PaperChain": "paper_chain",
    "follow_paper": "paper_chain",
    "prove": "producer",
    "prove_many": "producer",
    "prove_pairs": "producer",
    "Proof": "verdict",
    "Verdict": "verdict",
}

__all__ = [
    "EXAMPLES",
    "Certificate",
    "Check",
    "ConvNetClaim",
    "ConvexityClaim",
    "DensePoint",
    "Explanation",
    "MinimumClaim",
    "PaperChain",
    "Proof",
    "SaddleClaim",
    "Verdict",
    "check",
    "explain",
    "follow_paper",
    "prove",
    "prove_many",
    "prove_pairs",
]


def __getattr__(name: str) -> Any:
    """Load a public name on first use; later uses find it here at once."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
