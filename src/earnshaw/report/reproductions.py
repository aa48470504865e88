"""The sections on papers: ours and the reference side by side, and what that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from earnshaw.papers import Comparison, Source
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
    rows = [
        [
            row.setting,
            row.quantity.replace("_", " "),
            "-" if row.ours is None else f"{row.ours:.4g}",
            f"{row.reference:.4g}",
            row.source.word,
            row.test,
            "yes" if row.ok else "NO",
        ]
        for row in item.compared
    ]
    failed = frozenset(index for index, row in enumerate(item.compared) if not row.ok)
    good = len(rows) - len(failed)
    parts: list[Part] = [Text(item.words)]
    parts += [Figure(path, caption) for path, caption in item.figures]
    if rows:
        headings = ["setting", "quantity", "ours", "reference", "which is", "test", "agrees"]
        words = f"{good} of {len(rows)} compared numbers agree"
        kinds = {row.source for row in item.compared}
        meaning = "; ".join(f"*{source.word}*: {source.value}" for source in Source if source in kinds)
        table = [Table(headings, rows, failed), Text(f"What a reference is: {meaning}.")]
        parts += [Folded(words, table)] if item.folded else [Text(words + ":"), *table]
    parts += [Text("To rerun this piece, in full:"), Code(item.command)]
    return Section(item.title, parts)
