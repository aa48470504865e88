"""The page of a sweep: what was found, what is proved, how to run it again."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from earnshaw.errors import InputError
from earnshaw.experiments import load_summaries
from earnshaw.plots import Percentages, percentage_figure, value_figure
from earnshaw.proof import explain
from earnshaw.report.page import Code, Figure, Folded, Page, Part, Section, Table, Text
from earnshaw.store import read_json, read_npz

Record = Mapping[str, Any]


def sweep_page(folder: Path, out: Path) -> Page:
    """Return the page of a run folder; figures are drawn beside ``out``, and certificates linked from there."""
    manifest = read_json(folder / "manifest.json") if (folder / "manifest.json").exists() else None
    if manifest is None:
        raise InputError(f"{folder} is not a run folder (it has no manifest.json); give one that earnshaw sweep wrote")
    if manifest["identity"]["kind"] != "sweep":
        raise InputError(
            f"{folder} holds another network than two layers; look at it with earnshaw runs show or earnshaw runs export"
        )
    records = load_summaries(folder)
    if not records:
        raise InputError(f"{folder} has no finished setting yet; run the sweep again to go on")
    identity = manifest["identity"]
    lead = (
        f"{sum(record['runs'] for record in records):,} runs from random starts, seed {identity['seed']}. "
        "Where did they end, how often, and what of it is proved?"
    )
    again = Section(
        "Run it again",
        [
            Text("The folder keeps every setting of the sweep, and the same command finds its results there."),
            Code(
                f"earnshaw runs show {folder}\nearnshaw prove {folder} --out {folder}/certificates\nearnshaw report {folder}"
            ),
        ],
    )
    return Page(f"Sweep {folder.name}", lead, [*sweep_sections(folder, records, out), again], computed_with(folder))


def sweep_sections(
    folder: Path, records: Sequence[Record], out: Path, printed: Mapping[str, float] | None = None
) -> list[Section]:
    """Return the sections on results, families and proofs; ``printed`` has a paper's percentages by setting."""
    printed = printed or {}
    sections = [_results(folder, records, out, printed), _families(folder, records, out)]
    statements = _statements(folder, records, out)
    return [*sections, statements] if statements else sections


def _name(record: Record) -> str:
    return f"k{record['k']}-n{record['n']}"


def _results(folder: Path, records: Sequence[Record], out: Path, printed: Mapping[str, float]) -> Section:
    rows = []
    for record in records:
        low, high = record["spurious_interval"]
        others = {k: v for k, v in record["outcomes"].items() if k not in ("GLOBAL", "SPURIOUS")}
        rows.append(
            [
                str(record["k"]),
                str(record["n"]),
                str(record["runs"]),
                str(record["outcomes"].get("GLOBAL", 0)),
                f"{record['spurious_percent']:.1f}% ({low:.1f} to {high:.1f})",
                f"{printed[_name(record)]:g}%" if _name(record) in printed else "",
                "" if record["mean_objective"] is None else f"{record['mean_objective']:.4f}",
                "" if record["mean_min_eigenvalue"] is None else f"{record['mean_min_eigenvalue']:.4f}",
                ", ".join(f"{count} {name.lower()}" for name, count in others.items()),
            ]
        )
    headings = [
        "k",
        "n",
        "runs",
        "global",
        "spurious (95%)",
        "paper",
        "mean loss there",
        "mean smallest eigenvalue",
        "other",
    ]
    headings, rows = _without_empty(headings, rows)
    parts: list[Part] = [
        Text(
            "Each row is one size: k teacher neurons, n student neurons. A run is *global* when it found the teacher, *spurious* "
            "when it ended at a strict local minimum with a larger loss; means are over the spurious runs."
        ),
        Table(headings, rows),
    ]
    picture = out.parent / f"{out.stem}-figures"
    bars = [
        Percentages(
            f"k={record['k']}, n={record['n']}",
            record["spurious_percent"],
            tuple(record["spurious_interval"]),
            printed.get(_name(record)),
        )
        for record in records
    ]
    if any(record["outcomes"].get("SPURIOUS") for record in records):
        percentage_figure(
            bars, f"Runs that end at spurious minima ({records[0]['runs']} runs each)", picture / "percentages"
        )
        words = "Share of runs that end at spurious minima, with 95% intervals"
        parts.append(
            Figure(picture / "percentages.svg", words + ("; diamonds are the paper's values." if printed else "."))
        )
    values = {
        f"k={record['k']}, n={record['n']}": read_npz(folder / f"{_name(record)}.npz")["value"]
        for record in records[-6:]
    }
    value_figure(values, picture / "values")
    parts.append(Figure(picture / "values.svg", "End values: the share of runs that end at or below each loss."))
    return Section("Where the runs ended", parts)


