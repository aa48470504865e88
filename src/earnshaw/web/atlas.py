"""The view Atlas: what is proved of named families against k, the ladder that ``grow`` climbs, every k, and absence.

"Proved" is said of a certificate that the trusted checker has accepted on this server, and of nothing else.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Request
from pydantic import Field
from starlette.responses import Response

from earnshaw.errors import InputError
from earnshaw.web.api import Asked
from earnshaw.web.landscape import Name, stem
from earnshaw.web.limits import LIMITS
from earnshaw.web.proving import LOOK, awaited
from earnshaw.web.streams import events

if TYPE_CHECKING:
    from earnshaw.experiments.atlas import AtlasPoint
    from earnshaw.experiments.grow import Ladder

router = APIRouter(prefix="/api/atlas")
SIZES = 24  # of a family, at most: all from the first to the last, or spread evenly in log k
CHUNK = 4  # sizes that are proved at a time
KEPT = 4096  # points that are remembered
BEAM = 4  # minima of a rung that go on
_found: dict[tuple[str, int], AtlasPoint] = {}
_theorems: dict[str, dict[str, Any]] = {}
_ladders: dict[int, Ladder] = {}
_climbing, _finding = threading.Lock(), threading.Lock()

# What is known of spurious minima for k orthonormal teacher neurons (docs/absence.md, docs/every-k.md), and what shows it.
KNOWN: tuple[dict[str, Any], ...] = (
    {
        "k": "1",
        "n": "any",
        "says": "no spurious minimum",
        "how": "theorem E of docs/absence.md, on paper; no certificate",
    },
    {"k": "2", "n": "2", "says": "no spurious minimum, in any dimension", "theorem": "absence"},
    {
        "k": "3",
        "n": "3",
        "says": "no spurious minimum, in any dimension",
        "how": "too long for this page: the command walks over 8.35 million cells, in minutes, and writes a certificate",
        "command": "earnshaw absence -k 3 --out certs\nearnshaw check certs",
    },
    {"k": "4, 5", "n": "k", "says": "open: none is known, and absence is not proved"},
    {"k": "every k from 6 on", "n": "k", "says": "family II is a spurious minimum", "theorem": "II"},
    {"k": "every k from 6 on", "n": "k", "says": "family A is a spurious minimum", "theorem": "A"},
    {"k": "every k from 7 on", "n": "k + 1", "says": "family B is a spurious minimum", "theorem": "B"},
)


class Curves(Asked):
    """Families, by their names with spaces between, and the sizes k."""

    families: str = Field("II A I B M:4 2B", max_length=80, pattern=r"^[A-Za-z0-9:, ]*$")
    first: int = Field(4, ge=1, le=LIMITS.atlas_k)
    last: int = Field(24, ge=1, le=LIMITS.atlas_k)


class Climb(Asked):
    """A ladder: from k neurons upwards."""

    k: int = Field(7, ge=2, le=LIMITS.ladder_k)
    neurons: int = Field(2, ge=1, le=LIMITS.ladder_neurons)


class Theorem(Asked):
    """A theorem that is proved here when it is asked for: a family for every k, or absence for k = 2."""

    theorem: Literal["II", "A", "B", "absence"]


class Turning(Asked):
    """A family that turns from saddle to minimum."""

    family: Name


@router.post("/points")
def points(asked: Curves) -> Response:
    """Stream the points of families as they are proved, each with a certificate that the checker has accepted."""
    from earnshaw.problems import named_family

    if asked.last < asked.first:
        raise InputError(f"k runs from {asked.first} to {asked.last}; give a last k that is not below the first")
    names = list(dict.fromkeys(named_family(name).name for name in asked.families.split()))
    if not 1 <= len(names) <= LIMITS.atlas_families:
        raise InputError(f"{len(names)} families were asked for; give 1 to {LIMITS.atlas_families}")
    span = f"-k {asked.first}..{asked.last}" if asked.last > asked.first else f"-k {asked.first}"
    chosen = " ".join(f"--family {name}" for name in names)
    command = f"earnshaw atlas build {span} {chosen} --out atlas\nearnshaw check atlas\nearnshaw atlas show atlas"

    def produce(stopped: Callable[[], bool]) -> Iterator[dict[str, Any]]:
        yield {"command": command, "families": {name: _curve(name) for name in names}}
        for name in names:
            sizes = spread(max(asked.first, named_family(name).least), asked.last)
            for begin in range(0, len(sizes), CHUNK):
                if stopped():
                    return
                some = proved(name, sizes[begin : begin + CHUNK])
                yield {"points": [point.report() for point in some]}

    return events(produce)


def _curve(name: str) -> dict[str, Any]:
    """Return what is known of a family at once: how many neurons more it has, and what its loss tends to."""
    from earnshaw.experiments.atlas import LIMITS as TENDS
    from earnshaw.problems import named_family

    family = named_family(name)
    more = {family.neurons(k) - k for k in (family.least, family.least + 1)}
    words, value, power = TENDS.get(name, (None, None, None))
    return {
        "more": more.pop() if len(more) == 1 else None,
        "least": family.least,
        "words": words,
        "value": value,
        "power": power,
    }


def spread(first: int, last: int) -> list[int]:
    """Return all sizes from the first to the last, or, where they are many, some with about equal ratios."""
    if last - first < SIZES:
        return list(range(first, last + 1))
    ratio = (last / first) ** (1 / (SIZES - 1))
    return sorted({round(first * ratio**step) for step in range(SIZES)})


def proved(name: str, sizes: list[int]) -> list[AtlasPoint]:
    """Return points of a family; those that are not remembered are proved, and checked, in another process."""
    from earnshaw.experiments.atlas import prove_points
    from earnshaw.proof.processes import apart

    with _finding:
        known = {k: _found[name, k] for k in sizes if (name, k) in _found}
    if missing := [k for k in sizes if k not in known]:
        known |= {point.k: point for point in apart(prove_points, name, missing)}
        with _finding:
            _found.update({(name, k): known[k] for k in missing})
            while len(_found) > KEPT:
                _found.pop(next(iter(_found)))
    return [known[k] for k in sizes]


@router.get("/certificate")
def certificate(family: Name, k: Annotated[int, Field(ge=1, le=LIMITS.atlas_k)]) -> Response:
    """Return the certificate of a family's point, as a file."""
    from earnshaw.problems import named_family

    name = named_family(family).name
    (point,) = proved(name, [k])
    if point.certificate is None:
        raise InputError(f"nothing is proved of family {name} at k = {k}: {point.reason}")
    return _download(f"{stem(name, k)}-{point.certificate.kind}.json", point.certificate.to_text())


