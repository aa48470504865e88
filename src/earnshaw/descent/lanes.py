"""Many descents at once, from starts to fates: a block of lanes of fixed shape, in which a new one follows a decided one."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.descent import native
from earnshaw.descent.base import Descent
from earnshaw.descent.judges import judge_for
from earnshaw.descent.judges.base import Judge, Look
from earnshaw.descent.judges.newton import NewtonJudge, Stationarity, Wake, papers_own
from earnshaw.descent.optimizers.first_order import GradientDescent
from earnshaw.descent.outcomes import Begun, Ledger, Outcome, Stop, Stopping, Trace
from earnshaw.landscapes import lane_landscape
from earnshaw.landscapes.base import Landscape
from earnshaw.landscapes.columns import Columns
from earnshaw.landscapes.two_layer import TwoLayerLandscape
from earnshaw.numerics import compiled, lane_keys
from earnshaw.problems import Problem

STRIDES = 20  # between two snapshots at most: an interruption is heard then
STEP_MULTIPLE = 4  # XLA's loops are fastest at multiples of a vector, and fewer sizes are fewer programs


@dataclass(frozen=True, kw_only=True)
class Lanes:
    """What to run.

    Attributes
    ----------
    landscape, descent, judge : where, how, and who decides; the judge also knows when to stop.
    starts : ``(lanes, *shape)`` array
    indices : (lanes,) array of the runs' indices; with the seed they determine each lane's random numbers.
    batch : lanes computed together. A decided lane makes room for the next; when none is left and the block is nearly
        empty, it shrinks. What a lane computes depends on these settings alone.
    padded : compute with sizes rounded up to multiples of four, which suits vectors and lets neighbours share a program; only
        for an algorithm that leaves padding alone.
    begun : how far the lanes have come already, for an algorithm whose state is its point; None: they are at their starts.
    wake : in the paper's own case: when the judge wants to look at a lane. Without a trace snapshots in between are left out.
    """

    landscape: Landscape
    descent: Descent
    judge: Judge
    starts: np.ndarray
    indices: np.ndarray
    batch: int
    seed: int = 0
    padded: bool = False
    begun: Begun | None = None
    wake: Wake | None = None


@dataclass(frozen=True)
class Snapshot:
    """Some lanes at one moment; numbers come from the device when they are asked for.

    Attributes
    ----------
    runs : (lanes,) the runs' indices.
    steps : (lanes,) steps of the present attempt: 0 where one begins, also after a restart.
    decided, restarted : (lanes,) whether the run's fate is in the ledger now; whether it diverged and will begin again.
    """

    runs: np.ndarray
    steps: np.ndarray
    decided: np.ndarray
    restarted: np.ndarray
    look: Callable[[], Any]
    place: Callable[[], np.ndarray]

    @property
    def report(self) -> Any:
        """What the judge asked for: ``value`` and ``gradient_norm``, (lanes,) each, and more."""
        return self.look()

    @property
    def points(self) -> np.ndarray:
        """The points, ``(lanes, *shape)``."""
        return self.place()


def run_lanes(
    lanes: Lanes,
    cancelled: Callable[[], bool] = lambda: False,
    observe: Callable[[Snapshot], None] = lambda snapshot: None,
) -> tuple[Ledger, Trace | None]:
    """Run the descent from every start, let the judge decide each lane, and trace it if the stop rules ask for that.

    ``cancelled`` is asked between steps; when it says so, :class:`InterruptedError` is raised and the piece is lost.
    ``observe`` sees every snapshot.
    """
    block, every = Block(lanes), lanes.judge.stopping.trace
    moments: dict[int, list[tuple]] = {}  # of the trace, by run
    for snapshot in block.snapshots():
        if cancelled():
            raise InterruptedError("the descent was cancelled")
        for lane in np.flatnonzero(snapshot.steps % every == 0) if every else ():
            run, step, report = int(snapshot.runs[lane]), int(snapshot.steps[lane]), snapshot.report
            if step == 0:
                moments[run] = []  # a run that begins again forgets its lost attempt
            numbers = report.value[lane], report.gradient_norm[lane]
            moments[run].append((run, step, *numbers, snapshot.points[lane].copy()))
        observe(snapshot)
    ordered = [moment for run in sorted(moments) for moment in moments[run]]
    return block.ledger, Trace(*map(np.array, zip(*ordered, strict=True))) if every else None


@functools.partial(compiled, static_argnums=(0, 1))
def _advance(
    descent: Descent, report: Callable, landscape: Landscape, state: Any, steps: jax.Array
) -> tuple[Any, jax.Array]:
    """Take some steps; report on each lane, in rows."""
    state = jax.lax.fori_loop(0, steps, lambda _, s: descent.advance(landscape, s), state)
    return state, jnp.stack(report(landscape, state.point))


@functools.partial(compiled, static_argnums=(0, 1, 2, 3), wide=True)
def _advance_until(
    descent: Descent,
    report: Callable,
    stride: int,
    max_steps: int,
    landscape: TwoLayerLandscape,
    state: Any,
    wake: Wake,
    most: jax.Array,
    occupied: jax.Array,
    steps: jax.Array,
    due: jax.Array,
) -> tuple[Any, jax.Array, jax.Array]:
    """Take a stride of steps and look, at ``most`` so many times, until a lane needs more than that; report on each lane, in rows, and
    count the strides. For the paper's own case, whose steps are taken with neurons as columns."""
    columns: Any = Columns.of(landscape)

    def look(carry: tuple) -> tuple:
        strides, state, _, _ = carry
        state = state._replace(point=columns.turned(state.point))
        state = jax.lax.fori_loop(0, stride, lambda _, s: descent.advance(columns, s), state)
        state = state._replace(point=columns.turned(state.point))
        rows, strides = report(landscape, state.point), strides + 1
        needed = wake.needed(rows, steps + stride * strides, due, max_steps)
        return strides, state, jnp.stack(rows), jnp.any(occupied & needed)

    def goes_on(carry: tuple) -> jax.Array:
        return (carry[0] < most) & ~carry[-1]

    none = jnp.zeros((len(Stationarity._fields), steps.shape[0]))
    strides, state, rows, _ = jax.lax.while_loop(goes_on, look, (jnp.int64(0), state, none, jnp.bool_(False)))
    return state, rows, strides


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


