"""Work as plain data: what another process is sent, to compute a piece of a setting or to finish it."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from earnshaw.experiments.work import KINDS, Context, Finished, Piece, Span, Timed, Work, timed
from earnshaw.numerics import remember_programs
from earnshaw.store import Arrays, canonical_json


@dataclass(frozen=True)
class Sent:
    """One setting of some work, from which another process rebuilds it, and whether compiled programs are kept."""

    kind: str
    common: str
    part: str
    remember: bool

    @property
    def work(self) -> Work:
        """The work, of this setting alone."""
        if self.remember:
            remember_programs()
        return _work(self.kind, self.common, self.part)

    def compute(self, piece: Piece, context: Context) -> Timed:
        """Compute a piece, in another process, and tell its times by the clock of all."""
        done = timed(self.work, piece, context)
        shift = time.time() - time.perf_counter()  # this process's clock means nothing elsewhere
        moved: list[Span] = [(begin + shift, end + shift) for begin, end in (done.span, *done.compiling)]
        return replace(done, span=moved[0], compiling=moved[1:])

    def finish(self, name: str, pieces: list[Arrays], context: Context) -> Finished:
        """Join the pieces of the setting, in another process."""
        return self.work.finish(name, pieces)


def sent(work: Work, names: Sequence[str]) -> dict[str, Sent]:
    """Return settings of some work, by their names, as they are sent."""
    import jax

    common, parts = canonical_json(work.common), work.parts
    remember = jax.config.jax_compilation_cache_dir is not None  # type: ignore[attr-defined]
    return {name: Sent(work.kind, common, canonical_json({name: parts[name]}), remember) for name in names}


@lru_cache(maxsize=256)
def _work(kind: str, common: str, part: str) -> Work:
    return KINDS[kind].from_json(json.loads(common), json.loads(part), functions=True)
