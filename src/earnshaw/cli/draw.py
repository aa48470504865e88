"""``earnshaw draw``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from earnshaw.cli.console import bold, note, progress_bar, say
from earnshaw.cli.helping import argument, option
from earnshaw.errors import InputError

if TYPE_CHECKING:
    from earnshaw.experiments.views import Place

EXAMPLES = (
    "earnshaw draw runs/mine                # every family of a sweep",
    "earnshaw draw certs --out pictures     # the points of certificates",
    "earnshaw draw point.npz --towards teacher.npy",
)
SOURCE_HELP = (
    "Run folders, certificates or folders of them, or .npz files of points: an array weights, and optionally a teacher."
)
TOWARDS_HELP = "The plane leads to this point of the same shape, such as the teacher, and not along eigenvectors."
SPLIT_HELP = "Which neuron is split in two, counted from 1 as in the picture."


def draw(
    sources: Annotated[list[Path], argument("SOURCE", SOURCE_HELP)],
    folder: Annotated[Path, option("Where the pictures go.", "--out", metavar="DIR")] = Path("out/pictures"),
    towards_file: Annotated[Path | None, option(TOWARDS_HELP, "--towards", metavar="W.npy")] = None,
    neuron: Annotated[int, option(SPLIT_HELP, "--split", metavar="NEURON", min=1)] = 1,
) -> None:
    """Draw minima and saddles: weights in the order that shows their pattern, spectrum, the loss on a plane, a split neuron.

    Each point becomes one picture, as PNG, SVG and PDF. The spectrum has multiplicities; the plane holds two eigenvectors of
    the Hessian and the shadow of gradient descent; for a ReLU network that sums its neurons, the last panel shows what one
    more neuron opens. Numbers are computed, not proved; certificates are not checked for it.
    """
    from earnshaw.experiments.views import places_in
    from earnshaw.numerics import remember_programs
    from earnshaw.plots import plot
    from earnshaw.store import read_npy

    remember_programs()
    towards = None if towards_file is None else read_npy(towards_file, "the point of --towards")
    places: dict[str, Place] = {}
    for source in sources:
        places |= places_in(source)
    if not places:
        raise InputError(
            "there is nothing to draw: the sources hold no points (no run ended away from the global minimum)"
        )
    with progress_bar("draw") as progress:
        for count, (stem, place) in enumerate(places.items(), 1):
            files = plot.draw(place, folder / stem, towards=towards, neuron=neuron - 1)
            say(f"{bold(files[0])}: {place.words}", markup=True)
            progress(count / len(places), stem)
    note(f"{len(places)} pictures, each as PNG, SVG and PDF, in {folder}")
