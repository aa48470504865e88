"""``earnshaw reproduce``: one paper or all of them, what is counted, what the exit status says, how long it will take."""

import dataclasses
import json

import pytest
from typer.testing import CliRunner

from earnshaw.cli.app import app
from earnshaw.papers import PAPERS, Item, Paper, Source
from earnshaw.papers.comparison import reproduces

WIDE = {"COLUMNS": "400", "TERM": "dumb", "NO_COLOR": "1"}


def reproduce(*words):
    return CliRunner().invoke(app, ["reproduce", *words], env=WIDE)


def rows_of(item: Item, right: float, known: float) -> list:
    """A row that agrees if ``right`` is 1, one that is a known erratum unless ``known`` is 1, and one without a test."""
    erratum = item.within("s", "known", known, 1.0, Source.PRINTED, 0.1)
    return [
        item.within("s", "right", right, 1.0, Source.PRINTED, 0.1),
        dataclasses.replace(erratum, erratum="Table 1"),
        item.context("s", "beside", 3.0, 1.0, Source.MEASURED, "nothing to hold it against"),
    ]


@pytest.fixture
def papers(monkeypatch):
    """Put made-up numbers in the place of every item; return them, to be changed, and the reproductions asked for."""
    numbers, asked = {"right": 1.0, "known": 2.0}, []

    def function(paper, item):
        def rows(how, made):
            asked.append((paper.name, item, how))
            return rows_of(made, **numbers)

        rows.__name__ = item
        return reproduces(paper.name)(rows)

    monkeypatch.setattr(Paper, "function", function)
    return numbers, asked


def test_all_papers_give_every_row_and_each_has_its_folder(papers, tmp_path):
    _, asked = papers
    done = reproduce("all", "--quick", "--json", "--out", str(tmp_path))
    assert done.exit_code == 0
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    pairs = [(name, item) for name, paper in PAPERS.items() for item in paper.items]
    assert [(row["paper"], row["item"]) for row in rows] == [pair for pair in pairs for _ in range(3)]
    assert all({"reference", "source", "counts", "detects"} <= set(row) for row in rows)
    assert [(name, item) for name, item, _ in asked] == pairs
    assert all(how.quick and how.out == tmp_path / name for name, _, how in asked)
    assert not done.stderr


def test_context_is_shown_and_not_counted_and_a_known_erratum_still_disagrees(papers, tmp_path):
    done = reproduce("convnet", "phases", "--quick", "--out", str(tmp_path))
    assert done.exit_code == 0
    assert [line.split()[-1] for line in done.stdout.splitlines()[2:5]] == ["yes", "erratum", "context"]
    assert "1 of 2 compared numbers agree, 1 disagrees as docs/errata.md explains; 1 more are context" in done.stdout


def test_a_disagreement_that_is_no_known_erratum_is_exit_status_1(papers, tmp_path):
    numbers, _ = papers
    numbers |= {"right": 1.2, "known": 1.0}
    done = reproduce("convnet", "phases", "--quick", "--out", str(tmp_path))
    assert done.exit_code == 1
    assert "1 of 2 numbers do not agree" in done.stderr


def test_in_full_it_says_first_how_long_it_takes(papers, tmp_path):
    whole = sum(sum(paper.minutes.values()) for paper in PAPERS.values())
    done = reproduce("all", "--json", "--out", str(tmp_path))
    assert f"in full this takes about {whole / 60:.1f} h of CPU time (spurious" in done.stderr
    assert "the same command goes on. --quick takes minutes." in done.stderr
    assert "about a minute of CPU time" in reproduce("convnet", "phases", "--out", str(tmp_path)).stderr
    assert not reproduce("convnet", "phases", "--runs", "3", "--out", str(tmp_path)).stderr


def test_every_item_says_what_it_costs():
    for paper in PAPERS.values():
        assert set(paper.minutes) == set(paper.items)
        assert all(minutes > 0 for minutes in paper.minutes.values())


def test_all_papers_have_no_item_in_common():
    done = reproduce("all", "table1")
    assert done.exit_code == 2
    assert "all papers have no table1 in common; leave the item out, or name the paper" in done.stderr


@pytest.mark.parametrize("words", [("spurious", "table1"), ("logistic", "starts"), ("all",)])
def test_no_runs_give_no_numbers(words, tmp_path):
    done = reproduce(*words, "--runs", "0", "--out", str(tmp_path))
    assert done.exit_code == 2
    assert done.stderr.strip().endswith("error: 0 runs were asked for; use at least 1")
    done = reproduce(*words, "--seed", "-1", "--out", str(tmp_path))
    assert (done.exit_code, "error: the seed is -1; use a whole number from 0" in done.stderr) == (2, True)
