"""Processes with a few threads each: the same bytes, whoever computes, and whoever dies on the way."""

import logging
import math
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from earnshaw.descent import native
from earnshaw.errors import InputError
from earnshaw.experiments import Interrupted, Plan, engine, run, run_plan
from earnshaw.experiments.crew import Crew
from earnshaw.experiments.work import Context, unheard
from earnshaw.problems import TwoLayer
from earnshaw.starts import Xavier

PLAN = Plan.of([TwoLayer(np.eye(k)) for k in (6, 7)], runs=600)


def files(folder):
    """All results of a folder."""
    names = [file for file in folder.rglob("*") if file.is_file() and file.name not in ("record.json", ".lock")]
    return {file.relative_to(folder): file.read_bytes() for file in names}


def alive(number):
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture(autouse=True)
def found(monkeypatch):
    """Let processes find what these tests ask of them."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))


@pytest.fixture
def crews(monkeypatch):
    """Let two workers be two processes, and remember them; they are for what the native kernel computes."""
    if native.missing():
        pytest.skip(f"there is no native kernel: {native.missing()}")
    begun = []

    class Known(Crew):
        def __init__(self, workers, threads):
            super().__init__(workers, threads)
            begun.append(self)

    for name in ("THREADS", "LOOKING", "MUCH"):
        monkeypatch.setattr(engine, name, 1)
    monkeypatch.setattr(engine, "Crew", Known)
    return begun


# ---- what processes are asked in these tests -----------------------------------------------------------------------


def number(_):
    return os.getpid()


def talk(context):
    print("this is no answer")
    context.ended(np.array([0.5]), np.array([1]))
    context.counted({"decided": 3})
    context.progress(0.5, "half")
    return context.ended is unheard


def wait(context):
    while not context.cancelled():
        time.sleep(0.01)
    return "stopped"


def sign(folder, name, _):
    (folder / f"{os.getpid()}-{name}").touch()


def die(_):
    os._exit(1)


class OddError(Exception):
    """An error that no pickle brings back."""

    def __init__(self, one, two):
        super().__init__(one)


def odd(_):
    raise OddError("odd", 2)


def fail(error, _):
    raise error


# ---- calls ---------------------------------------------------------------------------------------------------------


def test_calls_go_out_and_answers_come_back(monkeypatch, capfd):
    told = []
    context = Context(
        progress=lambda share, what: told.append((share, what)),
        counted=lambda counts: told.append(counts),
        ended=lambda values, outcomes: told.append((values.tolist(), outcomes.tolist())),
    )
    received = []
    with Crew(3, threads=2) as some:
        first, second = some.processes
        assert [member.threads for member in some._members] == [2, 1]
        assert {some.submit(number).result() for _ in range(20)} <= {first, second}
        assert some.submit(talk, context, received.append).result() is False
        assert received == [False]
        assert told == [([0.5], [1]), {"decided": 3}, (0.5, "half")]
        assert some.submit(talk).result() is True, "nobody hears how runs end"
        with pytest.raises(InputError, match="a mistake"):
            some.submit(partial(fail, InputError("a mistake"))).result()
        with pytest.raises(RuntimeError, match="OddError: odd"):
            some.submit(odd).result()
        full = some.submit(number, received=partial(fail, OSError(28, "full")))
        with pytest.raises(OSError, match="full"):
            full.result()
        assert some.submit(number).result() in some.processes
    assert not any(alive(one) for one in (first, second))
    assert "this is no answer" in capfd.readouterr().err


def test_what_a_process_had_is_computed_again_and_not_for_ever(monkeypatch, caplog):
    caplog.set_level(logging.INFO, "earnshaw")
    with Crew(2, threads=1) as some:
        with pytest.raises(InputError, match=r"a piece ended 3 worker processes.*perhaps killed for memory"):
            some.submit(die).result()
        assert caplog.text.count("is gone (exit code 1); what it had is computed again") == 3
        for one in some.processes:  # while nothing is to be done
            os.kill(one, signal.SIGKILL)
        assert some.submit(number).result() in some.processes


def test_processes_that_cannot_be_started(monkeypatch):
    with Crew(1) as some:
        assert some.submit(number).result() in some.processes
        monkeypatch.setattr(sys, "executable", "/nowhere/python")
        with pytest.raises(
            InputError, match=r"a worker process could not be started \(No such file.*give fewer workers"
        ):
            some.submit(die).result()
        with pytest.raises(InputError, match="could not be started"):
            some.submit(number)
    with pytest.raises(InputError, match="could not be started"):
        Crew(1)


def test_the_heaviest_of_those_that_wait_comes_first():
    came = []
    with Crew(1) as some:
        going = some.submit(number)
        for name, weight in ("a", 0.0), ("b", 2.0), ("c", 0.0), ("d", math.inf), ("e", 2.0):
            some.submit(number, received=lambda _, name=name: came.append(name), weight=weight)
        assert going.result() in some.processes
    assert came == ["d", "b", "e", "a", "c"]


def test_every_process_makes_every_call_of_a_rehearsal_first_and_none_hurts(tmp_path):
    def signed():
        return {file.name for file in tmp_path.iterdir()}

    with Crew(2, threads=1) as some:
        some.rehearse([])
        some.rehearse([partial(sign, tmp_path, "a"), odd, partial(sign, tmp_path, "b")])
        first = some.submit(number).result()
        assert {f"{first}-a", f"{first}-b"} <= signed()
        deadline = time.monotonic() + 60
        while len(signed()) < 4 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert signed() == {f"{one}-{name}" for one in some.processes for name in "ab"}


def test_what_goes_on_is_stopped_and_what_waits_never_begins():
    some = Crew(1)
    going, waiting = some.submit(wait), some.submit(number)
    some.shutdown(cancel_futures=True)
    assert going.result() == "stopped"
    assert waiting.cancelled()
    some.shutdown()
    with pytest.raises(RuntimeError, match="gone home"):
        some.submit(number)


# ---- sweeps --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["", "pool"])
def test_processes_give_the_bytes_of_threads_also_when_one_is_killed(tmp_path, crews, kernel):
    """Also where a device has begun the runs, and where a folder has a part of them already."""
    plan = Plan.of([setting.problem for setting in PLAN.settings], runs=600, kernel=kernel)
    some = Plan.of([setting.problem for setting in PLAN.settings[:1]], runs=300, kernel=kernel)
    run_plan(some, tmp_path / "processes", workers=1)
    heard = {"ended": 0, "told": [], "killed": []}

    def ended(values, outcomes):
        heard["ended"] += len(values)

    def progress(share, what):
        heard["told"].append(what)
        if crews and not heard["killed"] and share > 0:
            heard["killed"].append(crews[0].processes[0])
            os.kill(heard["killed"][0], signal.SIGKILL)

    run_plan(plan, tmp_path / "processes", workers=2, progress=progress, ended=ended)
    assert len(crews) == 1
    assert heard["killed"]
    assert not any(alive(one) for one in (*heard["killed"], *crews[0].processes))
    assert heard["ended"] >= 1200 - 256, "a run that is computed again is told of again"
    assert any("decided" in what for what in heard["told"])
    run_plan(plan, tmp_path / "threads", workers=1)
    assert len(crews) == 1
    assert files(tmp_path / "processes") == files(tmp_path / "threads")


@pytest.mark.slow
def test_an_interrupted_crew_leaves_nothing_behind_and_its_folder_goes_on(tmp_path, crews):
    done = []

    def enough():
        done.append(len(list((tmp_path / "run").rglob("*.npz"))))
        return done[-1] > 0

    with pytest.raises(Interrupted):
        run(PLAN, tmp_path / "run", workers=2, cancelled=enough)
    assert not any(alive(one) for one in crews[0].processes)
    results = run_plan(PLAN, tmp_path / "run", workers=2)
    again = run_plan(PLAN, workers=2)  # without a folder
    assert [one.summary.outcomes for one in results] == [one.summary.outcomes for one in again]
    run_plan(PLAN, tmp_path / "whole", workers=1)
    assert files(tmp_path / "run") == files(tmp_path / "whole")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("error", "raised"), [(KeyboardInterrupt, Interrupted), (ZeroDivisionError, ZeroDivisionError)]
)
def test_who_hears_of_the_progress_may_raise(crews, error, raised):
    """As the bar of a command does after Ctrl-C."""

    def progress(share, what):
        if threading.current_thread().name == "earnshaw-crew":  # a thread that reads
            raise error

    with pytest.raises(raised):
        run(PLAN, workers=2, progress=progress)
    assert not any(alive(one) for one in crews[0].processes)


ORPHANS = """
import time
from earnshaw.experiments.crew import Crew
print(*Crew(8).processes, flush=True)
time.sleep(600)
"""


def test_processes_end_with_the_one_that_began_them():
    with subprocess.Popen([sys.executable, "-c", ORPHANS], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        some = [int(word) for word in parent.stdout.readline().split()]
        assert len(some) == 2
        parent.kill()
    deadline = time.monotonic() + 60
    while any(alive(one) for one in some) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(alive(one) for one in some)


def test_who_has_processes(monkeypatch):
    """The paper's own case, with much to do and many workers; those for whom a device begins rehearse meanwhile."""

    class Crewman(NamedTuple):
        workers: int
        threads: int

        def rehearse(self, calls):
            rehearsed.append([call.args for call in calls])

    rehearsed = []
    monkeypatch.setattr(engine, "Crew", Crewman)

    def begun(plan, workers, count=10_000, cluster=None):
        some = engine._Run(plan, None, workers, lambda share, what: None, cluster=cluster)
        return some._begun(plan.pieces(plan.settings[0].name) * count)

    class Own(Xavier):
        """A start of a user's own, which no process knows."""

    here = PLAN.settings[0].kernel == "native"
    assert begun(PLAN, 12) == ((12, engine.THREADS) if here else None)
    assert begun(Plan.of(TwoLayer(np.eye(6)), kernel="pool"), 12) == ((12, engine.LOOKING) if here else None)
    assert rehearsed == ([[], [("k6-n6",)]] if here else [])
    assert begun(PLAN, 6) is None
    assert begun(PLAN, 12, count=20) is None, "little to do"
    assert begun(PLAN, 12, cluster="local:2") is None
    assert begun(Plan.of(TwoLayer(np.eye(6)), kernel="xla"), 12) is None
    assert begun(Plan.of(TwoLayer(np.eye(6)), start=Own()), 12) is None
