"""Parts of one computation, for jobs that know nothing of each other: which pieces are whose, and how they come together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from earnshaw.errors import InputError
from earnshaw.experiments.work import Piece

MOST = 100_000  # parts


@dataclass(frozen=True)
class Part:
    """Part ``index`` of ``count``, counted from 1: a function of the pieces alone, so that nobody need talk to anybody."""

    index: int
    count: int

    @classmethod
    def of(cls, given: str | Self) -> Self:
        """Return the part that ``i/N`` means; what means none raises :class:`InputError`."""
        if isinstance(given, cls):
            return given
        match = re.fullmatch(r"(\d{1,9})/(\d{1,9})", str(given))
        if match is None:
            raise InputError(f"the part is {given!r}; give i/N, for example 2/8 for the second of eight")
        index, count = int(match[1]), int(match[2])
        if not 1 <= index <= count <= MOST:
            raise InputError(f"the part is {given}; i goes from 1 to N, and N from 1 to {MOST}")
        return cls(index, count)

    def __str__(self) -> str:
        """Return ``i/N``."""
        return f"{self.index}/{self.count}"

    @property
    def label(self) -> str:
        """What the name of its folder ends with: part02of16."""
        return f"part{self.index:0{len(str(self.count))}d}of{self.count}"

    def share(self, pieces: Sequence[Piece]) -> Iterator[Piece]:
        """Yield this part's pieces: neighbours, so that it has few programs to compile, of about 1/N of the whole weight.

        With :math:`w_j` the weights of the pieces in order and :math:`W` their sum, piece :math:`j` belongs to part

        .. math:: 1 + \\lfloor N\\,(w_0 + \\dots + w_{j-1} + w_j/2) / W \\rfloor .
        """
        total, before = sum(piece.weight for piece in pieces), 0.0
        for piece in pieces:
            owner = int(self.count * (before + piece.weight / 2) / total)
            before += piece.weight
            if min(owner, self.count - 1) == self.index - 1:
                yield piece
