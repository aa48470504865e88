"""The arena: several optimisers on the same problem, from the same starts."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from earnshaw.descent import Descent, Outcome, Stopping
from earnshaw.errors import InputError
from earnshaw.experiments.plan import Plan, Setting
from earnshaw.experiments.summary import families_of
from earnshaw.experiments.sweep import run_plan
from earnshaw.numerics import proportion_interval
from earnshaw.problems import TwoLayer
from earnshaw.proof import prove_many
from earnshaw.starts import Start, Xavier
from earnshaw.store import read_npz, write_json
from earnshaw.symmetry import Family

Progress = Callable[[float, str], None]


@dataclass(frozen=True)
class Contestant:
    """An optimiser and the name it goes by."""

    name: str
    descent: Descent

    @property
    def folder(self) -> str:
        """A name for its run folder."""
        return re.sub(r"[^A-Za-z0-9.]+", "-", self.name).strip("-")


@dataclass(frozen=True)
class Score:
    """What one optimiser did on one problem; a line of ``earnshaw arena --json``.

    Attributes
    ----------
    global_percent, global_interval : runs that reached the global minimum, with the 95% interval.
    median_steps, median_gradients, median_hessians : what a run took until its fate was clear.
    traps : how many runs ended in each family of minima, in the order of the arena's families.
    agrees_percent : runs whose fate is that of the first optimiser's run from the same start.
    """

    optimizer: str
    k: int
    n: int
    d: int
    runs: int
    seed: int
    outcomes: dict[str, int]
    global_percent: float
    global_interval: tuple[float, float]
    median_steps: float
    median_gradients: float
    median_hessians: float
    traps: tuple[int, ...]
    agrees_percent: float
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return dataclasses.asdict(self)


@dataclass(frozen=True)
class Trap:
    """A family of minima that held some run of some optimiser, and what is proved of it (None: nothing was tried)."""

    objective: float
    min_eigenvalue: float
    verdict: str | None
    name: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return dataclasses.asdict(self)


@dataclass(frozen=True)
class Disagreement:
    """A start from which an optimiser met another fate than the first one did."""

    run: int
    optimizer: str
    fate: str
    fate_of_first: str


@dataclass(frozen=True)
class Arena:
    """All optimisers on one problem."""

    setting: Setting
    scores: tuple[Score, ...]
    traps: tuple[Trap, ...]
    disagreements: tuple[Disagreement, ...]


def run_arena(
    settings: Sequence[Setting],
    contestants: Sequence[Contestant],
    out: Path,
    runs: int = 1000,
    seed: int = 0,
    start: Start | None = None,
    max_steps: int = 200_000,
    prove: bool = True,
    workers: int | None = None,
    progress: Progress = lambda share, what: None,
) -> list[Arena]:
    """Run every optimiser from the same starts on every problem, and compare what became of each run.

    Each optimiser has a run folder of its own under ``out``, so that an interrupted arena resumes, and optimisers can
    be added later. Families of ReLU minima are proved.
    """
    names = [contestant.folder for contestant in contestants]
    if not contestants or len(set(names)) < len(names):
        raise InputError("the arena needs optimisers with different names; two of those given have the same")
    results = []
    for place, setting in enumerate(settings):
        sweeps = []
        for index, contestant in enumerate(contestants):
            plan = Plan(
                settings=(setting,),
                runs=runs,
                seed=seed,
                start=start or Xavier(),
                descent=contestant.descent,
                stopping=Stopping(max_steps=max_steps),
            )

            def report(
                share: float, what: str, done: int = place * len(contestants) + index, name: str = contestant.name
            ) -> None:
                progress((done + share) / (len(settings) * len(contestants)), f"{what} {name}")

            folder = out / setting.name / contestant.folder
            (result,) = run_plan(plan, folder, workers, report)
            sweeps.append((contestant, result.seconds, read_npz(folder / f"{setting.name}.npz")))
        results.append(_compare(setting, sweeps, seed, prove, workers))
    write_json(out / "arena.json", [_record(arena) for arena in results])
    return results


def _record(arena: Arena) -> dict[str, Any]:
    return {
        "setting": arena.setting.name,
        "scores": [{key: value for key, value in s.to_json().items() if key != "seconds"} for s in arena.scores],
        "families": [trap.to_json() for trap in arena.traps],
        "disagreements": [dataclasses.asdict(row) for row in arena.disagreements],
    }


def _compare(
    setting: Setting,
    sweeps: list[tuple[Contestant, float, dict[str, np.ndarray]]],
    seed: int,
    prove: bool,
    workers: int | None,
) -> Arena:
    """Name every run's fate, the families counted over all optimisers together."""
    problem = setting.problem
    found, owner, lane = _together(problem, [arrays for _, _, arrays in sweeps])
    fates = np.array([arrays["outcome"].astype(object) for _, _, arrays in sweeps])
    traps = np.zeros((len(sweeps), len(found)), dtype=np.int64)
    for index, family in enumerate(found):
        for member in family.members:
            traps[owner[member], index] += 1
            fates[owner[member], lane[member]] = f"family {index}"
    same = fates == fates[0]
    verdicts: list[str | None] = [None] * len(found)
    if prove and problem.activation.kind == "relu" and not problem.trainable_output and problem.is_realisable:
        proofs = prove_many(problem, [family.weights for family in found], workers=workers)
        verdicts = [proof.verdict.name for proof in proofs]
    scores = []
    for index, (contestant, seconds, arrays) in enumerate(sweeps):
        outcome, count = arrays["outcome"], len(arrays["outcome"])
        reached = int((outcome == Outcome.GLOBAL.name).sum())
        low, high = proportion_interval(reached, count)
        names, counts = np.unique(outcome, return_counts=True)
        scores.append(
            Score(
                optimizer=contestant.name,
                k=problem.teachers,
                n=problem.students,
                d=problem.dimension,
                runs=count,
                seed=seed,
                outcomes=dict(zip(names.tolist(), counts.tolist(), strict=True)),
                global_percent=100 * reached / count,
                global_interval=(100 * low, 100 * high),
                median_steps=float(np.median(arrays["steps"])),
                median_gradients=float(np.median(arrays["gradients"])),
                median_hessians=float(np.median(arrays["hessians"])),
                traps=tuple(traps[index].tolist()),
                agrees_percent=100 * float(same[index].mean()),
                seconds=seconds,
            )
        )
    rows = [
        Disagreement(int(run), sweeps[index][0].name, str(fates[index, run]), str(fates[0, run]))
        for index, run in np.argwhere(~same)
    ]
    described = [Trap(f.objective, f.min_eigenvalue, word, f.name) for f, word in zip(found, verdicts, strict=True)]
    return Arena(setting, tuple(scores), tuple(described), tuple(rows))


def _together(problem: TwoLayer, sweeps: list[dict[str, np.ndarray]]) -> tuple[list[Family], np.ndarray, np.ndarray]:
    """Group the minima of all sweeps; also return which sweep and which run each grouped point belongs to."""
    owner = np.concatenate([np.full(len(arrays["run"]), index) for index, arrays in enumerate(sweeps)]).astype(int)
    lane = np.concatenate([arrays["run"] for arrays in sweeps]).astype(int)
    weights = np.concatenate([arrays["weights"] for arrays in sweeps])
    value = np.concatenate([arrays["value"][arrays["run"]] for arrays in sweeps])
    return families_of(problem, weights, value, np.arange(len(weights))), owner, lane
