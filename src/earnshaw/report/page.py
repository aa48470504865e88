"""A page: sections of text, tables, figures and commands, in one HTML file that needs no network."""

from __future__ import annotations

import base64
import itertools
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from urllib.parse import quote

from earnshaw.report.formulas import render
from earnshaw.store import write_bytes

LONG = 40  # characters of LaTeX from which on a formula in a line may scroll on a narrow screen


@dataclass(frozen=True)
class Text:
    """A paragraph. ``*emphasis*``, ``[label](address)`` and ``$x_y$``, a letter with an index, are understood; the rest is literal."""

    words: str

    def html(self) -> str:
        """Return the paragraph."""
        return f"<p>{_inline(self.words)}</p>"


@dataclass(frozen=True)
class Tex:
    r"""Words with formulas of our own, ``$...$`` in a line and ``\[...\]`` on one of its own, as MathML; not for the words of others."""

    latex: str
    name: str = ""  # of what stands in a box of its own, such as a theorem

    def html(self) -> str:
        """Return paragraphs and, between them, formulas that scroll where they are too wide."""
        parts = []
        for place, piece in enumerate(re.split(r"\\\[(.+?)\\\]", self.latex, flags=re.DOTALL)):
            if place % 2:
                parts.append(f'<div class="formula">{render(piece.strip(), display=True)}</div>')
            elif piece.strip():
                named = f"<strong>{escape(self.name)}.</strong> " if self.name and not parts else ""
                parts.append(f"<p>{named}{_with_formulas(piece.strip())}</p>")
        body = "\n".join(parts)
        return f'<div class="theorem">{body}</div>' if self.name else body


@dataclass(frozen=True)
class Code:
    """A command to type."""

    text: str

    def html(self) -> str:
        """Return the block."""
        return f"<pre><code>{escape(self.text)}</code></pre>"


@dataclass(frozen=True)
class Table:
    """Rows under headings; a row in ``marked`` stands out. Cells are text as in :class:`Text`."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    marked: frozenset[int] = frozenset()

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, str]]) -> Table:
        """Return rows, each by heading, as a table without the columns in which no row says anything."""
        headings = [name for name in dict.fromkeys(itertools.chain(*rows)) if any(row.get(name) for row in rows)]
        return cls(headings, [[row.get(name, "") for name in headings] for row in rows])

    def html(self) -> str:
        """Return the table, in a box that scrolls sideways on a narrow screen."""
        head = "".join(f"<th>{_inline(heading)}</th>" for heading in self.headings)
        body = "".join(
            f"<tr{' class=mark' if index in self.marked else ''}>{''.join(map(_cell, row))}</tr>"
            for index, row in enumerate(self.rows)
        )
        return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


@dataclass(frozen=True)
class Figure:
    """A picture file, put into the page itself, with a sentence that says what it shows."""

    path: Path
    caption: str
    plain: bool = False  # whether the sentence is for those only who do not see the picture

    def html(self) -> str:
        """Return the picture as part of the page."""
        kind = {".svg": "image/svg+xml", ".png": "image/png", ".gif": "image/gif"}[self.path.suffix]
        source = f"data:{kind};base64,{base64.b64encode(self.path.read_bytes()).decode()}"
        words = "" if self.plain else f"<figcaption>{_inline(self.caption)}</figcaption>"
        return f'<figure><img alt="{escape(self.caption)}" src="{source}">{words}</figure>'


@dataclass(frozen=True)
class Row:
    """Figures beside each other where there is room, as wide as the page together, and under each other on a phone."""

    figures: Sequence[Figure]

    def html(self) -> str:
        """Return the row."""
        return f'<div class="row">{"".join(figure.html() for figure in self.figures)}</div>'


@dataclass(frozen=True)
class Card:
    """One thing of many: a title, its pictures, and facts by name. Facts are text as in :class:`Text`."""

    title: str
    facts: Mapping[str, str]
    figures: Sequence[Figure] = ()

    def html(self) -> str:
        """Return the card: the first picture under the title, then the facts, then the others."""
        facts = "".join(
            f"<dt>{_inline(name)}</dt><dd>{_inline(fact)}</dd>" for name, fact in self.facts.items() if fact
        )
        first, others = ("".join(figure.html() for figure in some) for some in (self.figures[:1], self.figures[1:]))
        return f'<article class="card"><h3>{_inline(self.title)}</h3>{first}<dl>{facts}</dl>{others}</article>'


@dataclass(frozen=True)
class Cards:
    """Cards side by side, as many as there is room for."""

    cards: Sequence[Card]

    def html(self) -> str:
        """Return the grid."""
        return f'<div class="cards">{"".join(card.html() for card in self.cards)}</div>'


@dataclass(frozen=True)
class Folded:
    """Parts that open on a click on a title."""

    title: str
    parts: Sequence[Text | Tex | Code | Table | Figure]

    def html(self) -> str:
        """Return the title and what it hides."""
        body = "\n".join(part.html() for part in self.parts)
        return f"<details><summary>{_inline(self.title)}</summary>{body}</details>"


Part = Text | Tex | Code | Table | Figure | Row | Folded | Cards


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it."""

    title: str
    parts: Sequence[Part]

    @property
    def anchor(self) -> str:
        """The name that links lead to."""
        return re.sub("[^a-z0-9]+", "-", self.title.lower()).strip("-")

    def html(self) -> str:
        """Return the section."""
        body = "\n".join(part.html() for part in self.parts)
        return f'<section id="{self.anchor}"><h2>{escape(self.title)}</h2>\n{body}</section>'


