"""``earnshaw arena``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from earnshaw.cli import settings
from earnshaw.cli.console import json_line, progress_bar, say, show_table, spelled
from earnshaw.cli.settings import RESULTS, RUNS
from earnshaw.errors import InputError

if TYPE_CHECKING:
    from earnshaw.experiments import Arena

EXAMPLES = (
    "earnshaw arena -k 6 --optimizers gd:0.1,adam:0.01 --runs 100      # a minute",
    "earnshaw arena -k 10                                              # minutes",
    "earnshaw arena -k 8..12 --optimizers gd:0.1,mine.py:optimizer --out runs/mine",
)
ROWS = 10  # of a list on the screen; the file has all
DEFAULT = "flow,gd:0.01,gd:0.1,momentum:0.05:0.9,adam:0.01,lbfgs,newton-tr,perturbed-gd"
OPTIMIZERS_HELP = (
    "Optimisers, named as for sweep --optimizer, separated by commas; the others are compared with the "
    f"first (default: {DEFAULT.replace(',', ', ')})."
)


def arena(
    k: settings.Teachers = None,
    n: settings.Students = "k",
    d: settings.Dimension = None,
    teacher: settings.TeacherFile = None,
    activation: settings.ActivationName = "relu",
    output_weights: settings.Outputs = "fixed",
    optimizers: Annotated[str, RUNS(OPTIMIZERS_HELP, metavar="A,B,...", show_default=False)] = DEFAULT,
    runs: Annotated[int, RUNS("Starts for each (k, n), the same for all optimisers.")] = 1000,
    seed: settings.Seed = 0,
    start: settings.StartName = None,
    max_steps: Annotated[int, RUNS("Steps after which plain gradient descent finishes a run.")] = 200_000,
    prove: Annotated[bool, RESULTS("Prove the families of ReLU minima that trap a run.")] = True,
    folder: Annotated[Path, RESULTS("Where everything goes.", "--out", metavar="DIR")] = Path("runs/arena"),
    as_json: Annotated[bool, RESULTS("One JSON object per optimiser and (k, n), and nothing else.", "--json")] = False,
    workers: Annotated[int | None, RESULTS("Worker threads (default: one a core).")] = None,
    cluster: settings.ClusterName = None,
    part: settings.PartName = None,
    time_limit: settings.TimeLimit = None,
    log_file: settings.LogFile = None,
) -> None:
    """Let optimisers compete: the same starts for all, who reaches the global minimum, at what cost, and what traps whom.

    Writes a run folder for each optimiser, a table, a figure, and the list of all runs whose fate differs from that
    of the first optimiser. Interrupted, it resumes; optimisers can be added to a finished arena.
    """
    problems = settings.two_layers(k, n, teacher, None, d, activation, output_weights)
    from earnshaw.experiments import run_arena

    names = [name.strip() for name in optimizers.split(",") if name.strip()]
    if not names:
        raise InputError(f"--optimizers {optimizers!r} names none; give for example --optimizers gd:0.1,adam:0.01")
    if len(set(names)) < len(names):
        raise InputError("the arena needs optimisers with different names; two of those given have the same")
    place, share = settings.part_folder(folder, part)
    with progress_bar("arena", place) as progress:
        results = run_arena(
            problems,
            {name: settings.named_optimizer(name) for name in names},
            place,
            runs=runs,
            seed=seed,
            start=settings.named_start(start),
            max_steps=max_steps,
            prove=prove,
            workers=workers,
            progress=progress,
            part=share,
            cluster=cluster,
        )
    if share is not None:
        if not as_json:
            settings.say_part(place, folder, share)
        return
    drawn = [result for result in results if result.problem.is_realisable]
    if drawn:
        from earnshaw.plots.sweeps import arena_figure

        arena_figure(drawn, f"{activation} students, {runs} common starts", folder / "arena")
    if as_json:
        for score in (score for result in results for score in result.scores):
            json_line(score.to_json())
        return
    for result in results:
        _show(result)
    say(f"\nresults in {folder}: arena.json (with every disagreement){', arena.png' if drawn else ''}")


def _show(arena: Arena) -> None:
    from rich.markup import escape
    from rich.table import Column

    first, known = arena.scores[0].optimizer, arena.problem.is_realisable
    numbers = ("global (95%)", "steps", "gradients", "Hessians", f"as {escape(first)}")
    columns = [Column(title, justify="right", no_wrap=True) for title in numbers]
    rows = []
    for score in arena.scores:
        low, high = score.global_interval if known else (0, 0)
        others = [f"{count} {name}" for name, count in score.outcomes.items() if name not in ("GLOBAL", "SPURIOUS")]
        row = [score.optimizer, f"{score.global_percent:.1f}% ({low:.0f}-{high:.0f})" if known else "not known"]
        row += [f"{score.median_steps:.0f}", f"{score.median_gradients:.0f}"]
        row += [f"{score.median_hessians:.0f}" if score.median_hessians else "", f"{score.agrees_percent:.1f}%"]
        rows.append([*row, ", ".join(others)])
    title = ", ".join(f"{name}={size}" for name, size in arena.problem.sizes.items())
    ends = (Column("optimiser", no_wrap=True), *columns, Column("other", no_wrap=True))
    show_table(ends, rows, title=title, title_justify="left")
    say(
        "   steps, gradients, Hessians (products with one): the median of a run, until its fate was clear or --max-steps"
    )
    _show_families(arena)
    for row in arena.disagreements[:ROWS]:
        say(f"   run {row.run}: {row.optimizer} {row.fate}, {first} {row.fate_of_first}")
    more = len(arena.disagreements) - ROWS
    if more > 0:
        say(f"   and {more} more runs with another fate than {first}'s, in arena.json")


def _show_families(arena: Arena) -> None:
    """Print which families trapped how many runs of whom."""
    if not arena.traps:
        return
    words = {None: "", "PROVED_MINIMUM": "proved a minimum", "PROVED_SADDLE": "proved a saddle"}
    rows = []
    for index, trap in enumerate(arena.traps[:ROWS]):
        caught = ", ".join(f"{score.optimizer} {score.traps[index]}" for score in arena.scores if score.traps[index])
        word = ", ".join(word for word in (trap.label, trap.name, words.get(trap.verdict, "not proved")) if word)
        rows.append([str(index), f"{trap.objective:.6f}", f"{trap.min_eigenvalue:.6f}", word, caught])
    titles = ("family", "F", spelled("λmin", "lmin"), "", "runs trapped")
    show_table(titles, rows, title="minima that trap", title_justify="left")
    more = len(arena.traps) - ROWS
    if more > 0:
        say(f"   and {more} more families, in arena.json")
