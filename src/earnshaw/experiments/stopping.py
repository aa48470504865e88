"""When work stops: at a signal, and after a time."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def heard(stop: threading.Event) -> Iterator[None]:
    """Set ``stop`` at a signal that has a handler in Python (Ctrl-C has one) before that handler raises.

    What it raises is lost where it lands in a callback: JAX has one that is called at any collection of garbage.
    """
    every = [signal.SIGINT, signal.SIGTERM, *([signal.SIGALRM] if hasattr(signal, "SIGALRM") else [])]
    numbers = every if threading.current_thread() is threading.main_thread() else ()
    before = {number: handler for number in numbers if callable(handler := signal.getsignal(number))}

    def hear(number: int, frame: FrameType | None) -> None:
        stop.set()
        before[signal.Signals(number)](number, frame)

    for number in before:
        signal.signal(number, hear)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def limited(stop: threading.Event, seconds: float) -> Iterator[None]:
    """Set ``stop`` after some seconds, perhaps infinitely many."""
    timer = threading.Timer(seconds, stop.set)
    timer.daemon = True
    if seconds < threading.TIMEOUT_MAX:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
