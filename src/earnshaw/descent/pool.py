"""The first steps of many runs, on a device that wants large blocks: lanes of several problems in one array.

A GPU takes a step of a hundred lanes in the time of one of a thousand, and waits whenever the host is asked. So lanes of all
problems that fit into arrays of one size run together, for hundreds of steps in one program, and each leaves as soon as its
judge could want to look at it, or after ``HEAD`` steps: the few that take longer would keep a device waiting, which is no faster with
few. What becomes of it from there on is the host's affair, which has Newton's method and cores enough for that. The next start takes
its place.

All of it is one program of one size: the bits of a lane depend on its start and step alone, not on its company.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.descent.base import Descent, along
from earnshaw.descent.judges import judge_for
from earnshaw.descent.judges.newton import NewtonJudge, Stationarity, Wake, papers_own
from earnshaw.descent.outcomes import Begun, Stop, Stopping
from earnshaw.errors import InputError
from earnshaw.landscapes import landscape
from earnshaw.landscapes.two_layer import TwoLayerLandscape
from earnshaw.numerics import compiled, computing_on, on_host
from earnshaw.problems import Problem

MULTIPLE, LEAST = 4, 8  # sizes of arrays: each is a program
SLOTS = {"cpu": 256, "gpu": 8192}  # lanes of a pool
PORTION = 1024  # lanes that come or go together, at most
# Steps before a lane leaves. Of the paper's 210,000 runs 2900 take more; without Newton tests runs take several times as many.
HEAD = {Stop.EARLY: 8000, Stop.PAPER: 32_000}
LOOKS = 20  # in one call, some tenths of a second: another pool waits, or the host is asked to stop

Starts = Callable[[], np.ndarray]  # (runs, n, d), drawn when they are needed


def obstacle(problem: Problem, descent: Descent, stopping: Stopping) -> str | None:
    """Return, in words, why runs of this cannot share a pool; None where they can."""
    whole = descent.leaves_padding_alone and stopping.max_steps % descent.check_every == 0
    covered = papers_own(problem, descent) and not stopping.trace and whole
    return None if covered else "it is for ReLU, a teacher of coordinate vectors and gradient descent without a trace"


def require(problem: Problem, descent: Descent, stopping: Stopping) -> None:
    """Raise :class:`InputError` where runs of this cannot share a pool."""
    if found := obstacle(problem, descent, stopping):
        raise InputError(
            f"a pool cannot compute {problem.name}: {found}; use the kernel xla, and --mixed where a folder was begun with the pool"
        )


def pool_size(problem: Problem) -> int:
    """Return the size of the arrays that runs of this need: n, k and d rounded up; runs of one size share a pool."""
    return -(-max(*problem.shape, len(problem.anchors), LEAST) // MULTIPLE) * MULTIPLE


class Flow(NamedTuple):
    """The lanes of a pool on the device, (slots, ...) each: who goes on, and what the tests need to know."""

    state: Any
    charges: jax.Array
    going: jax.Array
    steps: jax.Array
    wake: Wake


@functools.partial(compiled, static_argnums=(0, 1))
def _drift(
    descent: Descent, limit: int, landscape: TwoLayerLandscape, flow: Flow, enough: jax.Array
) -> tuple[Flow, jax.Array]:
    """Take steps and look again and again, until ``enough`` lanes have stopped: one that needs a look stays where it is."""
    landscape = replace(landscape, charges=flow.charges)

    def look(carry: tuple) -> tuple:
        looks, flow, _, stopped = carry
        moved = jax.lax.fori_loop(0, descent.check_every, lambda _, s: descent.advance(landscape, s), flow.state)
        state = jax.tree.map(lambda new, old: jnp.where(along(flow.going, new), new, old), moved, flow.state)
        steps = flow.steps + descent.check_every * flow.going
        rows = NewtonJudge.report(landscape, state.point)
        stops = flow.going & flow.wake.needed(rows, steps, 0, limit)
        flow = flow._replace(state=state, steps=steps, going=flow.going & ~stops)
        return looks + 1, flow, jnp.stack(rows), stopped + jnp.sum(stops)

    def goes_on(carry: tuple) -> jax.Array:
        looks, flow, _, stopped = carry
        return (looks < LOOKS) & (stopped < enough) & jnp.any(flow.going)

    rows = jnp.zeros((len(Stationarity._fields), flow.steps.shape[0]))
    _, flow, rows, _ = jax.lax.while_loop(goes_on, look, (0, flow, rows, jnp.int64(0)))
    return flow, rows


@functools.partial(compiled, static_argnums=0)
def _fresh(descent: Descent, landscape: TwoLayerLandscape, points: jax.Array, charges: jax.Array, wake: Wake) -> Flow:
    """Return lanes that begin at these points."""
    lanes = points.shape[0]
    state = descent.init(landscape, points, jnp.ones(lanes), jnp.zeros((lanes, 2), dtype=jnp.uint32))
    return Flow(state, charges, jnp.ones(lanes, dtype=bool), jnp.zeros(lanes, dtype=jnp.int64), wake)


@compiled
def _put(flow: Flow, slots: jax.Array, fresh: Flow) -> Flow:
    """Return the flow with fresh lanes in these slots; a slot beyond the last is dropped."""
    return jax.tree.map(lambda old, new: old.at[slots].set(new, mode="drop"), flow, fresh)


@compiled
def _take(flow: Flow, rows: jax.Array, slots: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return the points of the lanes in these slots, their steps, and what was reported of them."""
    return flow.state.point[slots], flow.steps[slots], rows[:, slots]


