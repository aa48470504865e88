"""When a run ends, and what became of it: the rules, the fates, the book of a batch, and the way each run took."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earnshaw.errors import InputError, is_whole

Array = NDArray[np.float64]


class Stop(Enum):
    """When a run ends; the value is the sentence that explains it."""

    EARLY = "as soon as the value test or a Newton test makes the fate clear"
    PAPER = "when every neuron's gradient norm is at most 1e-9"


@dataclass(frozen=True, kw_only=True)
class Stopping:
    """The limits of a run.

    Attributes
    ----------
    rule : when a run ends; a name, ``early`` or ``paper``, will do.
    max_halvings : a run that diverges starts again with half the step, at most this often.
    trace : record the run every so many steps; 0 records nothing.
    """

    rule: Stop = Stop.EARLY
    max_steps: int = 200_000
    max_halvings: int = 10
    trace: int = 0

    def __post_init__(self) -> None:
        """Read the rule's name, and refuse limits that nothing can keep."""
        names = {rule.name.lower(): rule for rule in Stop}
        rule = names.get(self.rule) if isinstance(self.rule, str) else self.rule
        if not isinstance(rule, Stop):
            raise InputError(f"the stop rule is {self.rule!r}; choose {' or '.join(map(repr, names))}")
        object.__setattr__(self, "rule", rule)
        if not is_whole(self.max_steps, 1):
            raise InputError(f"the step limit is {self.max_steps!r}; it must be a whole number, at least 1")
        if not is_whole(self.max_halvings):
            raise InputError(f"max_halvings is {self.max_halvings!r}; it must be a whole number, and not negative")
        if not is_whole(self.trace):
            raise InputError(f"a trace every {self.trace!r} steps was asked for; use 1 or more, or 0 for none")
        for name in ("max_steps", "max_halvings", "trace"):
            object.__setattr__(self, name, int(getattr(self, name)))

    def to_json(self) -> dict[str, Any]:
        """Return the settings with their defaults."""
        return asdict(self) | {"rule": self.rule.name.lower()}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Stopping:
        """Read the limits back; bad content raises :class:`InputError`."""
        names = list(cls.__annotations__)
        if not isinstance(record, Mapping) or set(record) != set(names):
            raise InputError(f"the record of the stop rules needs the keys {names}")
        if any(type(record[name]) is not int for name in names if name != "rule"):
            raise InputError("the record of the stop rules holds a limit that is no whole number")
        return cls(**record)


class Outcome(Enum):
    """The fate of one run; the value is the sentence that explains it, the order is the code in files."""

    GLOBAL = "reached the global minimum"
    SPURIOUS = "ended at a strict local minimum that is not global"
    SADDLE = "ended at a stationary point with a direction of negative curvature"
    DEGENERATE = "a neuron shrank to zero, where the loss is not differentiable"
    DIVERGED = "grew without bound, also after the step was halved as often as allowed"
    UNDECIDED = "its fate was not clear when the step limit was reached"
    CONVERGED = "ended at a local minimum of a problem whose global minimum is not known"
    FLAT = "ended at a stationary point with flat directions and no negative curvature, where second derivatives do not decide"

    @property
    def decides(self) -> bool:
        """Whether the run's fate is clear: percentages are of such runs."""
        return self not in (Outcome.UNDECIDED, Outcome.FLAT)

    @property
    def code(self) -> int:
        """The number that stands for this outcome in an array."""
        return _ORDER.index(self)

    @classmethod
    def from_code(cls, code: int) -> Outcome:
        """Return the outcome of a number."""
        return _ORDER[code]


_ORDER = tuple(Outcome)


@dataclass(frozen=True)
class Trace:
    """Trajectories: one row for each recorded moment of each run, in the order of runs and then steps."""

    run: NDArray[np.int64]
    step: NDArray[np.int64]
    value: Array
    gradient_norm: Array
    weights: Array

    def of(self, runs: NDArray[np.int64]) -> Trace:
        """Return the moments of these runs."""
        mine = np.isin(self.run, runs)
        return Trace(**{name: array[mine] for name, array in vars(self).items()})


_watch = threading.local()


@contextmanager
def watched(closed: Callable[[Ledger], None]) -> Iterator[None]:
    """Let a function hear of every ledger of this thread in which a lane was closed, while the context lasts."""
    before = getattr(_watch, "closed", None)
    _watch.closed = closed
    try:
        yield
    finally:
        _watch.closed = before


class Begun(NamedTuple):
    """Lanes that somebody has taken to where they need a look: points (lanes, *shape), steps, and the rows that a judge wants reported."""

    points: np.ndarray
    steps: np.ndarray
    report: np.ndarray


class Ledger:
    """What is known of every lane of a batch, on the host: how far it has come, and once it is closed, how it ended.

    ``steps`` are those of the present attempt, ``wasted`` those of attempts that diverged; ``scale`` multiplies the
    lane's steps; no Newton test is due before ``next_test``. The other arrays are those of
    :class:`~earnshaw.experiments.Runs`.
    """

    def __init__(self, starts: np.ndarray, begun: Begun | None = None) -> None:
        lanes = len(starts)
        self.starts, self.points, self.last_points = starts, starts.copy(), starts.copy()
        self.steps, self.wasted, self.next_test = np.zeros((3, lanes), dtype=np.int64)
        if begun is not None:
            self.steps[:] = begun.steps
        self.halvings, self.gradients, self.hessians = np.zeros((3, lanes), dtype=np.int64)
        self.scale, self.by_value = np.ones(lanes), np.zeros(lanes, dtype=bool)
        self.outcome = np.full(lanes, Outcome.UNDECIDED.code, dtype=np.int8)
        self.value, self.gradient_norm = np.full((2, lanes), np.nan)

    def close(
        self,
        lane: int | np.ndarray,
        point: np.ndarray,
        last: np.ndarray,
        value: float | np.ndarray,
        gradient_norm: float | np.ndarray,
        outcome: Outcome,
    ) -> None:
        """Enter how a lane, or several, ended: the polished point, the last iterate, and the fate."""
        self.points[lane], self.last_points[lane] = point, last
        self.value[lane], self.gradient_norm[lane], self.outcome[lane] = value, gradient_norm, outcome.code
        closed = getattr(_watch, "closed", None)
        if closed is not None:
            closed(self)

    def restart(self, lane: int, max_halvings: int) -> bool:
        """Send a diverged lane back to its start with half the step; return False when that was done too often."""
        if self.halvings[lane] >= max_halvings:
            return False
        self.halvings[lane] += 1
        self.scale[lane] /= 2
        self.wasted[lane] += self.steps[lane]
        self.steps[lane] = self.next_test[lane] = 0
        return True
