"""Work: what is to be computed, as plain data that goes through JSON and back, cut into pieces.

Everything that takes long is work: sweeps of every network, the arena, deep students, charges in motion, measurements on
data sets. A worker needs nothing but the manifest of a folder (:func:`work_of`).
"""

from __future__ import annotations

import hashlib
import math
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from earnshaw.errors import DamageWarning, InputError
from earnshaw.numerics import compilations
from earnshaw.records import decode, fields_of, unpack
from earnshaw.store import Arrays, RunFolder, digest, read_json, read_manifest, write_bytes

Span = tuple[float, float]
Progress = Callable[[float, str], None]  # (share of the work done, what was finished)
Ended = Callable[[np.ndarray, np.ndarray], None]  # (losses at the ends of runs, codes of their outcomes)
KINDS: dict[str, type[Work]] = {}
RECORD = "record.json"


class Milestone(str):
    """What was finished, where that is worth a line of its own: a whole setting."""

    __slots__ = ()


def quiet(share: float, what: str) -> None:
    """Report progress to nobody."""


def unheard(values: np.ndarray, outcomes: np.ndarray) -> None:
    """Tell nobody how runs ended."""


@dataclass(frozen=True)
class Piece:
    """Some lanes of one setting, to be computed together; ``weight`` says how much of the work that is."""

    setting: str
    low: int
    high: int
    weight: float = 1.0


@dataclass(frozen=True)
class Context:
    """What the computation of a piece may ask for."""

    cancelled: Callable[[], bool] = lambda: False  #: whether to stop
    progress: Progress = quiet  #: who hears of the progress
    #: ``keep(stage, compute)`` returns the arrays of a stage of the piece, from the folder if they are there already
    keep: Callable[[int, Callable[[], Arrays]], Arrays] = lambda stage, compute: compute()
    #: who hears how many of its runs have ended so far, and how
    counted: Callable[[Mapping[str, int]], None] = lambda counts: None
    #: who hears at which losses those that ended since the last time did so, and the codes of their outcomes
    ended: Ended = unheard
    #: what :meth:`Work.begin` has made of the piece; None: nothing
    begun: Arrays | None = None


@dataclass(frozen=True)
class Timed:
    """A computed piece, when it was computed, and when that was compilation, by the clock that all processes have."""

    arrays: Arrays
    span: Span
    compiling: list[Span]


@dataclass(frozen=True)
class Standing:
    """How far work has come: what is there of its settings, pieces and runs, and what became of those runs."""

    settings: int
    of_settings: int
    pieces: int
    of_pieces: int
    runs: int
    of_runs: int
    outcomes: Mapping[str, int]

    def __str__(self) -> str:
        """Say it in a line."""
        ended = ", ".join(f"{count} {name}" for name, count in self.outcomes.items())
        counts = f"{self.settings} of {self.of_settings} settings, {self.pieces} of {self.of_pieces} pieces"
        return f"{counts}, {self.runs} of {self.of_runs} runs{f' ({ended})' if ended else ''}"


@dataclass(frozen=True)
class Finished:
    """A setting's results: the record (``NAME.json``) and the arrays of its files (``NAME.npz``, ``NAME-trace.npz``)."""

    record: dict[str, Any]
    files: Mapping[str, Arrays]


@dataclass(frozen=True)
class Done:
    """A finished setting: its results, and the wall time in which some worker computed it, or compiled for it."""

    name: str
    record: dict[str, Any] = field(repr=False, compare=False)
    #: arrays, by part, where nothing was written, and the beginning of the files' paths otherwise
    files: Mapping[str, Arrays] | Path = field(repr=False, compare=False)
    seconds: float
    compile_seconds: float

    def part(self, part: str) -> Arrays:
        """Return the arrays of a part of the result (``-trace``)."""
        if isinstance(self.files, Path):
            return RunFolder.open(self.files.parent).read(self.name, 0, self.record["runs"], part)
        return self.files[part]

    @cached_property
    def arrays(self) -> Arrays:
        """All arrays of the result."""
        return self.part("")


