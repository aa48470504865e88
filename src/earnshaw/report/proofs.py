"""What is proved: of certificates only what the trusted checker lets them say, in words and as a theorem."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from shlex import quote as quoted

from earnshaw.errors import InputError
from earnshaw.experiments import SweepResult
from earnshaw.experiments.proving import concerns, sweep_targets
from earnshaw.proof import Certificate, Explanation, explain
from earnshaw.report.page import Code, Folded, Part, Section, Tex, Text, link
from earnshaw.report.words import labels, symbols

PROVABLE = "two-layer/relu"
Said = Mapping[tuple[str, int], Explanation]  # by setting and family
REJECTED, NOT_CHECKED, ANOTHER = "REJECTED", "NOT CHECKED", "OF ANOTHER POINT"


def certificates(result: SweepResult) -> list[Path | None]:
    """Return the file of each family's certificate, where it has one."""
    rows = (result.proofs or {}).get("families", [])
    return [folder_of(result) / row["certificate"] if row["certificate"] else None for row in rows]


def explained(result: SweepResult, check: bool) -> Said:
    """Return what the trusted checker lets the certificates of a setting's families say, if they are of these families."""
    files = certificates(result)
    points = sweep_targets(result, result.name) if any(files) else []

    def one(at: int, file: Path) -> Explanation:
        return said_of(file, lambda found: any(concerns(found, point) for point in points[at : at + 1]), check)

    return {(result.name, at): one(at, file) for at, file in enumerate(files) if file}


def said_of(file: Path, concerned: Callable[[Certificate], bool], check: bool) -> Explanation:
    """Return what a certificate says of the point it is listed for, if it is about that; one that cannot be read is rejected."""
    try:
        found = explain(file, check)
        if not found.verified or concerned(Certificate.load(file)):
            return found
    except InputError as error:
        return Explanation("", f"{REJECTED} {error}", "", False)
    words = f"{ANOTHER} the certificate is true, but its point is not the one it is listed for"
    return Explanation(found.kind, words, "", False)


def _verdict(found: Explanation) -> str:
    """Return the word or two for a table."""
    if found.verified:
        return f"proved {found.kind}"
    return next(word for word in (NOT_CHECKED, ANOTHER, REJECTED) if found.words.startswith(word))


def provable(result: SweepResult) -> bool:
    """Say whether families of this setting can be proved; a user's own activation need not be loaded for that."""
    return result.summary.objective == PROVABLE and result.runs.problem.unprovable is None


def verdicts(results: Sequence[SweepResult], out: Path, said: Said) -> Mapping[tuple[str, int], str]:
    """Return what is proved of each family in a word or two, with a link to its certificate where there is one."""
    words = {}
    for result in results:
        files = certificates(result)
        for index in range(len(result.families)):
            word = "not tried" * provable(result)
            if index < len(files):
                file = files[index]
                word = "inconclusive" if file is None else f"[{_verdict(said[result.name, index])}]({link(file, out)})"
            words[result.name, index] = word
    return words


def folder_of(result: SweepResult) -> Path:
    """Return the folder that a setting was read from."""
    assert isinstance(result.files, Path)
    return result.files.parent


def theorem(found: Explanation, file: Path, out: Path, title: str = "") -> list[Text | Tex]:
    """Return what a verified certificate proves: in words, with a link to it, and as a theorem."""
    named = f"*{title}.* " if title else ""
    latex = re.sub(r"\\(?:begin|end)\{theorem\}", "", found.latex)
    return [Text(f"{named}{found.words} [certificate]({link(file, out)})"), Tex(latex.strip(), "Theorem")]


def statements(results: Sequence[SweepResult], out: Path, said: Said) -> list[Section]:
    """Return what the certificates say in words, with links to them; the first in full, the others on a click.

    Under "What is proved" stands only what the checker has verified; the others have a section of their own.
    """
    proved: list[Part] = []
    others: list[Part] = []
    place, tried = folder_of(results[0]), [(x, proofs) for x in results if (proofs := x.proofs)]
    named = labels(results)
    for result, _ in tried:
        for index, file in enumerate(certificates(result)):
            if file is None:
                continue
            names = [f" ({symbols(family.label)})" for family in result.families[index : index + 1] if family.label]
            title = f"{named[result.name]}, family {index}{''.join(names)}"
            found = said[result.name, index]
            if found.verified:
                proved += [Folded(title, theorem(found, file, out))] if proved else theorem(found, file, out, title)
            else:
                others.append(Text(f"*{title}.* {found.words} [certificate]({link(file, out)})"))
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
            f"[the folder certificates]({link(place / 'certificates', out)}). The checker, which is self-contained and "
            "imports nothing of the prover (the prover uses the checker's calculus), accepts or rejects each file:"
        )
        first = [Text(words)] if total and not others else []
        sections = [
            Section("What is proved", [*first, *proved, Text(where), Code(f"earnshaw check {quoted(str(place))}")])
        ]
    if others:
        words = (
            "These certificates prove nothing here: the checker rejected them, or they are of other points, or it was not run "
            "because it would take long (earnshaw report --check runs it)."
        )
        sections.append(Section("What is not proved", [Text(words), *others]))
    return sections
