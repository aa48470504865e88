"""Who decides what became of a lane: the interface, and the judge of exact landscapes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.descent.ledger import Ledger
from earnshaw.descent.newton.creep import flow_end
from earnshaw.descent.newton.polish import polish, settle
from earnshaw.descent.optimizers.gradient_descent import GradientDescent
from earnshaw.descent.outcomes import Outcome
from earnshaw.descent.stopping import Stop, Stopping
from earnshaw.landscapes import TwoLayerLandscape
from earnshaw.landscapes.base import Landscape
from earnshaw.numerics import TOLERANCES
from earnshaw.problems import TwoLayer

TEST_GRADIENT = 1e-4  # no Newton test while a neuron's gradient is above this (relative to the teacher's neurons)
TEST_PATIENCE = 500  # gradients to wait after a test that met negative curvature
POLISH_MULTIPLE = 4  # sizes are padded to multiples of this for Newton's method: its program takes long to compile
CREEP = 50_000  # steps of gradient descent, at whose multiples a lane that creeps is followed by an implicit method
LONG_WAIT = 10_000  # steps to the ball of the Newton test that are too many to wait for


def polish_lanes() -> int:
    """Return how many lanes Newton's method takes together: few come due at one check of a CPU's block, many of a GPU's."""
    return 2 if jax.default_backend() == "cpu" else 256


