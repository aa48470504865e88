"""Whether a run folder is as it was written, and how to make it so again."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from earnshaw.errors import InputError
from earnshaw.experiments.engine import run
from earnshaw.experiments.proving import prove_sweep
from earnshaw.experiments.sweep import load_sweep
from earnshaw.experiments.work import RECORD, Progress, quiet, read_how, rebuild, work_of
from earnshaw.store import RunFolder, read_manifest, sealed_certificates
from earnshaw.store.folder import BEFORE


def verify(folder: str | Path) -> list[str]:
    """Return what is wrong with the files of a run folder, in a sentence each: damaged, of other work, or missing.

    An empty list says that everything is there and as it was written. Certificates are compared with what was written;
    whether they prove something is for :func:`~earnshaw.check` to say.
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
        if runs < setting["runs"]:
            had = f"{name} has {runs} of {setting['runs']} runs"
            found.append(f"{folder} is not finished ({had}); run the same command again, or earnshaw runs repair")
        found += _proofs(store, name)
    found += [f"{file} is damaged, or of another computation or other runs" for file in _odd_pieces(store)]
    if (folder / RECORD).exists():
        tried(lambda: read_how(folder))
    return found


def _odd_pieces(store: RunFolder) -> list[Path]:
    """Return the pieces that are not those into which the work is cut, as far as that is known without a user's code."""
    held = store.pieces()
    odd = [file for file, span in held.items() if span is None]
    with contextlib.suppress(InputError):
        work = work_of(store.path) if held else None
        cuts = {(x.setting, x.low, x.high) for name in store.settings for x in work.pieces(name)} if work else set()
        odd += [file for file, span in held.items() if span is not None and span not in cuts]
    return sorted(odd)


def _proofs(store: RunFolder, name: str) -> list[str]:
    """Return what is wrong with the proofs of a setting."""
    certificates = store.path.glob(f"certificates/{name}-family*.json")
    if not store.proved(name):
        missing = f"{store.path / name}-proofs.json is missing, though there are certificates of {name}"
        return [f"{missing}; earnshaw sweep --prove writes it"] if any(certificates) else []
    try:
        return [fault for fault in sealed_certificates(store.path, name).values() if fault]
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
    manifest = read_manifest(folder, before=True)
    work = rebuild(folder, manifest, functions)
    RunFolder.of(folder, manifest).require_mine(all_of_it=manifest["format"] == BEFORE)
    run(work, folder, workers, progress)
    store = RunFolder.open(folder)
    if work.kind == "sweep" and (odd := [name for name in store.settings if _proofs(store, name)]):
        prove_sweep([result for result in load_sweep(folder, functions) if result.name in odd], folder, workers)
    for file in _odd_pieces(store):
        file.unlink()
    return verify(folder)