@dataclass(frozen=True)
class Page:
    """A whole page."""

    title: str
    lead: str
    sections: Sequence[Section] = ()
    foot: str = ""
    headline: str = ""  # what it says first, in one sentence

    def html(self) -> str:
        """Return the document."""
        contents = "".join(f'<a href="#{s.anchor}">{escape(s.title)}</a>' for s in self.sections)
        body = "\n".join(section.html() for section in self.sections)
        headline = f'<p class="headline">{_inline(self.headline)}</p>' if self.headline else ""
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
            f"<title>{escape(self.title)}</title>\n<style>{_STYLE}</style></head>\n<body>\n"
            f"<header><h1>{escape(self.title)}</h1>{headline}<p>{_inline(self.lead)}</p></header>\n<nav>{contents}</nav>\n"
            f"<main>{body}</main>\n<footer>{_inline(self.foot)}</footer>\n</body></html>\n"
        )


def link(file: Path, out: Path) -> str:
    """Return the address of a file as seen from the page, with spaces, brackets and the like spelled as URLs do."""
    return quote(Path(os.path.relpath(file, out.parent)).as_posix())


def figures_of(out: Path) -> Path:
    """Return the folder of the pictures of a page."""
    return out.parent / f"{out.stem}-figures"


def write_page(page: Page, path: Path) -> None:
    """Write a page, whole or not at all."""
    write_bytes(path, page.html().encode())


def _cell(text: str) -> str:
    """Return a cell; a short one is not broken, and a long one keeps room on a narrow screen."""
    kind = " class=short" if len(text) <= 24 else " class=long" if len(text) > 60 else " class=middle"
    return f"<td{kind}>{_inline(text)}</td>"


def _with_formulas(words: str) -> str:
    """Return words of ours with formulas between dollars; a browser does not break one, so that a long one may scroll."""
    pieces = []
    for place, piece in enumerate(words.split("$")):
        formula = render(piece, display=False) if place % 2 else escape(piece)
        pieces.append(f'<span class="long">{formula}</span>' if place % 2 and len(piece) > LONG else formula)
    return "".join(pieces)


def _inline(text: str) -> str:
    """Return text as HTML: escaped, then emphasis, code, letters with an index, and links to files beside the page or the web."""
    text = escape(text)
    text = re.sub(r"\$(\w)_(\w+)\$", r"<math><msub><mi>\1</mi><mi>\2</mi></msub></math>", text)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    # Of the web, or of a file: nothing else has a colon that early, and two slashes begin the name of another machine.
    address = r"(?:https?://|(?!//|[\w.%+~-]*:))[\w./#:%+~-]+"
    text = re.sub(rf"\[([^\]]+)\]\(({address})\)", r'<a href="\2">\1</a>', text)
    return re.sub(r"(?<!\w)\*([^*]+)\*(?!\w)", r"<em>\1</em>", text)


