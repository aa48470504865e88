"""The pages on optimisers: the file that the tutorial shows works on the command line, and every name of the list is known."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from earnshaw.cli.app import app

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE, TUTORIAL = ((DOCS / name).read_text() for name in ("optimizers.md", "own-optimizer.md"))


def test_the_optimiser_of_the_tutorial_runs_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("earnshaw.numerics.remember_programs", lambda: None)
    shown = re.search(r"Put it into a file `mine.py`:\n\n```python\n(.*?)```", TUTORIAL, flags=re.DOTALL)
    assert shown is not None
    (tmp_path / "mine.py").write_text(shown[1])
    commands = re.findall(r"^    earnshaw (sweep .*mine\.py:.*)$", TUTORIAL, flags=re.MULTILINE)
    assert commands
    for command in commands:
        result = CliRunner().invoke(app, command.split())
        assert result.exit_code == 0, result.output
        assert "results in runs/mine" in result.output


@pytest.mark.parametrize("name", re.findall(r"^\| `([^`]+)`", PAGE, flags=re.MULTILINE))
def test_every_name_of_the_table_is_known(name):
    from earnshaw.descent import optimizer

    numbers = {
        "STEP": "0.1",
        "FRACTION": "0.9",
        "RADIUS": "0.5",
        "TIME": "1",
        "TOLERANCE": "1e-6",
        "SAMPLES": "8",
        "ETA": "1e-4",
        "GAMMA": "0.01",
    }
    for word, number in numbers.items():
        name = name.replace(word, number)
    assert optimizer(name).to_json()
