"""Rigorous proofs about points of the ReLU landscape, in ball arithmetic.

:func:`prove` decides a point and writes certificates, :func:`check` runs the trusted checker on one, :func:`explain`
says what it proves. Only ``proof/trusted/`` has to be believed. Nothing here imports JAX.
"""

from earnshaw.proof.certificate import Certificate
from earnshaw.proof.checking import Check, check
from earnshaw.proof.explain import Explanation, explain
from earnshaw.proof.producer import prove, prove_many, prove_pairs
from earnshaw.proof.verdict import Proof, Verdict

__all__ = [
    "Certificate",
    "Check",
    "Explanation",
    "Proof",
    "Verdict",
    "check",
    "explain",
    "prove",
    "prove_many",
    "prove_pairs",
]
