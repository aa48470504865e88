"""The arena: several optimisers on the same problem, from the same starts."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from earnshaw.descent import Descent, Outcome, Stopping
from earnshaw.errors import InputError
from earnshaw.experiments.cluster import proving
from earnshaw.experiments.engine import How
from earnshaw.experiments.plan import Plan, file_name
from earnshaw.experiments.runs import Runs
from earnshaw.experiments.summary import MINIMA, families
from earnshaw.experiments.sweep import SweepResult, load_sweep, run_plan
from earnshaw.experiments.work import Progress, quiet
from earnshaw.numerics import percentage
from earnshaw.problems import Problem
from earnshaw.proof import prove_many
from earnshaw.proof.processes import Elsewhere
from earnshaw.starts import Start
from earnshaw.store import read_json, write_json

RESULTS = "arena.json"


@dataclass(frozen=True)
class Score:
    """What one optimiser did on one problem; a line of ``earnshaw arena --json``."""

    optimizer: str
    sizes: dict[str, Any]
    runs: int
    seed: int
    outcomes: dict[str, int]
    global_percent: float
    global_interval: tuple[float, float]  #: 95%, of the runs that reached the global minimum
    median_steps: float  #: medians are of what a run took until its fate was clear or its steps used up
    median_gradients: float
    median_hessians: float
    traps: tuple[int, ...]  #: the runs that ended in each of the arena's families of minima
    agrees_percent: float  #: those whose fate is that of the first optimiser's run from the same start
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON data."""
        record = dataclasses.asdict(self)
        return {"optimizer": record.pop("optimizer"), **record.pop("sizes"), **record}


@dataclass(frozen=True)
class Trap:
    """A family of minima that held some run of some optimiser, and what is proved of it (None: nothing was tried)."""

    objective: float
    min_eigenvalue: float
    verdict: str | None
    name: str | None = None
    label: str | None = None


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

    problem: Problem
    scores: tuple[Score, ...]
    traps: tuple[Trap, ...]
    disagreements: tuple[Disagreement, ...]

    def to_json(self) -> dict[str, Any]:
        """Return what ``arena.json`` says of it: no times."""
        return {
            "setting": self.problem.name,
            "scores": [{key: value for key, value in s.to_json().items() if key != "seconds"} for s in self.scores],
            "families": [dataclasses.asdict(trap) for trap in self.traps],
            "disagreements": [dataclasses.asdict(row) for row in self.disagreements],
        }


def run_arena(
    problems: Sequence[Problem],
    descents: Mapping[str, Descent],
    out: Path | None,
    runs: int = 1000,
    seed: int = 0,
    start: Start | None = None,
    max_steps: int = 200_000,
    prove: bool = True,
    workers: int | None = None,
    progress: Progress = quiet,
    **how: Unpack[How],
) -> list[Arena]:
    """Run every optimiser, by name, from the same starts on every problem, and compare what became of each run.

    It is one sweep of all problems with all optimisers, so that its folder is that of a sweep: an interrupted arena
    resumes, and optimisers, problems or runs can be added later. Families of minima are proved where proofs exist.
    ``how`` are the keywords of :func:`earnshaw.experiments.run`; of a part of the runs (``part``) nothing is compared, and
    the list is empty.
    """
    stopping = Stopping(max_steps=max_steps)
    plan = Plan.of(problems, runs=runs, descent=descents, seed=seed, start=start, stopping=stopping)
    swept = {result.name: result for result in run_plan(plan, out, workers, progress, **how)}
    if how.get("part") is not None:
        return []
    results = []
    with proving(how.get("cluster"), workers) as who:
        for problem in problems:
            mine = {name: swept[setting_name(problem.name, name)] for name in descents}
            results.append(_compare(problem, mine, seed, prove, who))
    if out is not None:
        write_json(out / RESULTS, [arena.to_json() for arena in results])
    return results


def setting_name(problem: str, optimizer: str) -> str:
    """Return the setting of the sweep in which an optimiser, by its name in the arena, runs on a problem."""
    return f"{problem}-{file_name(optimizer)}"


