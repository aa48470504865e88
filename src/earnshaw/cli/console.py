"""What all commands share: errors as one sentence, JSON lines, a progress bar."""

from __future__ import annotations

import contextlib
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console

from earnshaw.errors import AccuracyWarning, InputError

if TYPE_CHECKING:
    from rich.table import Table

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)

FINE, CLAIM_FAILED, BAD_USAGE, INTERRUPTED = 0, 1, 2, 130


@contextlib.contextmanager
def user_errors() -> Iterator[None]:
    """Turn a user's mistake into one sentence on standard error and exit code 2, and a warning into a sentence."""
    try:
        with warnings.catch_warnings():
            shown = warnings.showwarning

            def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
                if issubclass(category, AccuracyWarning):
                    note(f"warning: {message}")
                else:
                    shown(message, category, *where, **more)

            warnings.showwarning = show
            yield
    except InputError as error:
        err.print(f"[bold red]error:[/] {_plain(str(error))}", soft_wrap=True)
        raise typer.Exit(BAD_USAGE) from None
    except BrokenPipeError:
        raise typer.Exit(CLAIM_FAILED) from None


def _plain(text: str) -> str:
    return text.replace("[", r"\[")


def say(text: str) -> None:
    """Print a line of the results, whatever brackets it has."""
    out.print(text, soft_wrap=True, markup=False)


def spelled(text: str, plain: str) -> str:
    """Return a text, or its plain spelling where the terminal's encoding has no such letters."""
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return plain
    return text


@contextlib.contextmanager
def resumable(folder: Path) -> Iterator[None]:
    """Say, when work that goes to a folder is interrupted, that the same command goes on with it."""
    from earnshaw.experiments import Interrupted

    try:
        yield
    except (Interrupted, KeyboardInterrupt):
        note(f"interrupted; what is finished is in {folder}: run the same command again to go on")
        raise typer.Exit(INTERRUPTED) from None


def note(text: str) -> None:
    """Say something to the person at the terminal, apart from the results."""
    err.print(_plain(text), soft_wrap=True)


def show_table(table: Table) -> None:
    """Print a table: folded to the width of a terminal, and at the width it needs into a file or a pipe."""
    if out.is_terminal:
        out.print(table)
    else:
        needed = out.measure(table, options=out.options.update(max_width=1000)).maximum
        Console(width=needed, highlight=False).print(table)


def json_line(record: dict[str, Any]) -> None:
    """Write one JSON object on one line of standard output."""
    sys.stdout.write(json.dumps(record, allow_nan=False) + "\n")
    sys.stdout.flush()


@contextlib.contextmanager
def progress_bar(title: str) -> Iterator[Callable[[float, str], None]]:
    """Show a bar with the time left on standard error, if that is a terminal; yield the function that moves it."""
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("[bold]{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[what]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task(title, total=1.0, what="")
        yield lambda share, what: bar.update(task, completed=share, what=what)
