"""The server: on this computer only, patient with few, and gone when it is told to."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from earnshaw.errors import InputError
from earnshaw.web.app import create_app
from earnshaw.web.limits import LIMITS

HERE = "127.0.0.1"
GRACE = 2  # seconds for what is going on, when the server stops
FULL = b"HTTP/1.1 429 Too Many Requests\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
LATE = b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


def bound(port: int) -> socket.socket:
    """Return a socket on this computer; port 0 is a free one."""
    if not 0 <= port <= 65535:
        raise InputError(f"port {port} was given; it must be between 1 and 65535, or 0 for a free one")
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HERE, port))
        listener.listen(LIMITS.connections)
    except OSError as error:
        listener.close()
        raise InputError(f"port {port} cannot be used ({error.strerror}); give another, or 0 for a free one") from None
    return listener


@contextlib.contextmanager
def serving(port: int = 0, out: str | Path | None = None) -> Iterator[tuple[str, threading.Event]]:
    """Serve the explorer meanwhile, in a thread; yield its address, and what says that the server has ended.

    What it writes goes to ``out``, or to a temporary folder that is removed in the end.
    """
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(bound(port))
        folder = Path(
            out
            or stack.enter_context(tempfile.TemporaryDirectory(prefix="earnshaw-explore-", ignore_cleanup_errors=True))
        )
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{folder} cannot be used as a folder ({error.strerror}); give another") from None
        server = uvicorn.Server(
            uvicorn.Config(
                create_app(folder.resolve()),
                http=Patient,
                ws="none",
                loop="asyncio",
                log_level="error",
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=GRACE,
            )
        )
        ended = threading.Event()  # Thread.join, when Ctrl-C interrupts it, takes the thread for ended (Python 3.11)

        def run() -> None:
            try:
                server.run([listener])
            finally:
                ended.set()

        threading.Thread(target=run, name="explorer", daemon=True).start()
        try:
            while not server.started and not ended.is_set():
                time.sleep(0.005)
            yield f"http://{HERE}:{listener.getsockname()[1]}/", ended
        finally:
            logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # it would tell all that had to be broken off
            server.should_exit = True
            ended.wait(2 * GRACE)


class Patient(H11Protocol):
    """HTTP with an end to patience: at most so many connections, each with so long for the head of a request.

    When there are too many, whoever has kept the server waiting longest has to go, and if nobody does the new one. Uvicorn
    answers 503 to too many, and waits for a head as long as a client likes.
    """

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Let a client in, or not."""
        if len(self.connections) >= LIMITS.connections:
            waiting = {
                one: one._deadline.when() for one in self.connections if isinstance(one, Patient) and one._deadline
            }
            if waiting:
                min(waiting, key=lambda one: waiting[one])._give_up(LATE)
            else:
                transport.write(FULL)
                transport.close()
        super().connection_made(transport)
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a client."""
        self._unexpect()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Go on; a head that has come is waited for no more."""
        super().handle_events()
        if self.cycle is not None and not self.cycle.response_complete:
            self._unexpect()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._expect()
        super().on_response_complete()

    def shutdown(self) -> None:
        """Stop: to what is still being streamed it is as if its client had gone."""
        super().shutdown()
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()

    def _expect(self) -> None:
        self._unexpect()
        self._deadline = self.loop.call_later(LIMITS.head_seconds, self._give_up, LATE)

    def _unexpect(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self, said: bytes) -> None:
        self._unexpect()
        self.connections.discard(self)
        if not self.transport.is_closing():
            self.transport.write(said)
            self.transport.close()
