"""``earnshaw reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from earnshaw.cli.console import CLAIM_FAILED, INTERRUPTED, json_line, note, out, progress_bar, show_table, user_errors
from earnshaw.cli.helping import examples, meant
from earnshaw.errors import InputError
from earnshaw.papers import PAPERS, Comparison, Reproduction

EXAMPLES = examples(
    "earnshaw reproduce spurious table1 --quick",
    "earnshaw reproduce convnet                    # all items",
    "earnshaw reproduce electrostatics theorems --json",
)
ITEMS_HELP = " ".join(f"{name}: {', '.join(paper.items)}." for name, paper in PAPERS.items())
PAPERS_HELP = " ".join(f"{name}: {paper.cited}." for name, paper in PAPERS.items())


def _papers(incomplete: str) -> list[str]:
    """Complete a half-typed paper."""
    return [name for name in PAPERS if name.startswith(incomplete)]


def _items(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete a half-typed item of the paper before it."""
    paper = PAPERS.get(ctx.params.get("paper", ""))
    return [name for name in (*(paper.items if paper else ()), "all") if name.startswith(incomplete)]


def reproduce(
    paper: Annotated[
        str, typer.Argument(metavar="PAPER", show_default=False, autocompletion=_papers, help=PAPERS_HELP)
    ],
    item: Annotated[
        str,
        typer.Argument(metavar="ITEM", autocompletion=_items, help=f"all, or one of the paper's. {ITEMS_HELP}"),
    ] = "all",
    quick: Annotated[bool, typer.Option("--quick", help="Fewer settings and runs: minutes at most.")] = False,
    runs: Annotated[
        int | None, typer.Option(help="Runs (or data sets) for each setting, instead of the item's own number.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Root of all random numbers.")] = 0,
    workers: Annotated[int | None, typer.Option(help="Worker threads (default: one a core).")] = None,
    out_folder: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Where files go (default: out/PAPER).")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object per compared number, and nothing else.")
    ] = False,
) -> None:
    """Recompute a paper's tables and figures: ours beside a reference, what that is, and a test for each number.

    A reference is printed in the paper, read off a figure, computed from a closed form, measured by us in other runs, or
    the limit of a test. Writes a PNG, an SVG and a JSON file for each item, and keeps the sweeps, so that an interrupted reproduction goes
    on where it stopped. Exit code 1 says that some number does not agree.
    """
    with user_errors():
        if paper not in PAPERS:
            raise InputError(f"{paper} is none of the papers; choose {', '.join(PAPERS)}.{meant(paper, PAPERS)}")
        chosen = PAPERS[paper]
        items = list(chosen.items)
        if item != "all" and item not in items:
            raise InputError(f"{paper} has no {item}; choose {', '.join(items)} or all.{meant(item, items)}")
        from earnshaw.experiments import Interrupted
        from earnshaw.numerics import remember_programs

        remember_programs()
        folder = out_folder or Path("out") / paper
        compared: list[Comparison] = []
        for name in items if item == "all" else [item]:
            try:
                with progress_bar(name) as progress:
                    how = Reproduction(
                        out=folder, runs=runs, seed=seed, quick=quick, workers=workers, progress=progress
                    )
                    rows = chosen.function(name)(how)
            except Interrupted:
                note(f"interrupted; what is finished is in {folder}: run the same command again to go on")
                raise typer.Exit(INTERRUPTED) from None
            compared += rows
            if as_json:
                for row in rows:
                    json_line(row.to_json())
            else:
                _show(name, rows)
        if not as_json:
            out.print(f"files in [bold]{folder}[/]", soft_wrap=True)
        failed = [row for row in compared if not row.ok]
        if failed:
            note(f"{len(failed)} of {len(compared)} numbers do not agree with their reference")
            raise typer.Exit(CLAIM_FAILED)


def _show(name: str, rows: list[Comparison]) -> None:
    from rich.table import Table

    table = Table(title=name, title_justify="left", box=None)
    for heading in ("setting", "quantity", "ours", "95% interval", "reference", "which is", "test", "ok"):
        table.add_column(heading, overflow="fold", min_width=14 if heading == "test" else None)
    for row in rows:
        ours = "-" if row.ours is None else f"{row.ours:.4g}"
        interval = "" if row.interval is None else "{:.1f} - {:.1f}".format(*row.interval)
        table.add_row(
            row.setting,
            row.quantity,
            ours,
            interval,
            f"{row.reference:.4g}",
            row.source.word,
            row.test,
            "yes" if row.ok else "[bold red]NO[/]",
        )
    show_table(table)
