"""``earnshaw explore``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from earnshaw.cli.console import say
from earnshaw.cli.helping import option

EXAMPLES = (
    "earnshaw explore                       # opens http://127.0.0.1:8750/",
    "earnshaw explore --port 0 --no-browser # a free port, and its address",
    "earnshaw explore --out runs/lecture    # keeps certificates",
)
OUT_HELP = "Keep here what the page makes, such as certificates. Without it they are removed in the end."


def explore(
    port: Annotated[int, option("Where it listens, on this computer only; 0 is a free port.")] = 8750,
    no_browser: Annotated[bool, option("Print the address, and open no browser.", "--no-browser")] = False,
    folder: Annotated[Path | None, option(OUT_HELP, "--out", metavar="DIR")] = None,
) -> None:
    """Open a page on which to watch electrons look for protons, and to play with what the library computes.

    It is served to this computer alone, and loads nothing from elsewhere. Everything on it is in its address, and it shows
    the command that computes each number again. Ctrl-C stops it.
    """
    from earnshaw import web

    web.explore(port, browser=not no_browser, out=folder, say=say)
