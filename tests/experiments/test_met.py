"""Families across folders: joined where they are one, counted together, and told apart where settings differ."""

import json
import math
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

import earnshaw as es
from earnshaw.cli.app import app
from earnshaw.errors import DamageWarning, InputError
from earnshaw.experiments import load_sweep, prove_sweep
from earnshaw.experiments.comparing import _compared
from earnshaw.report import latex_table
from earnshaw.report.latex import symbols
from earnshaw.symmetry import Pattern

PROBLEM = es.TwoLayer(np.eye(6))
II = Pattern.of((5, 1), (0, None)).weights(np.array([0.98670382, -0.0504134, 0.30801099, 0.22451581, -0.60151192]))


def starts(*orders):
    """The minimum with its coordinates in these orders, and one start at the teacher."""
    return np.array([*(II[:, order] for order in orders), np.eye(6)])


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Two sweeps of one setting with seeds of their own, and one from another start; the first is proved."""
    root = tmp_path_factory.mktemp("met")
    rng = np.random.default_rng(0)
    same = starts(rng.permutation(6), rng.permutation(6))
    for name, start, seed in (("one", same, 0), ("two", same, 1), ("other", starts(np.arange(6)), 0)):
        es.sweep(PROBLEM, runs=len(start), seed=seed, start=start, batch=8, workers=1, out=root / name)
    prove_sweep(list(load_sweep(root / "one")), root / "one", workers=1)
    return root


def test_runs_of_one_setting_are_counted_together_and_those_of_another_apart(folders):
    other, joined = sorted(
        es.families_met(*(folders / name for name in ("one", "two", "other"))), key=lambda f: f.count
    )
    assert (joined.count, joined.decided, other.count, other.decided) == (4, 6, 1, 2)
    assert joined.label == other.label
    assert joined.percent == pytest.approx(400 / 6)
    low = [
        math.comb(6, i) * (joined.interval[0] / 100) ** i * (1 - joined.interval[0] / 100) ** (6 - i)
        for i in range(4, 7)
    ]
    assert sum(low) == pytest.approx(0.025)  # Clopper and Pearson: so many or more have this chance at the lower end
    assert joined.objective == pytest.approx(0.0250806, abs=1e-7)
    assert joined.min_eigenvalue == pytest.approx(0.0047003, abs=1e-6)
    assert (joined.verdict, other.verdict) == ("PROVED_MINIMUM", None)


def test_the_label_is_that_of_the_runs_of_the_sweep_and_of_the_proof(folders):
    (met,) = es.families_met(folders / "one")
    (result,) = load_sweep(folders / "one")
    assert met.label == "II (S_5)"
    assert met.label == result.summary.families[0].label == result.families[0].label
    assert [row["family"] for row in result.proofs["families"]] == [met.label]
    assert result.table()["label"].tolist() == [met.label, met.label, None]
    for file in (folders / "one" / "certificates").glob("*.json"):
        assert es.Certificate.load(file).document["meta"]["family"] == met.label
        assert es.check(file).verified
    record = met.to_json()
    assert (record["k"], record["n"], record["label"], record["count"]) == (6, 6, met.label, 2)
    assert "weights" not in record


def test_what_cannot_be_counted_is_one_sentence(folders, tmp_path):
    with pytest.raises(InputError, match=r"one \(k6-n6\) and .*hold the same runs, of seed 0; give one of them"):
        es.families_met(folders / "one", folders / "two", folders / "two" / ".." / "one")
    with pytest.raises(InputError, match="no folder was given"):
        es.families_met()
    with pytest.raises(InputError, match="is not a run folder"):
        es.families_met(tmp_path)
    assert len(es.families_met(folders / "one", folders / "one")) == 1, "the same path twice is one folder"


def test_a_lost_certificate_is_said(folders, tmp_path):
    shutil.copytree(folders / "one", tmp_path / "one")
    next((tmp_path / "one" / "certificates").glob("*-minimum.json")).unlink()
    with pytest.raises(InputError, match=r"minimum\.json"):
        es.families_met(tmp_path / "one")


def test_what_was_proved_of_fewer_runs_is_not_said_of_more(tmp_path):
    """Families are counted anew when runs are added: the second one of 60 runs is another than that of 6."""
    folder, problem, words = (
        tmp_path / "run",
        es.TwoLayer(np.eye(11)),
        r"k11-n11-proofs\.json does not say of which runs it is, or is of other runs than",
    )
    es.sweep(problem, runs=6, seed=4, out=folder)
    (few,) = load_sweep(folder)
    prove_sweep([few], folder)
    before = [family.label for family in few.families]
    assert few.verdicts() == ["PROVED_MINIMUM"] * len(before)
    es.sweep(problem, runs=60, seed=4, out=folder)
    (more,) = load_sweep(folder)
    assert [family.label for family in more.families][: len(before)] != before
    with pytest.warns(DamageWarning, match=words):
        assert more.verdicts() == []
    with pytest.warns(DamageWarning, match=words):
        assert {found.verdict for found in es.families_met(folder)} == {None}
    with pytest.warns(DamageWarning, match=words):
        assert "proved" not in latex_table(folder).partition("midrule")[2]
    assert [re.search(words, fault) is not None for fault in es.verify(folder)] == [True]
    assert es.repair(folder) == []
    assert load_sweep(folder)[0].verdicts() == ["PROVED_MINIMUM"] * len(more.families)


def test_two_sweeps_are_compared_and_their_families_matched(folders, tmp_path):
    (same,) = es.compare(folders / "one", folders / "other")
    assert (same.name, same.seeds, same.optimizers) == ("k6-n6", (0, 0), ("gd:0.1", "gd:0.1"))
    assert (same.spurious.counts, same.spurious.decided) == ((2, 1), (3, 2))
    pooled = 3 / 5
    z = (2 / 3 - 1 / 2) / math.sqrt(pooled * (1 - pooled) * (1 / 3 + 1 / 2))
    assert same.spurious.z == pytest.approx(z)
    (family,) = same.families
    assert (family.label, family.share.counts) == ("II (S_5)", (2, 1)), "one family, though the points are permuted"
    assert family.share.percent == pytest.approx((200 / 3, 50))
    es.sweep(PROBLEM, runs=1, start=np.eye(6)[None], batch=8, workers=1, out=tmp_path / "none")
    (alone,) = es.compare(tmp_path / "none", folders / "one")
    assert [found.share.counts for found in alone.families] == [(0, 2)]


def test_sweeps_of_different_problems_are_not_compared(folders, tmp_path):
    one, other = (
        SimpleNamespace(name="k6-n6", runs=SimpleNamespace(problem=problem))
        for problem in (PROBLEM, es.TwoLayer(2 * np.eye(6)))
    )
    with pytest.raises(InputError, match="different problems"):
        _compared(one, other, "both folders")
    es.sweep(es.TwoLayer(np.eye(2)), runs=1, start=np.eye(2)[None], batch=8, out=tmp_path / "b")
    with pytest.raises(InputError, match="no setting in common"):
        es.compare(folders / "one", tmp_path / "b")


def test_a_sweep_as_a_table_for_a_paper(folders):
    lines = latex_table(folders / "one").splitlines()
    assert lines[0] == r"\begin{tabular}{rrrrrlrrrl}"
    assert lines[4] == r"6 & 6 & 3 & 66.7\% & 9.4--99.2 & II ($S_{5}$) & 2 & 0.02508058 & 0.004700 & proved \\"
    assert lines[-1] == r"\end{tabular}"
    assert {line.count(" & ") for line in lines if " & " in line} == {9}
    assert symbols("S_17 x S_2") == r"$S_{17} \times S_{2}$"


def test_the_commands_print_both(folders, capsys):
    runner = CliRunner()
    compared = runner.invoke(app, ["runs", "compare", str(folders / "one"), str(folders / "other")]).stdout
    assert re.search(r"k6-n6 +all spurious +2 +1 +66\.7% +50\.0% +\+0\.37", compared)
    (line,) = runner.invoke(
        app, ["runs", "compare", str(folders / "one"), str(folders / "other"), "--json"]
    ).stdout.splitlines()
    assert json.loads(line)["families"][0]["share"]["counts"] == [2, 1]
    assert runner.invoke(app, ["runs", "export", str(folders / "one"), "--format", "latex"]).stdout == latex_table(
        folders / "one"
    )
    listed = [
        json.loads(line) for line in runner.invoke(app, ["runs", "list", str(folders), "--json"]).stdout.splitlines()
    ]
    assert {Path(row["folder"]).name: row["proved"] for row in listed} == {"one": 1, "two": None, "other": None}
    assert all((row["networks"], row["optimizers"]) == (["two-layer/relu"], ["gd:0.1"]) for row in listed)
