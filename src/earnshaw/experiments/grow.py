"""Growing: from spurious minima with n neurons to ones with more, rung by rung, and what becomes of every candidate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from earnshaw.descent import Outcome, Units
from earnshaw.descent.sliding import slide
from earnshaw.errors import InputError, is_whole
from earnshaw.experiments.engine import run
from earnshaw.experiments.work import Context, Piece, Progress, Work, quiet
from earnshaw.landscapes import landscape
from earnshaw.landscapes.growing import mirrored, parted
from earnshaw.numerics import TOLERANCES
from earnshaw.problems import TwoLayer
from earnshaw.proof import Proof, Splitting, prove, splitting
from earnshaw.proof.splitting import split_block
from earnshaw.records import decode, fields_of, pack, unpack
from earnshaw.store import Arrays
from earnshaw.symmetry import align, label

SHARES, SIZE, MIRROR = (
    (0.5, 0.2, 0.8),
    0.2,
    0.3,
)  # of the part split off, of the step that parts them, of a mirror image
WHOLE_SHARES, SPLIT_TOGETHER = (0.1, 0.3, 0.9), 3  # more neurons than this are mirrored together, and not split
DIRECTIONS = 2  # of a neuron's negative directions so many are tried
WHOLE = 2  # from the minima of the first so many rungs any number of neurons of a kind is changed at once


@dataclass(frozen=True)
class Grown:
    """A minimum of a ladder.

    Attributes
    ----------
    weights, value, least : the point (n, d), its loss, and the Hessian's smallest eigenvalue there, in floating point.
    family : what it is called by its symmetry.
    move, parent : how it was made, and from what: the rung's number of neurons and the place on it; -1 for a start.
    verdict : of the proof; ``lambda_ge`` and ``objective_ge`` are its numbers.
    stable : whether it is proved that every larger n has a spurious minimum, too.
    certificates : the texts of its certificates, by kind.
    """

    weights: np.ndarray
    value: float
    least: float
    family: str | None
    move: str
    parent: tuple[int, ...]
    verdict: str
    lambda_ge: float | None
    objective_ge: float | None
    stable: bool
    certificates: dict[str, str]

    @property
    def proved(self) -> bool:
        """Whether it is proved to be a spurious minimum."""
        return self.verdict == "PROVED_MINIMUM"


@dataclass(frozen=True)
class Rung:
    """What was found with one number of neurons: the minima kept, the most stable first, and the fates of all candidates."""

    neurons: int
    minima: tuple[Grown, ...]
    fates: dict[
        str, int
    ]  #: outcomes of the slides; KNOWN is a minimum found already, CROWDED one that the beam left out

    @property
    def tried(self) -> int:
        """How many candidates there were."""
        return sum(self.fates.values())


@dataclass(frozen=True)
class Ladder:
    """All rungs, from the start upwards."""

    teacher: np.ndarray
    rungs: tuple[Rung, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the record: a line for each rung and minimum, without weights and certificates."""
        names = ("value", "least", "family", "move", "parent", "verdict", "lambda_ge", "objective_ge", "stable")
        return {
            "k": len(self.teacher),
            "d": self.teacher.shape[1],
            "rungs": [
                {
                    "n": rung.neurons,
                    "tried": rung.tried,
                    "fates": rung.fates,
                    "proved": sum(minimum.proved for minimum in rung.minima),
                    "minima": [{name: getattr(minimum, name) for name in names} for minimum in rung.minima],
                }
                for rung in self.rungs
            ],
        }

    @property
    def highest(self) -> int | None:
        """The largest n with a proved minimum."""
        return max((rung.neurons for rung in self.rungs if any(m.proved for m in rung.minima)), default=None)

    def files(self) -> dict[str, bytes]:
        """Return every certificate by its path in a folder."""
        found, (k, _) = {}, self.teacher.shape
        for rung in self.rungs:
            for place, minimum in enumerate(rung.minima):
                stem = f"certificates/k{k}-n{rung.neurons}-minimum{place:03d}"
                found |= {f"{stem}-{kind}.json": text.encode("ascii") for kind, text in minimum.certificates.items()}
        return found


