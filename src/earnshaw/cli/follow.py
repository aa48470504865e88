"""``earnshaw follow``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from earnshaw.cli.console import bold, json_line, progress_bar, say, show_table, spelled
from earnshaw.cli.helping import argument, options

if TYPE_CHECKING:
    from earnshaw.experiments.follow import Followed

EXAMPLES = (
    "earnshaw follow runs/eight --to mine.npy       # every family of a sweep",
    "earnshaw follow k6.json --to mine.npy --steps 10 --out runs/way",
)
PATH, RESULTS = options("The path"), options("Results")
SOURCE_HELP = "A certificate, a run folder, or an .npz file of points, of one teacher and one n."
TO_HELP = "The teacher at the end of the path, one neuron a row, of the shape of the first."
STEPS_HELP = "So many steps between the stations at which minima are proved."
COPIES_HELP = "How many copies of a minimum, which a symmetry of the first teacher exchanges, are followed at most."


def follow(
    source: Annotated[Path, argument("SOURCE", SOURCE_HELP)],
    teacher: Annotated[Path, PATH(TO_HELP, "--to", metavar="FILE.npy")],
    steps: Annotated[int, PATH(STEPS_HELP, "--steps", metavar="N", min=1)] = 5,
    copies: Annotated[int, PATH(COPIES_HELP, "--copies", metavar="N", min=1)] = 64,
    out_folder: Annotated[
        Path | None, RESULTS("Where trails and certificates go (default: runs/follow-HASH).", "--out", metavar="DIR")
    ] = None,
    figure: Annotated[
        Path | None, RESULTS("Where the figure goes (default: follow.png there).", "--figure", metavar="FILE")
    ] = None,
    as_json: Annotated[bool, RESULTS("One JSON object a trail, and nothing else.", "--json")] = False,
) -> None:
    """Follow minima along the straight path from their own teacher to another: how far each goes, and how it ends.

    A strict minimum moves with the teacher until its smallest eigenvalue is 0. There it ends: in a fold, where it meets a
    saddle and both vanish, or in a crossing, from which it goes on as a saddle. A minimum of a symmetric teacher has copies,
    and each has its own fate. The trails are computed, with t to about ten digits; the minima at the stations are proved, and
    each certificate is checked. Goes on where it was interrupted.
    """
    from earnshaw.experiments.follow import follow as walk
    from earnshaw.experiments.follow import following
    from earnshaw.experiments.views import places_in
    from earnshaw.plots.trails import follow_figure
    from earnshaw.store import read_npy

    places = list(places_in(source).values())
    last = read_npy(teacher, "the teacher of --to")
    work = following(places, last, steps=steps, copies=copies)
    folder = out_folder or Path("runs") / f"follow-{work.hash[:12]}"
    with progress_bar("follow", folder) as progress:
        followed = walk(places, last, steps=steps, copies=copies, out=folder, progress=progress)
    drawn = figure or folder / "follow.png"
    follow_figure(followed, drawn)
    if as_json:
        for row in followed.to_json()["trails"]:
            json_line(row)
    else:
        _show(followed)
        say(f"certificates in {bold(folder)}, figure in {bold(drawn)}", markup=True)


def _show(followed: Followed) -> None:
    rows = []
    for trail in followed.trails:
        at = (
            (f"{trail.t[-1]:.8f}", f"{trail.value[-1]:.8f}", f"{abs(trail.least[-1]):.6f}")
            if len(trail.t)
            else ("",) * 3
        )
        then = {"GLOBAL": "the global minimum", "SPURIOUS": "another minimum"}.get(
            trail.beyond or "", trail.beyond or ""
        )
        proved = f"{trail.proved} of {len(trail.stations)}"
        copy = f"{trail.copy} of {trail.copies}"
        name = trail.family or f"minimum {trail.source + 1}"
        rows.append((name, copy, trail.fate.name.lower(), *at, then, proved))
    columns = ("family", "copy", "fate", "t", "F", spelled("λmin", "least eigenvalue"), "descent then finds", "proved")
    show_table(columns, rows)
    for fate in dict.fromkeys(trail.fate for trail in followed.trails):
        say(f"{fate.name.lower()}: {fate.value}")
    groups = followed.arrivals
    if groups and sum(map(len, groups)) > len(groups):
        say(f"{sum(map(len, groups))} trails arrive at {len(groups)} minima, up to symmetries of the last teacher")
