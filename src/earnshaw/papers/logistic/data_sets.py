"""Measurements on many data sets, each with a seed of its own, computed once and kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, TypeVar

from earnshaw.experiments.logistic import spread_out
from earnshaw.papers.reproduction import Reproduction
from earnshaw.store import canonical_json, digest, read_json, write_json

Result = TypeVar("Result")


def seed_of(how: Reproduction, index: int) -> int:
    """Return the seed of a data set."""
    return 1000 * how.seed + index


def on_data_sets(
    how: Reproduction,
    name: str,
    settings: Mapping[str, Any],
    sets: int,
    kind: type[Result],
    measure: Callable[[int], Any],
) -> list[Result]:
    """Return what ``measure`` finds for the seed of each data set, from the folder where the settings are the same."""
    settings = {**settings, "sets": sets, "seed": how.seed}
    path = how.out / "data" / f"{name}-{digest(settings)[:12]}.json"
    stored = read_json(path) if path.exists() else {}
    if canonical_json(stored.get("settings")) != canonical_json(settings):
        seeds = [seed_of(how, index) for index in range(sets)]
        results = spread_out(measure, seeds, how.workers, lambda share, what: how.progress(share, f"{name} {what}"))
        stored = {"settings": settings, "records": [asdict(result) for result in results]}
        write_json(path, stored)
    return [kind(**record) for record in stored["records"]]
