"""The view Charges: what it streams is what the command it shows computes, and what makes no sense is refused."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import earnshaw as es
from earnshaw.cli.app import app
from earnshaw.web.charges import POTENTIALS, Scene, _run, setting_of, view_of


def streamed(client, **scene):
    answer = client.post("/api/charges/run", json=scene)
    assert answer.status_code == 200, answer.text
    blocks = [dict(line.split(": ", 1) for line in block.split("\n")) for block in answer.text.split("\n\n") if block]
    assert blocks[-1] == {"event": "end", "data": "{}"}
    events = [json.loads(block["data"]) for block in blocks[:-1]]
    parcels = [event["moments"] for event in events if "moments" in event]
    moments = {name: [one for parcel in parcels for one in parcel[name]] for name in "txfe"}
    return events[0]["scene"], moments, events[-1]["ending"]


SMALL = {"potential": "relu", "motion": "descent", "protons": "orthonormal", "k": 2, "n": 2, "d": 2, "steps": 400}


def test_a_descent_is_run_0_of_the_sweep_that_is_shown(client, tmp_path):
    scene, moments, ending = streamed(client, **SMALL)
    arguments = scene["command"].split()
    assert arguments[0] == "earnshaw"
    done = CliRunner().invoke(app, [*arguments[1:], "--out", str(tmp_path / "run")])
    assert done.exit_code == 0, done.output
    swept = es.load(tmp_path / "run")
    (result,) = swept.whole()
    runs, trace = swept.runs, result.trace
    assert list(runs.outcomes) == [ending["name"]]
    assert runs.value[0] == pytest.approx(ending["value"], abs=1e-12)
    assert trace.step[:3].tolist() == moments["t"][:3] == [0, 2, 4]
    np.testing.assert_allclose(trace.value[:3], moments["e"][:3], rtol=1e-12)
    np.testing.assert_allclose(trace.weights[1].ravel(), moments["x"][1], atol=1e-6)


def test_a_dragged_electron_begins_where_it_was_put(client):
    start = [[0.9, 0.25], [-0.5, 0.75]]
    scene, moments, ending = streamed(client, **SMALL, start=start)
    assert scene["start"] == start
    assert np.reshape(moments["x"][0], (2, 2)).tolist() == start
    names = {}
    exec(scene["command"], names)  # the page shows Python where no command does it
    assert list(names["runs"].outcomes) == [ending["name"]]
    assert names["runs"].value[0] == pytest.approx(ending["value"], abs=1e-12)


def test_the_dynamics_are_those_of_the_command(client, tmp_path, monkeypatch):
    """One proton for two electrons: one finds it, the other is left."""
    scene, moments, ending = streamed(client, potential="coulomb", k=1, n=2, d=2, until=10.0)
    for name in ("animate", "energy_figure", "trajectory_figure"):
        monkeypatch.setattr(f"earnshaw.plots.charges.{name}", lambda *given: None)
    arguments = [*scene["command"].split()[1:], "--json", "--out", str(tmp_path / "run")]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 1, done.output  # as the command says where an electron is left
    record = json.loads(done.stdout)
    found = [one for one in ending["arrivals"] if one["found"]]
    assert record["captures"] == [{name: one[name] for name in ("electron", "proton", "time")} for one in found]
    assert (ending["name"], ending["at"]) == ("LEFT", 10.0)
    assert ending["words"].startswith("1 of 2 electrons")
    assert ending["value"] == record["energy_at_end"]
    assert len(moments["t"]) == 400
    assert np.all(np.diff(moments["t"]) >= 0)
    last = np.reshape(moments["f"][-1], (2, 2))
    np.testing.assert_array_equal(last[found[0]["electron"]], 0.0)  # what holds it is not shown
    assert np.linalg.norm(moments["f"][0]) > 0
    asked = Scene(potential="coulomb", k=1, n=2, d=2, until=10.0)
    assert [list(event) for event in _run(asked, setting_of(asked), lambda: True)] == [["scene"]]  # nobody watches


@pytest.mark.parametrize("name", POTENTIALS)
def test_every_potential_that_is_offered_has_a_setting(name):
    motion = "descent" if name.startswith("sphere") else "dynamics"
    setting = setting_of(Scene(potential=name, motion=motion, d=3, k=3, n=2))
    assert setting.protons.shape == (3, 3)
    assert es.landscape(setting.problem).shape == setting.start.shape == (2, 3)
    if not setting.command.startswith("earnshaw dynamics"):
        compile(setting.command, "shown", "exec")


def test_a_run_that_nobody_watches_ends_quietly():
    asked = Scene(**SMALL)
    events = list(_run(asked, setting_of(asked), lambda: True))
    assert [list(event) for event in events] == [["scene"]]


def test_orthonormal_protons_are_seen_as_a_polygon():
    protons = np.eye(5, 7)
    centre, directions = view_of(protons, np.zeros((2, 7)))
    np.testing.assert_allclose(directions @ directions.T, np.eye(2), atol=1e-15)
    seen = (protons - centre) @ directions.T
    np.testing.assert_allclose(np.linalg.norm(seen, axis=1), np.sqrt(2 / 5))
    np.testing.assert_allclose(np.linalg.norm(seen - np.roll(seen, 1, 0), axis=1), np.linalg.norm(seen[0] - seen[1]))
    _, directions = view_of(np.random.default_rng(0).normal(size=(4, 3)), np.zeros((1, 3)))
    np.testing.assert_allclose(directions @ directions.T, np.eye(2), atol=1e-14)


@pytest.mark.parametrize(
    ("scene", "said"),
    [
        ({"k": 10**9}, "k = 1000000000"),
        ({"n": 0}, "n = 0"),
        ({"step": "NaN"}, "step"),
        ({"seed": -1}, "seed"),
        ({"colour": 1}, "colour"),
        ({"potential": "os.path:join"}, "for Python alone"),
        ({"potential": "gravity"}, "unknown activation"),
        ({"potential": "sphere-sign"}, "choose descent"),
        ({"potential": "sphere-power:99"}, "sphere-power"),
        ({"protons": "orthonormal", "k": 5, "d": 3}, "do not fit"),
        ({"start": [[0.0, 0.0]]}, "start holds other numbers"),
        ({"start": [[0.0, 1e9]] * 6}, "coordinates may be up to"),
    ],
)
def test_what_makes_no_sense_is_refused(client, scene, said):
    answer = client.post("/api/charges/run", json=scene)
    assert answer.status_code == 422
    assert said in answer.json()["error"]


def test_a_law_that_the_dimension_does_not_have_is_refused_in_the_stream(client):
    answer = client.post("/api/charges/run", json={"potential": "yukawa", "d": 2})
    assert "event: refused" in answer.text
    assert "odd number" in answer.text
