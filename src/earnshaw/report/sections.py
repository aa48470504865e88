"""Sections of pages: what a sweep found and what of it is proved, and a paper's numbers beside ours."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote as quoted
from typing import NamedTuple
from urllib.parse import quote

from earnshaw.errors import InputError
from earnshaw.experiments import Plan, Summary, SweepResult, Target, load_sweep
from earnshaw.experiments.proving import concerns, sweep_targets
from earnshaw.experiments.work import how_computed, work_of
from earnshaw.numerics import percentage
from earnshaw.papers import Comparison, Source, tally
from earnshaw.plots import OURS, Proportion, bars, card_figures, value_figure
from earnshaw.problems import RandomConvNets
from earnshaw.proof import Certificate, Explanation, explain
from earnshaw.report.origin import commands, described
from earnshaw.report.page import Card, Cards, Code, Figure, Folded, Page, Part, Section, Table, Text
from earnshaw.store import read_manifest, sealed_certificates
from earnshaw.symmetry import Family

CARDS = 24  # families that have a card; all of more are in a table
DRAWN = 900  # weights up to which a family is drawn
SHOWN_COMMANDS = 12  # of a sweep that one command cannot make
PROVABLE = "two-layer/relu"
SIZES: dict[tuple[str, ...], str] = {  # by what the sizes are called
    ("k", "n", "d"): ": k teacher neurons, n student neurons",
    ("p", "k", "ratio"): ": filters of p entries, k patches, and output weights of length 1 whose sum is the ratio",
}


def sweep_page(folder: Path, out: Path, check: bool = False) -> Page:
    """Return the page of a run folder; figures are drawn beside ``out``, and certificates linked from there.

    Certificates are checked, those that would take more than about ten seconds only when ``check`` asks for it.
    """
    kind, see = read_manifest(folder)["kind"], f"see it with earnshaw runs show {folder}"
    if kind != "sweep":
        raise InputError(f"{folder} holds work of the kind {kind!r}, which has no page; {see}")
    results = load_sweep(folder).whole().results
    for fault in filter(None, sealed_certificates(folder).values()):
        raise InputError(fault)
    total, plan = sum(result.summary.runs for result in results), _plan(folder)
    lead = f"{total:,} runs. {described(plan) if plan else _named(results)} Where did they end, how often, and what of it is proved?"
    provable = all(map(_provable, results))
    typed = quoted(str(folder))
    prove = " --prove" * provable
    made = "".join(f"{line}{prove}\n" for line in (commands(plan, folder) if plan else [])[:SHOWN_COMMANDS])
    words = Text(
        f"{'The same command finds' if made else 'The program that made it finds'} the results in the folder, and computes only "
        "what is not there."
    )
    code = Code(f"{made}earnshaw runs show {typed}\nearnshaw report {typed}")
    again = Section("Run it again", [words, code])
    story = sweep_story(results, out, check=check)
    return Page(f"Sweep {folder.name}", lead, [*story.sections, again], computed_with(folder), story.headline)


def _plan(folder: Path) -> Plan | None:
    """Return the plan of a sweep; None where a function of the user's would have to be loaded for it, which runs code."""
    try:
        plan = work_of(folder)
    except InputError:
        return None
    assert isinstance(plan, Plan)
    return plan


def _named(results: Sequence[SweepResult]) -> str:
    """Return what the records say of a sweep's network, optimiser and seed."""
    networks, optimizers = (
        ", ".join(dict.fromkeys(getattr(result.summary, name) for result in results))
        for name in ("objective", "optimizer")
    )
    return f"Network: {networks}. Optimiser: {optimizers}. Seed {results[0].summary.seed}."


class Story(NamedTuple):
    """What a page says of a sweep: one sentence, and the sections on families, results and proofs."""

    headline: str
    sections: list[Section]


def sweep_story(
    results: Sequence[SweepResult], out: Path, printed: Mapping[str, float] | None = None, check: bool = False
) -> Story:
    """Return what a page says of a sweep; ``printed`` has a paper's percentages by setting."""
    said = {key: found for result in results for key, found in _explained(result, check).items()}
    first = _families(results, out, said)
    return Story(
        _headline(results, said), [*first, _results(results, out, printed or {}), *_statements(results, out, said)]
    )


