"""The view Landscape: the loss on a plane through a critical point, the descent on it, its spectrum and its weights."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from fastapi import APIRouter
from pydantic import Field

from earnshaw.errors import InputError
from earnshaw.web.api import Asked
from earnshaw.web.limits import LIMITS
from earnshaw.web.streams import plain

if TYPE_CHECKING:
    from earnshaw.descent import Trace
    from earnshaw.experiments.views import Place, Slice
    from earnshaw.proof import Proof

router = APIRouter(prefix="/api/landscape")
Result = TypeVar("Result")
VIEWS = ("Place", "family_place", "global_minimum_near", "place_of", "slice_of", "traced_run")
SHOWN = 400  # moments of a path that are sent
_one = threading.Lock()  # a plane at a time: each keeps a core busy
Name = Annotated[str, Field(max_length=24, pattern=r"^[A-Za-z0-9:,]*$")]


class Point(Asked):
    """Which point: that of a named family, the end of a run, a certificate's, or that of the certificate that is shipped."""

    point: Literal["family", "run", "certificate", "shipped"] = "family"
    family: Name = "II"
    k: int = Field(6, ge=1, le=LIMITS.k)
    n: int = Field(6, ge=1, le=LIMITS.n)
    seed: int = Field(0, ge=0, le=LIMITS.seed)
    run: int = Field(0, ge=0, lt=LIMITS.runs)
    certificate: str = Field("", max_length=LIMITS.body_bytes)


class Plane(Point):
    """Which plane through it: two eigenvectors of the Hessian, or the way to another point and the softest direction."""

    plane: Literal["eigenvectors", "teacher", "family"] = "eigenvectors"
    second: Name = "A"
    x: int = Field(-1, ge=-1, lt=LIMITS.k * LIMITS.n)
    y: int = Field(-1, ge=-1, lt=LIMITS.k * LIMITS.n)
    reach: float = Field(0.0, ge=0.0, le=LIMITS.reach)
    resolution: int = Field(61, ge=11, le=LIMITS.resolution)


@dataclass(frozen=True)
class Chosen:
    """A point as it was found: what it is in words, the run that led there, and the lines of Python that give it again."""

    place: Place
    words: str
    python: str
    run: Trace | None = None


@router.post("/slice")
def slice_through(asked: Plane) -> dict[str, Any]:
    """Return the loss on a plane through a point, and what there is to know of the point, all in floating point."""
    import numpy as np

    from earnshaw.experiments.views import Spectrum
    from earnshaw.landscapes import landscape
    from earnshaw.symmetry import label

    with _one:
        chosen = _chosen(asked)
        place = chosen.place
        energy = landscape(place.problem)
        gradient = float(np.linalg.norm(np.asarray(energy.gradient(place.weights))))
        spectrum = np.asarray(energy.spectrum(place.weights))
        if not (np.isfinite(spectrum).all() and np.isfinite([gradient, place.loss]).all()):
            raise InputError("the loss is not smooth at this point, or too large to compute; give another point")
        found, python = _slice(asked, chosen)
        levels = Spectrum(spectrum).levels
        kept = np.unique(np.linspace(0, len(found.path.steps) - 1, SHOWN).astype(int))
        return plain(
            {
                "words": chosen.words,
                "sizes": place.problem.sizes,
                "label": label(place.problem, place.weights),
                "loss": place.loss,
                "gradient": gradient,
                "levels": levels,
                "values": found.values,
                "across": found.across,
                "along": found.along,
                "curvatures": found.curvatures,
                "labels": found.labels,
                "target": found.target,
                "path": {
                    "steps": found.path.steps[kept],
                    "losses": found.path.losses[kept],
                    "places": found.path.places[kept],
                },
                "weights": np.atleast_2d(place.ordered()),
                "command": _command(asked, levels[0][0]) or python,
            }
        )


