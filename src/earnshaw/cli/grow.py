"""``earnshaw grow``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from earnshaw.cli.console import bold, fail, json_line, progress_bar, say, show_table
from earnshaw.cli.helping import argument, options
from earnshaw.cli.settings import LOG_HELP, TEACHER_HELP, TIME_HELP, two_layers
from earnshaw.errors import InputError

if TYPE_CHECKING:
    import numpy as np

    from earnshaw.experiments.grow import Ladder
    from earnshaw.problems import TwoLayer

EXAMPLES = (
    "earnshaw grow -k 11 --neurons 3 --out runs/ladder",
    "earnshaw grow -k 11 --neurons 4 --out runs/ladder  # goes on",
    "earnshaw grow certs/k8-n8-minimum.json --neurons 1",
    "earnshaw grow --teacher mine.npy --beam 4 --json",
)
BEGIN, SEARCH, RESULTS = options("Where to begin"), options("The search"), options("Results")
SOURCE_HELP = "A certificate, a run folder, or an .npz file of points, all with one n; else -k or --teacher."
K_HELP = "Begin at the minima of the standard teacher of so many neurons."
OUT_HELP = "Where the rungs and certificates go (default: runs/growth-HASH)."


def grow(
    source: Annotated[Path | None, argument("SOURCE", SOURCE_HELP)] = None,
    k: Annotated[int | None, BEGIN(K_HELP, "-k", metavar="K", min=1)] = None,
    teacher: Annotated[Path | None, BEGIN(TEACHER_HELP, metavar="FILE")] = None,
    neurons: Annotated[int, SEARCH("How many neurons to add at most.", "--neurons", metavar="R", min=1)] = 3,
    beam: Annotated[int, SEARCH("How many minima of a rung go on.", "--beam", metavar="B", min=1)] = 8,
    out_folder: Annotated[Path | None, RESULTS(OUT_HELP, "--out", metavar="DIR")] = None,
    time_limit: Annotated[str | None, RESULTS(TIME_HELP, "--time-limit", metavar="TIME")] = None,
    log_file: Annotated[Path | None, RESULTS(LOG_HELP, "--log", metavar="FILE")] = None,
    as_json: Annotated[bool, RESULTS("One JSON object a rung, and nothing else.", "--json")] = False,
) -> None:
    """Look for spurious minima with more neurons than the source has, one rung at a time, and prove them.

    From each minimum neurons are split along the directions in which that opens a way down, mirrored, two kinds or a whole kind
    at once; what does not slide to the global minimum is polished, told apart by symmetry, and proved. Writes certificates and
    ladder.png, and goes on where it was interrupted, and with more --neurons where it ended. "every n" is said of a minimum with
    a split-stable neuron: it has spurious ones for every larger n. Exit code 1 says that nothing was proved beyond the first
    rung.
    """
    from earnshaw.experiments.grow import Growing
    from earnshaw.experiments.grow import grow as climb
    from earnshaw.plots.ladders import ladder_figure

    problem, points = _source(source) if source is not None else _problem(k, teacher)
    if source is not None and (k is not None or teacher is not None):
        raise InputError("give SOURCE, -k or --teacher: one of the three")
    work = Growing(problem, points, neurons, beam)
    folder = out_folder or Path("runs") / f"growth-{replace(work, neurons=1).hash[:12]}"  # the same for a longer ladder
    with progress_bar("grow", folder) as progress:
        ladder = climb(problem, points, neurons=neurons, beam=beam, out=folder, progress=progress)
    ladder_figure(ladder, folder / "ladder")
    if as_json:
        for rung in ladder.to_json()["rungs"]:
            json_line({"k": len(ladder.teacher), **rung})
    else:
        _show(ladder, folder)
    every = any(minimum.stable for rung in ladder.rungs for minimum in rung.minima)
    if not every and (ladder.highest is None or ladder.highest <= problem.students):
        fail(f"no spurious minimum was proved with more than {problem.students} neurons; try a larger --beam")


def _source(path: Path) -> tuple[TwoLayer, np.ndarray]:
    """Return the problem of a source and its points."""
    import numpy as np

    from earnshaw.experiments import targets
    from earnshaw.problems import TwoLayer

    found = targets(path)
    if not found:
        raise InputError(f"{path} holds no points away from the global minimum; give others, or -k")
    if len({target.problem.name + target.problem.digest for target in found}) > 1:
        raise InputError(f"{path} holds points of several problems; give those of one teacher and one n")
    problem = found[0].problem
    if not isinstance(problem, TwoLayer):
        raise InputError(f"{path} holds points of a {problem.network} network; only two-layer ReLU networks grow")
    return problem, np.stack([target.weights for target in found])


def _problem(k: int | None, teacher: Path | None) -> tuple[TwoLayer, np.ndarray]:
    """Return the problem of a teacher, and no points."""
    import numpy as np

    from earnshaw.problems import TwoLayer

    if (k is None) == (teacher is None):
        raise InputError("give SOURCE, -k (for example -k 11) or --teacher FILE.npy: one of the three")
    (problem,) = two_layers(None if k is None else str(k), "k", teacher, None, None, "relu", "fixed")
    assert isinstance(problem, TwoLayer)
    return problem, np.zeros((0, *problem.shape))


def _show(ladder: Ladder, folder: Path) -> None:
    rows = []
    for rung in ladder.rungs:
        for place, minimum in enumerate(rung.minima):
            proved = "every n" if minimum.stable else "proved" if minimum.proved else "found"
            parent = f" of {minimum.parent[0]}.{minimum.parent[1]}" if minimum.parent else ""
            numbers = f"{minimum.value:.6f}", f"{minimum.least:.5f}"
            rows.append((f"{rung.neurons}.{place}", proved, *numbers, minimum.family or "", f"{minimum.move}{parent}"))
    show_table(("n.place", "", "F", "smallest eigenvalue", "symmetry", "made by"), rows)
    for rung in ladder.rungs:
        fates = ", ".join(f"{count} {name}" for name, count in rung.fates.items())
        say(f"n = {rung.neurons}: {rung.tried} candidates: {fates}")
    say(f"certificates and ladder.png in {bold(folder)}", markup=True)
