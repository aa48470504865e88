import json

import pytest
from typer.testing import CliRunner

from earnshaw.cli.app import app

CONV = ["sweep", "--network", "conv", "-p", "4", "-k", "5", "--ratio", "0.5", "--runs", "60"]


def run(*arguments):
    return CliRunner().invoke(app, [*arguments])


@pytest.mark.slow
def test_a_sweep_prints_one_json_line(tmp_path):
    result = run(*CONV, "--json", "--out", str(tmp_path / "a"))
    assert result.exit_code == 0, result.output
    (line,) = result.stdout.splitlines()
    record = json.loads(line)
    assert (record["p"], record["k"], record["ratio"], record["runs"]) == (4, 5, 0.5, 60)
    assert (record["objective"], record["optimizer"]) == ("random-convnet/relu", "gd:0.1")
    assert not {"n", "d"} & set(record), "sizes that this network does not have are not invented"
    assert sum(record["outcomes"].values()) == 60
    assert record["spurious_percent"] > 10
    assert (tmp_path / "a" / "p4-k5-ratio0.5.npz").exists()
    four = run(*CONV, "--starts", "four", "--out", str(tmp_path / "b"))
    assert four.exit_code == 0
    assert "0.0%" in four.stdout
    manifests = [json.loads((tmp_path / name / "manifest.json").read_text())["common"] for name in "ab"]
    assert [common["start"]["kind"] for common in manifests] == ["sphere-and-ball", "four-signs"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["sweep", "--network", "conv", "-k", "5"], "needs -p and --ratio"),
        (["sweep", "--network", "conv", "-p", "4", "--ratio", "1"], "one number of patches"),
        (["sweep", "--network", "conv", "-p", "4", "-k", "5..7", "--ratio", "1"], "one number of patches"),
        ([*CONV, "--ratio", "3"], "impossible"),
        ([*CONV, "-n", "6", "--prove"], "-n, --prove is for --network two-layer only"),
        ([*CONV, "--step", "2"], "proved for steps up to"),
        (["sweep", "-k", "6", "-p", "3"], "-p is for --network conv only"),
    ],
)
def test_bad_options_are_explained(arguments, says, tmp_path):
    result = run(*arguments, "--out", str(tmp_path / "nothing"))
    assert result.exit_code == 2
    assert says in " ".join(result.stderr.split())
    assert not (tmp_path / "nothing").exists()


def test_the_paper_is_known():
    result = run("reproduce", "convnet", "nonsense")
    assert result.exit_code == 2
    assert "figure1b, phases, probability, theorems" in " ".join(result.stderr.split())
