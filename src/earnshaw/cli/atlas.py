"""``earnshaw atlas``: named families of critical points, proved for every k in a range, shown and drawn."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer

from earnshaw.cli.console import bold, fail, json_line, note, progress_bar, say, show_table
from earnshaw.cli.helping import Command, argument, begins, option
from earnshaw.cli.settings import (
    FAMILIES,
    FAMILY_NAMES,
    K_HELP,
    N_HELP,
    ClusterOption,
    LogOption,
    TimeOption,
    family_sizes,
    student_sizes,
    teacher_sizes,
)

if TYPE_CHECKING:
    from earnshaw.experiments import AtlasMap, Cell

FOLDER = Path("atlas")
BUILD_EXAMPLES = (
    "earnshaw atlas build -k 7..1000 --family II --family A --family B\nearnshaw atlas build -k 14..40 --family M:4"
)
SHOW_EXAMPLES = "earnshaw atlas show\nearnshaw atlas show atlas --figure atlas.png\nearnshaw atlas show atlas --json"
SPECTRUM_EXAMPLES = "earnshaw atlas spectrum -k 20 --family II --family global --figure spectra.png"
TURNS_EXAMPLES = "earnshaw atlas turns --family II --family A --family B"
MAP_EXAMPLES = (
    "earnshaw atlas map -k 6..16 -n k..2k\nearnshaw atlas map -k 6..30 -n k..2k --out runs/map --figure map.png"
)
MAP_FOLDER = Path("runs/map")
MAP_FIGURE_HELP = "Where the picture goes, as .png and .svg (default: map in the folder)."
REDRAWN = 10.0  # seconds between two pictures of a map that fills
SHOWN = 12  # lines of a family in the table
FAMILY_HELP = f"A family, and perhaps another: {FAMILY_NAMES}."
app = typer.Typer(
    no_args_is_help=True,
    help="Named families of critical points: proved for every k in a range, shown and drawn.",
    epilog="earnshaw atlas build -k 7..1000 --family II --family A --family B\nearnshaw check atlas\n"
    "earnshaw atlas show --figure atlas.png",
)
Families = Annotated[list[str], option(FAMILY_HELP, "--family", metavar="NAME", autocompletion=begins(FAMILIES))]


@app.command("build", cls=Command, epilog=BUILD_EXAMPLES)
def build(
    families: Families,
    sizes: Annotated[str, option("Teacher neurons: 10, or a range 7..1000.", "-k", metavar="K")],
    out_folder: Annotated[Path, option("Folder of the atlas; added to if it exists.", "--out", metavar="DIR")] = FOLDER,
    workers: Annotated[int | None, option("Processes (default: one a core).")] = None,
    cluster: ClusterOption = None,
    time_limit: TimeOption = None,
    log_file: LogOption = None,
    as_json: Annotated[bool, option("One JSON object per point, and nothing else.", "--json")] = False,
) -> None:
    """Prove families for every k in a range, one small certificate a line; what is there already is kept.

    Each certificate is checked before it is written. Ctrl-C loses nothing that is done; the same command goes on. Exit
    code 1 says that some point was not proved.
    """
    from earnshaw.experiments import build_atlas

    with progress_bar("atlas", out_folder) as progress:
        atlas = build_atlas(out_folder, families, family_sizes(sizes), workers, progress, cluster)
    if as_json:
        for point in atlas:
            json_line(point.report())
    else:
        for name, points in atlas.points.items():
            kinds = {kind: sum(point.kind == kind for point in points) for kind in ("minimum", "saddle")}
            ends = f"k = {points[0].k}..{points[-1].k}"
            say(f"{bold(name)}  {ends}: {kinds['minimum']} minima and {kinds['saddle']} saddles proved", markup=True)
        say(f"in {bold(out_folder)}; check it with: earnshaw check {out_folder}", markup=True)
    missed = [point for point in atlas if point.kind is None]
    for point in missed[: 0 if as_json else 20]:
        say(f"{point.family} at k = {point.k}: {point.reason}")
    if missed:
        fail(f"{len(missed)} points are not proved; the reason says why")


@app.command("show", cls=Command, epilog=SHOW_EXAMPLES)
def show(
    folder: Annotated[Path, argument("DIR", "A folder that earnshaw atlas build wrote.")] = FOLDER,
    figure: Annotated[Path | None, option("Draw loss, eigenvalues and radii.", "--figure", metavar="FILE.png")] = None,
    everything: Annotated[bool, option("A line for every k.", "--all")] = False,
    as_json: Annotated[bool, option("One JSON object per point, and nothing else.", "--json")] = False,
) -> None:
    """Print what the certificates of an atlas say, with the known limits, and draw it.

    They are believed here; earnshaw check DIR checks them. The figure has the loss, the radii, and for each family the
    smallest eigenvalue of every block of the Hessian, against k.
    """
    import numpy as np

    from earnshaw.experiments import load_atlas
    from earnshaw.experiments.atlas import LIMITS
    from earnshaw.plots.atlas import atlas_figure
    from earnshaw.proof.trusted.balls import shown

    atlas = load_atlas(folder)
    if as_json:
        for point in atlas:
            json_line(point.report())
    else:
        for name, points in atlas.points.items():
            chosen = (
                range(len(points)) if everything else np.unique(np.geomspace(1, len(points), SHOWN).astype(int) - 1)
            )
            rows = []
            for index in chosen:
                point = points[index]
                saddle = point.kind == "saddle"
                bounds = ((point.objective_ge, False), (point.lambda_ge, saddle), (point.enclosure_radius, True))
                texts = ["" if x is None else shown(x, up) for x, up in (*bounds, (point.unique_radius, False))]
                rows.append([str(point.k), str(point.n), str(point.kind), *texts])
            limit = f"; as k grows, {LIMITS[name][0]}" if name in LIMITS else ""
            header = ["k", "n", "claimed", "loss >=", "smallest eigenvalue", "within", "no other within"]
            say(f"{bold(name)}, {len(points)} certificates{limit}", markup=True)
            show_table(header, rows)
            say("")
        say(f"as their certificates say; to check them: earnshaw check {folder}")
    if figure is not None:
        atlas_figure(atlas, figure)
        note(f"drawn: {figure}")


@app.command("spectrum", cls=Command, epilog=SPECTRUM_EXAMPLES)
def spectrum(
    families: Annotated[list[str], option(f"{FAMILY_HELP} Or global.", "--family", metavar="NAME")],
    k: Annotated[int, option("Teacher neurons.", "-k", metavar="K")],
    figure: Annotated[Path | None, option("Draw the spectra.", "--figure", metavar="FILE.png")] = None,
    as_json: Annotated[bool, option("One JSON object per eigenvalue, and nothing else.", "--json")] = False,
) -> None:
    """Print the eigenvalues of the Hessian with their multiplicities, from its blocks: of families, and the global minimum.

    In doubles, for k up to about 10000.
    """
    import numpy as np

    from earnshaw.experiments import family_spectrum
    from earnshaw.plots.atlas import spectrum_figure

    found = {name: family_spectrum(name, k) for name in families}
    for name, lines in found.items():
        rows = [[f"{line.eigenvalue:.8g}", str(line.multiplicity), line.block] for line in lines]
        if as_json:
            for line in lines:
                json_line({"family": name, "k": k, **line._asdict()})
        else:
            say(f"{bold(name)} at k = {k}", markup=True)
            show_table(["eigenvalue", "times", "block"], rows)
            say("")
    if figure is not None:
        curves = {
            f"{name}, k = {k}": (np.array([x.eigenvalue for x in lines]), np.array([x.multiplicity for x in lines]))
            for name, lines in found.items()
        }
        spectrum_figure(curves, figure)
        note(f"drawn: {figure}")


@app.command("turns", cls=Command, epilog=TURNS_EXAMPLES)
def turns(
    families: Families,
    as_json: Annotated[bool, option("One JSON object per family, and nothing else.", "--json")] = False,
) -> None:
    """Enclose the real k at which families turn from saddle to minimum, to ten digits, and name the block that turns.

    Gradient and blocks are analytic in k, so that a family is a curve over real k. What is printed is proved in balls.
    """
    from dataclasses import asdict
    from math import ceil, floor

    from earnshaw.proof import turn

    found = [turn(name) for name in families]
    if as_json:
        for row in found:
            json_line(asdict(row))
        return
    unit = 1e-11
    rows = [
        [
            row.family,
            f"{floor(row.k_ge / unit) * unit:.11f}",
            f"{ceil(row.k_le / unit) * unit:.11f}",
            str(row.first),
            row.block,
        ]
        for row in found
    ]
    show_table(["family", "k >=", "k <=", "minimum from", "block that turns"], rows)


@app.command("map", cls=Command, epilog=MAP_EXAMPLES)
def survey(
    teachers: Annotated[str, option(K_HELP, "-k", metavar="K")],
    students: Annotated[str, option(N_HELP, "-n", metavar="N")] = "k..2k",
    out_folder: Annotated[
        Path, option("Folder of the map; added to if it exists.", "--out", metavar="DIR")
    ] = MAP_FOLDER,
    figure: Annotated[Path | None, option(MAP_FIGURE_HELP, "--figure", metavar="FILE")] = None,
    workers: Annotated[int | None, option("Processes (default: one a core).")] = None,
    cluster: ClusterOption = None,
    time_limit: TimeOption = None,
    log_file: LogOption = None,
    everything: Annotated[bool, option("A line for every k and n.", "--all")] = False,
    as_json: Annotated[bool, option("One JSON object per k and n, and nothing else.", "--json")] = False,
) -> None:
    """Say for every k and n whether there is a spurious minimum: proved, found in floating point alone, or not found.

    The named families with n neurons are tried in turn, and the first that is proved, and whose certificate the trusted
    checker accepts, is taken. "not found" says that none of them is a minimum, and nothing about other points. The picture
    fills in as cells are computed. Ctrl-C loses nothing that is done; the same command goes on, and one with other k and n
    adds to the folder.
    """
    from earnshaw.experiments import atlas_map, load
    from earnshaw.plots.atlas import map_figure

    places = [(k, n) for k in teacher_sizes(teachers) for n in student_sizes(students, k)]
    picture, due = figure or out_folder / "map", monotonic() + REDRAWN

    def fill(share: float, what: str) -> None:
        nonlocal due
        progress(share, what)
        if what and (begun := monotonic()) > due:
            if len(so_far := load(out_folder)):  # slow work may have finished no place yet
                map_figure(so_far, picture)
            due = monotonic() + max(REDRAWN, 20 * (monotonic() - begun))  # looking takes the time, not drawing

    with progress_bar("map", out_folder) as progress:
        found = atlas_map(places, out_folder, workers, fill, cluster)
    map_figure(load(out_folder), picture)
    if as_json:
        for cell in found:
            json_line(cell.to_json())
        return
    if everything:
        _show_cells(found)
    _show_map(found)
    say(f"certificates in {bold(out_folder)}; check them with: earnshaw check {out_folder}", markup=True)
    note(f"drawn: {picture.with_suffix('.png')}")


def _show_cells(cells: Iterable[Cell]) -> None:
    """Print a line for each k and n."""
    rows = []
    for cell in cells:
        numbers = ["" if x is None else f"{x:.6g}" for x in (cell.objective, cell.least)]
        rows.append([str(cell.k), str(cell.n), cell.status.value, cell.family or "", *numbers, f"{len(cell.tried)}"])
    show_table(["k", "n", "spurious minimum", "family", "loss", "smallest eigenvalue", "families tried"], rows)
    say("")


def _show_map(found: AtlasMap) -> None:
    """Print how many cells are proved, and the smallest k for each n - k."""
    from earnshaw.experiments import Status

    _show_cells(found.smallest.values())
    counts = ", ".join(f"{found.count(status)} {status.value}" for status in Status)
    say(f"above: the smallest k at which each n - k is proved; of {len(found)} places (k, n) {counts}")