@router.post("/prove")
def prove_here(asked: Point) -> dict[str, Any]:
    """Prove what lies at the point, or take the certificate given, and let the trusted checker judge it."""
    from earnshaw.experiments.atlas import prove_points
    from earnshaw.proof import check
    from earnshaw.proof.processes import apart
    from earnshaw.web.judging import prove_point

    reason: str | None = None
    if asked.point == "family":
        (found,) = apart(prove_points, _known(asked.family, asked.k), [asked.k])
        text = None if found.certificate is None else found.certificate.to_text()
        reason, name = found.reason, stem(asked.family, asked.k)
        command = f"earnshaw prove --family {asked.family} -k {asked.k} --out certs\nearnshaw check certs"
    elif asked.point == "run":
        with _one:
            chosen = _chosen(asked)
        problem, weights = chosen.place.problem.to_json(), chosen.place.weights
        proof: Proof = _in_time(LIMITS.proof_seconds, "the proof", prove_point, problem, weights)
        text, reason = None if proof.main is None else proof.main.to_text(), proof.reason
        name = f"k{asked.k}-n{asked.n}-seed{asked.seed}-run{asked.run}"
        command = _lines(chosen.python, "proof = es.prove(place.problem, place.weights)", "print(es.check(proof))")
    else:
        text, command = _text(asked), "earnshaw check FILE.json"
        name = "k6" if asked.point == "shipped" else "point"
    if text is None:
        return {"verified": False, "reason": reason, "command": command}
    given = asked.point == "certificate"  # by somebody: what it costs to check is not known
    checked = _in_time(LIMITS.check_seconds, "the check", check, text) if given else apart(check, text)
    return {
        "verified": checked.verified,
        "statement": checked.statement,
        "reason": checked.reason,
        "seconds": checked.seconds,
        "certificate": text if checked.verified else None,
        "file": f"{name}-{checked.kind}.json" if checked.verified else None,
        "command": command,
    }


def _in_time(most: float, what: str, work: Callable[..., Result], *job: Any) -> Result:
    """Return ``work(*job)`` from a process of its own; one that takes too long is ended, and refused."""
    from earnshaw.proof.processes import Call

    with Call(work, *job, memory=LIMITS.process_bytes) as call:
        if not call.ready(most):
            raise InputError(f"{what} took more than {most:g} s, the most that it may take here; use the command line")
        return call.result()


def stem(family: str, k: int) -> str:
    """Return what ``earnshaw prove --family`` calls the files of a family's point."""
    return f"{family.replace(':', '')}-k{k}"


def _known(family: str, k: int) -> str:
    """Return the name of a family that exists for k and is small enough to be shown."""
    from earnshaw.problems import named_family

    named = named_family(family)
    if (n := named.neurons(k)) > LIMITS.n:
        raise InputError(f"family {named.name} has {n} neurons for k = {k}; this view shows at most {LIMITS.n}")
    return named.name


def _chosen(asked: Point) -> Chosen:
    from earnshaw.experiments.views import family_place, place_of

    if asked.point == "family":
        family = _known(asked.family, asked.k)
        place = family_place(family, asked.k)
        words = f"family {family} for k = {asked.k}, n = {len(place.weights)}"
        return Chosen(place, words, f'place = family_place("{family}", {asked.k})')
    if asked.point == "run":
        return _run(asked.k, asked.n, asked.seed, asked.run)
    from earnshaw.problems import TwoLayer
    from earnshaw.proof import Certificate

    text = _text(asked)
    try:
        document = json.loads(text)
        place = place_of(Certificate(document["kind"], document))
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError("this is no certificate about a point; give a file that earnshaw prove wrote") from None
    shape = place.weights.shape
    if not isinstance(place.problem, TwoLayer) or shape != place.problem.shape:
        raise InputError("the certificate is about another network; this view shows two-layer networks")
    if shape[0] > LIMITS.n or shape[1] > LIMITS.n or place.problem.teachers > LIMITS.n:
        raise InputError(
            f"the certificate's point has {shape[0]} x {shape[1]} weights; at most {LIMITS.n} of both are shown"
        )
    source = "shipped" if asked.point == "shipped" else "file"
    python = {
        "shipped": "from earnshaw.proof.certificate import shipped_certificate\nwith shipped_certificate() as path:\n"
        "    place = place_of(es.Certificate.load(path))",
        "file": 'place = place_of(es.Certificate.load("FILE.json"))',
    }[source]
    words = "the minimum whose certificate is shipped" if source == "shipped" else "the point of a certificate"
    return Chosen(place, words, python)


