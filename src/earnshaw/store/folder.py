"""A run folder: the manifest that says what is being computed, and the pieces and results that are there so far."""

from __future__ import annotations

import contextlib
import hashlib
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from filelock import FileLock, Timeout

from earnshaw.errors import DamageWarning, InputError
from earnshaw.store.files import digest, read_json, read_sealed, regular, write_bytes, write_json, write_sealed

FORMAT = "earnshaw-run-3"
BEFORE = "earnshaw-run-2"  # its manifest and records have no checksums; its arrays do
SEAL = "sha256"  # the key of a record's checksum
REMEDY = "run the same command again, or earnshaw runs repair, to compute it anew"
Arrays = dict[str, np.ndarray]
T = TypeVar("T")
SHAPES = {  # what every record has
    "": {"runs": int, "files": list},
    "-proofs": {"families": list, "certificates": dict, "runs_in_proved_basins": int},
}


def read_manifest(path: Path, before: bool = False) -> dict[str, Any]:
    """Return the manifest of a run folder; a folder that is none, or of another version, raises :class:`InputError`.

    ``before``: the version before this one will do, whose manifest has no checksum.
    """
    if not path.is_dir():
        raise InputError(f"{path} is not a folder; give a run folder that earnshaw wrote")
    if not (path / "manifest.json").exists():
        raise InputError(f"{path} is not a run folder (it has no manifest.json); give one that earnshaw wrote")
    manifest = read_json(path / "manifest.json")
    old = isinstance(manifest, dict) and manifest.get("format") == BEFORE
    if old and not before:
        again = f"run the same command again, or earnshaw runs repair {path}: the runs are kept, what is made from them is new"
        raise InputError(
            f"{path} was written by an earlier version ({BEFORE}, whose records have no checksums); {again}"
        )
    if not old and (not isinstance(manifest, dict) or manifest.get("format") != FORMAT):
        known = str(manifest.get("format")) if isinstance(manifest, dict) else "nothing known"
        found = f"a manifest of another program or version ({known}, this one reads {FORMAT})"
        raise InputError(f"{path} holds {found}; run it anew into another folder")
    if not (old or manifest.pop(SEAL, None) == _digest(manifest)) or not _is_manifest(manifest):
        found = f"{path / 'manifest.json'} is not as it was written (its checksum differs)"
        raise InputError(f"{found}; it is damaged: run the work anew into another folder")
    return manifest


def _is_manifest(manifest: Mapping[str, Any]) -> bool:
    """Say whether a manifest has what every manifest has."""
    settings = manifest.get("settings")
    return (
        isinstance(manifest.get("kind"), str)
        and isinstance(manifest.get("common"), dict)
        and isinstance(settings, dict)
        and all(isinstance(part, dict) and {"identity", "plan"} <= set(part) for part in settings.values())
        and all(type(part.get("runs")) is int for part in settings.values())
        and isinstance(manifest.get("part", ""), str)
    )


class OtherEnd(InputError):
    """A piece has fewer lanes than are asked for, and nothing is wrong with it."""


