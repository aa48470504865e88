"""The commands as a user runs them: output, exit codes, and what is left on the disk."""

import csv
import io
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from earnshaw.cli.app import app
from earnshaw.descent.native import missing
from earnshaw.store import read_npz

SWEEP_KEYS = {
    "k", "n", "d", "runs", "seed", "outcomes", "spurious_percent", "spurious_interval", "mean_objective",
    "mean_min_eigenvalue", "families", "steps", "seconds", "compile_seconds", "objective", "optimizer", "undecided",
}  # fmt: skip
PROVE_KEYS = {
    "source", "index", "family", "n", "k", "d", "verdict", "reason", "lambda_min_ge", "objective_ge", "enclosure_radius", "unique_radius",
    "basin_radius", "teacher_radius", "every_dimension", "split_neuron", "split_ge", "splitting", "seconds", "certificate",
}  # fmt: skip


MINE = """
import sys

import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(0.02))
wrong_shape = optax.GradientTransformation(lambda p: (), lambda g, s, p=None: (g[:1], s))
not_a_number = optax.GradientTransformation(lambda p: (), lambda g, s, p=None: (g / 0.0 * 0.0, s))


def _sorry(gradient, state, params=None):
    raise RuntimeError("sorry")


raises = optax.GradientTransformation(lambda p: (), _sorry)
leaves_update = optax.GradientTransformation(lambda p: (), lambda g, s, p=None: sys.exit(0))


def leaves(x):
    sys.exit(0)


def compiled(x):
    if not isinstance(x, np.ndarray):  # when it is compiled, in a thread
        raise ValueError("not again")
    return jnp.tanh(x)


def swish(x):
    return x * (0.5 + 0.5 * jnp.tanh(0.5 * x))


def scalar(x):
    return x if x > 0 else 0.0


def total(x):
    return jnp.sum(x)


def root(x):
    return jnp.sqrt(x)
"""


