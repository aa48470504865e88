import json
import types

import pytest

from earnshaw.experiments.deep import DeepResult
from earnshaw.papers import Reproduction, electrostatics
from earnshaw.papers import electrostatics_theorems as parts


def test_the_printed_table_is_whole():
    assert list(electrostatics.TABLE_2) == [2, 3, 5, 9, 17]
    assert all(len(row) == 4 for row in electrostatics.TABLE_2.values())
    assert set(electrostatics.ITEMS) == {"table1", "theorems", "figure1", "figure2", "table2"}


def fake(monkeypatch, means):
    """Put made-up errors in place of trained students."""
    import numpy as np

    def trained(how, sizes):
        spread = np.array([[0.9, 1.1, 1.0]])
        steps = np.array([1, 2])
        return {size: DeepResult(*size, steps, np.concatenate([9 * spread, spread]) * means(*size)) for size in sizes}

    monkeypatch.setattr(electrostatics, "_trained", trained)


@pytest.mark.slow
def test_table_2_passes_for_a_growing_error_and_fails_for_a_flat_or_large_one(monkeypatch, tmp_path):
    how = Reproduction(out=tmp_path, quick=True)
    fake(monkeypatch, lambda depth, width: 1e-4 * width ** (depth - 1) if width < 100 else 0.01)
    rows = electrostatics.table2(how) + electrostatics.figure1(how) + electrostatics.figure2(how)
    assert all(row.ok for row in rows), [row for row in rows if not row.ok]
    fake(monkeypatch, lambda depth, width: 0.01)
    assert not all(row.ok for row in electrostatics.table2(how))
    fake(monkeypatch, lambda depth, width: 0.2 * depth)
    wrong = {row.setting for row in electrostatics.table2(how) if not row.ok}
    assert {"depth=2, width=5", "depth=3"} <= wrong
    for name in ("table2", "figure1", "figure2"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert b"<svg" in (tmp_path / f"{name}.svg").read_bytes()
    keys = {"paper", "item", "setting", "quantity", "ours", "printed", "test", "ok"}
    assert set(json.loads((tmp_path / "table2.json").read_text())[0]) >= keys


@pytest.mark.slow
def test_table_1_agrees_and_can_fail(tmp_path, monkeypatch):
    good = types.SimpleNamespace(found=lambda: 50)
    monkeypatch.setattr(electrostatics, "recover", lambda *_: good)
    monkeypatch.setattr(electrostatics, "node_minima", lambda *_: types.SimpleNamespace(found=9, at_teacher=9))
    monkeypatch.setattr(electrostatics, "power_descent", lambda *_: types.SimpleNamespace(ends=9, at_teacher=8))
    rows = electrostatics.table1(Reproduction(out=tmp_path, quick=True))
    assert {row.quantity for row in rows} >= {"potential_error", "converges", "potential_by_sampling"}
    assert [row.setting for row in rows if not row.ok] == ["polynomial, m=3"]


@pytest.mark.slow
def test_theorem_parts_agree_and_can_fail(tmp_path, monkeypatch):
    how = Reproduction(out=tmp_path, quick=True, runs=20)
    rows = parts.theorem30(how) + parts.theorem12(how)
    assert all(row.ok for row in rows)
    monkeypatch.setattr(
        parts, "reach_one", lambda *_: type("Far", (), {"distances": rows_of(2.0), "steps": rows_of(1)})
    )
    assert not any(row.ok for row in parts.theorem12(how))


def rows_of(value):
    import numpy as np

    return np.full(8, value)
