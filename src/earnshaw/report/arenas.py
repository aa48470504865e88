"""Pages about arenas: which optimiser finds the global minimum how often and at what cost, and what traps whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from earnshaw.experiments import Arena, Score, SweepResult, Trap, load_arena
from earnshaw.experiments.arena import setting_name
from earnshaw.numerics import percentage
from earnshaw.plots import value_figure
from earnshaw.plots.sweeps import arena_figure
from earnshaw.report.families import LEAST, family_card
from earnshaw.report.origin import arena_commands, plan_of
from earnshaw.report.page import Card, Cards, Figure, Folded, Part, Section, Table, Text, figures_of
from earnshaw.report.sweeps import run_words, sweep_results
from earnshaw.report.telling import Told
from earnshaw.report.words import many, number, percent_of, share, symbols
from earnshaw.symmetry import Family

CARDS, ROWS = 24, 200  # families with a card, disagreements in the table
SAME = 1e-7  # relative distance of losses up to which a family of one optimiser is the arena's
VERDICTS = {"PROVED_MINIMUM": "proved a minimum", "PROVED_SADDLE": "proved a saddle", "INCONCLUSIVE": "inconclusive"}


def tell_arena(folder: Path, out: Path, check: bool) -> Told:
    """Return what the page of an arena says."""
    arenas, results, plan = load_arena(folder), sweep_results(folder), plan_of(folder)
    sections = [_standings(arenas, results, out)]
    for arena in arenas:
        mine = [result for result in results if result.runs.problem.name == arena.problem.name]
        sections += _traps(arena, mine, out)
    sections += _disagreements(arenas)
    scores, starts = arenas[0].scores, sum(arena.scores[0].runs for arena in arenas)
    lead = (
        f"{many(len(scores), 'optimiser', 'optimisers')} from the same {starts:,} starts. Who finds the global minimum, at what cost, and what "
        "traps the others?"
    )
    names = [score.optimizer for score in scores]
    made = arena_commands(plan, names, folder) if plan else []
    return Told(f"Arena {folder.name}", _headline(arenas), lead, sections, run_words(plan, results), made)


def _pooled(arenas: Sequence[Arena]) -> dict[str, tuple[float, tuple[float, float]]]:
    """Return how often each optimiser found the global minimum, of all starts together, with the interval of that."""
    counts: dict[str, list[int]] = {}
    for score in (score for arena in arenas for score in arena.scores):
        mine = counts.setdefault(score.optimizer, [0, 0])
        mine[0] += score.outcomes.get("GLOBAL", 0)
        mine[1] += score.runs
    return {name: percentage(*mine) for name, mine in counts.items()}


def _headline(arenas: Sequence[Arena]) -> str:
    """Return in one sentence who finds the global minimum most often, and whether that is more than chance would do."""
    if not all(arena.problem.is_realisable for arena in arenas):
        return "The global minimum is not known, so that no optimiser can be said to find it"
    shares = _pooled(arenas)
    order = sorted(shares, key=lambda name: shares[name][0])
    (worst, low), (best, high) = ((name, shares[name]) for name in (order[0], order[-1]))
    if low[0] == high[0]:
        every = f"each of {len(shares)} optimisers finds" if len(shares) > 1 else f"{best} finds"
        return f"{every[0].upper()}{every[1:]} the global minimum from {percent_of(*high)} of the starts"
    apart = "" if low[1][1] < high[1][0] else "; the intervals overlap"
    return (
        f"{best} finds the global minimum most often, from {percent_of(*high)} of the starts; {worst} least often, from "
        f"{percent_of(*low)}{apart}"
    )


def _standings(arenas: Sequence[Arena], results: Sequence[SweepResult], out: Path) -> Section:
    """Return the standings: figure, table, and the losses at which the runs of each optimiser end."""
    place, parts = figures_of(out), list[Part]()
    known = [arena for arena in arenas if arena.problem.is_realisable]
    runs, first = arenas[0].scores[0].runs, arenas[0].scores[0].optimizer
    if known:
        arena_figure(known, f"{runs} common starts", place / "standings")
        words = "Share of runs that find the global minimum, with 95% intervals"
        costs = (
            ", and what the median run took until its fate was clear or its steps used up." if len(known) == 1 else "."
        )
        parts.append(Figure(place / "standings.svg", words + costs))
    rows = [_row(arena, score, len(arenas) > 1, first) for arena in arenas for score in arena.scores]
    words = (
        "Steps, gradients and products with the Hessian are medians of a run until its fate was clear or its steps used up; what finishes it then is not counted. A run agrees with that of "
        f"{first} from the same start if both find the global minimum or end in the same family of minima."
    )
    parts += [Table.of(rows), Text(words)]
    last, ends = arenas[-1].problem.name, {result.name: result.arrays["value"] for result in results}
    values = {score.optimizer: ends[setting_name(last, score.optimizer)] for score in arenas[-1].scores}
    value_figure(values, place / "values", above=any(s.outcomes.get("GLOBAL") for s in arenas[-1].scores))
    parts.append(
        Figure(place / "values.svg", f"End values for {last}: the share of runs that end at or below each loss.")
    )
    return Section("Who finds the global minimum", parts)


def _row(arena: Arena, score: Score, several: bool, first: str) -> dict[str, str]:
    others = {name: count for name, count in score.outcomes.items() if name not in ("GLOBAL", "SPURIOUS")}
    known = arena.problem.is_realisable
    return {
        "setting": arena.problem.name * several,
        "optimiser": score.optimizer,
        "global (95%)": percent_of(score.global_percent, score.global_interval) if known else "not known",
        "steps": f"{score.median_steps:,.0f}",
        "gradients": f"{score.median_gradients:,.0f}",
        "Hessian products": f"{score.median_hessians:,.0f}" if score.median_hessians else "",
        f"agrees with {first}": "" if score.optimizer == first else _agreement(score),
        "other": ", ".join(f"{count} {name.lower()}" for name, count in others.items()),
    }


def _agreement(score: Score) -> str:
    return share(round(score.agrees_percent * score.runs / 100), score.runs)


def _traps(arena: Arena, results: Sequence[SweepResult], out: Path) -> list[Section]:
    """Return a card for each family of minima that trapped a run."""
    if not arena.traps:
        return []
    cards = [_card(arena, place, results, out) for place in range(len(arena.traps))[:CARDS]]
    words = "A family of minima is the same for all optimisers. How many runs of each it held stands on its card, with the share of all its runs."
    if any(trap.verdict for trap in arena.traps):
        words += " What is proved was proved when the arena ran; its certificates were not kept, and this page has checked none."
    parts: list[Part] = [Cards(cards), Text(words)]
    if len(arena.traps) > CARDS:
        parts.append(Text(f"These are the first {CARDS} of {len(arena.traps)} families; arena.json has all."))
    return [Section(f"What traps them: {arena.problem.name}", parts)]


def _card(arena: Arena, place: int, results: Sequence[SweepResult], out: Path) -> Card:
    trap = arena.traps[place]
    held = {
        score.optimizer: f"{score.traps[place]} of {score.runs}: {share(score.traps[place], score.runs)}"
        for score in arena.scores
    }
    facts: Mapping[str, str] = held | {
        "loss": f"{trap.objective:.8f}",
        LEAST: number(trap.min_eigenvalue, 6),
        "neurons": trap.name or "",
        "proof": VERDICTS.get(trap.verdict or "", ""),
    }
    title, family = f"{arena.problem.name}, family {place}", _family(trap, results)
    if family is None:
        return Card(f"{symbols(trap.label)}: {title}" if trap.label else title, facts)
    return family_card(family, title, facts, figures_of(out) / f"{arena.problem.name}-family{place}")


def _family(trap: Trap, results: Sequence[SweepResult]) -> Family | None:
    """Return the family of some optimiser's sweep that is this one, by name and loss."""
    near = SAME * max(abs(trap.objective), 1e-12)
    for family in (family for result in results for family in result.families):
        if family.label == trap.label and abs(family.objective - trap.objective) <= near:
            return family
    return None


def _disagreements(arenas: Sequence[Arena]) -> list[Section]:
    """Return the starts from which an optimiser met another fate than the first one did."""
    found = [(arena, row) for arena in arenas for row in arena.disagreements]
    if not found:
        return []
    first = arenas[0].scores[0].optimizer
    rows = [
        {
            "setting": arena.problem.name * (len(arenas) > 1),
            "start": str(row.run),
            "optimiser": row.optimizer,
            "its run": row.fate.lower(),
            f"the run of {first}": row.fate_of_first.lower(),
        }
        for arena, row in found[:ROWS]
    ]
    more = f" The first {ROWS} are here; arena.json has all." if len(found) > ROWS else ""
    words = f"From {len(found)} starts, counted for each optimiser, a run met another fate than that of {first}.{more}"
    return [
        Section(
            "Where they part",
            [Text(words), Folded("All of them" if not more else "The first of them", [Table.of(rows)])],
        )
    ]
