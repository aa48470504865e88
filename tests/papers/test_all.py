"""All papers in their quick form, with real numbers; ``conftest`` puts every row to its test."""

import pytest

from earnshaw.papers import PAPERS, Reproduction, unexplained

# Rows that count in the quick form, seed 0. Fewer would mean that a test has lost its power.
COUNTED = {
    "spurious": {"table1": 11, "table2": 4, "figure1": 6, "examples": 10},
    "convnet": {"figure1b": 2, "phases": 6, "probability": 7, "theorems": 9},
    "electrostatics": {"table1": 12, "theorems": 40, "figure1": 3, "figure2": 3, "table2": 9},
    "logistic": {"figure2": 10, "figure3": 3, "figure4": 4, "tensor": 6, "starts": 2, "theory": 3},
}
PAIRS = [(paper, item) for paper, items in COUNTED.items() for item in items]


def test_every_item_is_here():
    listed = {(name, item) for name, paper in PAPERS.items() for item in paper.items}
    assert {*PAIRS} == listed


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize(("paper", "item"), PAIRS)
def test_real_rows_agree_count_and_can_fail(tmp_path, every_row_can_fail, paper, item):
    rows = PAPERS[paper].function(item)(Reproduction(out=tmp_path, quick=True))
    assert {row.quantity for row in every_row_can_fail} >= {row.quantity for row in rows}
    assert not unexplained(rows)
    assert sum(row.counts for row in rows) == COUNTED[paper][item]


ELSEWHERE = {"spurious": ("table1", "table2", "figure1"), "convnet": ("probability", "theorems")}
ELSEWHERE |= {"electrostatics": ("figure1", "figure2", "table2"), "logistic": ("figure3", "figure4", "starts")}


@pytest.mark.parametrize(("paper", "item"), [(paper, item) for paper, items in ELSEWHERE.items() for item in items])
def test_what_takes_long_goes_to_the_cluster(tmp_path, monkeypatch, paper, item):
    def begun(where):
        raise NotImplementedError(where)

    monkeypatch.setattr("earnshaw.experiments.engine.Cluster", begun)
    with pytest.raises(NotImplementedError, match="local:3"):
        PAPERS[paper].function(item)(Reproduction(out=tmp_path, quick=True, cluster="local:3"))