class Candidate(NamedTuple):
    """A start of a slide, how it was made, and from what."""

    weights: np.ndarray
    move: str
    parent: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Growing(Work):
    """A ladder from some minima of one problem: one piece, whose stages are the rungs.

    How many neurons are added is the number of runs of its one setting: a ladder can be made longer.
    """

    kind: ClassVar[str] = "growth"
    result: ClassVar[type] = Ladder

    problem: TwoLayer
    sources: np.ndarray  #: (count, n, d); with none, the ladder begins at the teacher's rows flipped
    neurons: int  #: how many to add at most
    beam: int  #: how many minima of a rung go on

    def __post_init__(self) -> None:
        """Refuse what cannot grow."""
        problem = self.problem
        if not isinstance(problem, TwoLayer) or problem.unprovable is not None or not problem.is_realisable:
            raise InputError("only minima of ReLU networks with n >= k and output weights 1 grow; give such a problem")
        sources = np.asarray(self.sources, dtype=np.float64).reshape(-1, *problem.shape)
        if not np.isfinite(sources).all():
            raise InputError("a source holds NaN or infinite weights; give finite numbers")
        if not (is_whole(self.neurons, 1) and is_whole(self.beam, 1)):
            raise InputError(
                f"{self.neurons!r} more neurons and a beam of {self.beam!r} were asked for; use whole numbers from 1"
            )
        for name, value in (("sources", sources), ("neurons", int(self.neurons)), ("beam", int(self.beam))):
            object.__setattr__(self, name, value)

    @property
    def common(self) -> dict[str, Any]:
        """Everything but how long the ladder is to be."""
        return {name: value for name, value in fields_of(self).items() if name != "neurons"}

    @property
    def parts(self) -> dict[str, dict[str, Any]]:
        """The one setting, with the neurons to be added as runs."""
        return {self.kind: {"identity": {}, "runs": self.neurons, "plan": {}}}

    @classmethod
    def from_json(cls, common: Mapping[str, Any], parts: Mapping[str, Any], functions: bool = False) -> Self:
        """Rebuild the work from its manifest."""
        return decode(cls, common, neurons=parts[cls.kind]["runs"])

    def stages(self, files: Mapping[str, Arrays]) -> list[Arrays]:
        """Return the rungs of a shorter ladder."""
        return [pack(rung) for rung in unpack(Ladder, files[""]).rungs]

    @classmethod
    def beside(cls, arrays: Arrays) -> dict[str, bytes]:
        """Return the certificates."""
        return unpack(Ladder, arrays).files()

    def compute(self, piece: Piece, context: Context) -> Arrays:
        """Climb; each rung is a stage that the context keeps. Two rungs without a minimum end it."""
        rungs: list[Rung] = []
        for stage in range(self.neurons + 1):
            if stage and not any(rung.minima for rung in rungs[-2:]):
                break
            rungs.append(unpack(Rung, context.keep(stage, lambda: pack(self._rung(rungs, context)))))
            context.progress((stage + 1) / (self.neurons + 1), f"n = {rungs[-1].neurons}")
        return pack(Ladder(self.problem.teacher, tuple(rungs)))

    def _rung(self, before: Sequence[Rung], context: Context) -> Rung:
        """Try all candidates of the next rung, keep the most stable minima, and prove them."""
        problem = self.problem.with_students(self.problem.students + len(before))
        ground, units, symmetry = landscape(problem), Units.of(problem), problem.symmetry
        fates: Counter[str] = Counter()
        found: list[tuple[float, float, Candidate]] = []
        candidates = list(self._candidates(before))
        for index, candidate in enumerate(candidates):
            if context.cancelled():
                raise InterruptedError("the growth was cancelled")
            end = slide(ground, candidate.weights, units)
            fate = end.outcome.name
            if end.outcome is Outcome.SPURIOUS:
                close = (other.weights for _, value, other in found if abs(value - end.value) < TOLERANCES.family)
                if any(align(symmetry, end.point, other, TOLERANCES.family) is not None for other in close):
                    fate = "KNOWN"
                else:
                    found.append((end.least, end.value, candidate._replace(weights=end.point)))
            fates[fate] += 1
            done = (len(before) + (index + 1) / len(candidates)) / (self.neurons + 1)
            context.progress(done, f"n = {problem.students}: {len(found)} minima of {index + 1} candidates")
        found.sort(key=lambda entry: -entry[0])
        if before and len(found) > self.beam:
            fates["CROWDED"] = len(found) - self.beam
            fates[Outcome.SPURIOUS.name] -= fates["CROWDED"]
            found = found[: self.beam]
        return Rung(problem.students, tuple(_grown(problem, *entry) for entry in found), dict(sorted(fates.items())))

    def _candidates(self, rungs: Sequence[Rung]) -> Iterator[Candidate]:
        """Yield the starts of the next rung."""
        if not rungs:
            yield from self._starts()
            return
        for stage, rung in enumerate(rungs):
            more = len(rungs) - stage
            for place, minimum in enumerate(rung.minima):
                kinds = splitting(self.problem.with_students(rung.neurons), minimum.weights)
                moves = [single(minimum.weights, self.problem.teacher, kinds)] if more == 1 else []
                moves += [double(minimum.weights, self.problem.teacher, kinds)] if more == 2 else []
                moves += (
                    [whole(minimum.weights, self.problem.teacher, kinds, more)] if more > 1 and stage < WHOLE else []
                )
                for some in moves:
                    for move, weights in some:
                        yield Candidate(weights, move, (rung.neurons, place))

    def _starts(self) -> Iterator[Candidate]:
        """Yield the sources, each with one neuron of a kind flipped, and for n = k the teacher with rows flipped."""
        for index, weights in enumerate(self.sources):
            yield Candidate(weights, f"source {index}", ())
            for row in splitting(self.problem, weights):
                yield Candidate(mirrored(weights, row.neurons[:1], 1.0), f"source {index}, flip {row.neurons[0]}", ())
        teacher = self.problem.teacher
        if len(teacher) == self.problem.students:
            for count in range(1, len(teacher) + 1):
                yield Candidate(mirrored(teacher, range(count), 1.0), f"flip {count}", ())
            for row in range(1, 0 if self.problem.is_orthonormal else len(teacher)):
                yield Candidate(mirrored(teacher, [row], 1.0), f"flip row {row}", ())


