"""``earnshaw runs``: look at run folders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from earnshaw.cli.console import json_line, note, out, say, show_table, user_errors
from earnshaw.cli.export import EXAMPLES, export_run
from earnshaw.cli.helping import Command, examples
from earnshaw.errors import InputError

if TYPE_CHECKING:
    from earnshaw.experiments import Sweep, SweepResult

app = typer.Typer(
    no_args_is_help=True,
    help="List, show and export the folders that sweeps wrote.",
    epilog=examples("earnshaw runs list", "earnshaw runs show runs/mine", "earnshaw runs export runs/mine > runs.csv"),
)


def sweep_of(folder: Path) -> Sweep:
    """Return the sweep of a folder; a folder of another kind raises :class:`InputError`, which says what it holds."""
    from earnshaw.experiments import load_sweep
    from earnshaw.store import read_manifest

    kind = read_manifest(folder)["kind"]
    if kind != "sweep":
        raise InputError(f"{folder} holds work of the kind {kind!r}, not runs; see it with earnshaw runs show {folder}")
    return load_sweep(folder)


@app.command("list", cls=Command, epilog=examples("earnshaw runs list", "earnshaw runs list old/runs --json"))
def list_runs(
    root: Annotated[Path, typer.Argument(metavar="DIR", help="Where the run folders are.")] = Path("runs"),
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per folder, and nothing else.")] = False,
) -> None:
    """List the run folders under a folder: what they compute, and how far they are."""
    from rich.table import Table

    from earnshaw.store import read_manifest

    with user_errors():
        if not root.is_dir():
            raise InputError(f"{root} is not a folder; sweeps go to runs/ unless --out says otherwise")
        titles = ("folder", "kind", "settings", "runs each", "seed", "finished")
        table = Table(*titles, box=None, pad_edge=False, header_style="bold")
        for file in sorted(root.glob("*/manifest.json")):
            folder = file.parent
            try:
                manifest = read_manifest(folder)
            except InputError as error:
                note(f"{error}")
                continue
            settings = manifest["settings"]
            names, runs = list(settings), sorted({part.get("runs", 0) for part in settings.values()})
            done = sum((folder / f"{name}.json").exists() for name in names)
            seed = manifest["common"].get("seed")
            if as_json:
                line = {"folder": str(folder), "kind": manifest["kind"], "settings": len(names), "finished": done}
                json_line(line | {"runs": runs[-1] if runs else None, "seed": seed})
                continue
            shown = names[0] if len(names) == 1 else f"{names[0]} .. {names[-1]}" if names else "-"
            many = f"{runs[0]}" if len(runs) == 1 else f"{runs[0]} .. {runs[-1]}" if runs else "-"
            row = (
                str(folder),
                manifest["kind"],
                shown,
                many,
                "-" if seed is None else str(seed),
                f"{done}/{len(names)}",
            )
            table.add_row(*map(Text, row))
        if not as_json:
            if table.row_count:
                show_table(table)
            else:
                say(f"no run folders in {root}")


@app.command("show", cls=Command, epilog=examples("earnshaw runs show runs/mine"))
def show_run(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A run folder.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per setting, and nothing else.")] = False,
) -> None:
    """Show the results of a run folder: of a sweep family by family, of other work number by number."""
    from earnshaw.experiments import finished_records
    from earnshaw.store import read_manifest

    with user_errors():
        records = finished_records(folder)
        if not records:
            note(f"{folder} has no finished setting yet; run the same command again to go on")
        if as_json:
            for record in records.values():
                json_line({key: value for key, value in record.items() if key != "files"})
        elif read_manifest(folder)["kind"] == "sweep":
            for result in sweep_of(folder):
                _show_result(result)
        else:
            for name, record in records.items():
                out.print(Text(name, style="bold"))
                for key, value in record.items():
                    if isinstance(value, str | int | float):
                        say(f"  {key}: {value:.10g}" if isinstance(value, float) else f"  {key}: {value}")


def _show_result(result: SweepResult) -> None:
    from rich.table import Table

    summary = result.summary
    outcomes = ", ".join(f"{count} {name}" for name, count in summary.outcomes.items())
    heading = f"{summary.name.replace(',', '')} {summary.objective} {summary.optimizer}"
    out.print(Text(heading, style="bold"), f"  {summary.runs} runs: {outcomes}", soft_wrap=True)
    if "CONVERGED" in summary.outcomes:
        say("  the global minimum is not known, so no minimum can be called spurious")
    elif summary.spurious_interval is not None:
        low, high = summary.spurious_interval
        of = f", of {summary.decided} decided" if summary.undecided else ""
        say(f"  spurious {summary.spurious_percent:.1f}% (95%: {low:.1f} - {high:.1f}){of}")
    if summary.families:
        table = Table("family", "runs", "objective", "smallest eigenvalue", box=None, header_style="bold")
        for index, family in enumerate(summary.families):
            numbers = f"{family.objective:.10f}", f"{family.min_eigenvalue:.6g}"
            table.add_row(str(index), str(family.count), *numbers)
        show_table(table)


app.command("export", cls=Command, epilog=EXAMPLES)(export_run)
