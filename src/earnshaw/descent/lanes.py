"""Many descents at once: a block of lanes of fixed shape, in which a new lane takes the place of a decided one."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.descent.base import Descent
from earnshaw.descent.judges.newton import Judge
from earnshaw.descent.ledger import Ledger
from earnshaw.descent.outcomes import Trace
from earnshaw.descent.stopping import Stopping
from earnshaw.landscapes.base import Landscape
from earnshaw.numerics import compiled, lane_keys

STEP_MULTIPLE = 2  # padding to more would cost more steps than it saves compilations


@functools.partial(compiled, static_argnums=(0, 1))
def _advance(
    descent: Descent, report: Callable, landscape: Landscape, state: Any, steps: jax.Array
) -> tuple[Any, jax.Array]:
    """Take some steps; report on each lane."""
    state = jax.lax.fori_loop(0, steps, lambda _, s: descent.advance(landscape, s), state)
    return state, report(landscape, state.point)


@functools.partial(compiled, static_argnums=0)
def _init(descent: Descent, landscape: Landscape, points: jax.Array, scale: jax.Array, keys: jax.Array) -> Any:
    return descent.init(landscape, points, scale, keys)


def block_sizes(batch: int) -> list[int]:
    """Return the shapes that a block may take, ascending: the batch, and smaller ones for the last lanes.

    Each costs a compilation, and without them the slowest lanes would carry an empty block to the end. The last bits of
    a lane depend on the sizes of the blocks that it has been in, and so on the lanes of its piece, but on nothing else.
    """
    smallest = max(min(batch, 2), min(batch // 16, 8))
    sizes, size = [smallest, batch], batch // 4
    while size > smallest:
        sizes.append(size)
        size //= 8
    return sorted(set(sizes))


def run_lanes(
    landscape: Landscape,
    descent: Descent,
    judge: Judge,
    stopping: Stopping,
    starts: np.ndarray,
    lanes: np.ndarray,
    batch: int,
    seed: int = 0,
    cancelled: Callable[[], bool] = lambda: False,
    padded: bool = False,
) -> tuple[Ledger, Trace | None]:
    """Run the descent from every start and let the judge decide each lane.

    Parameters
    ----------
    starts : ``(lanes, *shape)`` array
    lanes : (lanes,) array of the runs' indices; with the seed they determine each lane's random numbers.
    batch : lanes computed together. A decided lane makes room for the next; when none is left and the block is nearly
        empty, it shrinks. What a lane computes depends on these arguments alone.
    cancelled : asked between steps; when it says so, :class:`InterruptedError` is raised and the piece is lost.
    padded : compute with sizes rounded up to even ones, so that neighbours share a program; only for an algorithm that
        leaves alone what has gradient 0.
    """
    return _Piece(landscape, descent, judge, stopping, starts, lanes, seed, padded).run(batch, cancelled)


class _Piece:
    """Some lanes on their way: a block of device arrays, and the ledger of every lane."""

    def __init__(
        self,
        landscape: Landscape,
        descent: Descent,
        judge: Judge,
        stopping: Stopping,
        starts: np.ndarray,
        lanes: np.ndarray,
        seed: int,
        padded: bool,
    ) -> None:
        self.padded, self.inner = padded, (slice(None), *(slice(size) for size in landscape.shape))
        self.landscape, self.descent, self.judge, self.stopping = landscape, descent, judge, stopping
        self.lanes, self.ledger = lanes, Ledger(starts)
        # Apart from the keys of random starts, which are those of the same lanes.
        keys = jax.vmap(jax.random.fold_in, in_axes=(0, None))(lane_keys(seed, lanes), 1)
        self.keys = np.asarray(jax.random.key_data(keys))
        self.records: list[tuple[int, int, float, float, np.ndarray]] = []
        self.slots = np.zeros(0, dtype=np.int64)  # the lane in each slot of the block; -1 is an empty slot
        self.state: Any = None
        self.local = landscape  # of the lanes in the block

    def run(self, batch: int, cancelled: Callable[[], bool]) -> tuple[Ledger, Trace | None]:
        """Advance, test and refill until every lane is decided."""
        book, stopping, every = self.ledger, self.stopping, self.descent.check_every
        stride = math.gcd(every, stopping.max_steps, stopping.trace)
        sizes = block_sizes(batch)
        waiting = np.arange(len(book.starts))
        while True:
            waiting = self._fill(waiting, batch, sizes)
            occupied = np.flatnonzero(self.slots >= 0)
            if not occupied.size:
                break
            if cancelled():
                raise InterruptedError("the descent was cancelled")
            alive = self.slots[occupied]
            self.state, report = self._steps(stride)
            report = np.asarray(report)[:, occupied]
            book.steps[alive] += stride
            if stopping.trace:
                self._record(occupied, report)
            ready = (book.steps[alive] % every == 0) | (book.steps[alive] >= stopping.max_steps)
            if not ready.any():
                continue
            points = self._points()[occupied]
            taken = book.steps[alive].copy()
            decided, restarted = self.judge.decide(book, alive, points, report, ready)
            over = decided | restarted
            if not over.any():
                continue
            self._count(occupied[over], taken[over])
            self._forget(alive[restarted])
            waiting = np.concatenate([alive[restarted], waiting])
            self.slots[occupied[over]] = -1
        return book, self._trace() if stopping.trace else None

    def _steps(self, count: int) -> tuple[Any, jax.Array]:
        return _advance(self.descent, self.judge.report, self.local, self.state, np.int64(count))

    def _points(self) -> np.ndarray:
        """Return the points of the block, without what was padded."""
        return np.asarray(self.state.point)[self.inner]

    def _fill(self, waiting: np.ndarray, batch: int, sizes: list[int]) -> np.ndarray:
        """Put waiting lanes into empty slots, and shrink the block when it can; return the lanes that still wait."""
        kept = np.flatnonzero(self.slots >= 0)
        fresh = waiting[: batch - kept.size]
        lanes = np.concatenate([self.slots[kept], fresh])
        size = min(size for size in sizes if size >= lanes.size)
        if not lanes.size or (not fresh.size and size == self.slots.size):
            return waiting
        book = self.ledger
        parked = np.concatenate([lanes, np.full(size - lanes.size, lanes[0])])
        self.local, points = self.landscape.take(parked), book.starts[parked]
        if self.padded:
            self.local, points = self.local.padded(points, STEP_MULTIPLE)
        begun = _init(self.descent, self.local, points, book.scale[parked], self.keys[parked])
        if kept.size:
            begun = jax.tree.map(
                lambda old, new: np.concatenate([np.asarray(old)[kept], np.asarray(new)[kept.size :]]),
                self.state,
                begun,
            )
        self.state = jax.tree.map(jnp.asarray, begun)
        self.slots = np.concatenate([lanes, np.full(size - lanes.size, -1)])
        if self.stopping.trace and fresh.size:
            report = np.asarray(self._steps(0)[1])
            new = np.arange(kept.size, lanes.size)
            self._record(new, report[:, new])
        return waiting[fresh.size :]

    def _count(self, slots: np.ndarray, steps: np.ndarray) -> None:
        """Add up what an attempt has cost in these slots."""
        some = jax.tree.map(lambda leaf: np.asarray(leaf)[slots], self.state)
        cost, lanes = self.descent.evaluations(some, steps), self.slots[slots]
        self.ledger.gradients[lanes] += cost.gradients
        self.ledger.hessians[lanes] += cost.hessians

    def _forget(self, lanes: np.ndarray) -> None:
        """Drop the trajectories of attempts that diverged."""
        gone = set(self.lanes[lanes].tolist())
        self.records = [record for record in self.records if record[0] not in gone]

    def _record(self, slots: np.ndarray, report: np.ndarray) -> None:
        """Keep the moment of every lane whose step count is a multiple of the trace interval."""
        points = self._points()
        for slot, (value, _, norm, *_) in zip(slots, report.T, strict=True):
            lane = self.slots[slot]
            if self.ledger.steps[lane] % self.stopping.trace == 0:
                self.records.append(
                    (int(self.lanes[lane]), int(self.ledger.steps[lane]), value, norm, points[slot].copy())
                )

    def _trace(self) -> Trace:
        """Return the recorded moments by run and step."""
        ordered = sorted(self.records, key=lambda record: record[:2])
        run, step, value, norm, weights = zip(*ordered, strict=True)
        return Trace(np.array(run), np.array(step), np.array(value), np.array(norm), np.array(weights))
