"""Every erratum is shown by something that the tests run, and that asserts something."""

import ast
import re
from pathlib import Path

import pytest

from earnshaw.papers import ERRATA, PAPERS

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = (REPOSITORY / "docs" / "errata.md").read_text()
NODE = re.compile(r"(tests/[\w/]+\.py)(?:::(\w+))?")


def sections() -> dict[str, str]:
    """Return the entries of the page by their heading."""
    parts = re.split(r"^### (.*)$", PAGE, flags=re.MULTILINE)[1:]
    return {
        title: re.split(r"^## ", text, flags=re.MULTILINE)[0]
        for title, text in zip(parts[::2], parts[1::2], strict=True)
    }


def asserts(code: str) -> bool:
    """Whether a program asserts something that is not a constant."""
    return any(
        isinstance(node, ast.Assert) and not isinstance(node.test, ast.Constant) for node in ast.walk(ast.parse(code))
    )


def source_of(file: str, name: str) -> str:
    """Return the source of a test; it must exist."""
    text = (REPOSITORY / file).read_text()
    found = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name == name]
    assert found, f"{file} has no {name}"
    return ast.get_source_segment(text, found[0])


@pytest.mark.parametrize("title", sections())
def test_an_entry_has_code_that_runs_or_a_test(title):
    text = sections()[title]
    blocks = re.findall(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    nodes = NODE.findall(text)
    assert blocks or nodes, f"nothing shows: {title}"
    assert all(asserts(block) for block in blocks), f"code that cannot fail: {title}"
    for file, name in nodes:
        assert name, f"{title} names {file}, and no test in it"
        assert asserts(source_of(file, name)), f"{name} asserts nothing"


@pytest.mark.parametrize("erratum", ERRATA, ids=lambda erratum: f"{erratum.paper}-{erratum.place}")
def test_an_entry_of_the_list_is_on_the_page_and_has_its_test(erratum):
    assert erratum.section in sections()
    file, name = NODE.fullmatch(erratum.test).groups()
    assert source_of(file, name)
    text = sections()[erratum.section]
    if erratum.shown_by.startswith("code in "):
        assert "```python" in text
    else:
        assert erratum.test in text
    command = re.fullmatch(r"earnshaw reproduce (\w+) (\w+)", erratum.shown_by)
    if command:
        assert command[2] in PAPERS[command[1]].items
    for path in NODE.findall(erratum.shown_by):
        assert (REPOSITORY / path[0]).exists()
