"""Every question of every view, asked wrongly: an answer of four hundred and something, one sentence, and the server goes on."""

import json
import urllib.request

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode

MALFORMED = {
    "nothing": b"",
    "null": b"null",
    "a list": b"[]",
    "a text": b'"k"',
    "half of it": b'{"k": ',
    "no text": b"\xff\xfe\x00",
    "an unknown name": b'{"no such name": 1}',
    "not a number": b'{"k": NaN, "n": NaN, "seed": NaN, "weights": [[NaN]]}',
    "infinite": b'{"k": Infinity, "step": -Infinity, "weights": [[Infinity]]}',
    "beyond doubles": b'{"k": 1e999, "n": 1e999, "weights": [[1e999]]}',
    "huge": b'{"k": 1000000000, "n": 1000000000, "runs": 1000000000, "weights": 1e9}',
    "many digits": b'{"k": 1' + b"0" * 5000 + b"}",
    "deep": b"[" * 100_000,
    "deep inside": b'{"k": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "half of a letter": b'{"k": "\\ud800", "family": "\\ud800", "\\ud800": 1}',
    "a way out": b'{"family": "../../../etc/passwd", "name": "..\\\\..", "k": "/etc/passwd"}',
    "a letter for a number": b'{"k": "five", "n": true, "weights": "W"}',
    "long": b'{"k": "' + b"x" * 1_000_000 + b'"}',
    "many": b'{"weights": [' + b"[1]," * 100_000 + b"[1]], \"k\": 0}",
}  # fmt: skip


@pytest.fixture(scope="module")
def schema(server):
    return schemathesis.openapi.from_dict(json.load(urllib.request.urlopen(f"{server}/openapi.json")))


def operations(schema):
    return [found.ok() for found in schema.get_all_operations()]


def media(operation):
    """Return the kinds of text that a request may have."""
    return operation.definition.raw.get("requestBody", {}).get("content", {})


def answered(address, **request):
    """Return the status and the sentence of an answer, of which no more is read than is there at once."""
    with requests.request(url=address, stream=True, timeout=300, **request) as answer:
        said = answer.json()["error"] if answer.status_code >= 400 else ""
        next(answer.iter_content(1000), None)
        return answer.status_code, said


def test_what_is_malformed_is_refused_in_one_sentence(server, schema):
    for operation in operations(schema):
        if operation.method != "post" or "application/json" not in media(operation):
            continue  # a file is refused by the checker
        for what, body in MALFORMED.items():
            headers = {"content-type": "application/json"}
            status, said = answered(f"{server}{operation.path}", method="POST", data=body, headers=headers)
            assert 400 <= status < 500, (operation.label, what)
            assert said, (operation.label, what)
            assert len(said) < 600, (operation.label, what)
        for method in ("GET", "PUT", "DELETE", "PATCH"):
            assert answered(f"{server}{operation.path}", method=method)[0] == 405
    assert answered(f"{server}/", method="GET")[0] == 200


def fuzzed(server, schema, mode, examples):
    for operation in operations(schema):
        if mode is GenerationMode.NEGATIVE and not media(operation) and not operation.definition.raw.get("parameters"):
            continue  # there is nothing to ask wrongly

        @given(operation.as_strategy(generation_mode=mode))
        @settings(max_examples=examples, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
        def ask(case):
            request = case.as_transport_kwargs(base_url=server)
            status, _ = answered(request.pop("url"), **request)
            assert status < 500, case.as_curl_command()

        ask()
    assert answered(f"{server}/", method="GET")[0] == 200


@pytest.mark.slow
def test_a_fuzzer_of_what_is_not_in_the_schema_finds_no_fault(server, schema):
    fuzzed(server, schema, GenerationMode.NEGATIVE, examples=2)


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("mode", GenerationMode, ids=lambda mode: mode.value)
def test_a_fuzzer_finds_no_fault(server, schema, mode):
    """Also of requests that are as the schema wants them: streams are left after their first event."""
    fuzzed(server, schema, mode, examples=40)
