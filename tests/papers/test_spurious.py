import dataclasses
import json
from types import SimpleNamespace

import numpy as np
import pytest

from earnshaw.experiments import Summary
from earnshaw.papers import ERRATA, Item, Reproduction, Source, spurious, unexplained


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
    lines = spurious.compare_row(TABLE, ROW, summary())
    assert all(line.ok for line in lines)
    assert {line.quantity: line.erratum for line in lines} == {
        "spurious_percent": None,
        "mean_min_eigenvalue": None,
        "mean_objective": "Table 1, k = 10 and 11",
    }
    wrong = spurious.compare_row(TABLE, ROW, summary(spurious=450))
    assert [line.ok for line in wrong] == [False, True, True]
    wrong = spurious.compare_row(TABLE, ROW, summary(mean_objective=0.03, mean_min_eigenvalue=0.02))
    assert [line.answer for line in wrong] == ["yes", "NO", "NO, erratum"]


def two_families(objective, eigenvalue, share=0.1):
    """346 spurious runs in two families, that many in the second."""
    second = round(346 * share)
    counts = 346 - second, second
    families = [
        {"count": count, "objective": F, "min_eigenvalue": least}
        for count, F, least in zip(counts, objective, eigenvalue, strict=True)
    ]
    means = np.array(counts) @ np.array([eigenvalue, objective]).T / 346
    return summary(families=families, mean_min_eigenvalue=means[0], mean_objective=means[1])


def test_a_mean_is_a_mixture_and_a_printed_digit_is_rounded_or_truncated():
    """The standard error of a mean over 346 runs on either side, 35 of them in the second family."""
    _, least, loss = spurious.compare_row(TABLE, ROW, two_families((0.02, 0.02), (0.03, 0.05)))
    mean, error = 0.03 + 0.02 * 35 / 346, np.sqrt(311 * 35) / 346 * 0.02 * np.sqrt(2 / 346)
    assert least.accepts == pytest.approx((mean - 3.5 * error - 1e-3, mean + 3.5 * error + 5e-4))
    assert loss.accepts == pytest.approx((0.019, 0.0205))  # one value in all families: the digits alone
    for printed, ok in ((0.0189, False), (0.019, True), (0.0205, True), (0.0206, False)):
        *_, line = spurious.compare_row(
            TABLE, dataclasses.replace(ROW, objective=printed), two_families((0.02,) * 2, (0.03,) * 2)
        )
        assert line.ok is ok


def test_the_loss_is_compared_together_with_the_eigenvalue():
    """Two families as at k = 10: the printed eigenvalue fixes the mixture, and with it the loss."""
    made = two_families((0.0187, 0.0353), (0.032, 0.016))
    row = dataclasses.replace(ROW, eigenvalue=0.03)
    answers = {
        F: spurious.compare_row(TABLE, dataclasses.replace(row, objective=F), made)[2].ok for F in (0.02, 0.021, 0.022)
    }
    assert answers == {0.02: True, 0.021: True, 0.022: False}
    fewer = dataclasses.replace(row, eigenvalue=0.029, objective=0.022)
    assert all(line.ok for line in spurious.compare_row(TABLE, fewer, made))


def test_a_mean_of_few_runs_is_context():
    nothing = {"families": [], "mean_objective": None, "mean_min_eigenvalue": None}
    for row, made in (
        (ROW, summary(spurious=0, **nothing)),
        (ROW, summary(spurious=9)),
        (spurious.TABLE_1[0], summary(6, 6)),
    ):
        first, *means = spurious.compare_row(TABLE, row, made)
        assert first.ok is False
        assert [line.ok for line in means] == [None, None]
        assert all("under 10 say little" in line.words for line in means)


def test_every_disagreement_that_is_expected_is_an_erratum():
    places = {erratum.place for erratum in ERRATA if erratum.paper == "spurious"}
    assert set(spurious.DISAGREEMENTS.values()) <= places
    printed = {(row.k, row.n) for row in spurious.TABLE_1 + spurious.TABLE_2}
    assert {(k, n) for k, n, _ in spurious.DISAGREEMENTS} <= printed


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
    assert not [row for row in rows if row.failed]
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

    def fake(how, problems, runs):
        sizes = [(problem.teachers, problem.students) for problem in problems]
        nothing = {"families": [], "mean_objective": None, "mean_min_eigenvalue": None}
        return [SimpleNamespace(summary=summary(k, n, round(10 * printed[k, n]), **nothing)) for k, n in sizes]

    monkeypatch.setattr(spurious, "sweeps", fake)
    rows = getattr(spurious, name)(Reproduction(out=tmp_path, quick=True))
    assert len(rows) == (15 if name == "table1" else 9)
    assert {(row.quantity, row.answer) for row in rows} == {
        ("spurious_percent", "yes"),
        ("mean_min_eigenvalue", "context"),
        ("mean_objective", "context"),
    }
    assert {row.source for row in rows} == {Source.PRINTED}
    assert all(row.ours == pytest.approx(row.reference) for row in rows if row.quantity == "spurious_percent")
    assert "printed in the paper" in (tmp_path / f"{name}.svg").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("row", [row for row in spurious.TABLE_1 if row.k in (7, 10)], ids=lambda row: f"k{row.k}")
def test_a_sweep_agrees_with_the_table(tmp_path, row):
    how = Reproduction(out=tmp_path, runs=300)
    (result,) = spurious.sweeps(how, [row.problem], 300)
    assert not unexplained(spurious.compare_row(TABLE, row, result.summary))
    assert sum(result.summary.outcomes.get(name, 0) for name in ("GLOBAL", "SPURIOUS")) == 300


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize(("k", "runs"), [(10, 10_000), (11, 1000), (13, 1000)])
def test_the_disputed_rows_of_table_1_disagree(tmp_path, k, runs):
    (row,) = (row for row in spurious.TABLE_1 if row.k == k)
    (result,) = spurious.sweeps(Reproduction(out=tmp_path), [row.problem], runs)
    lines = spurious.compare_row(TABLE, row, result.summary)
    assert [line.failed for line in lines] == [line.erratum is not None for line in lines]
    assert any(line.failed for line in lines)
