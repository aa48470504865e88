"""``earnshaw absence``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from earnshaw.cli.console import fail, json_line, progress_bar, say
from earnshaw.cli.helping import option
from earnshaw.cli.settings import LogOption
from earnshaw.errors import InputError

if TYPE_CHECKING:
    from earnshaw.proof import Absence

EXAMPLES = (
    "earnshaw absence -k 2",
    "earnshaw absence -k 2 --out certs --figure",
    "earnshaw absence --teacher two.npy --out certs --json",
    "earnshaw absence --map --out maps",
)
TEACHER_HELP = "Your own teacher, one neuron a row, in place of -k: two vectors of any dimension, say."
OUT_HELP = (
    "Folder for certificates and figures, and for the pieces of a long walk, which the same command goes on with."
)
SMALLEST_HELP = "Leave a cell open whose patches are all narrower, in radians (default: 2^-12)."
TIME_HELP = "Stop as Ctrl-C does after this time (90s, 10m, 1h30m); with --out the same command goes on."
FIGURE_HELP = "Draw the cells, by what closed them: all for two students in the plane; in space those of one student, the others fixed."
MAP_HELP = "Instead, decide many teachers of two neurons, by their angle and the ratio of their lengths."


def absence(
    k: Annotated[int | None, option("Teacher neurons, orthonormal and of length 1: 2 or 3.", "-k", metavar="K")] = None,
    n: Annotated[
        int | None, option("Student neurons (default: k); fewer leave their minima open.", "-n", metavar="N")
    ] = None,
    teacher: Annotated[Path | None, option(TEACHER_HELP, metavar="FILE.npy")] = None,
    out_folder: Annotated[Path | None, option(OUT_HELP, "--out", metavar="DIR")] = None,
    smallest: Annotated[float | None, option(SMALLEST_HELP, "--smallest", metavar="RADIUS")] = None,
    workers: Annotated[int | None, option("Processes (default: one a core for n = 3, else one).")] = None,
    time_limit: Annotated[str | None, option(TIME_HELP, "--time-limit", metavar="TIME")] = None,
    log_file: LogOption = None,
    figure: Annotated[bool, option(FIGURE_HELP, "--figure")] = False,
    whole_map: Annotated[bool, option(MAP_HELP, "--map")] = False,
    as_json: Annotated[bool, option("One JSON object, and nothing else.", "--json")] = False,
) -> None:
    """Prove that there is no bad minimum: every local minimum of the loss of few ReLU neurons is global, in any dimension.

    All directions of the neurons are walked over, in cells; docs/absence.md says how a cell is closed. Two neurons take
    a second, three some minutes. Exit code 1 says that cells stayed open: there may be a bad minimum, or the teacher's
    neurons are too nearly parallel.
    """
    from earnshaw.proof import absence as prove_absence
    from earnshaw.store import read_npy

    if out_folder is None and (figure or whole_map):
        raise InputError("figures need a folder; use --out DIR")
    if whole_map:
        if any(given is not None for given in (k, n, teacher, smallest, workers, time_limit)) or figure:
            raise InputError(
                "--map chooses its own teachers, and keeps nothing on its way; give it with --out, --log and --json only"
            )
        _map(out_folder, as_json)
        return
    if (k is None) == (teacher is None):
        raise InputError("give -k 2, -k 3 or --teacher FILE.npy: one of them")
    matrix = None if teacher is None else read_npy(teacher, "the teacher")
    if figure:
        _drawable((k, k) if matrix is None else matrix.shape, n)
    options = {} if smallest is None else {"smallest": smallest}
    with progress_bar("absence", out_folder) as progress:
        result = prove_absence(k, n, matrix, out=out_folder, workers=workers, progress=progress, **options)
    stem = (
        result.problem.name if teacher is None else f"{teacher.stem}-{result.problem.name}-{result.problem.digest[:8]}"
    )
    path = None
    if out_folder is not None and result.proved:
        path = result.save(out_folder / f"{stem}-absence.json")
    if out_folder is not None and result.minimum is not None:
        path = next(iter(result.minimum.save_all(out_folder, stem).values()))
    if figure and out_folder is not None:
        _figure(result, out_folder / f"{stem}-cells")
    if as_json:
        json_line(result.report(path))
    else:
        sizes = result.problem.sizes
        say(f"n = {sizes['n']}, k = {sizes['k']}: {result.verdict.value}" if result.proved else result.reason)
        counts = ", ".join(f"{test} {count}" for test, count in result.closed.items() if count)
        say(
            f"    {result.tested} cells tested; closed by {counts}; left open {len(result.left)}; {result.seconds:.1f} s"
        )
        if path is not None:
            say(f"    certificate: {path}")
    if not result.proved:
        fail(f"absence is not proved: {result.reason}" if as_json else "absence is not proved")


def _drawable(shape: tuple[int | None, ...], n: int | None) -> None:
    """Refuse what cannot be drawn, before the walk."""
    k, d = shape if len(shape) == 2 else (None, None)
    if k and d and not ((d == 3 and k > 2) or (min(k, d) == 2 and (n or k) == 2)):
        raise InputError(
            f"--figure draws two students in the plane, or a teacher of at least three neurons in R^3, not k = {k} in R^{d}; leave it out"
        )


def _figure(result: Absence, path: Path) -> None:
    """Draw the cells of a walk."""
    from earnshaw.plots.absence import cells_figure, sphere_figure
    from earnshaw.proof import leaves, sphere_views

    if result.left.shape[2] == 3:
        sphere_figure(sphere_views(result.problem.teacher, result.problem.students, result.smallest), path)
    else:
        cells_figure(leaves(result.problem.teacher, result.smallest), path)


def _map(folder: Path | None, as_json: bool) -> None:
    """Decide the teachers of the map, write it and draw it."""
    from earnshaw.plots.absence import map_figure
    from earnshaw.proof import absence_map
    from earnshaw.store import write_json

    assert folder is not None
    with progress_bar("map") as progress:
        found = absence_map(progress=progress)
    write_json(folder / "absence-map.json", found.report())
    map_figure(found, folder / "absence-map")
    if as_json:
        json_line(found.report())
        return
    undecided = found.proved.size - found.proved.sum() - found.bad.sum()
    say(
        f"{found.proved.size} teachers: no bad minimum {found.proved.sum()}, a bad minimum {found.bad.sum()}, undecided {undecided}"
    )
    say(f"map in {folder / 'absence-map.json'}, drawn in {folder / 'absence-map.png'}")
