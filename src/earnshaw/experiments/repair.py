"""Whether a run folder is as it was written, and how to make it so again."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from earnshaw.errors import InputError
from earnshaw.experiments.engine import run
from earnshaw.experiments.parts import Part
from earnshaw.experiments.proving import prove_sweep
from earnshaw.experiments.sweep import load_sweep
from earnshaw.experiments.work import (
    KINDS,
    RECORD,
    Piece,
    Progress,
    drop_damaged_how,
    quiet,
    read_how,
    rebuild,
    work_of,
)
from earnshaw.store import RunFolder, read_manifest, read_npz, regular, sealed_certificates, write_bytes
from earnshaw.store.files import checksum
from earnshaw.store.folder import BEFORE


def verify(folder: str | Path, functions: bool = False) -> list[str]:
    """Return what is wrong with the files of a run folder, in a sentence each: damaged, of other work, or missing.

    An empty list says that everything is there and as it was written, but for pictures and pages, which nothing reads. In the
    folder of a part (``i/N``) that is everything of that part. Certificates are compared with what was written; whether they prove
    something is for :func:`~earnshaw.check` to say. Which pieces a part has may be asked of code of a user's own that the folder
    names: ``functions`` allows it.
    """
    folder, found = Path(folder), list[str]()

    def tried(read: Callable[[], Any]) -> Any:
        try:
            return read()
        except InputError as error:
            found.append(str(error))

    store = tried(lambda: RunFolder.open(folder))
    if store is None:
        return found
    for name, setting in store.settings.items():
        record = tried(lambda name=name: store.record(name)) if store.begun(name) else {"runs": 0, "files": []}
        runs, files = (record["runs"], record["files"]) if record else (setting["runs"], [""])
        for part in files:
            tried(lambda name=name, runs=runs, part=part: store.read(name, 0, runs, part))
        if runs < setting["runs"] and store.part is None:
            had = f"{name} has {runs} of {setting['runs']} runs"
            found.append(f"{folder} is not finished ({had}); run the same command again, or earnshaw runs repair")
        odd = [file for file in _odd_beside(store, name) if record and runs]
        found += [f"{file} is not what {name}.npz holds; earnshaw runs repair writes it anew" for file in odd]
        found += [fault for fault in _proofs(store, name) if fault not in found]
    found += [f"{file} is damaged, or of another computation or other runs" for file in _odd_pieces(store)]
    if store.part is not None and (left := tried(lambda: _left(store, functions))):
        had = f"{len(left)} of the pieces of part {store.part} are missing"
        found.append(f"{folder} is not finished ({had}); run the same command again, or earnshaw runs repair")
    if (folder / RECORD).exists():
        tried(lambda: read_how(folder))
    return found


def _odd_beside(store: RunFolder, name: str) -> dict[Path, bytes]:
    """Return the files made from the whole results of a setting that are not so, with what they should be."""
    try:
        arrays = store.read(name, 0, store.settings[name]["runs"], "")
        files = {store.path / file: content for file, content in KINDS[store.kind].beside(arrays).items()}
    except (InputError, KeyError):
        return {}
    return {file: content for file, content in files.items() if not _is(file, content)}


def _is(file: Path, content: bytes) -> bool:
    """Say whether a file has this content; arrays may be compressed otherwise."""
    try:
        if file.suffix != ".npz":
            return regular(file).read_bytes() == content
        with np.load(io.BytesIO(content)) as arrays:
            return checksum(read_npz(file)) == checksum(dict(arrays))
    except (InputError, OSError):
        return False


def _odd_pieces(store: RunFolder) -> list[Path]:
    """Return the pieces that are not those into which the work is cut, as far as that is known without a user's code."""
    held = store.pieces()
    odd = [file for file, span in held.items() if span is None]
    with contextlib.suppress(InputError):
        work = work_of(store.path) if held else None
        pieces = [piece for name in store.settings for piece in work.pieces(name)] if work else []
        cuts = {(x.setting, x.low, high) for x in pieces for high in (x.low, x.high)}  # stages end where pieces begin
        odd += [file for file, span in held.items() if span is not None and span not in cuts]
    return sorted(odd)


def _left(store: RunFolder, functions: bool) -> list[Piece]:
    """Return the pieces of a part that are not there."""
    work = rebuild(store.path, read_manifest(store.path), functions)
    every = [piece for name in store.settings for piece in work.pieces(name)]
    there = {span for span in store.pieces().values() if span is not None}
    runs = {name: store.record(name)["runs"] if store.begun(name) else 0 for name in store.settings}
    mine = Part.of(store.part or "1/1").share(every)
    return [x for x in mine if x.high > runs[x.setting] and (x.setting, x.low, x.high) not in there]


def _proofs(store: RunFolder, name: str) -> list[str]:
    """Return what is wrong with the proofs of a setting."""
    try:
        fault = store.proofs_fault(name)
        faults = sealed_certificates(store.path, name).values() if store.proved(name) else ()
        return [found for found in (fault, *faults) if found]
    except InputError as error:
        return [str(error)]


def repair(
    folder: str | Path, workers: int | None = None, progress: Progress = quiet, functions: bool = False
) -> list[str]:
    """Compute anew what :func:`verify` finds wrong with a run folder, and just that; return what it still finds.

    A folder of the version before this one gets the checksums of this one, if all its arrays are those of its manifest.
    Raises :class:`~earnshaw.InputError` and changes nothing where the manifest is damaged, or that of another computation
    than the files. A folder may name a function of a user's own, and using that runs code: ``functions`` allows it.
    """
    folder = Path(folder)
    if not verify(folder, functions):
        return []
    drop_damaged_how(folder)
    manifest = read_manifest(folder, before=True)
    store, old = RunFolder.of(folder, manifest), manifest["format"] == BEFORE
    store.require_mine(all_of_it=old)
    _write_beside(store)
    if verify(folder, functions):
        try:
            work = rebuild(folder, manifest, functions)
        except InputError as error:
            raise InputError(f"{folder} cannot be repaired: {error} (the same command again can do it)") from None
        run(work, folder, workers, progress, part=store.part)
        if work.kind == "sweep" and (odd := [name for name in store.settings if _proofs(store, name)]):
            prove_sweep([result for result in load_sweep(folder, functions) if result.name in odd], folder, workers)
        _write_beside(store)
    for file in _odd_pieces(store):
        file.unlink()
    return verify(folder, functions)


def _write_beside(store: RunFolder) -> None:
    """Write the files made from whole results that are not so."""
    for name in store.settings:
        for file, content in _odd_beside(store, name).items():
            write_bytes(file, content)
