"""``earnshaw reproduce``."""

from __future__ import annotations

import importlib
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from earnshaw.cli.console import CLAIM_FAILED, INTERRUPTED, json_line, note, out, progress_bar, show_table, user_errors
from earnshaw.cli.helping import examples, meant
from earnshaw.errors import InputError

if TYPE_CHECKING:
    from earnshaw.papers import Comparison

EXAMPLES = examples(
    "earnshaw reproduce spurious table1 --quick",
    "earnshaw reproduce convnet                    # all items",
    "earnshaw reproduce electrostatics theorems --json",
)
ITEMS = {  # as in the papers' modules, which take seconds to import
    "spurious": ("table1", "table2", "figure1", "examples"),
    "convnet": ("figure1b", "phases", "probability", "theorems"),
    "electrostatics": ("table1", "theorems", "figure1", "figure2", "table2"),
    "logistic": ("figure2", "figure3", "figure4", "tensor", "starts", "theory"),
}
ITEMS_HELP = " ".join(f"{paper}: {', '.join(items)}." for paper, items in ITEMS.items())


def _items(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete a half-typed item of the paper before it."""
    return [name for name in (*ITEMS.get(ctx.params.get("paper", ""), ()), "all") if name.startswith(incomplete)]


class Paper(StrEnum):
    """The papers; each is a module of earnshaw.papers."""

    spurious = "spurious"
    convnet = "convnet"
    electrostatics = "electrostatics"
    logistic = "logistic"


def reproduce(
    paper: Annotated[
        Paper,
        typer.Argument(
            metavar="PAPER",
            show_default=False,
            help="spurious (Safran & Shamir 2018), convnet (Du et al. 2018), electrostatics (Panigrahy et al. 2018) or "
            "logistic (Fu, Chi & Liang 2018).",
        ),
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
    """Recompute a paper's tables and figures, ours and the printed numbers side by side, with a test for each.

    Writes a PNG, an SVG and a JSON file for each item, and keeps the sweeps, so that an interrupted reproduction goes
    on where it stopped. Exit code 1 says that some number does not agree.
    """
    with user_errors():
        from earnshaw.experiments import Interrupted
        from earnshaw.numerics import remember_programs
        from earnshaw.papers import Items, Reproduction

        items: Items = importlib.import_module(f"earnshaw.papers.{paper}").ITEMS
        if item != "all" and item not in items:
            raise InputError(f"{paper} has no {item}; choose {', '.join(items)} or all.{meant(item, items)}")
        remember_programs()
        folder = out_folder or Path("out") / paper.value
        compared: list[Comparison] = []
        for name in items if item == "all" else [item]:
            try:
                with progress_bar(name) as progress:
                    how = Reproduction(
                        out=folder, runs=runs, seed=seed, quick=quick, workers=workers, progress=progress
                    )
                    rows = items[name](how)
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
            note(f"{len(failed)} of {len(compared)} numbers do not agree with the paper")
            raise typer.Exit(CLAIM_FAILED)


def _show(name: str, rows: list[Comparison]) -> None:
    from rich.table import Table

    table = Table(title=name, title_justify="left", box=None)
    for heading in ("setting", "quantity", "ours", "95% interval", "printed", "test", "ok"):
        table.add_column(heading, overflow="fold", min_width=14 if heading == "test" else None)
    for row in rows:
        ours = "-" if row.ours is None else f"{row.ours:.4g}"
        interval = "" if row.interval is None else "{:.1f} - {:.1f}".format(*row.interval)
        table.add_row(
            row.setting,
            row.quantity,
            ours,
            interval,
            f"{row.printed:.4g}",
            row.test,
            "yes" if row.ok else "[bold red]NO[/]",
        )
    show_table(table)
