"""What all commands share: errors as one sentence, JSON lines, tables, a progress bar."""

from __future__ import annotations

import contextlib
import errno
import json
import logging
import os
import re
import shlex
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from rich.console import Console
from rich.markup import escape

from earnshaw.cli.stopping import cause, exit_code, heard
from earnshaw.errors import AccuracyWarning, DamageWarning, InputError

if TYPE_CHECKING:
    from rich.table import Column
    from rich.text import Text


class _Console(Console):
    """A console that lets an error of its stream through, for :func:`earnshaw.cli.main` to tell."""

    def on_broken_pipe(self) -> None:
        """Raise the error again."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


out = _Console(highlight=False)
err = _Console(stderr=True, highlight=False)

LOG = logging.getLogger("earnshaw")
LINE = re.compile(rb"$|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4} ")  # how a log begins
FINE, CLAIM_FAILED, BAD_USAGE, CLOSED = 0, 1, 2, 141  # and those of stopping.py


@contextlib.contextmanager
def user_errors() -> Iterator[None]:
    """Turn a user's mistake into one sentence on standard error and exit code 2, and a warning into a sentence."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", DamageWarning)
            shown, said = warnings.showwarning, set[str]()

            def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
                if issubclass(category, AccuracyWarning | DamageWarning):
                    if str(message) not in said:
                        note(f"warning: {message}")
                    said.add(str(message))
                else:
                    shown(message, category, *where, **more)

            warnings.showwarning = show
            yield
    except (InputError, KeyboardInterrupt) as error:
        # An error may be what became of Ctrl-C inside compiled code.
        if isinstance(error, KeyboardInterrupt) or heard():
            note(cause())
            raise typer.Exit(exit_code()) from None
        LOG.info(f"error: {error}")
        err.print(f"[bold red]error:[/] {escape(str(error))}", soft_wrap=True)
        raise typer.Exit(BAD_USAGE) from None
    except (AssertionError, RuntimeError) as error:
        if isinstance(error, typer.Exit) or (told := _no_device()) is None:
            raise
        note(f"error: {told}")
        raise typer.Exit(BAD_USAGE) from None
    except MemoryError:
        note("error: there is not enough memory for this; ask for smaller sizes, or fewer")
        raise typer.Exit(BAD_USAGE) from None
    except BrokenPipeError:
        raise typer.Exit(CLOSED) from None
    except OSError as error:  # a name that is too long, say: whoever looks at a path first meets it
        if error.filename is None:  # of the output: see earnshaw.cli.main
            raise
        note(f"error: cannot use {error.filename} ({error.strerror}); give another path")
        raise typer.Exit(BAD_USAGE) from None


def _no_device() -> str | None:
    """Say that JAX can use no device, if that is so: whoever computes first meets it, as an error of JAX's own."""
    if "jax" not in sys.modules:
        return None
    from earnshaw.numerics import backend

    try:
        backend()
    except InputError as error:
        return str(error)
    return None


def bold(text: object) -> str:
    """Return text in bold for :func:`say` with ``markup``, its own brackets as they are."""
    return f"[bold]{escape(str(text))}[/]"


def say(text: str, markup: bool = False) -> None:
    """Print a line of the results, whatever brackets it has; with ``markup`` these say what is bold."""
    out.print(text, soft_wrap=True, markup=markup)


def note(text: str) -> None:
    """Say something to the person at the terminal, apart from the results; the log hears it, too."""
    LOG.info(text)
    err.print(text, soft_wrap=True, markup=False)


def fail(text: str) -> NoReturn:
    """Say which claim failed, and leave with the exit code that says so."""
    note(text)
    raise typer.Exit(CLAIM_FAILED)


def spelled(text: str, plain: str) -> str:
    """Return a text, or its plain spelling where the terminal's encoding has no such letters."""
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return plain
    return text