def _text(asked: Point) -> str:
    """Return the text of the certificate that was asked for."""
    if asked.point == "shipped":
        from earnshaw.proof.certificate import shipped_certificate

        with shipped_certificate() as path:
            return path.read_text()
    if not asked.certificate:
        raise InputError("no certificate was given; choose a file that earnshaw prove wrote")
    return asked.certificate


@lru_cache(maxsize=16)
def _run(k: int, n: int, seed: int, index: int) -> Chosen:
    """Run gradient descent from one start."""
    from earnshaw.descent import Outcome
    from earnshaw.experiments.views import Place, traced_run
    from earnshaw.problems import TwoLayer, standard_teacher

    if n < k:
        raise InputError(f"n is {n} and k is {k}; this view shows runs with n >= k")
    problem = TwoLayer(standard_teacher(k), n)
    runs = traced_run(problem, seed, index)
    place = Place(problem, runs.weights[0])
    outcome = Outcome.from_code(int(runs.outcome[0]))
    words = f"run {index} of seed {seed}, k = {k}, n = {n}: after {runs.steps[0]} steps it {outcome.value}"
    python = f"run = traced_run(es.TwoLayer(es.standard_teacher({k}), {n}), seed={seed}, index={index})\n"
    return Chosen(place, words, f"{python}place = Place(run.problem, run.weights[0])", runs.trace)


def _slice(asked: Plane, chosen: Chosen) -> tuple[Slice, str]:
    """Return the slice, and the lines of Python that compute it."""
    from earnshaw.experiments.views import family_place, global_minimum_near, slice_of

    given: dict[str, Any] = {"resolution": asked.resolution}
    towards, python = None, ""
    if asked.plane == "teacher":
        towards, python = global_minimum_near(chosen.place), "global_minimum_near(place), "
    elif asked.plane == "family":
        k = chosen.place.problem.sizes["k"]
        family = _known(asked.second, k)
        towards, python = family_place(family, k).weights, f'family_place("{family}", {k}).weights, '
    elif asked.x >= 0 or asked.y >= 0:
        given["directions"] = tuple(
            place if place >= 0 else int(other == 0) for place, other in ((asked.x, asked.y), (asked.y, asked.x))
        )
    if asked.reach:
        given["reach"] = asked.reach
    found = slice_of(chosen.place, towards, run=chosen.run, **given)
    more = [f"{name}={value!r}" for name, value in given.items()] + ["run=run.trace"] * (chosen.run is not None)
    call = f"found = slice_of(place, {python}{', '.join(more)})"
    return found, _lines(chosen.python, call, "print(place.words, found.curvatures, found.values.min())")


def _lines(*python: str) -> str:
    """Return lines of Python with the imports that they need."""
    text = "\n".join(python)
    used = [name for name in VIEWS if re.search(rf"\b{name}\b", text)]
    front = ["import earnshaw as es"] * ("es." in text)
    return "\n".join([*front, f"from earnshaw.experiments.views import {', '.join(used)}", text])


def _command(asked: Plane, least: float) -> str | None:
    """Return the commands that draw the same, where there are some."""
    plainly = asked.plane == "eigenvectors" and max(asked.x, asked.y) < 0 and not asked.reach and asked.resolution == 61
    if asked.point != "family" or not plainly:
        return None
    kind = "blocks_saddle" if least < 0 else "blocks"
    prove = f"earnshaw prove --family {asked.family} -k {asked.k} --out certs"
    return f"{prove}\nearnshaw draw certs/{stem(asked.family, asked.k)}-{kind}.json"