Said = Mapping[tuple[str, int], Explanation]  # by setting and family
REJECTED, NOT_CHECKED, ANOTHER = "REJECTED", "NOT CHECKED", "OF ANOTHER POINT"


def _certificates(result: SweepResult) -> list[Path | None]:
    """Return the file of each family's certificate, where it has one."""
    rows = (result.proofs or {}).get("families", [])
    return [_folder(result) / row["certificate"] if row["certificate"] else None for row in rows]


def _explained(result: SweepResult, check: bool) -> Said:
    """Return what the trusted checker lets the certificates of a setting's families say, if they are of these families."""
    files = _certificates(result)
    points = sweep_targets(result, result.name) if any(files) else []
    return {(result.name, at): _one(file, points[at : at + 1], check) for at, file in enumerate(files) if file}


def _one(file: Path, points: Sequence[Target], check: bool) -> Explanation:
    """Return what a certificate says of the point it is listed for, if there is one; one that cannot be read is rejected."""
    try:
        found = explain(file, check)
        if not found.verified or any(concerns(Certificate.load(file), point) for point in points):
            return found
    except InputError as error:
        return Explanation("", f"{REJECTED} {error}", "", False)
    words = f"{ANOTHER} the certificate is true, but its point is not that of this family"
    return Explanation(found.kind, words, "", False)


def _verdict(found: Explanation) -> str:
    """Return the word or two for a table."""
    if found.verified:
        return f"proved {found.kind}"
    return next(word for word in (NOT_CHECKED, ANOTHER, REJECTED) if found.words.startswith(word))


def _results(results: Sequence[SweepResult], out: Path, printed: Mapping[str, float]) -> Section:
    rows = []
    for result in results:
        summary, paper = result.summary, printed.get(result.name)
        interval, percent = _interval(summary), summary.spurious_percent
        loss, least = summary.mean_objective, summary.mean_min_eigenvalue
        others = {name: count for name, count in summary.outcomes.items() if name not in ("GLOBAL", "SPURIOUS")}
        row = _sizes(summary) | {
            "optimiser": summary.optimizer,
            "runs": str(summary.runs),
            "global": str(summary.outcomes.get("GLOBAL", 0)),
            "spurious (95%)": f"{percent:.1f}% ({interval[0]:.1f} to {interval[1]:.1f})" if interval else "-",
            "paper": "" if paper is None else f"{paper:g}%",
            "mean loss there": _number(loss, 4),
            "mean smallest eigenvalue": _number(least, 4),
            "other": ", ".join(f"{count} {name.lower()}" for name, count in others.items()),
        }
        rows.append(row)
    words = (
        f"Each row is one size{SIZES.get(tuple(results[0].summary.sizes), '')}. A run is *global* when it found the teacher, "
        "*spurious* when it ended at a local minimum with a larger loss; means are over the spurious runs, percentages of "
        "the runs whose fate is decided."
    )
    if any("CONVERGED" in result.summary.outcomes for result in results):
        words += " Where the least loss is not known, no minimum can be called spurious: a run that ended at one *converged*."
    parts: list[Part] = [Text(words), _table(rows)]
    picture = out.parent / f"{out.stem}-figures"
    labels, known = _labels(results), [(x.name, x.summary) for x in results if _interval(x.summary) is not None]
    if any(summary.spurious for _, summary in known):
        drawn = [
            Proportion(labels[name], x.spurious_percent or 0.0, x.spurious_interval or (0.0, 100.0), printed.get(name))
            for name, x in known
        ]
        counts = {summary.runs for _, summary in known}
        title = (
            f"Runs that end at spurious minima ({' to '.join(map(str, sorted({min(counts), max(counts)})))} runs each)"
        )
        bars({OURS: drawn}, title, picture / "percentages")
        words = "Share of runs that end at spurious minima, with 95% intervals"
        words += "; diamonds are the paper's values." if printed else "."
        parts.append(Figure(picture / "percentages.svg", words))
    values = {labels[result.name]: result.arrays["value"] for result in results[-6:]}
    value_figure(values, picture / "values", above=any(result.summary.outcomes.get("GLOBAL") for result in results))
    words = (
        f"End values{' of the last six rows' * (len(results) > 6)}: the share of runs that end at or below each loss."
    )
    parts.append(Figure(picture / "values.svg", words))
    return Section("Where the runs ended", parts)


