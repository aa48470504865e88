import json

import numpy as np
import pytest

from earnshaw.papers import Reproduction
from earnshaw.papers import logistic as paper


def test_figure_2(tmp_path):
    rows = paper.figure2(Reproduction(out=tmp_path))
    assert len(rows) == 10
    assert all(row.ok for row in rows)
    for name in ("figure2.png", "figure2.svg", "figure2.json"):
        assert (tmp_path / name).stat().st_size > 500


def test_a_wrong_curve_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(paper, "rho", lambda activation, scale: 1.02 * np.asarray(np.ones_like(scale)) * 2.14e-3)
    assert not all(row.ok for row in paper.figure2(Reproduction(out=tmp_path)))


@pytest.mark.slow
def test_figure_3_is_kept_and_compared(tmp_path, monkeypatch):
    calls = []

    def fake(problem, starts):
        calls.append((problem.dimension, problem.samples, problem.seed))
        good = problem.samples >= 400 * problem.dimension
        return paper.Consensus(1e-3 if good else 1.0, 0.3, 1.0 if good else 5.0)

    monkeypatch.setattr(paper, "consensus", fake)
    how = Reproduction(out=tmp_path, quick=True)
    rows = paper.figure3(how)
    assert all(row.ok for row in rows)
    assert len(calls) == 4 * sum(len(grid.samples) for grid in paper.FIGURE_3_QUICK)
    count = len(calls)
    paper.figure3(how)
    assert len(calls) == count, "finished settings are not computed again"
    monkeypatch.setattr(paper, "consensus", lambda problem, starts: paper.Consensus(1.0, 0.3, 5.0))
    bad = paper.figure3(Reproduction(out=tmp_path / "other", quick=True, runs=20))
    assert [row.setting for row in bad if not row.ok] == ["d=20, n=8000"]
    assert json.loads((tmp_path / "other" / "figure3.json").read_text())


@pytest.mark.slow
def test_figure_4_tells_the_slope(tmp_path, monkeypatch):
    def falling(power):
        def fake(problem):
            noise = 1 + 0.05 * np.sin(problem.seed)
            return paper.Estimate(0.165 * noise * (problem.samples / 16_000) ** power, True)

        return fake

    monkeypatch.setattr(paper, "estimate", falling(-0.5))
    assert all(row.ok for row in paper.figure4(Reproduction(out=tmp_path / "a", quick=True)))
    monkeypatch.setattr(paper, "estimate", falling(-0.25))
    assert not all(row.ok for row in paper.figure4(Reproduction(out=tmp_path / "b", quick=True)))


@pytest.mark.slow
def test_the_theory_and_a_proved_radius(tmp_path):
    rows = paper.theory(Reproduction(out=tmp_path, quick=True))
    assert all(row.ok for row in rows)
    proved = [row for row in rows if row.quantity == "proved_radius"]
    assert len(proved) == 2
    assert all(0 < row.ours < row.printed for row in proved)  # beside Theorem 1's radius with its constant set to 1
