"""The command line: parse, call, show."""

from __future__ import annotations

import os
import signal
import sys


def main() -> None:
    """Run the command ``earnshaw``; where its output goes to a full disk or a closed pipe, end without a traceback."""
    # One BLAS thread, before NumPy loads: results must not depend on the number of cores, and workers are threads already.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from earnshaw.cli.app import app
    from earnshaw.cli.console import BAD_USAGE, CLOSED, note, terminate

    sys.stdout, sys.stderr = (stream or open(os.devnull, "w") for stream in (sys.stdout, sys.stderr))  # noqa: SIM115
    signal.signal(signal.SIGTERM, terminate)
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except OSError as error:
        if error.filename is not None:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is left in the buffer has nowhere to go
        if not isinstance(error, BrokenPipeError):
            note(f"error: the output cannot be written ({error.strerror})")
        sys.exit(CLOSED if isinstance(error, BrokenPipeError) else BAD_USAGE)
