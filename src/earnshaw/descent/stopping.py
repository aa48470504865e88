"""When a run ends, whatever the algorithm."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from numbers import Integral
from typing import Any

from earnshaw.errors import InputError


class Stop(Enum):
    """When a run ends; the value is the sentence that explains it."""

    EARLY = "as soon as the value test or a Newton test makes the fate clear"
    PAPER = "when every neuron's gradient norm is at most 1e-9"

    @classmethod
    def named(cls, given: Stop | str) -> Stop:
        """Return the rule of this name, in small letters; anything else raises :class:`InputError`."""
        names = {rule.name.lower(): rule for rule in cls}
        rule = names.get(given) if isinstance(given, str) else given
        if not isinstance(rule, cls):
            raise InputError(f"the stop rule is {given!r}; choose {' or '.join(map(repr, names))}")
        return rule


@dataclass(frozen=True, kw_only=True)
class Stopping:
    """The limits of a run.

    Attributes
    ----------
    rule : when a run ends; a name, ``early`` or ``paper``, will do.
    max_steps : the step limit of a run.
    max_halvings : a run that diverges starts again with half the step, at most this often.
    trace : record the run every so many steps; 0 records nothing.
    """

    rule: Stop = Stop.EARLY
    max_steps: int = 200_000
    max_halvings: int = 10
    trace: int = 0

    def __post_init__(self) -> None:
        """Read the rule's name, and refuse limits that nothing can keep."""
        object.__setattr__(self, "rule", Stop.named(self.rule))
        if not (isinstance(self.max_steps, Integral) and self.max_steps >= 1):
            raise InputError(f"the step limit is {self.max_steps!r}; it must be a whole number, at least 1")
        object.__setattr__(self, "max_steps", int(self.max_steps))
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

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Stopping:
        """Read the limits back; bad content raises :class:`InputError`."""
        names = [field.name for field in dataclasses.fields(cls)]
        if not isinstance(record, Mapping) or set(record) != set(names):
            raise InputError(f"the record of the stop rules needs the keys {names}")
        if any(type(record[name]) is not int for name in names if name != "rule"):
            raise InputError("the record of the stop rules holds a limit that is no whole number")
        return cls(**record)
