"""Work as plain data: what another process is sent, to compute a piece of a setting or to finish it.

A process of this computer reads and writes the run folder itself: arrays that need not come here make nobody wait.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from earnshaw.experiments.work import KINDS, Context, Finished, Piece, Timed, Work, put_results, timed
from earnshaw.numerics import remember_programs
from earnshaw.store import Arrays, RunFolder, canonical_json


@dataclass(frozen=True)
class Sent:
    """One setting of some work, from which another process rebuilds it.

    ``remember``: whether compiled programs are kept. ``folder``: the run folder, which the process that sends this has locked, where pieces
    and results go; else they are returned.
    """

    kind: str
    common: str
    part: str
    remember: bool
    folder: str | None = None

    @property
    def work(self) -> Work:
        """The work, of this setting alone."""
        if self.remember:
            remember_programs()
        return _work(self.kind, self.common, self.part)

    def compute(self, piece: Piece, context: Context, begun: Arrays | None = None) -> Timed:
        """Compute a piece, in another process, from what has begun of it; without its arrays where they are in the folder."""
        done = timed(self.work, piece, replace(context, begun=begun))
        if self.folder is None:
            return done
        self._opened.put(piece.setting, piece.low, piece.high, done.arrays)
        return replace(done, arrays={})

    def finish(self, name: str, pieces: Sequence[Piece | Arrays], context: Context) -> Finished:
        """Join the pieces of the setting, those in the folder and others, in another process; without arrays where they are in the folder."""
        arrays = [
            self._opened.read(name, piece.low, piece.high) if isinstance(piece, Piece) else piece for piece in pieces
        ]
        finished = self.work.finish(name, arrays)
        if self.folder is None:
            return finished
        put_results(self._opened, self.work, name, finished.files)
        return replace(finished, files={part: {} for part in finished.files})

    def rehearse(self, name: str, context: Context) -> None:
        """Compute a little of the setting, in another process, which then knows how."""
        self.work.rehearse(name, context)

    @property
    def _opened(self) -> RunFolder:
        assert self.folder is not None
        return _folder(self.folder, self.kind, self.common, self.part)


def sent(work: Work, names: Sequence[str], folder: Path | None = None) -> dict[str, Sent]:
    """Return settings of some work, by their names, as they are sent; to processes of this computer also with the folder."""
    import jax

    common, parts = canonical_json(work.common), work.parts
    remember = jax.config.jax_compilation_cache_dir is not None  # type: ignore[attr-defined]
    place = None if folder is None else str(folder.absolute())
    return {name: Sent(work.kind, common, canonical_json({name: parts[name]}), remember, place) for name in names}


@lru_cache(maxsize=256)
def _folder(path: str, kind: str, common: str, part: str) -> RunFolder:
    return RunFolder(Path(path), kind, json.loads(common), json.loads(part))


@lru_cache(maxsize=256)
def _work(kind: str, common: str, part: str) -> Work:
    return KINDS[kind].from_json(json.loads(common), json.loads(part), functions=True)
