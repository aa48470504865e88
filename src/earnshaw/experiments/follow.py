"""Following minima along the straight path from one teacher to another: how far each goes, how it ends, what is proved."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from earnshaw.descent import Outcome, Units
from earnshaw.descent.newton.continuation import Course, Fate, Here, between
from earnshaw.descent.sliding import slide
from earnshaw.errors import InputError
from earnshaw.experiments.engine import run
from earnshaw.experiments.views import Place, place_of
from earnshaw.experiments.work import Context, Piece, Progress, Work, quiet
from earnshaw.landscapes import TwoLayerLandscape, landscape
from earnshaw.numerics import TOLERANCES
from earnshaw.problems import TwoLayer
from earnshaw.proof import Verdict, check, prove
from earnshaw.records import pack, unpack
from earnshaw.showing import Shown
from earnshaw.store import Arrays
from earnshaw.symmetry import align, copies, label

BEYOND = 1e-3  # of the path: so far behind the end of a trail it is looked where descent leads from there


@dataclass(frozen=True)
class Station:
    """A minimum at one place of the path, and what is proved of it.

    Attributes
    ----------
    t, weights, value, least : the place, the point (n, d), its loss and the smallest eigenvalue, in floating point.
    proved : whether a spurious minimum is proved there, and the checker has accepted it.
    lambda_ge, objective_ge : the proved bounds.
    reason : why nothing is proved.
    certificates : their texts, by kind.
    """

    t: float
    weights: np.ndarray
    value: float
    least: float
    proved: bool
    lambda_ge: float | None
    objective_ge: float | None
    reason: str | None
    certificates: dict[str, str]


@dataclass(frozen=True)
class Trail:
    """What became of one copy of a minimum.

    Attributes
    ----------
    source, family : which of the given minima it is, and what that is called by its symmetry.
    copy, copies : which of its copies, from 1, and how many are followed: they are the same at the beginning, up to a
        symmetry of the first teacher that the path does not have.
    t, value, least : (points,) along the trail, from 0 to where it ends.
    end : the point (n, d) there.
    fate : what happens there.
    beyond, beyond_value : how gradient descent ends that starts there just behind the end, and at which loss; None after
        an arrival.
    stations : the minima at equal distances of t, and at the end of the path, with proofs.
    """

    source: int
    family: str | None
    copy: int
    copies: int
    t: np.ndarray
    value: np.ndarray
    least: np.ndarray
    end: np.ndarray
    fate: Fate
    beyond: str | None
    beyond_value: float | None
    stations: tuple[Station, ...]

    @property
    def name(self) -> str:
        """What it is called in tables and figures."""
        called = self.family or f"minimum {self.source + 1}"
        return called if self.copies == 1 else f"{called}, copy {self.copy} of {self.copies}"

    @property
    def proved(self) -> int:
        """At how many stations it is proved."""
        return sum(station.proved for station in self.stations)

    @property
    def words(self) -> str:
        """Its fate, in a sentence."""
        end, stations = (
            f"{self.t[-1]:.10g}" if len(self.t) else "0",
            f"proved at {self.proved} of {len(self.stations)} stations",
        )
        if self.fate is Fate.NONE:
            return f"{self.name}: {self.fate.value}"
        if self.fate is Fate.ARRIVES:
            numbers = f"F = {self.value[-1]:.8f}, smallest eigenvalue {self.least[-1]:.6f}"
            return f"{self.name}: arrives with {numbers}; {stations}"
        after = _AFTER.get(self.beyond or "", "")
        after = after.format(self.beyond_value) if after else f"descent from there is {self.beyond}"
        return f"{self.name}: ends at t = {end}, F = {self.value[-1]:.8f}, where {self.fate.value}; {after}; {stations}"


_AFTER = {
    "GLOBAL": "descent from there finds the global minimum",
    "SPURIOUS": "descent from there ends at another spurious minimum, F = {:.8f}",
}


@dataclass(frozen=True, repr=False)
class Followed(Shown):
    """All trails of one path of teachers."""

    first: np.ndarray  #: the teacher (k, d) at t = 0
    last: np.ndarray  #: at t = 1
    trails: tuple[Trail, ...]

    def _line(self) -> str:
        fates = Counter(trail.fate.name for trail in self.trails)
        return f"{len(self.trails)} trails: {', '.join(f'{count} {name}' for name, count in fates.items())}"

    def _facts(self) -> Mapping[str, object]:
        return {trail.name: trail.words.partition(": ")[2] for trail in self.trails}

    @property
    def arrivals(self) -> list[list[Trail]]:
        """The trails that arrive, together where they are one point under the symmetries of the last teacher."""
        found: list[list[Trail]] = []
        for trail in self.trails:
            if trail.fate is Fate.ARRIVES:
                symmetry = TwoLayer(self.last, students=len(trail.end)).symmetry
                same = (g for g in found if align(symmetry, g[0].end, trail.end, TOLERANCES.family) is not None)
                group = next(same, None)
                if group is None:
                    found.append([trail])
                else:
                    group.append(trail)
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the record: a line for each trail, without weights and certificates."""
        return {"k": len(self.first), "d": self.first.shape[1], "trails": [_row(trail) for trail in self.trails]}

    def files(self) -> dict[str, bytes]:
        """Return every certificate by its path in a folder."""
        found, (k, _) = {}, self.first.shape
        for trail in self.trails:
            for place, station in enumerate(trail.stations):
                stem = f"certificates/k{k}-n{len(trail.end)}-trail{trail.source:03d}-copy{trail.copy:03d}-station{place:03d}"
                found |= {f"{stem}-{kind}.json": text.encode("ascii") for kind, text in station.certificates.items()}
        return found


