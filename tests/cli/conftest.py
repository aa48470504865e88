"""What the tests of several commands share: a folder of one's own, and a command run in it."""

import numpy as np
import pytest
from typer.testing import CliRunner

from earnshaw.cli.app import app


@pytest.fixture
def earnshaw(tmp_path, monkeypatch):
    """Run a command in a folder of its own; return its exit code, its output and its errors."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.exit_code, result.stdout, result.stderr

    return run


@pytest.fixture
def tiny(earnshaw, monkeypatch):
    """The smallest teacher, and its minimum, in the folder where commands run."""
    monkeypatch.setattr("earnshaw.numerics.remember_programs", lambda: None)
    teacher = [[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]
    np.savez("tiny.npz", weights=[[0.6334, 1.1758], [-0.3222, 0.0], [0.6334, -1.1758]], teacher=teacher)
    np.save("tiny.npy", teacher)
