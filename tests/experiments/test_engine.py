"""The engine, with work that takes no time: pieces, resuming, extending, and the time that it says it took."""

import contextlib
import re
import threading
import time

import numpy as np
import pytest
from squares import COMPUTED, TROUBLE, Squares, interrupt, pieces_computed, results, squares, stages_computed  # noqa: F401

from earnshaw.errors import DamageWarning, InputError
from earnshaw.experiments import Interrupted, Plan, run
from earnshaw.experiments.times import covered
from earnshaw.experiments.turns import in_turn
from earnshaw.experiments.work import Piece, finished_records, load
from earnshaw.problems import TwoLayer
from earnshaw.store import read_json, read_manifest

# ---- pieces and their order ------------------------------------------------------------------------------------------


def test_pieces_of_settings_far_apart_take_turns():
    missing = {
        name: [Piece(name, low, low + 1) for low in range(count)]
        for name, count in zip("abcde", (2, 1, 0, 3, 1), strict=True)
    }

    def order(workers, few=False):
        return "".join(f"{piece.setting}{piece.low}" for piece in in_turn(missing, workers, few))

    assert order(1) == "a0a1b0d0d1d2e0"
    assert order(2) == "a0d0a1d1d2b0e0"
    assert order(4) == "a0b0d0e0a1d1d2"
    assert in_turn({}, 2) == in_turn({"a": []}, 2) == []
    missing["e"] = [Piece("e", 0, 1, weight=2.0)]
    assert order(1) == "e0a0a1b0d0d1d2"  # the heaviest first
    assert order(2, few=True) == "e0b0a0a1d0d1d2"
    assert in_turn({}, 2, few=True) == []


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_every_worker_count_gives_the_same_bytes(tmp_path, workers):
    done = run(Squares((1, 2, 3)), tmp_path / "run", workers)
    assert list(done) == ["s1", "s2", "s3"]
    assert done["s1"].record == {"sum": 285, "runs": 10, "files": [""]}
    assert load(tmp_path / "run")["s3"].tolist() == [i * i for i in range(10)]
    run(Squares((1, 2, 3)), tmp_path / "one", 1)
    assert results(tmp_path / "run") == results(tmp_path / "one")
    assert np.array_equal(run(Squares((1, 2, 3)), None, workers)["s2"].arrays["square"], load(tmp_path / "run")["s2"])


def test_progress_never_falls_and_ends_at_one():
    told = []
    run(Squares((1, 2)), None, 2, lambda share, what: told.append((share, what)))
    shares = [share for share, _ in told]
    assert shares[0] == 0
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert {"half", "s1: done", "s2: done"} <= {what for _, what in told}


def test_a_number_of_workers_that_makes_no_sense_is_refused(tmp_path):
    with pytest.raises(InputError, match="0 workers were asked for; use at least 1"):
        run(Squares((1,)), tmp_path / "run", 0)
    assert not (tmp_path / "run").exists()


# ---- time ------------------------------------------------------------------------------------------------------------


def test_the_union_of_intervals():
    assert covered([]) == 0
    assert covered([(1, 3)]) == 2
    assert covered([(5, 6), (1, 3), (2, 4)]) == 4
    assert covered([(1, 10), (2, 3), (4, 12)]) == 11
    assert covered([(1, 2), (1, 2)]) == 1


def test_seconds_are_those_of_a_clock_on_the_wall(tmp_path):
    """Six pieces of 0.1 s by three workers take 0.2 s: not 0.6 s, and not 0.2 s / 3."""
    together = threading.Barrier(3)

    def nap(context):
        together.wait(10)
        time.sleep(0.1)

    TROUBLE.update({("s1", low): nap for low in (0, 4, 8, 12, 16, 20)})
    begin = time.perf_counter()
    done = run(Squares((1,), runs=24), tmp_path / "run", 3)["s1"]
    wall = time.perf_counter() - begin
    assert 0.2 <= done.seconds <= wall
    assert done.compile_seconds == 0
    assert read_json(tmp_path / "run" / "record.json")["times"]["s1"]["seconds"] == done.seconds
    assert read_json(tmp_path / "run" / "record.json")["workers"] == 3
    again = run(Squares((1,), runs=24), tmp_path / "run", 3)["s1"]
    assert again.seconds == done.seconds, "a finished setting keeps its time"
    TROUBLE.clear()
    more = run(Squares((1,), runs=28), tmp_path / "run", 3)["s1"]
    assert more.seconds > done.seconds, "and an extended one adds to it"


