"""Who decides what became of a lane: what all judges do, and the two that only count and so end a lane after some steps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.descent.newton.dense import NewtonEnd, dense_newton
from earnshaw.descent.outcomes import Ledger, Outcome, Stopping
from earnshaw.landscapes.base import Landscape
from earnshaw.landscapes.empirical import StreamedRisk
from earnshaw.numerics import TOLERANCES


class Report(NamedTuple):
    """What a judge wants to know of each lane, (lanes,) each; the reports of others have these two and more."""

    value: Any
    gradient_norm: Any


def slopes(landscape: Landscape, points: jax.Array) -> jax.Array:
    """Return the gradient's norm for each neuron (row of the point) of each lane, (lanes, neurons)."""
    return jnp.linalg.norm(landscape.gradient(points).reshape(points.shape[0], -1, points.shape[-1]), axis=-1)


class Look(NamedTuple):
    """Lanes that are looked at: their places in the ledger, their points (lanes, *shape), and what was reported of them."""

    ledger: Ledger
    lanes: np.ndarray
    points: np.ndarray
    report: Any

    @property
    def steps(self) -> np.ndarray:
        """The steps of each lane's present attempt."""
        return self.ledger.steps[self.lanes]

    def only(self, some: np.ndarray) -> Look:
        """Return a look at some of the lanes, by ascending indices."""
        if some.size == self.lanes.size:
            return self
        report = type(self.report)(*(row[some] for row in self.report))
        return Look(self.ledger, self.lanes[some], self.points[some], report)

    def close(self, some: np.ndarray, outcome: Outcome) -> None:
        """Enter the fate of some lanes, by mask, where they stand."""
        if not some.any():
            return
        points, report = self.points[some], self.report
        self.ledger.close(self.lanes[some], points, points, report.value[some], report.gradient_norm[some], outcome)


class Judge(Protocol):
    """Looks at lanes at fixed multiples of their own steps and says which are decided; a function of each lane alone.

    A judge says what is reported of a lane (``report``, whose named ``rows`` are one array on the device), how a fate is
    found (``tests``) and what becomes of a lane at the step limit (``at_the_limit``). Divergence, restarts and the step
    limit itself are the same for all.
    """

    rows: ClassVar[type] = Report
    stopping: Stopping

    @staticmethod
    def report(landscape: Landscape, points: jax.Array) -> Any:
        """Return the rows, of each lane, after the last step before a look; JAX traces this."""
        return Report(landscape.value(points), jnp.linalg.norm(slopes(landscape, points), axis=-1))

    def lost(self, report: Any) -> np.ndarray:
        """Return which lanes have left the numbers that mean something."""
        return ~(np.isfinite(report.value) & np.isfinite(report.gradient_norm))

    def tests(self, look: Look) -> np.ndarray:
        """Enter the fates of lanes that are decided where they are; return which, as a mask."""
        ...

    def at_the_limit(self, look: Look) -> None:
        """Enter what can be said of lanes whose steps are used up."""
        look.close(np.ones(look.lanes.size, dtype=bool), Outcome.UNDECIDED)

    def decide(self, look: Look) -> tuple[np.ndarray, np.ndarray]:
        """Enter the fates of decided lanes into the ledger; return masks: decided, and to be restarted."""
        lost, capped = self.lost(look.report), look.steps >= self.stopping.max_steps
        restarted = np.zeros(look.lanes.size, dtype=bool)
        for slot in np.flatnonzero(lost):
            restarted[slot] = look.ledger.restart(look.lanes[slot], self.stopping.max_halvings)
        decided = lost & ~restarted
        look.close(decided, Outcome.DIVERGED)
        going = np.flatnonzero(~lost)
        decided[going] = self.tests(look.only(going))
        over = capped & ~lost & ~decided
        if over.any():
            self.at_the_limit(look.only(np.flatnonzero(over)))
        return decided | over, restarted


@dataclass(frozen=True, kw_only=True)
class BudgetJudge(Judge):
    """Ends every lane at the step limit, or once its gradient's norm is at most ``gradient``; names no fate.

    For landscapes on which a Newton test in products with the Hessian is dearer than the Hessian itself: what was
    reached is then named afterwards. A lane that is no longer finite starts again with half the step.
    """

    stopping: Stopping
    gradient: float = TOLERANCES.risk_gradient

    def tests(self, look: Look) -> np.ndarray:
        """Close the lanes whose gradient is small, as UNDECIDED."""
        small = look.report.gradient_norm <= self.gradient
        look.close(small, Outcome.UNDECIDED)
        return small


def name_end(end: NewtonEnd) -> Outcome:
    """Return what became of a lane, from where Newton's method ended."""
    if not end.gradient_norm <= TOLERANCES.risk_gradient:
        return Outcome.UNDECIDED
    if end.value < TOLERANCES.zero_risk:
        return Outcome.GLOBAL
    if end.spectrum[0] > TOLERANCES.strict:
        return Outcome.CONVERGED
    return Outcome.SADDLE if end.spectrum[0] < -TOLERANCES.strict else Outcome.UNDECIDED


@dataclass(frozen=True, kw_only=True)
class DenseJudge(BudgetJudge):
    """Finishes every lane of a risk that is a sum over rows by Newton's method with the whole Hessian, and names the end.

    On such a sum the Hessian costs a few gradients. A lane whose descent left the finite numbers, also with halved
    steps, goes to Newton's method from its start. ``ends`` collects where it led, by lane.
    """

    risk: StreamedRisk
    ends: dict[int, NewtonEnd] = field(default_factory=dict, compare=False, repr=False)

    def decide(self, look: Look) -> tuple[np.ndarray, np.ndarray]:
        """Let the budget decide who is done, and finish those."""
        decided, restarted = super().decide(look)
        for slot in np.flatnonzero(decided):
            lane = int(look.lanes[slot])
            lost = look.ledger.outcome[lane] == Outcome.DIVERGED.code
            last = look.ledger.starts[lane] if lost else look.points[slot]
            end = self.ends[lane] = dense_newton(self.risk, last)
            look.ledger.close(lane, end.point, last, end.value, end.gradient_norm, name_end(end))
        return decided, restarted
