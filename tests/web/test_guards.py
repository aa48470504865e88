"""Who is let in: requests that name this computer, come from its own page or from no page, and are short."""

import dataclasses

import pytest

from earnshaw.web import guards
from earnshaw.web.limits import LIMITS

ADDRESSES = ("/", "/api/about", "/static/app.js", "/openapi.json")
HERE = "127.0.0.1:8750"


@pytest.mark.parametrize("host", [HERE, "localhost:8750", "127.0.0.1", "LOCALHOST"])
def test_this_computer_is_let_in(client, host):
    for address in ADDRESSES:
        assert client.get(address, headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:8750", "127.0.0.1.evil.example", "localhost.evil.example:8750", "0.0.0.0:8750"),
        *("127.0.0.1@evil.example", "evil.example#127.0.0.1", "127.0.0.2", "[::1]:8750", "localhost:8750:8750"),
        *("localhost:", "localhost\t:1", ""),
    ],
)
def test_another_name_of_this_computer_is_refused(client, host):
    """As a page does whose name somebody has pointed to 127.0.0.1: the browser takes it for that page's own server."""
    for address in (*ADDRESSES, "/nothing"):
        answer = client.get(address, headers={"host": host})
        assert answer.status_code == 400
        assert "another host" in answer.json()["error"]
    assert client.post("/api/charges/run", json={}, headers={"host": host}).status_code == 400


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "https://127.0.0.1:8750", "http://127.0.0.1:8751", "http://localhost:8750", ""],
)
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS", "DELETE"])
def test_another_origin_is_refused(client, origin, method):
    for address in (*ADDRESSES, "/api/charges/run"):
        answer = client.request(method, address, headers={"origin": origin})
        assert answer.status_code == 403
        assert "access-control-allow-origin" not in answer.headers


def test_the_pages_own_requests_are_let_in(client):
    own = {"origin": f"http://{HERE}", "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"}
    assert client.get("/api/about", headers=own).status_code == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_page_may_lead_here_but_not_load_from_here(client, site):
    for address in ADDRESSES:
        for mode in ("no-cors", "cors"):
            headers = {"sec-fetch-site": site, "sec-fetch-mode": mode}
            assert client.get(address, headers=headers).status_code == 403
    led = {"sec-fetch-site": site, "sec-fetch-mode": "navigate"}
    assert client.get("/", headers=led).status_code == 200
    assert client.get("/api/about", headers=led).status_code == 403
    assert client.post("/", headers=led).status_code == 403


def test_every_answer_says_what_a_page_may_load(client):
    for address, headers in (("/", {}), ("/nothing", {}), ("/api/about", {"host": "evil.example"})):
        found = client.get(address, headers=headers).headers
        assert "default-src 'self'" in found["content-security-policy"]
        assert "unsafe-eval" not in found["content-security-policy"]
        assert found["x-content-type-options"] == "nosniff"
        assert found["cross-origin-resource-policy"] == "same-origin"


def test_a_long_request_is_refused_however_it_comes(client):
    piece = b" " * 100_000
    pieces = (piece for _ in range(LIMITS.body_bytes // len(piece) + 1))
    assert client.post("/api/about", content=pieces).status_code == 413  # without a length
    answer = client.post("/api/about", headers={"content-length": "100000000"}, content=b"")
    assert answer.status_code == 413
    assert "longer than 2,000,000 bytes" in answer.json()["error"]
    for size in ("-1", "1e3", "9" * 5000):
        assert client.post("/api/about", headers={"content-length": size}, content=b"").status_code == 413
    assert client.post("/api/about", content=b" " * LIMITS.body_bytes).status_code == 405, "as long as it may be"


def test_a_request_that_does_not_come_is_not_waited_for(monkeypatch):
    import asyncio

    monkeypatch.setattr(guards, "LIMITS", dataclasses.replace(LIMITS, body_seconds=0.05))
    sent = []

    async def receive():
        await asyncio.sleep(0.02)
        return {"type": "http.request", "body": b" ", "more_body": True}

    async def send(message):
        sent.append(message)

    async def unreachable(*_):
        raise AssertionError

    scope = {"type": "http", "method": "POST", "path": "/", "headers": [(b"host", HERE.encode())]}
    with asyncio.Runner() as runner:
        runner.run(guards.Guard(unreachable)(scope, receive, send))
    assert sent[0]["status"] == 408
    assert (b"connection", b"close") in sent[0]["headers"]


def test_two_hosts_are_one_too_many():
    scope = {"method": "GET", "path": "/", "headers": [(b"host", HERE.encode()), (b"host", b"evil.example")]}
    with pytest.raises(guards.Refused):
        guards._from_here(scope)