# ---- interruptions and damage ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", [("s1", 0), ("s1", 8), ("s2", 4)])
def test_interrupted_work_resumes_where_it_was(tmp_path, at):
    TROUBLE[at] = interrupt
    with pytest.raises(Interrupted):
        run(Squares((1, 2)), tmp_path / "run", 1)
    TROUBLE.clear()
    COMPUTED.clear()
    run(Squares((1, 2)), tmp_path / "run", 1)
    order = [(name, low) for name in ("s1", "s2") for low in (0, 4, 8)]
    again = [entry[:2] for entry in pieces_computed()]
    assert again[0] == at
    assert set(again) <= set(order[order.index(at) :]), "what was finished is not done again"
    run(Squares((1, 2)), tmp_path / "whole", 1)
    assert results(tmp_path / "run") == results(tmp_path / "whole")
    assert not list((tmp_path / "run" / "pieces").iterdir())


def test_stages_of_a_piece_survive_an_interruption(tmp_path):
    TROUBLE["s1", 4] = interrupt
    with pytest.raises(Interrupted):
        run(Squares((1,)), tmp_path / "run", 1)
    assert len([entry for entry in stages_computed() if entry[1] == 4]) == 3
    TROUBLE.clear()
    COMPUTED.clear()
    run(Squares((1,)), tmp_path / "run", 1)
    again = pieces_computed()
    assert again[0] == ("s1", 4, 8)
    assert again[1:] in ([], [("s1", 8, 10)]), "the last piece has perhaps been computed before the first heard of it"
    assert 4 not in [entry[1] for entry in stages_computed()], "the stages of the second piece were kept"
    assert load(tmp_path / "run")["s1"].tolist() == [i * i for i in range(10)]


def test_an_error_stops_the_other_workers_and_is_raised(tmp_path):
    seen, ready = [], threading.Event()

    def fails(context):
        ready.wait(10)
        raise ArithmeticError("no square")

    def waits(context):
        ready.set()
        deadline = time.monotonic() + 10
        while not context.cancelled() and time.monotonic() < deadline:
            time.sleep(0.005)
        seen.append(context.cancelled())

    TROUBLE["s1", 0], TROUBLE["s2", 0] = waits, fails
    with pytest.raises(ArithmeticError, match="no square"):
        run(Squares((1, 2)), tmp_path / "run", 2)
    assert seen == [True]
    TROUBLE.clear()
    run(Squares((1, 2)), tmp_path / "run", 2)
    assert load(tmp_path / "run")["s2"].tolist() == [i * i for i in range(10)]


@pytest.mark.parametrize("workers", [1, 2])
def test_pieces_that_a_device_begins_together_are_kept_one_by_one(tmp_path, monkeypatch, workers):
    """They are begun in any order, and each is computed from that; what was done before an interruption or an error is not done again."""
    compute = Squares.compute

    def begin(self, contexts):
        for piece, context in reversed(contexts.items()):
            TROUBLE.get(("begin", piece.low), lambda context: None)(context)
            yield piece, {"begun": np.array([piece.low])}, 1.0

    def go_on(self, piece, context):
        assert piece.low == 0 or context.begun["begun"].tolist() == [piece.low]
        return compute(self, piece, context)

    monkeypatch.setattr(Squares, "groups", lambda self, pieces: [[piece for piece in pieces if piece.low]])
    monkeypatch.setattr(Squares, "begin", begin)
    monkeypatch.setattr(Squares, "compute", go_on)
    for number, trouble in enumerate((interrupt, lambda context: 1 / 0)):
        for place in ("s1", "begin"):
            folder = tmp_path / f"{number}{place}"
            TROUBLE[place, 4] = trouble
            with pytest.raises((Interrupted, ZeroDivisionError)):
                run(Squares((1,), runs=14), folder, workers)
            assert place == "begin" or {("s1", 8, 12), ("s1", 4, 8)} <= set(pieces_computed())
            TROUBLE.clear()
            there = {int(file.stem[-8:]) for file in (folder / "pieces").glob("s1-????????.npz")}
            COMPUTED.clear()
            run(Squares((1,), runs=14), folder, workers)
            assert {piece[1] for piece in pieces_computed()} == {0, 4, 8, 12} - there
            assert load(folder)["s1"].tolist() == [i * i for i in range(14)]
            COMPUTED.clear()