class Block:
    """Lanes on their way: a block of device arrays, and the ledger of every lane."""

    def __init__(self, lanes: Lanes) -> None:
        self.lanes, self.ledger = lanes, Ledger(lanes.starts, lanes.begun)
        self.sizes = block_sizes(lanes.batch)
        self._advance = functools.partial(_advance, lanes.descent, lanes.judge.report)
        self.inner = (slice(None), *(slice(size) for size in lanes.landscape.shape))  # without what is padded
        # Apart from the keys of random starts, which are those of the same lanes.
        keys = jax.vmap(jax.random.fold_in, in_axes=(0, None))(lane_keys(lanes.seed, lanes.indices), 1)
        self.keys = np.asarray(jax.random.key_data(keys))
        self.slots = np.zeros(0, dtype=np.int64)  # the lane in each slot of the block; -1 is an empty slot
        self.state: Any = None
        self.taken: Landscape | None = None  # that of the lanes in the block
        self.local = lanes.landscape  # and as it is computed with

    def snapshots(self) -> Iterator[Snapshot]:
        """Advance, test and refill until every lane is decided; yield new lanes where they begin, and all after some steps."""
        book, stopping, every = self.ledger, self.lanes.judge.stopping, self.lanes.descent.check_every
        stride = math.gcd(every, stopping.max_steps, stopping.trace)
        waiting = np.arange(len(book.starts))
        while True:
            fresh = self._fill(waiting)
            waiting = waiting[fresh.size :]
            if fresh.size:
                snapshot = self._snapshot(fresh)
                waiting = np.concatenate([self._decide(fresh, snapshot, np.flatnonzero(snapshot.steps)), waiting])
                yield snapshot
            occupied = np.flatnonzero(self.slots >= 0)
            if not occupied.size and not waiting.size:
                return
            if not occupied.size:
                continue
            alive = self.slots[occupied]
            report = self._move(stride)
            snapshot = self._snapshot(occupied, report)
            ready = np.flatnonzero((book.steps[alive] % every == 0) | (book.steps[alive] >= stopping.max_steps))
            waiting = np.concatenate([self._decide(occupied, snapshot, ready), waiting])
            yield snapshot

    def _move(self, stride: int) -> jax.Array:
        """Take a stride of steps, or several, until a lane needs a look; return the report on each."""
        book, wake, occupied = self.ledger, self.lanes.wake, self.slots >= 0
        strides: Any = 1
        if wake is None:
            self.state, report = self._advance(self.local, self.state, np.int64(stride))
        else:
            lanes, stopping = np.where(occupied, self.slots, 0), self.lanes.judge.stopping
            going = occupied, book.steps[lanes], book.next_test[lanes]
            how = self.lanes.descent, self.lanes.judge.report, stride, stopping.max_steps
            most = np.int64(1 if stopping.trace else STRIDES)
            self.state, report, strides = _advance_until(*how, self.local, self.state, wake, most, *going)
        book.steps[self.slots[occupied]] += stride * int(strides)
        return report

    def _decide(self, slots: np.ndarray, snapshot: Snapshot, ready: np.ndarray) -> np.ndarray:
        """Let the judge look at those lanes in these slots that are ready; return which begin again."""
        lanes = self.slots[slots]
        if ready.size:
            look = Look(self.ledger, lanes, snapshot.points, snapshot.report).only(ready)
            snapshot.decided[ready], snapshot.restarted[ready] = self.lanes.judge.decide(look)
            over = snapshot.decided | snapshot.restarted
            if over.any():
                self._count(slots[over], snapshot.steps[over])
                self.slots[slots[over]] = -1
        return lanes[snapshot.restarted]

    def _snapshot(self, slots: np.ndarray, report: jax.Array | None = None) -> Snapshot:
        """Return these slots as they are now; without a report, one that is made when it is asked for."""
        lanes, local, state = self.slots[slots], self.local, self.state

        # Not a cached_property: that of Python 3.11 has one lock for all threads, and these wait for the device.
        @functools.cache
        def look() -> Any:
            rows = self._advance(local, state, np.int64(0))[1] if report is None else report
            return self.lanes.judge.rows(*np.asarray(rows)[:, slots])

        @functools.cache
        def place() -> np.ndarray:
            return np.asarray(state.point)[self.inner][slots]

        decided, restarted = np.zeros((2, lanes.size), dtype=bool)
        steps = self.ledger.steps[lanes].copy()
        return Snapshot(self.lanes.indices[lanes], steps, decided, restarted, look, place)

    def _fill(self, waiting: np.ndarray) -> np.ndarray:
        """Put waiting lanes into empty slots, and shrink the block when it can; return the slots that are new."""
        kept = np.flatnonzero(self.slots >= 0)
        fresh = waiting[: self.lanes.batch - kept.size]
        lanes = np.concatenate([self.slots[kept], fresh])
        size = min(size for size in self.sizes if size >= lanes.size)
        if not lanes.size or (not fresh.size and size == self.slots.size):
            return fresh
        book = self.ledger
        parked = np.concatenate([lanes, np.full(size - lanes.size, lanes[0])])
        taken, points = self.lanes.landscape.take(parked), self._places(parked)
        if taken is not self.taken:
            self.taken, self.local = taken, taken.widened(STEP_MULTIPLE) if self.lanes.padded else taken
        points = self.local.room(points) if self.lanes.padded else points
        begun = _init(self.lanes.descent, self.local, points, book.scale[parked], self.keys[parked])
        if kept.size:
            old = jax.tree.map(lambda leaf: np.asarray(leaf)[kept], self.state)
            begun = jax.tree.map(lambda old, new: np.concatenate([old, np.asarray(new)[kept.size :]]), old, begun)
        self.state = jax.device_put(begun)
        self.slots = np.concatenate([lanes, np.full(size - lanes.size, -1)])
        return np.arange(kept.size, lanes.size)

    def _places(self, lanes: np.ndarray) -> np.ndarray:
        """Return where lanes begin: in their first attempt where somebody has taken them, if so, else at their start."""
        starts, begun = self.ledger.starts[lanes], self.lanes.begun
        if begun is not None:
            first = self.ledger.halvings[lanes] == 0
            starts[first] = begun.points[lanes[first]]
        return starts

    def _count(self, slots: np.ndarray, steps: np.ndarray) -> None:
        """Add up what an attempt has cost in these slots."""
        some = jax.tree.map(lambda leaf: np.asarray(leaf)[slots], self.state)
        cost, lanes = self.lanes.descent.evaluations(some, steps), self.slots[slots]
        self.ledger.gradients[lanes] += cost.gradients
        self.ledger.hessians[lanes] += cost.hessians


