"""The command line: parse, call, show."""

from __future__ import annotations

import os


def main() -> None:
    """Run the command ``earnshaw``."""
    # One BLAS thread, before NumPy loads: results must not depend on the number of cores, and workers are threads already.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from earnshaw.cli.app import app

    app()
