"""Rigorous proofs in ball arithmetic about points of ReLU networks, about convolutional networks, and about data sets.

:func:`prove` decides a point and writes certificates, :func:`check` runs the trusted checker on one, :func:`explain`
says what it proves. Only ``proof/trusted/`` has to be believed. Nothing here imports JAX, and SciPy only where a proof is
produced, so that checking a certificate does not wait for it.
"""

from earnshaw.proof.absence import Absence, AbsenceMap, absence, absence_map
from earnshaw.proof.absence_leaves import Leaves, SphereLeaves, leaves, sphere_leaves, sphere_views
from earnshaw.proof.blocks import prove_families, prove_family, prove_pattern
from earnshaw.proof.certificate import Certificate
from earnshaw.proof.claims import (
    Claim,
    ConvexityClaim,
    ConvNetClaim,
    DensePoint,
    EveryKClaim,
    MinimumClaim,
    PatternPoint,
    SaddleClaim,
)
from earnshaw.proof.every_k import Course, course, prove_every_k
from earnshaw.proof.explanation import Explanation, explain
from earnshaw.proof.paper_chain import PaperChain, follow_paper
from earnshaw.proof.producer import prove, prove_many, prove_pairs
from earnshaw.proof.splitting import Splitting, splitting, splitting_table
from earnshaw.proof.thresholds import Turn, turn
from earnshaw.proof.verdict import Check, Proof, Verdict, check, check_lines

__all__ = ["Certificate", "Check", "Explanation", "Proof", "Verdict", "check", "check_lines", "explain", "prove"]
__all__ += ["Course", "Turn", "course", "prove_every_k", "turn"]
__all__ += ["prove_families", "prove_family", "prove_many", "prove_pairs", "prove_pattern"]
__all__ += ["Claim", "ConvNetClaim", "ConvexityClaim", "DensePoint", "EveryKClaim"]
__all__ += ["MinimumClaim", "PatternPoint", "SaddleClaim"]
__all__ += ["PaperChain", "follow_paper"]
__all__ += ["Absence", "AbsenceMap", "Leaves", "SphereLeaves", "absence", "absence_map", "leaves"]
__all__ += ["sphere_leaves", "sphere_views"]
__all__ += ["Splitting", "splitting", "splitting_table"]