def _without_empty(headings: list[str], rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Drop the columns in which no row says anything."""
    kept = [column for column in range(len(headings)) if any(row[column] for row in rows)]
    return [headings[column] for column in kept], [[row[column] for column in kept] for row in rows]


def _families(folder: Path, records: Sequence[Record], out: Path) -> Section:
    rows = []
    for record in records:
        path = folder / f"{_name(record)}-proofs.json"
        proofs = read_json(path)["families"] if path.exists() else []
        for index, family in enumerate(record["families"]):
            verdict = proofs[index]["verdict"].replace("_", " ").lower() if index < len(proofs) else "not tried"
            if index < len(proofs) and proofs[index]["certificate"]:
                verdict = f"[{verdict}]({_link(folder / proofs[index]['certificate'], out)})"
            rows.append(
                [
                    str(record["k"]),
                    str(record["n"]),
                    str(index),
                    str(family["count"]),
                    f"{family['objective']:.8f}",
                    f"{family['min_eigenvalue']:.6f}",
                    family.get("name", ""),
                    verdict,
                ]
            )
    if not rows:
        return Section("Families of minima", [Text("No run ended at a minimum that is not global.")])
    text = Text(
        "End points that differ only by a symmetry of the problem (an exchange of neurons, or of coordinates that the teacher "
        "does not notice) are one family."
    )
    headings = ["k", "n", "family", "runs", "loss", "smallest eigenvalue", "what its neurons do", "proof"]
    headings, rows = _without_empty(headings, rows)
    return Section("Families of minima", [text, Table(headings, rows)])


def _statements(folder: Path, records: Sequence[Record], out: Path) -> Section | None:
    """Return what the certificates say in words, with links to them; the first in full, the others on a click."""
    parts: list[Part] = []
    inside = total = 0
    for record in records:
        path = folder / f"{_name(record)}-proofs.json"
        if not path.exists():
            continue
        proofs = read_json(path)
        inside += proofs["runs_in_proved_basins"]
        total += record["outcomes"].get("SPURIOUS", 0)
        for row in proofs["families"]:
            if not row["certificate"]:
                continue
            file = folder / row["certificate"]
            title = f"k = {record['k']}, n = {record['n']}, family {row['index']}"
            words = f"{explain(file).words} [certificate]({_link(file, out)})"
            parts.append(Folded(title, [Text(words)]) if parts else Text(f"*{title}.* {words}"))
    if not parts:
        return None
    if total:
        parts.insert(
            0,
            Text(
                f"{inside} of the {total} spurious runs ended inside a proved basin: exact gradient descent from there "
                "converges to the proved minimum. What is proved of each minimum:"
            ),
        )
    certificates = _link(folder / "certificates", out)
    parts.append(
        Text(
            f"All certificates are in [{certificates}]({certificates}). The checker, which is self-contained and imports "
            "nothing of the prover, accepts or rejects each file:"
        )
    )
    parts.append(Code(f"earnshaw check {folder}"))
    return Section("What is proved", parts)


def _link(file: Path, out: Path) -> str:
    """Return the address of a file as seen from the page."""
    return Path(os.path.relpath(file, out.parent)).as_posix()


def computed_with(folder: Path) -> str:
    """Return with which versions and on which machine a run folder was computed, in words."""
    path = folder / "record.json"
    if not path.exists():
        return ""
    record = read_json(path)
    versions = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    return f"{versions}; Python {record['python']}; {record['device']}."
