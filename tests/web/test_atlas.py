"""The view Atlas: what it calls proved has a certificate that the checker accepts."""

import json

import numpy as np
import pytest

import earnshaw as es
from earnshaw.experiments.grow import Grown, Rung
from earnshaw.proof.certificate import shipped_certificate
from earnshaw.web import atlas
from earnshaw.web.judging import prove_theorem


@pytest.fixture(scope="module")
def minimum():
    with shipped_certificate() as path:
        return es.Certificate.load(path)


def streamed(client, path, asked):
    """Return the events of a stream, and the name of the last one."""
    answer = client.post(path, json=asked)
    assert answer.status_code == 200, answer.text
    blocks = [block.split("\n") for block in answer.text.strip().split("\n\n")]
    events = [json.loads(lines[-1].removeprefix("data: ")) for lines in blocks]
    return events[:-1], blocks[-1][0].removeprefix("event: ")


def test_points_come_with_certificates_that_hold(client):
    events, end = streamed(client, "/api/atlas/points", {"families": "II B", "first": 5, "last": 7})
    assert end == "end"
    assert events[0]["command"].startswith("earnshaw atlas build -k 5..7 --family II --family B --out atlas")
    assert {name: curve["more"] for name, curve in events[0]["families"].items()} == {"II": 0, "B": 1}
    points = [point for event in events[1:] for point in event["points"]]
    kinds = {(point["family"], point["k"]): point["kind"] for point in points}
    assert kinds == {
        ("II", 5): "saddle",
        ("II", 6): "minimum",
        ("II", 7): "minimum",
        ("B", 5): "saddle",
        ("B", 6): "saddle",
        ("B", 7): "minimum",
    }
    for point in points:
        answer = client.get("/api/atlas/certificate", params={"family": point["family"], "k": point["k"]})
        assert answer.headers["content-disposition"].startswith(
            f'attachment; filename="{point["family"]}-k{point["k"]}-'
        )
        checked = es.check(answer.text)
        assert checked.verified
        assert checked.kind == {"minimum": "blocks", "saddle": "blocks_saddle"}[point["kind"]]
        claims = answer.json()["claims"]
        assert float.fromhex(claims["F_ge"]) == point["objective_ge"]
        assert (point["lambda_ge"] > 0) == (point["kind"] == "minimum")


def test_what_the_checker_rejects_is_not_called_proved(client, monkeypatch):
    refused = es.proof.Check(None, False, "blocks", None, "made up", 0.0)
    monkeypatch.setattr("earnshaw.experiments.atlas.check", lambda *given: refused)
    monkeypatch.setattr("earnshaw.proof.processes._pools", [])  # here, where it is made up
    monkeypatch.setattr(atlas, "_found", {})
    events, _ = streamed(client, "/api/atlas/points", {"families": "A", "first": 6, "last": 6})
    (point,) = events[1]["points"]
    assert point["kind"] is None
    assert point["lambda_ge"] is None
    assert point["reason"] == "the checker rejects it: made up"
    answer = client.get("/api/atlas/certificate", params={"family": "A", "k": 6})
    assert answer.status_code == 422
    assert "nothing is proved of family A at k = 6" in answer.json()["error"]


def test_many_sizes_are_spread():
    assert atlas.spread(4, 20) == list(range(4, 21))
    assert atlas.spread(9, 8) == []
    some = atlas.spread(6, 100_000)
    assert (some[0], some[-1]) == (6, 100_000)
    assert len(some) <= atlas.SIZES


def test_absence_is_proved_here(client):
    rows = client.get("/api/atlas/known").json()["rows"]
    assert {row["theorem"] for row in rows if "theorem" in row} == {"absence", "II", "A", "B"}
    assert not any("proved" in json.dumps(row) for row in rows if "not proved" not in row["says"])
    events, end = streamed(client, "/api/atlas/theorem", {"theorem": "absence"})
    assert end == "end"
    answer = events[-1]
    assert answer["verified"] is True
    assert answer["says"].startswith("no bad minimum (n = 2, k = 2")
    assert es.check(answer["certificate"]).verified


@pytest.mark.slow
@pytest.mark.nightly
def test_a_family_is_proved_for_every_k():
    answer = prove_theorem("A")
    assert answer["verified"] is True
    assert answer["says"].startswith("every k: for every k >= 6")
    assert answer["file"] == "A-from-k6-every_k.json"
    assert answer["course"]["first"] == 6
    assert answer["course"]["lambda_tail_ge"] == pytest.approx(0.0481, abs=1e-4)


