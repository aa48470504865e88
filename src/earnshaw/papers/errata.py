"""Errors in the papers, one sentence each; docs/errata.md has the derivations."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Erratum:
    """What a paper says wrongly, and what shows it."""

    paper: str
    place: str
    words: str
    shown_by: str


ERRATA = (
    Erratum(
        "spurious",
        "Lemma 5, Theorem 3",
        "The derivative of a block's norm is taken for a Lipschitz constant of the block; exceeded 1.299 times for one student and one teacher.",
        "tests/proof/test_calculus.py",
    ),
    Erratum(
        "spurious",
        "Lemma 7",
        "A bound on the Hessian's norm is half of what Lemma 9 gives; false for n = k = 1 (2.68 against 2.09).",
        "docs/errata.md",
    ),
    Erratum(
        "spurious",
        "Eigenvalue algorithm",
        "The error term lacks a factor lambda_max, and its condition C < 1 is not tested.",
        "tests/proof/test_paper_chain.py",
    ),
    Erratum(
        "spurious",
        "Runs not verified",
        "Of the ends that the paper could not verify as minima, one of those published for k = 15, n = 16 is a saddle.",
        "earnshaw prove k15-n16.npz",
    ),
    Erratum(
        "convnet",
        "Equation (3)",
        "The cross term of the loss lacks a factor 1/(2 pi); sampling agrees with the corrected formula.",
        "earnshaw reproduce convnet theorems",
    ),
    Erratum(
        "convnet",
        "Theorem 3.3",
        "The spurious point attracts only like 1/t, and is a minimum exactly when S^2 < ((k + pi - 1)/pi) |a*|^2.",
        "earnshaw reproduce convnet probability",
    ),
    Erratum(
        "logistic",
        "Fourth moment",
        "The symmetrised product in M4 needs the factor 1/2; the printed 1 counts every pairing twice.",
        "tests/starts",
    ),
    Erratum(
        "logistic",
        "Algorithm 2",
        "With raw labels, split data and one random projection the tensor start fails up to 3e5 samples; taking the residual is decisive.",
        "earnshaw reproduce logistic tensor",
    ),
    Erratum(
        "electrostatics",
        "Theorem 5",
        "Gradient flow on L/2 is the dynamics of charges under Phi, not under 2 Phi.",
        "earnshaw reproduce electrostatics theorems",
    ),
    Erratum(
        "electrostatics",
        "Algorithm 1",
        "The step along negative curvature has the wrong sign: as printed it ascends.",
        "earnshaw reproduce electrostatics theorems",
    ),
)
