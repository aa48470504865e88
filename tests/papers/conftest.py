"""Every row that a test of the papers makes is put to the same test: a wrong reference must fail it."""

import dataclasses
import math

import pytest

from earnshaw.papers import Comparison, Item


def moves(row: Comparison) -> list[Comparison]:
    """Return a row with its reference moved by what the test detects, in each direction in which the test looks."""
    low, high = row.accepts
    signs = [-1] * (low != -math.inf) + [1] * (high != math.inf)
    return [dataclasses.replace(row, reference=row.reference + sign * row.detects) for sign in signs]


def hold(row: Comparison) -> None:
    """Require of a row that counts that a wrong reference fails, and of one that does not that it says why."""
    record = row.to_json()
    assert {"reference", "source", "counts", "detects", "ok"} <= set(record)
    if not row.counts:
        assert (record["ok"], row.answer) == (None, "context")
        assert len(row.words) > 10, f"{row} has no reason"
    elif row.ours is not None and math.isfinite(row.ours):
        assert row.detects > 0
        assert moves(row), f"{row} looks nowhere"
        for wrong in moves(row):
            assert wrong.failed, f"{row} does not notice the reference {wrong.reference}"


@pytest.fixture(autouse=True)
def every_row_can_fail(monkeypatch):
    """Watch the rows that are made, and hold each to the rule afterwards."""
    made = []
    for name in ("compare", "context"):
        make = getattr(Item, name)

        def watched(*given, make=make, **named):
            made.append(make(*given, **named))
            return made[-1]

        monkeypatch.setattr(Item, name, watched)
    yield made
    for row in made:
        hold(row)
