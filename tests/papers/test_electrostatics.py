import json
import types

import numpy as np
import pytest

from earnshaw.experiments.deep import DeepResult
from earnshaw.papers import Item, Reproduction, Source
from earnshaw.papers.electrostatics import deep
from earnshaw.papers.electrostatics import theorems as parts

ITEM = Item("electrostatics", "theorems")


def test_the_printed_table_is_whole():
    assert list(deep.TABLE_2) == [2, 3, 5, 9, 17]
    assert all(len(row) == 4 for row in deep.TABLE_2.values())


def fake(monkeypatch, means):
    """Put made-up errors in place of trained students."""

    def trained(how, sizes):
        spread = np.array([[0.9, 1.1, 1.0]])
        steps = np.array([1, 2])
        return {size: DeepResult(*size, steps, np.concatenate([9 * spread, spread]) * means(*size)) for size in sizes}

    monkeypatch.setattr(deep, "_trained", trained)


@pytest.mark.slow
def test_table_2_passes_for_a_growing_error_and_fails_for_a_flat_or_large_one(monkeypatch, tmp_path):
    how = Reproduction(out=tmp_path, quick=True)
    fake(monkeypatch, lambda depth, width: 1e-4 * width ** (depth - 1) if width < 100 else 0.01)
    rows = deep.table2(how) + deep.figure1(how) + deep.figure2(how)
    assert not [row for row in rows if row.failed]
    fake(monkeypatch, lambda depth, width: 0.01)
    flat = {row.setting for row in deep.table2(how) if row.failed}
    assert flat == {"depth=3", "depth=5", *(f"width={width}, depth 2 to 5" for width in (5, 10, 20))}
    assert all(row.failed for row in deep.figure2(how) if row.counts)
    fake(monkeypatch, lambda depth, width: 0.2 * depth)
    wrong = {row.setting for row in deep.table2(how) if row.failed}
    assert {"depth=2, width=5", "depth=3"} <= wrong
    assert all(row.failed for row in deep.figure1(how) if row.counts)
    for name in ("table2", "figure1", "figure2"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert b"<svg" in (tmp_path / f"{name}.svg").read_bytes()
    written = json.loads((tmp_path / "table2.json").read_text())
    schedules = [row for row in written if "20,000 steps, the last fifth" in row["test"]]
    assert [row["setting"] for row in schedules] == ["depth=2, width=125"], "its own schedule is told"
    assert {(row["quantity"], row["source"], row["counts"]) for row in written} == {
        ("mean_test_error", "PRINTED", False),
        ("mean_test_error_at_the_end", "LIMIT", True),
        ("grows_with_width", "PRINTED", True),
        ("grows_with_depth", "PRINTED", True),
    }


@pytest.mark.slow
def test_table_1_agrees_and_can_fail(tmp_path, monkeypatch):
    good = types.SimpleNamespace(found=lambda: 50)
    monkeypatch.setattr(parts.counts, "recover", lambda *_: good)
    monkeypatch.setattr(parts.counts, "node_minima", lambda *_: types.SimpleNamespace(found=9, at_teacher=9))
    monkeypatch.setattr(parts.counts, "power_descent", lambda *_: types.SimpleNamespace(ends=9, at_teacher=8))
    rows = parts.table1(Reproduction(out=tmp_path, quick=True))
    assert {row.quantity for row in rows} >= {"potential_error", "converges", "potential_by_sampling"}
    assert [row.setting for row in rows if row.failed] == ["polynomial, m=3"]
    assert {row.quantity: row.source for row in rows} == {
        "potential_error": Source.LIMIT,
        "potential_by_sampling": Source.CLOSED_FORM,
        "potential_at_cosine_0.3": Source.CLOSED_FORM,
        "converges": Source.PRINTED,
    }


@pytest.mark.slow
def test_theorem_parts_agree_and_can_fail(tmp_path, monkeypatch):
    how = Reproduction(out=tmp_path, quick=True, runs=20)
    checked = (parts.theorem30, parts.theorem12, parts.theorem5, parts.lemma13)
    rows = [row for part in checked for row in part(how, ITEM)]
    assert not [row for row in rows if row.failed]
    assert (tmp_path / "potentials.svg").exists()
    far = types.SimpleNamespace(distances=np.full(8, 2.0), steps=np.full(8, 1))
    monkeypatch.setattr(parts.counts, "reach_one", lambda *_: far)
    assert not any(row.ok for row in parts.theorem12(how, ITEM))
    same = types.SimpleNamespace(difference=1e-9, speed_ratio=1.0, doubled_difference=0.0)
    monkeypatch.setattr(parts.counts, "compare_flows", lambda seed: same)
    assert [row.answer for row in parts.theorem5(how, ITEM)] == [
        "context",
        "NO",
    ]  # nothing to tell apart, and not twice
    wrong = types.SimpleNamespace(difference=0.02, speed_ratio=2.0, doubled_difference=0.02)
    monkeypatch.setattr(parts.counts, "compare_flows", lambda seed: wrong)
    assert [row.ok for row in parts.theorem5(how, ITEM)] == [False, True]


def test_recovery_and_the_circle_are_counted(tmp_path, monkeypatch):
    """The counts are made up: rows and figures must say them."""
    how = Reproduction(out=tmp_path, quick=True, runs=20)
    monkeypatch.setattr(
        parts.counts,
        "recover",
        lambda *_, printed=False: types.SimpleNamespace(
            found=lambda: 3 if printed else 20, steps=95.0, distances=np.array([1e-14])
        ),
    )
    rows = list(parts.theorem17(how, ITEM))
    assert not [row for row in rows if row.failed]
    assert {row.quantity: row.ours for row in rows} == {"log_domain_found_all": 100.0, "algorithm_3_found_all": 15.0}
    assert [row.answer for row in rows if row.quantity == "algorithm_3_found_all"] == ["context"] * 6 + ["yes"]
    ends = types.SimpleNamespace(at_global=12, flat_pairs=8)
    monkeypatch.setattr(parts.counts, "circle_ends", lambda *_: ends)
    monkeypatch.setattr(parts.counts, "node_minima", lambda *_: types.SimpleNamespace(found=40, at_teacher=40))
    rows = list(parts.lemmas_28_29(how, ITEM))
    assert not [row for row in rows if row.failed]
    assert [row.ours for row in rows[:2]] == [100.0, 60.0]
    ends.flat_pairs = 7  # one run of twenty is neither
    assert [row.ok for row in parts.lemmas_28_29(how, ITEM)] == [False, None] * 4 + [True, True]
    monkeypatch.setattr(parts.counts, "node_minima", lambda *_: types.SimpleNamespace(found=20, at_teacher=19))
    assert [row.ok for row in parts.lemmas_28_29(how, ITEM)] == [False, None] * 4 + [False, False]
    for name in ("theorem17", "lemma28"):
        assert (tmp_path / f"{name}.svg").exists()


@pytest.mark.slow
def test_traces_and_critical_points(tmp_path):
    rows = list(parts.theorems_9_11(Reproduction(out=tmp_path, quick=True), ITEM))
    assert not [row for row in rows if row.failed]
