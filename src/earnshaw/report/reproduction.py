"""Sections about a paper's numbers beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from earnshaw.papers import Comparison, Source, tally
from earnshaw.report.page import Code, Figure, Folded, Part, Section, Table, Text


@dataclass(frozen=True)
class Reproduced:
    """One item of a paper as it was reproduced: its numbers, its pictures, and the command that does it again."""

    title: str
    words: str
    compared: Sequence[Comparison]
    figures: Sequence[tuple[Path, str]]
    command: str
    folded: bool = True  # whether the table of numbers opens on a click


def reproduction_section(item: Reproduced) -> Section:
    """Return the section of an item: the words, the figures, the compared numbers, how to rerun it."""
    rows = []
    for row in item.compared:
        numbers = "-" if row.ours is None else f"{row.ours:.4g}", f"{row.reference:.4g}"
        judged = row.source.word, row.words, row.answer
        rows.append([row.setting, row.quantity.replace("_", " "), *numbers, *judged])
    failed = frozenset(index for index, row in enumerate(item.compared) if row.failed)
    parts: list[Part] = [Text(item.words), *(Figure(path, caption) for path, caption in item.figures)]
    if rows:
        headings = ["setting", "quantity", "ours", "reference", "which is", "test", "agrees"]
        words = tally(item.compared)
        kinds = {row.source for row in item.compared}
        meaning = "; ".join(f"*{source.word}*: {source.value}" for source in Source if source in kinds)
        context = " *context*: no test that could fail, not counted." * (
            len(rows) > sum(row.counts for row in item.compared)
        )
        table = [Table(headings, rows, failed), Text(f"What a reference is: {meaning}.{context}")]
        parts += [Folded(words, table)] if item.folded else [Text(words + ":"), *table]
    parts += [Text("To rerun this piece, in full:"), Code(item.command)]
    return Section(item.title, parts)
