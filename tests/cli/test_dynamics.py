import json

import pytest
from typer.testing import CliRunner

from earnshaw.cli.app import app


@pytest.fixture
def earnshaw(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("earnshaw.numerics.remember_programs", lambda: None)

    def run(*words):
        result = CliRunner().invoke(app, list(words))
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.exit_code, result.stdout, result.stderr

    return run


@pytest.mark.slow
def test_dynamics_writes_trajectory_plots_and_animation(earnshaw, tmp_path):
    words = ("dynamics", "--potential", "almost-yukawa", "-d", "3", "--protons", "2", "--seed", "0", "--frames", "3")
    code, out, _ = earnshaw(*words, "--out", "here", "--json")
    assert code == 0
    record = json.loads(out)
    assert len(record["captures"]) == 2
    names = {path.name for path in (tmp_path / "here").iterdir()}
    assert {"trajectory.npz", "trajectory.json", "dynamics.png", "dynamics.svg", "dynamics.gif"} <= names
    code, out, err = earnshaw(*words, "--out", "here", "--until", "0.01")
    assert code == 2
    assert "another computation: integration.until is 100000 there, and 0.01 was asked for" in " ".join(err.split())


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("-d", "4"), "odd number"),
        (("--protons", "0"), "at least 1 of each"),
        (("-d", "1"), "at least 2"),
        (("--spread", "0"), "positive number"),
        (("--until", "-1"), "--until -1 was given; use a time above 0.001"),
        (("--radius", "-1"), "positive number"),
        (("--seed", "-1"), "the seed is -1; use a whole number from 0"),
    ],
)
def test_mistakes_are_one_sentence_and_exit_code_2(earnshaw, tmp_path, words, sentence):
    code, _, err = earnshaw("dynamics", *words, "--out", "here")
    assert code == 2
    assert sentence in " ".join(err.split())
    assert not (tmp_path / "here").exists()
