"""One pool of lanes of several problems, for a device that wants large blocks: lanes are tested, and stopped, where they are.

A GPU takes a step of a hundred lanes in the time of one of a thousand, and waits whenever the host is asked. So lanes of all
problems that fit into arrays of one size run together, for thousands of steps in one program, and the host hears of a lane
only when its judge could want to look at it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.descent.base import Descent, along
from earnshaw.descent.judges import judge_for
from earnshaw.descent.judges.base import Look
from earnshaw.descent.judges.newton import NewtonJudge, Stationarity, Wake, papers_own
from earnshaw.descent.newton.polish import Polished, polish
from earnshaw.descent.outcomes import Ledger, Stopping
from earnshaw.errors import InputError
from earnshaw.landscapes import landscape
from earnshaw.landscapes.two_layer import TwoLayerLandscape
from earnshaw.numerics import compiled
from earnshaw.problems import Problem

MULTIPLE = 4  # sizes of arrays
SLOTS = (128, 1024, 8192)  # sizes of the pool, and of what goes to it or to Newton's method; each is a program
NEWTON = SLOTS[1]  # lanes that Newton's method takes together
PATIENCE = 100  # looks in one call, some tenths of a second: another pool waits, or the host is asked to stop


def obstacle(problem: Problem, descent: Descent, stopping: Stopping) -> str | None:
    """Return, in words, why runs of this cannot share a pool; None where they can."""
    whole = descent.leaves_padding_alone and stopping.max_steps % descent.check_every == 0
    covered = papers_own(problem, descent, stopping) and whole
    return None if covered else "it is for ReLU, a teacher of coordinate vectors and gradient descent without a trace"


def require(problem: Problem, descent: Descent, stopping: Stopping) -> None:
    """Raise :class:`InputError` where runs of this cannot share a pool."""
    if found := obstacle(problem, descent, stopping):
        raise InputError(
            f"a pool cannot compute {problem.name}: {found}; use the kernel xla, and --mixed where a folder was begun with the pool"
        )


def pool_size(problem: Problem) -> int:
    """Return the size of the arrays that runs of this need: n, k and d rounded up; runs of one size share a pool."""
    return -(-max(*problem.shape, len(problem.anchors)) // MULTIPLE) * MULTIPLE


class Flow(NamedTuple):
    """The lanes of a pool on the device, (slots, ...) each: who goes on, and what the tests need to know."""

    state: Any
    charges: jax.Array
    going: jax.Array
    steps: jax.Array
    next_test: jax.Array
    wake: Wake


@functools.partial(compiled, static_argnums=(0, 1))
def _drift(
    descent: Descent, max_steps: int, landscape: TwoLayerLandscape, flow: Flow, enough: jax.Array
) -> tuple[Flow, jax.Array]:
    """Take steps and look again and again; a lane that stirs stays where it is. Until ``enough`` of them do."""
    landscape = replace(landscape, charges=flow.charges)

    def look(carry: tuple) -> tuple:
        looks, flow, _, stirring = carry
        moved = jax.lax.fori_loop(0, descent.check_every, lambda _, s: descent.advance(landscape, s), flow.state)
        state = jax.tree.map(lambda new, old: jnp.where(along(flow.going, new), new, old), moved, flow.state)
        steps = flow.steps + descent.check_every * flow.going
        rows = NewtonJudge.report(landscape, state.point)
        stirs = flow.going & flow.wake.needed(rows, steps, flow.next_test, max_steps)
        flow = flow._replace(state=state, steps=steps, going=flow.going & ~stirs)
        return looks + 1, flow, jnp.stack(rows), stirring + jnp.sum(stirs)

    def goes_on(carry: tuple) -> jax.Array:
        looks, flow, _, stirring = carry
        return (looks < PATIENCE) & (stirring < enough) & jnp.any(flow.going)

    rows = jnp.zeros((len(Stationarity._fields), flow.steps.shape[0]))
    _, flow, rows, _ = jax.lax.while_loop(goes_on, look, (0, flow, rows, jnp.int64(0)))
    return flow, rows


@functools.partial(compiled, static_argnums=0)
def _begin(descent: Descent, landscape: TwoLayerLandscape, points: jax.Array, scale: jax.Array) -> Any:
    return descent.init(landscape, points, scale, jnp.zeros((points.shape[0], 2), dtype=jnp.uint32))


@compiled
def _put(flow: Flow, slots: jax.Array, fresh: Flow) -> Flow:
    """Return the flow with fresh lanes in these slots; a slot beyond the last is dropped."""
    return jax.tree.map(lambda old, new: old.at[slots].set(new, mode="drop"), flow, fresh)


@compiled
def _take(tree: Any, slots: jax.Array) -> Any:
    return jax.tree.map(lambda leaf: leaf[slots], tree)


def _room(count: int) -> int:
    """Return the smallest size of the programs that holds so many lanes."""
    return next((size for size in SLOTS if size >= count), SLOTS[-1])


def _filled(slots: np.ndarray, size: int, by: int) -> np.ndarray:
    return np.concatenate([slots, np.full(size - slots.size, by)])


class _Crew:
    """The runs of one problem: its judge, its ledger, and where its lanes stand among those of the pool."""

    def __init__(self, landscape: Any, judge: Any, starts: np.ndarray, first: int, newton: Callable) -> None:
        self.ledger, self.first, self.left = Ledger(starts), first, len(starts)
        self.inner = (slice(None), *(slice(size) for size in landscape.shape))
        self.newton = newton
        self.judge: NewtonJudge = replace(judge, newton=self._known)

    def _known(self, lanes: np.ndarray, points: np.ndarray) -> Polished | None:
        known = self.newton(self.first + lanes)
        return known and known._replace(point=known.point[self.inner])


class Pool:
    """Runs of several problems, each with its starts (runs, n, d), whose arrays have one size, on their way together."""

    def __init__(self, several: Sequence[tuple[Problem, np.ndarray]], descent: Descent, stopping: Stopping) -> None:
        self.descent, self.max_steps = descent, stopping.max_steps
        size, counts = pool_size(several[0][0]), [len(starts) for _, starts in several]
        firsts, energies = np.cumsum([0, *counts]).tolist(), [landscape(problem) for problem, _ in several]
        self.crews = [
            _Crew(energy, judge_for(energy, problem, descent, stopping), starts, first, self._known)
            for energy, (problem, starts), first in zip(energies, several, firsts, strict=False)
        ]
        wide: list[Any] = [
            energy.padded(starts, MULTIPLE, size) for energy, (_, starts) in zip(energies, several, strict=True)
        ]
        self.landscape: TwoLayerLandscape = wide[0][0]
        # Of every lane: its problem, its place there, and where it starts; of every problem: charges, limits, a vector.
        self.owner, self.lane = np.repeat(np.arange(len(several)), counts), np.concatenate([*map(np.arange, counts)])
        self.starts = np.concatenate([np.asarray(points) for _, points in wide])
        self.charges = np.stack([np.asarray(landscape.charges) for landscape, _ in wide])
        self.wake = np.array([crew.judge.wake() for crew in self.crews])
        self.low = np.array([crew.judge.units.low for crew in self.crews])
        self.probes = np.zeros((len(several), size, size))
        for probe, crew in zip(self.probes, self.crews, strict=True):
            probe[crew.inner[1:]] = crew.judge.probe
        self.patience = min(NEWTON, len(self.owner) // 8)  # lanes that wait for Newton's method
        self.known: Polished | None = None  # what Newton's method made of some lanes, and in which row
        self.row = np.full(len(self.owner), -1)
        self.queue = np.arange(len(self.owner))
        self.slots = np.full(_room(len(self.queue)), -1)  # the lane in each; -1: empty
        self.flow = self._fresh(np.zeros(len(self.slots), dtype=np.int64))
        self.flow = self.flow._replace(going=jnp.zeros(len(self.slots), dtype=bool))

    def run(self, cancelled: Callable[[], bool]) -> Iterator[tuple[int, Ledger]]:
        """Run every lane to its fate; yield each problem's place and ledger when its last lane is decided."""
        while True:
            self._fill()
            occupied = int((self.slots >= 0).sum())
            if not occupied:
                return
            if cancelled():
                raise InterruptedError("the descent was cancelled")
            enough = np.int64(max(1, occupied // (8 if self.queue.size else 4)))
            self.flow, rows = _drift(self.descent, self.max_steps, self.landscape, self.flow, enough)
            going = np.asarray(self.flow.going)
            stirring = np.flatnonzero((self.slots >= 0) & ~going)
            if stirring.size:
                yield from self._decide(stirring, Stationarity(*np.asarray(rows)[:, stirring]), int(going.sum()))

    def _fresh(self, lanes: np.ndarray) -> Flow:
        """Return lanes at their start, or at the start of another attempt."""
        owners, zeros = self.owner[lanes], jnp.zeros(lanes.size, dtype=jnp.int64)
        scale = np.array(
            [self.crews[owner].ledger.scale[self.lane[lane]] for owner, lane in zip(owners, lanes, strict=True)]
        )
        return Flow(
            state=_begin(self.descent, self.landscape, jnp.asarray(self.starts[lanes]), scale),
            charges=jnp.asarray(self.charges[owners]),
            going=jnp.ones(lanes.size, dtype=bool),
            steps=zeros,
            next_test=zeros,
            wake=Wake(*jnp.asarray(self.wake[owners].T)),
        )

    def _fill(self) -> None:
        """Put waiting lanes into empty slots; where none waits and the pool is nearly empty, make it smaller."""
        empty, full = np.flatnonzero(self.slots < 0), np.flatnonzero(self.slots >= 0)
        if self.queue.size and empty.size:
            lanes, self.queue = self.queue[: empty.size], self.queue[empty.size :]
            slots, room = empty[: lanes.size], _room(lanes.size)
            self.flow = _put(
                self.flow, _filled(slots, room, len(self.slots)), self._fresh(_filled(lanes, room, lanes[0]))
            )
            self.slots[slots] = lanes
        elif not self.queue.size and full.size > 0 and _room(full.size) < len(self.slots):
            room = _room(full.size)
            self.flow = _take(self.flow, _filled(full, room, full[0]))
            self.slots = _filled(self.slots[full], room, -1)
            self.flow = self.flow._replace(going=self.flow.going & (self.slots >= 0))

    def _decide(self, slots: np.ndarray, report: Stationarity, others: int) -> Iterator[tuple[int, Ledger]]:
        """Let the judges look at the lanes in these slots; those that are not decided go on.

        As long as more ``others`` are on their way, lanes for which Newton's method must be asked wait until they fill a block:
        it takes as long for one.
        """
        room, lanes = _room(slots.size), self.slots[slots]
        held = _take((self.flow.state, self.flow.steps, self.flow.next_test), _filled(slots, room, slots[0]))
        state, steps, next_test = jax.tree.map(lambda leaf: np.asarray(leaf)[: slots.size].copy(), held)
        asked = self._asks(lanes, state.point, report, steps, next_test)
        if np.count_nonzero(asked) < min(self.patience, others):
            now = np.flatnonzero(~asked)
            slots, lanes, steps, next_test = slots[now], lanes[now], steps[now], next_test[now]
            state, report = jax.tree.map(lambda leaf: leaf[now], state), Stationarity(*(row[now] for row in report))
        else:
            self._ask(lanes[asked], state.point[asked])
        if not slots.size:
            return
        over, again = np.zeros((2, slots.size), dtype=bool)
        for owner in np.unique(self.owner[lanes]):
            crew, mine = self.crews[owner], np.flatnonzero(self.owner[lanes] == owner)
            ledger, places = crew.ledger, self.lane[lanes[mine]]
            ledger.steps[places] = steps[mine]
            look = Look(ledger, places, state.point[mine][crew.inner], Stationarity(*(row[mine] for row in report)))
            over[mine], again[mine] = crew.judge.decide(look)
            next_test[mine] = ledger.next_test[places]
            ended = mine[over[mine] | again[mine]]
            cost = self.descent.evaluations(jax.tree.map(lambda leaf, at=ended: leaf[at], state), steps[ended])
            ledger.gradients[self.lane[lanes[ended]]] += cost.gradients
            ledger.hessians[self.lane[lanes[ended]]] += cost.hessians
            crew.left -= int(over[mine].sum())
            if over[mine].any() and not crew.left:
                yield int(owner), ledger
        self.row[lanes] = -1
        self.queue = np.concatenate([lanes[again], self.queue])
        self.slots[slots[over | again]] = -1
        room = _room(slots.size)
        news = _filled(~(over | again), room, False), _filled(next_test, room, 0)
        old = self.flow.going, self.flow.next_test
        going, due = _put(old, _filled(slots, room, len(self.slots)), news)
        self.flow = self.flow._replace(going=going, next_test=due)

    def _asks(
        self, lanes: np.ndarray, points: np.ndarray, report: Stationarity, steps: np.ndarray, next_test: np.ndarray
    ) -> np.ndarray:
        """Return for which lanes a judge will ask for Newton's method, as a mask."""
        owners = self.owner[lanes]
        wake = Wake(*self.wake[owners].T)
        tested = (report.steepest <= wake.slow) & (steps >= next_test) | (report.steepest <= wake.still)
        going = (report.value >= self.low[owners]) & (report.steepest <= wake.steep)
        asked = going & (tested | (steps >= self.max_steps))
        for slot in np.flatnonzero(asked):
            crew = self.crews[owners[slot]]
            asked[slot] = not crew.judge.has_arrived(int(self.lane[lanes[slot]]), points[slot][crew.inner[1:]])
        return asked

    def _ask(self, lanes: np.ndarray, points: np.ndarray) -> None:
        """Follow Newton's method from these lanes, in blocks that are full."""
        owners, results = self.owner[lanes], []
        for begin in range(0, lanes.size, NEWTON):
            some = np.arange(begin, min(begin + NEWTON, lanes.size))
            around = _filled(some, _room(some.size), some[0])
            landscape = replace(self.landscape, charges=jnp.asarray(self.charges[owners[around]]))
            crews = [self.crews[owner] for owner in owners[around]]
            lengths = [
                crew.judge.lengths(crew.ledger, lane)
                for crew, lane in zip(crews, self.lane[lanes[around]], strict=True)
            ]
            found = polish(landscape, points[around], self.probes[owners[around]], np.array(lengths))
            results.append(jax.tree.map(lambda leaf, count=some.size: np.asarray(leaf)[:count], found))
        if results:
            self.known = jax.tree.map(lambda *rows: np.concatenate(rows), *results)
            self.row[lanes] = np.arange(lanes.size)

    def _known(self, lanes: np.ndarray) -> Polished | None:
        """Return what Newton's method made of these lanes; None where it was not asked."""
        rows = self.row[lanes]
        return None if self.known is None or (rows < 0).any() else jax.tree.map(lambda array: array[rows], self.known)
