"""``earnshaw demo``: the first five minutes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from earnshaw.cli.console import bold, fail, progress_bar, resumable, say
from earnshaw.cli.helping import option
from earnshaw.papers import ERRATA, PAPERS, tally, unexplained

if TYPE_CHECKING:
    from earnshaw.report import Section, Story

EXAMPLES = ("earnshaw demo                  # then open out/report.html", "earnshaw demo --runs 200 --out tour")


@dataclass(frozen=True)
class Piece:
    """A paper's item that the demonstration reproduces in quick form."""

    paper: str
    item: str
    title: str
    words: str
    captions: Mapping[str, str]


SIZES = range(6, 11)
PIECES = (
    Piece(
        "convnet",
        "figure1b",
        "A convolutional network: two phases",
        "With weight normalisation gradient descent is slow at first, then fast; from the "
        "wrong side it creeps towards a spurious minimum that it never reaches. Figure 1b of the paper.",
        {
            "figure1b": "Loss of runs from random starts; one of each fate in bold. Dotted: the 50 slow iterations that the paper "
            "reports. As figure 1b of the paper."
        },
    ),
    Piece(
        "logistic",
        "figure4",
        "Logistic regression with one hidden layer",
        "From a start near the truth, descent on noisy labels finds weights whose error, once there are enough samples, falls "
        "like one over the root of their number. Figure 4 of the paper.",
        {
            "figure4": "Mean relative error of the weights that are found, over the number of samples, with standard errors. Dashed: "
            "what it is for many samples, computed. As figure 4 of the paper, at a smaller size."
        },
    ),
    Piece(
        "electrostatics",
        "figure1",
        "Deep students of tanh teachers",
        "The same question for students trained on samples: with two layers they learn, slowly where they are wide. "
        "Figure 1 of the paper.",
        {
            "figure1": "Mean test error of depth-2 students while they learn, by width; dashed: the error under which the paper's "
            "fall. How ours were trained stands below: the paper leaves some of it open. As figure 1 of the paper, at fewer widths."
        },
    ),
    Piece(
        "electrostatics",
        "theorems",
        "Charges: electrons and protons",
        "A student is a system of charges. Where the potential is harmonic, no electron "
        "rests away from a proton: Earnshaw's theorem, and what the algorithms built on it find.",
        {
            "lemma28": "Sign neurons on a circle: the share of runs that end with an electron on every proton, and of those that end "
            "with antipodal pairs, where the loss is flat. With 95% intervals.",
            "potentials": "The potential of a pair over its distance. The almost Yukawa laws are those of an activation; beyond the "
            "dotted radius they are exactly proportional to Yukawa's.",
            "theorem17": "The share of random instances in which every proton is found: one neuron after the other, by descent in "
            "the log domain, and by the paper's algorithm 3 as it is printed. k protons, spread c.",
        },
    ),
)


def demo(
    folder: Annotated[Path, option("Where everything goes.", "--out", metavar="DIR")] = Path("out"),
    runs: Annotated[int, option("Random starts for each of k = n = 6..10.")] = 1000,
    workers: Annotated[int | None, option("Worker threads (default: one a core).")] = None,
) -> None:
    """Find spurious minima, prove them, check the proofs, reproduce a figure of each paper, and write a page about it.

    Takes a few minutes. Everything is kept in the folder, and finished runs and proofs are not computed again.
    """
    with resumable(folder):
        good = tour(folder, runs=runs, workers=workers)
    if not good:
        fail("something does not agree with the papers, or is not proved: see above and the page")


def tour(
    folder: Path,
    *,
    runs: int,
    sizes: Sequence[int] = SIZES,
    pieces: Sequence[Piece] = PIECES,
    workers: int | None = None,
) -> bool:
    """Do what the demonstration does for these sizes k = n and pieces, and return whether all agrees and is proved."""
    from earnshaw.report import Page, computed_with, write_page

    begin = time.perf_counter()
    story, good = _minima(folder, runs, sizes, workers)
    sections = story.sections
    for number, piece in enumerate(pieces, 3):
        section, agrees = _piece(piece, number, folder, workers)
        good &= agrees
        sections.append(section)
    lead = (
        "A small network, the student, learns from data that another small network, the teacher, has made. Does gradient "
        "descent find the teacher? If it stops elsewhere: where, how often, and is that proved?"
    )
    page = folder / "report.html"
    foot = computed_with(folder / "demo" / f"sweep-{runs}")
    write_page(Page("earnshaw: what a few minutes show", lead, [*sections, *_closing()], foot, story.headline), page)
    say(f"\n{bold(page)} is the page about all this ({time.perf_counter() - begin:.0f} s).", markup=True)
    return good


