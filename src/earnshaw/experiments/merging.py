"""Parts of one computation that were computed apart become one folder, the one that a single run would have written."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from earnshaw.errors import AccuracyWarning, InputError
from earnshaw.experiments.engine import run
from earnshaw.experiments.work import RECORD, Done, Piece, Progress, Work, how_computed, quiet, rebuild
from earnshaw.store import Arrays, RunFolder, read_manifest, write_json
from earnshaw.store.folder import difference

SHOWN = 4  # missing ranges of runs that a message names


def merge(
    folders: Sequence[str | Path],
    out: str | Path,
    workers: int | None = None,
    progress: Progress = quiet,
    functions: bool = False,
) -> dict[str, Done]:
    """Join folders of one plan, each with a part of its pieces, into ``out``; return every setting's results by name.

    The result files are those of the undivided run, byte for byte. Nothing is computed but what follows from the pieces.
    Folders of different plans, a piece that is damaged, and pieces that no folder has raise :class:`InputError`, and then
    ``out`` is left as it was. The folders stay as they are. ``functions``: may a user's code that they name be loaded?
    """
    if isinstance(folders, str | Path):
        raise InputError(f"one folder is to be merged, {str(folders)!r}; give the folders of all parts, in a list")
    if not folders:
        raise InputError("there is nothing to merge; give the folders of the parts")
    sources = [RunFolder.open(Path(folder)) for folder in folders]
    first, target = sources[0], Path(out)
    if target.resolve() in {source.path.resolve() for source in sources}:
        raise InputError(f"{out} is to be merged into itself; give another folder as --out")
    for source in sources[1:]:
        words = f"{{where}} is {{0}} in {first.path}, and {{1}} in {source.path}"
        odd = difference(first.kind, source.kind, "the kind of work", words)
        odd = odd or difference(first.common, source.common, "", words)
        if odd := odd or difference(first.settings, source.settings, "", words):
            raise InputError(
                f"these are not parts of one computation: {odd}; give folders of one command (nothing was written)"
            )
    work = rebuild(first.path, read_manifest(first.path), functions)
    pieces = {name: work.pieces(name) for name in first.settings}
    whole: dict[str, RunFolder] = {}
    where: dict[Piece, RunFolder] = {}
    for source, (name, some) in itertools.product(sources, pieces.items()):
        count = _finished_runs(source, name)
        if count == source.settings[name]["runs"]:
            whole.setdefault(name, source)
        for piece in some:
            if piece.high <= count or source.has(name, piece.low):
                where.setdefault(piece, source)
    wanted = [piece for name, some in pieces.items() if name not in whole for piece in some]
    if missing := [piece for piece in wanted if piece not in where]:
        raise InputError(_told(missing, sum(map(len, pieces.values())), sources))
    for piece in wanted:  # all of them, before anything is written
        _read(work, where[piece], piece)
    with RunFolder(target, work.kind, work.common, work.parts) as folder:
        for name, source in whole.items():
            record = source.record(name)
            for part, arrays in _results(source, name).items():
                folder.put(name, 0, record["runs"], arrays, part)
            folder.put_record(name, record)
        for piece in wanted:
            folder.put(piece.setting, piece.low, piece.high, _read(work, where[piece], piece))
        _write_how(folder, sources)
    return run(work, target, workers, progress)


def _results(source: RunFolder, name: str) -> dict[str, Arrays]:
    """Return the results of a setting by part; damaged ones raise :class:`InputError`."""
    record = source.record(name)
    return {part: source.read(name, 0, record["runs"], part) for part in record["files"]}


def _finished_runs(source: RunFolder, name: str) -> int:
    """Return of how many runs of a setting a folder has results."""
    return source.record(name)["runs"] if source.begun(name) and _results(source, name) else 0


def _read(work: Work, source: RunFolder, piece: Piece) -> Arrays:
    """Return a piece from a folder: as it is, or out of the results of a setting that had fewer runs then."""
    if source.has(piece.setting, piece.low):
        return source.read(piece.setting, piece.low, piece.high)
    return work.cut(_results(source, piece.setting), piece)


def _told(missing: list[Piece], total: int, sources: Sequence[RunFolder]) -> str:
    """Return the sentence about pieces that no folder has."""
    ranges = [f"{piece.setting} runs {piece.low} to {piece.high - 1}" for piece in missing[:SHOWN]]
    more = f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
    given = f"{len(sources)} folders were given" if len(sources) > 1 else "one folder was given"
    return (
        f"{len(missing)} of {total} pieces are in none of these folders: {', '.join(ranges)}{more}; {given}: add the "
        "missing parts, or run the parts that were stopped again (nothing was written)"
    )


def _write_how(folder: RunFolder, sources: Sequence[RunFolder]) -> None:
    """Write how the parts were computed, with their times added; different versions are said, as they may differ in last bits."""
    known = [record for source in sources if (record := how_computed(source.path))["versions"]]
    if not known:
        return
    for other in known[1:]:
        for key in ("versions", "machine", "device"):
            if odd := difference(known[0].get(key), other.get(key), key, "{where} is {0} in one, and {1} in another"):
                told = f"the parts were computed differently, so that last bits may differ: {odd}"
                warnings.warn(AccuracyWarning(told), stacklevel=3)
    times: dict[str, dict[str, float]] = {}
    for name, spent in itertools.chain.from_iterable(record["times"].items() for record in known):
        mine = times.setdefault(name, dict.fromkeys(spent, 0.0))
        for key, seconds in spent.items():
            mine[key] += seconds
    tools: dict[str, set[str]] = {}
    for name, used in itertools.chain.from_iterable(record["tools"].items() for record in known):
        tools.setdefault(name, set()).update(used)
    record: dict[str, Any] = {
        **known[0],
        "times": times,
        "tools": {name: sorted(tools[name]) for name in sorted(tools)},
    }
    write_json(folder.path / RECORD, record)