def _provable(result: SweepResult) -> bool:
    """Say whether families of this setting can be proved; a user's own activation need not be loaded for that."""
    return result.summary.objective == PROVABLE and result.runs.problem.unprovable is None


def _interval(summary: Summary) -> tuple[float, float] | None:
    """Return the interval of the share of spurious runs; None where no minimum can be called spurious."""
    return None if "CONVERGED" in summary.outcomes else summary.spurious_interval


def _labels(results: Sequence[SweepResult]) -> dict[str, str]:
    """Return what to call each setting: its sizes, and its optimiser where there are several."""
    several = len({result.summary.optimizer for result in results}) > 1
    return {x.name: x.summary.name + f", {x.summary.optimizer}" * several for x in results}


def _number(value: float | None, digits: int) -> str:
    """Return a number with so many digits, and 0 without a sign; nothing for one that is not known."""
    return "" if value is None or math.isnan(value) else f"{round(value, digits) + 0.0:.{digits}f}"


def _sizes(summary: Summary) -> dict[str, str]:
    return {name: f"{size:g}" for name, size in summary.sizes.items() if name != "d"}


def _table(rows: Sequence[Mapping[str, str]]) -> Table:
    """Return rows, each by heading, as a table without the columns in which no row says anything."""
    headings = [heading for heading in dict.fromkeys(itertools.chain(*rows)) if any(row.get(heading) for row in rows)]
    return Table(headings, [[row.get(heading, "") for heading in headings] for row in rows])


def _families(results: Sequence[SweepResult], out: Path, said: Said) -> list[Section]:
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
    text += " Counts have 95% intervals of their share; the pictures show the weights, one neuron a row, and the eigenvalues of the Hessian, of which λmin is the smallest."
    verdicts = _verdicts(results, out, said)
    parts: list[Part] = [Text(text), Cards([_card(*one, verdicts, results, out) for one in found[:CARDS]])]
    if len(found) > CARDS:
        rows = [_family_row(*one, verdicts, results) for one in found]
        parts += [
            Text(f"These are the first {CARDS} of {len(found)} families."),
            Folded("All families", [_table(rows)]),
        ]
    return [Section("Families of minima", parts)]


def _verdicts(results: Sequence[SweepResult], out: Path, said: Said) -> Mapping[tuple[str, int], str]:
    """Return what is proved of each family in a word or two, with a link to its certificate where there is one."""
    words = {}
    for result in results:
        files = _certificates(result)
        for index in range(len(result.families)):
            word = "not tried" * _provable(result)
            if index < len(files):
                file = files[index]
                word = "inconclusive" if file is None else f"[{_verdict(said[result.name, index])}]({_link(file, out)})"
            words[result.name, index] = word
    return words


def _headline(results: Sequence[SweepResult], said: Said) -> str:
    """Return in one sentence where runs that did not find the global minimum end, and what of it is proved."""
    total = sum(result.summary.runs for result in results)
    counts = {(result.name, index): family.count for result in results for index, family in enumerate(result.families)}
    stuck, minima = sum(counts.values()), len(counts)
    proved = [key for key in counts if key in said and said[key].verified and "saddle" not in said[key].kind]
    if any("CONVERGED" in result.summary.outcomes for result in results):
        return f"{stuck:,} of {total:,} runs end at {_many(minima, 'minimum', 'minima')}; the least loss is not known"
    if not stuck:
        good = sum(result.summary.outcomes.get("GLOBAL", 0) for result in results)
        return f"{good:,} of {total:,} runs find the global minimum, and none is stuck at another"
    if not proved:
        return f"{stuck:,} of {total:,} runs are stuck, at {_many(minima, 'minimum', 'minima')}"
    inside = sum(counts[key] for key in proved)
    return f"{inside:,} of {stuck:,} stuck runs end in {_many(len(proved), 'proved minimum', 'proved minima')}"


def _many(count: int, one: str, more: str) -> str:
    return f"{count} {one if count == 1 else more}"