@pytest.mark.parametrize("damage", ["flip", "truncate", "swap"])
def test_a_damaged_piece_is_computed_again(tmp_path, damage):
    TROUBLE["s1", 8] = interrupt
    with pytest.raises(Interrupted):
        run(Squares((1,)), tmp_path / "run", 1)
    first, second = (tmp_path / "run" / "pieces" / f"s1-0000000{low}.npz" for low in (0, 4))
    content = bytearray(first.read_bytes())
    if damage == "flip":
        content[len(content) // 2] ^= 1
    first.write_bytes(second.read_bytes() if damage == "swap" else content[: -10 if damage == "truncate" else None])
    TROUBLE.clear()
    COMPUTED.clear()
    with pytest.warns(DamageWarning, match=r"s1-00000000\.npz is damaged, or .*; it is not used, and computed anew"):
        run(Squares((1,)), tmp_path / "run", 1)
    assert pieces_computed() == [("s1", 0, 4), ("s1", 8, 10)]
    run(Squares((1,)), tmp_path / "whole", 1)
    assert results(tmp_path / "run") == results(tmp_path / "whole")


@pytest.mark.parametrize("file", ["s1.npz", "s1.json", "record.json"])
@pytest.mark.parametrize("damage", ["gone", "garbage", "[]"])
def test_a_damaged_result_is_computed_again(tmp_path, file, damage):
    run(Squares((1, 2)), tmp_path / "run", 1)
    run(Squares((1, 2)), tmp_path / "whole", 1)
    path = tmp_path / "run" / file
    path.unlink() if damage == "gone" else path.write_text(damage)
    COMPUTED.clear()
    silent = damage == "gone" and file.endswith(".json")  # the record comes last: that is a run that was killed
    with contextlib.nullcontext() if silent else pytest.warns(DamageWarning, match=file):
        run(Squares((1, 2)), tmp_path / "run", 1)
    assert {entry[0] for entry in COMPUTED} == ({"s1"} if file == "s1.npz" else set()), (
        "a record is made from the arrays"
    )
    assert results(tmp_path / "run") == results(tmp_path / "whole")


# ---- extending -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "computed"), [(8, 12, [8]), (10, 12, [8]), (10, 17, [8, 12, 16]), (3, 4, [0])]
)
def test_more_runs_reuse_whole_pieces_and_give_the_bytes_of_the_direct_way(tmp_path, before, after, computed):
    run(Squares((1,), before), tmp_path / "run", 1)
    COMPUTED.clear()
    run(Squares((1,), after), tmp_path / "run", 2)
    assert sorted(low for _, low, _ in pieces_computed()) == computed
    run(Squares((1,), after), tmp_path / "direct", 1)
    assert results(tmp_path / "run") == results(tmp_path / "direct")


def test_more_settings_touch_nothing_else(tmp_path):
    run(Squares((1, 2)), tmp_path / "run", 1)
    before = {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in (tmp_path / "run").glob("s*.*")}
    COMPUTED.clear()
    done = run(Squares((3,)), tmp_path / "run", 1)
    assert list(done) == ["s3"]
    assert {entry[0] for entry in COMPUTED} == {"s3"}
    assert {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in before} == before
    assert list(read_manifest(tmp_path / "run")["settings"]) == ["s1", "s2", "s3"]
    run(Squares((1, 2, 3)), tmp_path / "direct", 1)
    assert results(tmp_path / "run") == results(tmp_path / "direct")


def test_what_cannot_be_an_extension_is_refused_by_name(tmp_path):
    run(Squares((1,)), tmp_path / "run", 1)
    before = {file: file.read_bytes() for file in (tmp_path / "run").rglob("*") if file.is_file()}
    for work, words in (
        (Squares((1,), runs=9), "s1 has 10 runs there, and 9 were asked for"),
        (Squares((1,), seed=5), "seed is 0 there, and 5 was asked for"),
        (Plan.of(TwoLayer(np.eye(2))), "the kind of work is squares there, and sweep was asked for"),
    ):
        with pytest.raises(InputError, match=words):
            run(work, tmp_path / "run", 1)
    assert {file: file.read_bytes() for file in (tmp_path / "run").rglob("*") if file.is_file()} == before