@contextmanager
def _step(number: int, title: str) -> Iterator[None]:
    say(f"[bold]{number}. {title}[/]", markup=True)
    begin = time.perf_counter()
    yield
    say(f"   [dim]{time.perf_counter() - begin:.0f} s[/]", markup=True)


def _minima(folder: Path, runs: int, sizes: Sequence[int], workers: int | None) -> tuple[Story, bool]:
    """Sweep, prove and check some k = n; return what the page says of that, and whether all is well."""
    from earnshaw.cli.sweep import show, show_proofs
    from earnshaw.experiments import Plan, prove_sweep, run_plan
    from earnshaw.papers import Item, spurious
    from earnshaw.proof import check
    from earnshaw.report import Reproduced, reproduction_section, sweep_story

    rows = [row for row in spurious.TABLE_1 if row.k in sizes]
    plan = Plan.of([row.problem for row in rows], runs=runs, seed=0)
    place = folder / "demo" / f"sweep-{runs}"
    with _step(1, f"Gradient descent from {runs} random starts, for k = n = {', '.join(map(str, sizes))}"):
        with progress_bar("sweep") as progress:
            results = run_plan(plan, place, workers, progress)
        show(results)
        compared = [
            line
            for row, result in zip(rows, results, strict=True)
            for line in spurious.compare_row(Item(spurious.PAPER, "demo"), row, result.summary)
        ]
        say(f"   table 1 of {PAPERS[spurious.PAPER].cited}: {tally(compared)}")
    with _step(2, "Proofs in ball arithmetic, and the trusted checker"):
        with progress_bar("prove") as progress:
            proofs = prove_sweep(results, place, workers, progress)
        for result, proved in zip(results, proofs, strict=True):
            show_proofs(result, proved)
        checks = [check(path) for path in sorted((place / "certificates").glob("*.json"))]
        accepted = sum(result.verified for result in checks)
        say(f"   {accepted} of {len(checks)} certificates are accepted by the checker")
    printed = {row.problem.name: row.percent for row in rows}
    story = sweep_story(results, folder / "report.html", printed)
    words = (
        "Safran & Shamir (2018) counted how often gradient descent ends at spurious minima, in table 1, and gave the mean loss and "
        "the mean smallest eigenvalue there. Percentages are compared as two samples of runs; means, which are mixtures of the exact "
        "values of the families, by the sampling error of both mixtures and the last printed digit."
    )
    beside = Reproduced("Beside table 1 of the paper", words, compared, [], "earnshaw reproduce spurious table1", False)
    story.sections.insert(2, reproduction_section(beside))
    good = not unexplained(compared) and accepted == len(checks) and not any(p.inconclusive for p in proofs)
    return story, good


def _piece(piece: Piece, number: int, folder: Path, workers: int | None) -> tuple[Section, bool]:
    """Reproduce one item of a paper in quick form; return the page's section on it, and whether its numbers agree."""
    from earnshaw.papers import Reproduction
    from earnshaw.report import Reproduced, reproduction_section

    place = folder / "demo" / piece.paper
    with _step(number, f"{piece.title} ({piece.item} of {piece.paper}, quick)"):
        with progress_bar(piece.item) as progress:
            how = Reproduction(out=place, quick=True, workers=workers, progress=progress)
            compared = PAPERS[piece.paper].function(piece.item)(how)
        say(f"   {tally(compared)}")
    figures = [(place / f"{stem}.svg", caption) for stem, caption in piece.captions.items()]
    words = f"{PAPERS[piece.paper].cited}. {piece.words}"
    command = f"earnshaw reproduce {piece.paper} {piece.item}"
    reproduced = Reproduced(piece.title, words, compared, figures, command)
    return reproduction_section(reproduced), not unexplained(compared)


def _closing() -> list[Section]:
    """Return the sections on errata and on how to go on."""
    from earnshaw.report import Code, Section, Table, Text

    rows = [[PAPERS[erratum.paper].cited, erratum.place, erratum.words, f"`{erratum.shown_by}`"] for erratum in ERRATA]
    survive = Text("The papers' conclusions survive; several of their formulas and lemmas do not, as printed.")
    rerun = Text("Rerun any piece, or begin with a teacher of your own:")
    commands = Code(
        "earnshaw sweep -k 6..10 --prove --out runs/mine    # the first two steps\n"
        "earnshaw check runs/mine/certificates/*.json       # the trusted checker\n"
        "earnshaw report runs/mine                          # a page like this one\n"
        "earnshaw reproduce spurious all                    # every table and figure of a paper\n"
        "earnshaw sweep --teacher mine.npy -n 5             # rows are neurons\n"
        "earnshaw --help"
    )
    errors = Section("Errors found in the papers", [survive, Table(["paper", "where", "what", "shown by"], rows)])
    return [errors, Section("How to go on", [rerun, commands])]
