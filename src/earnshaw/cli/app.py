"""All commands."""

from __future__ import annotations

from typing import Annotated

import typer

from earnshaw import __version__
from earnshaw.cli import arena, demo, doctor, dynamics, fit, prove, report, reproduce, runs, sweep

app = typer.Typer(
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Does gradient descent find the network that made the data? If it stops elsewhere: where, how often, and is that proved?",
    epilog="Start with: **earnshaw sweep -k 6 -n 6**",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"earnshaw {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


app.command("sweep", epilog=sweep.EXAMPLES)(sweep.sweep)
app.command("arena", epilog=arena.EXAMPLES)(arena.arena)
app.command("dynamics", epilog=dynamics.EXAMPLES)(dynamics.dynamics)
app.command("prove", epilog=prove.PROVE_EXAMPLES)(prove.prove)
app.command("check", epilog=prove.CHECK_EXAMPLES)(prove.check)
app.command("explain", epilog=prove.EXPLAIN_EXAMPLES)(prove.explain)
app.command("report", epilog=report.EXAMPLES)(report.report)
app.command("demo", epilog=demo.EXAMPLES)(demo.demo)
app.command("doctor", epilog=doctor.EXAMPLES)(doctor.doctor)
app.command("fit", epilog=fit.EXAMPLES)(fit.fit)
app.command("reproduce", epilog=reproduce.EXAMPLES)(reproduce.reproduce)
app.add_typer(runs.app, name="runs")
