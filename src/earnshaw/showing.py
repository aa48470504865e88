"""How objects show themselves: a short line in a terminal, and a small table, with a matrix as colours, in a notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

SHOWN = 400  # entries of a matrix up to which it is drawn


class Shown:
    """Shows itself by :meth:`_line`, and in a notebook by :meth:`_facts` and :meth:`_matrix`."""

    def _line(self) -> str:
        """Return what stands between the brackets of the short form."""
        raise NotImplementedError

    def _facts(self) -> Mapping[str, object]:
        """Return what the table of a notebook says, by name."""
        return {}

    def _matrix(self) -> Any:
        """Return the matrix that a notebook draws; None if there is none."""
        return None

    def __repr__(self) -> str:
        """Say in one line what this is."""
        return f"{type(self).__name__}({self._line()})"

    def _repr_html_(self) -> str:
        """Say it in a notebook."""
        rows = "".join(
            f'<tr><th style="text-align:left">{escape(name)}</th><td style="text-align:left">{escape(str(fact))}</td></tr>'
            for name, fact in self._facts().items()
        )
        table = f"<table>{rows}</table>" if rows else ""
        return f"<div><strong>{escape(repr(self))}</strong>{table}{heat(self._matrix())}</div>"


def sized(sizes: Mapping[str, Any]) -> str:
    """Return sizes in words: k=7, n=7, d=7."""
    return ", ".join(f"{name}={size:g}" for name, size in sizes.items())


def heat(matrix: Sequence[Sequence[float]] | None) -> str:
    """Return a matrix as a table of colours, red above 0 and blue below; nothing for a large one, or none."""
    rows = [] if matrix is None else [[float(entry) for entry in row] for row in matrix]
    if not rows or not rows[0] or sum(map(len, rows)) > SHOWN:
        return ""
    limit = max(abs(entry) for row in rows for entry in row) or 1.0

    def cell(entry: float) -> str:
        share = abs(entry) / limit
        base = (178, 24, 43) if entry > 0 else (33, 102, 172)
        back = ",".join(str(round(255 + share * (part - 255))) for part in base)
        ink = "#fff" if share > 0.55 else "#000"
        style = f"background:rgb({back});color:{ink};padding:2px 4px;text-align:right;font-size:smaller"
        return f'<td style="{style}">{round(entry, 2) + 0.0:.2f}</td>'

    body = "".join(f"<tr>{''.join(map(cell, row))}</tr>" for row in rows)
    return f'<table style="border-collapse:collapse">{body}</table>'
