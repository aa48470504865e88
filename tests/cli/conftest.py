"""What the tests of several commands share: a folder of one's own, and a command run in it."""

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