def load_arena(folder: Path) -> list[Arena]:
    """Return the arena that a folder holds: what ``arena.json`` says of the sweeps there.

    A file that is damaged, or does not say of every optimiser's runs what their own results say, raises :class:`InputError`.
    """
    file, sweeps = folder / RESULTS, {result.name: result for result in load_sweep(folder).whole()}
    try:
        return [_read(entry, sweeps) for entry in read_json(file)]
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        odd = f"{file} is damaged or of other runs ({type(error).__name__}: {error})"
        raise InputError(f"{odd}; run the same arena again, which writes it") from None


def _read(entry: Mapping[str, Any], sweeps: Mapping[str, SweepResult]) -> Arena:
    """Return one problem's part of ``arena.json``, if it agrees with the sweeps."""
    names = [row["optimizer"] for row in entry["scores"]]
    mine = [sweeps[setting_name(entry["setting"], name)] for name in names]
    sizes, scores = mine[0].summary.sizes, []
    for row, result in zip(entry["scores"], mine, strict=True):
        said = {key: value for key, value in row.items() if key not in sizes}
        said |= {"traps": tuple(row["traps"]), "global_interval": tuple(row["global_interval"])}
        score = Score(sizes=sizes, seconds=result.seconds, **said)
        reached = score.outcomes.get(Outcome.GLOBAL.name, 0)
        percent, interval = percentage(reached, score.runs)
        counted = (result.summary.outcomes, result.summary.runs, percent, interval)
        if counted != (score.outcomes, score.runs, score.global_percent, score.global_interval):
            raise ValueError(f"the runs of {result.name} say something else")
        if len(score.traps) != len(entry["families"]):
            raise ValueError(f"{len(score.traps)} counts of {len(entry['families'])} families")
        scores.append(score)
    traps = tuple(Trap(**row) for row in entry["families"])
    return Arena(
        mine[0].runs.problem, tuple(scores), traps, tuple(Disagreement(**row) for row in entry["disagreements"])
    )


def _compare(
    problem: Problem, sweeps: Mapping[str, SweepResult], seed: int, prove: bool, workers: int | Elsewhere | None
) -> Arena:
    """Name every run's fate, the families counted over all optimisers together."""
    everyone = [result.runs for result in sweeps.values()]
    count = len(everyone[0])
    apart = [dataclasses.replace(runs, run=index * count + runs.run) for index, runs in enumerate(everyone)]
    found = families(Runs.join(apart).where(*MINIMA), seed)  # members: the sweep's place times count, plus the run
    fates = np.array([[Outcome.from_code(code).name for code in runs.outcome] for runs in everyone], dtype=object)
    traps = np.zeros((len(everyone), len(found)), dtype=np.int64)
    for index, family in enumerate(found):
        owner, lane = np.divmod(family.members, count)
        np.add.at(traps[:, index], owner, 1)
        fates[owner, lane] = f"family {index}"
    same = fates == fates[0]
    verdicts: list[str | None] = [None] * len(found)
    if prove and problem.unprovable is None and problem.is_realisable:
        points = [family.weights for family in found]
        verdicts = [proof.verdict.name for proof in prove_many(problem, points, workers=workers)]
    scores = [
        _score(name, result, seed, tuple(traps[index].tolist()), 100 * float(same[index].mean()))
        for index, (name, result) in enumerate(sweeps.items())
    ]
    names, odd = list(sweeps), np.argwhere(~same)
    rows = [Disagreement(int(run), names[index], str(fates[index, run]), str(fates[0, run])) for index, run in odd]
    described = [
        Trap(f.objective, f.min_eigenvalue, word, f.name, f.label) for f, word in zip(found, verdicts, strict=True)
    ]
    return Arena(problem, tuple(scores), tuple(described), tuple(rows))


def _score(name: str, result: SweepResult, seed: int, traps: tuple[int, ...], agrees: float) -> Score:
    runs = result.runs
    reached = int(np.sum(runs.outcome == Outcome.GLOBAL.code))
    percent, interval = percentage(reached, len(runs))
    return Score(
        optimizer=name,
        sizes=runs.problem.sizes,
        runs=len(runs),
        seed=seed,
        outcomes=runs.outcomes,
        global_percent=percent,
        global_interval=interval,
        traps=traps,
        agrees_percent=agrees,
        seconds=result.seconds,
        **{f"median_{name}": float(np.median(getattr(runs, name))) for name in ("steps", "gradients", "hessians")},
    )
