"""The command line: parse, call, show."""

from __future__ import annotations

import contextlib
import os
import sys


def main() -> None:
    """Run the command ``earnshaw``; whatever stops it, and wherever its output goes, it ends without a traceback."""
    # One BLAS thread, before NumPy loads: results must not depend on the number of cores, and workers are threads already.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Memory of a GPU as it is needed: JAX would take three quarters of all, which on a large one costs two seconds.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    from earnshaw.cli.stopping import deaf, ends, exit_code, listen

    sys.stdout, sys.stderr = (stream or open(os.devnull, "w") for stream in (sys.stdout, sys.stderr))  # noqa: SIM115
    listen()
    try:
        try:
            _run()
        except KeyboardInterrupt:  # while it was loading, or on its way out
            sys.exit(exit_code())
    except SystemExit as ended:
        ends(ended.code)
        raise
    finally:
        deaf()


def _run() -> None:
    """Run the command; output that goes to a full disk is one sentence, and to a closed pipe nothing at all."""
    from earnshaw.cli.app import app
    from earnshaw.cli.console import BAD_USAGE, CLOSED, note

    stdout = sys.stdout
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except SystemExit:
        if sys.stdout is not stdout:  # while it showed help, Typer met a closed pipe and took the output away
            sys.exit(CLOSED)
        raise
    except OSError as error:
        if error.filename is not None:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is left in the buffer has nowhere to go
        if isinstance(error, BrokenPipeError):
            sys.exit(CLOSED)
        with contextlib.suppress(OSError):  # where standard error is full, too
            note(f"error: the output cannot be written ({error.strerror})")
        sys.exit(BAD_USAGE)