def test_a_turn_is_enclosed(client):
    answer = client.post("/api/atlas/turn", json={"family": "A"}).json()
    assert answer["first"] == 6
    assert 5.76 < answer["k_ge"] < answer["k_le"] < 5.77


def test_a_rung_has_the_word_of_the_checker_on_each_minimum(minimum):
    text = minimum.to_text()
    numbers = {"value": 0.025, "least": 0.0047, "family": "II (S_5)", "move": "flip 1", "parent": (), "stable": False}
    numbers |= {"verdict": "PROVED_MINIMUM", "lambda_ge": 0.0047, "objective_ge": 0.025}
    changed = text.replace(minimum.document["claims"]["lambda_min_ge"], (0.5).hex())
    minima = tuple(
        Grown(np.eye(6), **numbers, certificates=some) for some in ({"minimum": text}, {"minimum": changed}, {})
    )
    rung = atlas._rung(Rung(6, minima, {"GLOBAL": 4, "SPURIOUS": 3}))["rung"]
    assert [one["verified"] for one in rung["minima"]] == [True, False, False]
    assert rung["tried"] == 7
    assert "nothing is proved" in rung["minima"][2]["reason"]


@pytest.mark.slow
@pytest.mark.nightly
def test_a_ladder_is_climbed_rung_by_rung(client):
    events, end = streamed(client, "/api/atlas/ladder", {"k": 6, "neurons": 1})
    assert end == "end"
    assert events[0]["command"].startswith("earnshaw grow -k 6 --neurons 1 --beam 4")
    rungs = [event["rung"] for event in events if "rung" in event]
    assert [rung["n"] for rung in rungs] == [6, 7]
    assert [one["family"] for one in rungs[0]["minima"]] == ["II (S_5)", "A (S_6)"]
    assert all(one["verified"] and es.check(one["certificate"]).verified for one in rungs[0]["minima"])
    assert rungs[1]["minima"] == []
    again, _ = streamed(client, "/api/atlas/ladder", {"k": 6, "neurons": 1})
    assert [event["rung"] for event in again[1:]] == rungs


def test_a_ladder_that_nobody_waits_for_is_left(tmp_path):
    climbing = atlas._climbed(7, 1, tmp_path, lambda: True)
    with pytest.raises(StopIteration) as ended:
        next(climbing)
    assert ended.value.value is None
    assert not atlas._climbing.locked()


def test_a_ladder_waits_for_another_and_says_so_until_nobody_asks_any_more(tmp_path):
    stopped = []
    with atlas._climbing:
        climbing = atlas._climbed(7, 1, tmp_path, lambda: bool(stopped))
        assert next(climbing)["state"] == "waiting"
        stopped.append(True)
        with pytest.raises(StopIteration) as ended:
            next(climbing)
        assert ended.value.value is None
        assert atlas._climbing.locked(), "by the one that climbs"


def test_points_are_given_though_none_can_be_kept(monkeypatch):
    monkeypatch.setattr(atlas, "KEPT", 0)
    monkeypatch.setattr(atlas, "_found", {})
    assert [point.k for point in atlas.proved("II", [6, 7, 8])] == [6, 7, 8]
    assert not atlas._found


@pytest.mark.parametrize(
    ("path", "asked", "sentence"),
    [
        ("points", {"families": "II", "first": 9, "last": 8}, "not below the first"),
        ("points", {"families": "II Q"}, "the name of no family"),
        ("points", {"families": " "}, "give 1 to 12"),
        ("points", {"families": " ".join(f"M:{q}" for q in range(2, 15))}, "give 1 to 12"),
        ("points", {"last": 10**9}, "less than or equal to"),
        ("ladder", {"k": 40}, "less than or equal to"),
        ("theorem", {"theorem": "C"}, "theorem"),
        ("turn", {"family": "M:4;"}, "family"),
    ],
)
def test_what_cannot_be_shown_is_refused_in_a_sentence(client, path, asked, sentence):
    answer = client.post(f"/api/atlas/{path}", json=asked)
    assert answer.status_code == 422
    assert sentence in answer.json()["error"]


def test_a_certificate_of_nonsense_is_refused(client):
    for query in ("family=../../etc/passwd&k=6", "family=II&k=nan", "family=II&k=2", "family=II", "k=6"):
        assert client.get(f"/api/atlas/certificate?{query}").status_code == 422
