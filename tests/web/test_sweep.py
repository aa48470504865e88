"""The view Sweep: the numbers are those of the command it shows, runs can be stopped, and nothing by name loads a file."""

import json
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import earnshaw as es
from earnshaw.cli import settings
from earnshaw.cli.app import app
from earnshaw.experiments.views import Place, Spectrum
from earnshaw.web import setting, sweep

SIX = {"problem": {"k": 6, "n": 6}, "runs": 100, "seed": 6}
LONG = {"problem": {"k": 6, "n": 6}, "runs": 1000, "step": 1e-4}


def told(response):
    """Return the events of a stream that was not refused."""
    assert response.status_code == 200, response.text
    blocks = [block.split("\n") for block in response.text.split("\n\n") if block]
    assert blocks[-1][0] == "event: end", response.text[-300:]
    return [json.loads(lines[0].removeprefix("data: ")) for lines in blocks[:-1]]


class Patient(sweep._Heard):
    """What the threads of a sweep say, each time waiting until an event has told it: 100 runs may take less than one event."""

    def __init__(self, runs):
        super().__init__(runs)
        self.told, self.heard = 0, threading.Condition()

    def ended(self, values, outcomes):
        with self.heard:
            super().ended(values, outcomes)
            mine = sum(len(values) for values, _ in self.ends)
            assert self.heard.wait_for(lambda: self.told >= mine, timeout=60.0)

    def event(self):
        event = super().event()
        with self.heard:
            self.told = event["ended"]
            self.heard.notify_all()
        return event


@pytest.fixture(scope="module")
def events(client):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sweep, "EVERY", 0.02)
        patched.setattr(sweep, "_Heard", Patient)
        return told(client.post("/api/sweep/run", json=SIX))


def test_ends_come_while_runs_go_on_and_all_of_them_at_the_end(events):
    ended = [event["ended"] for event in events[:-1]]
    assert ended == sorted(ended)
    assert any(0 < count < 100 for count in ended), "some are seen before the last"
    shares = events[-1]["histogram"]["percent"]
    assert {fate: round(sum(shares[fate]), 9) for fate in shares} == {"global": 98.0, "minima": 2.0, "neither": 0.0}
    assert len(events[-1]["histogram"]["edges"]) == len(shares["global"]) + 1


