"""Formulas as MathML, made when the site is built: the reader's browser needs no script, font or network.

A formula that cannot be rendered makes the build fail, with the page and the line.
"""

from __future__ import annotations

import html
import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

from earnshaw.report.formulas import render

TAG = re.compile(r"\\tag\{([^{}]*)\}")
LONG = 40  # characters of LaTeX
LOGGER = logging.getLogger(__name__)


def _checked(writer: Any, node: nodes.Element, tex: str, display: bool) -> str:
    try:
        return render(tex, display)
    except ValueError as error:
        LOGGER.error("%s in the formula %r", error, tex, location=node)
        writer.builder.app.statuscode = 1
        return html.escape(tex)


def inline(writer: Any, node: nodes.math) -> None:
    """Write a formula in a line of text; a browser does not break it, so a long one may scroll on a phone."""
    formula = _checked(writer, node, node.astext(), display=False)
    writer.body.append(f'<span class="long">{formula}</span>' if len(node.astext()) > LONG else formula)
    raise nodes.SkipNode


def block(writer: Any, node: nodes.math_block) -> None:
    r"""Write a displayed formula, which scrolls when it is too wide, and its number or ``\tag``."""
    tex, number = node.astext(), ""
    if node.get("number"):
        number = get_node_equation_number(writer, node)
    elif tag := TAG.search(tex):
        tex, number = TAG.sub("", tex), tag[1]
    eqno = f'<span class="eqno">({html.escape(str(number))})</span>' if number else ""
    identity = f' id="{node["ids"][0]}"' if node["ids"] else ""
    formula = _checked(writer, node, tex, display=True)
    writer.body.append(f'<div class="math-block"{identity}><div class="formula">{formula}</div>{eqno}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Make ``html_math_renderer = "mathml"`` known."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
