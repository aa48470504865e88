"""A certificate as an object: built, sealed, written and read; never judged here."""

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np

from earnshaw.errors import InputError
from earnshaw.proof.trusted.reading import FORMAT, LARGE_BYTES, Rejected, afford, seal
from earnshaw.showing import Shown
from earnshaw.store import regular, write_bytes


@dataclass(frozen=True, repr=False)
class Certificate(Shown):
    """What was proved, as the JSON document that `proof.trusted` checks."""

    kind: str
    document: Mapping[str, Any]

    def _line(self) -> str:
        problem = self.document.get("problem")
        problem = problem if isinstance(problem, Mapping) else {}
        sizes = [f"{name}={size}" for name, size in problem.items() if isinstance(size, int) and len(name) == 1]
        return ", ".join([self.kind, *map(str, filter(None, [problem.get("objective")])), *sizes])

    def _facts(self) -> Mapping[str, object]:
        claims = self.document.get("claims")
        stated = {name: str(value) for name, value in claims.items() if value} if isinstance(claims, Mapping) else {}
        stated = {name: float.fromhex(value) if value.startswith("0x") else value for name, value in stated.items()}
        facts = {"kind": self.kind, **stated, "sha256": self.document.get("sha256")}
        return facts | {"checked": "no: es.check tells whether it is true, es.explain what it says"}

    def to_text(self) -> str:
        """Return the JSON text, one section to a line."""
        lines = [f"{json.dumps(key)}: {json.dumps(value, sort_keys=True)}" for key, value in self.document.items()]
        return "{\n" + ",\n".join(lines) + "\n}\n"

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the certificate, atomically."""
        write_bytes(Path(path), self.to_text().encode("ascii"))
        return Path(path)

    def remarked(self, **remarks: str) -> "Certificate":
        """Return the certificate with more remarks in its ``meta``, which nothing trusts, sealed anew."""
        document = {**self.document, "meta": {**self.document["meta"], **remarks}}
        return Certificate(self.kind, document | {"sha256": seal(document)})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Certificate":
        """Read a certificate to look at it; use `check` to find out whether it is true."""
        path = path_of(path)
        try:
            with open(regular(Path(path), "the certificate "), "rb") as file:
                document = json.loads(file.read(LARGE_BYTES + 1))
        except InputError:
            raise
        except OSError as error:
            raise InputError(f"cannot read the certificate {path} ({error.strerror})") from None
        except (ValueError, RecursionError):
            document = None
        if not isinstance(document, dict) or not isinstance(document.get("kind"), str):
            raise InputError(f"{path} is not a certificate: no JSON object with a `kind`; give a file that prove wrote")
        return cls(document["kind"], document)


def shipped_certificate() -> AbstractContextManager[Path]:
    """Give the path of the certificate that comes with the package, the minimum of k = n = 6; it may have to be unpacked."""
    return as_file(files("earnshaw") / "data" / "k6-minimum.json")


def path_of(given: str | os.PathLike[str]) -> str:
    """Return the path of a certificate's file; what is neither a certificate nor a path raises :class:`InputError`."""
    if not isinstance(given, str | os.PathLike):
        raise InputError(
            f"an object of type {type(given).__name__} is no certificate; give a proof, a certificate, or a file's path"
        )
    return os.fspath(given)


def affordable(costs: Iterable[tuple[str, int, int]]) -> None:
    """Raise InputError for a proof whose check the checker would refuse by default."""
    try:
        afford(1.0, *costs)
    except Rejected as rejected:
        raise InputError(f"this is too large for a certificate: {rejected}") from None


def hexed(value: Any) -> Any:
    """Return `value` with every float, also in mappings and arrays, as a canonical hex float."""
    if isinstance(value, Mapping):
        return {key: hexed(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray):
        return hexed(value.tolist())
    if isinstance(value, list):
        return [hexed(entry) for entry in value]
    return value.hex() if isinstance(value, float) else value


def build(
    kind: str, problem: Mapping[str, Any], center: Any, sections: Mapping[str, Any], meta: Mapping[str, str] | None
) -> Certificate:
    """Assemble and seal the certificate of `kind` about `center`, for a problem that is given as its JSON."""
    document = {
        "format": FORMAT,
        "kind": kind,
        "problem": problem,
        "center": hexed(center),
        **hexed(sections),
        "meta": {"producer": "earnshaw.proof", **(meta or {})},
    }
    document["sha256"] = seal(document)
    return Certificate(kind, document)
