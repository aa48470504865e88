"""Code of the user's own, by name: ``module:function`` or ``path/to/file.py:function``."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import importlib.util
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from earnshaw.errors import InputError

_user = threading.RLock()


def load_function(name: str) -> Any:
    """Return what ``module:name`` or ``path/to/file.py:name`` stands for; what is not there raises :class:`InputError`.

    Loading runs the module's code. The file's folder and the current folder are where its own imports are looked for.
    """
    place, _, attribute = name.rpartition(":")
    if not place or not attribute:
        raise InputError(f"{name!r} names no function; write module:function or path/to/file.py:function")
    try:
        if place.endswith(".py"):
            path = Path(place).resolve()
            if not path.is_file():  # a pipe is none, and would be waited for
                raise FileNotFoundError
            with contained():
                module = _run_file(path, hashlib.sha256(path.read_bytes()).hexdigest())
        else:
            with _search(os.getcwd()), contained():
                module = importlib.import_module(place)
    except FileNotFoundError:
        missing = f"there is no file {place} in {Path.cwd().name or '/'}"
        raise InputError(f"{name!r} cannot be loaded: {missing}; give its path") from None
    except Exception as error:  # whatever the user's file raises when it runs
        raise InputError(f"{name!r} cannot be loaded: importing {place} raised {said(error)}") from None
    found = module
    for part in attribute.split("."):
        try:
            found = getattr(found, part, None)
        except Exception as error:  # whatever a property of the user's raises
            raise InputError(f"{name!r} cannot be loaded: looking up {part} raised {said(error)}") from None
    if found is None:
        raise InputError(f"{name!r} cannot be loaded: {place} has no {attribute}; check the spelling")
    return found


@functools.lru_cache(maxsize=64)
def _run_file(path: Path, content: str) -> Any:
    """Run a file as a module, once for each content."""
    spec = importlib.util.spec_from_file_location(f"earnshaw_user_{path.stem}_{content[:8]}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path.name} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    with _search(str(path.parent)):
        spec.loader.exec_module(module)
    return module


@contextlib.contextmanager
def contained() -> Iterator[None]:
    """Run code of the user's: what it prints goes to standard error, and its ``sys.exit`` is an error like any other."""
    with _user, contextlib.redirect_stdout(sys.stderr):  # one thread at a time, as the redirection is the process's
        try:
            yield
        except SystemExit as error:
            raise RuntimeError(f"it calls sys.exit({error.code!r:.40})") from None


@contextlib.contextmanager
def guarded(who: str, advice: str) -> Iterator[None]:
    """As :func:`contained`, and what the code raises becomes a sentence that names it and ends with the advice."""
    try:
        with contained():
            yield
    except InputError:
        raise
    except Exception as error:  # whatever the user's code raises
        raise InputError(f"{who} fails ({said(error)}); {advice}") from error


@contextlib.contextmanager
def _search(folder: str) -> Any:
    """Look for imports in this folder too, last."""
    sys.path.append(folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def said(error: Exception) -> str:
    """Return what an error of the user's code says, in one line."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
