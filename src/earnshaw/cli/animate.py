"""``earnshaw animate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from earnshaw.cli.console import bold, progress_bar, say
from earnshaw.cli.helping import argument, begins, option
from earnshaw.errors import InputError

if TYPE_CHECKING:
    from earnshaw.experiments.dynamics import Trajectory
    from earnshaw.experiments.scenes import SweepScene
    from earnshaw.plots.style import Progress

EXAMPLES = (
    "earnshaw animate runs/mine                  # the runs of a sweep",
    "earnshaw animate runs/mine/certificates     # its proved minima",
    "earnshaw animate saddle --quick             # a few frames",
    "earnshaw animate all --out docs/images      # those of the README",
)
SOURCE_HELP = (
    "electrons, histogram, saddle, overview, all; or your own: run folders of sweeps or charges, certificates or folders of "
    "them, .npz files of points."
)
SCENES = ("electrons", "histogram", "saddle", "overview")


def animate(
    sources: Annotated[list[str], argument("SCENE|SOURCE", SOURCE_HELP, autocompletion=begins((*SCENES, "all")))],
    folder: Annotated[Path, option("Where the files go.", "--out", metavar="DIR")] = Path("out/animations"),
    quick: Annotated[bool, option("Few frames and few runs: to see that it works.", "--quick")] = False,
) -> None:
    """Make short looping animations (GIF, and the last frame as PNG) of what is computed here and now, or of your own.

    electrons: student neurons as charges that find the teacher's. histogram: runs of gradient descent for k = n = 10
    come to rest, and a histogram fills up beside the paper's percentage. saddle: a proved minimum of six neurons is one
    no more when a neuron is added. overview: one still picture, PNG and SVG. Of a sweep's folder the runs are shown as in
    histogram (those recorded with sweep --trace; if none were, the first 200 run again), of a point what splitting a
    neuron opens as in saddle, or descent on a plane.
    """
    from earnshaw.numerics import remember_programs

    for source in sources:
        if source not in (*SCENES, "all") and not Path(source).exists():
            scenes = ", ".join((*SCENES, "all"))
            raise InputError(f"{source} is neither a scene ({scenes}) nor a file or folder; give one of these")
    remember_programs()
    for source in sources:
        for name in SCENES if source == "all" else [source]:
            with progress_bar(Path(name).name) as progress:
                lines = _made(name, folder, quick, progress)
            for path, words in lines:
                say(f"{bold(path)}: {words}", markup=True)


def _made(name: str, folder: Path, quick: bool, progress: Progress) -> list[tuple[Path, str]]:
    """Return what was made of a scene or a source: files without their endings, and words."""
    from earnshaw.experiments.scenes import split_scene
    from earnshaw.plots.films import animate as films
    from earnshaw.plots.films import film

    if name == "overview":
        return [(folder / name, _overview(folder / name, quick, progress))]
    if name == "electrons":
        made = [film(_electrons(quick), folder / name, quick, progress)]
    elif name == "histogram":
        scene, printed = _sweep(quick)
        made = [film(scene, folder / name, quick, progress, printed)]
    elif name == "saddle":
        scene = split_scene(maps=3, resolution=21) if quick else split_scene()
        made = [film(scene, folder / name, quick, progress)]
    else:
        made = films(Path(name), folder, quick=quick, progress=progress)
    return [(one.gif.with_name(one.gif.name.removesuffix(".gif")), one.words) for one in made]


def _electrons(quick: bool) -> Trajectory:
    from earnshaw.experiments.dynamics import Integration, dynamics
    from earnshaw.problems.charges import ChargeLaw, Charges, random_start

    places, start, moving = random_start(dimension=3, protons=6, electrons=None, factor=0.25, seed=0)
    law = ChargeLaw("almost-yukawa", eigenvalue=1.0, radius=0.5, variant="T")
    problem = Charges(places, electrons=len(start), electron_charges=moving, law=law)
    return dynamics(problem, start, Integration(stored=1000 if quick else 20_000))


def _sweep(quick: bool) -> tuple[SweepScene, float]:
    """Return the runs of one size and the printed percentage of spurious ones."""
    from earnshaw.experiments import Plan
    from earnshaw.experiments.scenes import sweep_scene, traced
    from earnshaw.papers.spurious import TABLE_1
    from earnshaw.problems import TwoLayer, standard_teacher

    size, runs = (8, 32) if quick else (10, 200)
    (printed,) = (row.percent for row in TABLE_1 if row.k == size)
    plan = Plan.of(TwoLayer(standard_teacher(size)), runs=runs)
    return sweep_scene(traced(plan, plan.settings[0].name, runs)), printed


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
