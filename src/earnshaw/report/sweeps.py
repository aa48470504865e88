"""Pages about sweeps: where the runs ended, each family of minima as a card, and what of it is proved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from earnshaw.errors import InputError
from earnshaw.experiments import Plan, Summary, SweepResult, load_sweep
from earnshaw.plots import OURS, Proportion, bars, plot, value_figure
from earnshaw.plots.style import canvas
from earnshaw.report.convnets import convnet_headline, convnet_section
from earnshaw.report.families import LEAST, families_section
from earnshaw.report.losses import loss_formula
from earnshaw.report.origin import commands, described, plan_of
from earnshaw.report.page import Figure, Part, Section, Table, Tex, Text, figures_of
from earnshaw.report.proofs import Said, explained, provable, statements
from earnshaw.report.telling import Told
from earnshaw.report.words import labels, many, number, percent_of, sizes
from earnshaw.store import sealed_certificates

SHOWN_COMMANDS = 12  # of a sweep that one command cannot make
SIZES: dict[tuple[str, ...], str] = {  # by what the sizes are called
    ("k", "n", "d"): ": k teacher neurons, n student neurons",
    ("p", "k", "ratio"): ": filters of p entries, k patches, and output weights of length 1 whose sum is the ratio",
}


def tell_sweep(folder: Path, out: Path, check: bool) -> Told:
    """Return what the page of a sweep says."""
    results = sweep_results(folder)
    plan, story = plan_of(folder), sweep_story(results, out, check=check)
    prove = " --prove" * all(map(provable, results))
    made = [f"{line}{prove}" for line in (commands(plan, folder) if plan else [])[:SHOWN_COMMANDS]]
    ask = "Where did they end, how often, and what of it is proved?"
    return Told(
        f"Sweep {folder.name}",
        story.headline,
        f"{counted(results)} {ask}",
        story.sections,
        run_words(plan, results),
        made,
    )


def sweep_results(folder: Path) -> Sequence[SweepResult]:
    """Return the settings of a finished sweep; one that is not finished, or whose certificates are damaged, is refused."""
    results = load_sweep(folder).whole().results
    for fault in filter(None, sealed_certificates(folder).values()):
        raise InputError(fault)
    return results


def counted(results: Sequence[SweepResult]) -> str:
    """Return how many runs of what: a sentence from the records alone."""
    networks, optimizers = (
        ", ".join(dict.fromkeys(getattr(result.summary, name) for result in results))
        for name in ("objective", "optimizer")
    )
    total = sum(result.summary.runs for result in results)
    return f"{total:,} runs. Network: {networks}. Optimiser: {optimizers}. Seed {results[0].summary.seed}."


def run_words(plan: Plan | None, results: Sequence[SweepResult]) -> list[Part]:
    """Return what was run: all of it in words, and the loss; only the records where the plan needs a function of the user's."""
    if plan is None:
        return [Text(counted(results))]
    return [Text(described(plan)), *map(Tex, dict.fromkeys(loss_formula(setting.problem) for setting in plan.settings))]


class Story(NamedTuple):
    """What a page says of a sweep: one sentence, and the sections on families, results and proofs."""

    headline: str
    sections: list[Section]


def sweep_story(
    results: Sequence[SweepResult], out: Path, printed: Mapping[str, float] | None = None, check: bool = False
) -> Story:
    """Return what a page says of a sweep; ``printed`` has a paper's percentages by setting."""
    said = {key: found for result in results for key, found in explained(result, check).items()}
    ended = _results(results, out, printed or {})
    if all(result.summary.objective.startswith("random-convnet/") for result in results):
        return Story(convnet_headline(results), [convnet_section(results, out), ended])
    first = families_section(results, out, said)
    return Story(_headline(results, said), [*first, ended, *statements(results, out, said)])


