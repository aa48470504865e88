"""What goes wrong, in words: the one exception a user's mistake raises, and what makes its sentence helpful."""

from __future__ import annotations

import difflib
import importlib
import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any


class InputError(ValueError):
    """What was given, what is allowed, and what to do about it, in one sentence or two.

    The command line prints the message and exits with 2; it never shows a traceback for it.
    """


class AccuracyWarning(UserWarning):
    """A computed number may be less accurate than its digits suggest; the message says by how much and what to do."""


class Interrupted(Exception):
    """The work was stopped; a folder can be resumed. ``standing`` says how far it had come."""

    def __init__(self, standing: Any = None) -> None:
        super().__init__("the work was stopped" + (f" at {standing}" if standing else ""))
        self.standing = standing


class DamageWarning(UserWarning):
    """A file is not as it was written; the message says which, and what is done about it."""


def is_whole(value: Any, least: int = 0) -> bool:
    """Say whether this is a whole number, and at least so large; true and false are none."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least


def checked_workers(workers: Any) -> int | None:
    """Return a number of workers as a whole number, None where none is given; anything else raises :class:`InputError`."""
    if workers is not None and not is_whole(workers, 1):
        raise InputError(f"{workers!r} workers were asked for; use at least 1")
    return None if workers is None else int(workers)


def checked_time_limit(seconds: Any) -> float:
    """Return a time limit in seconds, infinity where none is given; what is none raises :class:`InputError`."""
    good = isinstance(seconds, Real) and not isinstance(seconds, bool)
    if seconds is not None and not (good and 0 < float(seconds) < math.inf):
        raise InputError(f"the time limit is {seconds!r}; give a positive number of seconds")
    return math.inf if seconds is None else float(seconds)


def checked_seed(seed: Any) -> int:
    """Return the root of all random numbers as a whole number; anything else raises :class:`InputError`."""
    if not is_whole(seed) or seed >= 2**63:
        raise InputError(f"the seed is {seed!r}; use a whole number from 0 to 2^63 - 1")
    return int(seed)


def nearest(word: str, choices: Iterable[str]) -> str | None:
    """Return the choice that a mistyped word most resembles, or None when it resembles none."""
    close = difflib.get_close_matches(word.lower(), list(choices), n=1, cutoff=0.6)
    return close[0] if close else None


def install_line(extra: str) -> str:
    """Return the command that installs an optional part of the package."""
    return f"pip install 'earnshaw[{extra}]'"


def need(module: str, *, extra: str, purpose: str) -> Any:
    """Import a module of an optional extra, for example ``pyarrow.parquet`` of ``parquet``.

    When it is missing, raise :class:`InputError`: what needs it (``purpose``), and the line that installs it.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise InputError(f"{purpose} needs {package}, which is not installed; run\n{install_line(extra)}") from None