class Judge(Protocol):
    """Looks at lanes at fixed multiples of their own steps and says which are decided; a function of each lane alone."""

    @property
    def report(self) -> Callable[[Landscape, jax.Array], jax.Array]:
        """A function that JAX traces after the last step before a look: (landscape, points) -> (rows, lanes)."""
        ...

    def decide(
        self, ledger: Ledger, alive: np.ndarray, points: np.ndarray, report: np.ndarray, ready: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Enter the fates of decided lanes into the ledger; return masks over ``alive``: decided, and to be restarted.

        ``alive`` holds lane indices, ``points`` and the columns of ``report`` belong to them, and only lanes that are
        ``ready`` may be looked at.
        """
        ...


def stationarity(landscape: Landscape, points: jax.Array) -> jax.Array:
    """Report value, largest gradient of a neuron (a row of the point), gradient norm and shortest neuron of each lane."""
    by_neuron = jnp.linalg.norm(landscape.gradient(points).reshape(points.shape[0], -1, points.shape[-1]), axis=-1)
    return jnp.stack(
        [
            landscape.value(points),
            jnp.max(by_neuron, -1),
            jnp.linalg.norm(by_neuron, axis=-1),
            _shortest(landscape, points),
        ]
    )


def _shortest(landscape: Landscape, points: jax.Array) -> jax.Array:
    """Return the length of the shortest neuron of each lane, its output weight left out."""
    weights = landscape.split(points)[0] if isinstance(landscape, TwoLayerLandscape) else points
    return jnp.min(jnp.linalg.norm(weights.reshape(points.shape[0], -1, weights.shape[-1]), axis=-1), -1)


@dataclass(frozen=True, kw_only=True)
class Units:
    """In what units the tolerances are meant.

    Attributes
    ----------
    value : of the loss (the sum of the teacher's squared norms).
    gradient : of a neuron's gradient and of its length.
    low : a value below this is the global minimum.
    neurons_die : whether a neuron can shrink to 0, where the loss has a kink, and stay there (ReLU, leaky ReLU).
    """

    value: float = 1.0
    gradient: float = 1.0
    low: float = TOLERANCES.global_value
    neurons_die: bool = False

    @classmethod
    def of(cls, problem: TwoLayer) -> Units:
        """Return the units of a two-layer problem."""
        low = TOLERANCES.global_value * problem.scale
        if problem.is_orthonormal and problem.teachers <= TOLERANCES.paper_neurons:
            low = max(low, TOLERANCES.paper_value)
        return cls(
            value=problem.scale,
            gradient=math.sqrt(problem.scale / problem.teachers),
            low=low,
            neurons_die=problem.activation.homogeneous == 1 and not problem.activation.odd,
        )


@dataclass(frozen=True)
class NewtonJudge:
    """Decides by value, by dead neurons, and by where Newton's method leads, on a landscape with exact derivatives."""

    landscape: Landscape
    stopping: Stopping
    units: Units = field(default_factory=Units)
    step: float | None = None  # of gradient descent; None for another algorithm
    report: Callable[[Landscape, jax.Array], jax.Array] = stationarity

    @classmethod
    def of(cls, problem: TwoLayer, landscape: Landscape, descent: object, stopping: Stopping) -> NewtonJudge:
        """Return the judge of a two-layer problem."""
        step = descent.step if isinstance(descent, GradientDescent) else None
        return cls(landscape, stopping, Units.of(problem), step)

    def decide(
        self, ledger: Ledger, alive: np.ndarray, points: np.ndarray, report: np.ndarray, ready: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Apply the stop tests, each a function of one lane alone."""
        value, steepest, norm, shortest = report
        unit, early = self.units.gradient, self.stopping.rule is Stop.EARLY
        lost = ready & (~np.isfinite(value) | ~np.isfinite(norm) | (steepest > TOLERANCES.divergence * unit))
        stationary = ready & (steepest <= TOLERANCES.paper_gradient * unit)
        capped = ready & (ledger.steps[alive] >= self.stopping.max_steps)
        low = value < self.units.low
        reached = ~lost & low & (ready if early else stationary)
        dead = ~lost & ~low & self.units.neurons_die & (shortest < TOLERANCES.dead_neuron * unit)
        dead &= ready if early else stationary
        open_lanes = ready & ~(lost | reached | dead)
        due = early & (steepest <= TEST_GRADIENT * unit) & (ledger.steps[alive] >= ledger.next_test[alive])
        tested = open_lanes & (due | stationary | (capped & early))

        restarted = np.zeros(alive.size, dtype=bool)
        for slot in np.flatnonzero(lost):
            restarted[slot] = ledger.restart(alive[slot], self.stopping.max_halvings)
        decided = reached | dead | (lost & ~restarted)
        for slots, outcome in (
            (reached, Outcome.GLOBAL),
            (dead, Outcome.DEGENERATE),
            (lost & ~restarted, Outcome.DIVERGED),
        ):
            for slot in np.flatnonzero(slots):
                ledger.close(alive[slot], points[slot], points[slot], value[slot], norm[slot], outcome)
        slots = np.flatnonzero(tested)
        together = polish_lanes()
        for begin in range(0, slots.size, together):
            some = slots[begin : begin + together]
            decided[some] = self._newton_test(ledger, alive[some], points[some], stationary[some])
        if early and self.step is not None:
            creeping = open_lanes & ~decided & (steepest <= TEST_GRADIENT * unit) & (ledger.steps[alive] % CREEP == 0)
            for slot in np.flatnonzero(creeping):
                decided[slot] = self._follow(ledger, alive[slot], points[slot])
        for slot in np.flatnonzero(capped & ~decided & ~restarted):
            self._at_the_limit(ledger, alive[slot], points[slot], value[slot], norm[slot])
            decided[slot] = True
        return decided, restarted

    def _newton_test(self, ledger: Ledger, lanes: np.ndarray, points: np.ndarray, stationary: np.ndarray) -> np.ndarray:
        """Decide the lanes that Newton's method finds inside the basin of a strict minimum, and the stationary ones.

        A lane is in the basin when the polished point x* has |x - x*| <= R with R L(R) <= 0.9 lambda_min, and the
        step is below 2 / (lambda_max + L R): then gradient descent contracts to x* (docs/certificates.md, Basin).
        A flat valley can take 1e5 steps to that ball; a lane that has more than ``LONG_WAIT`` before it is decided
        already when the curvature where it stands is at least half of that at x*. Where no Lipschitz constant L of the
        Hessian is known (other activations than ReLU), that last condition alone decides.
        """
        result = self._polish(lanes, points)
        step, smallest = ledger.scale[lanes] * (self.step or 0.0), result.smallest
        with np.errstate(divide="ignore", invalid="ignore"):
            pace = np.where(step > 0, step, 0.1) * smallest
            wait = np.log(result.distance / (0.95 * result.radius)) / pace
        minimum = result.convex & (smallest > TOLERANCES.strict) & (step * (result.largest + smallest) < 2)
        inside = minimum & (result.distance <= result.radius)
        kept = result.smallest_at_start > 0.5 * smallest
        inside |= minimum & kept & ((wait > LONG_WAIT) | np.isnan(result.radius))
        for slot in np.flatnonzero(inside):
            outcome = self._name(float(result.value[slot]), float(smallest[slot]))
            lane, end = lanes[slot], (result.value[slot], result.gradient_norm[slot])
            ledger.close(lane, result.point[slot], points[slot], *end, outcome)
        for slot in np.flatnonzero(~inside & stationary):
            self._settle(ledger, lanes[slot], points[slot], points[slot])
        # Near a strict minimum the distance shrinks by 1 - step * lambda: wait until the ball should be reached.
        wait = np.where(minimum & np.isfinite(wait), np.clip(wait, 1, LONG_WAIT), TEST_PATIENCE)
        ledger.next_test[lanes] = ledger.steps[lanes] + np.ceil(wait).astype(np.int64)
        return inside | stationary

    def _polish(self, lanes: np.ndarray, points: np.ndarray) -> Any:
        """Return what Newton's method makes of some lanes, in a block of fixed size."""
        spare = polish_lanes() - len(lanes)
        block = np.concatenate([points, np.repeat(points[:1], spare, axis=0)])
        owners = np.concatenate([lanes, np.repeat(lanes[:1], spare)])
        polished = polish(*self.landscape.take(owners).padded(block, POLISH_MULTIPLE))
        result = jax.tree.map(lambda array: np.asarray(array)[: len(lanes)], polished)
        inner = (slice(None), *(slice(size) for size in self.landscape.shape))
        return result._replace(point=result.point[inner])

    def _follow(self, ledger: Ledger, lane: int, point: np.ndarray) -> bool:
        """Decide a creeping lane by the end of the gradient flow from where it stands, if that end can be reached."""
        low = self.units.low if self.landscape.global_value is not None else -math.inf
        still = TOLERANCES.paper_gradient * self.units.gradient
        end = flow_end(self.landscape.take(lane), point, low, still)
        if end is None:
            return False
        self._settle(ledger, lane, end, point)
        return ledger.outcome[lane] != Outcome.UNDECIDED.code

    def _at_the_limit(self, ledger: Ledger, lane: int, point: np.ndarray, value: float, norm: float) -> None:
        """Close a lane at the step limit: by the paper's value test in its mode, else only as GLOBAL, if that is near.

        With more students than teachers the global minima form a flat set that descent approaches ever more slowly: the
        lane is GLOBAL if Newton's method reaches the value 0 within a hundredth of its length.
        """
        ledger.close(lane, point, point, value, norm, Outcome.UNDECIDED)
        known = self.landscape.global_value is not None
        if self.stopping.rule is Stop.PAPER:
            if known and self.units.low >= TOLERANCES.paper_value:
                ledger.outcome[lane] = (Outcome.GLOBAL if value < self.units.low else Outcome.SPURIOUS).code
                ledger.by_value[lane] = True
                self._tidy(ledger, lane, point)
            return
        landscape = self.landscape.take(lane)
        end, norm, _ = settle(landscape, point, iterations=100)
        value = float(landscape.value(jnp.asarray(end)))
        near = np.linalg.norm(end - point) <= 1e-2 * np.linalg.norm(point)
        if near and value < TOLERANCES.global_value * self.units.value:
            ledger.close(lane, end, point, value, norm, Outcome.GLOBAL)

    def _tidy(self, ledger: Ledger, lane: int, point: np.ndarray) -> None:
        """Replace the point of a lane that the value test decided by the strict minimum close by, if there is one."""
        result = jax.tree.map(lambda array: array[0], self._polish(np.array([lane]), point[None]))
        near = result.distance <= 1e-1 * np.linalg.norm(point)
        if near and result.convex and result.smallest > TOLERANCES.strict:
            outcome = Outcome.from_code(int(ledger.outcome[lane]))
            ledger.close(lane, result.point, point, float(result.value), float(result.gradient_norm), outcome)

    def _settle(self, ledger: Ledger, lane: int, point: np.ndarray, last: np.ndarray) -> None:
        """Classify a stationary point in no proved-sized basin by the spectrum where Newton's method leads from it.

        The flat directions that every point of the landscape has are left out of the spectrum. ``last`` is where the
        lane's descent stands.
        """
        landscape = self.landscape.take(lane)
        end, norm, spectrum = settle(landscape, point)
        value = float(landscape.value(jnp.asarray(end)))
        shortest = float(_shortest(landscape, jnp.asarray(end)[None])[0])
        dead = self.units.neurons_die and shortest < TOLERANCES.dead_neuron * self.units.gradient
        curved = np.sort(spectrum[np.argsort(np.abs(spectrum), kind="stable")[landscape.gauge :]])
        outcome = Outcome.DEGENERATE if dead else self._name(value, float(curved[0]))
        ledger.close(lane, end, last, value, norm, outcome)

    def _name(self, value: float, smallest: float) -> Outcome:
        """Return the outcome of a stationary point with this value and smallest eigenvalue."""
        if value < self.units.low:
            return Outcome.GLOBAL
        if smallest < -TOLERANCES.strict:
            return Outcome.SADDLE
        if self.landscape.global_value is None:
            return Outcome.CONVERGED
        return Outcome.SPURIOUS if smallest > TOLERANCES.strict else Outcome.UNDECIDED
