"""Docstrings for Sphinx: numpy's sections, in the short form of this project, and signatures that can be read."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx
from sphinx.ext.napoleon import Config
from sphinx.ext.napoleon.docstring import NumpyDocstring

ENTRY = re.compile(r"(?P<names>\w+(?:, \w+)*) : (?P<text>\S.*)")
TYPE_LENGTH = 40  # a longer text after the colon is a sentence
NAPOLEON: Any = Config(napoleon_use_ivar=True, napoleon_use_rtype=False, napoleon_attr_annotations=False)


def entries(lines: list[str]) -> list[str]:
    """Rewrite ``name, other : sentence``, which may run over several lines, as numpy's entries with a description."""
    found, position, within = [], 0, False
    while position < len(lines):
        line = lines[position]
        below = lines[position + 1] if position + 1 < len(lines) else ""
        within = within or (line in ("Parameters", "Attributes") and below.startswith("---"))
        entry = ENTRY.fullmatch(line) if within else None
        position += 1
        if entry and not (below.startswith(" ") and len(entry["text"]) <= TYPE_LENGTH):
            text = [entry["text"]]
            while position < len(lines) and lines[position].startswith(" "):
                text.append(lines[position].strip())
                position += 1
            for name in entry["names"].split(", "):
                found += [name, *(f"    {part}" for part in text)]
        elif within and line.startswith("Reference: "):
            found += ["References", "----------", line.removeprefix("Reference: ")]
        else:
            found.append(line)
    return found


def process(app: Sphinx, what: Any, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Read numpy's sections; a property's docstring is one sentence, in which a colon is only a colon."""
    if what not in ("attribute", "property", "data"):
        lines[:] = NumpyDocstring(entries(lines), NAPOLEON, app, what, name, value, options).lines()


def signature(app: Sphinx, what: str, name: str, value: Any, options: Any, text: str | None, result: str | None) -> Any:
    """Shorten what has no readable source: arrays of a stated dtype, and defaults that are made by a function."""
    array = r"~?numpy\.ndarray\[tuple\[[^\]]*\], ~?numpy\.dtype\[[^\]]*\]\]"

    def short(part: str | None) -> str | None:
        part = re.sub(r"<factory>|<function [^>]*>+|<object[^>]*>", "...", part) if part else part
        return re.sub(array, "~numpy.ndarray", part) if part else part

    return short(text), short(result)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect both hooks to autodoc."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", process)
    app.connect("autodoc-process-signature", signature)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
