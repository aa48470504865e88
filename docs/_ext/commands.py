"""``.. commands::``: every command of ``earnshaw`` with its help, as the code prints it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click
import typer
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from earnshaw.cli.app import app as earnshaw

WIDTH = 80


def helps() -> Iterator[tuple[str, str]]:
    """Yield every command, such as ``earnshaw runs show``, and its help."""
    yield from _below(typer.main.get_command(earnshaw), "earnshaw", None)


def _below(command: Any, name: str, parent: Any) -> Iterator[tuple[str, str]]:
    context = command.make_context(name.rpartition(" ")[2], [], parent=parent, resilient_parsing=True)
    context.max_content_width = context.terminal_width = WIDTH
    yield name, click.unstyle(command.get_help(context))
    for below in getattr(command, "list_commands", lambda context: [])(context):
        yield from _below(command.get_command(context, below), f"{name} {below}", context)


class Commands(SphinxDirective):
    """Expand to a section for each command."""

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        made: list[nodes.Node] = []
        for name, text in helps():
            section = nodes.section(ids=[name.replace(" ", "-")], names=[name])
            section += nodes.title(name, name)
            block = nodes.literal_block(text, text.rstrip())
            block["language"] = "text"
            section += block
            made.append(section)
        return made


def setup(app: Sphinx) -> dict[str, Any]:
    """Make the directive known."""
    app.add_directive("commands", Commands)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