def _card(
    result: SweepResult,
    index: int,
    family: Family,
    verdicts: Mapping[tuple[str, int], str],
    results: Sequence[SweepResult],
    out: Path,
) -> Card:
    """Return the card of a family: its pictures where its problem has a landscape, and what is known of it."""
    summary = result.summary
    share, (low, high) = percentage(family.count, max(summary.runs, family.count))
    facts = {
        "runs": f"{family.count} of {summary.runs}: {share:.1f}% ({low:.1f} to {high:.1f})",
        "loss": f"{family.objective:.8f}",
        "λmin": _number(family.min_eigenvalue, 6),
        "neurons": family.name or "",
        "proof": verdicts[result.name, index],
    }
    picture, label = out.parent / f"{out.stem}-figures" / f"{result.name}-family{index}", _labels(results)[result.name]
    named = f"{family.label}: " if family.label else ""
    figures = []
    if family.problem is not None and not isinstance(family.problem, RandomConvNets) and family.weights.size <= DRAWN:
        words = f"{label}, family {index}"
        for name, path in card_figures(family, picture).items():
            figures.append(Figure(path, f"{name} of {words}", plain=True))
    return Card(f"{named}{label}, family {index}", facts, figures)


def _family_row(
    result: SweepResult,
    index: int,
    family: Family,
    verdicts: Mapping[tuple[str, int], str],
    results: Sequence[SweepResult],
) -> dict[str, str]:
    several = len({result.summary.optimizer for result in results}) > 1
    return _sizes(result.summary) | {
        "optimiser": result.summary.optimizer * several,
        "family": str(index),
        "name": family.label or "",
        "runs": str(family.count),
        "loss": f"{family.objective:.8f}",
        "smallest eigenvalue": _number(family.min_eigenvalue, 6),
        "what its neurons do": family.name or "",
        "proof": verdicts[result.name, index],
    }


def _folder(result: SweepResult) -> Path:
    assert isinstance(result.files, Path)
    return result.files.parent


def _statements(results: Sequence[SweepResult], out: Path, said: Said) -> list[Section]:
    """Return what the certificates say in words, with links to them; the first in full, the others on a click.

    Under "What is proved" stands only what the checker has verified; the others have a section of their own.
    """
    proved: list[Part] = []
    others: list[Part] = []
    folder, tried = _folder(results[0]), [(x, proofs) for x in results if (proofs := x.proofs)]
    labels = _labels(results)
    for result, _ in tried:
        for index, file in enumerate(_certificates(result)):
            if file is None:
                continue
            names = [f" ({family.label})" for family in result.families[index : index + 1] if family.label]
            title = f"{labels[result.name]}, family {index}{''.join(names)}"
            link = f"[certificate]({_link(file, out)})"
            found = said[result.name, index]
            words = f"{found.words} {link}"
            if not found.verified:
                others.append(Text(f"*{title}.* {words}"))
            else:
                proved.append(Folded(title, [Text(words)]) if proved else Text(f"*{title}.* {words}"))
    sections = []
    if proved:
        inside = sum(proofs["runs_in_proved_basins"] for _, proofs in tried)
        total = sum(result.summary.spurious for result, _ in tried)
        words = (
            f"{inside} of the {total} spurious runs ended inside a proved basin: exact gradient descent from there "
            "converges to the proved minimum. What is proved of each minimum:"
        )
        where = (
            f"The trusted checker verified each of these certificates when this page was written. All are in "
            f"[the folder certificates]({_link(folder / 'certificates', out)}). The checker, which is self-contained and "
            "imports nothing of the prover (the prover uses the checker's calculus), accepts or rejects each file:"
        )
        first = [Text(words)] if total and not others else []
        sections = [
            Section("What is proved", [*first, *proved, Text(where), Code(f"earnshaw check {quoted(str(folder))}")])
        ]
    if others:
        words = (
            "These certificates prove nothing here: the checker rejected them, or they are of other points, or it was not run "
            "because it would take long (earnshaw report --check runs it)."
        )
        sections.append(Section("What is not proved", [Text(words), *others]))
    return sections


def _link(file: Path, out: Path) -> str:
    """Return the address of a file as seen from the page, with spaces, brackets and the like spelled as URLs do."""
    return quote(Path(os.path.relpath(file, out.parent)).as_posix())


def computed_with(folder: Path) -> str:
    """Return with which versions and on which machine a run folder was computed, in words."""
    record = how_computed(folder)
    if not {"python", "device"} <= set(record):
        return ""
    versions = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    return f"{versions}; Python {record['python']}; {record['device']}."


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
