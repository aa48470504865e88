"""Every command on every kind of folder: never a traceback, and the promised exit code.

0: fine. 1: a claim failed. 2: bad usage, and one sentence on standard error.
"""

import json
import shutil

import numpy as np
import pytest
from typer.testing import CliRunner

from earnshaw.cli.app import app
from earnshaw.descent import optimizer
from earnshaw.experiments import (
    DataSets,
    DeepTraining,
    Plan,
    atlas_map,
    dynamics,
    fit,
    follow,
    grow,
    load,
    measure,
    prove_sweep,
    run_arena,
    sweep,
    train_grid,
)
from earnshaw.experiments.dynamics import Integration
from earnshaw.problems import ChargeLaw, Charges, Labels, RandomConvNets, TwoLayer
from earnshaw.store import RunFolder, write_json

pytestmark = pytest.mark.slow  # the folders take half a minute
TWO = TwoLayer(np.eye(2))
SWEEPS = ("two-layer", "proved", "conv", "erf", "arena")
OTHERS = ("fit", "dynamics", "deep", "data-sets", "growth", "map", "follow")
NONE = ("old", "empty", "file")
KINDS = (*SWEEPS, *OTHERS, "unfinished", *NONE)


def minimum():
    """Return a point close to the published minimum of six neurons."""
    weights = np.full((6, 6), -0.0504)
    np.fill_diagonal(weights, 0.9867)
    weights[0, 1:], weights[1:, 0], weights[0, 0] = 0.2245, 0.3080, -0.6015
    return weights


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Return a folder with one folder of each kind in it."""
    root = tmp_path_factory.mktemp("kinds") / "runs"
    root.mkdir()
    sweep(TwoLayer(np.eye(6)), runs=2, start=np.stack([minimum(), 0.9 * np.eye(6)]), batch=8, out=root / "two-layer")
    shutil.copytree(root / "two-layer", root / "proved")
    prove_sweep(list(load(root / "proved")), root / "proved", workers=1)
    sweep(RandomConvNets(filter_size=2, patches=3, ratio=0.5), runs=8, out=root / "conv")
    sweep(TwoLayer(np.eye(2), students=1, activation="erf"), runs=2, batch=8, out=root / "erf")
    run_arena([TWO], {name: optimizer(name) for name in ("gd:0.1", "gd:0.05")}, root / "arena", runs=3, prove=False)
    x = np.random.default_rng(0).normal(size=(200, 2))
    fit(x, 1 / (1 + np.exp(-x @ [1.0, -0.5])), neurons=1, out=root / "fit")
    one = Charges(np.zeros((1, 3)), electron_charges=[1.0], law=ChargeLaw("coulomb"))
    dynamics(one, np.array([[0.0, 0.0, 1.0]]), Integration(until=10.0, stored=5), root / "dynamics")
    tiny = DeepTraining(teachers=2, steps=4, samples=4, records=2, dimension=3, tests=8)
    train_grid([(2, 2)], tiny, root / "deep")
    measure(
        "estimate", [DataSets(neurons=1, dimension=2, samples=90, sets=1, labels=Labels.REGRESSION)], root / "data-sets"
    )
    grow(TwoLayer([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]), neurons=1, out=root / "growth")
    atlas_map([(6, 6)], root / "map", workers=1)
    follow(
        load(root / "two-layer")[0].families[0], np.diag([1.1, 1, 1, 1, 1, 1]), steps=1, copies=1, out=root / "follow"
    )
    plan = Plan.of(TWO, runs=10)
    with RunFolder(root / "unfinished", plan.kind, plan.common, plan.parts):
        pass
    (root / "old" / "pieces").mkdir(parents=True)
    write_json(root / "old" / "manifest.json", {"format": "earnshaw-run-1", "identity": {"runs": 5}, "hash": "0"})
    (root / "empty").mkdir()
    (root / "file").write_text("nothing of interest\n")
    return root


def expected(command, kind):
    """Return the exit code that is promised."""
    if command == "runs list":
        return 2 if kind == "file" else 0
    if command in ("check", "explain"):
        if kind == "file":
            return 1 if command == "check" else 2  # a file that proves nothing is a failed claim
        return 0 if kind in ("proved", "fit", "growth", "map", "follow") else 2
    if kind in NONE:
        return 2
    if command == "draw":  # of a sweep that has families, and of certificates
        return 0 if kind in ("two-layer", "proved", "erf") else 2
    if command == "prove":
        return 0 if kind in ("two-layer", "proved") else 2
    if command == "report" and kind in ("fit", "dynamics"):
        return 0
    if command.startswith("runs show"):
        return 0
    return 0 if kind in SWEEPS else 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "command",
    [
        "prove",
        "draw",
        "report",
        "runs list",
        "runs show",
        "runs show --json",
        "runs export",
        "runs families",
        "check",
        "explain",
    ],
)
def test_every_command_answers_for_every_kind_of_folder(place, tmp_path, monkeypatch, command, kind):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("earnshaw.numerics.remember_programs", lambda: None)
    monkeypatch.setattr("earnshaw.report.motions.FRAMES", 2)
    words, *options = command.partition(" --json")
    more = {"prove": ["--out", "certificates", "--workers", "1"], "report": ["--out", "page.html"]}.get(command, [])
    before = {file: file.read_bytes() for file in place.rglob("*") if file.is_file()}
    result = CliRunner().invoke(
        app, [*words.split(), str(place / kind), *(option.strip() for option in options if option), *more]
    )
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    code = expected(command, kind)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    assert {file: file.read_bytes() for file in place.rglob("*") if file.is_file()} == before, "reading changes nothing"
    if code == 2:
        assert result.stdout == ""
        (line,) = result.stderr.splitlines()
        assert line.startswith("error: ")
        assert len(line) > 30
        assert not {"page.html", "certificates"} & {path.name for path in tmp_path.iterdir()}
    elif options[0] and kind != "unfinished":
        assert [json.loads(line) for line in result.stdout.splitlines()]


def test_the_list_names_every_folder_and_what_is_none(place):
    result = CliRunner().invoke(app, ["runs", "list", str(place), "--json"])
    assert result.exit_code == 0
    found = {line["folder"].rpartition("/")[2]: line for line in map(json.loads, result.stdout.splitlines())}
    assert set(found) == {*SWEEPS, *OTHERS, "unfinished"}
    assert {name: found[name]["kind"] for name in OTHERS} == {
        "fit": "fit", "dynamics": "trajectory", "deep": "deep", "data-sets": "data-sets", "growth": "growth", "map": "map",
        "follow": "follow",
    }  # fmt: skip
    assert all(found[name]["kind"] == "sweep" for name in (*SWEEPS, "unfinished"))
    about = {name: (line["networks"], line["optimizers"], line["proved"]) for name, line in found.items()}
    two, conv = ["two-layer/relu"], ["random-convnet/relu"]
    assert about == {
        "two-layer": (two, ["gd:0.1"], None), "proved": (two, ["gd:0.1"], 1), "conv": (conv, ["gd:0.1"], None),
        "erf": (["two-layer/erf"], ["gd:0.1"], None), "arena": (two, ["gd:0.1", "gd:0.05"], None), "unfinished": (two, [], None),
        "fit": (["data/sigmoid"], ["gd", "newton"], 1), "dynamics": (["charges/coulomb"], ["flow"], None),
        "deep": (["deep-tanh/float32"], ["adam"], None), "data-sets": (["logistic/sigmoid"], ["gd", "newton"], None),
        "growth": (two, ["gd", "newton"], 2), "map": about["map"], "follow": about["follow"],
    }  # fmt: skip
    assert about["follow"][:2] == (two, ["newton"])
    assert CliRunner().invoke(app, ["runs", "list", str(place)], env={"COLUMNS": "300"}).stdout.count(" arena ") == 1
    assert found["unfinished"]["finished"] == 0
    assert all(line["finished"] == line["settings"] for name, line in found.items() if name != "unfinished")
    assert "earnshaw-run-1" in result.stderr, "the old one is named apart from the others"


def test_a_folder_that_says_where_it_stands(place):
    result = CliRunner().invoke(app, ["runs", "show", str(place / "arena")])
    assert result.stdout.count("3 runs: 3 GLOBAL") == 2
    result = CliRunner().invoke(app, ["runs", "show", str(place / "dynamics")])
    assert "electrons: 1" in result.stdout
    result = CliRunner().invoke(app, ["runs", "show", str(place / "unfinished")])
    assert "no finished setting yet" in result.stdout + result.stderr


@pytest.mark.parametrize(
    ("kind", "said", "unsaid"),
    [
        ("two-layer", ["k teacher neurons, n student", "not tried", "--prove"], ["converged", "What is proved"]),
        ("proved", ["proved minimum", "differ only by a symmetry", ">the folder certificates</a>"], ["not tried"]),
        ("conv", ["filters of p entries, k patches"], ["student neurons", "-0.0000", "not tried", "--prove"]),
        ("erf", ["a run that ended at one <em>converged</em>", "2 converged"], ["not tried", "--prove"]),
        ("arena", ["gd:0.1</td>", "gd:0.05</td>"], ["filters"]),
    ],
)
def test_the_page_of_each_kind_speaks_of_that_kind(place, tmp_path, kind, said, unsaid):
    page = tmp_path / "page.html"
    assert CliRunner().invoke(app, ["report", str(place / kind), "--out", str(page)]).exit_code == 0
    text = page.read_text()
    assert [words for words in said if words not in text] == []
    assert [words for words in unsaid if words in text] == []
    if kind == "arena":
        drawn = (tmp_path / "page-figures" / "values.svg").read_text()
        assert all(f"gd:{step}" in drawn for step in ("0.1", "0.05")), "one curve for each"
