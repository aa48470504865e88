"""Proofs and checks for the page: in processes that end in time, and never a word of proof without the checker's."""

import json
import os
import time
from pathlib import Path

import numpy as np
import pytest

import earnshaw as es
from earnshaw.experiments.proving import prove_targets, target_of
from earnshaw.proof.certificate import shipped_certificate
from earnshaw.proof.processes import Call
from earnshaw.proof.trusted.reading import seal
from earnshaw.web import proving
from earnshaw.web.judging import judge


@pytest.fixture(scope="module")
def minimum():
    """A certificate of a minimum of k = n = 6, and its point."""
    with shipped_certificate() as path:
        document = json.loads(path.read_text())
    return document, [[float.fromhex(entry) for entry in row] for row in document["center"]]


def last(response):
    assert response.status_code == 200, response.text
    blocks = [block for block in response.text.split("\n\n") if block]
    assert blocks[-1].startswith("event: end"), response.text[-300:]
    return json.loads(blocks[-2].removeprefix("data: "))


def test_a_minimum_is_proved_as_the_command_does_it(client, minimum, folder):
    _, weights = minimum
    asked = {"problem": {"k": 6, "n": 6}, "weights": weights, "index": 3}
    answer = last(client.post("/api/sweep/prove", json=asked))
    assert answer["proved"] is True
    assert answer["verdict"] == "PROVED_MINIMUM"
    problem = es.TwoLayer(es.standard_teacher(6))
    target = target_of("", problem.name, 3, problem, np.array(weights))
    (proof,) = prove_targets([target], workers=1)
    assert [one["text"] for one in answer["certificates"]] == [one.to_text() for one in proof.certificates.values()]
    for one in answer["certificates"]:
        assert one["file"] == f"{target.stem}-{one['kind']}.json"
        assert one["verified"]
        assert one["words"].startswith("A network of n = 6 ReLU neurons")
    assert answer["family"] == proof.family == "II (S_5)"
    kept = sorted(Path(answer["kept"]).iterdir())
    assert kept[0].parent.parent == folder / "certificates"
    assert [file.read_text() for file in kept] == [
        text for _, text in sorted((c["file"], c["text"]) for c in answer["certificates"])
    ]


def test_what_is_no_minimum_is_inconclusive_and_what_has_no_proofs_is_refused(client):
    asked = {"problem": {"k": 2, "n": 2}, "weights": [[1.0, 0.5], [0.0, 1.0]]}
    answer = last(client.post("/api/sweep/prove", json=asked))
    assert answer["proved"] is False
    assert answer["verdict"] == "INCONCLUSIVE"
    assert answer["certificates"] == []
    asked["problem"]["activation"] = "erf"
    assert "has no proofs" in client.post("/api/sweep/prove", json=asked).text


@pytest.mark.parametrize("accepted", [True, False])
def test_nothing_is_called_proved_that_the_checker_rejects(minimum, monkeypatch, accepted):
    problem = es.TwoLayer(es.standard_teacher(6))
    answers = [
        es.prove(problem, np.array(minimum[1]), basin=False, robust=False),
        {"minimum": {"verified": accepted, "kind": None, "sentence": "no", "words": None, "latex": None}},
    ]

    class Fake(Call):
        def __init__(self, *job, **more):
            pass

        def __exit__(self, *error):
            pass

        def ready(self, seconds):
            return True

        def result(self):
            return answers.pop(0)

    monkeypatch.setattr("earnshaw.proof.processes.Call", Fake)
    asked = proving.Asked.model_validate({"problem": {"k": 6, "n": 6}, "weights": minimum[1]})
    *_, answer = proving._proved(asked, lambda: False)
    assert answer["verdict"] == "PROVED_MINIMUM", "what the prover says"
    assert answer["proved"] is accepted


def test_a_certificate_is_verified_and_a_changed_one_is_rejected_with_the_reason(client, minimum):
    document, _ = minimum
    answer = last(client.post("/api/sweep/verify", content=json.dumps(document)))
    assert answer["verified"]
    assert answer["sentence"] == es.check(json.dumps(document)).statement
    assert "local minimum" in answer["words"]
    forged = json.loads(json.dumps(document))
    forged["claims"]["F_ge"] = (1.0).hex()
    answer = last(client.post("/api/sweep/verify", content=json.dumps(forged)))
    assert answer["sentence"] == "sha256 does not match the content: the file was corrupted or edited"
    resealed = json.dumps(forged | {"sha256": seal(forged)})
    files = {"resealed": resealed.encode(), "deep": b"[" * 100_000, "binary": b"\xff\x00", "empty": b""}
    for name, one in {"edited": answer, **judge(files)}.items():
        assert not one["verified"], name
        assert one["words"] is None
        assert one["sentence"]
    assert "F_ge" in judge(files)["resealed"]["sentence"], "the hypothesis that fails"


def test_a_file_that_is_too_long_is_not_read(client):
    answer = client.post("/api/sweep/verify", content=b"x" * 3_000_000)
    assert answer.status_code == 413


def test_a_process_is_given_up_after_its_time_and_when_nobody_waits():
    with Call(time.sleep, 60) as call, pytest.raises(es.InputError, match=r"took more than 0.3 s"):
        list(proving.awaited(call, "checking", 0.3, "the check", lambda: False))
    with Call(os.getpid) as call:
        events = proving.awaited(call, "checking", 60.0, "the check", lambda: True)
        assert len(list(events)) <= 1
