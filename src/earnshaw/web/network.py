"""The view Network: two fates of one convolutional network, from one start by the signs of its weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from earnshaw.web.api import Asked
from earnshaw.web.limits import LIMITS
from earnshaw.web.streams import events, plain

router = APIRouter(prefix="/api/network")
MOMENTS = 400  # of a path that is shown, at most
SHARES = (0.03, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9, 0.98, 1.1)  # of the ratio from which on there is no spurious minimum


class Nets(Asked):
    """Random teachers of one size, and the step of gradient descent."""

    p: int = Field(20, ge=2, le=LIMITS.filter)
    k: int = Field(25, ge=2, le=LIMITS.patches)
    ratio: float = Field(0.5, ge=-math.sqrt(LIMITS.patches), le=math.sqrt(LIMITS.patches))
    step: float = Field(0.1, ge=1e-3, le=10)
    seed: int = Field(0, ge=0, le=LIMITS.seed)


class Start(Nets):
    """One of their starts."""

    run: int = Field(0, ge=0, lt=LIMITS.runs)
    steps: int = Field(400, ge=10, le=LIMITS.watched_steps)


class Count(Nets):
    """Many of their starts; with ``all`` at other ratios, too."""

    runs: int = Field(500, ge=1, le=LIMITS.runs)
    all: bool = False


@router.post("/fates")
def fates(start: Start) -> dict[str, Any]:
    """Return the four signs of one start: what becomes of each, and the way there."""
    import numpy as np

    from earnshaw.experiments.convnet import four_fates, phases
    from earnshaw.landscapes.convnet_stationary import spurious_limit, stationary_points
    from earnshaw.problems import RandomConvNets
    from earnshaw.starts.base import SIGNS

    nets = RandomConvNets(filter_size=start.p, patches=start.k, ratio=start.ratio)
    every = -(-start.steps // MOMENTS)
    found = four_fates(nets, start.seed, start.run, start.step, start.steps, every)
    path = found.path
    twins = []
    for lane, signs in enumerate(SIGNS):
        both = phases(path, lane)
        # The filter stays in the plane of its start and the teacher's, and on its side of it; -v begins on the other.
        along = path.length[:, lane] * np.cos(path.angle[:, lane])
        across = signs[0] * path.length[:, lane] * np.sin(path.angle[:, lane])
        twins.append(
            {
                "signs": signs,
                "outcome": found.outcomes[lane].name,
                "words": found.outcomes[lane].value,
                "decided": int(found.decided[lane]),
                "phases": [both.first, both.second],
                "loss": path.value[:, lane],
                "angle": path.angle[:, lane],
                "product": path.product[:, lane],
                "along": along,
                "across": across,
                "start_outputs": found.starts[lane, start.p :],
                "end_outputs": found.ends[lane, start.p :],
            }
        )
    points = {point.kind.name: point for point in stationary_points(found.problem)}
    spurious = points.get("SPURIOUS")
    return plain(
        {
            "steps": path.step,
            "twins": twins,
            "teacher_outputs": found.problem.output_weights,
            "spurious_outputs": None if spurious is None else spurious.output_weights,
            "spurious_loss": None if spurious is None else spurious.value,
            "saddle_angle": points["SADDLES"].angle if "SADDLES" in points else None,
            "limit": spurious_limit(start.k),
            "command": _python(start, every),
        }
    )


def _python(start: Start, every: int) -> str:
    """Return the lines of Python that follow the four signs."""
    net = f"es.RandomConvNets(filter_size={start.p}, patches={start.k}, ratio={start.ratio!r})"
    numbers = f"seed={start.seed}, run={start.run}, step={start.step!r}, steps={start.steps}, every={every}"
    return "\n".join(
        [
            "import earnshaw as es",
            "from earnshaw.experiments.convnet import four_fates",
            f"found = four_fates({net}, {numbers})",
            "print(found.outcomes, found.path.value[-1], found.path.angle[-1])",
        ]
    )


@router.post("/count")
def count(asked: Count) -> Response:
    """Stream counts: how many starts end at the spurious minimum, with the signs as drawn and with the best of all four."""
    return events(lambda stopped: _counts(asked, stopped))


def _counts(asked: Count, stopped: Callable[[], bool]) -> Iterator[dict[str, Any]]:
    """Count at the ratio that was asked for, and then at others if they are wanted."""
    from earnshaw.landscapes.convnet_stationary import spurious_limit

    limit = spurious_limit(asked.k)
    for signs in ("one", "four"):
        yield {"count": _count(asked, asked.ratio, signs)}
    for share in SHARES if asked.all else ():
        if stopped():
            return
        yield {"share": _count(asked, round(share * limit, 3), "one")}


def _count(asked: Count, ratio: float, signs: str) -> dict[str, Any]:
    from earnshaw.experiments import sweep
    from earnshaw.numerics import percentage
    from earnshaw.problems import RandomConvNets

    nets = RandomConvNets(filter_size=asked.p, patches=asked.k, ratio=ratio)
    start = "four-signs" if signs == "four" else None
    runs = sweep(nets, runs=asked.runs, seed=asked.seed, start=start, optimizer=f"gd:{asked.step!r}", workers=1)
    spurious = len(runs.spurious)
    percent, interval = percentage(spurious, asked.runs)
    size = f"-p {asked.p} -k {asked.k} --ratio {ratio!r}"
    how = f"--runs {asked.runs} --seed {asked.seed} --step {asked.step!r} --starts {signs}"
    return {
        "ratio": ratio,
        "signs": signs,
        "runs": asked.runs,
        "outcomes": runs.outcomes,
        "spurious": spurious,
        "percent": percent,
        "interval": interval,
        "command": f"earnshaw sweep --network conv {size} {how}",
    }
