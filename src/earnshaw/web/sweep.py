"""The view Sweep: many runs whose ends are seen as they come, the families of those ends, and a single point of one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import Field

from earnshaw.errors import InputError
from earnshaw.web.api import Asked
from earnshaw.web.limits import LIMITS
from earnshaw.web.proving import router as proving
from earnshaw.web.setting import ACTIVATIONS, Point, Problem, room
from earnshaw.web.streams import events, plain

if TYPE_CHECKING:
    import numpy as np

    from earnshaw.descent import Descent
    from earnshaw.experiments import Plan, SweepResult
    from earnshaw.starts import Start

router = APIRouter(prefix="/api/sweep", tags=["sweep"])
router.include_router(proving)

EVERY = 0.2  # seconds between two looks at the runs
FATES = ("global", "minima", "neither")  # as `earnshaw.plots.sweeps.fates` has them
_alone = threading.Lock()  # one sweep at a time: it sets the threads of BLAS, on which the last bits depend

# What the command line knows by name, without what would load a file or a module: with a step if one is given, with a step
# that must be given, and without.
OPTIMIZERS = ("gd", "momentum", "nesterov", "perturbed-gd", "stochastic", "second-gd", "hessian-descent", "projected")
OPTAX = ("adam", "adamw", "adagrad", "rmsprop", "sgd", "lion", "nadam")
OWN_STEP = ("lbfgs", "newton-tr", "flow")
STARTS = {"two-layer": ("xavier", "normal", "sphere"), "conv": ("sphere-and-ball", "four-signs")}


class Runs(Asked):
    """A sweep: a problem, and the runs."""

    problem: Problem
    runs: Annotated[int, Field(ge=1, le=LIMITS.runs)] = 500
    seed: Annotated[int, Field(ge=0, le=LIMITS.seed)] = 0
    start: Annotated[str, Field(max_length=40)] = ""  #: the usual one, if none is given
    scale: Annotated[float, Field(ge=1e-3, le=100)] = 0.1
    optimizer: Annotated[str, Field(max_length=40)] = "gd"
    step: Annotated[float, Field(ge=0, le=10)] = 0.0  #: 0: that of the optimiser
    stop: Literal["early", "paper"] = "early"
    max_steps: Annotated[int, Field(ge=1, le=LIMITS.sweep_steps)] = 200_000

    @property
    def optimizer_name(self) -> str:
        """The name that the command line takes, with the step, if one is given."""
        return f"{self.optimizer}:{self.step!r}" if self.step else self.optimizer

    @property
    def start_name(self) -> str:
        """The name that the command line takes; nothing for the usual start."""
        return f"normal:{self.scale!r}" if self.start == "normal" else self.start

    @property
    def command(self) -> str:
        """The command that does the very same runs."""
        words = [f"earnshaw sweep {self.problem.options} --runs {self.runs} --seed {self.seed}"]
        words += [f"--optimizer {self.optimizer_name}"] if self.optimizer_name != "gd" else []
        words += [f"--start {self.start_name}"] if self.start else []
        words += [f"--stop {self.stop}"] if self.stop != "early" else []
        words += [f"--max-steps {self.max_steps}"] if self.max_steps != 200_000 else []
        return " ".join(words)

    def plan(self) -> Plan:
        """Return what the command would run; what makes no sense raises :class:`InputError`."""
        from earnshaw.descent import Stopping, optimizer
        from earnshaw.experiments import Plan
        from earnshaw.starts import start

        if self.optimizer not in (known := (*OPTIMIZERS, *OPTAX, *OWN_STEP)):
            raise InputError(f"the optimiser is {self.optimizer!r}; here choose {', '.join(known)}")
        if self.start not in (known := ("", *STARTS[self.problem.network])):
            words = " or ".join(filter(None, known))
            raise InputError(f"the start is {self.start!r}; for this network choose {words}, or leave it out")
        if self.optimizer in OWN_STEP and self.step:
            raise InputError(f"{self.optimizer} was given with the step {self.step:g}, but finds its own; set it to 0")
        if self.optimizer in OPTAX and not self.step:
            raise InputError(f"{self.optimizer} needs a step; give one, for example 0.01")
        descent: Descent = optimizer(self.optimizer_name)
        begin: Start | None = start(self.start_name) if self.start else None
        stopping = Stopping(rule=self.stop, max_steps=self.max_steps)  # type: ignore[arg-type]
        problem = self.problem.build()
        return Plan.of(problem, self.runs, descent, seed=self.seed, start=begin, stopping=stopping)


@router.get("/choices")
def choices() -> dict[str, Any]:
    """Return the names that a sweep can be asked for."""
    return {"activations": ACTIVATIONS, "optimizers": (*OPTIMIZERS, *OPTAX, *OWN_STEP), "starts": STARTS}


@router.post("/run")
def run(asked: Runs, request: Request) -> Response:
    """Run the sweep: events with the histogram of the ends so far, and at last the families.

    The runs are kept, as the command keeps them: asked for again they are there at once, and stopped they go on.
    """
    plan = asked.plan()
    out = room(request.app.state.folder / "runs", plan.hash[:16])
    return events(lambda stopped: _watched(asked, plan, stopped, out))


class _Heard:
    """What the threads of a sweep have said so far."""

    def __init__(self, runs: int) -> None:
        self.lock, self.left = threading.Lock(), False
        self.runs, self.share, self.what = runs, 0.0, ""
        self.ends: list[tuple[np.ndarray, np.ndarray]] = []

    def progress(self, share: float, what: str) -> None:
        self.share, self.what = share, what

    def ended(self, values: np.ndarray, outcomes: np.ndarray) -> None:
        with self.lock:
            self.ends.append((values.copy(), outcomes.copy()))

    def event(self) -> dict[str, Any]:
        import numpy as np

        from earnshaw.numerics.compiling import compiling_now

        with self.lock:
            values, outcomes = (np.concatenate([end[part] for end in self.ends] or [np.zeros(0)]) for part in (0, 1))
        doing = "compiling" if compiling_now() and not len(values) else "running"
        told = {"state": doing, "share": self.share, "ended": len(values), "runs": self.runs}
        return told | {"histogram": histogram(values, outcomes, self.runs)}


def _watched(asked: Runs, plan: Plan, stopped: Callable[[], bool], out: Path | None = None) -> Iterator[dict[str, Any]]:
    """Run the plan in a thread, and yield what it says."""
    from earnshaw.experiments import Interrupted, run_plan

    heard = _Heard(asked.runs)
    while not _alone.acquire(timeout=EVERY):
        if stopped():
            return
        yield {"state": "waiting", "share": 0.0, "ended": 0, "runs": asked.runs, "histogram": None}
    try:
        with ThreadPoolExecutor(1) as thread:
            try:
                running = thread.submit(
                    run_plan,
                    plan,
                    out,
                    progress=heard.progress,
                    time_limit=LIMITS.sweep_seconds,
                    cancelled=lambda: heard.left or stopped(),
                    ended=heard.ended,
                )
                while not wait([running], EVERY).done:
                    if stopped():
                        return
                    yield heard.event()
            finally:
                heard.left = True
        try:
            (result,) = running.result()
        except Interrupted as error:
            most = f"{LIMITS.sweep_seconds:g} s, the most that one sweep may take here"
            raise InputError(f"{error} after {most}; ask for fewer runs, or use the command") from None
        yield outcome(asked, result) | {"kept": out and str(out)}
    finally:
        _alone.release()


def histogram(values: np.ndarray, outcomes: np.ndarray, runs: int) -> dict[str, Any] | None:
    """Return the bars of ``es.plot.histogram`` of ends so far: their ends, and for each fate the percent of all runs in each."""
    import numpy as np

    from earnshaw.descent import Outcome
    from earnshaw.plots.sweeps import fates, loss_bars

    known = np.isfinite(values)
    values, outcomes = values[known], outcomes[known]
    if not len(values):
        return None
    at_minima = np.isin(outcomes, [Outcome.SPURIOUS.code, Outcome.CONVERGED.code])
    edges, shown, low = loss_bars(values)
    counts = [np.histogram(shown[fate.mine], edges)[0] for fate in fates(at_minima, outcomes == Outcome.GLOBAL.code)]
    least = low if low is not None and values.min() < low else None
    return {
        "edges": edges,
        "logarithmic": low is not None,
        "least": least,
        "unshown": int((~known).sum()),
        "percent": {name: 100 * count / runs for name, count in zip(FATES, counts, strict=True)},
    }


def outcome(asked: Runs, result: SweepResult) -> dict[str, Any]:
    """Return the last event of a sweep: its summary, the histogram, and its families with their points."""
    from earnshaw.experiments.views import ends
    from earnshaw.numerics import percentage

    summary, runs = result.summary, result.runs
    found = ends(result)
    rows = []
    for index, (name, family) in enumerate(found[: LIMITS.families]):
        percent, interval = percentage(family.count, summary.runs)
        row = {"index": index, "saddle": index >= len(result.families), **family.to_json(), "file": name}
        row |= {"percent": percent, "interval": interval}
        rows.append(row | {"weights": family.weights if asked.problem.network == "two-layer" else None})
    told = {key: value for key, value in result.to_json().items() if key != "families"}
    return {
        "state": "done",
        "summary": told,
        "histogram": histogram(runs.value, runs.outcome, len(runs)),
        "families": rows,
        "more": len(found) - len(rows),
        "unprovable": runs.problem.unprovable,
        "command": asked.command,
    }


@router.post("/point")
def point(asked: Point) -> dict[str, Any]:
    """Return a point in the order that shows its pattern, its loss, and the spectrum of the Hessian there."""
    from earnshaw.experiments.views import Place, Spectrum

    place = Place(asked.problem.build(), asked.matrix())
    spectrum = Spectrum.at(place)
    levels = [{"value": value, "count": count} for value, count in spectrum.levels]
    return plain({"weights": place.ordered(), "loss": place.loss, "spectrum": spectrum.values, "levels": levels})
