"""Atomic files: a reader sees the old content or the new one, never half of it."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from earnshaw.errors import InputError


def canonical_json(record: Any) -> str:
    """Return the one JSON text of a record: sorted keys, no spaces, no NaN."""
    return json.dumps(record, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(record: Any) -> str:
    """Return the SHA-256 of a record's canonical JSON, in hexadecimal."""
    return hashlib.sha256(canonical_json(record).encode()).hexdigest()


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file to a temporary name beside it, flush it to the disk, and rename it into place; make its folder if needed."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            os.chmod(temporary, 0o644)
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError as error:
        raise InputError(f"cannot write {path} ({error.strerror}); nothing was changed there") from error


def write_json(path: Path, record: Any) -> None:
    """Write a record as indented JSON, atomically."""
    write_bytes(path, (json.dumps(record, indent=1, allow_nan=False) + "\n").encode())


def write_npz(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays as a compressed ``.npz``, atomically; equal arrays give equal bytes."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    write_bytes(path, buffer.getvalue())


def read_json(path: Path) -> Any:
    """Read a JSON file; damage raises :class:`InputError`."""
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"cannot read {path} ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not valid JSON ({error}); it is damaged or not a file of this program") from error


def read_npz(path: Path) -> dict[str, np.ndarray]:
    """Read all arrays of an ``.npz`` file without ever running code from it; damage raises :class:`InputError`."""
    try:
        archive = np.load(io.BytesIO(path.read_bytes()), allow_pickle=False)
        if isinstance(archive, np.lib.npyio.NpzFile):
            with archive:
                return {name: archive[name] for name in archive.files}
    except OSError as error:
        raise InputError(f"cannot read {path} ({error.strerror or error})") from error
    except Exception as error:  # zipfile, zlib and numpy report damage by a dozen classes
        raise InputError(f"{path} is not a readable .npz file ({error}); it is damaged or of another kind") from error
    raise InputError(f"{path} is a single array, not an .npz archive")


def read_npy(path: Path, what: str) -> np.ndarray:
    """Read one array from an ``.npy`` file; ``what`` names it in messages. Damage raises :class:`InputError`."""
    try:
        array = np.load(io.BytesIO(path.read_bytes()), allow_pickle=False)
    except OSError as error:
        raise InputError(f"cannot read {what} {path} ({error.strerror or error})") from None
    except Exception as error:  # numpy and zipfile report damage by several classes
        raise InputError(f"{what} {path} is not a .npy array ({error}); save one with numpy.save") from None
    if not isinstance(array, np.ndarray):
        array.close()
        raise InputError(f"{what} {path} is an archive of several arrays; save the one array with numpy.save")
    return array
