"""``earnshaw fit`` as a user meets it."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from earnshaw.cli.app import app
from earnshaw.landscapes.logistic_data import draw_rows
from earnshaw.problems.logistic import Labels, Logistic, gaussian_weights
from earnshaw.symmetry.assignment import aligned_error

RUNNER = CliRunner()


def run(*arguments):
    return RUNNER.invoke(app, ["fit", *map(str, arguments)], env={"COLUMNS": "200", "NO_COLOR": "1"})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("earnshaw.numerics.remember_programs", lambda: None)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def small(folder, labels=Labels.REGRESSION, n=2000):
    problem = Logistic(gaussian_weights(2, 4, seed=0), n, labels, seed=1)
    x, y = draw_rows(problem)
    np.savez(folder / "data.npz", x=x, y=y)
    return problem, x, y


@pytest.mark.slow
def test_three_sigmoid_neurons_are_recovered_to_a_millionth(folder):
    problem = Logistic(gaussian_weights(3, 20, seed=0), 20_000, Labels.REGRESSION, seed=1)
    x, y = draw_rows(problem)
    np.save(folder / "x.npy", x)
    np.save(folder / "y.npy", y)
    done = run("x.npy", "y.npy", "--neurons", 3, "--activation", "sigmoid", "--out", "out", "--json")
    assert done.exit_code == 0, done.output
    record = json.loads(done.stdout)
    weights = np.load(folder / "out" / "weights.npy")
    assert weights.shape == (3, 20)
    assert aligned_error(weights, problem.weights) < 1e-6
    assert record["isolated"]
    assert record["proved_radius"] > 1e-4
    assert record["outcome"] == "GLOBAL"


@pytest.mark.slow
def test_what_is_written_and_said(folder):
    problem, *_ = small(folder)
    done = run("data.npz", "--neurons", 2, "--out", "out")
    assert done.exit_code == 0, done.output
    assert {path.name for path in (folder / "out").iterdir()} == {
        "weights.npy",
        "curve.npz",
        "curve.png",
        "curve.svg",
        "fit.json",
        "fit.npz",
        "certificates",
        "manifest.json",
        "record.json",
        "pieces",
        ".lock",
    }
    assert aligned_error(np.load(folder / "out" / "weights.npy"), problem.weights) < 1e-6
    assert "isolated: yes" in done.output
    assert "proved: the risk is strictly convex within" in done.output
    before = (folder / "out" / "fit.npz").read_bytes()
    other = run("data.npz", "--neurons", 2, "--out", "out", "--start", "random")
    assert other.exit_code == 2
    assert "another computation: plan.begin is tensor there, and random was asked for" in other.output
    assert (folder / "out" / "fit.npz").read_bytes() == before
    again = run("data.npz", "--neurons", 2, "--out", "new", "--start", "random", "--starts", 2, "--no-prove", "--json")
    assert again.exit_code == 0
    record = json.loads(again.stdout)
    assert record["start"] == "random"
    assert record["proved_radius"] is None


def test_each_mistake_is_one_sentence_and_exit_code_2(folder):
    _, x, y = small(folder, n=100)
    good = np.column_stack([x, y])

    def csv(name, table):
        lines = [",".join("" if np.isnan(value) else repr(float(value)) for value in row) for row in table]
        (folder / name).write_text("\n".join(lines) + "\n")
        return name

    missing, outside, constant = good.copy(), good.copy(), good.copy()
    missing[5, 2], outside[:, -1], constant[:, -1] = np.nan, 3 * y, 0.5
    np.savez(folder / "hole.npz", x=np.where(np.arange(len(x))[:, None] == 4, np.nan, x), y=y)
    (folder / "taken").mkdir()
    (folder / "taken" / "mine.txt").write_text("keep")
    cases = [
        ((csv("missing.csv", missing),), "line 6, column 3 of missing.csv is missing"),
        ((csv("one.csv", good[:, :1]),), "has one column"),
        ((csv("constant.csv", constant),), "all labels are 0.5"),
        ((csv("outside.csv", outside),), "must be probabilities or classes in [0, 1]"),
        (("data.npz", "--neurons", 5), "at most as many neurons as dimensions"),
        (("data.npz", "--activation", "swish"), "unknown activation 'swish'"),
        (("data.npz", "--out", "taken"), "taken exists and is not a run folder; choose another --out"),
        (("hole.npz", "--neurons", 2), "the inputs have a missing or infinite value in row 4"),
        (("absent.csv",), "cannot read absent.csv"),
        (("data.npz", "--neurons", 2, "--starts", 0, "--start", "random"), "0 starts were asked for"),
    ]
    for arguments, message in cases:
        done = run(*arguments)
        assert done.exit_code == 2, done.output
        assert done.output.startswith("error: ")
        assert message in done.output
        assert len(done.output.strip().splitlines()) == 1
    assert (folder / "taken" / "mine.txt").read_text() == "keep"
    assert not (folder / "fit").exists()


@pytest.mark.slow
def test_an_activation_of_ones_own_and_inputs_that_are_not_normal(folder):
    (folder / "mine.py").write_text("import jax.numpy as jnp\ndef soft(z):\n    return 0.5 + jnp.arctan(z) / jnp.pi\n")
    problem = Logistic(gaussian_weights(1, 3, seed=0), 1000, Labels.REGRESSION, "mine.py:soft", seed=1)
    x, y = draw_rows(problem)
    np.savez(folder / "own.npz", x=x, y=y)
    done = run("own.npz", "--neurons", 1, "--activation", "mine.py:soft", "--out", "own")
    assert done.exit_code == 0, done.output
    assert aligned_error(np.load(folder / "own" / "weights.npy"), problem.weights) < 1e-6
    assert "no proof was tried" in done.output
    np.savez(folder / "far.npz", x=3 * x + 1, y=y)
    assert "not close to standard normal" in run("far.npz", "--neurons", 1, "--out", "far").output
