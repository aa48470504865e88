"""One run watched on its way: where every moving charge is, what pulls at it, and which fixed one it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from earnshaw.descent import Descent, Outcome, Stopping
from earnshaw.descent.judges import judge_for
from earnshaw.descent.lanes import Block, Lanes
from earnshaw.errors import InputError
from earnshaw.experiments.dynamics import Capture
from earnshaw.landscapes import PairEnergy, landscape
from earnshaw.numerics import TOLERANCES
from earnshaw.problems import Charges, Problem, TwoLayer

PATIENCE = 100  # snapshots after which a moment is shown although nothing has moved


@dataclass(frozen=True, eq=False)
class Moment:
    """The charges at one moment of a run."""

    step: int  #: the steps taken; 0 again where a run that diverged begins anew with half the step
    positions: np.ndarray  #: (n, d)
    forces: np.ndarray  #: (n, d), minus the gradient by the positions
    value: float  #: the loss F


@dataclass(frozen=True)
class Arrival:
    """Where one moving charge has ended."""

    electron: int
    proton: int  #: the nearest
    distance: float  #: to that
    found: bool  #: whether it sits there, alone or with others
    shared: bool = False  #: whether it is one of several that lie along the proton and add up to it
    faces: int | None = None  #: another electron, at the opposite place: under an odd potential the two cancel
    time: float | None = None  #: when it was captured, if the dynamics have said so


@dataclass(frozen=True, eq=False)
class Watched:
    """How a watched run ended."""

    outcome: Outcome
    steps: int
    halvings: int  #: how often it diverged and began again with half the step
    positions: np.ndarray  #: (n, d), where Newton's method leads if the run was decided
    value: float
    arrivals: tuple[Arrival, ...]


def arrivals(
    protons: np.ndarray,
    positions: np.ndarray,
    captures: Sequence[Capture] = (),
    *,
    additive: bool = False,
    odd: bool = False,
) -> tuple[Arrival, ...]:
    """Return which proton (k, d) each electron (n, d) is nearest to, and whether it sits there.

    It does if it was captured, or if the distance is within a hundredth (``TOLERANCES.near_global``) of the protons' root mean
    square length. Where neurons are ``additive`` (ReLU) several that lie along a proton, and add up to it, share it. Where
    they are ``odd`` one at the opposite place of another cancels it.
    """
    apart = np.linalg.norm(positions[:, None] - protons, axis=-1)
    reach = TOLERANCES.near_global * float(np.sqrt(np.mean(np.sum(protons**2, -1))))
    captured = {capture.electron: capture for capture in captures}
    shared = _shared(protons, positions, reach) if additive else {}
    opposite = np.linalg.norm(positions[:, None] + positions, axis=-1)
    found = []
    for electron, distances in enumerate(apart):
        capture = captured.get(electron)
        proton = shared.get(electron, int(np.argmin(distances))) if capture is None else capture.proton
        distance, time = float(distances[proton]), None if capture is None else capture.time
        together = electron in shared
        there = together or capture is not None or distance <= reach
        other = int(np.argmin(opposite[electron]))
        faces = other if odd and not there and opposite[electron, other] <= reach else None
        found.append(Arrival(electron, proton, distance, there, together, faces, time))
    return tuple(found)


def _shared(protons: np.ndarray, positions: np.ndarray, reach: float) -> dict[int, int]:
    """Return the proton of each electron that is one of several along it which add up to it."""
    along = np.clip(positions @ protons.T, 0, None) / np.sum(protons**2, -1)
    beside = np.linalg.norm(positions[:, None] - along[..., None] * protons, axis=-1)
    found = {}
    for proton in range(len(protons)):
        group = np.flatnonzero((beside[:, proton] <= reach) & (along[:, proton] > 0))
        if len(group) > 1 and np.linalg.norm(positions[group].sum(0) - protons[proton]) <= reach:
            found |= dict.fromkeys(map(int, group), proton)
    return found


def watch(
    problem: Problem,
    start: np.ndarray,
    descent: Descent,
    stopping: Stopping,
    resolution: float = 0.0,
    cancelled: Callable[[], bool] = lambda: False,
) -> Iterator[Moment | Watched]:
    """Run a descent from one start ``(n, d)`` through the lane engine, yield its moments and at last how it ended.

    Snapshots are ``stopping.trace`` steps apart. Of them those are shown between which some charge has moved by
    ``resolution``, and every hundredth.
    """
    energy = landscape(problem)
    if not isinstance(energy, PairEnergy):
        raise InputError(f"a problem of the network {problem.network} was given; watch charges or a two-layer network")
    starts = np.asarray(energy.point(start))[None]
    judge = judge_for(energy, problem, descent, stopping)
    lanes = {"landscape": energy, "descent": descent, "judge": judge, "starts": starts, "indices": np.arange(1)}
    block = Block(Lanes(**lanes, batch=1, padded=descent.leaves_padding_alone))

    def moment(step: int, point: np.ndarray) -> Moment:
        there = jnp.asarray(point)
        forces = -np.asarray(energy.neurons(energy.gradient(there)))
        return Moment(step, np.asarray(energy.neurons(there)), forces, float(energy.value(there)))

    shown, waited = np.full(starts.shape[1:], np.inf), 0
    for snapshot in block.snapshots():
        if cancelled():
            raise InterruptedError("the run was cancelled")
        step, point = int(snapshot.steps[0]), snapshot.points[0]
        if not np.isfinite(point).all():
            continue
        moved = float(np.linalg.norm(point - shown, axis=-1).max())
        waited += 1
        if step == 0 or moved >= resolution or waited >= PATIENCE:
            shown, waited = point.copy(), 0
            yield moment(step, point)
    book = block.ledger
    end, steps, outcome = book.points[0], int(book.steps[0]), Outcome.from_code(int(book.outcome[0]))
    if np.isfinite(end).all():
        last = moment(steps, end)
        yield last
        sigma = problem.activation if isinstance(problem, TwoLayer) else None
        additive = sigma is not None and sigma.homogeneous == 1
        odd = sigma.odd if sigma is not None else isinstance(problem, Charges) and problem.law.name == "sign"
        where = arrivals(np.asarray(energy.teacher), last.positions, additive=additive, odd=odd)
        yield Watched(outcome, steps, int(book.halvings[0]), last.positions, last.value, where)
    else:
        yield Watched(outcome, steps, int(book.halvings[0]), end, float("nan"), ())
