"""The papers and their items: the one list, which the command line, its completion and the pages read."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from earnshaw.papers.comparison import Comparison
from earnshaw.papers.reproduction import Reproduction


@dataclass(frozen=True)
class Paper:
    """A paper: its name on the command line, how it is cited, and which module has the function of each item."""

    name: str
    cited: str
    items: Mapping[str, str]

    def function(self, item: str) -> Callable[[Reproduction], list[Comparison]]:
        """Return the function that reproduces an item; it has the item's name."""
        return getattr(importlib.import_module(f"earnshaw.papers.{self.items[item]}"), item)


def _in(module: str, *items: str) -> dict[str, str]:
    return dict.fromkeys(items, module)


PAPERS: Mapping[str, Paper] = {
    paper.name: paper
    for paper in (
        Paper("spurious", "Safran & Shamir (2018)", _in("spurious", "table1", "table2", "figure1", "examples")),
        Paper(
            "convnet",
            "Du, Lee, Tian, Poczos & Singh (2018)",
            _in("convnet", "figure1b", "phases", "probability", "theorems"),
        ),
        Paper(
            "electrostatics",
            "Panigrahy, Rahimi, Sachdeva & Zhang (2018)",
            _in("electrostatics.potentials", "table1")
            | _in("electrostatics.theorems", "theorems")
            | _in("electrostatics.deep", "figure1", "figure2", "table2"),
        ),
        Paper(
            "logistic",
            "Fu, Chi & Liang (2018)",
            _in("logistic.curvature", "figure2")
            | _in("logistic.samples", "figure3", "figure4")
            | _in("logistic.starts", "tensor", "starts")
            | _in("logistic.curvature", "theory"),
        ),
    )
}