class Work:
    """What is to be computed. Subclasses are frozen dataclasses that name their kind.

    As it stands here, work is one setting of the name of its kind, computed in one piece, and its result is a dataclass
    with a ``to_json`` for people, which a file keeps as arrays (:func:`earnshaw.records.pack`). Work of several settings
    has them, and each its name, in a field ``settings``.
    """

    kind: ClassVar[str]
    result: ClassVar[type]
    settings: tuple[Any, ...]

    def __init_subclass__(cls, **more: Any) -> None:
        """Enter the class into the registry of readers."""
        super().__init_subclass__(**more)
        KINDS[cls.kind] = cls

    @property
    def common(self) -> dict[str, Any]:
        """What determines the results of all settings, as JSON."""
        return {name: value for name, value in fields_of(self).items() if name != "settings"}

    @cached_property
    def by_name(self) -> dict[str, Any]:
        """The settings by their names."""
        return {setting.name: setting for setting in self.settings}

    @property
    def parts(self) -> dict[str, dict[str, Any]]:
        """For each setting, by name: its ``identity``, its number of ``runs``, and the ``plan`` that cuts it into pieces."""
        return {self.kind: {"identity": {}, "runs": 1, "plan": {}}}

    @classmethod
    def from_json(cls, common: Mapping[str, Any], parts: Mapping[str, Any], functions: bool = False) -> Self:
        """Rebuild the work from these two; ``functions``: may a user's code be loaded?"""
        return decode(cls, common)

    def resumable(self, parts: Mapping[str, Any]) -> None:
        """Raise :class:`InputError` where the settings in a folder are computed by other means than were asked for."""

    def resumed(self, common: Mapping[str, Any], parts: Mapping[str, Any], mixed: bool) -> Self:
        """Return the work as the folder that holds a part of it has it; ``mixed``: what is left may be computed by other means."""
        return self.from_json(common, parts, functions=True)

    @property
    def portable(self) -> bool:
        """Whether processes of this computer, who know this library alone, can rebuild it, and threads would wait for each other."""
        return False

    def tool(self, name: str) -> str:
        """Return with what a setting is computed, where there is a choice."""
        return ""

    @property
    def hash(self) -> str:
        """A hash of everything that determines the results, up to the last bits."""
        parts = {name: [part["identity"], part["runs"]] for name, part in self.parts.items()}
        return digest([self.kind, self.common, parts])

    def pieces(self, name: str) -> list[Piece]:
        """Return the pieces of a setting; a piece depends on nothing outside it."""
        return [Piece(name, 0, self.parts[name]["runs"])]

    def compute(self, piece: Piece, context: Context) -> Arrays:
        """Return the arrays of a piece: a function of the work and the piece alone, whether it was begun before or not."""
        raise NotImplementedError

    def groups(self, pieces: Sequence[Piece]) -> list[list[Piece]]:
        """Return groups of those pieces that a device begins together, before workers compute them; here, none."""
        return []

    def begin(self, contexts: Mapping[Piece, Context]) -> Iterator[tuple[Piece, Arrays, float]]:
        """Begin a group of pieces; yield each when that is done, in any order, as :attr:`Context.begun` has it, with the weight of what is left."""
        raise NotImplementedError

    def rehearse(self, name: str, context: Context) -> None:
        """Compute a little of a setting, of which a device begins the pieces, and forget it: what that needs is compiled then."""

    def finish(self, name: str, pieces: list[Arrays]) -> Finished:
        """Return a setting's results from those of its pieces, with the SHA-256 of each certificate beside them in the record."""
        files = self.beside(pieces[0])
        seals = {file: hashlib.sha256(content).hexdigest() for file, content in files.items() if file.endswith(".json")}
        record = unpack(self.result, pieces[0]).to_json()
        return Finished(record | ({"certificates": seals} if files else {}), {"": pieces[0]})

    def told(self, name: str, record: Mapping[str, Any]) -> str:
        """Say in a line that a setting is finished, from its record."""
        return f"{name}: done"

    def results(self, name: str) -> tuple[str, ...]:
        """Return which result files a setting has: by part, as :meth:`finish` returns them."""
        return ("",)

    def cut(self, files: Mapping[str, Arrays], piece: Piece) -> Arrays:
        """Return a piece's arrays out of finished results that hold its lanes."""
        if (piece.low, piece.high) == (0, self.parts[piece.setting]["runs"]):
            return dict(files[""])
        return {name: array[piece.low : piece.high] for name, array in files[""].items()}

    def tally(self, arrays: Arrays) -> dict[str, int]:
        """Return what became of the lanes of a piece, counted by name, where that can be said of them."""
        return {}

    def stages(self, files: Mapping[str, Arrays]) -> list[Arrays]:
        """Return the first stages of a setting's only piece out of results with fewer runs, for :attr:`Context.keep`."""
        return []

    @classmethod
    def beside(cls, arrays: Arrays) -> dict[str, bytes]:
        """Return the files that the engine puts beside a setting's results, made from them alone, by their paths in the folder."""
        return {}

    @classmethod
    def load(cls, folder: Path, functions: bool = False) -> Any:
        """Return what a finished folder of this kind holds, as the function that computed it returned it."""
        (done,) = finished(folder) or [None]
        if done is None:
            raise InputError(f"{folder} is not finished yet; run the same command again to go on")
        return unpack(cls.result, done.arrays)


def timing() -> Callable[[Arrays], Timed]:
    """Look at the clock; return what looks again, in the same thread, when a piece is computed."""
    begin, before = time.perf_counter(), len(compilations())

    def stop(arrays: Arrays) -> Timed:
        spans = [(begin, time.perf_counter()), *compilations()[before:]]
        shift = time.time() - time.perf_counter()  # that clock means nothing elsewhere
        whole, *compiling = [(begin + shift, end + shift) for begin, end in spans]
        return Timed(arrays, whole, compiling)

    return stop


