"""Ctrl-C and SIGTERM: the first one stops a command where nothing is lost, a second one ends it wherever it is."""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from types import FrameType

from earnshaw.errors import InputError

ALARM = getattr(signal, "SIGALRM", None)  # the time limit; not on every system
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143} | ({ALARM: 130} if ALARM else {})  # as a shell counts them
PATIENCE = 3.0  # seconds until it is said that a second signal ends the command at once
SOON = 0.1  # seconds until what a callback has swallowed is raised again
APART = 1.0  # seconds between a first and a second signal; some programs send one twice
WAITING = "stopping where nothing is lost; Ctrl-C again ends it at once\n"
_heard: list[signal.Signals] = []
_code: list[int] = []  # what the command ends with, once that is known
EARS = "earnshaw-signals"
UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}


def exit_code() -> int:
    """Return the code that an interrupted command ends with."""
    return CODES[_heard[0] if _heard else signal.SIGINT]


def cause() -> str:
    """Say what stopped the command."""
    return "the time limit is reached" if _heard and _heard[0] is ALARM else "interrupted"


@contextlib.contextmanager
def limited(given: str | None) -> Iterator[None]:
    """Stop what is inside as Ctrl-C does, when the time that ``--time-limit`` gives has passed."""
    if given is None:
        yield
        return
    seconds = seconds_of(given)
    if ALARM is None:
        raise InputError("--time-limit is for systems that have alarms, and this one has none; stop it with Ctrl-C")
    before = signal.signal(ALARM, _first)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(ALARM, before)


def seconds_of(given: str) -> int:
    """Return the seconds of a time such as 90s, 10m, 1h30m or 2d; what is none raises :class:`InputError`."""
    match = re.fullmatch(r"(?:(\d{1,3})d)?(?:(\d{1,4})h)?(?:(\d{1,6})m)?(?:(\d{1,7})s)?", given)
    seconds = (
        sum(int(count or 0) * unit for count, unit in zip(match.groups(), UNITS.values(), strict=True)) if match else 0
    )
    if not seconds:
        raise InputError(f"--time-limit {given} was given; use a time such as 90s, 10m, 1h30m or 2d")
    return seconds


def heard() -> bool:
    """Say whether a signal has come. What it raised may be lost: JAX has callbacks in which it is swallowed."""
    return bool(_heard)


def listen() -> None:
    """Treat SIGTERM as Ctrl-C, and end the process at a second signal, even where Python is not running.

    A signal that is ignored already stays so: a shell does that to what it starts in the background.
    """
    for number in CODES:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _first)
    atexit.register(_leave)  # before anything else does: what is registered first is called last
    sys.unraisablehook = partial(_unraisable, sys.unraisablehook)
    ours, theirs = os.pipe()
    os.set_blocking(theirs, False)
    signal.set_wakeup_fd(theirs, warn_on_full_buffer=False)
    threading.Thread(target=_second, name=EARS, args=(ours,), daemon=True).start()


def ends(code: object) -> None:
    """Remember what the command ends with, see :func:`_leave`."""
    _code[:] = [code] if isinstance(code, int) else []


def deaf() -> None:
    """Let a signal end the process, which has nothing left to do."""
    for number in CODES:
        if signal.getsignal(number) is _first:
            signal.signal(number, signal.SIG_DFL)


def _leave() -> None:
    """End the process here if a thread goes on that nobody waits for, such as one in which the explorer computes.

    Python would end that thread where it asks for the interpreter next, and from within compiled C++ that is an abort.
    """
    if _code and any(thread.daemon and thread.name != EARS for thread in threading.enumerate()):
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(_code[0])


def _first(number: int, _: FrameType | None) -> None:
    """Raise what Ctrl-C raises, once; Python calls this when it comes to it."""
    if not _heard:
        _heard.append(signal.Signals(number))
        raise KeyboardInterrupt


def _unraisable(hook: Callable[..., object], found: sys.UnraisableHookArgs) -> None:
    """Say nothing of a Ctrl-C that a callback swallowed, see :func:`heard`, and raise it again when that has returned."""
    if found.exc_type is not KeyboardInterrupt:
        hook(found)
    elif ALARM is not None and threading.current_thread() is threading.main_thread():
        signal.signal(ALARM, _again)
        signal.setitimer(signal.ITIMER_REAL, SOON)


def _again(number: int, _: FrameType | None) -> None:
    raise KeyboardInterrupt


def _second(signals: int) -> None:
    """Read the signals as they come. Compiled code that never returns keeps Python from handling them, but not from this."""
    begun = None
    while True:
        number = os.read(signals, 1)[0]
        if number not in CODES:
            continue
        if begun is None:
            begun = time.monotonic()
            timer = threading.Timer(PATIENCE, _say)
            timer.daemon = True
            timer.start()
        elif number != ALARM and time.monotonic() - begun > APART:
            os._exit(CODES[signal.Signals(number)])


def _say() -> None:
    with contextlib.suppress(OSError):
        os.write(2, WAITING.encode())
