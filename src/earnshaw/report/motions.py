"""Pages about charges in motion: who reaches whom and when, the paths, the loss, and a film."""

from __future__ import annotations

from pathlib import Path

from earnshaw.experiments import Motion, load, work_of
from earnshaw.experiments.dynamics import Trajectory
from earnshaw.plots.charges import animate, energy_figure, trajectory_figure
from earnshaw.report.losses import ENERGY
from earnshaw.report.origin import motion_commands, motion_described
from earnshaw.report.page import Figure, Part, Row, Section, Table, Tex, Text, figures_of
from earnshaw.report.telling import Told
from earnshaw.report.words import many

FRAMES, DOTS = 60, 130  # of the film, which is then as wide as the page


def tell_motion(folder: Path, out: Path, check: bool) -> Told:
    """Return what the page of charges in motion says."""
    trajectory: Trajectory = load(folder)
    motion, place = work_of(folder), figures_of(out)
    assert isinstance(motion, Motion)
    problem = trajectory.problem
    trajectory_figure(trajectory, place / "paths")
    energy_figure(trajectory, place / "energy")
    animate(trajectory, place / "film", FRAMES, dots=DOTS)
    flat = "" if problem.dimension == 2 else f" in dimension {problem.dimension}, in the plane of their largest spread"
    paths = Figure(place / "paths.svg", f"The paths of the electrons{flat}.")
    loss = Figure(place / "energy.svg", "The loss over time; a dashed line is where an electron reaches a proton.")
    film = "The same as a film, in equal distances of travel: forces fall off so fast that most of the time nothing seems to move."
    ways = Section("The motion", [Row([paths, loss]), Figure(place / "film.gif", film)])
    lead = "A student's neuron is an electron, a teacher's neuron a proton, and the loss their energy: electrons drift in the field of all charges. Does each find a proton?"
    run: list[Part] = [Text(motion_described(motion)), Tex(ENERGY)]
    title = f"Charges in motion: {folder.name}"
    return Told(title, _headline(trajectory), lead, [ways, _captures(trajectory)], run, motion_commands(motion, folder))


def _headline(trajectory: Trajectory) -> str:
    """Return in one sentence how many electrons have reached a proton, and by when."""
    reached, electrons = trajectory.captures, trajectory.problem.electrons
    if not reached:
        return f"None of {many(electrons, 'electron', 'electrons')} reaches a proton by time {trajectory.times[-1]:.4g}"
    when = f"the last at time {reached[-1].time:.4g}"
    if len(reached) < electrons:
        when += f"; by time {trajectory.times[-1]:.4g} the others have not"
    return f"{len(reached)} of {many(electrons, 'electron reaches', 'electrons reach')} a proton, {when}"


def _captures(trajectory: Trajectory) -> Section:
    """Return who reached whom, the loss at both ends, and how well electrons are held."""
    loss, pull = trajectory.energies, trajectory.worst_pull
    words = f"The loss L = 2 F goes from {loss[0]:.6g} to {loss[-1]:.6g}."
    if not trajectory.problem.law.bounded:
        words += " This law has no bound where charges touch: from a capture on the loss is that of the charges that are left."
    elif trajectory.captures:
        held = "so that each stays" if pull < 1 else "so that one might have left"
        words += (
            f" Other charges pull an electron on its proton with at most {pull:.3g} of what holds it there, {held}."
        )
    rows = [
        {"time": f"{capture.time:.5g}", "electron": str(capture.electron), "reaches proton": str(capture.proton)}
        for capture in trajectory.captures
    ]
    return Section("Who reaches whom", [Text(words), *([Table.of(rows)] if rows else [])])
