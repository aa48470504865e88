"""Many descents at once: a block of lanes of fixed shape, in which a new lane takes the place of a decided one."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, field

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.descent.gradient_descent import DescentState, GradientDescent, Stop
from earnshaw.descent.newton import polish, settle
from earnshaw.descent.outcomes import Outcome, Runs, Trace
from earnshaw.landscapes import TwoLayerLandscape, landscape
from earnshaw.numerics import TOLERANCES, compiled
from earnshaw.problems import TwoLayer

POLISH_LANES = 2  # lanes that Newton's method takes together; few come due at the same check
TAIL_BLOCK = 8  # the block shrinks to this when no more lanes than that are left
TEST_GRADIENT = 1e-4  # no Newton test while a neuron's gradient is above this (relative to the teacher's neurons)
TEST_PATIENCE = 500  # steps to wait after a test that met negative curvature
LONG_WAIT = 10_000  # steps to the ball of the Newton test that are too many to wait for
UNDECIDED_CODE = Outcome.UNDECIDED.code


@functools.partial(compiled, static_argnums=0)
def _advance(
    descent: GradientDescent, energy: TwoLayerLandscape, state: DescentState, steps: jax.Array
) -> tuple[DescentState, jax.Array]:
    """Take some steps; report value, largest neuron gradient, gradient norm and shortest neuron of each lane."""
    state = jax.lax.fori_loop(0, steps, lambda _, s: descent.advance(energy, s), state)
    gradient = energy.gradient(state.weights)
    by_neuron = jnp.linalg.norm(gradient, axis=-1)
    report = [
        energy.value(state.weights),
        jnp.max(by_neuron, -1),
        jnp.linalg.norm(by_neuron, axis=-1),
        jnp.min(jnp.linalg.norm(state.weights, axis=-1), -1),
    ]
    return state, jnp.stack(report)


@dataclass
class _Ledger:
    """What is known of every lane of a batch, on the host."""

    starts: np.ndarray
    step_size: np.ndarray
    steps: np.ndarray = field(init=False)  # of this attempt
    wasted: np.ndarray = field(init=False)  # of attempts that diverged
    next_test: np.ndarray = field(init=False)
    halvings: np.ndarray = field(init=False)
    outcome: np.ndarray = field(init=False)
    by_value: np.ndarray = field(init=False)
    value: np.ndarray = field(init=False)
    gradient_norm: np.ndarray = field(init=False)
    weights: np.ndarray = field(init=False)
    last_weights: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        lanes = len(self.starts)
        self.steps, self.wasted, self.next_test, self.halvings = (np.zeros(lanes, dtype=np.int64) for _ in range(4))
        self.outcome = np.full(lanes, UNDECIDED_CODE, dtype=np.int8)
        self.by_value = np.zeros(lanes, dtype=bool)
        self.value, self.gradient_norm = np.full(lanes, np.nan), np.full(lanes, np.nan)
        self.weights, self.last_weights = self.starts.copy(), self.starts.copy()


def run_lanes(
    problem: TwoLayer,
    descent: GradientDescent,
    starts: np.ndarray,
    lanes: np.ndarray,
    batch: int,
    cancelled: Callable[[], bool] = lambda: False,
) -> tuple[Runs, Trace | None]:
    """Run the descent from every start and decide each run's outcome.

    Parameters
    ----------
    starts : (lanes, n, d) array
    lanes : (lanes,) array of the runs' indices, only carried through.
    batch : lanes computed together. A decided lane makes room for the next; when none is left and the block is nearly
        empty, it shrinks. What a lane computes depends on these arguments alone.
    cancelled : asked between steps; when it says so, :class:`InterruptedError` is raised and the piece is lost.
    """
    return _Piece(problem, descent, starts, lanes).run(batch, cancelled)


class _Piece:
    """Some lanes on their way: a block of device arrays, and the ledger of every lane."""

    def __init__(self, problem: TwoLayer, descent: GradientDescent, starts: np.ndarray, lanes: np.ndarray) -> None:
        self.problem, self.descent, self.lanes = problem, descent, lanes
        self.energy = landscape(problem)
        self.law = type(descent)()  # a step reads the state alone, so one program serves all settings
        self.unit = math.sqrt(problem.scale / problem.teachers)
        self.paper_value_holds = problem.is_orthonormal and problem.teachers <= TOLERANCES.paper_neurons
        self.ledger = _Ledger(starts, np.full(len(starts), descent.step))
        self.records: list[tuple[int, int, float, float, np.ndarray]] = []

    def run(self, batch: int, cancelled: Callable[[], bool]) -> tuple[Runs, Trace | None]:
        """Advance, test and refill until every lane is decided."""
        book, descent = self.ledger, self.descent
        stride = math.gcd(descent.check_every, descent.max_steps, descent.trace)
        sizes = (min(TAIL_BLOCK, batch), batch)
        alive, waiting = np.arange(0), np.arange(len(book.starts))
        weights = book.starts[:0]
        state, changed = self._block(alive, weights, batch), True
        while alive.size or waiting.size:
            if cancelled():
                raise InterruptedError("the descent was cancelled")
            if changed:
                kept, room = alive.size, batch - alive.size
                alive = np.concatenate([alive, waiting[:room]])
                weights = np.concatenate([weights, book.starts[waiting[:room]]])
                waiting = waiting[room:]
                state = self._block(alive, weights, min(size for size in sizes if size >= alive.size))
                if descent.trace and alive.size > kept:
                    _, report = _advance(self.law, self.energy, state, jnp.asarray(0))
                    self._record(alive[kept:], weights[kept:], np.asarray(report)[:, kept : alive.size])
            state, report = _advance(self.law, self.energy, state, jnp.asarray(stride))
            report = np.asarray(report)[:, : alive.size]
            book.steps[alive] += stride
            if descent.trace:
                self._record(alive, np.asarray(state.weights)[: alive.size], report)
            ready = (book.steps[alive] % descent.check_every == 0) | (book.steps[alive] >= descent.max_steps)
            decided, restarted = self._judge(alive, report, state, ready)
            changed = bool((decided | restarted).any())
            if changed:
                weights = np.array(state.weights)[: alive.size]
                weights[restarted] = book.starts[alive[restarted]]
                alive, weights = alive[~decided], weights[~decided]
        runs = Runs(
            problem=self.problem,
            run=np.asarray(self.lanes, dtype=np.int64),
            outcome=book.outcome,
            value=book.value,
            gradient_norm=book.gradient_norm,
            min_eigenvalue=np.full(len(self.lanes), np.nan),
            steps=book.steps + book.wasted,
            halvings=book.halvings,
            by_value=book.by_value,
            weights=book.weights,
            last_weights=book.last_weights,
        )
        return runs, self._trace() if descent.trace else None

    def _block(self, alive: np.ndarray, weights: np.ndarray, size: int) -> DescentState:
        """Return a block of exactly this size: the live lanes first, then parked copies of a start."""
        block = np.broadcast_to(self.ledger.starts[0], (size, *self.ledger.starts.shape[1:])).copy()
        steps = np.zeros(size)
        block[: alive.size], steps[: alive.size] = weights, self.ledger.step_size[alive]
        return self.descent.init(block, steps)

    def _judge(
        self, alive: np.ndarray, report: np.ndarray, state: DescentState, ready: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Apply the stop tests, each a function of one lane alone; return which lanes are decided, and which restart."""
        book, descent = self.ledger, self.descent
        if not ready.any():
            return np.zeros_like(ready), np.zeros_like(ready)
        value, steepest, norm, shortest = report
        early = descent.stop is Stop.EARLY
        lost = ready & (~np.isfinite(value) | ~np.isfinite(norm) | (steepest > TOLERANCES.divergence * self.unit))
        stationary = ready & (steepest <= TOLERANCES.paper_gradient * self.unit)
        capped = ready & (book.steps[alive] >= descent.max_steps)
        low = value < max(TOLERANCES.global_value * self.problem.scale, TOLERANCES.paper_value * self.paper_value_holds)
        reached = ~lost & low & (ready if early else stationary)
        dead = ~lost & ~low & (shortest < TOLERANCES.dead_neuron * self.unit) & (ready if early else stationary)
        open_lanes = ready & ~(lost | reached | dead)
        due = early & (steepest <= TEST_GRADIENT * self.unit) & (book.steps[alive] >= book.next_test[alive])
        tested = open_lanes & (due | stationary | (capped & early))

        restarted = np.zeros(alive.size, dtype=bool)
        for slot in np.flatnonzero(lost):
            restarted[slot] = self._restart(alive[slot])
        decided = reached | dead | (lost & ~restarted)
        weights = np.asarray(state.weights)[: alive.size]
        finished = alive[decided]
        book.weights[finished] = book.last_weights[finished] = weights[decided]
        book.value[finished], book.gradient_norm[finished] = value[decided], norm[decided]
        for slots, outcome in (
            (reached, Outcome.GLOBAL),
            (dead, Outcome.DEGENERATE),
            (lost & ~restarted, Outcome.DIVERGED),
        ):
            book.outcome[alive[slots]] = outcome.code
        slots = np.flatnonzero(tested)
        for begin in range(0, slots.size, POLISH_LANES):
            some = slots[begin : begin + POLISH_LANES]
            decided[some] = self._newton_test(alive[some], weights[some], stationary[some])
        # The step limit: the paper's value test decides in paper mode; otherwise only a global minimum close by does.
        for slot in np.flatnonzero(capped & ~decided & ~restarted):
            lane = alive[slot]
            self._close(lane, weights[slot], weights[slot], value[slot], norm[slot], Outcome.UNDECIDED)
            if early:
                self._try_flat_minimum(lane, weights[slot])
            elif self.paper_value_holds and self.problem.is_realisable:
                book.outcome[lane] = (Outcome.GLOBAL if low[slot] else Outcome.SPURIOUS).code
                book.by_value[lane] = True
            decided[slot] = True
        return decided, restarted

    def _restart(self, lane: int) -> bool:
        """Send a diverged lane back to its start with half the step; return False when that was done too often."""
        book = self.ledger
        if book.halvings[lane] >= self.descent.max_halvings:
            return False
        book.halvings[lane] += 1
        book.step_size[lane] /= 2
        book.wasted[lane] += book.steps[lane]
        book.steps[lane] = book.next_test[lane] = 0
        # The trajectory is that of the last attempt; only the start is common to all.
        self.records = [record for record in self.records if record[0] != self.lanes[lane] or record[1] == 0]
        return True

    def _newton_test(self, lanes: np.ndarray, weights: np.ndarray, stationary: np.ndarray) -> np.ndarray:
        """Decide the lanes that Newton's method finds inside the basin of a strict minimum, and the stationary ones.

        A lane is in the basin when the polished point W* has |W - W*| <= R with R L(R) <= 0.9 lambda_min, and the
        step is below 2 / (lambda_max + L R): then gradient descent contracts to W* (docs/certificates.md, Basin).
        A flat valley can take 1e5 steps to that ball; a lane that has more than ``LONG_WAIT`` before it is decided
        already when the curvature where it stands is at least half of that at W*.
        """
        book, count = self.ledger, len(lanes)
        block = np.concatenate([weights, np.repeat(weights[:1], POLISH_LANES - count, axis=0)])
        result = jax.tree.map(lambda array: np.asarray(array)[:count], polish(self.energy, jnp.asarray(block)))
        steps, smallest = book.step_size[lanes], result.smallest
        with np.errstate(divide="ignore", invalid="ignore"):
            wait = np.log(result.distance / (0.95 * result.radius)) / (steps * smallest)
        minimum = result.convex & (smallest > TOLERANCES.strict) & (steps * (result.largest + smallest) < 2)
        inside = minimum & (result.distance <= result.radius)
        inside |= minimum & (wait > LONG_WAIT) & (result.smallest_at_start > 0.5 * smallest)
        for slot in np.flatnonzero(inside):
            outcome = self._name(float(result.value[slot]), float(smallest[slot]))
            self._close(
                lanes[slot],
                result.weights[slot],
                weights[slot],
                result.value[slot],
                result.gradient_norm[slot],
                outcome,
            )
        for slot in np.flatnonzero(~inside & stationary):
            self._settle(lanes[slot], weights[slot])
        # Near a strict minimum the distance shrinks by 1 - step * lambda: wait until the ball should be reached.
        wait = np.where(minimum & np.isfinite(wait), np.clip(wait, 1, LONG_WAIT), TEST_PATIENCE)
        book.next_test[lanes] = book.steps[lanes] + np.ceil(wait).astype(np.int64)
        return inside | stationary

    def _try_flat_minimum(self, lane: int, weights: np.ndarray) -> None:
        """Call a lane at the step limit GLOBAL if Newton's method reaches the value 0 within a hundredth of its length.

        With more students than teachers the global minima form a flat set that descent approaches ever more slowly.
        """
        point, norm, _ = settle(self.energy, weights, iterations=100)
        value = float(self.energy.value(jnp.asarray(point)))
        near = np.linalg.norm(point - weights) <= 1e-2 * np.linalg.norm(weights)
        if near and value < TOLERANCES.global_value * self.problem.scale:
            self._close(lane, point, weights, value, norm, Outcome.GLOBAL)

    def _settle(self, lane: int, weights: np.ndarray) -> None:
        """Classify a lane that is stationary but in no proved-sized basin, by the spectrum where Newton's method leads."""
        point, norm, spectrum = settle(self.energy, weights)
        value = float(self.energy.value(jnp.asarray(point)))
        shortest = np.linalg.norm(point, axis=1).min()
        dead = shortest < TOLERANCES.dead_neuron * self.unit
        outcome = Outcome.DEGENERATE if dead else self._name(value, float(spectrum[0]))
        self._close(lane, point, weights, value, norm, outcome)

    def _name(self, value: float, smallest: float) -> Outcome:
        """Return the outcome of a stationary point with this value and smallest eigenvalue."""
        if value < TOLERANCES.global_value * self.problem.scale:
            return Outcome.GLOBAL
        if self.paper_value_holds and value < TOLERANCES.paper_value:
            return Outcome.GLOBAL
        if smallest < -TOLERANCES.strict:
            return Outcome.SADDLE
        if not self.problem.is_realisable:
            return Outcome.CONVERGED
        return Outcome.SPURIOUS if smallest > TOLERANCES.strict else Outcome.UNDECIDED

    def _close(
        self, lane: int, point: np.ndarray, last: np.ndarray, value: float, gradient_norm: float, outcome: Outcome
    ) -> None:
        book = self.ledger
        book.weights[lane], book.last_weights[lane] = point, last
        book.value[lane], book.gradient_norm[lane], book.outcome[lane] = value, gradient_norm, outcome.code

    def _record(self, alive: np.ndarray, weights: np.ndarray, report: np.ndarray) -> None:
        """Keep the moment of every lane whose step count is a multiple of the trace interval."""
        for slot in np.flatnonzero(self.ledger.steps[alive] % self.descent.trace == 0):
            lane, (value, _, norm, _) = alive[slot], report[:, slot]
            self.records.append(
                (int(self.lanes[lane]), int(self.ledger.steps[lane]), value, norm, weights[slot].copy())
            )

    def _trace(self) -> Trace:
        """Return the recorded moments by run and step."""
        ordered = sorted(self.records, key=lambda record: record[:2])
        run, step, value, norm, weights = zip(*ordered, strict=True)
        return Trace(np.array(run), np.array(step), np.array(value), np.array(norm), np.array(weights))
