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
            {"spurious": {"table1": 17, "table2": 9, "figure1": 9, "examples": 1}},
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
                "electrostatics.theorems": {"table1": 0.4, "theorems": 2},
                "electrostatics.deep": {"figure1": 4, "figure2": 11, "table2": 11},
            },
        ),
        _paper(
            "logistic",
            "Fu, Chi & Liang (2018)",
            {"logistic": {"figure2": 0.1, "figure3": 230, "figure4": 80, "tensor": 1, "starts": 25, "theory": 0.5}},
        ),
    )
}


@dataclass(frozen=True)
class Erratum:
    """What a paper says wrongly, in a sentence, what shows it, and the test that would fail if it were right.

    ``section`` is the heading of docs/errata.md with the derivation; what is shown by code there is run by the tests.
    """

    paper: str
    place: str
    section: str
    shown_by: str
    test: str
    words: str


CODE, BLOCKS = (
    "code in docs/errata.md",
    "tests/docs/test_blocks.py::test_the_blocks_of_a_page_run_and_print_what_it_shows",
)
THEOREMS = "earnshaw reproduce electrostatics theorems"

# fmt: off
ERRATA = tuple(Erratum(*row) for row in (
    ("spurious", "Lemma 5, Theorem 3", "Lemma 5 and Theorem 3: the rate of change of the Hessian", CODE,
     "tests/proof/test_calculus.py::test_printed_lipschitz_constant_is_exceeded_by_the_factor_in_the_errata",
     "The derivative of a block's norm is taken for a Lipschitz constant of the block; exceeded 1.299 times for one student and one teacher."),
    ("spurious", "Lemma 7", "Lemma 7: the norm of the Hessian", CODE, BLOCKS,
     "A bound on the Hessian's norm is half of what Lemma 9 gives; false for n = k = 1 (2.68 against 2.09)."),
    ("spurious", "Eigenvalue algorithm", "The eigenvalue algorithm", CODE, BLOCKS,
     "The error term lacks a factor lambda_max, and its condition C < 1 is not tested."),
    ("spurious", "Runs not verified", "A saddle among the published points", "earnshaw check tests/proof/k15-n16-saddle.json",
     "tests/proof/test_producer.py::test_the_saddle_among_the_published_points",
     "Of the ends that the paper could not verify as minima, one of those published for k = 15, n = 16 is a saddle."),
    ("spurious", "Table 1, k = 10 and 11", "Table 1, k = 10 and 11", "earnshaw reproduce spurious table1",
     "tests/papers/test_spurious.py::test_the_disputed_rows_of_table_1_disagree",
     "The printed mean loss, .022, is above ours by four standard errors, and is at odds with the eigenvalues printed beside it."),
    ("spurious", "Table 1, k = 13", "Table 1, k = 13", "earnshaw reproduce spurious table1",
     "tests/papers/test_spurious.py::test_the_disputed_rows_of_table_1_disagree",
     "The printed 73% is not between its neighbours, 58.5 and 73.6%, as it should be; ours is 64.2% of 10,000 runs."),
    ("convnet", "Equation (3)", "Equation (3): the loss", CODE,
     "tests/landscapes/test_convnet.py::test_the_printed_formula_is_wrong",
     "The cross term of the loss lacks a factor 1/(2 pi); sampling agrees with the corrected formula."),
    ("convnet", "Theorem 3.3", "Lemma 4.1 and Theorem 3.3: when the second point is a minimum", "earnshaw reproduce convnet theorems",
     "tests/proof/test_convnet.py::test_the_condition_on_a_grid_that_straddles_it",
     "The spurious point is a minimum exactly when S^2 < ((k + pi - 1)/pi) |a*|^2; the theorem's condition is far from that."),
    ("logistic", "Fourth moment", "Definition 2: the fourth moment", CODE,
     "tests/starts/tensor/test_moments.py::test_the_fourth_moment_needs_one_half_where_the_paper_prints_one",
     "The symmetrised product in M4 needs the factor 1/2; the printed 1 counts every pairing twice."),
    ("logistic", "Algorithm 2", "Algorithm 2 as printed", "earnshaw reproduce logistic tensor",
     "tests/papers/test_logistic.py::test_the_tensor_start_is_held_against_its_limit",
     "With raw labels, split data and one random projection the tensor start fails up to a million samples; taking the residual is decisive."),
    ("electrostatics", "Theorem 5", "Theorem 5: the factor of the dynamics", THEOREMS,
     "tests/experiments/test_charges.py::test_gradient_flow_on_half_the_loss_is_the_dynamics_under_phi",
     "Gradient flow on L/2 is the dynamics of charges under Phi, not under 2 Phi."),
    ("electrostatics", "Algorithm 1", "Algorithm 1 and Lemma 19: the step along negative curvature",
     "tests/descent/optimizers/test_second_order.py",
     "tests/descent/optimizers/test_second_order.py::test_a_hessian_step_goes_down_and_the_printed_sign_goes_up",
     "The step along negative curvature has the wrong sign: as printed it ascends."),
))
# fmt: on
