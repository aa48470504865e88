"""Who may ask, and how much: the middleware in front of everything the explorer serves.

The server listens on this computer only, but every page that a browser shows may send requests to it. So a request must
name this computer (a foreign ``Host`` is a name that somebody has pointed here, DNS rebinding), and must not come from
another origin (``Origin``, ``Sec-Fetch-Site``). Programs without a browser send neither of the latter and are let in.
"""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

from earnshaw.web.limits import LIMITS

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

OURS = re.compile(r"(127\.0\.0\.1|localhost)(:\d{1,5})?")
POLICY = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; object-src 'none'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)  # Plotly writes styles into its pictures, and makes images of them
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)


class Refused(Exception):
    """A request that goes no further: the status, and the sentence that says why."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence = status, sentence


class Guard:
    """Let a request through if it comes from here and is short; say to the browser what the page may load."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve or refuse one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        try:
            _from_here(scope)
            body = await _whole(scope, receive)
        except Refused as refused:
            await refusal(refused.status, refused.sentence)(scope, receive, guarded)
            return
        await self.app(scope, _again(body, receive), guarded)


def refusal(status: int, sentence: str) -> Any:
    """Return the response that says why a request was refused."""
    from starlette.responses import JSONResponse

    said = sentence.encode("utf-8", "backslashreplace").decode()
    return JSONResponse({"error": said}, status, headers={"connection": "close"} if status in (408, 413) else None)


async def unserved(request: Any, error: Any) -> Any:
    """Return the refusal of what is not there, or not to be had in this way."""
    said = {404: f"there is nothing at {request.url.path}", 405: f"{request.url.path} does not take {request.method}"}
    usual = error.status_code in said and error.detail in ("Not Found", "Method Not Allowed")
    response = refusal(error.status_code, said[error.status_code] if usual else str(error.detail))
    response.headers.update(error.headers or {})
    return response


def _from_here(scope: Scope) -> None:
    """Refuse what names another host, or comes from the page of another origin."""
    found: dict[bytes, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.lower(), []).append(value.decode("latin-1").strip().lower())
    hosts, origins = found.get(b"host", []), found.get(b"origin", [])
    if len(hosts) != 1 or not OURS.fullmatch(hosts[0]):
        raise Refused(400, "the request names another host; open the address that earnshaw explore has printed")
    if any(origin != f"http://{hosts[0]}" for origin in origins):
        raise Refused(403, "the request comes from another page; only the explorer's own page may ask")
    site = found.get(b"sec-fetch-site", ["none"])[-1]
    followed = scope["path"] == "/" and scope["method"] == "GET" and found.get(b"sec-fetch-mode") == ["navigate"]
    if site not in ("none", "same-origin") and not followed:  # a link that leads here may be followed
        raise Refused(403, "the request comes from another page; only the explorer's own page may ask")


async def _whole(scope: Scope, receive: Receive) -> bytes:
    """Return the body of a request, unless it is too long or does not come."""
    sizes = [value for name, value in scope["headers"] if name.lower() == b"content-length"]
    too_long = Refused(413, f"the request is longer than {LIMITS.body_bytes:,} bytes, which is the most that is read")
    if any(not re.fullmatch(rb"\d{1,12}", size) or int(size) > LIMITS.body_bytes for size in sizes):
        raise too_long
    body = bytearray()
    try:
        async with asyncio.timeout(LIMITS.body_seconds):
            while True:
                message = await receive()
                body += message.get("body", b"")
                if len(body) > LIMITS.body_bytes:
                    raise too_long
                if not message.get("more_body", False):  # also when the client has gone
                    return bytes(body)
    except TimeoutError:
        raise Refused(408, f"the request had not come after {LIMITS.body_seconds:g} seconds; send it again") from None


def _again(body: bytes, receive: Receive) -> Receive:
    """Return what gives the body once, and then what comes after it: that the client has gone."""
    given = False

    async def once() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return once
