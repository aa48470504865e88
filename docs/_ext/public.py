"""``.. public:: PACKAGE``: documentation of every public name of a package of earnshaw, from the docstrings.

Names that ``import earnshaw as es`` offers come first, as ``earnshaw.NAME``; the rest of the package's ``__all__``
follows. New names appear by themselves.
"""

from __future__ import annotations

import enum
import importlib
import inspect
from types import GenericAlias
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import earnshaw


def short_names(package: str) -> list[str]:
    """Return the names that the library itself offers from this package, sorted."""
    return sorted((name for name, home in earnshaw._HOME.items() if home == package), key=str.lower)


def entry(module: str, name: str) -> list[str]:
    """Return the autodoc lines for one name."""
    value = getattr(importlib.import_module(module), name)
    if inspect.isclass(value):
        exception = issubclass(value, Exception)
        lines = [f".. {'autoexception' if exception else 'autoclass'}:: {module}.{name}"]
        lines += [] if exception else ["   :members:"]
        lines += ["   :undoc-members:"] if issubclass(value, enum.Enum) else []
    else:
        lines = [f".. {'autofunction' if callable(value) else 'autodata'}:: {module}.{name}"]
    return [*lines, ""]


class Public(SphinxDirective):
    """Expand to the documentation of one package."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the parsed entries under two headings."""
        package = self.arguments[0]
        home = f"earnshaw.{package}"
        first = short_names(package)
        room = importlib.import_module(home)
        others = [
            name
            for name in getattr(room, "__all__", [])
            if name not in first and not isinstance(getattr(room, name), GenericAlias)  # other names of a type
        ]
        lines = [".. rubric:: In ``import earnshaw as es``", ""] if first else []
        lines += [line for name in first for line in entry("earnshaw", name)]
        lines += [f".. rubric:: In ``{home}``", ""] if others else []
        lines += [line for name in others for line in entry(home, name)]
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=False)


def setup(app: Sphinx) -> dict[str, Any]:
    """Make the directive known."""
    app.add_directive("public", Public)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