class RunFolder:
    """One folder, one kind of work with one common part; used as a context manager that keeps other processes out.

    ``manifest.json`` holds the ``kind`` of work, what all its settings have in ``common`` and, by name, its
    ``settings``: for each its ``identity`` (what determines its results), how many ``runs``, and the ``plan`` (how it is
    cut into pieces). Opening an existing folder adds settings, or runs to a setting, and keeps the plans that are there;
    anything else that differs raises :class:`InputError`, which names it, and touches nothing. Where pieces of one ``part``
    alone were asked for, such as 2/8, the manifest says so, until others are.
    """

    def __init__(
        self,
        path: Path,
        kind: str,
        common: Mapping[str, Any],
        settings: Mapping[str, Mapping[str, Any]],
        part: str | None = None,
    ) -> None:
        self.path, self.part = Path(path), part
        self.upgraded = False  # whether it was of the version before, whose records have no checksums
        self.kind, self.common = kind, dict(common)
        self.settings: dict[str, dict[str, Any]] = {name: dict(setting) for name, setting in settings.items()}

    @classmethod
    def open(cls, path: Path) -> Self:
        """Return an existing folder to read from, without keeping others out."""
        return cls.of(path, read_manifest(path))

    @classmethod
    def of(cls, path: Path, manifest: Mapping[str, Any]) -> Self:
        """Return the folder of a manifest."""
        return cls(path, manifest["kind"], manifest["common"], manifest["settings"], manifest.get("part"))

    def __enter__(self) -> RunFolder:
        """Create or extend the folder, and lock it."""
        exists = (self.path / "manifest.json").exists()
        if not exists and self.path.exists() and (not self.path.is_dir() or any(_foreign(self.path))):
            raise InputError(f"{self.path} exists and is not a run folder; choose another --out (nothing was changed)")
        if exists:
            self._agree(read_manifest(self.path, before=True))
        try:
            (self.path / "pieces").mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(self.path / ".lock", timeout=0)
            self._lock.acquire()
        except Timeout:
            busy = f"another process is writing to {self.path}"
            raise InputError(f"{busy}; wait for it, or choose another --out") from None
        except OSError as error:
            raise InputError(f"cannot write to {self.path} ({error.strerror}); choose another --out") from error
        try:
            for leftover in (*self.path.glob(".*.tmp"), *self.path.glob("pieces/.*.tmp")):  # of a killed process
                leftover.unlink(missing_ok=True)
            file = self.path / "manifest.json"
            self._begun = file.read_bytes() if file.exists() else None  # another process may have been here first
            before = None if self._begun is None else read_manifest(self.path, before=True)
            if before is not None:
                self._agree(before)
            settings = {**(before["settings"] if before else {}), **self.settings}
            self.upgraded = before is not None and before["format"] == BEFORE
            self._held = self._files()
            manifest = {"format": FORMAT, "kind": self.kind, "common": self.common, "settings": settings}
            if self.part is not None and (before is None or before.get("part") == self.part):
                manifest["part"] = self.part
            if manifest != before:
                write_json(file, {**manifest, SEAL: digest(manifest)})
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Release the lock; where nothing came to be before the work was refused, the folder is what it was."""
        try:
            if kind is not None and issubclass(kind, InputError) and self._files() == self._held:
                self._restore(self.path / "manifest.json")
        finally:
            self._lock.release()

    def _restore(self, manifest: Path) -> None:
        """Put the manifest back that was there, or none; on a disk that is full the new one stays."""
        if self._begun is None:
            manifest.unlink(missing_ok=True)
        elif manifest.exists() and manifest.read_bytes() != self._begun:
            with contextlib.suppress(InputError):
                write_bytes(manifest, self._begun)

    def _files(self) -> dict[Path, int]:
        """Return the files that are here beside the manifest and the lock, and when they were written."""
        own = {self.path / "manifest.json", self.path / ".lock"}
        return {file: file.stat().st_mtime_ns for file in self.path.rglob("*") if file.is_file() and file not in own}

    def _agree(self, manifest: Mapping[str, Any]) -> None:
        """Take over the plans that the folder has; refuse what does not fit, and say what that is."""
        odd = difference(manifest["kind"], self.kind, "the kind of work") or difference(manifest["common"], self.common)
        for name, setting in self.settings.items():
            there = manifest["settings"].get(name)
            if there is None or odd:
                continue
            odd = difference(there.get("identity"), setting["identity"], name)
            if not odd and there["runs"] > setting["runs"]:
                odd = f"{name} has {there['runs']} runs there, and {setting['runs']} were asked for"
            setting["plan"] = there["plan"]
        if odd:
            instead = "choose another --out or leave it out (nothing was changed)"
            raise InputError(f"{self.path} holds another computation: {odd}; {instead}")

    def seal(self, name: str) -> str:
        """The hash of what determines a setting's numbers, the cut into pieces included, but not the number of runs."""
        setting = self.settings[name]
        return digest([self.kind, self.common, setting["identity"], setting["plan"]])

    def put(self, name: str, low: int, high: int, arrays: Mapping[str, np.ndarray], part: str = "piece") -> None:
        """Store a piece of the lanes from low to high, a stage of one (``-stage0001``), or a result (``""``, ``-trace``)."""
        self.still_there()
        write_sealed(self._place(name, low, part), arrays, self._header(name, low, high, part))

    def read(self, name: str, low: int, high: int, part: str = "piece") -> Arrays:
        """Return what :meth:`put` stored; what is missing, damaged, or of other work or lanes raises :class:`InputError`.

        A piece that ends earlier, as the last one did when there were fewer runs, raises :class:`OtherEnd`.
        """
        place = self._place(name, low, part)
        try:
            arrays, header = read_sealed(place)
        except InputError as error:
            raise InputError(f"{str(error).removesuffix(': remove it')}; {REMEDY}") from None
        ends = header.get("high")
        if part == "piece" and header == self._header(name, low, ends, part) and isinstance(ends, int) and ends < high:
            raise OtherEnd(f"{place} ends at run {ends}, not {high}; {REMEDY}")
        if header != self._header(name, low, high, part):
            raise InputError(f"{place} belongs to another computation, or to other runs of this one; {REMEDY}")
        return arrays

    def get(self, name: str, low: int, high: int, part: str = "piece", due: bool = False) -> Arrays | None:
        """Return what :meth:`put` stored, None where it is not what it should be, or missing; ``due``: also that is said."""
        return self._tried(self._place(name, low, part), lambda: self.read(name, low, high, part), due)

    def put_record(self, name: str, record: Mapping[str, Any], part: str = "") -> None:
        """Store the record of a setting (``NAME.json``, ``NAME-proofs.json``), sealed as the arrays are."""
        self.still_there()
        write_json(self.path / f"{name}{part}.json", {**record, SEAL: self._record_seal(name, part, record)})

    def record(self, name: str, part: str = "") -> dict[str, Any]:
        """Return what :meth:`put_record` stored; what is missing, damaged or of other work raises :class:`InputError`."""
        place = self.path / f"{name}{part}.json"
        try:
            record = read_json(place)
        except InputError as error:
            raise InputError(f"{error}; {REMEDY}") from None
        seal = record.pop(SEAL, None) if isinstance(record, dict) else None
        if seal is None or seal != self._record_seal(name, part, record):
            what = "is not as it was written (its checksum differs), or belongs to another computation"
            raise InputError(f"{place} {what}; {REMEDY}")
        for key, shape in SHAPES[part].items():
            if not isinstance(record.get(key), shape):
                raise InputError(f"{place} has no {key!r} as a record of this program has; {REMEDY}")
        return record

    def get_record(self, name: str) -> dict[str, Any] | None:
        """Return what :meth:`put_record` stored, None where it is missing or, which is said, not what it should be."""
        return None if self.upgraded else self._tried(self.path / f"{name}.json", lambda: self.record(name))

    def _tried(self, place: Path, read: Callable[[], T], due: bool = False) -> T | None:
        if not place.exists() and not due:
            return None
        try:
            return read()
        except OtherEnd:
            return None
        except InputError:
            what = "damaged, or of another computation or other runs; it is not used," if place.exists() else "missing"
            warnings.warn(DamageWarning(f"{place} is {what} and computed anew"), stacklevel=3)
            return None

    def still_there(self) -> None:
        """Raise :class:`InputError` if the folder was removed meanwhile: it would come back without its manifest."""
        if not (self.path / "manifest.json").exists():
            gone = f"{self.path} was removed or emptied while the work was going on"
            raise InputError(f"{gone}; nothing more is written there: run the same command again")

    def has(self, name: str, low: int) -> bool:
        """Say whether there is a file of a piece, whole or not."""
        return self._place(name, low, "piece").exists()

    def begun(self, name: str) -> bool:
        """Say whether there are results of a setting, whole or not; those beside which its pieces are were never finished."""
        results, record = (self.path / f"{name}{ending}" for ending in (".npz", ".json"))
        return record.exists() or (results.exists() and not any(self._pieces(name)))

    def proved(self, name: str) -> bool:
        """Say whether proofs of a setting are written down."""
        return (self.path / f"{name}-proofs.json").exists()

    def put_proofs(self, name: str, record: Mapping[str, Any]) -> None:
        """Store what is proved of a setting's results, and of which ones: more runs may have other families."""
        self.put_record(name, {**record, "results": self._results_seal(name)}, "-proofs")

    def proofs(self, name: str) -> dict[str, Any] | None:
        """Return what is proved of a setting's results; None where nobody tried or, which is said, that is lost or of other results."""
        if fault := self.proofs_fault(name):
            warnings.warn(DamageWarning(f"{fault}; nothing is said to be proved"), stacklevel=3)
            return None
        return self.record(name, "-proofs") if self.proved(name) else None

    def proofs_fault(self, name: str) -> str | None:
        """Say, in words, that what is proved of a setting is lost, or not of its results as they are now; None where nothing is wrong."""
        file, prove = f"{self.path / name}-proofs.json", "earnshaw sweep --prove"
        if not self.proved(name):
            lost = any(self.path.glob(f"certificates/{name}-family*.json"))
            return f"{file} is missing, though there are certificates of {name}; {prove} writes it" if lost else None
        of = self.record(name, "-proofs").get("results")
        if of == self._results_seal(name):
            return None
        odd = f"does not say of which runs it is, or is of other runs than {name}.json"
        return f"{file} {odd}; {prove} proves these"

    def _results_seal(self, name: str) -> str | None:
        return self._record_seal(name, "", self.record(name))

    def pieces(self) -> dict[Path, tuple[str, int, int] | None]:
        """Return the files of pieces that are there, each with its setting and lanes; None where it is not what it should be."""
        found: dict[Path, tuple[str, int, int] | None] = dict.fromkeys(sorted((self.path / "pieces").glob("*.npz")))
        for file in filter(self._is_mine, found):
            header = read_sealed(file)[1]
            found[file] = (header["setting"], header["low"], header["high"])
        return found

    def require_mine(self, all_of_it: bool) -> None:
        """Raise :class:`InputError` if no file here is of the manifest's work, or not ``all_of_it``, and some are of other work.

        Then the manifest is perhaps that of another folder, and does not say what the files are.
        """
        arrays = [*sorted(self.path.glob("*.npz")), *sorted(self.path.glob("pieces/*.npz"))]
        others = [file for file in arrays if self._is_mine(file) is False]
        mine = any(self._is_mine(file) for file in arrays) or any(map(self._has_record, self.settings))
        if others and (all_of_it or not mine):
            odd = f"{self.path / 'manifest.json'} is that of another computation than {others[0].name}"
            raise InputError(
                f"{odd}; put the right one back, or run the work anew into another folder (nothing was changed)"
            )

    def _has_record(self, name: str) -> bool:
        try:
            return bool(self.record(name))
        except InputError:
            return False

    def _is_mine(self, file: Path) -> bool | None:
        """Say whether arrays are of this work and where they belong; None where that cannot be known, for they are damaged."""
        try:
            header = read_sealed(file)[1]
            name, low, high, part = (header[key] for key in ("setting", "low", "high", "part"))
            return header == self._header(name, low, high, part) and file == self._place(name, low, part)
        except InputError:
            return None
        except (KeyError, TypeError, ValueError):
            return False

    def _record_seal(self, name: str, part: str, record: Mapping[str, Any]) -> str | None:
        return _digest([self.seal(name), part, record])

    def _header(self, name: str, low: int, high: Any, part: str) -> dict[str, Any]:
        return {"work": self.seal(name), "setting": name, "part": part, "low": low, "high": high}

    def _place(self, name: str, low: int, part: str) -> Path:
        if part == "piece" or part.startswith("-stage"):
            return self.path / "pieces" / f"{name}-{low:08d}{part.removeprefix('piece')}.npz"
        return self.path / f"{name}{part}.npz"

    def drop_pieces(self, name: str) -> None:
        """Remove the pieces of a setting, once its results are there."""
        for file in self._pieces(name):
            file.unlink(missing_ok=True)

    def _pieces(self, name: str) -> Iterator[Path]:
        return (self.path / "pieces").glob(f"{name}-{'[0-9]' * 8}*.npz")