Moves = Iterator[tuple[str, np.ndarray]]


def single(weights: np.ndarray, teacher: np.ndarray, kinds: Sequence[Splitting]) -> Moves:
    """Yield one neuron more: each kind split along its negative directions, and mirrored."""
    for row in kinds:
        neuron = row.neurons[0]
        for place, direction in enumerate(_ways(weights, teacher, neuron)[:DIRECTIONS]):
            for share in SHARES:
                name = f"split {neuron} ({share}, direction {place})"
                yield name, parted(weights, [neuron], direction[None], share, SIZE)
        yield f"mirror {neuron}", mirrored(weights, [neuron], MIRROR)


def double(weights: np.ndarray, teacher: np.ndarray, kinds: Sequence[Splitting]) -> Moves:
    """Yield two neurons more, of different kinds: split both, mirror both, or one of each."""
    for first, one in enumerate(kinds):
        for other in kinds[first + 1 :]:
            a, b = one.neurons[0], other.neurons[0]
            yield f"mirror {a}, {b}", mirrored(weights, [a, b], MIRROR)
            ways = {neuron: _ways(weights, teacher, neuron)[:1] for neuron in (a, b)}
            if len(ways[a]) and len(ways[b]):
                yield f"split {a}, {b}", parted(weights, [a, b], np.concatenate([ways[a], ways[b]]), 0.3, SIZE)
            for split, mirror in ((a, b), (b, a)):
                if len(ways[split]):
                    made = mirrored(parted(weights, [split], ways[split], 0.3, SIZE), [mirror], MIRROR)
                    yield f"split {split}, mirror {mirror}", made


