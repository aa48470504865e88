"""The page of a sweep: what was found, what is proved, how to run it again."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from earnshaw.errors import InputError
from earnshaw.experiments import Summary, SweepResult, load_sweep
from earnshaw.experiments.work import record_of
from earnshaw.plots import OURS, Proportion, bars, value_figure
from earnshaw.proof import explain
from earnshaw.report.page import Code, Figure, Folded, Page, Part, Section, Table, Text
from earnshaw.store import read_manifest


def sweep_page(folder: Path, out: Path) -> Page:
    """Return the page of a run folder; figures are drawn beside ``out``, and certificates linked from there."""
    kind = read_manifest(folder)["kind"]
    if kind != "sweep":
        raise InputError(
            f"{folder} holds work of the kind {kind!r}, which has no page; see it with earnshaw runs show {folder}"
        )
    results = load_sweep(folder).results
    if not results:
        raise InputError(f"{folder} has no finished setting yet; run the sweep again to go on")
    total, seed = sum(result.summary.runs for result in results), results[0].summary.seed
    networks = ", ".join(dict.fromkeys(result.summary.objective for result in results))
    optimizers = ", ".join(dict.fromkeys(result.summary.optimizer for result in results))
    lead = (
        f"{total:,} runs from random starts, seed {seed}; network {networks}; optimiser {optimizers}. "
        "Where did they end, how often, and what of it is proved?"
    )
    provable = all(result.summary.objective == "two-layer/relu" for result in results)
    prove = f"earnshaw prove {folder} --out {folder}/certificates\n" * provable
    again = Section(
        "Run it again",
        [
            Text("The folder keeps every setting of the sweep, and the same command finds its results there."),
            Code(f"earnshaw runs show {folder}\n{prove}earnshaw report {folder}"),
        ],
    )
    return Page(f"Sweep {folder.name}", lead, [*sweep_sections(results, out), again], computed_with(folder))


def sweep_sections(
    results: Sequence[SweepResult], out: Path, printed: Mapping[str, float] | None = None
) -> list[Section]:
    """Return the sections on results, families and proofs; ``printed`` has a paper's percentages by setting."""
    printed = printed or {}
    sections = [_results(results, out, printed), _families(results, out)]
    statements = _statements(results, out)
    return [*sections, statements] if statements else sections


def _results(results: Sequence[SweepResult], out: Path, printed: Mapping[str, float]) -> Section:
    sizes = [name for name in results[0].summary.sizes if name != "d"]
    rows = []
    for result in results:
        summary = result.summary
        others = {k: v for k, v in summary.outcomes.items() if k not in ("GLOBAL", "SPURIOUS")}
        rows.append(
            [
                *(f"{summary.sizes[name]:g}" for name in sizes),
                summary.optimizer,
                str(summary.runs),
                str(summary.outcomes.get("GLOBAL", 0)),
                _percent(summary),
                f"{printed[result.name]:g}%" if result.name in printed else "",
                "" if summary.mean_objective is None else f"{summary.mean_objective:.4f}",
                "" if summary.mean_min_eigenvalue is None else f"{summary.mean_min_eigenvalue:.4f}",
                ", ".join(f"{count} {name.lower()}" for name, count in others.items()),
            ]
        )
    counted = ["optimiser", "runs", "global", "spurious (95%)", "paper"]
    headings, rows = _without_empty([*sizes, *counted, "mean loss there", "mean smallest eigenvalue", "other"], rows)
    parts: list[Part] = [
        Text(
            "Each row is one size: k teacher neurons, n student neurons. A run is *global* when it found the teacher, *spurious* "
            "when it ended at a strict local minimum with a larger loss; means are over the spurious runs, percentages of the "
            "runs whose fate is decided."
        ),
        Table(headings, rows),
    ]
    picture = out.parent / f"{out.stem}-figures"
    known = [
        result for result in results if "CONVERGED" not in result.summary.outcomes and result.summary.spurious_interval
    ]
    drawn = [
        Proportion(
            result.summary.name,
            result.summary.spurious_percent or 0.0,
            result.summary.spurious_interval or (0.0, 100.0),
            printed.get(result.name),
        )
        for result in known
    ]
    if any(result.summary.spurious for result in known):
        title = f"Runs that end at spurious minima ({known[0].summary.runs} runs each)"
        bars({OURS: drawn}, title, picture / "percentages")
        words = "Share of runs that end at spurious minima, with 95% intervals"
        parts.append(
            Figure(picture / "percentages.svg", words + ("; diamonds are the paper's values." if printed else "."))
        )
    values = {result.summary.name: result.arrays["value"] for result in results[-6:]}
    value_figure(values, picture / "values")
    parts.append(Figure(picture / "values.svg", "End values: the share of runs that end at or below each loss."))
    return Section("Where the runs ended", parts)


def _percent(summary: Summary) -> str:
    """Return the share of spurious runs with its interval; a dash where no minimum can be called spurious."""
    if "CONVERGED" in summary.outcomes or summary.spurious_interval is None:
        return "-"
    low, high = summary.spurious_interval
    return f"{summary.spurious_percent:.1f}% ({low:.1f} to {high:.1f})"


def _without_empty(headings: list[str], rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Drop the columns in which no row says anything."""
    kept = [column for column in range(len(headings)) if any(row[column] for row in rows)]
    return [headings[column] for column in kept], [[row[column] for column in kept] for row in rows]


def _families(results: Sequence[SweepResult], out: Path) -> Section:
    sizes = [name for name in results[0].summary.sizes if name != "d"]
    rows = []
    for result in results:
        proofs = (result.proofs or {}).get("families", [])
        for index, family in enumerate(result.summary.families):
            verdict = proofs[index]["verdict"].replace("_", " ").lower() if index < len(proofs) else "not tried"
            if index < len(proofs) and proofs[index]["certificate"]:
                verdict = f"[{verdict}]({_link(_folder(result) / proofs[index]['certificate'], out)})"
            numbers = f"{family.objective:.8f}", f"{family.min_eigenvalue:.6f}"
            head = *(f"{result.summary.sizes[name]:g}" for name in sizes), str(index), str(family.count)
            rows.append([*head, *numbers, family.name or "", verdict])
    if not rows:
        return Section("Families of minima", [Text("No run ended at a minimum that is not global.")])
    text = Text(
        "End points that differ only by a symmetry of the problem (an exchange of neurons, or of coordinates that the teacher "
        "does not notice) are one family."
    )
    headings = [*sizes, "family", "runs", "loss", "smallest eigenvalue", "what its neurons do", "proof"]
    headings, rows = _without_empty(headings, rows)
    return Section("Families of minima", [text, Table(headings, rows)])


def _folder(result: SweepResult) -> Path:
    assert isinstance(result.source, Path)
    return result.source.parent


def _statements(results: Sequence[SweepResult], out: Path) -> Section | None:
    """Return what the certificates say in words, with links to them; the first in full, the others on a click."""
    parts: list[Part] = []
    inside = total = 0
    folder = _folder(results[0])
    for result in results:
        proofs = result.proofs
        if proofs is None:
            continue
        inside += proofs["runs_in_proved_basins"]
        total += result.summary.spurious
        for row in proofs["families"]:
            if not row["certificate"]:
                continue
            file = folder / row["certificate"]
            title = f"{result.summary.name}, family {row['index']}"
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
    record = record_of(folder / "record.json")
    if not {"versions", "python", "device"} <= set(record):
        return ""
    versions = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    return f"{versions}; Python {record['python']}; {record['device']}."