def _row(trail: Trail) -> dict[str, Any]:
    some = ("source", "family", "copy", "copies", "beyond", "beyond_value")
    at = ("t", "value", "least", "proved", "lambda_ge", "objective_ge", "reason")
    ends = {name: float(getattr(trail, name)[-1]) if len(trail.t) else None for name in ("t", "value", "least")}
    stations = [{name: getattr(station, name) for name in at} for station in trail.stations]
    row = {name: getattr(trail, name) for name in some}
    return row | ends | {"fate": trail.fate.name, "sentence": trail.words, "stations": stations}


@dataclass(frozen=True, eq=False)
class Following(Work):
    """Minima of one problem, to be followed to another teacher: one piece, whose stages are the trails."""

    kind: ClassVar[str] = "follow"
    result: ClassVar[type] = Followed

    problem: TwoLayer
    sources: np.ndarray  #: (count, n, d)
    teacher: np.ndarray  #: (k, d), at the end
    steps: int  #: stations divide the path into so many
    most: int  #: of the copies of a minimum, so many are followed

    def __post_init__(self) -> None:
        """Refuse a path that leads nowhere."""
        problem = self.problem
        if not isinstance(problem, TwoLayer) or landscape(problem).gauge:
            raise InputError(
                "only minima of networks with two layers and fixed output weights are followed; give those of such a problem"
            )
        sources = np.asarray(self.sources, dtype=np.float64).reshape(-1, *problem.shape)
        last = dataclasses.replace(problem, teacher=self.teacher)
        if last.teacher.shape != problem.teacher.shape:
            raise InputError(
                f"the teacher at the end has shape {last.teacher.shape}; the path begins at one of shape "
                f"{problem.teacher.shape}: give as many neurons and dimensions"
            )
        if np.array_equal(last.teacher, problem.teacher):
            raise InputError("the teacher at the end is the one that the path begins at; give another")
        if not (len(sources) and np.isfinite(sources).all()):
            raise InputError("there is no minimum to follow, or one with NaN; give points of finite numbers")
        if self.steps < 1 or self.most < 1:
            raise InputError(f"{self.steps} steps and {self.most} copies were asked for; use 1 or more of both")
        nearest, where = _nearest_to_zero(problem.teacher, last.teacher)
        row = int(np.argmin(nearest))
        if nearest[row] < TOLERANCES.dead_neuron * np.linalg.norm(problem.teacher[row]):
            raise InputError(
                f"on the straight path the teacher's neuron {row + 1} is 0 at t = {where[row]:.4g}, where the loss has a kink; "
                "go in two paths, around it"
            )
        object.__setattr__(self, "sources", sources)
        object.__setattr__(self, "teacher", last.teacher)

    @classmethod
    def beside(cls, arrays: Arrays) -> dict[str, bytes]:
        """Return the certificates."""
        return unpack(Followed, arrays).files()

    def at(self, t: float) -> TwoLayer:
        """Return the problem at t."""
        return dataclasses.replace(self.problem, teacher=(1 - t) * self.problem.teacher + t * self.teacher)

    def course(self) -> Course:
        """Return the path of landscapes: with one potential for both ends, where it depends on the lengths of neurons."""
        first, last = (TwoLayerLandscape.of(problem) for problem in (self.problem, self.at(1.0)))
        longer = max((first, last), key=lambda end: float(np.linalg.norm(end.teacher, axis=-1).max()))
        ends = (replace(longer, teacher=end.teacher, coordinates=False) for end in (first, last))
        return Course(*ends)

    def compute(self, piece: Piece, context: Context) -> Arrays:
        """Follow every copy of every minimum; each is a stage that the context keeps."""
        course, symmetry = self.course(), self.problem.symmetry
        all_copies = [copies(symmetry, point, self.teacher, self.most) for point in self.sources]
        jobs = [(source, copy) for source, some in enumerate(all_copies) for copy in range(len(some))]
        trails: list[Trail] = []
        for stage, (source, copy) in enumerate(jobs):
            if context.cancelled():
                raise InterruptedError("the following was cancelled")

            def say(t: float, stage: int = stage) -> None:
                context.progress((stage + t) / len(jobs), f"trail {stage + 1} of {len(jobs)}: t = {t:.3f}")

            some = all_copies[source]
            trails.append(
                unpack(Trail, context.keep(stage, lambda: pack(self._trail(course, source, copy, some, say))))  # noqa: B023
            )
        return pack(Followed(self.problem.teacher, self.teacher, tuple(trails)))

    def _trail(self, course: Course, source: int, copy: int, some: Sequence[np.ndarray], say: Any) -> Trail:
        """Follow one copy to its end, and prove the stations."""
        before: Here | None = None
        seen: list[tuple[float, float, float]] = []
        stations: list[Station] = []
        fate, end = Fate.NONE, some[copy]
        shortest = 1e3 * TOLERANCES.dead_neuron * Units.of(self.problem).gradient
        for here, fated in course.walk(some[copy], shortest):
            say(min(here.t, 1.0))
            while len(stations) <= self.steps and (t := len(stations) / self.steps) <= here.t:
                at = here if before is None or t == here.t else course.settle(between(before, here, t), t)
                if at is None or (fated not in (None, Fate.ARRIVES) and at.least <= 0):
                    break
                stations.append(self._station(at, t))
            if fated is not Fate.LOST:
                seen.append((here.t, here.value, here.least))
            before, fate, end = here, fated or Fate.LOST, here.point
        t, value, least = np.array(seen).reshape(-1, 3).T
        over = fate in (Fate.ARRIVES, Fate.NONE)
        slid = None if over else self._beyond(end, float(t[-1]))
        return Trail(
            source=source,
            family=label(self.problem, self.sources[source]),
            copy=copy + 1,
            copies=len(some),
            t=t,
            value=value,
            least=least,
            end=end,
            fate=fate,
            beyond=None if slid is None else slid[0].name,
            beyond_value=None if slid is None else slid[1],
            stations=tuple(stations),
        )

    def _beyond(self, end: np.ndarray, t: float) -> tuple[Outcome, float]:
        problem = self.at(min(1.0, t + BEYOND))
        slid = slide(landscape(problem), end, Units.of(problem))
        return slid.outcome, slid.value

    def _station(self, here: Here, t: float) -> Station:
        """Prove a minimum at t, and let the checker look at it."""
        problem, known = self.at(t), {"t": t, "weights": here.point, "value": here.value, "least": here.least}
        if problem.unprovable is not None:
            bare = {"proved": False, "lambda_ge": None, "objective_ge": None, "certificates": {}}
            return Station(**known, **bare, reason=problem.unprovable)
        proof = prove(problem, here.point, basin=False, robust=False)
        minimum = proof.verdict is Verdict.PROVED_MINIMUM
        rejected = [found.reason for c in proof.certificates.values() if not (found := check(c)).verified]
        return Station(
            **known,
            proved=minimum and not rejected,
            lambda_ge=getattr(proof.claim, "lambda_min_ge", None),
            objective_ge=getattr(proof.claim, "objective_ge", None),
            reason=rejected[0] if rejected else None if minimum else proof.reason,
            certificates={kind: certificate.to_text() for kind, certificate in proof.certificates.items()},
        )