def sealed_certificates(folder: Path, setting: str | None = None) -> dict[Path, str | None]:
    """Return the certificates that a run folder's proofs or records list, each with its fault, None if it has none."""
    found: dict[Path, str | None] = {}
    try:
        run = RunFolder.open(folder)
    except InputError:
        if any(folder.glob("*-proofs.json")):
            raise
        return found  # certificates by themselves
    for name in filter(run.begun, run.settings if setting is None else [setting]):
        part = "-proofs" if run.proved(name) else ""
        listed = run.record(name, part).get("certificates")
        for file, seal in listed.items() if isinstance(listed, dict) else ():
            fault, path, lists = None, folder / file, f"{name}{part}.json lists"
            again = "make it again with the same command or earnshaw runs repair"
            if not path.exists():
                fault = f"{path} is missing, and {lists} it; {again}"
            elif file_digest(path) != seal:
                fault = f"{path} is not the certificate that {lists} (its checksum differs); {again}"
            found[path] = fault
    return found


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file; nothing where it cannot be read."""
    try:
        return hashlib.sha256(regular(path).read_bytes()).hexdigest()
    except (InputError, OSError):
        return ""


def _digest(record: Any) -> str | None:
    """Return the digest of a record that may hold anything that JSON can say, None where it has none."""
    try:
        return digest(record)
    except (ValueError, RecursionError):
        return None


def difference(
    there: Any, asked: Any, where: str = "", words: str = "{where} is {0} there, and {1} was asked for"
) -> str | None:
    """Return the first place where two records differ, in ``words``; None when they are equal."""
    if isinstance(there, Mapping) and isinstance(asked, Mapping):
        inside = (
            difference(there.get(key), asked.get(key), f"{where}.{key}" if where else str(key), words)
            for key in sorted({*there, *asked})
        )
        return next(filter(None, inside), None)
    return None if there == asked else words.format(_short(there), _short(asked), where=where)


def _short(value: Any) -> str:
    if value is None:
        return "nothing"
    if not isinstance(value, str):
        return str(value) if len(str(value)) <= 40 else "another value"
    try:
        return f"{float.fromhex(value):.6g}" if value.lstrip("-").startswith("0x") else value[:40]
    except ValueError:
        return value[:40]


def _foreign(path: Path) -> list[Path]:
    """Return what a folder holds beyond the traces of a process that was killed before its manifest had its name."""
    mine = [path / ".lock", path / "pieces", *path.glob(".manifest.json.*.tmp")]
    pieces = [*(path / "pieces").iterdir()] if (path / "pieces").is_dir() else []
    return [entry for entry in path.iterdir() if entry not in mine] + pieces
