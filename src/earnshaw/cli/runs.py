"""``earnshaw runs``: look at run folders."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from earnshaw.cli.console import json_line, out, show_table, user_errors
from earnshaw.cli.export import EXAMPLES, export_run
from earnshaw.cli.helping import Command, examples
from earnshaw.errors import InputError

app = typer.Typer(
    no_args_is_help=True,
    help="List, show and export the folders that sweeps wrote.",
    epilog=examples("earnshaw runs list", "earnshaw runs show runs/mine", "earnshaw runs export runs/mine > runs.csv"),
)


@app.command("list", cls=Command, epilog=examples("earnshaw runs list", "earnshaw runs list old/runs --json"))
def list_runs(
    root: Annotated[Path, typer.Argument(metavar="DIR", help="Where the run folders are.")] = Path("runs"),
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per folder, and nothing else.")] = False,
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
            if table.row_count:
                show_table(table)
            else:
                out.print(f"no run folders in {root}")


@app.command("show", cls=Command, epilog=examples("earnshaw runs show runs/mine"))
def show_run(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A run folder.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per (k, n), and nothing else.")] = False,
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
            if "CONVERGED" in record["outcomes"]:
                out.print("  the global minimum is not known, so no minimum can be called spurious")
            else:
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
                show_table(table)


app.command("export", cls=Command, epilog=EXAMPLES)(export_run)