def show_table(columns: Iterable[str | Column], rows: Iterable[Iterable[str | Text]], **look: Any) -> None:
    """Print a table: folded to the width of a terminal, and at the width it needs into a file or a pipe."""
    from rich.table import Table
    from rich.text import Text

    table = Table(*columns, box=None, **look)
    for row in rows:
        table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    needed = out.measure(table, options=out.options.update(max_width=1000)).maximum
    if out.is_terminal:
        table.collapse_padding = needed > out.width  # a space between columns, not two
        out.print(table)
    else:
        _Console(width=needed, highlight=False).print(table)


def json_line(record: dict[str, Any]) -> None:
    """Write one JSON object on one line of standard output."""
    sys.stdout.write(json.dumps(record, allow_nan=False) + "\n")
    sys.stdout.flush()


@contextlib.contextmanager
def resumable(folder: Path) -> Iterator[None]:
    """Keep compiled programs; when work that goes to a folder is interrupted, say that the same command goes on with it."""
    from earnshaw.experiments import Interrupted
    from earnshaw.numerics import remember_programs

    remember_programs()
    try:
        yield
    except (Interrupted, KeyboardInterrupt) as error:
        kept = f"; what is finished is in {folder}: run the same command again to go on"
        note(cause() + (kept if folder.exists() else " before anything was finished"))
        standing = getattr(error, "standing", None)
        if standing is not None:
            note(f"so far: {standing}")
            note(f"to go on: {command_line()}")
        raise typer.Exit(exit_code()) from None
    except InputError as error:
        if isinstance(error.__cause__, OSError) and error.__cause__.errno == errno.ENOSPC and folder.exists():
            kept = f"what is finished is in {folder}: make room, and run the same command again to go on"
            raise InputError(f"{error}; {kept}") from error.__cause__
        raise


def command_line() -> str:
    """Return what was typed, to be typed again."""
    return shlex.join(["earnshaw", *sys.argv[1:]])


class _Log(logging.FileHandler):
    """A log that ends, with a word, where it cannot be written: the work goes on."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Say why, and write no more."""
        LOG.removeHandler(self)
        note(
            f"warning: --log {self.baseFilename} ends here ({getattr(sys.exception(), 'strerror', None) or sys.exception()})"
        )


@contextlib.contextmanager
def logged(file: Path | None) -> Iterator[None]:
    """Write lines with times to a file meanwhile: the command, what the engine and :func:`note` say, the exit code.

    They go behind those that are there. A file that is no log is refused: it would not be what it was.
    """
    if file is None:
        yield
        return
    from earnshaw.store.files import regular

    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.exists() and not LINE.match(regular(file, "--log ").read_bytes()[:40]):
            raise InputError(f"--log {file} is no log of such commands; give another file")
        handler = _Log(file, encoding="utf-8")
    except OSError as error:
        raise InputError(f"--log {file} cannot be written ({error.strerror}); give another file") from None
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%Y-%m-%dT%H:%M:%S%z"))
    level = LOG.level
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)
    code: int | str = FINE
    try:
        LOG.info(f"begin: {command_line()}")
        yield
    except typer.Exit as ended:
        code = ended.exit_code
        raise
    except BaseException as error:
        code = type(error).__name__
        raise
    finally:
        LOG.info(f"end: exit code {code}")
        LOG.setLevel(level)
        LOG.removeHandler(handler)
        with contextlib.suppress(OSError):  # what could not be written is said
            handler.close()


@contextlib.contextmanager
def progress_bar(title: str, folder: Path | None = None) -> Iterator[Callable[[float, str], None]]:
    """Show on standard error how far work has come (:func:`earnshaw.experiments.progress.shown`); yield what moves it.

    Work into a folder is :func:`resumable`.
    """
    from earnshaw.experiments.progress import shown

    with resumable(folder) if folder else contextlib.nullcontext(), shown(title, err) as show:

        def move(share: float, what: str) -> None:
            if heard():
                raise KeyboardInterrupt  # which somebody swallowed
            show(share, what)

        yield move
