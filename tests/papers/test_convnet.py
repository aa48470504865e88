import json

import pytest

from earnshaw.errors import InputError
from earnshaw.landscapes.convnet_stationary import spurious_limit
from earnshaw.papers import PAPERS, Reproduction, Source, convnet


def test_the_reference_is_for_ratios_with_a_spurious_minimum():
    assert max(convnet.REFERENCE) < spurious_limit(convnet.K) < max(convnet.MAP)
    assert set(convnet.REFERENCE) <= set(convnet.MAP)


def test_random_instances_are_many_and_of_unit_scale():
    problems = convnet.random_instances(50, seed=3)
    assert all(abs(problem.scale - 1) < 1e-12 for problem in problems)
    assert len({problem.patches for problem in problems}) > 20
    assert problems == convnet.random_instances(50, seed=3)


@pytest.mark.slow
@pytest.mark.parametrize("item", ["figure1b", "phases", "theorems"])
def test_an_item_agrees_and_writes_its_files(tmp_path, item):
    how = Reproduction(out=tmp_path, quick=True, runs=300)
    rows = PAPERS["convnet"].function(item)(how)
    assert not [row for row in rows if row.failed]
    assert len(rows) >= 3
    for name in {item, "approach"} if item == "phases" else {item}:
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert b"<svg" in (tmp_path / f"{name}.svg").read_bytes()
    if item == "theorems":
        table = json.loads((tmp_path / "theorems-starts.json").read_text())
        assert len(table) == 3 * len(convnet.THEOREM_RATIOS)
        assert sum(row["global"] + row["spurious"] for row in table[:3]) == 300
    written = json.loads((tmp_path / f"{item}.json").read_text())
    assert written == [json.loads(json.dumps(row.to_json())) for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize("item", ["figure1b", "phases"])
def test_too_few_runs_to_compare_are_refused(tmp_path, item):
    with pytest.raises(InputError, match="use more"):
        PAPERS["convnet"].function(item)(Reproduction(out=tmp_path, runs=1))


@pytest.mark.slow
def test_the_probability_map_can_fail(tmp_path, monkeypatch):
    how = Reproduction(out=tmp_path, quick=True, runs=400)
    rows = convnet.probability(how)
    *shares, decided = rows
    assert len(shares) == 6
    assert all(row.ok for row in rows)
    assert {row.source for row in shares} == {Source.MEASURED}  # the paper has no numbers
    assert (decided.quantity, decided.ours) == ("undecided_runs", 0)
    monkeypatch.setattr(convnet, "REFERENCE", {0.5: 0.2})
    wrong, _ = convnet.probability(how)
    assert wrong.failed
    assert wrong.interval[0] < wrong.ours < wrong.interval[1]
