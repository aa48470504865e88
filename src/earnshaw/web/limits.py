"""Every bound of the explorer in one table. The page reads the table, too: /api/about."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one request may ask for, and how much of it there may be at once. A view adds its own lines here."""

    # the server
    body_bytes: int = 2_000_000  #: of a request; a longer one is refused with 413
    body_seconds: float = 10.0  #: in which a request's body must have come
    head_seconds: float = 10.0  #: in which a connection must have sent the head of its next request
    connections: int = 200  #: open at once; the next one is refused with 429
    streams: int = 4  #: runs that go on at once; the next one is refused with 429

    # sizes
    k: int = 20  #: teacher neurons, or protons
    n: int = 24  #: student neurons, or electrons
    seed: int = 2**31 - 1
    runs: int = 1000  #: of one sweep
    steps: int = 1_000_000  #: of one run

    # the view Sweep
    sweep_steps: int = 200_000  #: of one run of a sweep
    sweep_seconds: float = 600.0
    families: int = 60  #: that are shown of one sweep
    proof_seconds: float = 120.0
    check_seconds: float = 60.0  #: of a certificate from a file
    process_bytes: int = 4 << 30  #: of memory, for a process that proves or checks


LIMITS = Limits()