def whole(weights: np.ndarray, teacher: np.ndarray, kinds: Sequence[Splitting], more: int) -> Moves:
    """Yield ``more`` neurons more, all of one kind: mirror them all, or split them all if they are few."""
    for row in kinds:
        some = row.neurons[:more]
        if len(some) < more:
            continue
        yield f"mirror {more} like {some[0]}", mirrored(weights, some, MIRROR)
        ways = [_ways(weights, teacher, neuron)[:1] for neuron in some]
        for share in WHOLE_SHARES if more <= SPLIT_TOGETHER and all(len(way) for way in ways) else ():
            name = f"split {more} like {some[0]} ({share})"
            yield name, parted(weights, some, np.concatenate(ways), share, SIZE)


def _ways(weights: np.ndarray, teacher: np.ndarray, neuron: int) -> np.ndarray:
    """Return the directions (count, d) in which splitting a neuron opens a way down, the steepest first."""
    values, vectors = np.linalg.eigh(split_block(weights, teacher, neuron)[0])
    chosen = vectors[:, values < -TOLERANCES.strict].T
    largest = np.take_along_axis(chosen, np.argmax(np.abs(chosen), axis=1)[:, None], axis=1)
    return chosen * np.sign(largest)


def _grown(problem: TwoLayer, least: float, value: float, candidate: Candidate) -> Grown:
    """Prove a minimum and name it."""
    proof: Proof = prove(problem, candidate.weights, basin=False, robust=False, every_n=True)
    point = candidate.weights if proof.point is None else proof.point.weights
    return Grown(
        weights=point,
        value=value,
        least=least,
        family=label(problem, point),
        move=candidate.move,
        parent=candidate.parent,
        verdict=proof.verdict.name,
        lambda_ge=getattr(proof.claim, "lambda_min_ge", None),
        objective_ge=getattr(proof.claim, "objective_ge", None),
        stable="every_n" in proof.certificates,
        certificates={kind: certificate.to_text() for kind, certificate in proof.certificates.items()},
    )


def grow(
    problem: TwoLayer,
    sources: ArrayLike | None = None,
    *,
    neurons: int = 3,
    beam: int = 8,
    out: str | Path | None = None,
    progress: Progress | bool = quiet,
    time_limit: float | None = None,
) -> Ladder:
    """Look for spurious minima with up to so many more neurons, and prove them.

    Parameters
    ----------
    problem : a ReLU network with output weights 1 and n >= k.
    sources : minima (n, d), or several (count, n, d), to begin from; with none, and n = k, the teacher's rows flipped.
    neurons, beam : how many neurons to add, one a rung; how many minima of a rung, the most stable, go on.
    out : a folder that keeps every rung as it is finished; the same call goes on from there, and so does one with more neurons.
    time_limit : seconds after which :class:`~earnshaw.experiments.Interrupted` is raised.

    From the minima of a rung come candidates for the next: a neuron of each kind *split* along the directions in which that
    opens a way down, in several shares; *mirrored* (w becomes (1 - t) w and -t w); two kinds at once; any number of one kind.
    Each slides down, from saddles it goes on, and what ends at a minimum that is not global and not there yet is kept.
    """
    given = np.zeros((0, *problem.shape)) if sources is None else np.asarray(sources, dtype=np.float64)
    if given.shape[-2:] != problem.shape:
        raise InputError(
            f"the sources have shape {given.shape}; this problem needs (..., {problem.students}, {problem.dimension})"
        )
    return unpack(
        Ladder, run(Growing(problem, given, neurons, beam), out, 1, progress, time_limit=time_limit)["growth"].arrays
    )
