"""The notebooks run without an error and print what is stored in them.

After a change, run them again and store what they print and draw:

    .venv/bin/python tests/docs/test_notebooks.py            # all, or give their names
"""

import math
import re
import sys
import tempfile
from pathlib import Path

import nbformat
import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
SECONDS = 900  # for one cell on a machine that is busy; a notebook takes about 20 s of one core


def executed(path: Path, folder: str) -> nbformat.NotebookNode:
    """Return a notebook after it was run in this folder, from top to bottom in a new process."""
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    NotebookClient(notebook, timeout=SECONDS, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times of day
    return notebook


def printed(notebook: nbformat.NotebookNode) -> list[str]:
    """Return what each code cell prints."""
    return [
        "".join(output.text for output in cell.outputs if output.output_type == "stream")
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def same(stored: str, fresh: str) -> bool:
    """Whether two texts agree, numbers to four digits, or both too small to mean anything."""
    number = r"\d+(?:\.\d+)?(?:e[-+]\d+)?"
    if re.sub(number, "#", stored) != re.sub(number, "#", fresh):
        return False
    pairs = zip(re.findall(number, stored), re.findall(number, fresh), strict=True)
    return all(math.isclose(float(a), float(b), rel_tol=1e-4, abs_tol=1e-9) for a, b in pairs)


def figures(notebook: nbformat.NotebookNode) -> list[bool]:
    """Return whether each code cell draws a figure."""
    return [
        any("image/png" in output.get("data", {}) for output in cell.outputs)
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # the client's own, about event loops
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.name, marks=[pytest.mark.nightly] * (place > 0))
        for place, path in enumerate(NOTEBOOKS)
    ],
)
def test_a_notebook_runs_and_prints_what_is_stored(path, tmp_path):
    stored, fresh = nbformat.read(path, as_version=4), executed(path, str(tmp_path))
    assert all(map(same, printed(stored), printed(fresh))), printed(fresh)
    assert figures(fresh) == figures(stored)
    assert not list(tmp_path.iterdir()), "a notebook leaves files behind"


def test_texts_are_compared_by_their_numbers():
    assert same("24 runs, F = 0.02150803, 9.6e-15", "24 runs, F = 0.02150804, 1.1e-14")
    assert not same("24 runs", "25 runs")
    assert not same("F = 0.0215", "F = 0.0216")
    assert not same("PROVED_MINIMUM", "INCONCLUSIVE")


def test_notebooks_are_stored_whole_small_and_for_any_machine():
    assert len(NOTEBOOKS) >= 2
    for path in NOTEBOOKS:
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        assert "%pip install -q earnshaw" in code[0].source
        assert 'if importlib.util.find_spec("earnshaw") is None' in code[0].source
        assert sum(figures(notebook)) >= 2
        assert any(text for text in printed(notebook))
        assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1)), "run it again from the top"
        assert not [output for cell in code for output in cell.outputs if output.output_type == "error"]
        assert not any(output.get("name") == "stderr" for cell in code for output in cell.outputs)
        assert len(path.read_bytes()) < 300_000


if __name__ == "__main__":
    for chosen in [EXAMPLES / name for name in sys.argv[1:]] or NOTEBOOKS:
        with tempfile.TemporaryDirectory() as empty:
            nbformat.write(executed(chosen, empty), chosen)
        print(chosen.name)
