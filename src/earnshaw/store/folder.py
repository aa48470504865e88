"""A run folder: the manifest that says what is being computed, and the pieces computed so far."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from earnshaw.errors import InputError
from earnshaw.store.files import digest, read_json, read_npz, write_json, write_npz

FORMAT = "earnshaw-run-1"


class RunFolder:
    """One folder, one computation; used as a context manager that keeps other processes out.

    ``manifest.json`` holds ``identity`` (problem, start, descent, seed, runs: what the hash covers) and ``plan`` (how
    the work is cut into pieces). Opening an existing folder with the same identity resumes it, with the plan it has;
    with another identity it raises :class:`InputError` and touches nothing.
    """

    def __init__(self, path: Path, identity: Mapping[str, Any], plan: Mapping[str, Any]) -> None:
        self.path = Path(path)
        self.identity = dict(identity)
        self.plan = dict(plan)
        self.resumed = False
        self._lock: int | None = None

    def __enter__(self) -> RunFolder:
        """Create or resume the folder, and lock it."""
        manifest = self.path / "manifest.json"
        if manifest.exists():
            self._resume(read_json(manifest))
        elif self.path.exists() and (not self.path.is_dir() or any(_visible(self.path))):
            raise InputError(f"{self.path} exists and is not a run folder; choose another --out (nothing was changed)")
        try:
            (self.path / "pieces").mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self.path / ".lock", os.O_CREAT | os.O_RDWR, 0o644)
        except OSError as error:
            raise InputError(f"cannot write to {self.path} ({error.strerror}); choose another --out") from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            raise InputError(
                f"another process is writing to {self.path}; wait for it, or choose another --out"
            ) from None
        for leftover in [*self.path.glob(".*.tmp"), *self.path.glob("pieces/.*.tmp")]:  # of a process that was killed
            leftover.unlink(missing_ok=True)
        if not manifest.exists():
            write_json(
                manifest,
                {"format": FORMAT, "hash": digest(self.identity), "identity": self.identity, "plan": self.plan},
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Release the lock."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _resume(self, manifest: Any) -> None:
        if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
            raise InputError(f"{self.path} holds a manifest of another program or version; choose another --out")
        if manifest.get("hash") != digest(self.identity) or digest(manifest.get("identity")) != manifest.get("hash"):
            raise InputError(
                f"{self.path} holds another computation (hash {str(manifest.get('hash'))[:12]}, this one is "
                f"{digest(self.identity)[:12]}); choose another --out or leave it out (nothing was changed)"
            )
        self.plan = dict(manifest["plan"])
        self.resumed = True

    def has(self, name: str) -> bool:
        """Return whether a piece is already there."""
        return (self.path / "pieces" / f"{name}.npz").exists()

    def put(self, name: str, arrays: Mapping[str, np.ndarray]) -> None:
        """Store one finished piece."""
        write_npz(self.path / "pieces" / f"{name}.npz", arrays)

    def get(self, name: str) -> dict[str, np.ndarray]:
        """Read one piece back."""
        return read_npz(self.path / "pieces" / f"{name}.npz")


def _visible(path: Path) -> list[Path]:
    """Return what a folder holds beyond the traces of a process that was killed before its manifest had its name."""
    mine = [path / ".lock", path / "pieces", *path.glob(".manifest.json.*.tmp")]
    pieces = [*(path / "pieces").iterdir()] if (path / "pieces").is_dir() else []
    return [entry for entry in path.iterdir() if entry not in mine] + pieces
