"""What the page of every kind of folder has, in the same order: the result, its sections, what was run, and how to run it again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from earnshaw.experiments.work import how_computed
from earnshaw.report.page import Code, Page, Part, Section, Text


@dataclass(frozen=True)
class Told:
    """What is said of a folder; the rest of its page is the same for every kind of work."""

    title: str
    headline: str  #: the result, in one sentence
    lead: str
    sections: Sequence[Section]
    run: Sequence[Part]  #: what was run, in words and formulas
    commands: Sequence[str]  #: that make the folder; none where only a program can


def page_of(told: Told, folder: Path) -> Page:
    """Return the page of a folder."""
    finds = "The same command finds" if told.commands else "The program that made it finds"
    words = f"{finds} the results in the folder, and computes only what is not there."
    typed = quote(str(folder))
    code = Code("\n".join([*told.commands, f"earnshaw runs show {typed}", f"earnshaw report {typed}"]))
    closing = [Section("What was run", told.run), Section("Run it again", [Text(words), code])]
    return Page(told.title, told.lead, [*told.sections, *closing], computed_with(folder), told.headline)


def computed_with(folder: Path) -> str:
    """Return with which versions and on which machine a run folder was computed, in words."""
    record = how_computed(folder)
    if not {"python", "device"} <= set(record):
        return ""
    versions = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    return f"{versions}; Python {record['python']}; {record['device']}."
