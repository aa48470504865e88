"""Papers: one module or folder per paper, with its settings, its numbers, and ours beside them.

``PAPERS`` lists them with their tables and figures, ``ERRATA`` their errors, for the command line, its completion and the
pages; nothing here imports JAX, so that help and completion are fast.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass

from earnshaw.papers.comparison import Comparison, Item, Reproducer, Reproduction, Source

__all__ = ["ERRATA", "PAPERS", "Comparison", "Item", "Paper", "Reproduction", "Source"]


@dataclass(frozen=True)
class Paper:
    """A paper: its name on the command line, how it is cited, and which module has the function of each item."""

    name: str
    cited: str
    items: Mapping[str, str]

    def function(self, item: str) -> Reproducer:
        """Return the function that reproduces an item; it has the item's name."""
        return getattr(importlib.import_module(f"earnshaw.papers.{self.items[item]}"), item)


PAPERS: Mapping[str, Paper] = {
    name: Paper(name, cited, {item: module for module, items in modules.items() for item in items.split()})
    for name, cited, modules in (
        ("spurious", "Safran & Shamir (2018)", {"spurious": "table1 table2 figure1 examples"}),
        ("convnet", "Du, Lee, Tian, Poczos & Singh (2018)", {"convnet": "figure1b phases probability theorems"}),
        (
            "electrostatics",
            "Panigrahy, Rahimi, Sachdeva & Zhang (2018)",
            {"electrostatics.theorems": "table1 theorems", "electrostatics.deep": "figure1 figure2 table2"},
        ),
        ("logistic", "Fu, Chi & Liang (2018)", {"logistic": "figure2 figure3 figure4 tensor starts theory"}),
    )
}


@dataclass(frozen=True)
class Erratum:
    """What a paper says wrongly, in a sentence, and what shows it; docs/errata.md has the derivations."""

    paper: str
    place: str
    shown_by: str
    words: str


# fmt: off
ERRATA = tuple(Erratum(*row) for row in (
    ("spurious", "Lemma 5, Theorem 3", "tests/proof/test_calculus.py",
     "The derivative of a block's norm is taken for a Lipschitz constant of the block; exceeded 1.299 times for one student and one teacher."),
    ("spurious", "Lemma 7", "docs/errata.md",
     "A bound on the Hessian's norm is half of what Lemma 9 gives; false for n = k = 1 (2.68 against 2.09)."),
    ("spurious", "Eigenvalue algorithm", "tests/proof/test_paper_chain.py",
     "The error term lacks a factor lambda_max, and its condition C < 1 is not tested."),
    ("spurious", "Runs not verified", "earnshaw prove k15-n16.npz",
     "Of the ends that the paper could not verify as minima, one of those published for k = 15, n = 16 is a saddle."),
    ("convnet", "Equation (3)", "earnshaw reproduce convnet theorems",
     "The cross term of the loss lacks a factor 1/(2 pi); sampling agrees with the corrected formula."),
    ("convnet", "Theorem 3.3", "earnshaw reproduce convnet probability",
     "The spurious point attracts only like 1/t, and is a minimum exactly when S^2 < ((k + pi - 1)/pi) |a*|^2."),
    ("logistic", "Fourth moment", "tests/starts",
     "The symmetrised product in M4 needs the factor 1/2; the printed 1 counts every pairing twice."),
    ("logistic", "Algorithm 2", "earnshaw reproduce logistic tensor",
     "With raw labels, split data and one random projection the tensor start fails up to 3e5 samples; taking the residual is decisive."),
    ("electrostatics", "Theorem 5", "earnshaw reproduce electrostatics theorems",
     "Gradient flow on L/2 is the dynamics of charges under Phi, not under 2 Phi."),
    ("electrostatics", "Algorithm 1", "earnshaw reproduce electrostatics theorems",
     "The step along negative curvature has the wrong sign: as printed it ascends."),
))
# fmt: on