def _results(results: Sequence[SweepResult], out: Path, printed: Mapping[str, float]) -> Section:
    rows = []
    for result in results:
        summary, paper = result.summary, printed.get(result.name)
        interval, percent = _interval(summary), summary.spurious_percent
        others = {name: count for name, count in summary.outcomes.items() if name not in ("GLOBAL", "SPURIOUS")}
        row = sizes(summary) | {
            "optimiser": summary.optimizer,
            "runs": str(summary.runs),
            "global": str(summary.outcomes.get("GLOBAL", 0)),
            "spurious (95%)": percent_of(percent or 0.0, interval) if interval else "-",
            "paper": "" if paper is None else f"{paper:g}%",
            "mean loss there": number(summary.mean_objective, 4),
            f"mean {LEAST}": number(summary.mean_min_eigenvalue, 4),
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
    return Section("Where the runs ended", [Text(words), Table.of(rows), *_pictures(results, out, printed)])


def _pictures(results: Sequence[SweepResult], out: Path, printed: Mapping[str, float]) -> list[Part]:
    """Return the shares of spurious runs, the losses at which runs end, and where that was recorded how they went there."""
    parts: list[Part] = []
    place, named = figures_of(out), labels(results)
    known = [(x.name, x.summary) for x in results if _interval(x.summary) is not None]
    if any(summary.spurious for _, summary in known):
        drawn = [
            Proportion(named[name], x.spurious_percent or 0.0, x.spurious_interval or (0.0, 100.0), printed.get(name))
            for name, x in known
        ]
        counts = {summary.runs for _, summary in known}
        title = (
            f"Runs that end at spurious minima ({' to '.join(map(str, sorted({min(counts), max(counts)})))} runs each)"
        )
        bars({OURS: drawn}, title, place / "percentages")
        words = "Share of runs that end at spurious minima, with 95% intervals"
        words += "; diamonds are the paper's values." if printed else "."
        parts.append(Figure(place / "percentages.svg", words))
    values = {named[result.name]: result.arrays["value"] for result in results[-6:]}
    value_figure(values, place / "values", above=any(result.summary.outcomes.get("GLOBAL") for result in results))
    words = (
        f"End values{' of the last six rows' * (len(results) > 6)}: the share of runs that end at or below each loss."
    )
    parts.append(Figure(place / "values.svg", words))
    last = results[-1]
    if last.trace is not None:
        with canvas(place / "trace", kinds=("png",)) as sheet:
            plot.trace(last, sheet.add_subplot())
        parts.append(
            Figure(place / "trace.png", f"The runs of {named[last.name]} on their way: the loss over the steps.")
        )
    return parts


def _interval(summary: Summary) -> tuple[float, float] | None:
    """Return the interval of the share of spurious runs; None where no minimum can be called spurious."""
    return None if "CONVERGED" in summary.outcomes else summary.spurious_interval


def _headline(results: Sequence[SweepResult], said: Said) -> str:
    """Return in one sentence where runs that did not find the global minimum end, and what of it is proved."""
    total = sum(result.summary.runs for result in results)
    counts = {(result.name, index): family.count for result in results for index, family in enumerate(result.families)}
    stuck, minima = sum(counts.values()), len(counts)
    proved = [key for key in counts if key in said and said[key].verified and "saddle" not in said[key].kind]
    if any("CONVERGED" in result.summary.outcomes for result in results):
        return f"{stuck:,} of {total:,} runs end at {many(minima, 'minimum', 'minima')}; the least loss is not known"
    if not stuck:
        good = sum(result.summary.outcomes.get("GLOBAL", 0) for result in results)
        return f"{good:,} of {total:,} runs find the global minimum, and none is stuck at another"
    if not proved:
        return f"{stuck:,} of {total:,} runs are stuck, at {many(minima, 'minimum', 'minima')}"
    inside = sum(counts[key] for key in proved)
    return f"{inside:,} of {stuck:,} stuck runs end in {many(len(proved), 'proved minimum', 'proved minima')}"
