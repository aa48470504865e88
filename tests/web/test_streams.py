"""Events: in order, as JSON, ended or refused; stopped when nobody listens; not too many at once."""

import json
import math
import threading
import time

import numpy as np
import pytest
from fastapi import FastAPI

from earnshaw.errors import InputError
from earnshaw.web.limits import LIMITS
from earnshaw.web.streams import events, plain


def test_what_json_does_not_have_becomes_what_it_has():
    given = {
        "a": np.array([1.0, math.inf]),
        "b": (np.float64(2.5), np.int64(3)),
        "c": math.nan,
        "d": {1: [True, None, "x"]},
    }
    assert plain(given) == {"a": [1.0, None], "b": [2.5, 3], "c": None, "d": {"1": [True, None, "x"]}}
    json.dumps(plain(given), allow_nan=False)


@pytest.fixture
def streaming():
    """Return what makes a client of an application with one stream."""
    from starlette.testclient import TestClient

    def make(produce):
        app = FastAPI()
        app.add_api_route("/run", lambda: events(produce), methods=["POST"])
        return TestClient(app)

    return make


def blocks(answer):
    return answer.text.split("\n\n")[:-1]


def test_events_come_in_order_and_end(streaming):
    answer = streaming(lambda stopped: ({"i": i, "stopped": stopped()} for i in range(3))).post("/run")
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert blocks(answer) == [*(f'data: {{"i": {i}, "stopped": false}}' for i in range(3)), "event: end\ndata: {}"]


def test_a_mistake_is_an_event(streaming):
    def produce(stopped):
        yield {"i": 0}
        raise InputError("k = 7 was given; no")

    assert blocks(streaming(produce).post("/run"))[1:] == ['event: refused\ndata: {"error": "k = 7 was given; no"}']


def test_a_fault_ends_the_stream_and_frees_its_place(streaming, caplog):
    def produce(stopped):
        yield {"i": 0}
        raise ZeroDivisionError

    client = streaming(produce)
    for _ in range(2 * LIMITS.streams):
        assert "the run failed (ZeroDivisionError)" in blocks(client.post("/run"))[-1]
    assert "ZeroDivisionError" in caplog.text
    assert blocks(streaming(lambda stopped: iter([{}])).post("/run"))[-1] == "event: end\ndata: {}"


def test_too_many_are_refused_and_their_places_come_back(streaming):
    go, begun, codes = threading.Event(), threading.Semaphore(0), []

    def produce(stopped):
        begun.release()
        go.wait(30)
        yield {}

    client = streaming(produce)
    threads = [
        threading.Thread(target=lambda: codes.append(client.post("/run").status_code)) for _ in range(LIMITS.streams)
    ]
    for thread in threads:
        thread.start()
    for _ in threads:
        assert begun.acquire(timeout=30)
    refused = client.post("/run")
    go.set()
    for thread in threads:
        thread.join()
    assert refused.status_code == 429
    assert "at once" in refused.json()["error"]
    assert codes == [200] * LIMITS.streams
    assert client.post("/run").status_code == 200


def test_a_generator_is_stopped_when_its_client_goes_away():
    import asyncio

    seen = {}

    def produce(stopped):
        try:
            for step in range(100_000):
                if stopped():
                    return
                time.sleep(0.001)
                yield {"step": step}
        finally:
            seen["ended"] = stopped()

    async def listen():
        gone = asyncio.Event()

        async def receive():
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            if b"5" in message.get("body", b""):
                gone.set()

        await asyncio.wait_for(events(produce)({"type": "http"}, receive, send), 30)

    thread = threading.Thread(target=lambda: asyncio.run(listen()))
    thread.start()
    thread.join()
    assert seen == {"ended": True}
