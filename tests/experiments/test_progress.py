"""Progress: finer than a piece, with counts that are right at the end, a time left that can be trusted, lines for files."""

import io

import numpy as np
import pytest
from rich.console import Console

import earnshaw as es
from earnshaw.descent.outcomes import Ledger, Outcome, watched
from earnshaw.experiments import Interrupted, Plan, engine, progress, run_plan
from earnshaw.experiments.progress import Meter, asked, shown
from earnshaw.experiments.work import Milestone
from earnshaw.problems import TwoLayer


def test_a_sweep_tells_what_is_decided_and_each_setting_that_is_done(monkeypatch):
    monkeypatch.setattr(engine, "PAUSE", 0.0)
    told = []
    start = np.random.default_rng(0).normal(size=(300, 2, 2))
    run_plan(Plan.of(TwoLayer(np.eye(2)), runs=300, start=es.start(start)), progress=lambda *said: told.append(said))
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert len(shares) > 5, "in steps finer than the two pieces"
    assert told[-1][1] == "k2-n2: 300 global"
    assert isinstance(told[-1][1], Milestone)
    counts = [words.split(", ")[1:] for _, words in told[1:-1]]
    assert all(words[0].endswith(" decided") and words[1] == "0 spurious" for words in counts)
    decided = [int(words[0].split()[0]) for words in counts]
    assert decided == sorted(decided)
    assert decided[-1] == 300


def test_who_starts_a_sweep_hears_of_every_end_and_can_stop_it():
    heard, plan = [], Plan.of(TwoLayer(np.eye(6)), runs=300, seed=1)
    (result,) = run_plan(plan, ended=lambda *end: heard.append(end))
    values, outcomes = (np.concatenate([end[part] for end in heard]) for part in (0, 1))
    assert len(heard) > 5, "as they come"
    assert sorted(zip(values, outcomes, strict=True)) == sorted(
        zip(result.runs.value, result.runs.outcome, strict=True)
    )
    with pytest.raises(Interrupted):
        run_plan(plan, cancelled=lambda: True)


def test_a_ledger_is_watched_by_its_own_thread_while_the_context_lasts():
    seen, book = [], Ledger(np.zeros((3, 2, 2)))
    with watched(lambda ledger: seen.append(int((ledger.outcome == Outcome.GLOBAL.code).sum()))):
        book.close(0, np.zeros((2, 2)), np.zeros((2, 2)), 0.0, 0.0, Outcome.GLOBAL)
        book.close(np.array([1, 2]), np.zeros((2, 2)), np.zeros((2, 2)), 0.0, 0.0, Outcome.GLOBAL)
    book.close(0, np.zeros((2, 2)), np.zeros((2, 2)), 0.0, 0.0, Outcome.SPURIOUS)
    assert seen == [1, 3]


def test_the_time_left_is_that_of_the_work_and_some_of_the_compilation():
    now = {"clock": 0.0, "compiled": 5.0}
    meter = Meter(lambda: now["clock"], lambda: now["compiled"])
    meter.hear(0.2)  # what a folder had already
    assert meter.left == ""
    now |= {"clock": 14.0, "compiled": 15.0}
    meter.hear(0.3)  # 10 s of compilation and 4 s of work for a tenth
    assert meter.left == "about 35 s left"
    now |= {"clock": 54.0}
    meter.hear(0.4)
    assert meter.left == "about 2 min left"
    meter.hear(1.0)
    assert meter.left == ""


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_has_a_bar_and_a_file_a_line_now_and_then(monkeypatch, terminal):
    monkeypatch.setattr(progress, "EVERY", 0.0 if not terminal else 1e9)
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=terminal, width=100, highlight=False)
    with shown("sweep", console) as move:
        move(0.25, "k6-n6, 12 decided")
        move(0.5, Milestone("k6-n6: 99 global, 1 spurious"))
    text = stream.getvalue()
    assert "k6-n6: 99 global, 1 spurious" in text
    assert ("sweep: 25%, k6-n6, 12 decided\n" in text) is not terminal
    assert ("\x1b" in text) is terminal


def test_true_shows_it_and_false_does_not(monkeypatch, capsys):
    monkeypatch.setattr(progress, "EVERY", 0.0)
    with asked(True, "sweep") as move:
        move(0.5, "half")
    with asked(False, "sweep") as move:
        move(0.5, "half")
    heard = []
    with asked(lambda share, what: heard.append(what), "sweep") as move:
        move(0.5, "half")
    assert capsys.readouterr().err == "sweep: 50%, half\n"
    assert heard == ["half"]
