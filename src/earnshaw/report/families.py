"""Each family of minima as a card: its weights, its spectrum, how often it was met, what is proved of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from earnshaw.experiments import SweepResult
from earnshaw.plots import card_figures
from earnshaw.problems import RandomConvNets
from earnshaw.report.page import Card, Cards, Figure, Folded, Part, Section, Table, Text, figures_of
from earnshaw.report.proofs import Said, verdicts
from earnshaw.report.words import labels, number, share, sizes, symbols
from earnshaw.symmetry import Family

CARDS = 24  # families that have a card; all of more are in a table
DRAWN = 900  # weights up to which a family is drawn
LEAST = "$λ_min$"


def families_section(results: Sequence[SweepResult], out: Path, said: Said) -> list[Section]:
    """Return a card for each family, and where there are too many a table of all; nothing where there is none."""
    found = [(result, index, family) for result in results for index, family in enumerate(result.families)]
    if not found:
        return []
    text = (
        "End points that differ only by a symmetry of the problem (an exchange of neurons, or of coordinates that the teacher "
        "does not notice) are one family."
    )
    if any(family.alignments is None for _, _, family in found):
        text = "End points of equal loss are one family."
    text += f" Counts have 95% intervals of their share; the pictures show the weights, one neuron a row, and the eigenvalues of the Hessian, of which {LEAST} is the smallest."
    words, named = verdicts(results, out, said), labels(results)
    several = len({result.summary.optimizer for result in results}) > 1
    cards, rows = [], []
    for result, index, family in found:
        summary, proof = result.summary, words[result.name, index]
        if len(cards) < CARDS:
            runs = f"{family.count} of {summary.runs}: {share(family.count, max(summary.runs, family.count))}"
            facts = {"runs": runs, **numbers_of(family), "neurons": family.name or "", "proof": proof}
            title = f"{named[result.name]}, family {index}"
            picture = figures_of(out) / f"{result.name}-family{index}"
            cards.append(family_card(family, title, facts, picture))
        told = {
            "family": str(index),
            "name": symbols(family.label or ""),
            "runs": str(family.count),
            **numbers_of(family),
        }
        told |= {"what its neurons do": family.name or "", "proof": proof}
        rows.append(sizes(summary) | {"optimiser": summary.optimizer * several} | told)
    parts: list[Part] = [Cards(cards), Text(text)]
    if len(found) > CARDS:
        parts += [
            Text(f"These are the first {CARDS} of {len(found)} families."),
            Folded("All families", [Table.of(rows)]),
        ]
    return [Section("Families of minima", parts)]


def numbers_of(family: Family) -> dict[str, str]:
    """Return the loss and the smallest eigenvalue at a family's point."""
    return {"loss": f"{family.objective:.8f}", LEAST: number(family.min_eigenvalue, 6)}


def family_card(family: Family, title: str, facts: Mapping[str, str], picture: Path) -> Card:
    """Return the card of a family: its pictures where its problem has a landscape, and what is known of it."""
    figures = []
    if family.problem is not None and not isinstance(family.problem, RandomConvNets) and family.weights.size <= DRAWN:
        for name, path in card_figures(family, picture).items():
            figures.append(Figure(path, f"{name} of {title}", plain=True))
    named = f"{symbols(family.label)}: " if family.label else ""
    return Card(f"{named}{title}", facts, figures)
