"""The judge of landscapes with exact derivatives: by value, by dead neurons, and by where Newton's method leads."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeGuard

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.descent.base import Descent
from earnshaw.descent.judges.base import Judge, Look, slopes
from earnshaw.descent.newton.dense import settle
from earnshaw.descent.newton.endings import flow_end, sharpen
from earnshaw.descent.newton.polish import Polished, polish
from earnshaw.descent.optimizers.first_order import GradientDescent
from earnshaw.descent.outcomes import Ledger, Outcome, Stop, Stopping
from earnshaw.landscapes.base import Landscape
from earnshaw.numerics import TOLERANCES, computing_on, on_host
from earnshaw.problems import TwoLayer
from earnshaw.problems.base import Problem

# All sizes are padded to one multiple of this for Newton's method: its program takes long to compile.
POLISH_MULTIPLE = 4
USUAL_STEP = 0.1  # by which waits are predicted for algorithms without a fixed step


def _together() -> int:
    """Return how many lanes Newton's method takes together: few come due at one check of a CPU's block, many of a GPU's."""
    return 2 if computing_on() == "cpu" else 256


class Stationarity(NamedTuple):
    """Of each lane: value, largest gradient of a neuron (a row of the point), gradient norm and shortest neuron."""

    value: Any
    steepest: Any
    gradient_norm: Any
    shortest: Any


class Wake(NamedTuple):
    """When a lane needs a look: its value is below ``low``, a neuron shorter than ``dead``, its steepest neuron's gradient at
    most ``still``, or above ``steep``, or at most ``slow`` where a Newton test is due."""

    low: Any
    dead: Any
    slow: Any
    still: Any
    steep: Any

    def needed(self, rows: Stationarity, steps: Any, due: Any, max_steps: int) -> Any:
        """Return which lanes need a look after so many steps; every entry may be one number for each lane."""
        lost = ~(jnp.isfinite(rows.value) & jnp.isfinite(rows.gradient_norm)) | (rows.steepest > self.steep)
        closed = (rows.value < self.low) | (rows.shortest < self.dead)
        tested = (rows.steepest <= self.slow) & ((steps >= due) | (steps % TOLERANCES.creep_steps == 0))
        return lost | closed | tested | (rows.steepest <= self.still) | (steps >= max_steps)


def papers_own(problem: Problem, descent: Descent) -> TypeGuard[TwoLayer]:
    """Whether a :class:`Wake` tells all, and a kernel of its own pays: ReLU, a teacher of coordinate vectors, fixed output
    weights, our own gradient descent: a user's object takes its steps itself, also where it says that they are the same."""
    return (
        isinstance(problem, TwoLayer)
        and problem.activation.kind == "relu"
        and not problem.trainable_output
        and np.array_equal(problem.teacher, np.eye(*problem.teacher.shape))
        and isinstance(descent, GradientDescent)
    )


def _shortest(landscape: Landscape, points: jax.Array) -> jax.Array:
    """Return the length of the shortest neuron of each lane."""
    neurons = landscape.neurons(points)
    return jnp.min(jnp.linalg.norm(neurons.reshape(points.shape[0], -1, neurons.shape[-1]), axis=-1), -1)


