"""``earnshaw arena``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from earnshaw.cli.console import json_line, out, progress_bar, resumable, say, show_table, spelled, user_errors
from earnshaw.cli.helping import examples
from earnshaw.cli.settings import (
    RESULTS,
    RUNS,
    ActivationName,
    Dimension,
    Outputs,
    OutputWeights,
    Seed,
    StartName,
    Students,
    TeacherFile,
    Teachers,
    named_optimizer,
    named_start,
    two_layers,
)
from earnshaw.errors import InputError

if TYPE_CHECKING:
    from earnshaw.experiments import Arena

EXAMPLES = examples(
    "earnshaw arena -k 6 --optimizers gd:0.1,adam:0.01 --runs 100      # a minute",
    "earnshaw arena -k 10                                              # minutes",
    "earnshaw arena -k 8..12 --optimizers gd:0.1,mine.py:optimizer --out runs/mine",
)
ROWS = 10  # of a list on the screen; the file has all
DEFAULT = "flow,gd:0.01,gd:0.1,momentum:0.05:0.9,adam:0.01,lbfgs,newton-tr,perturbed-gd"


def arena(
    k: Teachers = None,
    n: Students = "k",
    d: Dimension = None,
    teacher: TeacherFile = None,
    activation: ActivationName = "relu",
    output_weights: Outputs = OutputWeights.fixed,
    optimizers: Annotated[
        str,
        typer.Option(
            metavar="A,B,...",
            rich_help_panel=RUNS,
            show_default=False,
            help="Optimisers, named as for sweep --optimizer, separated by commas; the others are compared with the "
            f"first (default: {DEFAULT.replace(',', ', ')}).",
        ),
    ] = DEFAULT,
    runs: Annotated[
        int, typer.Option(rich_help_panel=RUNS, help="Starts for each (k, n), the same for all optimisers.")
    ] = 1000,
    seed: Seed = 0,
    start: StartName = None,
    max_steps: Annotated[
        int, typer.Option(rich_help_panel=RUNS, help="Steps after which plain gradient descent finishes a run.")
    ] = 200_000,
    prove: Annotated[
        bool, typer.Option(rich_help_panel=RESULTS, help="Prove the families of ReLU minima that trap a run.")
    ] = True,
    out_folder: Annotated[
        Path, typer.Option("--out", metavar="DIR", rich_help_panel=RESULTS, help="Where everything goes.")
    ] = Path("runs/arena"),
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", rich_help_panel=RESULTS, help="One JSON object per optimiser and (k, n), and nothing else."
        ),
    ] = False,
    workers: Annotated[
        int | None, typer.Option(rich_help_panel=RESULTS, help="Worker threads (default: one a core).")
    ] = None,
) -> None:
    """Let optimisers compete: the same starts for all, who reaches the global minimum, at what cost, and what traps whom.

    Writes a run folder for each optimiser, a table, a figure, and the list of all runs whose fate differs from that
    of the first optimiser. Interrupted, it resumes; optimisers can be added to a finished arena.
    """
    with user_errors():
        problems = two_layers(k, n, teacher, None, d, activation, output_weights)
        from earnshaw.experiments import run_arena
        from earnshaw.numerics import remember_programs

        names = [name.strip() for name in optimizers.split(",") if name.strip()]
        if not names:
            raise InputError(f"--optimizers {optimizers!r} names none; give for example --optimizers gd:0.1,adam:0.01")
        if len(set(names)) < len(names):
            raise InputError("the arena needs optimisers with different names; two of those given have the same")
        remember_programs()
        with resumable(out_folder), progress_bar("arena") as progress:
            results = run_arena(
                problems,
                {name: named_optimizer(name) for name in names},
                out_folder,
                runs=runs,
                seed=seed,
                start=None if start is None else named_start(start),
                max_steps=max_steps,
                prove=prove,
                workers=workers,
                progress=progress,
            )
        drawn = [result for result in results if result.problem.is_realisable]
        if drawn:
            _draw(drawn, names, f"{activation} students, {runs} common starts", out_folder / "arena")
        for result in results:
            if as_json:
                for score in result.scores:
                    json_line(score.to_json())
            else:
                _show(result)
        if not as_json:
            files = "arena.json (with every disagreement)" + (", arena.png" if drawn else "")
            say(f"\nresults in {out_folder}: {files}")


def _draw(results: list[Arena], names: list[str], title: str, path: Path) -> None:
    """Draw the problems whose global minimum is known: by k where that tells them apart, by n, or by both."""
    from earnshaw.plots import Proportion
    from earnshaw.plots.sweeps import arena_figure

    sizes = [(result.problem.sizes["k"], result.problem.sizes["n"]) for result in results]
    apart = {n - k for k, n in sizes}
    if len(apart) == 1:
        extra = apart.pop()
        label = f"teacher neurons k (n = k{f' + {extra}' if extra else ''})"
        shown = [str(k) for k, _ in sizes]
    elif len({k for k, _ in sizes}) == 1:
        label = f"student neurons n (k = {sizes[0][0]})"
        shown = [str(n) for _, n in sizes]
    else:
        label, shown = "teacher neurons k, student neurons n", [f"{k}, {n}" for k, n in sizes]
    if len(results) == 1:
        title += ", k = {}, n = {}".format(*sizes[0])
    standings = {
        name: [
            Proportion(size, s.global_percent, s.global_interval)
            for size, result in zip(shown, results, strict=True)
            for s in result.scores
            if s.optimizer == name
        ]
        for name in names
    }
    costs = [
        f"{s.median_gradients:,.0f} gradients"
        + (f", {s.median_hessians:,.0f} Hessian products" if s.median_hessians else "")
        for s in results[0].scores
    ]
    arena_figure(standings, costs, label, title, path)


def _show(arena: Arena) -> None:
    from rich.table import Table

    problem = arena.problem
    table = Table(
        title=", ".join(f"{name}={size}" for name, size in problem.sizes.items()), title_justify="left", box=None
    )
    first, known = arena.scores[0].optimizer, problem.is_realisable
    for heading in ("optimiser", "global (95%)", "steps", "gradients", "Hessians", f"as {first}", "other"):
        table.add_column(heading, justify="left" if heading in ("optimiser", "other") else "right", no_wrap=True)
    for score in arena.scores:
        rest = {name: count for name, count in score.outcomes.items() if name not in ("GLOBAL", "SPURIOUS")}
        table.add_row(
            score.optimizer,
            f"{score.global_percent:.1f}% ({{:.0f}}-{{:.0f}})".format(*score.global_interval) if known else "not known",
            f"{score.median_steps:.0f}",
            f"{score.median_gradients:.0f}",
            f"{score.median_hessians:.0f}" if score.median_hessians else "",
            f"{score.agrees_percent:.1f}%",
            ", ".join(f"{count} {name}" for name, count in rest.items()),
        )
    show_table(table)
    out.print(
        "   steps, gradients, Hessians (products with one): the median of a run until its fate was clear",
        soft_wrap=True,
    )
    _show_families(arena)
    rows = arena.disagreements
    for row in rows[:ROWS]:
        out.print(f"   run {row.run}: {row.optimizer} {row.fate}, {first} {row.fate_of_first}", soft_wrap=True)
    if len(rows) > ROWS:
        out.print(f"   and {len(rows) - ROWS} more runs with another fate than {first}'s, in arena.json")


def _show_families(arena: Arena) -> None:
    """Print which families trapped how many runs of whom."""
    from rich.table import Table

    if not arena.traps:
        return
    words = {None: "", "PROVED_MINIMUM": "proved a minimum", "PROVED_SADDLE": "proved a saddle"}
    table = Table(
        "family",
        "F",
        spelled("λmin", "lmin"),
        "",
        "runs trapped",
        title="minima that trap",
        title_justify="left",
        box=None,
    )
    for index, trap in enumerate(arena.traps[:ROWS]):
        caught = ", ".join(f"{score.optimizer} {score.traps[index]}" for score in arena.scores if score.traps[index])
        word = ", ".join(word for word in (trap.name, words.get(trap.verdict, "not proved")) if word)
        table.add_row(str(index), f"{trap.objective:.6f}", f"{trap.min_eigenvalue:.6f}", word, caught)
    show_table(table)
    if len(arena.traps) > ROWS:
        out.print(f"   and {len(arena.traps) - ROWS} more families, in arena.json")