def timed(work: Work, piece: Piece, context: Context) -> Timed:
    """Compute a piece, with a look at the clock."""
    stop = timing()
    return stop(work.compute(piece, context))


def put_results(folder: RunFolder, work: Work, name: str, files: Mapping[str, Arrays]) -> None:
    """Write a setting's results, all but the record, and what stands beside them."""
    for part, arrays in files.items():
        folder.put(name, 0, work.parts[name]["runs"], arrays, part)
    put_beside(folder, work, files)


def put_beside(folder: RunFolder, work: Work, files: Mapping[str, Arrays]) -> None:
    """Write what stands beside a setting's results and is missing or another."""
    for file, content in work.beside(files[""]).items() if "" in files else ():
        path = folder.path / file
        if not path.is_file() or path.read_bytes() != content:
            write_bytes(path, content)


def load(folder: str | Path, functions: bool = False) -> Any:
    """Return what is in a folder that this library wrote: a sweep, a fit, a trajectory, as it was when it was computed.

    A folder may name a function of a user's own, and loading that runs code: ``functions`` allows it.
    """
    return _kind(Path(folder), read_manifest(Path(folder))).load(Path(folder), functions)


def _kind(folder: Path, manifest: Mapping[str, Any]) -> type[Work]:
    kind = manifest["kind"]
    if kind not in KINDS:
        raise InputError(f"{folder} holds work of the kind {kind!r}; this version knows {', '.join(sorted(KINDS))}")
    return KINDS[kind]


def work_of(folder: str | Path, functions: bool = False) -> Work:
    """Rebuild the work of a run folder from its manifest alone."""
    return rebuild(Path(folder), read_manifest(Path(folder)), functions)


def rebuild(folder: Path, manifest: Mapping[str, Any], functions: bool) -> Work:
    """Rebuild the work of a manifest; one that does not describe work raises :class:`InputError`."""
    kind = _kind(folder, manifest)
    try:
        return kind.from_json(manifest["common"], manifest["settings"], functions)
    except InputError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        odd = f"{folder / 'manifest.json'} does not describe work of the kind {kind.kind!r}"
        raise InputError(f"{odd} ({type(error).__name__}: {error}); run the work anew into another folder") from None


def finished_records(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the records of all finished settings of a run folder by name, with their times where those are known.

    One that is damaged, or missing beside its arrays, raises :class:`InputError`.
    """
    run, times = RunFolder.open(folder), how_computed(folder)["times"]
    return {name: run.record(name) | times.get(name, {}) for name in filter(run.begun, run.settings)}


def finished(folder: Path) -> list[Done]:
    """Return all finished settings of a run folder."""
    times = ("seconds", "compile_seconds")
    return [
        Done(name, record, folder / name, *(record.pop(time, 0.0) for time in times))
        for name, record in finished_records(folder).items()
    ]


def unfinished(folder: Path) -> list[str]:
    """Return the settings of a run folder that have no results yet, or fewer runs than were asked for."""
    records, settings = finished_records(folder), RunFolder.open(folder).settings
    return [name for name, part in settings.items() if records.get(name, {"runs": 0})["runs"] < part["runs"]]


def how_computed(folder: Path) -> dict[str, Any]:
    """Return how a folder was computed: ``versions``, ``times`` and ``tools`` of every setting, and more where that is known.

    No result depends on it: a damaged record is said (:class:`DamageWarning`) and ignored.
    """
    unknown: dict[str, Any] = {"versions": {}, "times": {}, "tools": {}}
    if not (folder / RECORD).exists():
        return unknown
    try:
        return read_how(folder)
    except InputError as error:
        warnings.warn(
            DamageWarning(f"{error}; it says only how long the work took and on what, and is ignored"), stacklevel=2
        )
        return unknown


def drop_damaged_how(folder: Path) -> None:
    """Remove a damaged record of how a folder was computed: that is lost, and no result depends on it."""
    try:
        read_how(folder)
    except InputError:
        (folder / RECORD).unlink(missing_ok=True)


def read_how(folder: Path) -> dict[str, Any]:
    """Return the record of how a folder was computed; damage raises :class:`InputError`."""
    record = read_json(folder / RECORD)
    try:
        names = ("seconds", "compile_seconds")
        times = {name: {key: float(spent[key]) for key in names} for name, spent in record["times"].items()}
        if not all(0 <= x < math.inf for spent in times.values() for x in spent.values()):
            raise ValueError
        tools = {name: [*used] for name, used in record.get("tools", {}).items()}  # an earlier version has none
        if not all(isinstance(tool, str) for used in tools.values() for tool in used):
            raise TypeError
        return {**record, "times": times, "versions": dict(record["versions"]), "tools": tools}
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        raise InputError(f"{folder / RECORD} is damaged") from None
