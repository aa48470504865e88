"""One compared number."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Comparison:
    """Ours beside the paper's: a line of ``earnshaw reproduce --json``.

    Attributes
    ----------
    test : the test applied, in words, with its result.
    ok : whether the two agree by that test.
    interval : the 95% interval of ours, where it is a proportion.
    """

    paper: str
    item: str
    setting: str
    quantity: str
    ours: float | None
    printed: float
    test: str
    ok: bool
    interval: tuple[float, float] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return dataclasses.asdict(self)
