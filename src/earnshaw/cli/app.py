"""All commands."""

from __future__ import annotations

from typing import Annotated

import typer

from earnshaw import __version__
from earnshaw.cli import (
    absence,
    animate,
    arena,
    atlas,
    demo,
    doctor,
    draw,
    dynamics,
    explore,
    fit,
    follow,
    grow,
    prove,
    reproduce,
    runs,
    sweep,
)
from earnshaw.cli.helping import Command, Group, option

app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Does gradient descent find the network that made the data? If it stops elsewhere: where, how often, and is "
    "that proved?\n\nExit status: 0 fine; 1 a claim failed; 2 bad usage; 130 after Ctrl-C, 143 after SIGTERM; 141 when "
    "nobody reads the output.",
    epilog="earnshaw demo                  # then open out/report.html\n"
    "earnshaw sweep -k 8 --prove    # 1000 runs with 8 neurons, and proofs\n"
    "earnshaw sweep --help          # every command has help with examples",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"earnshaw {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[bool, option("Print the version.", "--version", callback=_version, is_eager=True)] = False,
) -> None:
    pass


BEGIN, FIND, PROVE, SHOW = "Begin here", "Find", "Prove", "Show"
COMMANDS = (  # name, function, examples, group, one line
    ("demo", demo.demo, demo.EXAMPLES, BEGIN, "A tour of a few minutes, with a web page at the end."),
    ("explore", explore.explore, explore.EXAMPLES, BEGIN, "Open a page to play with, in the browser."),
    ("doctor", doctor.doctor, doctor.EXAMPLES, BEGIN, "Is this installation sound?"),
    ("sweep", sweep.sweep, sweep.EXAMPLES, FIND, "Run an optimiser from many starts; count the ends."),
    ("arena", arena.arena, arena.EXAMPLES, FIND, "Let optimisers compete from the same starts."),
    ("fit", fit.fit, fit.EXAMPLES, FIND, "Fit a network to your own data."),
    ("dynamics", dynamics.dynamics, dynamics.EXAMPLES, FIND, "Let electrons move among protons, and draw it."),
    ("grow", grow.grow, grow.EXAMPLES, FIND, "Look for bad minima with more neurons, rung by rung."),
    ("follow", follow.follow, follow.EXAMPLES, FIND, "Follow minima on the way to another teacher."),
    ("prove", prove.prove, prove.PROVE_EXAMPLES, PROVE, "Prove that points are minima or saddles."),
    ("absence", absence.absence, absence.EXAMPLES, PROVE, "Prove that there is no bad minimum at all."),
    ("check", prove.check, prove.CHECK_EXAMPLES, PROVE, "Check certificates, believing nothing in them."),
    ("explain", prove.explain, prove.EXPLAIN_EXAMPLES, PROVE, "Say in words what a certificate proves."),
    ("draw", draw.draw, draw.EXAMPLES, SHOW, "Draw a minimum: weights, spectrum, a slice of the loss."),
    ("report", runs.report, runs.REPORT_EXAMPLES, SHOW, "Write a web page about a run folder."),
    ("reproduce", reproduce.reproduce, reproduce.EXAMPLES, SHOW, "Recompute a paper's tables and figures."),
    ("animate", animate.animate, animate.EXAMPLES, SHOW, "Make films: of your runs, of a minimum, of charges."),
)

for _name, _function, _examples, _group, _line in COMMANDS:
    app.command(_name, cls=Command, epilog="\n".join(_examples), rich_help_panel=_group, short_help=_line)(_function)
app.add_typer(
    atlas.app,
    name="atlas",
    cls=Group,
    rich_help_panel=PROVE,
    short_help="Prove named families for every k in a range.",
)
app.add_typer(
    runs.app,
    name="runs",
    cls=Group,
    rich_help_panel=SHOW,
    short_help="List, show, compare, export, merge what sweeps wrote.",
)