def _download(name: str, text: str) -> Response:
    head = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type="application/json", headers=head)


@router.get("/known")
def known() -> dict[str, Any]:
    """Return what is known for which k, and what can be proved here."""
    return {"rows": KNOWN}


@router.post("/theorem")
def theorem(asked: Theorem) -> Response:
    """Prove a theorem, and let the trusted checker judge its certificate, in a process that ends when nobody waits for it."""

    def produce(stopped: Callable[[], bool]) -> Iterator[dict[str, Any]]:
        from earnshaw.proof.processes import Call
        from earnshaw.web.judging import prove_theorem

        if asked.theorem not in _theorems:
            with Call(prove_theorem, asked.theorem, memory=LIMITS.process_bytes) as call:
                found = yield from awaited(call, "proving", LIMITS.proof_seconds, "the proof", stopped)
            if found is None:
                return
            _theorems[asked.theorem] = found
        yield {"state": "done", **_theorems[asked.theorem]}

    return events(produce)


@router.post("/turn")
def turning(asked: Turning) -> dict[str, Any]:
    """Enclose the real k at which a family turns from saddle to minimum, in ball arithmetic; there is no certificate of it."""
    from earnshaw.problems import named_family

    return _turn(named_family(asked.family).name)


@functools.lru_cache(maxsize=64)
def _turn(family: str) -> dict[str, Any]:
    from earnshaw.proof import turn
    from earnshaw.proof.processes import apart

    return asdict(apart(turn, family)) | {"command": f"earnshaw atlas turns --family {family}"}


@router.post("/ladder")
def ladder(asked: Climb, request: Request) -> Response:
    """Stream the rungs of a ladder as they are climbed, with the checker's word on every minimum."""
    folder: Path = request.app.state.folder / "ladders"
    command = f"earnshaw grow -k {asked.k} --neurons {asked.neurons} --beam {BEAM} --out runs/ladder\nearnshaw check runs/ladder"

    def produce(stopped: Callable[[], bool]) -> Iterator[dict[str, Any]]:
        yield {"command": command}
        shown = 0
        for more in range(1, asked.neurons + 1):
            found = yield from _climbed(asked.k, more, folder, stopped)
            if found is None:
                return
            for rung in found.rungs[shown : more + 1]:
                yield _rung(rung)
            shown = more + 1

    return events(produce)


def _climbed(
    k: int, neurons: int, folder: Path, stopped: Callable[[], bool]
) -> Generator[dict[str, Any], None, Ladder | None]:
    """Return the ladder of k with so many neurons more, or to its end; None when nobody waits for it any more.

    It is climbed in a process of its own, one at a time; finished rungs are kept in the folder.
    """
    from earnshaw.experiments import grow
    from earnshaw.problems import TwoLayer, standard_teacher
    from earnshaw.proof.processes import Call

    begun = time.monotonic()
    while not _climbing.acquire(timeout=LOOK):
        if stopped():
            return None
        yield {"state": "waiting", "seconds": time.monotonic() - begun}
    try:
        if k not in _ladders or len(_ladders[k].rungs) <= neurons:
            work = functools.partial(grow, neurons=neurons, beam=BEAM, out=folder / f"k{k}")
            with Call(work, TwoLayer(standard_teacher(k))) as call:
                found = yield from awaited(call, "climbing", LIMITS.ladder_seconds, "the ladder", stopped)
            if found is None:
                return None
            _ladders[k] = found
        return _ladders[k]
    finally:
        _climbing.release()


def _rung(rung: Any) -> dict[str, Any]:
    from earnshaw.proof import check
    from earnshaw.proof.processes import apart

    minima = []
    for minimum in rung.minima:
        text = next(iter(minimum.certificates.values()), None)
        checked = None if text is None else apart(check, text)
        names = ("value", "least", "family", "move", "parent", "lambda_ge", "objective_ge")
        minima.append(
            {name: getattr(minimum, name) for name in names}
            | {"verified": checked is not None and checked.verified, "certificate": text}
            | {"reason": "nothing is proved of it" if checked is None else checked.statement or checked.reason}
        )
    return {"rung": {"n": rung.neurons, "tried": rung.tried, "fates": rung.fates, "minima": minima}}
