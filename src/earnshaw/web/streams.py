"""Runs that are watched while they go on: what a generator yields, in a thread, goes out as server-sent events."""

from __future__ import annotations

import json
import logging
import math
import threading
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from earnshaw.errors import InputError
from earnshaw.web.guards import refusal
from earnshaw.web.limits import LIMITS

LOG = logging.getLogger("earnshaw.web")
Produce = Callable[[Callable[[], bool]], Iterator[dict[str, Any]]]
_slots = threading.BoundedSemaphore(LIMITS.streams)
TOO_MANY = (
    f"{LIMITS.streams} runs are going on already, which is the most at once; stop one of them, or wait for its end"
)


def events(produce: Produce) -> Response:
    """Return the response that streams what ``produce(stopped)`` yields: a dict that :func:`plain` makes JSON, each.

    The generator runs in a thread. ``stopped()`` says that nobody listens any more, and is to be asked often; also, the
    generator is closed where it yields. An event ``end`` comes last. :class:`InputError` becomes the event ``refused``
    with ``{"error": sentence}``, and so does a fault. More than ``LIMITS.streams`` at once are refused with 429.
    """
    return _Events(produce)


def plain(value: Any) -> Any:
    """Return arrays and numbers as JSON has them; a number that is not finite becomes None."""
    if isinstance(value, dict):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if hasattr(value, "tolist"):  # an array, or a number of NumPy or JAX
        return plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


class _Events(Response):
    media_type = "text/event-stream"

    def __init__(self, produce: Produce) -> None:
        super().__init__(headers={"cache-control": "no-store"})
        del self.headers["content-length"]
        self._produce = produce

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events; the slot is free again when the generator has ended, not before."""
        if not _slots.acquire(blocking=False):
            await refusal(429, TOO_MANY)(scope, receive, send)
            return
        stopped = threading.Event()

        async def listen() -> None:
            try:
                while (await receive())["type"] != "http.disconnect":
                    pass
            finally:  # also when the server stops
                stopped.set()

        async def give(text: str, more: bool = True) -> None:
            await send({"type": "http.response.body", "body": text.encode("utf-8", "replace"), "more_body": more})

        def run() -> None:
            try:
                self._run(stopped, lambda text: anyio.from_thread.run(give, text))
            finally:
                _slots.release()

        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        async with anyio.create_task_group() as group:
            group.start_soon(listen)
            await anyio.to_thread.run_sync(run, limiter=anyio.CapacityLimiter(1))
            await give("", more=False)
            group.cancel_scope.cancel()

    def _run(self, stopped: threading.Event, give: Callable[[str], None]) -> None:
        """Give the events one by one, and wait with the next until the last has gone out."""
        running = self._produce(stopped.is_set)
        try:
            for event in running:
                if stopped.is_set():
                    return
                give(_event(event))
            if not stopped.is_set():
                give(_event({}, "end"))
        except Exception as error:
            if stopped.is_set():  # nobody listens; the server may be gone, and with it what gives
                return
            if not isinstance(
                error, InputError
            ):  # a fault of ours: the page says that there is one, the terminal where
                LOG.exception("a run failed")
                error = f"the run failed ({type(error).__name__}); the terminal says where"
            give(_event({"error": str(error)}, "refused"))
        finally:
            close = getattr(running, "close", None)
            if close is not None:
                close()


def _event(data: dict[str, Any], name: str | None = None) -> str:
    return (f"event: {name}\n" if name else "") + f"data: {json.dumps(plain(data), allow_nan=False)}\n\n"
