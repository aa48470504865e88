"""Proofs and checks for the page, each in a process of its own that ends in time; nothing is called proved that was not checked."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from fastapi import APIRouter, Request, Response
from pydantic import Field

from earnshaw.errors import InputError
from earnshaw.web.limits import LIMITS
from earnshaw.web.setting import Point, room
from earnshaw.web.streams import events

if TYPE_CHECKING:
    from earnshaw.proof.processes import Call

router = APIRouter()
Result = TypeVar("Result")
LOOK = 0.25  # seconds between two looks at a process
TEXT = {"requestBody": {"content": {"application/octet-stream": {"schema": {"type": "string"}}}, "required": True}}


class Asked(Point):
    """A point to prove, and its place among the families, for the names of its certificates."""

    index: Annotated[int, Field(ge=0, lt=1000)] = 0


@router.post("/prove")
def prove(asked: Asked, request: Request) -> Response:
    """Prove what lies at a point: events while it goes on, and at last the verdict with the certificates, each checked."""
    asked.matrix()
    folder = request.app.state.folder / "certificates"
    return events(lambda stopped: _proved(asked, stopped, folder))


@router.post("/verify", openapi_extra=TEXT)
async def verify(request: Request) -> Response:
    """Have the trusted checker check the certificate that is the request's body."""
    data = await request.body()
    return events(lambda stopped: _verified(data, stopped))


def _proved(asked: Asked, stopped: Callable[[], bool], folder: Path | None = None) -> Iterator[dict[str, Any]]:
    from earnshaw.experiments.proving import require_provable, target_of
    from earnshaw.proof.processes import Call
    from earnshaw.symmetry import label
    from earnshaw.web.judging import judge, prove_point

    problem = require_provable(asked.problem.build(), "the page was asked for a proof about a problem")
    target = target_of("", problem.name, asked.index, problem, asked.matrix())
    with Call(prove_point, problem.to_json(), target.weights, memory=LIMITS.process_bytes) as call:
        proof = yield from awaited(call, "proving", LIMITS.proof_seconds, "the proof", stopped)
    if proof is None:
        return
    proof = proof.named(None if proof.point is None else label(problem, proof.point.weights))
    texts = {kind: certificate.to_text() for kind, certificate in proof.certificates.items()}
    judged: dict[str, Any] | None = {}
    if texts:
        data = {kind: text.encode() for kind, text in texts.items()}
        with Call(judge, data, memory=LIMITS.process_bytes) as call:
            judged = yield from awaited(call, "checking", LIMITS.proof_seconds, "the check", stopped)
        if judged is None:
            return
    checked = [
        {**judged[kind], "kind": kind, "file": f"{target.stem}-{kind}.json", "text": text}
        for kind, text in texts.items()
    ]
    proved = bool(checked) and checked[0]["verified"]
    kept = room(folder, target.stem) if proved and folder is not None else None
    if kept is not None:
        proof.save_all(kept, target.stem)
    yield {
        "state": "done",
        "proved": proved,
        "kept": kept and str(kept),
        "verdict": proof.verdict.name,
        "sentence": proof.verdict.value,
        "words": proof.words,
        "family": proof.family,
        "seconds": proof.seconds,
        "certificates": checked,
    }


def _verified(data: bytes, stopped: Callable[[], bool]) -> Iterator[dict[str, Any]]:
    from earnshaw.proof.processes import Call
    from earnshaw.web.judging import judge

    with Call(judge, {"": data}, memory=LIMITS.process_bytes) as call:
        judged = yield from awaited(call, "checking", LIMITS.check_seconds, "the check", stopped)
    if judged is not None:
        yield {"state": "done", "bytes": len(data), **judged[""]}


def awaited(
    call: Call[Result], state: str, most: float, what: str, stopped: Callable[[], bool]
) -> Generator[dict[str, Any], None, Result | None]:
    """Yield how long a process has been at it, until it answers; return the answer, or None when nobody waits for it any more."""
    begun = time.monotonic()
    while not call.ready(LOOK):
        spent = time.monotonic() - begun
        if stopped():
            return None
        if spent > most:
            raise InputError(f"{what} took more than {most:g} s, the most that it may take here; use the command line")
        yield {"state": state, "seconds": spent}
    return call.result()