def _nearest_to_zero(first: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return how short each row (k,) becomes on the straight path, and at which t."""
    move = last - first
    t = np.clip(-np.sum(first * move, axis=1) / np.maximum(np.sum(move**2, axis=1), 1e-300), 0, 1)
    return np.linalg.norm(first + t[:, None] * move, axis=1), t


def follow(
    minima: Any,
    teacher: ArrayLike,
    *,
    steps: int = 5,
    copies: int = 64,
    out: str | Path | None = None,
    progress: Progress | bool = quiet,
) -> Followed:
    r"""Follow minima along the straight path :math:`(1 - t) V + t V'` from their own teacher V to another, V'.

    A strict minimum is a curve over t, followed by its tangent and Newton's method on the exact gradient and Hessian. It is a
    function of t as long as its smallest eigenvalue is positive. Where that goes through 0 it ends, in a *fold* or in a
    *crossing* (:class:`earnshaw.descent.newton.continuation.Fate`), at a t that is right to about ten digits. The trails are
    computed; stations are proved.

    Parameters
    ----------
    minima : a family, a proof or a certificate, or several, of one two-layer network with fixed output weights.
    teacher : (k, d), V', of the shape of V.
    steps : the path is divided into so many; at each of the ``steps + 1`` stations the minimum is proved, where proofs exist.
    copies : how many copies of a minimum, which a symmetry of the first teacher exchanges, are followed at most.
    out : a folder that keeps every trail as it is finished; the same call goes on from there.
    """
    several = [place_of(one) for one in ([minima] if not isinstance(minima, Iterable) else minima)]
    work = following(several, teacher, steps=steps, copies=copies)
    return unpack(Followed, run(work, out, 1, progress)[Following.kind].arrays)


def following(places: Sequence[Place], teacher: ArrayLike, *, steps: int = 5, copies: int = 64) -> Following:
    """Return the work of :func:`follow` for points of one problem."""
    if not places:
        raise InputError("there is no minimum to follow; give at least one")
    problem = places[0].problem
    if any(place.problem != problem for place in places):
        raise InputError("minima of several problems were given; follow those of one teacher and one n at a time")
    if not isinstance(problem, TwoLayer):
        raise InputError(
            f"a minimum of a {problem.network} network was given; only those of two-layer ones are followed"
        )
    return Following(problem, np.stack([place.weights for place in places]), np.asarray(teacher), steps, copies)
