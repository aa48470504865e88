"""``earnshaw dynamics``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from earnshaw.cli.console import fail, json_line, note, progress_bar, say
from earnshaw.cli.helping import options
from earnshaw.errors import InputError

if TYPE_CHECKING:
    from earnshaw.experiments.dynamics import Trajectory

EXAMPLES = (
    "earnshaw dynamics --protons 4 --seed 0 --out pull",
    "earnshaw dynamics --potential coulomb -d 2 --protons 6 --json",
)
PLACES, LAW, RESULTS = options("The charges"), options("The law"), options("Time and results")
LAWS = Literal["coulomb", "yukawa", "almost-yukawa"]
DIMENSION_HELP = "Dimension; odd from 3 on for the two Yukawa laws."
OUT_HELP = "Where files go (default: runs/dynamics-HASH)."


def dynamics(
    protons: Annotated[int, PLACES("Fixed charges, +1 each, at random places.")] = 4,
    electrons: Annotated[int | None, PLACES("Moving charges, -1 each (default: as many as protons).")] = None,
    dimension: Annotated[int, PLACES(DIMENSION_HELP, "-d", metavar="D")] = 3,
    spread: Annotated[float, PLACES("Places are drawn from N(0, c d log d I) with this c.")] = 0.25,
    seed: Annotated[int, PLACES("Root of all random numbers.")] = 0,
    potential: Annotated[LAWS, LAW("The law of attraction.")] = "almost-yukawa",
    eigenvalue: Annotated[float, LAW("The lambda of the two Yukawa laws.")] = 1.0,
    radius: Annotated[float, LAW("almost-yukawa: exactly lambda-harmonic outside this distance.")] = 0.5,
    variant: Annotated[Literal["T", "B", "S"], LAW("almost-yukawa: how it is rounded off inside.")] = "T",
    until: Annotated[float, RESULTS("The last time.")] = 1e5,
    frames: Annotated[int, RESULTS("Frames of the animation.", min=2, max=1000)] = 90,
    out_folder: Annotated[Path | None, RESULTS(OUT_HELP, "--out", metavar="DIR")] = None,
    as_json: Annotated[bool, RESULTS("One JSON object, and nothing else.", "--json")] = False,
) -> None:
    """Let electrons move among fixed protons, and draw it: gradient descent of a network, seen as charges.

    Writes trajectory.npz, trajectory.json, dynamics.png, dynamics.svg, energy.png, energy.svg and dynamics.gif. An
    interrupted run goes on where it stopped. Exit code 1 says that some electron has not reached a proton in time.
    """
    from earnshaw.experiments.dynamics import Integration, Motion
    from earnshaw.experiments.dynamics import dynamics as follow
    from earnshaw.plots.charges import animate, energy_figure, trajectory_figure
    from earnshaw.problems.charges import ChargeLaw, Charges, random_start

    law = ChargeLaw(potential, eigenvalue, radius, variant)
    places, start, moving = random_start(dimension, protons, electrons, spread, seed)
    problem = Charges(places, electrons=len(start), electron_charges=moving, law=law)
    if until <= Integration.first:
        raise InputError(f"--until {until:g} was given; use a time above {Integration.first:g}")
    motion = Motion(problem, start, Integration(until=until))
    folder = out_folder or Path("runs") / f"dynamics-{motion.hash[:12]}"
    with progress_bar("dynamics", folder) as progress:
        trajectory = follow(problem, start, motion.integration, folder, progress)
    trajectory_figure(trajectory, folder / "dynamics")
    energy_figure(trajectory, folder / "energy")
    animate(trajectory, folder / "dynamics", frames)
    if as_json:
        json_line(trajectory.to_json() | {"out": str(folder), "stored_times": len(trajectory.times)})
    else:
        _show(trajectory, folder)
    missing = problem.electrons - len(trajectory.captures)
    if missing:
        fail(
            f"{missing} of {problem.electrons} electrons have reached no proton by time {until:g}; try a later --until"
        )


def _show(trajectory: Trajectory, folder: Path) -> None:
    for capture in trajectory.captures:
        say(f"time {capture.time:10.4g}: electron {capture.electron} reaches proton {capture.proton}")
    pull = trajectory.worst_pull
    if pull >= 1:
        note(f"an electron on its proton was pulled with {pull:.2f} times what holds it; it might have left")
    say(f"files in {folder}")
