"""``earnshaw report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from earnshaw.cli.console import out, user_errors
from earnshaw.cli.helping import examples

EXAMPLES = examples(
    "earnshaw sweep -k 6..8 --prove --out runs/mine",
    "earnshaw report runs/mine        # then open runs/mine/report.html",
)


def report(
    folder: Annotated[Path, typer.Argument(metavar="RUN_FOLDER", help="A folder that earnshaw sweep wrote.")],
    page: Annotated[
        Path | None, typer.Option("--out", metavar="FILE.html", help="The page (default: RUN_FOLDER/report.html).")
    ] = None,
) -> None:
    """Write one self-contained web page about a sweep: tables, figures, families, and what is proved."""
    with user_errors():
        from earnshaw.report import sweep_page, write_page

        path = page or folder / "report.html"
        write_page(sweep_page(folder, path), path)
        out.print(f"written: [bold]{path}[/]", soft_wrap=True)
