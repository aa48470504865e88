"""``es.animate``: films of what a user has: runs of a sweep, a point, charges in motion. Each scene has one kind of film."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from earnshaw.errors import InputError
from earnshaw.plots import charges
from earnshaw.plots.scenes import saddle_movie, sized, slice_movie, sweep_movie
from earnshaw.plots.style import Progress, unseen

if TYPE_CHECKING:
    from earnshaw.experiments import Runs, Sweep, SweepResult
    from earnshaw.experiments.dynamics import Trajectory
    from earnshaw.experiments.scenes import Scene, SplitScene, SweepScene
    from earnshaw.experiments.views import Slice
    from earnshaw.plots.plot import Point


@dataclass(frozen=True)
class Film:
    """What was written, and what it shows, in words."""

    gif: Path
    png: Path  #: the last frame
    words: str


def animate(
    source: str | Path | Sweep | SweepResult | Runs | Trajectory | Point,
    out: str | Path = "out/animations",
    *,
    quick: bool = False,
    progress: Progress = unseen,
) -> list[Film]:
    """Make short looping films of runs, points or charges in motion: ``NAME.gif``, and the last frame as ``NAME.png``.

    Of a sweep, each setting becomes a film: its runs come to rest, and a histogram fills up. What was recorded on their way
    (``trace=25``) is shown; where a folder has no record, its first 200 runs are run again. Of a point of a ReLU network
    that sums its neurons it is shown that descent comes back to it, and what a neuron split in two opens; of other points,
    descent on a plane through it.

    Parameters
    ----------
    source : a run folder of a sweep or of charges, a certificate or a folder of them, an ``.npz`` file of points; or what
        :func:`~earnshaw.load` returns of a folder, recorded :class:`~earnshaw.Runs`, a :class:`~earnshaw.Family`, a
        :class:`~earnshaw.Proof`, a :class:`~earnshaw.Certificate`.
    out : the folder that the files go to.
    quick : few frames, coarse maps and few runs: to see that it works.
    """
    from earnshaw.experiments.scenes import scenes_of

    made = [film(scene, Path(out) / name, quick, progress) for name, scene in scenes_of(source, quick)]
    if not made:
        raise InputError(f"there is nothing to film: {source} holds no finished runs and no points")
    return made


def film(
    scene: Scene, path: Path, quick: bool = False, progress: Progress = unseen, printed: float | None = None
) -> Film:
    """Write the film of a scene; a sweep's with a paper's percentage, where one is ``printed``."""
    from earnshaw.experiments.scenes import SplitScene, SweepScene
    from earnshaw.experiments.views import Slice

    if isinstance(scene, SweepScene):
        sweep_movie(scene, path, 6 if quick else 90, printed, progress)
        words = _of_sweep(scene, printed)
    elif isinstance(scene, SplitScene):
        saddle_movie(scene, path, 8 if quick else 96, progress)
        words = _of_split(scene)
    elif isinstance(scene, Slice):
        slice_movie(scene, path, 6 if quick else 60, progress)
        words = _of_slice(scene)
    else:
        charges.animate(scene, path, 6 if quick else 100, still=-1, progress=progress)
        words = _of_charges(scene)
    return Film(path.with_name(f"{path.name}.gif"), path.with_name(f"{path.name}.png"), words)


def _of_sweep(scene: SweepScene, printed: float | None) -> str:
    words = (
        f"{100 * scene.spurious.mean():.1f}% of {len(scene.spurious)} runs end at other minima, {sized(scene.problem)}"
    )
    words += "; they were not recorded on their way, and were run again" * scene.again
    return words if printed is None else f"{words}; the paper has {printed:g}%"


def _of_split(scene: SplitScene) -> str:
    n = scene.neurons
    return (
        f"smallest eigenvalue {scene.before[0]:+.4f} with {n} neurons, {scene.after[0]:+.4f} with {n + 1}, loss {scene.loss:.4f} "
        f"in both; descent with {n + 1} ends at {scene.leaves.losses[-1]:.1e}"
    )


def _of_slice(scene: Slice) -> str:
    first, last = scene.path.losses[[0, -1]]
    return f"loss {scene.loss:.6g} at the point; descent beside it goes from {first:.6g} to {last:.6g}"


def _of_charges(trajectory: Trajectory) -> str:
    first, last = trajectory.energies[[0, -1]].round(12) + 0.0  # without the rounding of a sum that is 0
    caught, all_of = len(trajectory.captures), trajectory.problem.electrons
    return f"{caught} of {all_of} electrons reach a proton; loss {first:.3g} to {last:.3g}"
