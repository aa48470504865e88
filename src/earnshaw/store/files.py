"""Atomic files: a reader sees the old content or the new one, never half of it."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import secrets
import stat
import threading
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from earnshaw.errors import InputError

MAX_INFLATED = 1 << 28  # bytes of an .npz that is much smaller itself
_READING = threading.Lock()  # NumPy asks ast about headers, which fails in two threads (python/cpython#106905)
HEADER = "header"  # the name of a sealed file's header among its arrays


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
        temporary = path.parent / f".{path.name}.{secrets.token_hex(4)}.tmp"
        try:
            with temporary.open("xb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
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
    """Write arrays as an ``.npz``, atomically; equal arrays give equal bytes."""
    write_bytes(path, npz_bytes(arrays))


def npz_bytes(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Return the content of an ``.npz`` file with these arrays, which would take 20 times as long to compress, by a fifth."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def checksum(arrays: Mapping[str, np.ndarray]) -> str:
    """Return the SHA-256 of arrays: their names, types, shapes and bytes."""
    total = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        total.update(canonical_json([name, array.dtype.str, list(array.shape)]).encode())
        total.update(array.tobytes())
    return total.hexdigest()


def write_sealed(path: Path, arrays: Mapping[str, np.ndarray], header: Mapping[str, Any]) -> None:
    """Write arrays as :func:`write_npz` does, with a header that says what they are and holds their checksum."""
    text = canonical_json({**header, "sha256": checksum(arrays)})
    write_npz(path, {**arrays, HEADER: np.array(text)})


def read_sealed(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read arrays and their header back; arrays that are not those of the checksum raise :class:`InputError`."""
    arrays = read_npz(path)
    try:
        header = json.loads(str(arrays.pop(HEADER)))
        good = header.pop("sha256") == checksum(arrays)
    except (KeyError, TypeError, ValueError, AttributeError):
        good, header = False, {}
    if not good:
        raise InputError(f"{path} is not as it was written (its checksum differs); it is damaged: remove it")
    return arrays, header


def read_json(path: Path) -> Any:
    """Read a JSON file; damage raises :class:`InputError`."""
    regular(path)
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"cannot read {path} ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not valid JSON ({error}); it is damaged or not a file of this program") from error


def regular(path: Path, what: str = "") -> Path:
    """Return the path of a regular file; ``what`` names it. A device or a pipe, which may never end, or a folder raises :class:`InputError`."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError) as error:  # ValueError: a path that no file can have
        raise InputError(f"cannot read {what}{path} ({getattr(error, 'strerror', None) or error})") from None
    if not stat.S_ISREG(mode):
        raise InputError(f"{what}{path} is {'a folder' if stat.S_ISDIR(mode) else 'no regular file'}; give a file")
    return path


def read_npz(path: Path) -> dict[str, np.ndarray]:
    """Read all arrays of an ``.npz`` file without ever running code from it; damage raises :class:`InputError`.

    So does an archive that would take more than :data:`MAX_INFLATED` bytes of memory, before any of them is taken.
    """
    regular(path)
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as inside:
                entries, size = inside.infolist(), path.stat().st_size
            total = sum(entry.file_size for entry in entries)
            if any(entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for entry in entries):
                raise InputError(f"{path} is compressed in another way than .npz files are; save it with numpy.savez")
            if total > max(MAX_INFLATED, 20 * size):
                raise InputError(f"{path} would inflate from {size} to {total} bytes; save it with numpy.savez instead")
        with _READING, path.open("rb") as stream:
            archive = np.load(stream, allow_pickle=False)
            if isinstance(archive, np.lib.npyio.NpzFile):
                with archive:
                    return {name: archive[name] for name in archive.files}
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"cannot read {path} ({error.strerror or error})") from error
    except Exception as error:  # zipfile, zlib and numpy report damage by a dozen classes
        raise InputError(f"{path} is not a readable .npz file; it is damaged or of another kind") from error
    raise InputError(f"{path} is a single array, not an .npz archive")


def read_npy(path: Path, what: str) -> np.ndarray:
    """Read one array from an ``.npy`` file; ``what`` names it in messages. Damage raises :class:`InputError`."""
    try:
        with regular(path, f"{what} ").open("rb") as stream:
            array = np.load(stream, allow_pickle=False)
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"cannot read {what} {path} ({error.strerror or error})") from None
    except Exception:  # numpy and zipfile report damage by several classes, and advise to unpickle it
        raise InputError(f"{what} {path} is not a .npy array; save one with numpy.save") from None
    if not isinstance(array, np.ndarray):
        array.close()
        raise InputError(f"{what} {path} is an archive of several arrays; save the one array with numpy.save")
    return array
