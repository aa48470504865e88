"""When a run ends, whatever the algorithm."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from earnshaw.errors import InputError


class Stop(Enum):
    """When a run ends; the value is the sentence that explains it."""

    EARLY = "as soon as the value test or a Newton test makes the fate clear"
    PAPER = "when every neuron's gradient norm is at most 1e-9"


@dataclass(frozen=True, kw_only=True)
class Stopping:
    """The limits of a run.

    Attributes
    ----------
    rule : when a run ends.
    max_steps : the step limit of a run.
    max_halvings : a run that diverges starts again with half the step, at most this often.
    trace : record the run every so many steps; 0 records nothing.
    """

    rule: Stop = Stop.EARLY
    max_steps: int = 200_000
    max_halvings: int = 10
    trace: int = 0

    def __post_init__(self) -> None:
        """Validate the settings."""
        if self.max_steps < 1:
            raise InputError(f"the step limit is {self.max_steps}; it must be at least 1")
        if self.max_halvings < 0:
            raise InputError(f"max_halvings is {self.max_halvings}; it must not be negative")
        if self.trace < 0:
            raise InputError(f"a trace every {self.trace} steps was asked for; use 1 or more, or 0 for none")

    def to_json(self) -> dict[str, Any]:
        """Return the settings with their defaults."""
        return {
            "rule": self.rule.name.lower(),
            "max_steps": self.max_steps,
            "max_halvings": self.max_halvings,
            "trace": self.trace,
        }
