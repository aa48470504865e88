"""``earnshaw dynamics``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from earnshaw.cli.console import CLAIM_FAILED, json_line, note, out, progress_bar, resumable, say, user_errors
from earnshaw.cli.helping import examples
from earnshaw.errors import InputError

if TYPE_CHECKING:
    from earnshaw.experiments.dynamics import Trajectory

EXAMPLES = examples(
    "earnshaw dynamics --protons 4 --seed 0 --out pull",
    "earnshaw dynamics --potential coulomb -d 2 --protons 6 --json",
)
PLACES, LAW, RESULTS = "The charges", "The law", "Time and results"


class Law(StrEnum):
    """The choices of ``--potential``."""

    coulomb = "coulomb"
    yukawa = "yukawa"
    almost_yukawa = "almost-yukawa"


class Rounding(StrEnum):
    """The choices of ``--variant``."""

    T = "T"
    B = "B"
    S = "S"


def dynamics(
    protons: Annotated[int, typer.Option(rich_help_panel=PLACES, help="Fixed charges, +1 each, at random places.")] = 4,
    electrons: Annotated[
        int | None, typer.Option(rich_help_panel=PLACES, help="Moving charges, -1 each (default: as many as protons).")
    ] = None,
    dimension: Annotated[
        int,
        typer.Option(
            "-d", metavar="D", rich_help_panel=PLACES, help="Dimension; odd from 3 on for the two Yukawa laws."
        ),
    ] = 3,
    spread: Annotated[
        float, typer.Option(rich_help_panel=PLACES, help="Places are drawn from N(0, c d log d I) with this c.")
    ] = 0.25,
    seed: Annotated[int, typer.Option(rich_help_panel=PLACES, help="Root of all random numbers.")] = 0,
    potential: Annotated[Law, typer.Option(rich_help_panel=LAW, help="The law of attraction.")] = Law.almost_yukawa,
    eigenvalue: Annotated[float, typer.Option(rich_help_panel=LAW, help="The lambda of the two Yukawa laws.")] = 1.0,
    radius: Annotated[
        float, typer.Option(rich_help_panel=LAW, help="almost-yukawa: exactly lambda-harmonic outside this distance.")
    ] = 0.5,
    variant: Annotated[
        Rounding, typer.Option(rich_help_panel=LAW, help="almost-yukawa: how it is rounded off inside.")
    ] = Rounding.T,
    until: Annotated[float, typer.Option(rich_help_panel=RESULTS, help="The last time.")] = 1e5,
    frames: Annotated[
        int, typer.Option(rich_help_panel=RESULTS, min=2, max=1000, help="Frames of the animation.")
    ] = 90,
    out_folder: Annotated[
        Path | None,
        typer.Option(
            "--out", rich_help_panel=RESULTS, metavar="DIR", help="Where files go (default: runs/dynamics-HASH)."
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", rich_help_panel=RESULTS, help="One JSON object, and nothing else.")
    ] = False,
) -> None:
    """Let electrons move among fixed protons, and draw it: gradient descent of a network, seen as charges.

    Writes trajectory.npz, trajectory.json, dynamics.png, dynamics.svg, energy.png, energy.svg and dynamics.gif. An
    interrupted run goes on where it stopped. Exit code 1 says that some electron has not reached a proton in time.
    """
    with user_errors():
        from earnshaw.experiments.dynamics import Integration, Motion
        from earnshaw.experiments.dynamics import dynamics as follow
        from earnshaw.numerics import remember_programs
        from earnshaw.plots.charges import animate, energy_figure, trajectory_figure
        from earnshaw.problems.charges import ChargeLaw, Charges, random_start

        law = ChargeLaw(potential.value, eigenvalue, radius, variant.value)
        places, start, moving = random_start(dimension, protons, electrons, spread, seed)
        problem = Charges(places, electrons=len(start), electron_charges=moving, law=law)
        if until <= Integration.first:
            raise InputError(f"--until {until:g} was given; use a time above {Integration.first:g}")
        motion = Motion(problem, start, Integration(until=until))
        remember_programs()
        folder = out_folder or Path("runs") / f"dynamics-{motion.hash[:12]}"
        with resumable(folder), progress_bar("dynamics") as progress:
            trajectory = follow(problem, start, motion.integration, folder, progress)
        trajectory_figure(trajectory, folder / "dynamics")
        energy_figure(trajectory, folder / "energy")
        animate(trajectory, folder / "dynamics", frames)
        missing = problem.electrons - len(trajectory.captures)
        if as_json:
            json_line(trajectory.to_json() | {"out": str(folder), "stored_times": len(trajectory.times)})
        else:
            _show(trajectory, folder)
        if missing:
            note(
                f"{missing} of {problem.electrons} electrons have reached no proton by time {until:g}; try a later --until"
            )
            raise typer.Exit(CLAIM_FAILED)


def _show(trajectory: Trajectory, folder: Path) -> None:
    for capture in trajectory.captures:
        out.print(f"time {capture.time:10.4g}: electron {capture.electron} reaches proton {capture.proton}")
    if trajectory.worst_pull >= 1:
        note(
            f"an electron on its proton was pulled with {trajectory.worst_pull:.2f} times what holds it; it might have left"
        )
    say(f"files in {folder}")