@dataclass(frozen=True, kw_only=True)
class Units:
    """In what units the tolerances are meant, and which kinks the loss has.

    Attributes
    ----------
    value : of the loss: the problem's square scale.
    gradient : of a neuron's gradient and of its length: the root of one anchor's share of the scale.
    zero : a value below this is 0.
    low : a value below this is the global minimum: the paper's value test, where that is valid.
    neurons_die : whether a neuron can shrink to 0, where the loss has a kink, and stay there (ReLU, leaky ReLU).
    tips : whether the loss rises linearly from where a neuron copies another (sign).
    """

    value: float = 1.0
    gradient: float = 1.0
    zero: float = TOLERANCES.global_value
    low: float = TOLERANCES.global_value
    neurons_die: bool = False
    tips: bool = False

    @classmethod
    def of(cls, problem: Problem) -> Units:
        """Return the units of a problem."""
        scale, unit = problem.scale, math.sqrt(problem.scale / max(1, len(problem.anchors)))
        zero = TOLERANCES.global_value * scale
        if not isinstance(problem, TwoLayer):
            return cls(value=scale, gradient=unit, zero=zero, low=zero)
        degree = problem.activation.homogeneous
        if degree == 0:
            zero = TOLERANCES.tip_value * scale
        valid = problem.is_orthonormal and problem.teachers <= TOLERANCES.paper_neurons
        low = max(zero, TOLERANCES.paper_value) if valid else zero
        dies = degree == 1 and not problem.activation.odd
        return cls(value=scale, gradient=unit, zero=zero, low=low, neurons_die=dies, tips=degree == 0)