def _filled(slots: np.ndarray, by: int) -> np.ndarray:
    """Return an array as long as the lanes that come or go together."""
    return np.concatenate([slots, np.full(PORTION - slots.size, by)])


class Waiting(NamedTuple):
    """Starts that wait, (runs, ...) each: their points, their problem, and their places among its runs."""

    points: np.ndarray
    owner: np.ndarray
    lane: np.ndarray


class _Member:
    """The runs of one problem: where they begin, and how far those have come that have left the pool."""

    def __init__(self, problem: Problem, starts: Starts) -> None:
        self.draw, self.inner = starts, (slice(None), *(slice(length) for length in problem.shape))

    def begin(self) -> np.ndarray:
        """Draw the starts."""
        starts = self.draw()
        self.left = len(starts)
        steps, report = np.zeros(self.left, dtype=np.int64), np.empty((len(Stationarity._fields), self.left))
        self.begun = Begun(np.empty_like(starts), steps, report)
        return starts

    def leave(self, lanes: np.ndarray, points: np.ndarray, steps: np.ndarray, rows: np.ndarray) -> float:
        """Enter how far some of the runs have come; return which share of all has left."""
        self.begun.points[lanes], self.begun.steps[lanes], self.begun.report[:, lanes] = points[self.inner], steps, rows
        self.left -= lanes.size
        return 1 - self.left / len(self.begun.steps)


