"""The certificate that comes with the package: the minimum of k = n = 6."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path


@contextmanager
def shipped_certificate() -> Iterator[Path]:
    """Give its path, for as long as it is needed: it may have to be unpacked."""
    with as_file(files("earnshaw") / "data" / "k6-minimum.json") as path:
        yield path