def test_the_command_shown_gives_the_very_same_numbers(events, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("earnshaw.numerics.remember_programs", lambda: None)
    words = events[-1]["command"].split()
    assert words[0] == "earnshaw"
    printed = CliRunner().invoke(app, [*words[1:], "--json", "--out", "here"])
    mine, theirs = events[-1]["summary"], json.loads(printed.stdout)
    (family,) = theirs.pop("families")
    for record in (mine, theirs):
        for name in ("seconds", "compile_seconds"):
            record.pop(name)
    assert mine == theirs
    (shown,) = events[-1]["families"]
    assert {name: shown[name] for name in family} == family
    assert shown["label"] == "II (S_5)"
    assert shown["interval"] == theirs["spurious_interval"]
    (stored,) = es.load(tmp_path / "here").results[0].families
    assert shown["weights"] == stored.weights.tolist()
    kept = es.load(events[-1]["kept"]).results[0]
    assert kept.runs == es.load(tmp_path / "here").results[0].runs


def test_a_point_is_shown_as_the_library_draws_it(client, events):
    (shown,) = events[-1]["families"]
    asked = {"problem": SIX["problem"], "weights": shown["weights"]}
    answer = client.post("/api/sweep/point", json=asked).json()
    place = Place(es.TwoLayer(es.standard_teacher(6)), np.array(shown["weights"]))
    assert answer["weights"] == place.ordered().tolist()
    assert answer["loss"] == place.loss
    assert answer["spectrum"] == Spectrum.at(place).values.tolist()
    assert sum(level["count"] for level in answer["levels"]) == 36
    assert answer["spectrum"][0] == pytest.approx(0.0047003547)


def test_who_stops_listening_stops_the_runs():
    asked = sweep.Runs.model_validate(LONG)
    gone = []
    running = sweep._watched(asked, asked.plan(), lambda: bool(gone))
    assert next(running)["state"] in ("running", "compiling")
    waiting = sweep._watched(asked, asked.plan(), lambda: bool(gone))
    assert next(waiting)["state"] == "waiting", "one sweep at a time"
    gone.append(True)
    assert list(waiting) == []
    assert list(running) == [], "and no result"
    assert sweep._alone.acquire(timeout=0.0)
    sweep._alone.release()


def test_runs_that_are_kept_are_there_at_once_and_no_more_are_kept_than_allowed(client, events, folder, monkeypatch):
    again = told(client.post("/api/sweep/run", json=SIX))
    assert {**again[-1], "summary": 0} == {**events[-1], "summary": 0}
    assert Path(again[-1]["kept"]).parent == folder / "runs"
    monkeypatch.setattr(setting, "LIMITS", replace(setting.LIMITS, kept=1))
    assert setting.room(folder / "runs", "another") is None
    assert setting.room(folder / "runs", Path(again[-1]["kept"]).name) is not None


def test_a_sweep_that_takes_too_long_is_told_so(client, monkeypatch):
    monkeypatch.setattr(sweep, "LIMITS", replace(sweep.LIMITS, sweep_seconds=0.05))
    answer = client.post("/api/sweep/run", json=LONG)
    assert "event: refused" in answer.text
    assert "ask for fewer runs" in answer.text


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"problem": {"k": 10**9}}, "problem.k = 1000000000 was given"),
        ({"problem": {"k": 0}}, "problem.k = 0"),
        ({"problem": {"k": 6, "d": 3}}, "the dimension must be k or more"),
        ({"problem": {"activation": "evil.py:f"}}, "the activation is 'evil.py:f'"),
        ({"problem": {"activation": "os:system"}}, "the activation is 'os:system'"),
        ({"problem": {"activation": "leaky:x"}}, "no usable slope"),
        ({"problem": {}, "optimizer": "adam:os"}, "the optimiser is 'adam:os'"),
        ({"problem": {}, "optimizer": "../x.py:go"}, "the optimiser is"),
        ({"problem": {}, "optimizer": "adam"}, "needs a step"),
        ({"problem": {}, "optimizer": "lbfgs", "step": 0.1}, "finds its own"),
        ({"problem": {}, "start": "/etc/x.npy"}, "the start is '/etc/x.npy'"),
        ({"problem": {"network": "conv"}, "start": "xavier"}, "the start is 'xavier'"),
        ({"problem": {}, "runs": 1001}, "runs = 1001"),
        ({"problem": {}, "step": "NaN"}, "finite"),
        ({"problem": {}, "max_steps": 10**12}, "max_steps"),
        ({"problem": {}, "folder": "/tmp"}, "folder is none of the names"),
        ({}, "problem is missing"),
    ],
)
def test_what_cannot_be_run_is_refused_with_a_sentence(client, asked, said):
    answer = client.post("/api/sweep/run", json=asked)
    assert answer.status_code == 422
    assert said in answer.json()["error"]


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ([[1.0]], "1 rows of 1 numbers"),
        ([[1.0, 2.0], [1.0]], "rows of 1 or 2"),
        ([], "weights"),
        ([[1e999]], "weights"),
    ],
)
def test_a_point_of_another_shape_is_refused(client, weights, said):
    for what in ("point", "prove"):
        body = json.dumps({"problem": SIX["problem"], "weights": weights})
        answer = client.post(f"/api/sweep/{what}", content=body, headers={"content-type": "application/json"})
        assert answer.status_code == 422
        assert said in answer.json()["error"]


def test_names_are_those_of_the_command_line(client):
    names = client.get("/api/sweep/choices").json()
    assert set(names["activations"]) == set(settings.ACTIVATIONS)
    assert set(names["optimizers"]) == set(settings.OPTIMIZERS)
    assert set(names["starts"]["two-layer"]) == set(settings.STARTS)


@pytest.mark.parametrize(
    ("asked", "options"),
    [
        ({"problem": {"k": 3, "n": 4, "d": 5, "activation": "erf"}}, "-k 3 -n 4 -d 5 --activation erf"),
        ({"problem": {"network": "conv", "k": 8}}, "--network conv -p 6 -k 8 --ratio 0.5"),
        ({"problem": {}, "optimizer": "gd", "step": 0.05}, "--optimizer gd:0.05"),
        ({"problem": {"output_weights": "trainable"}, "start": "normal"}, "--output-weights trainable"),
        (
            {"problem": {}, "stop": "paper", "max_steps": 7, "start": "normal"},
            "--start normal:0.1 --stop paper --max-steps 7",
        ),
    ],
)
def test_the_command_means_the_same_plan(asked, options, monkeypatch):
    """The plan of the command, caught before it runs, is the plan of the page."""
    mine = sweep.Runs.model_validate(asked)
    assert options in mine.command
    caught = []

    def catch(plan, *more, **others):
        caught.append(plan)
        raise es.InputError("caught")

    monkeypatch.setattr("earnshaw.experiments.run_plan", catch)
    CliRunner().invoke(app, mine.command.split()[1:])
    assert caught == [mine.plan()]
    assert caught[0].hash == mine.plan().hash
