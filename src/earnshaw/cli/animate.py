"""``earnshaw animate``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from earnshaw.cli.console import note, out, user_errors
from earnshaw.cli.helping import examples

EXAMPLES = examples(
    "earnshaw animate saddle",
    "earnshaw animate all --quick                # a few frames of each",
    "earnshaw animate all --out docs/images      # those of the README",
)


class Scene(StrEnum):
    """The choices of the argument."""

    electrons = "electrons"
    histogram = "histogram"
    saddle = "saddle"
    all = "all"


def animate(
    scene: Annotated[Scene, typer.Argument(help="What to show.")],
    folder: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where the files go.")] = Path("out/animations"),
    quick: Annotated[bool, typer.Option("--quick", help="Few frames and few runs: to see that it works.")] = False,
) -> None:
    """Make short looping animations (GIF, and the last frame as PNG) of what is computed here and now.

    electrons: student neurons as charges that find the teacher's. histogram: runs of gradient descent for k = n = 10
    come to rest, and a histogram fills up beside the paper's percentage. saddle: a proved minimum of six neurons is one
    no more when a neuron is added.
    """
    with user_errors():
        from earnshaw.numerics import remember_programs

        remember_programs()
        makers = {Scene.electrons: _electrons, Scene.histogram: _histogram, Scene.saddle: _saddle}
        for name in makers if scene is Scene.all else [scene]:
            note(f"{name.value}: computing and drawing, less than a minute")
            words = makers[name](folder / name.value, quick)
            out.print(f"[bold]{folder / name.value}.gif[/]: {words}", soft_wrap=True)


def _electrons(path: Path, quick: bool) -> str:
    from earnshaw.experiments.dynamics import Integration, dynamics
    from earnshaw.plots.charges import animate as draw
    from earnshaw.problems.charges import ChargeLaw, Charges, random_start

    places, start, moving = random_start(dimension=3, protons=6, electrons=None, factor=0.25, seed=0)
    law = ChargeLaw("almost-yukawa", eigenvalue=1.0, radius=0.5, variant="T")
    problem = Charges(places, electrons=len(start), electron_charges=moving, law=law)
    trajectory = dynamics(problem, start, Integration(stored=1000 if quick else 6000))
    draw(trajectory, path, frames=6 if quick else 100, still=-1)
    first, last = trajectory.energies[[0, -1]]
    return f"{len(trajectory.captures)} of {problem.electrons} electrons reach a proton; loss {first:.3g} to {last:.3g}"


def _histogram(path: Path, quick: bool) -> str:
    from earnshaw.experiments.scenes import sweep_scene
    from earnshaw.papers.spurious import TABLE_1
    from earnshaw.plots.animations import sweep_movie

    size, runs = (8, 32) if quick else (10, 200)
    scene = sweep_scene(size, runs)
    (printed,) = (row.percent for row in TABLE_1 if row.k == size)
    sweep_movie(scene, printed, path, frames=6 if quick else 90)
    percent = 100 * scene.spurious.mean()
    return f"{percent:.1f}% of {runs} runs end at spurious minima for k = n = {size}; the paper has {printed:g}%"


def _saddle(path: Path, quick: bool) -> str:
    from earnshaw.experiments.scenes import split_scene
    from earnshaw.plots.animations import saddle_movie

    scene = split_scene(maps=3, resolution=21) if quick else split_scene()
    saddle_movie(scene, path, frames=8 if quick else 96)
    return (
        f"smallest eigenvalue {scene.before[0]:+.4f} with 6 neurons, {scene.after[0]:+.4f} with 7, loss {scene.loss:.4f} "
        f"in both; descent with 7 ends at {scene.leaves.losses[-1]:.1e}"
    )