@dataclass(frozen=True)
class NewtonJudge(Judge):
    """Decides by value, by dead neurons, and by where Newton's method leads, on a landscape with exact derivatives."""

    rows = Stationarity

    landscape: Landscape
    stopping: Stopping
    units: Units = field(default_factory=Units)
    step: float | None = None  # of gradient descent; None for another algorithm
    together: int = field(default_factory=_together)  # lanes that Newton's method takes
    newton: Callable[..., Polished] | None = None  # who has it, as :func:`polish`; None: XLA, a program for each size
    #: the minima to which lanes are on their way, where a Newton test has found them
    ahead: dict[int, Polished] = field(default_factory=dict, compare=False, repr=False)

    @functools.cached_property
    def probe(self) -> np.ndarray:
        """Where Lanczos' method begins."""
        return np.random.default_rng(0).normal(size=self.landscape.shape)

    @functools.cached_property
    def _wide(self) -> tuple[Landscape, np.ndarray]:
        """The landscape in which Newton's method works, and the probe there."""
        wide = self.landscape.widened(POLISH_MULTIPLE, max(self.landscape.shape))
        probe = np.zeros(wide.shape)
        probe[self._inner] = self.probe
        return wide, probe

    @property
    def _inner(self) -> tuple[slice, ...]:
        """Where a point stands among wider ones."""
        return tuple(slice(size) for size in self.landscape.shape)

    @classmethod
    def of(cls, problem: Problem, landscape: Landscape, descent: Descent, stopping: Stopping) -> NewtonJudge:
        """Return the judge of a problem's landscape and an algorithm."""
        return cls(landscape, stopping, Units.of(problem), descent.step_length)

    @staticmethod
    def report(landscape: Landscape, points: jax.Array) -> Stationarity:
        """Report how far each lane is from rest, and from a dead neuron."""
        by_neuron = slopes(landscape, points)
        return Stationarity(
            value=landscape.value(points),
            steepest=jnp.max(by_neuron, -1),
            gradient_norm=jnp.linalg.norm(by_neuron, axis=-1),
            shortest=_shortest(landscape, points),
        )

    def lost(self, report: Any) -> np.ndarray:
        """A lane is lost that is not finite, or steeper than any that ever came back."""
        return super().lost(report) | (report.steepest > TOLERANCES.divergence * self.units.gradient)

    def tests(self, look: Look) -> np.ndarray:
        """Apply the stop tests, each a function of one lane alone."""
        value, steepest, _, shortest = look.report
        unit, early = self.units.gradient, self.stopping.rule is Stop.EARLY
        stationary = self._stationary(look)
        capped = look.steps >= self.stopping.max_steps
        rested = early | stationary
        reached = rested & (value < self.units.low)
        dead = rested & ~reached & self.units.neurons_die & (shortest < TOLERANCES.dead_neuron * unit)
        look.close(reached, Outcome.GLOBAL)
        look.close(dead, Outcome.DEGENERATE)
        decided, slow = reached | dead, steepest <= TOLERANCES.test_gradient * unit
        due = early & (look.steps >= look.ledger.next_test[look.lanes])
        if early and self.units.tips and self.landscape.global_value is not None:
            decided |= self._in_blocks(self._tip_test, look, ~decided & (due | capped))
        tested = ~decided & (due & slow | stationary | capped & early)
        decided |= self._arrived(look, tested)
        decided |= self._in_blocks(self._newton_test, look, tested & ~decided)
        if early and self.step is not None:
            creeping = ~decided & slow & (look.steps % TOLERANCES.creep_steps == 0)
            for slot in np.flatnonzero(creeping):
                decided[slot] = self._follow(look.ledger, look.lanes[slot], look.points[slot])
        return decided

    def wake(self) -> Wake:
        """Return what :meth:`decide` waits for, the step limit apart: between two such moments it changes nothing.

        For an algorithm with a fixed step, on a landscape without tips.
        """
        unit, early = self.units.gradient, self.stopping.rule is Stop.EARLY
        return Wake(
            low=self.units.low if early else -math.inf,
            dead=TOLERANCES.dead_neuron * unit if early and self.units.neurons_die else -math.inf,
            slow=TOLERANCES.test_gradient * unit if early else -math.inf,
            still=TOLERANCES.paper_gradient * unit,
            steep=TOLERANCES.divergence * unit,
        )

    def _stationary(self, look: Look) -> np.ndarray:
        return look.report.steepest <= TOLERANCES.paper_gradient * self.units.gradient

    def _in_blocks(self, test: Callable[[Look], np.ndarray], look: Look, some: np.ndarray) -> np.ndarray:
        """Make a test on some lanes, as many at a time as its program takes; return which it decided."""
        decided, slots, together = np.zeros(look.lanes.size, dtype=bool), np.flatnonzero(some), self.together
        for begin in range(0, slots.size, together):
            few = slots[begin : begin + together]
            decided[few] = test(look.only(few))
        return decided

    def _arrived(self, look: Look, some: np.ndarray) -> np.ndarray:
        """Decide the lanes, of some, that have come into the ball of the minimum at which their last Newton test ended."""
        arrived = np.zeros(look.lanes.size, dtype=bool)
        for slot in np.flatnonzero(some):
            lane, point = int(look.lanes[slot]), look.points[slot]
            end = self.ahead.get(lane)
            if end is not None and np.linalg.norm(point - end.point) <= end.radius:
                self._end(look.ledger, lane, end, point)
                arrived[slot] = True
        return arrived

    def _end(self, ledger: Ledger, lane: int, end: Polished, last: np.ndarray) -> None:
        """Close a lane in the basin of a strict minimum."""
        outcome = self._name(float(end.value), float(end.smallest))
        ledger.close(lane, np.asarray(end.point), last, float(end.value), float(end.gradient_norm), outcome)

    def _newton_test(self, look: Look) -> np.ndarray:
        """Decide the lanes that Newton's method finds inside the basin of a strict minimum, and the stationary ones.

        A lane is in the basin when the polished point x* has |x - x*| <= R with R L(R) <= 0.9 lambda_min, and the
        step is below 2 / (lambda_max + L R): then gradient descent contracts to x* (docs/certificates.md, Basin).
        A flat valley can take 1e5 steps to that ball; a lane that has more than ``long_wait`` before it is decided
        already when the curvature where it stands is at least half of that at x*. Where no Lipschitz constant L of the
        Hessian is known (other activations than ReLU), that last condition alone decides. A minimum whose ball is still
        ahead is remembered: the next test is then a comparison of distances.
        """
        ledger, lanes, points, _ = look
        result, stationary = self._polish(ledger, lanes, points), self._stationary(look)
        step, smallest, wait = ledger.scale[lanes] * (self.step or 0.0), result.smallest, result.wait
        minimum = result.convex & (smallest > TOLERANCES.strict) & (step * (result.largest + smallest) < 2)
        inside = minimum & (result.distance <= result.radius)
        kept = result.smallest_at_start > TOLERANCES.kept_curvature * smallest
        inside |= minimum & kept & ((wait > TOLERANCES.long_wait) | np.isnan(result.radius))
        for slot in np.flatnonzero(minimum):
            end = Polished(*(field[slot] for field in result))
            if inside[slot]:
                self._end(ledger, lanes[slot], end, points[slot])
            else:
                self.ahead[int(lanes[slot])] = end
        for slot in np.flatnonzero(~inside & stationary):
            self._settle(ledger, lanes[slot], points[slot], points[slot])
        # Near a strict minimum the distance shrinks by 1 - step * lambda: wait until the ball should be reached.
        predicted = np.clip(wait, 1, TOLERANCES.long_wait)
        wait = np.where(minimum & np.isfinite(wait), predicted, TOLERANCES.test_patience)
        ledger.next_test[lanes] = ledger.steps[lanes] + np.ceil(wait).astype(np.int64)
        return inside | stationary

    def _block(self, lanes: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return lanes and points repeated to the size of block that has been compiled."""
        slots = np.arange(self.together)
        slots[len(lanes) :] = 0
        return lanes[slots], points[slots]

    def lengths(self, ledger: Ledger, lanes: np.ndarray) -> np.ndarray:
        """Return the lengths of some lanes' steps, by which their ways to a minimum are predicted."""
        return ledger.scale[lanes] * (self.step or USUAL_STEP)

    def _polish(self, ledger: Ledger, lanes: np.ndarray, points: np.ndarray) -> Any:
        """Return what Newton's method makes of some lanes: a :class:`Polished` of NumPy arrays."""
        if self.newton is not None:
            return self.newton(self.landscape, points, self.probe, self.lengths(ledger, lanes))
        owners, block = self._block(lanes, points)
        wide, probe = self._wide
        found = polish(wide.take(owners), wide.room(block), probe, self.lengths(ledger, owners))
        result = jax.tree.map(lambda array: np.asarray(array)[: len(lanes)], found)
        return result._replace(point=result.point[:, *self._inner])

    def _tip_test(self, look: Look) -> np.ndarray:
        """Decide, as GLOBAL, the lanes that go to and fro about a tip of value 0 within a hundredth of their length."""
        ledger, lanes, points, _ = look
        owners, block = self._block(lanes, points)
        landscape, lengths = self.landscape.take(owners), self.lengths(ledger, owners)
        ends, values = (np.asarray(found) for found in sharpen(landscape, block, lengths, self.units.zero))
        decided = np.array([self._is_global(ends[slot], values[slot], point) for slot, point in enumerate(points)])
        norms = np.asarray(self.report(landscape, jnp.asarray(ends)).gradient_norm)
        for slot in np.flatnonzero(decided):
            ledger.close(lanes[slot], ends[slot], points[slot], values[slot], norms[slot], Outcome.GLOBAL)
        # Again after as many steps as were taken.
        ledger.next_test[lanes] = ledger.steps[lanes] + np.maximum(ledger.steps[lanes], TOLERANCES.test_patience)
        return decided

    def _is_global(self, end: np.ndarray, value: float, point: np.ndarray) -> bool:
        """Whether an end that was reached from a point has the value 0 and is within a hundredth of the point's length."""
        near = np.linalg.norm(end - point) <= TOLERANCES.near_global * np.linalg.norm(point)
        return bool(near and value < self.units.zero)

    def _of(self, lane: int) -> Landscape:
        """Return the landscape of a lane, with its data on the host."""
        return jax.tree.map(np.asarray, self.landscape.take(lane))

    @on_host()
    def _follow(self, ledger: Ledger, lane: int, point: np.ndarray) -> bool:
        """Decide a creeping lane by the end of the gradient flow from where it stands, if that end can be reached."""
        low = self.units.low if self.landscape.global_value is not None else -math.inf
        still = TOLERANCES.paper_gradient * self.units.gradient
        end = flow_end(self._of(lane), point, low, still)
        if end is None:
            return False
        self._settle(ledger, lane, end, point)
        return ledger.outcome[lane] != Outcome.UNDECIDED.code

    @on_host()
    def at_the_limit(self, look: Look) -> None:
        """Close lanes at the step limit: by the paper's value test in its mode, else only as GLOBAL, if that is near.

        With more students than teachers the global minima form a flat set that descent approaches ever more slowly: a
        lane is GLOBAL if Newton's method reaches the value 0 within a hundredth of its length.
        """
        super().at_the_limit(look)
        if self.stopping.rule is Stop.PAPER:
            if self.landscape.global_value is not None and self.units.low >= TOLERANCES.paper_value:
                self._value_test(look)
            return
        for lane, point in zip(look.lanes, look.points, strict=True):
            landscape = self._of(lane)
            end, norm, _ = settle(landscape, point, iterations=100)
            value = float(landscape.value(jnp.asarray(end)))
            if self._is_global(end, value, point):
                look.ledger.close(lane, end, point, value, norm, Outcome.GLOBAL)

    def _value_test(self, look: Look) -> None:
        """Call lanes GLOBAL or SPURIOUS by their value; take their points to the strict minimum close by, if there is one."""
        low = look.report.value < self.units.low
        look.close(low, Outcome.GLOBAL)
        look.close(~low, Outcome.SPURIOUS)
        look.ledger.by_value[look.lanes] = True
        for slot, (lane, point) in enumerate(zip(look.lanes, look.points, strict=True)):
            result = jax.tree.map(lambda array: array[0], self._polish(look.ledger, look.lanes[[slot]], point[None]))
            near = result.distance <= TOLERANCES.near_minimum * np.linalg.norm(point)
            if near and result.convex and result.smallest > TOLERANCES.strict:
                end = result.point, point, float(result.value), float(result.gradient_norm)
                look.ledger.close(lane, *end, Outcome.GLOBAL if low[slot] else Outcome.SPURIOUS)

    @on_host()
    def _settle(self, ledger: Ledger, lane: int, point: np.ndarray, last: np.ndarray) -> None:
        """Classify a stationary point in no proved-sized basin by the spectrum where Newton's method leads from it.

        The flat directions that every point of the landscape has are left out of the spectrum. Next to a tip the spectrum
        says nothing. ``last`` is where the lane's descent stands.
        """
        landscape = self._of(lane)
        end, norm, spectrum = settle(landscape, point)
        value = float(landscape.value(jnp.asarray(end)))
        shortest = float(_shortest(landscape, jnp.asarray(end)[None])[0])
        curved = np.sort(spectrum[np.argsort(np.abs(spectrum), kind="stable")[landscape.gauge :]])
        outcome = self._name(value, float(curved[0]))
        at_a_tip = self.units.tips and curved[-1] > TOLERANCES.tip_curvature * self.units.value
        if self.units.neurons_die and shortest < TOLERANCES.dead_neuron * self.units.gradient:
            outcome = Outcome.DEGENERATE
        elif at_a_tip and outcome is not Outcome.GLOBAL:
            outcome = Outcome.UNDECIDED
        ledger.close(lane, end, last, value, norm, outcome)

    def _name(self, value: float, smallest: float) -> Outcome:
        """Return the outcome of a stationary point with this value and smallest eigenvalue."""
        if value < self.units.low:
            return Outcome.GLOBAL
        if smallest < -TOLERANCES.strict:
            return Outcome.SADDLE
        if self.landscape.global_value is None:
            return Outcome.CONVERGED
        return Outcome.SPURIOUS if smallest > TOLERANCES.strict else Outcome.FLAT
