"""Rows say what their reference is; items and papers are listed once; parts of a reproduction count by their cost."""

import dataclasses
import json
import math
import subprocess
import sys

import pytest

from earnshaw.numerics import percentage, two_proportions
from earnshaw.papers import PAPERS, Item, Reproduction, Source, tally, unexplained
from earnshaw.papers.comparison import Z_LIMIT, reproduces

ITEM = Item("paper", "item")
KEYS = [
    "paper",
    "item",
    "setting",
    "quantity",
    "ours",
    "reference",
    "source",
    "counts",
    "test",
    "ok",
    "detects",
    "erratum",
]


def test_a_row_has_the_promised_keys_and_names_its_source():
    row = ITEM.compare("k=6", "percent", 1, 2, Source.READ_OFF, (1.5, 2.25), "near", interval=(0.5, 3.0))
    record = row.to_json()
    assert list(record) == [*KEYS, "interval"]
    assert json.loads(json.dumps(record)) == {
        "paper": "paper", "item": "item", "setting": "k=6", "quantity": "percent", "ours": 1.0, "reference": 2.0,
        "source": "READ_OFF", "counts": True, "test": "near", "ok": True, "detects": pytest.approx(0.5), "erratum": None,
        "interval": [0.5, 3.0],
    }  # fmt: skip


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


def test_what_is_detected_is_the_room_and_the_distance():
    assert ITEM.within("s", "q", 1.9, 2.0, Source.PRINTED, 0.25).detects == pytest.approx(0.35)
    assert ITEM.at_most("s", "error", 1e-13, 1e-12).detects == pytest.approx(9e-13)
    exact = ITEM.within("s", "q", 1.0, 1.0, Source.PRINTED, 0.0)
    assert 0 < exact.detects < 1e-15
    for error in (exact.detects, -exact.detects):
        assert dataclasses.replace(exact, reference=1.0 + error).failed


def test_a_row_counts_if_a_wrong_number_would_be_noticed():
    """Half of a number or 25 percentage points wrong; a row that fails has noticed something, and always counts."""
    tight, loose = (ITEM.within("s", "q", 0.024, 0.025, Source.PRINTED, room) for room in (0.01, 0.02))
    assert (tight.counts, tight.ok, tight.answer) == (True, True, "yes")
    assert (loose.counts, loose.ok, loose.answer) == (False, None, "context")
    assert loose.words == "within 0.02; not counted: only errors above 0.021 would fail"
    assert ITEM.within("s", "q", 0.07, 0.025, Source.PRINTED, 0.02).answer == "NO"
    assert ITEM.compare("s", "q", 1, 1, Source.PRINTED, (-math.inf, math.inf), "none").answer == "context"
    few, many = (ITEM.share("s", "q", of, of, "all") for of in (1, 3))
    assert (few.counts, many.counts) == (False, True)
    for infinite in (float("inf"), float("nan")):
        lost = ITEM.at_most("s", "error", infinite, 1.0, wrong=2.0)
        assert lost.failed
        assert lost.to_json()["ours"] is None


def test_context_is_neither_agreement_nor_disagreement():
    row = ITEM.context("s", "q", None, 2.0, Source.PRINTED, "nothing to average")
    record = row.to_json()
    assert [record[key] for key in ("ours", "counts", "ok", "detects")] == [None, False, None, None]
    rows = [row, ITEM.at_most("s", "q", 1, 2, wrong=3), ITEM.at_most("s", "q", 3, 2, wrong=3)]
    assert tally(rows) == "1 of 2 compared numbers agree; 1 more are context"
    assert unexplained(rows) == rows[2:]


def test_a_known_erratum_is_a_disagreement_that_is_explained():
    row = dataclasses.replace(ITEM.at_most("s", "q", 3, 2, wrong=3), erratum="Table 1")
    assert (row.ok, row.answer, row.to_json()["erratum"]) == (False, "NO, erratum", "Table 1")
    assert unexplained([row]) == []
    assert tally([row]) == "0 of 1 compared numbers agree, 1 disagrees as docs/errata.md explains"
    agreeing = dataclasses.replace(ITEM.at_most("s", "q", 1, 2, wrong=3), erratum="Table 1")
    assert agreeing.answer == "yes"


def test_at_most_holds_against_its_limit_which_is_no_value_to_meet():
    row = ITEM.at_most("s", "error", 1e-13, 1e-12, "quadrature")
    assert (row.ok, row.reference, row.source) == (True, 1e-12, Source.LIMIT)
    assert row.test == "quadrature: at most 1e-12"
    assert ITEM.at_most("s", "error", 2e-12, 1e-12).failed
    assert ITEM.at_most("s", "error", float("nan"), 1.0).failed


def test_a_limit_counts_only_if_a_wrong_number_is_beyond_it():
    assert ITEM.at_most("s", "error", 0.1, 0.2, wrong=0.3).counts
    assert not ITEM.at_most("s", "error", 0.1, 0.2, wrong=0.2).counts
    assert ITEM.at_least("s", "share", 97, 95, wrong=75).ok
    assert ITEM.at_least("s", "share", 94, 95, wrong=75).failed
    assert not ITEM.at_least("s", "share", 97, 95, wrong=95).counts
    none, one, empty = (ITEM.none("s", "faults", faults, of) for faults, of in ((0, 9), (1, 9), (0, 0)))
    assert (none.answer, one.answer, empty.answer) == ("yes", "NO", "context")
    assert none.test == "none of 9"


def test_two_answers_are_the_same_or_not():
    answers = [ITEM.same("s", "grows", *pair, Source.PRINTED).answer for pair in ((1, 1), (0, 0), (0, 1), (1, 0))]
    assert answers == ["yes", "yes", "NO", "NO"]


def test_a_share_is_a_percentage_with_its_interval_and_means_all_unless_said():
    row = ITEM.share("s", "q", 7, 8, "all")
    assert (row.ours, row.reference, row.source, row.ok) == (87.5, 100.0, Source.PRINTED, False)
    assert row.interval == percentage(7, 8)[1]
    whole = ITEM.share("s", "q", 8, 8)
    assert (whole.ok, whole.detects) == (True, pytest.approx(6.25))
    assert ITEM.share("s", "q", 7, 8, "most", 80, Source.LIMIT, (70, 90)).ok


def test_two_samples_may_be_so_many_standard_deviations_apart():
    """z of 34.6% and 42% of 1000 runs each is -3.4, of 34.6% and 44% -4.3."""
    near, far = (ITEM.sampled("s", "q", 346, 1000, printed, 1000) for printed in (42.0, 44.0))
    assert (near.ok, far.ok) == (True, False)
    assert near.test == f"two-sample z = -3.40, limit {Z_LIMIT:g}"
    assert (near.ours, near.interval) == percentage(346, 1000)
    for end in near.accepts:
        assert abs(two_proportions(0.346, 1000, end / 100, 1000)) == pytest.approx(Z_LIMIT)


def test_a_sample_too_small_to_fail_does_not_count():
    assert not ITEM.sampled("s", "q", 1, 2, 50.0, 2).counts
    assert ITEM.sampled("s", "q", 0, 200, 0.3, 1000).counts  # 7% would be noticed


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
