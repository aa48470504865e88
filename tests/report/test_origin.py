"""Pages about sweeps say what was swept, and how to do it again: the command that they show finds the results."""

import dataclasses
import re
import shlex

import numpy as np
import pytest
from typer.testing import CliRunner

import earnshaw as es
from earnshaw.cli.app import app
from earnshaw.descent import Stopping, native, optimizer
from earnshaw.experiments import Plan, run_plan
from earnshaw.problems import RandomConvNets, TwoLayer, standard_teacher
from earnshaw.report import folder_page
from earnshaw.report.origin import commands, described
from earnshaw.starts import Given, Normal


def plan(*problems, **more):
    return Plan.of(list(problems), runs=7, **more)


def standard(k, n=None, d=None, **more):
    return TwoLayer(standard_teacher(k, d), students=n, **more)


def mixed():
    """A sweep of which one setting was computed by another kernel than the usual one."""
    made = plan(standard(3), standard(4))
    first, second = made.settings
    return dataclasses.replace(made, settings=(dataclasses.replace(first, kernel="xla"), second))


GIVEN = TwoLayer(np.array([[2.0, 0.0], [1.0, 1.0]]), students=3)
CASES = {
    "range": (plan(standard(3), standard(4), standard(5)), ["-k 3..5 --runs 7 --seed 0"]),
    "offsets": (plan(standard(3, 4), standard(5, 6), standard(5)), ["-k 3 -n k+1", "-k 5 -n k+1", "-k 5 --runs"]),
    "dimension": (plan(standard(2, d=4), seed=3), ["-k 2 -d 4 --runs 7 --seed 3"]),
    "activation": (
        plan(standard(3, activation="erf", trainable_output=True)),
        ["-k 3 --activation erf --output-weights trainable"],
    ),
    "optimiser": (plan(standard(3), descent=optimizer("adam:0.01")), ["--optimizer adam:0.01"]),
    "start": (plan(standard(3), start=Normal(scale=0.1)), ["--start normal:0.1"]),
    "stop": (
        plan(standard(3), stopping=Stopping(rule="paper", max_steps=900, trace=5), batch=8),
        ["--stop paper --max-steps 900 --trace 5 --batch 8"],
    ),
    "teacher": (plan(GIVEN), ["--teacher TEACHER.npy -n k+1"]),
    "points": (plan(standard(2), start=Given(np.ones((7, 2, 2)))), ["--start POINTS.npy"]),
    "conv": (
        plan(RandomConvNets(filter_size=4, patches=3, ratio=0.5)),
        ["--network conv -p 4 -k 3 --ratio 0.5 --runs 7 --seed 0"],
    ),
}
if native.missing() is None:  # or there is but one
    CASES |= {
        "kernel": (plan(standard(3), standard(4), kernel="xla"), ["-k 3..4 --runs 7 --seed 0 --kernel xla"]),
        "kernels": (mixed(), ["-k 3 --runs 7 --seed 0 --kernel xla", "-k 4 --runs 7"]),
    }


@pytest.mark.parametrize("name", CASES)
def test_the_command_of_a_sweep_has_the_plan_of_the_sweep(name, tmp_path, monkeypatch):
    """The command is run; the plan that it makes is caught before anything is computed."""
    made, parts = CASES[name]
    lines = commands(made, tmp_path / "a folder")
    assert len(lines) == len(parts)
    assert all(part in line for part, line in zip(parts, lines, strict=True))
    monkeypatch.chdir(tmp_path)
    np.save("TEACHER.npy", GIVEN.teacher)
    np.save("POINTS.npy", np.ones((7, 2, 2)))
    caught = []

    def catch(plan, out, *_, **__):
        caught.append((plan, out))
        raise es.InputError("enough")

    monkeypatch.setattr("earnshaw.experiments.run_plan", catch)
    for line in lines:
        assert CliRunner().invoke(app, shlex.split(line)[1:]).exit_code == 2
    assert {folder for _, folder in caught} == {tmp_path / "a folder"}
    assert [setting for plan, _ in caught for setting in plan.settings] == list(made.settings)
    assert all((plan.seed, plan.stopping) == (made.seed, made.stopping) for plan, _ in caught)
    assert all(plan.start.to_json() == made.start.to_json() for plan, _ in caught)


def test_what_no_option_says_has_no_command(tmp_path):
    weighted = TwoLayer(np.eye(2), output_weights=np.array([1.0, 2.0]))
    assert commands(plan(weighted), tmp_path) == []
    assert commands(plan(standard(3), descent={"a": optimizer("gd:0.1"), "b": optimizer("gd:0.2")}), tmp_path) == []


def test_a_sweep_is_described_in_words():
    words = described(CASES["activation"][0])
    assert "two layers of erf neurons, output weights trained, teacher orthonormal" in words
    assert "Optimiser: gd:0.1. Start: xavier, seed 0." in words
    assert "teacher given, 2 neurons in dimension 2" in described(CASES["teacher"][0])
    assert "1e-9, at most 900 steps" in described(CASES["stop"][0])
    assert "convolutional" in described(CASES["conv"][0])


@pytest.mark.slow
def test_a_page_without_a_known_global_minimum_calls_nothing_spurious(tmp_path):
    """One erf student of two teachers: every run converges, and no percentage of spurious ones is shown."""
    folder = tmp_path / "run"
    made = Plan.of(standard(2, 1, activation="erf"), runs=4, seed=0)
    (result,) = run_plan(made, folder, workers=1)
    assert set(result.summary.outcomes) == {"CONVERGED"}
    words = re.sub(r"<[^>]+>", " ", folder_page(folder, tmp_path / "page.html").html())
    assert " 0.0%" not in words
    assert "no minimum can be called spurious" in words
    assert "stops above it" not in (tmp_path / "page-figures" / "values.svg").read_text()
    assert "earnshaw sweep -k 2 -n k-1 --activation erf --runs 4 --seed 0 --out" in words
