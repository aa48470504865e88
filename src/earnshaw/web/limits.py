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
    d: int = 24  #: the dimension in which charges move
    filter: int = 100  #: weights p of the convolutional network's filter
    patches: int = 60  #: patches k that it sees; with the step 0.1 ends are proved up to this
    seed: int = 2**31 - 1
    coordinate: float = 1e3  #: of a charge that was dragged
    watched_steps: int = 20_000  #: of a run that is shown on its way
    runs: int = 1000  #: of one sweep
    steps: int = 1_000_000  #: of one run

    # Landscape and Atlas
    resolution: int = 101  #: places along each axis of a slice
    reach: float = 100.0  #: how far a slice goes
    atlas_k: int = 100_000  #: teacher neurons of a family: the cost of a proof from blocks does not grow with k
    atlas_families: int = 12  #: shown together
    ladder_k: int = 10  #: teacher neurons of a ladder
    ladder_neurons: int = 3  #: that it adds
    ladder_seconds: float = 600.0  #: for one rung more

    # the view Sweep
    sweep_steps: int = 200_000  #: of one run of a sweep
    sweep_seconds: float = 600.0
    families: int = 60  #: that are shown of one sweep
    proof_seconds: float = 120.0
    check_seconds: float = 60.0  #: of a certificate from a file
    kept: int = 200  #: sweeps, and as many proofs, that are kept in the folder; the results of others are only shown
    process_bytes: int = 4 << 30  #: of memory, for a process that proves or checks


LIMITS = Limits()
