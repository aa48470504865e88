"""Who decides what became of a lane: what all judges do, and what each of them adds."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.descent.outcomes import Ledger, Outcome, Stopping
from earnshaw.landscapes.base import Landscape


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
        """Return a look at some of the lanes, by mask or index."""
        report = type(self.report)(*(row[some] for row in self.report))
        return Look(self.ledger, self.lanes[some], self.points[some], report)

    def close(self, some: np.ndarray, outcome: Outcome) -> None:
        """Enter the fate of some lanes, by mask, where they stand."""
        for slot in np.flatnonzero(some):
            point, report = self.points[slot], self.report
            self.ledger.close(self.lanes[slot], point, point, report.value[slot], report.gradient_norm[slot], outcome)


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
            self.at_the_limit(look.only(over))
        return decided | over, restarted