def descend(
    problem: Problem,
    descent: Descent,
    stopping: Stopping,
    starts: np.ndarray,
    lanes: np.ndarray,
    batch: int,
    seed: int = 0,
    cancelled: Callable[[], bool] = lambda: False,
    kernel: str = "xla",
    begun: Begun | None = None,
) -> tuple[Ledger, Trace | None, dict[str, np.ndarray]]:
    """Run a student from every start ``(lanes, *shape)``, or from where lanes have ``begun``, and say what became of each run.

    The ``kernel`` that takes the steps is ``xla`` (:func:`run_lanes`) or, where it covers the problem, ``native``. Also returned is what the
    landscape has of each lane alone, such as its teacher. An optimiser with a constant step may tremble about a minimum for
    ever. A run that is undecided at its step limit, but finite, is therefore finished by plain gradient descent from where
    it stands, and gets the fate of that.
    """
    energy = lane_landscape(problem, seed, lanes)
    own = energy.own_data()
    energy, points, lift = energy.reduced(starts)

    def run(
        chosen: Descent, limits: Stopping, points: np.ndarray, lanes: np.ndarray, begun: Begun | None = None
    ) -> tuple[Ledger, Trace | None]:
        judge = judge_for(energy, problem, chosen, limits)
        wake = None
        if papers_own(problem, chosen):
            assert isinstance(judge, NewtonJudge)
            wake = Wake(*map(np.float64, judge.wake()))
        if kernel == "native":
            native.require(problem, chosen, limits)
            assert isinstance(judge, NewtonJudge)
            return native.run(judge, chosen, points, cancelled, begun=begun), None
        place: Any = {
            "landscape": energy,
            "starts": points,
            "indices": lanes,
            "batch": batch,
            "seed": seed,
            "begun": begun,
            "wake": wake,
        }
        return run_lanes(Lanes(**place, descent=chosen, judge=judge, padded=chosen.leaves_padding_alone), cancelled)

    ledger, trace = run(descent, stopping, points, lanes, begun)
    left = np.flatnonzero(ledger.outcome == Outcome.UNDECIDED.code)
    if left.size and stopping.rule is Stop.EARLY and descent.step_length is None:
        limits = Stopping(max_steps=stopping.max_steps)
        finish, _ = run(GradientDescent(), limits, ledger.last_points[left], lanes[left])
        for name in ("points", "value", "gradient_norm", "outcome"):
            getattr(ledger, name)[left] = getattr(finish, name)
    ledger.points, ledger.last_points = lift(ledger.points), lift(ledger.last_points)
    return ledger, trace, own
