"""``earnshaw reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from earnshaw.cli.console import bold, fail, json_line, progress_bar, say, show_table
from earnshaw.cli.helping import argument, begins, meant, option
from earnshaw.errors import InputError
from earnshaw.papers import PAPERS, Comparison, Reproduction

EXAMPLES = (
    "earnshaw reproduce spurious table1 --quick",
    "earnshaw reproduce convnet                    # all items",
    "earnshaw reproduce electrostatics theorems --json",
)
ITEMS_HELP = " ".join(f"{name}: {', '.join(paper.items)}." for name, paper in PAPERS.items())
RUNS_HELP = "Runs (or data sets) for each setting, instead of the item's own number."
PAPERS_HELP = " ".join(f"{name}: {paper.cited}." for name, paper in PAPERS.items())


def _items(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete a half-typed item of the paper before it."""
    paper = PAPERS.get(ctx.params.get("paper", ""))
    return begins((*(paper.items if paper else ()), "all"))(incomplete)


def reproduce(
    paper: Annotated[str, argument("PAPER", PAPERS_HELP, show_default=False, autocompletion=begins(PAPERS))],
    item: Annotated[str, argument("ITEM", f"all, or one of the paper's. {ITEMS_HELP}", autocompletion=_items)] = "all",
    quick: Annotated[bool, option("Fewer settings and runs: minutes at most.", "--quick")] = False,
    runs: Annotated[int | None, option(RUNS_HELP)] = None,
    seed: Annotated[int, option("Root of all random numbers.")] = 0,
    workers: Annotated[int | None, option("Worker threads (default: one a core).")] = None,
    out_folder: Annotated[Path | None, option("Where files go (default: out/PAPER).", "--out", metavar="DIR")] = None,
    as_json: Annotated[bool, option("One JSON object per compared number, and nothing else.", "--json")] = False,
) -> None:
    """Recompute a paper's tables and figures: ours beside a reference, what that is, and a test for each number.

    A reference is printed in the paper, read off a figure, computed from a closed form, measured by us in other runs, or
    the limit of a test. Writes a PNG, an SVG and a JSON file for each item, and keeps the sweeps, so that an interrupted reproduction goes
    on where it stopped. Exit code 1 says that some number does not agree.
    """
    if paper not in PAPERS:
        raise InputError(f"{paper} is none of the papers; choose {', '.join(PAPERS)}.{meant(paper, PAPERS)}")
    chosen = PAPERS[paper]
    items = list(chosen.items)
    if item != "all" and item not in items:
        raise InputError(f"{paper} has no {item}; choose {', '.join(items)} or all.{meant(item, items)}")
    folder = out_folder or Path("out") / paper
    compared: list[Comparison] = []
    for name in items if item == "all" else [item]:
        with progress_bar(name, folder) as progress:
            how = Reproduction(out=folder, runs=runs, seed=seed, quick=quick, workers=workers, progress=progress)
            rows = chosen.function(name)(how)
        compared += rows
        if as_json:
            for row in rows:
                json_line(row.to_json())
        else:
            _show(name, rows)
    if not as_json:
        say(f"files in {bold(folder)}", markup=True)
    failed = sum(not row.ok for row in compared)
    if failed:
        fail(f"{failed} of {len(compared)} numbers do not agree with their reference")


def _show(name: str, compared: list[Comparison]) -> None:
    from rich.table import Column
    from rich.text import Text

    titles = ("setting", "quantity", "ours", "95% interval", "reference", "which is", "test", "ok")
    columns = [Column(title, overflow="fold", min_width=14 if title == "test" else None) for title in titles]
    rows = []
    for row in compared:
        ours = "-" if row.ours is None else f"{row.ours:.4g}"
        interval = "" if row.interval is None else "{:.1f} - {:.1f}".format(*row.interval)
        agrees = Text("yes") if row.ok else Text("NO", style="bold red")
        beside = f"{row.reference:.4g}", row.source.word, row.test, agrees
        rows.append((row.setting, row.quantity, ours, interval, *beside))
    show_table(columns, rows, title=name, title_justify="left")
