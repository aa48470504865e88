import json
from types import SimpleNamespace

import numpy as np
import pytest

from earnshaw.experiments import Summary
from earnshaw.papers import Item, Reproduction, Source, spurious


def summary(k=10, n=10, spurious=346, **changes):
    """The summary of 1000 runs; as many as said are spurious."""
    families = [
        {"count": 300, "objective": 0.0187, "min_eigenvalue": 0.032},
        {"count": 46, "objective": 0.035, "min_eigenvalue": 0.02},
    ]
    values = {
        "k": k, "n": n, "d": k, "objective": "two-layer/relu", "optimizer": "gd:0.1", "start": "xavier", "runs": 1000, "seed": 0,
        "outcomes": {"GLOBAL": 1000 - spurious, "SPURIOUS": spurious}, "spurious_percent": spurious / 10,
        "spurious_interval": [31.6, 37.7], "mean_objective": 0.0222, "mean_min_eigenvalue": 0.0305, "best_objective": None,
        "steps": 1, "families": families, "decided_by_value_test": 0, "restarted": 0,
    }  # fmt: skip
    return Summary.from_json(values | changes)


ROW = next(row for row in spurious.TABLE_1 if row.k == 10)
TABLE = Item("spurious", "table1")


def test_the_printed_tables_are_whole():
    assert [row.k for row in spurious.TABLE_1] == list(range(6, 21))
    assert [row.k for row in spurious.TABLE_2] == [8, *range(10, 20)]
    assert all(row.n == row.k for row in spurious.TABLE_1)
    assert all(row.n == row.k + 1 for row in spurious.TABLE_2)


def test_a_row_agrees_with_itself_and_not_with_another():
    assert all(line.ok for line in spurious.compare_row(TABLE, ROW, summary()))
    wrong = spurious.compare_row(TABLE, ROW, summary(spurious=450))
    assert [line.ok for line in wrong] == [False, True, True]
    wrong = spurious.compare_row(TABLE, ROW, summary(mean_objective=0.03, mean_min_eigenvalue=0.02))
    assert [line.ok for line in wrong] == [True, False, False]


def test_a_row_without_spurious_runs_has_no_means():
    lines = spurious.compare_row(
        TABLE, ROW, summary(spurious=0, families=[], mean_objective=None, mean_min_eigenvalue=None)
    )
    assert lines[0].ok is False
    assert [line.ours for line in lines[1:]] == [None, None]


@pytest.mark.parametrize("example", spurious.EXAMPLES)
def test_the_printed_examples_are_local_minima(example):
    from earnshaw.descent import settle
    from earnshaw.landscapes import landscape
    from earnshaw.problems import TwoLayer

    n, k = example.weights.shape
    energy = landscape(TwoLayer(np.eye(k), students=n))
    point, norm, spectrum = settle(energy, example.weights)
    assert np.abs(point - example.weights).max() < 5.1e-5
    assert norm < 1e-14
    assert example.eigenvalue_ge <= spectrum[0] <= 1.001 * example.eigenvalue_ge
    assert example.objective_ge <= float(energy.value(energy.point(point))) <= 1.001 * example.objective_ge


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [((8, 8), (10, 10)), pytest.param(spurious.FIGURE_1, marks=pytest.mark.nightly)])
def test_reproduce_writes_figures_and_rows(tmp_path, monkeypatch, sizes):
    monkeypatch.setattr(spurious, "FIGURE_1", sizes)
    how = Reproduction(out=tmp_path, runs=100, quick=True)
    rows = spurious.examples(how) + spurious.figure1(how)
    assert all(row.ok for row in rows), [row for row in rows if not row.ok]
    for name in ("figure1", "example1", "example2"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert b"<svg" in (tmp_path / f"{name}.svg").read_bytes()
    written = json.loads((tmp_path / "figure1.json").read_text())
    assert written == [json.loads(json.dumps(row.to_json())) for row in rows if row.item == "figure1"]
    sources = {row.quantity: row.source for row in rows}
    assert sources["largest_change_of_an_entry"] is Source.LIMIT
    assert sources["percent_of_runs"] is Source.PRINTED
    assert sources["runs_between_0.001_and_0.01"] is Source.READ_OFF


@pytest.mark.parametrize("name", ["table1", "table2"])
def test_a_table_is_compared_and_drawn_row_by_row(tmp_path, monkeypatch, name):
    """The sweeps are made up: each row has the printed percentage, and no spurious run to average."""
    printed = {(row.k, row.n): row.percent for row in spurious.TABLE_1 + spurious.TABLE_2}

    def fake(how, problems):
        sizes = [(problem.teachers, problem.students) for problem in problems]
        nothing = {"families": [], "mean_objective": None, "mean_min_eigenvalue": None}
        return [SimpleNamespace(summary=summary(k, n, round(10 * printed[k, n]), **nothing)) for k, n in sizes]

    monkeypatch.setattr(spurious, "sweeps", fake)
    rows = getattr(spurious, name)(Reproduction(out=tmp_path, quick=True))
    assert len(rows) == (15 if name == "table1" else 9)
    assert all(row.ok and row.source is Source.PRINTED for row in rows)
    assert all(row.ours == pytest.approx(row.reference) for row in rows if row.quantity == "spurious_percent")
    assert "printed in the paper" in (tmp_path / f"{name}.svg").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("row", [row for row in spurious.TABLE_1 if row.k in (7, 10)], ids=lambda row: f"k{row.k}")
def test_a_sweep_agrees_with_the_table(tmp_path, row):
    how = Reproduction(out=tmp_path, runs=300)
    (result,) = spurious.sweeps(how, [row.problem])
    assert all(line.ok for line in spurious.compare_row(TABLE, row, result.summary))
    assert sum(result.summary.outcomes.get(name, 0) for name in ("GLOBAL", "SPURIOUS")) == 300
