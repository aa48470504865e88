"""Papers: one module or folder per paper, with its settings, its numbers, and ours beside them.

``PAPERS`` lists them with their tables and figures, ``ERRATA`` their errors, for the command line, its completion and the
pages; nothing here imports JAX, so that help and completion are fast.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass

from earnshaw.papers.comparison import Comparison, Item, Reproducer, Reproduction, Source, tally, unexplained

__all__ = ["ERRATA", "PAPERS", "Comparison", "Item", "Paper", "Reproduction", "Source", "tally", "unexplained"]


@dataclass(frozen=True)
class Paper:
    """A paper: its name on the command line, how it is cited, which module has the function of each item, and its cost.

    ``minutes`` are of CPU time, of the item alone and in full; items of a paper share work, so that all take less.
    """

    name: str
    cited: str
    items: Mapping[str, str]
    minutes: Mapping[str, float]

    def function(self, item: str) -> Reproducer:
        """Return the function that reproduces an item; it has the item's name."""
        return getattr(importlib.import_module(f"earnshaw.papers.{self.items[item]}"), item)


def _paper(name: str, cited: str, modules: Mapping[str, Mapping[str, float]]) -> Paper:
    items = {item: module for module, minutes in modules.items() for item in minutes}
    return Paper(name, cited, items, {item: cost for minutes in modules.values() for item, cost in minutes.items()})


PAPERS: Mapping[str, Paper] = {
    paper.name: paper
    for paper in (
        _paper(
            "spurious",
            "Safran & Shamir (2018)",
            {"spurious": {"table1": 30, "table2": 15, "figure1": 15, "examples": 1}},
        ),
        _paper(
            "convnet",
            "Du, Lee, Tian, Poczos & Singh (2018)",
            {"convnet": {"figure1b": 0.3, "phases": 0.4, "probability": 0.5, "theorems": 0.5}},
        ),
        _paper(
            "electrostatics",
            "Panigrahy, Rahimi, Sachdeva & Zhang (2018)",
            {
                "electrostatics.theorems": {"table1": 0.4, "theorems": 3},
                "electrostatics.deep": {"figure1": 4, "figure2": 11, "table2": 11},
            },
        ),
        _paper(
            "logistic",
            "Fu, Chi & Liang (2018)",
            {"logistic": {"figure2": 0.1, "figure3": 210, "figure4": 45, "tensor": 1, "starts": 25, "theory": 0.5}},
        ),
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
    ("spurious", "Table 1, k = 10 and 11", "earnshaw reproduce spurious table1",
     "The printed mean loss, .022, is above ours by four standard errors and more; the eigenvalues printed beside it leave no room for it."),
    ("spurious", "Table 1, k = 13", "earnshaw reproduce spurious table1",
     "The printed 73% is not between its neighbours, 58.5 and 73.6%; ours is 65 to 67%."),
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
