"""``earnshaw runs``: look at run folders."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Annotated

import typer

from earnshaw.cli.console import json_line, out, user_errors
from earnshaw.errors import InputError

app = typer.Typer(no_args_is_help=True, help="List, show and export run folders.")


@app.command("list", epilog="Example: **earnshaw runs list**")
def list_runs(
    root: Annotated[Path, typer.Argument(metavar="DIR", help="Where the run folders are.")] = Path("runs"),
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per folder.")] = False,
) -> None:
    """List the run folders under a folder: what they compute, and how far they are."""
    from rich.table import Table

    from earnshaw.store import read_json

    with user_errors():
        if not root.is_dir():
            raise InputError(f"{root} is not a folder; sweeps go to runs/ unless --out says otherwise")
        table = Table(
            "folder", "settings", "runs each", "seed", "finished", box=None, pad_edge=False, header_style="bold"
        )
        for manifest in sorted(root.glob("*/manifest.json")):
            folder = manifest.parent
            identity = read_json(manifest).get("identity", {})
            names = list(identity.get("problems", {}))
            done = sum((folder / f"{name}.json").exists() for name in names)
            shown = names[0] if len(names) == 1 else f"{names[0]} .. {names[-1]}" if names else "-"
            if as_json:
                keys = {
                    "settings": len(names),
                    "finished": done,
                    "runs": identity.get("runs"),
                    "seed": identity.get("seed"),
                }
                json_line({"folder": str(folder), **keys})
            else:
                table.add_row(
                    str(folder), shown, str(identity.get("runs")), str(identity.get("seed")), f"{done}/{len(names)}"
                )
        if not as_json:
            out.print(table if table.row_count else f"no run folders in {root}")


@app.command("show", epilog="Example: **earnshaw runs show runs/0123456789abcdef**")
def show_run(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A run folder.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per (k, n).")] = False,
) -> None:
    """Show the results of a run folder, family by family."""
    from rich.table import Table

    from earnshaw.experiments import load_summaries

    with user_errors():
        for record in load_summaries(folder):
            if as_json:
                json_line(record)
                continue
            outcomes = ", ".join(f"{count} {name}" for name, count in record["outcomes"].items())
            low, high = record["spurious_interval"]
            out.print(f"[bold]k={record['k']} n={record['n']}[/]  {record['runs']} runs: {outcomes}")
            out.print(f"  spurious {record['spurious_percent']:.1f}% (95%: {low:.1f} - {high:.1f})")
            if record["families"]:
                table = Table("family", "runs", "objective", "smallest eigenvalue", box=None, header_style="bold")
                for index, family in enumerate(record["families"]):
                    table.add_row(
                        str(index),
                        str(family["count"]),
                        f"{family['objective']:.10f}",
                        f"{family['min_eigenvalue']:.6g}",
                    )
                out.print(table)


@app.command("export", epilog="Example: **earnshaw runs export runs/0123456789abcdef > runs.csv**")
def export_run(folder: Annotated[Path, typer.Argument(metavar="DIR", help="A run folder.")]) -> None:
    """Write one line per run as CSV: k, n, run, outcome, value, gradient_norm, min_eigenvalue, steps."""
    from earnshaw.experiments import load_summaries
    from earnshaw.store import read_npz

    columns = ("outcome", "value", "gradient_norm", "min_eigenvalue", "steps")
    with user_errors():
        writer = csv.writer(sys.stdout)
        writer.writerow(("k", "n", "run", *columns))
        for record in load_summaries(folder):
            arrays = read_npz(folder / f"k{record['k']}-n{record['n']}.npz")
            for run, row in enumerate(zip(*(arrays[name].tolist() for name in columns), strict=True)):
                writer.writerow((record["k"], record["n"], run, *row))