_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #59636e; --line: #d5dae0; --paper: #fff; --tint: #f4f6f8; --link: #0072b2; --mark: #fff3d6 }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --soft: #9aa4ae; --line: #39424c; --paper: #14181d; --tint: #1d232a; --link: #56b4e9; --mark: #40341a } }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 62rem; padding: 1.2rem; font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper) }
h1 { font-size: 1.9rem; line-height: 1.2; margin: .4rem 0 } h2 { font-size: 1.3rem; margin: 2.2rem 0 .6rem; border-bottom: 1px solid var(--line); padding-bottom: .25rem }
.formula { overflow-x: auto; overflow-y: hidden; padding: .3rem 0 } .long { display: inline-block; max-width: 100%; overflow-x: auto; overflow-y: hidden; vertical-align: middle } math { font-family: "STIX Two Math", "Cambria Math", "Latin Modern Math", "Noto Sans Math", "DejaVu Math TeX Gyre", math }
.theorem { border-left: 4px solid var(--line); padding: .1rem 0 .1rem 1rem; margin: 1rem 0 } .theorem > p { margin: .5rem 0 }
header p { font-size: 1.05rem; color: var(--soft); max-width: 46rem } a { color: var(--link) }
nav { display: flex; flex-wrap: wrap; gap: .3rem 1.1rem; padding: .6rem 0; border-block: 1px solid var(--line); font-size: .95rem }
p { max-width: 46rem } code { font: .88em ui-monospace, monospace; background: var(--tint); padding: .1em .3em; border-radius: 4px; overflow-wrap: anywhere }
pre { background: var(--tint); border: 1px solid var(--line); border-radius: 6px; padding: .7rem .9rem; overflow-x: auto } pre code { background: none; padding: 0; overflow-wrap: normal }
.wide { overflow-x: auto; margin: .8rem 0 } table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums }
th, td { text-align: left; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top } th { color: var(--soft); font-weight: 600; white-space: nowrap }
td.short { white-space: nowrap } td.middle { min-width: 11rem } td.long { min-width: 17rem }
tr.mark td { background: var(--mark) } summary { cursor: pointer; color: var(--link); margin: .6rem 0 }
header .headline { font-size: 1.4rem; line-height: 1.35; font-weight: 600; color: var(--ink); max-width: none; margin: .9rem 0; border-left: 4px solid var(--link); padding-left: .8rem }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 18.5rem), 1fr)); gap: 1rem; margin: 1rem 0 }
.card { border: 1px solid var(--line); border-radius: 8px; padding: .8rem .9rem; background: var(--tint) } .card h3 { margin: 0 0 .5rem; font-size: 1.05rem } .card figure { margin: .5rem 0 } .card code { background: none; padding: 0 }
@media (min-width: 44rem) { .card:only-child { grid-column: 1 / -1; display: grid; grid-template-columns: 1fr 1fr; column-gap: 1.4rem } .card:only-child h3 { grid-column: 1 / -1 } .card:only-child > figure:nth-of-type(1) { grid-row: 2 / 4 } }
.card dl { display: grid; grid-template-columns: auto 1fr; gap: .15rem .8rem; margin: .6rem 0; font-size: .88rem; font-variant-numeric: tabular-nums } .card dt { color: var(--soft) } .card dd { margin: 0; overflow-wrap: anywhere }
figure { margin: 1.2rem 0 } figure img { width: 100%; height: auto; display: block; background: #fff; border: 1px solid var(--line); border-radius: 6px } figcaption { color: var(--soft); font-size: .92rem; max-width: 46rem; margin-top: .3rem }
.row { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: 0 1.2rem }
@media (max-width: 40rem) { body { padding: .9rem } h1 { font-size: 1.35rem } header p { font-size: .95rem } header .headline { font-size: 1.2rem } nav { flex-wrap: nowrap; overflow-x: auto; white-space: nowrap } }
footer { margin-top: 3rem; padding-top: .8rem; border-top: 1px solid var(--line); color: var(--soft); font-size: .9rem }
"""