@pytest.fixture
def earnshaw(tmp_path, monkeypatch):
    """Return a function that runs a command in an empty folder and returns (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path.parent / "cache"))
    monkeypatch.setattr("earnshaw.numerics.remember_programs", lambda: None)

    def run(*words):
        result = CliRunner().invoke(app, list(words))
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.exit_code, result.stdout, result.stderr

    return run


def test_sweep_json_has_the_agreed_keys_and_nothing_else_on_standard_output(earnshaw, tmp_path):
    code, out, _ = earnshaw("sweep", "-k", "2..3", "-n", "k", "--runs", "20", "--json", "--out", "here")
    assert code == 0
    records = [json.loads(line) for line in out.splitlines()]
    assert [(r["k"], r["n"], r["d"]) for r in records] == [(2, 2, 2), (3, 3, 3)]
    for record in records:
        assert set(record) >= SWEEP_KEYS
        assert sum(record["outcomes"].values()) == record["runs"] == 20
        low, high = record["spurious_interval"]
        assert low <= record["spurious_percent"] <= high
    arrays = read_npz(tmp_path / "here" / "k3-n3.npz")
    assert json.loads(str(arrays["problem"]))["objective"] == "two-layer/relu"
    assert arrays["weights"].shape == (20, 3, 3)
    assert all(len(arrays[name]) == 20 for name in ("outcome", "value", "gradient_norm", "steps"))


def test_the_same_command_resumes_and_another_plan_is_refused(earnshaw, tmp_path):
    earnshaw("sweep", "-k", "2", "--runs", "10", "--out", "here")
    before = {path.name: path.read_bytes() for path in (tmp_path / "here").iterdir() if path.is_file()}
    code, out, _ = earnshaw("sweep", "-k", "2", "--runs", "10", "--out", "here", "--json")
    assert code == 0
    assert json.loads(out)["runs"] == 10
    for words, sentence in (
        (("--runs", "9"), "another computation: k2-n2 has 10 runs there, and 9 were asked for"),
        (("--runs", "10", "--seed", "1"), "another computation: seed is 0 there, and 1 was asked for"),
        (("--runs", "10", "--step", "0.05"), "another computation: k2-n2.descent.step is 0.1 there, and 0.05 was"),
        (("--runs", "10", "--stop", "paper"), "another computation: stopping.rule is early there, and paper was"),
    ):
        code, _, err = earnshaw("sweep", "-k", "2", *words, "--out", "here")
        assert code == 2
        assert sentence in " ".join(err.split())
    after = {path.name: path.read_bytes() for path in (tmp_path / "here").iterdir() if path.is_file()}
    assert before == after


@pytest.mark.parametrize("name", ["[red]x", "a[/b]"])
def test_brackets_in_a_path_are_text(earnshaw, name):
    code, out, _ = earnshaw("sweep", "-k", "2", "--runs", "3", "--out", name)
    assert code == 0
    assert f"results in {name}\n" in out
    assert earnshaw("runs", "show", name)[0] == 0
    assert f"written: {name}/report.html" in earnshaw("report", name)[1]
    code, _, err = earnshaw("check", name)
    assert code == 2
    assert f"the folder {name} holds no certificates" in err


def test_more_runs_and_sizes_extend_a_folder(earnshaw, tmp_path):
    earnshaw("sweep", "-k", "2", "--runs", "10", "--out", "here")
    code, out, _ = earnshaw("sweep", "-k", "2..3", "--runs", "15", "--out", "here", "--json")
    assert code == 0
    assert [json.loads(line)["runs"] for line in out.splitlines()] == [15, 15]
    assert earnshaw("sweep", "-k", "2..3", "--runs", "15", "--out", "direct")[0] == 0
    for name in ("k2-n2.npz", "k3-n3.npz", "k2-n2.json", "manifest.json"):
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "direct" / name).read_bytes()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("sweep", "-k", "0"), "at least 1"),
        (("sweep", "-k", "7..6"), "must not be empty"),
        (("sweep", "-k", "six"), "use a number such as 10"),
        (("sweep", "-k", "3", "-n", "k-3"), "n must be at least 1"),
        (("sweep",), "exactly one of"),
        (("sweep", "-k", "3", "--runs", "0"), "0 runs"),
        (("sweep", "-k", "3", "--runs", "4000000000"), "use a whole number from 1 to 100000000"),
        (("sweep", "-k", "2..3", "-n", "k", "--runs", "60000000"), "120000000 runs were asked for in 2 settings"),
        (("sweep", "-k", "1..4000000000"), "-k 1..4000000000 was given; use at most 4096"),
        (("sweep", "-k", "3", "-n", "k+4094"), "-n k+4094 was given; use at most 4096"),
        (("sweep", "-k", "3", "-d", "4097"), "-d 4097 was given; use at most 4096"),
        (("sweep", "-k", "3..100", "-n", "1..100"), "-k 3..100 -n 1..100 are more than 1000 sizes"),
        (("sweep", "--teacher", "pipe.npy"), "the teacher pipe.npy is no regular file; give a file"),
        (("sweep", "-k", "3", "--start", "pipe.npy"), "the starts pipe.npy is no regular file"),
        (("sweep", "-k", "3", "--activation", "pipe.py:f"), "there is no file pipe.py"),
        (("fit", "pipe.csv", "--neurons", "1"), "pipe.csv is no regular file"),
        (("fit", "pipe.npz", "--neurons", "1"), "pipe.npz is no regular file"),
        (("fit", "pipe.npy", "pipe.npy", "--neurons", "1"), "pipe.npy is no regular file"),
        (("prove", "pipe.npz", "--out", "certs"), "pipe.npz is no regular file"),
        (("prove", "--filter", "pipe.npy", "--outputs", "pipe.npy", "--out", "c"), "the filter pipe.npy is no regular"),
        (("sweep", "-k", "2", "--out", 300 * "n"), "(File name too long); give another path"),
        (("runs", "show", 300 * "n"), "(File name too long); give another path"),
        (("check", 300 * "n"), "(File name too long); give another path"),
        (("explain", "pipe.npz"), "the certificate pipe.npz is no regular file"),
        (("arena", "-k", "3", "--runs", "4000000000"), "use a whole number from 1 to 100000000"),
        (("sweep", "-k", "3", "--step", "-1"), "positive number"),
        (("sweep", "-k", "3", "--step", "nan"), "positive number"),
        (("sweep", "-k", "3", "--batch", "0"), "whole number from 1"),
        (("sweep", "-k", "3", "--max-steps", "0"), "at least 1"),
        (("sweep", "--teacher", "none.npy"), "cannot read"),
        (("sweep", "-k", "3", "--out", "/proc/nowhere"), "cannot write"),
        (("reproduce", "spurious", "table9"), "choose table1"),
        (("runs", "show", "nowhere"), "nowhere is not a folder; give a run folder"),
        (("prove", "nothing.npz", "--out", "certs"), "cannot read"),
        (("explain", "nothing.json"), "nothing.json"),
        (("sweep", "-k", "3", "-d", "2"), "3 orthonormal neurons do not fit in dimension 2"),
        (("sweep", "--grid", "paper", "-d", "30"), "-d 30 goes with -k only"),
        (("sweep", "-k", "3", "-n", "k-3..k"), "n must be at least 1"),
        (("sweep", "-k", "3", "-n", "k..2"), "it means nothing"),
        (("sweep", "-k", "3", "-n", "k2"), "k-2..k"),
        (("sweep", "-k", "3", "--optimizer", "adam:0.01", "--step", "0.1"), "put the step into the optimiser"),
        (("sweep", "-k", "3", "--optimizer", "nosuch"), "unknown optimiser 'nosuch'"),
        (("sweep", "-k", "3", "--optimizer", "momentum:0.1:2"), "0 <= FRACTION < 1"),
        (("sweep", "-k", "3", "--optimizer", "mine.py:missing"), "mine.py has no missing"),
        (("sweep", "-k", "3", "--optimizer", "mine.py:wrong_shape"), "must return an update of the gradient's shape"),
        (("sweep", "-k", "3", "--optimizer", "mine.py:not_a_number"), "NaN or infinity"),
        (("sweep", "-k", "3", "--optimizer", "mine.py:raises"), "RuntimeError: sorry"),
        (("sweep", "-k", "3", "--activation", "nosuch"), "unknown activation 'nosuch'"),
        (("sweep", "-k", "3", "--activation", "mine.py:missing"), "mine.py has no missing"),
        (("sweep", "-k", "3", "--activation", "mine.py:scalar"), "jnp.where in place of if"),
        (("sweep", "-k", "3", "--activation", "mine.py:total"), "one number for each number"),
        (("sweep", "-k", "3", "--activation", "mine.py:root"), "it must be finite"),
        (("sweep", "-k", "3", "--activation", "mine.py:leaves"), "RuntimeError: it calls sys.exit(0)"),
        (
            ("sweep", "-k", "3", "--activation", "mine.py:compiled", "--out", "x"),
            "cannot be traced by JAX (ValueError)",
        ),
        (("sweep", "-k", "3", "--optimizer", "mine.py:leaves_update"), "RuntimeError: it calls sys.exit(0)"),
        (
            ("sweep", "-k", "3", "--activation", "erf", "--prove"),
            "has no proofs: the activation is erf, and the theorems cover relu only",
        ),
        (
            ("sweep", "-k", "3", "--output-weights", "trainable", "--prove"),
            "has no proofs: the student's output weights are trained, and the theorems cover",
        ),
        (
            (
                "sweep",
                "-k",
                "3",
                "--activation",
                "sign",
                "--optimizer",
                "stochastic:0.1:8",
                "--runs",
                "1",
                "--out",
                "x",
            ),
            "flat",
        ),
        (("sweep", "-k", "3", "--start", "nosuch"), "unknown start 'nosuch'"),
        (("sweep", "-k", "3", "--start", "none.npy"), "cannot read the starts none.npy"),
        (("sweep", "-k", "3", "--start", "points.npy", "--runs", "2", "--out", "x"), "needs (runs, 3, 3)"),
        (("arena",), "exactly one of"),
        (("arena", "-k", "3", "--optimizers", ","), "names none"),
        (("arena", "-k", "3", "--optimizers", "gd:0.1,gd:0.1"), "different names"),
        (("arena", "-k", "3", "--optimizers", "gd:0.1,nosuch"), "unknown optimiser 'nosuch'"),
    ],
)
def test_a_mistake_gets_one_sentence_and_exit_code_2(earnshaw, tmp_path, words, sentence):
    (tmp_path / "mine.py").write_text(MINE)
    np.save(tmp_path / "points.npy", np.ones((2, 2, 2)))
    for ending in ("npy", "npz", "csv", "py"):
        os.mkfifo(tmp_path / f"pipe.{ending}")
    code, out, err = earnshaw(*words)
    assert code == 2
    assert sentence in " ".join(err.split())
    assert "Traceback" not in err + out
    assert not list(tmp_path.glob("runs/*"))


@pytest.mark.parametrize(
    ("teacher", "sentence"),
    [
        (np.array([[1.0, np.nan], [0.0, 1.0]]), "nan in row 0, column 1"),
        (np.array([[1.0, 2.0], [0.0, 0.0]]), "zero neuron in row 1"),
        (np.ones(3), "shape (3,)"),
        (np.array([["a", "b"]]), "not a matrix of real numbers"),
    ],
)
def test_a_bad_teacher_is_refused(earnshaw, tmp_path, teacher, sentence):
    np.save(tmp_path / "bad.npy", teacher)
    code, _, err = earnshaw("sweep", "--teacher", "bad.npy", "--runs", "5")
    assert code == 2
    assert sentence in " ".join(err.split())


def test_a_teacher_of_ones_own_and_fewer_students(earnshaw, tmp_path):
    np.save(tmp_path / "mine.npy", np.random.default_rng(0).normal(size=(3, 4)))
    code, out, _ = earnshaw("sweep", "--teacher", "mine.npy", "-n", "2", "--runs", "10", "--json")
    assert code == 0
    record = json.loads(out)
    assert (record["k"], record["n"], record["d"]) == (3, 2, 4)
    assert record["outcomes"] == {"CONVERGED": 10}
    assert record["families"]


def test_a_step_that_diverges_is_said_in_one_sentence(earnshaw):
    code, _, err = earnshaw("sweep", "-k", "2", "--runs", "4", "--step", "1e9")
    assert code == 2
    assert "4 of 4 runs diverged, also with every halving" in err
    code, _, err = earnshaw("sweep", "-k", "2", "--runs", "4", "--step", "20")
    assert code == 0
    assert "restarted with half" in err


@pytest.mark.slow
def test_dimension_and_sizes_relative_to_k(earnshaw):
    code, out, _ = earnshaw("sweep", "-k", "2", "-n", "k-1..k", "-d", "3", "--runs", "4", "--json", "--out", "here")
    assert code == 0
    records = [json.loads(line) for line in out.splitlines()]
    assert [(record["k"], record["n"], record["d"]) for record in records] == [(2, 1, 3), (2, 2, 3)]
    assert records[0]["outcomes"] == {"CONVERGED": 4}
    assert records[1]["outcomes"] == {"GLOBAL": 4}


def test_an_optimiser_and_points_of_ones_own(earnshaw, tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    points = np.random.default_rng(0).normal(size=(4, 3, 3))
    np.save(tmp_path / "points.npy", points)
    words = ("sweep", "-k", "3", "--runs", "4", "--optimizer", "mine.py:optimizer", "--start", "points.npy", "--json")
    code, out, _ = earnshaw(*words, "--out", "here")
    assert code == 0
    assert json.loads(out)["outcomes"] == {"GLOBAL": 4}
    identity = json.loads((tmp_path / "here" / "manifest.json").read_text())["settings"]["k3-n3"]["identity"]
    assert identity["descent"]["name"] == "mine.py:optimizer"
    assert earnshaw(*words, "--out", "here")[:2] == (0, out), "the same command resumes"
    (tmp_path / "mine.py").write_text(MINE.replace("0.02", "0.03"))
    code, _, err = earnshaw(*words, "--out", "here")
    assert code == 2
    assert "another computation" in err


@pytest.mark.slow
def test_an_activation_of_ones_own_and_no_proof_for_it(earnshaw, tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    words = ("sweep", "-k", "2", "-n", "1", "--runs", "2", "--activation", "mine.py:swish", "--optimizer", "newton-tr")
    code, out, _ = earnshaw(*words, "--json", "--out", "here")
    assert code == 0
    assert json.loads(out)["outcomes"] == {"CONVERGED": 2}
    code, _, err = earnshaw("prove", "here", "--out", "certs")
    assert code == 2
    assert "no proofs: the activation is mine.py:swish, and the theorems cover relu only" in " ".join(err.split())
    assert not (tmp_path / "certs").exists() or not list((tmp_path / "certs").iterdir())


@pytest.mark.slow
def test_arena_table_json_and_figure(earnshaw, tmp_path):
    words = ("arena", "-k", "2", "-n", "k-1..k", "--optimizers", "gd:0.1,newton-tr", "--runs", "5", "--out", "here")
    code, out, _ = earnshaw(*words, "--json")
    assert code == 0
    records = [json.loads(line) for line in out.splitlines()]
    assert [(r["k"], r["n"], r["optimizer"], r["runs"]) for r in records] == [
        (2, n, name, 5) for n in (1, 2) for name in ("gd:0.1", "newton-tr")
    ]
    assert [r["global_percent"] for r in records] == [0, 0, 100, 100]
    assert (tmp_path / "here" / "arena.png").stat().st_size > 10_000
    code, out, _ = earnshaw(*words)
    assert code == 0
    assert out.count("100.0% (48-100)") == 2
    assert out.count("not known") == 2, "one neuron cannot equal two"
    assert out.count("5 CONVERGED") == 2
    assert out.count("as gd:0.1") == 2
    assert "results in here" in out


def test_trace_is_stored(earnshaw, tmp_path):
    code, _, _ = earnshaw("sweep", "-k", "2", "--runs", "3", "--trace", "25", "--out", "traced")
    assert code == 0
    trace = read_npz(tmp_path / "traced" / "k2-n2-trace.npz")
    assert set(trace["run"]) == {0, 1, 2}
    assert (trace["step"] % 25 == 0).all()
    assert trace["weights"].shape[1:] == (2, 2)
    first = trace["run"] == 0
    assert (np.diff(trace["value"][first]) < 0).all()


def test_runs_list_show_and_export(earnshaw):
    earnshaw("sweep", "-k", "2", "--runs", "5", "--out", "runs/mine")
    code, out, _ = earnshaw("runs", "list")
    assert code == 0
    assert "runs/mine" in out
    code, out, _ = earnshaw("runs", "show", "runs/mine", "--json")
    assert json.loads(out)["runs"] == 5
    code, out, _ = earnshaw("runs", "export", "runs/mine")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [int(row["run"]) for row in rows] == list(range(5))
    assert {row["outcome"] for row in rows} <= {"GLOBAL", "DEGENERATE", "SPURIOUS", "SADDLE", "UNDECIDED"}


def test_nothing_is_called_spurious_where_the_global_minimum_is_not_known(earnshaw):
    earnshaw("sweep", "-k", "2", "-n", "1", "--runs", "4", "--out", "runs/few")
    code, out, _ = earnshaw("runs", "show", "runs/few")
    assert code == 0
    assert "global minimum is not known" in out
    assert "spurious 0.0%" not in out


def minimum(k=6):
    """Return a point close to the minimum of Example 1."""
    weights = np.full((k, k), -0.0504)
    np.fill_diagonal(weights, 0.9867)
    weights[0, 1:], weights[1:, 0], weights[0, 0] = 0.2245, 0.3080, -0.6015
    return weights


def test_prove_check_explain(earnshaw, tmp_path):
    np.savez(tmp_path / "points.npz", weights=np.stack([minimum(), np.eye(6) * 0.9]))
    code, out, err = earnshaw("prove", "points.npz", "--out", "certs", "--json")
    assert code == 1, "the second point is no critical point"
    first, second = (json.loads(line) for line in out.splitlines())
    assert set(first) == PROVE_KEYS
    assert first["verdict"] == "PROVED_MINIMUM"
    assert first["lambda_min_ge"] >= 0.0047
    assert first["objective_ge"] >= 0.02508
    assert first["enclosure_radius"] < 1e-12
    assert first["unique_radius"] > 5e-4
    assert first["every_dimension"] is True
    assert second["verdict"] == "INCONCLUSIVE"
    assert second["certificate"] is None
    assert "inconclusive" in err
    names = sorted(path.name for path in (tmp_path / "certs").iterdir())
    assert [name.rsplit("-", 1)[1] for name in names] == ["basin.json", "minimum.json", "robust.json"]
    files = [f"certs/{name}" for name in names]
    code, out, _ = earnshaw("check", *files)
    assert code == 0
    assert out.count("VERIFIED") == 3
    assert earnshaw("check", "certs")[:2] == (0, out)
    (tmp_path / "nothing").mkdir()
    code, _, err = earnshaw("check", "nothing")
    assert code == 2
    assert "holds no certificates" in err
    text = (tmp_path / files[1]).read_text()
    (tmp_path / "bad.json").write_text(
        text.replace('"n": 6', '"n": 7') if '"n": 6' in text else text.replace('"n":6', '"n":7')
    )
    code, out, _ = earnshaw("check", files[0], "bad.json", "--json")
    assert code == 1
    good, bad = (json.loads(line) for line in out.splitlines())
    assert set(good) == {"file", "verified", "kind", "statement", "reason", "seconds"}
    assert (good["verified"], bad["verified"]) == (True, False)
    code, out, _ = earnshaw("explain", files[1])
    assert code == 0
    assert "strict local minimum" in out
    assert r"\begin{theorem}" in out
    for words in ((), ("--latex",)):
        code, out, _ = earnshaw("explain", "bad.json", *words)
        assert code == 1
        assert "bad.json: REJECTED" in out
        assert "theorem" not in out


def test_sweep_prove_adds_four_counts(earnshaw, tmp_path):
    code, out, _ = earnshaw("sweep", "-k", "3", "--runs", "10", "--prove", "--json", "--out", "proved")
    assert code == 0
    record = json.loads(out)
    assert {key: record[key] for key in ("proved", "saddles", "inconclusive", "runs_in_proved_basins")} == {
        "proved": 0, "saddles": 0, "inconclusive": 0, "runs_in_proved_basins": 0,
    }  # fmt: skip
    code, _, err = earnshaw("prove", "proved", "--out", "certs")
    assert code == 2
    assert "nothing to prove" in err


@pytest.mark.slow
def test_every_spurious_run_at_k_7_ends_in_a_proved_basin(earnshaw, tmp_path):
    code, out, _ = earnshaw("sweep", "-k", "7", "--runs", "200", "--prove", "--json", "--out", "seven")
    assert code == 0
    record = json.loads(out)
    assert record["outcomes"]["SPURIOUS"] == record["runs_in_proved_basins"] > 0
    assert (record["proved"], record["saddles"], record["inconclusive"]) == (len(record["families"]), 0, 0)
    code, out, _ = earnshaw("prove", "seven", "--out", "certs", "--json")
    assert code == 0
    assert len(out.splitlines()) == len(record["families"])


def test_help_is_fast_and_does_not_load_jax(tmp_path):
    code = "import sys; from earnshaw.cli.app import app; sys.exit('jax' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_doctor_finds_this_installation_sound(earnshaw):
    code, out, _ = earnshaw("doctor", "--json")
    checks = {record["check"]: record for record in map(json.loads, out.splitlines())}
    assert code == 0
    assert {name for name, record in checks.items() if not record["ok"]} == ({"native kernel"} if missing() else set())
    assert {"Python", "double precision", "devices", "disk here", "a shipped certificate"} <= set(checks)
    assert "altered copy is rejected" in checks["a shipped certificate"]["said"]


def test_a_report_of_a_folder_without_a_sweep_is_one_sentence(earnshaw, tmp_path):
    code, _, err = earnshaw("report", str(tmp_path))
    assert code == 2
    assert "no manifest.json" in err
