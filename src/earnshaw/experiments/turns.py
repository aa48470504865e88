"""In which order pieces go to workers."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from earnshaw.experiments.work import Piece


def in_turn(missing: Mapping[str, list[Piece]], workers: int, few: bool = False) -> list[Piece]:
    """Return all pieces, those of settings far apart in turn: so workers compile programs, not wait for each other's.

    The settings of the heaviest pieces begin, so that the last piece to end is not one of theirs. Where programs are ``few``, that
    is so for one piece of each worker, and after those the heaviest come first.
    """
    some = [pieces for pieces in missing.values() if pieces]
    settings = sorted(some, key=lambda pieces: -pieces[0].weight)
    stride = -(-len(settings) // workers)
    if few:
        first = [pieces[0] for pieces in settings[:: max(1, stride)]]
        return first + [piece for pieces in settings for piece in pieces if piece not in first]
    rows = [row for first in range(stride) for row in itertools.zip_longest(*settings[first::stride])]
    return [piece for row in rows for piece in row if piece is not None]
