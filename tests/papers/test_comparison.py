"""Rows say what their reference is; items and papers are listed once; parts of a reproduction count by their cost."""

import json
import subprocess
import sys

import pytest

from earnshaw.numerics import percentage
from earnshaw.papers import PAPERS, Item, Reproduction, Source
from earnshaw.papers.comparison import reproduces

ITEM = Item("paper", "item")
KEYS = ["paper", "item", "setting", "quantity", "ours", "reference", "source", "test", "ok", "interval"]


def test_a_row_has_the_promised_keys_and_names_its_source():
    row = ITEM.compare("k=6", "percent", 1, 2, Source.READ_OFF, "near", True, (0.5, 3.0))
    record = row.to_json()
    assert list(record) == KEYS
    assert json.loads(json.dumps(record)) == {
        "paper": "paper", "item": "item", "setting": "k=6", "quantity": "percent", "ours": 1.0, "reference": 2.0,
        "source": "READ_OFF", "test": "near", "ok": True, "interval": [0.5, 3.0],
    }  # fmt: skip
    assert ITEM.compare("k=6", "mean", None, 2, Source.PRINTED, "nothing to average", True).ours is None


def test_every_source_says_something_else():
    assert {source.name for source in Source} == {"PRINTED", "READ_OFF", "CLOSED_FORM", "MEASURED", "LIMIT"}
    assert len({source.value for source in Source}) == 5
    assert Source.CLOSED_FORM.word == "closed form"


def test_within_holds_up_to_its_room_on_both_sides():
    for ours, ok in ((1.75, True), (2.25, True), (1.7, False), (2.3, False), (float("nan"), False)):
        row = ITEM.within("s", "q", ours, 2.0, Source.CLOSED_FORM, 0.25)
        assert row.ok is ok
        assert row.test == "within 0.25"
    assert ITEM.within("s", "q", 1, 1, Source.PRINTED, 0, "equal").test == "equal"


def test_at_most_holds_against_its_limit_which_is_no_value_to_meet():
    row = ITEM.at_most("s", "error", 1e-13, 1e-12, "quadrature")
    assert (row.ok, row.reference, row.source) == (True, 1e-12, Source.LIMIT)
    assert row.test == "quadrature: at most 1e-12"
    assert not ITEM.at_most("s", "error", 2e-12, 1e-12).ok
    assert not ITEM.at_most("s", "error", float("nan"), 1.0).ok


def test_a_share_is_a_percentage_with_its_interval_and_means_all_unless_said():
    row = ITEM.share("s", "q", 7, 8, "all")
    assert (row.ours, row.reference, row.source, row.ok) == (87.5, 100.0, Source.PRINTED, False)
    assert row.interval == percentage(7, 8)[1]
    assert ITEM.share("s", "q", 8, 8, "all").ok
    assert ITEM.share("s", "q", 7, 8, "most", True, reference=80, source=Source.LIMIT).ok


def test_two_samples_may_be_four_standard_deviations_apart():
    """z of 34.6% and 42% of 1000 runs each is -3.4, of 34.6% and 44% -4.3."""
    near, far = (ITEM.sampled("s", "q", 346, 1000, printed, 1000) for printed in (42.0, 44.0))
    assert (near.ok, far.ok) == (True, False)
    assert near.test == "two-sample z = -3.40, limit 4"
    assert (near.ours, near.interval) == percentage(346, 1000)


def test_parts_share_the_progress_by_their_costs(tmp_path):
    heard = []
    how = Reproduction(out=tmp_path, quick=True, runs=7, progress=lambda share, what: heard.append((share, what)))
    parts = how.parts([1, 3, 4])
    for name, part in zip("abc", parts, strict=True):
        assert (part.quick, part.runs, part.out) == (True, 7, tmp_path)
        part.progress(0.5, name)
        part.progress(1.0, name)
    assert [share for share, _ in heard] == pytest.approx([1 / 16, 1 / 8, 5 / 16, 1 / 2, 3 / 4, 1])
    (inner,) = parts[1].parts([2.0])
    inner.progress(0.5, "d")
    assert heard[-1] == (pytest.approx(5 / 16), "d")


def test_rows_are_written_under_their_item(tmp_path):
    @reproduces("paper")
    def item(how, item):
        """Words."""
        yield item.at_most("s", "q", 1, 2)

    rows = [ITEM.at_most("s", "q", 1, 2)]
    assert item(Reproduction(out=tmp_path)) == rows
    assert json.loads((tmp_path / "item.json").read_text()) == [row.to_json() for row in rows]
    assert (item.__name__, item.__doc__) == ("item", "Words.")


@pytest.mark.slow
@pytest.mark.parametrize("name", PAPERS)
def test_every_listed_item_has_its_function_and_says_what_it_does(name):
    paper = PAPERS[name]
    assert paper.name == name
    for item in paper.items:
        function = paper.function(item)
        assert function.__name__ == item
        assert function.__doc__


def test_the_list_of_papers_costs_no_import():
    program = (
        "import sys, earnshaw.papers as p; print(len(p.PAPERS), {'jax', 'numpy', 'matplotlib'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["4", "set()"]