class Pool:
    """Runs of several problems, each with its starts, whose arrays have one size, on their way together."""

    def __init__(self, several: Sequence[tuple[Problem, Starts]], descent: Descent, stopping: Stopping) -> None:
        self.descent, self.limit = descent, min(HEAD[stopping.rule], stopping.max_steps)
        self.members = [_Member(*one) for one in several]
        size, problems = pool_size(several[0][0]), {id(problem): problem for problem, _ in several}
        places = {key: place for place, key in enumerate(problems)}
        self.kind = np.array([places[id(problem)] for problem, _ in several])  # which problem each member has
        with on_host():
            energies: list[Any] = [landscape(problem) for problem in problems.values()]
            judges: list[Any] = [
                judge_for(energy, problem, descent, stopping)
                for energy, problem in zip(energies, problems.values(), strict=True)
            ]
            wide: list[TwoLayerLandscape] = [energy.widened(MULTIPLE, size) for energy in energies]
            self.charges = np.stack([np.asarray(energy.charges) for energy in wide])
            self.wake = np.array([judge.wake() for judge in judges])
        # But for the charges it is that of all.
        self.landscape = jax.tree.map(lambda leaf: jax.device_put(np.asarray(leaf)), wide[0])
        self.coming = deque(range(len(several)))  # members of which no run has begun
        self.waiting = Waiting(np.empty((0, size, size)), *np.empty((2, 0), dtype=np.int64))
        slots = SLOTS.get(computing_on(), SLOTS["gpu"])
        self.owner, self.lane = np.full((2, slots), -1)  # each slot's member, and its lane there; -1: empty
        nobody = self._begin(np.zeros((slots, size, size)), np.zeros(slots, dtype=np.int64))
        self.flow = nobody._replace(going=jnp.zeros(slots, dtype=bool))

    def run(
        self, cancelled: Callable[[], bool], heard: Callable[[int, float], None] = lambda place, share: None
    ) -> Iterator[tuple[int, Begun]]:
        """Take every run to where it needs a look; yield a member's place, and how far its runs are, when the last has left.

        ``heard`` is told of a member's place, and which share of its runs has left.
        """
        gone: list[int] = []
        self._fill()
        while (occupied := self.owner >= 0).any():
            if cancelled():
                raise InterruptedError("the descent was cancelled")
            enough = np.int64(len(self.owner) // 8 if self.waiting.lane.size or self.coming else len(self.owner))
            self.flow, rows = _drift(self.descent, self.limit, self.landscape, self.flow, enough)
            yield from self._handed(gone)  # while the device is busy, as is the next line
            self._draw(len(self.owner) // 4)
            stopped = np.flatnonzero(occupied & ~np.asarray(self.flow.going))
            portions = [stopped[begin : begin + PORTION] for begin in range(0, stopped.size, PORTION)]
            gone = [place for slots in portions for place in self._leave(slots, rows, heard)]
            self._fill()
        yield from self._handed(gone)

    def _handed(self, places: list[int]) -> Iterator[tuple[int, Begun]]:
        """Yield how far the runs of these members are, and forget it."""
        for place in places:
            yield place, self.members[place].begun
            del self.members[place].begun

    def _begin(self, points: np.ndarray, owners: np.ndarray) -> Flow:
        """Return lanes that begin at these points, of these members."""
        kinds = self.kind[owners]
        return _fresh(self.descent, self.landscape, points, self.charges[kinds], Wake(*self.wake[kinds].T))

    def _draw(self, count: int) -> None:
        """Draw starts, until so many wait."""
        while self.waiting.lane.size < count and self.coming:
            place = self.coming.popleft()
            points = np.asarray(self.landscape.room(self.members[place].begin()))
            fresh = Waiting(points, np.full(len(points), place), np.arange(len(points)))
            self.waiting = Waiting(*map(np.concatenate, zip(self.waiting, fresh, strict=True)))

    def _fill(self) -> None:
        """Put starts that wait into empty slots."""
        empty = np.flatnonzero(self.owner < 0)
        self._draw(empty.size)
        while empty.size and self.waiting.lane.size:
            room = min(PORTION, empty.size)
            some, rest = ([part[cut] for part in self.waiting] for cut in (slice(room), slice(room, None)))
            (points, owners, lanes), self.waiting = some, Waiting(*rest)
            slots, empty = empty[: lanes.size], empty[lanes.size :]
            self.owner[slots], self.lane[slots] = owners, lanes
            around = _filled(np.arange(slots.size), 0)  # the first one again, up to the size of the program
            fresh = self._begin(points[around], owners[around])
            self.flow = _put(self.flow, _filled(slots, len(self.owner)), fresh)

    def _leave(self, slots: np.ndarray, rows: jax.Array, heard: Callable[[int, float], None]) -> list[int]:
        """Let the lanes in these slots leave; return the members of which they were the last."""
        points, steps, report = map(np.asarray, _take(self.flow, rows, _filled(slots, 0)))
        owners, lanes, gone = self.owner[slots], self.lane[slots], []
        self.owner[slots] = -1
        for owner in np.unique(owners).tolist():
            member, mine = self.members[owner], np.flatnonzero(owners == owner)
            heard(owner, member.leave(lanes[mine], points[mine], steps[mine], report[:, mine]))
            gone += [] if member.left else [owner]
        return gone