def test_interrupted_extensions_resume(tmp_path):
    run(Squares((1,)), tmp_path / "run", 1)
    TROUBLE["s1", 12] = interrupt
    with pytest.raises(Interrupted):
        run(Squares((1,), runs=20), tmp_path / "run", 1)
    TROUBLE.clear()
    COMPUTED.clear()
    run(Squares((1,), runs=20), tmp_path / "run", 1)
    assert sorted(low for _, low, _ in pieces_computed()) in ([12], [12, 16]), (
        "neither the old runs nor a new piece again"
    )
    run(Squares((1,), runs=20), tmp_path / "direct", 1)
    assert results(tmp_path / "run") == results(tmp_path / "direct")


# ---- how far, and for how long ---------------------------------------------------------------------------------------


def test_an_interruption_says_how_far_it_came(tmp_path, caplog):
    TROUBLE["s2", 8] = interrupt
    with caplog.at_level("INFO", "earnshaw"), pytest.raises(Interrupted) as raised:
        run(Squares((1, 2)), tmp_path / "run", 1)
    there = "[01] of 2 settings, 5 of 6 pieces, 18 of 20 runs"  # the first setting is perhaps still being finished
    assert re.fullmatch(there, str(raised.value.standing))
    TROUBLE.clear()
    with caplog.at_level("INFO", "earnshaw"):
        run(Squares((1, 2)), tmp_path / "run", 1)
    work = f"squares {Squares((1, 2)).hash[:16]}"
    told = [message for message in caplog.messages if message.startswith("squares")]
    assert told[0] == f"{work} begins with 0 of 2 settings, 0 of 6 pieces, 0 of 20 runs"
    assert re.fullmatch(f"{work} was stopped at {there}", told[1])
    assert re.fullmatch(f"{work} begins with {there}", told[2])
    assert told[3:] == [f"{work} is done: 2 of 2 settings, 6 of 6 pieces, 20 of 20 runs"]
    assert {"s1 is finished: 10 runs", "s2 is finished: 10 runs"} == {*caplog.messages} - {*told}


def test_a_setting_that_was_being_finished_is_finished(tmp_path, monkeypatch):
    """No arrays stay without their record when the work is stopped meanwhile."""
    going, finish = threading.Event(), Squares.finish

    def slowly(work, name, pieces):
        going.set()
        time.sleep(0.3)
        return finish(work, name, pieces)

    monkeypatch.setattr(Squares, "finish", slowly)
    TROUBLE["s2", 4] = lambda context: going.wait(60) and interrupt(context)
    with pytest.raises(Interrupted):
        run(Squares((1, 2), runs=8), tmp_path, 2)
    assert list(finished_records(tmp_path)) == ["s1"]
    assert not list(tmp_path.glob("pieces/s1*"))


def test_the_standing_of_a_sweep_counts_outcomes(tmp_path):
    plan = Plan.of(TwoLayer(np.eye(2)), runs=4)
    arrays = run(plan)["k2-n2"].arrays
    assert {name: count for name, count in plan.tally(arrays).items() if count} == {"GLOBAL": 4}


def test_a_time_limit_is_an_interruption(tmp_path):
    def waits(context):
        deadline = time.monotonic() + 20
        while not context.cancelled() and time.monotonic() < deadline:
            time.sleep(0.005)
        raise InterruptedError

    TROUBLE["s1", 4] = waits
    begin = time.monotonic()
    with pytest.raises(Interrupted):
        run(Squares((1,)), tmp_path / "run", 1, time_limit=0.2)
    assert time.monotonic() - begin < 20
    TROUBLE.clear()
    run(Squares((1,)), tmp_path / "run", 1, time_limit=1000)
    assert load(tmp_path / "run")["s1"].tolist() == [i * i for i in range(10)]
    for limit in (0, -1, float("inf")):
        with pytest.raises(InputError, match="give a positive number of seconds"):
            run(Squares((1,)), tmp_path / "run", 1, time_limit=limit)
