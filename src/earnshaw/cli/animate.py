"""``earnshaw animate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from earnshaw.cli.console import bold, progress_bar, say
from earnshaw.cli.helping import argument, option
from earnshaw.errors import InputError

if TYPE_CHECKING:
    from earnshaw.experiments.scenes import SweepScene
    from earnshaw.plots.style import Progress

EXAMPLES = (
    "earnshaw animate saddle",
    "earnshaw animate all --quick                # a few frames of each",
    "earnshaw animate all --out docs/images      # those of the README",
)
Scene = Literal["electrons", "histogram", "saddle", "overview", "all"]


def animate(
    scene: Annotated[Scene, argument("|".join(get_args(Scene)), "What to show.")],
    folder: Annotated[Path, option("Where the files go.", "--out", metavar="DIR")] = Path("out/animations"),
    quick: Annotated[bool, option("Few frames and few runs: to see that it works.", "--quick")] = False,
) -> None:
    """Make short looping animations (GIF, and the last frame as PNG) of what is computed here and now.

    electrons: student neurons as charges that find the teacher's. histogram: runs of gradient descent for k = n = 10
    come to rest, and a histogram fills up beside the paper's percentage. saddle: a proved minimum of six neurons is one
    no more when a neuron is added. overview: one still picture, PNG and SVG.
    """
    from earnshaw.numerics import remember_programs

    remember_programs()
    makers = {"electrons": _electrons, "histogram": _histogram, "saddle": _saddle, "overview": _overview}
    for name in makers if scene == "all" else [scene]:
        with progress_bar(name) as progress:
            words = makers[name](folder / name, quick, progress)
        say(f"{bold(folder / name)}: {words}", markup=True)


def _electrons(path: Path, quick: bool, progress: Progress) -> str:
    from earnshaw.experiments.dynamics import Integration, dynamics
    from earnshaw.plots.charges import animate as draw
    from earnshaw.problems.charges import ChargeLaw, Charges, random_start

    places, start, moving = random_start(dimension=3, protons=6, electrons=None, factor=0.25, seed=0)
    law = ChargeLaw("almost-yukawa", eigenvalue=1.0, radius=0.5, variant="T")
    problem = Charges(places, electrons=len(start), electron_charges=moving, law=law)
    trajectory = dynamics(problem, start, Integration(stored=1000 if quick else 20_000))
    draw(trajectory, path, frames=6 if quick else 100, still=-1, progress=progress)
    first, last = trajectory.energies[[0, -1]].round(12) + 0.0  # without the rounding of a sum that is 0
    return f"{len(trajectory.captures)} of {problem.electrons} electrons reach a proton; loss {first:.3g} to {last:.3g}"


def _sweep(quick: bool) -> tuple[SweepScene, float]:
    """Return the runs of one size and the printed percentage of spurious ones."""
    from earnshaw.experiments.scenes import sweep_scene
    from earnshaw.papers.spurious import TABLE_1

    size, runs = (8, 32) if quick else (10, 200)
    (printed,) = (row.percent for row in TABLE_1 if row.k == size)
    return sweep_scene(size, runs), printed


def _histogram(path: Path, quick: bool, progress: Progress) -> str:
    from earnshaw.plots.scenes import sweep_movie

    scene, printed = _sweep(quick)
    sweep_movie(scene, printed, path, frames=6 if quick else 90, progress=progress)
    percent = 100 * scene.spurious.mean()
    runs, size = len(scene.spurious), scene.size
    return f"{percent:.1f}% of {runs} runs end at spurious minima for k = n = {size}; the paper has {printed:g}%"


def _saddle(path: Path, quick: bool, progress: Progress) -> str:
    from earnshaw.experiments.scenes import split_scene
    from earnshaw.plots.scenes import saddle_movie

    scene = split_scene(maps=3, resolution=21) if quick else split_scene()
    saddle_movie(scene, path, frames=8 if quick else 96, progress=progress)
    return (
        f"smallest eigenvalue {scene.before[0]:+.4f} with 6 neurons, {scene.after[0]:+.4f} with 7, loss {scene.loss:.4f} "
        f"in both; descent with 7 ends at {scene.leaves.losses[-1]:.1e}"
    )


def _overview(path: Path, quick: bool, progress: Progress) -> str:
    from earnshaw.experiments.scenes import shipped_minimum, split_scene
    from earnshaw.plots.scenes import ProvedMinimum, down, overview_figure
    from earnshaw.proof import Certificate, check
    from earnshaw.proof.certificate import shipped_certificate

    with shipped_certificate() as file:
        verified, document = check(file), Certificate.load(file).document
    if not verified.verified:
        raise InputError(f"the shipped certificate is rejected ({verified.reason}); install earnshaw anew")
    loss, curvature = (float.fromhex(document["claims"][name]) for name in ("F_ge", "mu_ge"))
    minimum = ProvedMinimum(shipped_minimum(), loss, curvature, float.fromhex(document["R_unique"]))
    scene, printed = _sweep(quick)
    split = split_scene(maps=2, resolution=21 if quick else 121)
    overview_figure(scene, printed, minimum, split, path)
    progress(1.0, "")
    return (
        f"{100 * scene.spurious.mean():.1f}% of {len(scene.spurious)} runs are spurious; a minimum proved, curvature at least "
        f"{down(curvature)}; with one more neuron {split.after[0]:+.4f}"
    )
