"""What every problem is: frozen plain data with an exact JSON form, the shape of a point, and the symmetries it declares."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from earnshaw.errors import InputError, is_whole
from earnshaw.problems.activations import recorded_activation
from earnshaw.records import decode, fields_of
from earnshaw.showing import Shown, sized

Array = NDArray[np.float64]
Classes = NDArray[np.int64]

NETWORKS: dict[str, type[Problem]] = {}


@dataclass(frozen=True, eq=False)
class Symmetry:
    """Which rearrangements of a point's rows and columns the loss does not see, as data."""

    rows: Classes  #: (n,) classes; rows of the point (neurons) of equal class may be exchanged
    columns: Classes  #: (d,) classes; columns (coordinates) of equal class may be, if that only exchanges anchors
    anchors: Array  #: (k, d) matrix that stays where it is: the teacher, the protons; k may be 0
    anchor_rows: Classes  #: (k,) classes of the anchors
    extra: int = 0  #: trailing columns of the point, beyond the d coordinates, that move with their row: output weights


def classes(values: ArrayLike) -> Classes:
    """Number values so that equal ones share a number."""
    return np.unique(np.asarray(values), return_inverse=True)[1].astype(np.int64)


class Problem(Shown):
    """What a student is asked to learn. Subclasses are frozen dataclasses that name their network.

    A record's ``objective`` is ``NETWORK/DETAIL``; :func:`problem_from_json` finds the reader by the network.
    """

    network: ClassVar[str]
    batch: Any = 64  #: how many runs suit a core's cache when computed together (this and the next may be properties)
    scale: Any = 1.0  #: the square scale of the loss
    is_realisable: Any = False  #: whether the smallest loss is known to be 0

    def __init_subclass__(cls, **more: Any) -> None:
        """Enter the class into the registry of readers."""
        super().__init_subclass__(**more)
        if "network" in vars(cls):  # what problems share may stand between
            NETWORKS[cls.network] = cls

    def _settle(self, **validated: Any) -> None:
        """Set fields of the frozen data to what they are once validated, so that no later code has to look again."""
        for name, value in validated.items():
            object.__setattr__(self, name, value)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of a point, which is one array."""
        raise InputError(f"a problem of the network {self.network} has no single point; sweep or prove another kind")

    @property
    def sizes(self) -> dict[str, Any]:
        """The numbers that a table shows of it, by their short names."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        """What files about this problem are called, by its sizes without the dimension: k10-n10."""
        return "-".join(f"{name}{size:g}" for name, size in self.sizes.items() if name != "d")

    @property
    def detail(self) -> str:
        """What follows the network in ``objective``, mostly the activation."""
        return str(getattr(self, "activation", "relu"))

    @property
    def symmetry(self) -> Symmetry | None:
        """The declared symmetries; None where points are told apart by their losses alone."""
        return None

    @property
    def effort(self) -> float:
        """How long a run takes, in a unit of its network: by this work is ordered, and its progress counted."""
        return float(np.prod(self.shape))

    @property
    def anchors(self) -> Array:
        """The matrix (k, d) of what stays where it is: the teacher's neurons, the protons; k may be 0."""
        return np.zeros((0, 1)) if self.symmetry is None else self.symmetry.anchors

    @property
    def unprovable(self) -> str | None:
        """Why nothing can be proved about points of this problem, as the end of a sentence; None where proofs exist."""
        return f"there are no proofs for the network {self.network}"

    def _line(self) -> str:
        return f"{sized(self.sizes)}, {self.detail}"

    def _facts(self) -> Mapping[str, object]:
        provable = "no: " + self.unprovable if self.unprovable else "yes"
        least = "0" if self.is_realisable else "not known"
        return {
            "network": self.network,
            **self.sizes,
            "activation": self.detail,
            "least loss": least,
            "provable": provable,
        }

    def _matrix(self) -> Any:
        return self.anchors if len(self.anchors) else None

    def to_json(self) -> dict[str, Any]:
        """Return the exact JSON form, from which nothing is missing and in which nothing is rounded."""
        record = {"objective": f"{self.network}/{self.detail}", **fields_of(self)}
        sigma = getattr(self, "activation", None)
        if sigma is None:
            return record
        del record["activation"]  # it is the objective's detail
        return record if sigma.digest is None else record | {"activation_digest": sigma.digest}

    @classmethod
    def from_json(cls, record: Mapping[str, Any], functions: bool = False) -> Self:
        """Read a problem back; bad content raises :class:`InputError`. ``functions``: may a user's code be loaded?"""
        rest = {key: value for key, value in record.items() if key not in ("objective", "activation_digest")}
        if "activation" not in cls.__annotations__:
            return decode(cls, rest)
        name = str(record["objective"]).partition("/")[2]
        return decode(cls, rest, activation=recorded_activation(name, record.get("activation_digest"), functions))

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the JSON form."""
        text = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        """Two problems are equal when their exact JSON is."""
        return isinstance(other, Problem) and self.digest == other.digest

    def __hash__(self) -> int:
        """Hash consistently with equality."""
        return hash(self.digest)


def problem_from_json(record: Mapping[str, Any], functions: bool = False) -> Any:
    """Read a problem of any kind back from its ``to_json``; bad content raises :class:`InputError`.

    A record may name a function of a user's own, and loading that runs code: ``functions`` says that the record is
    trusted so far. The function must still be the one that the record was made with.
    """
    objective = record.get("objective") if isinstance(record, Mapping) else None
    network = objective.partition("/")[0] if isinstance(objective, str) else None
    if network not in NETWORKS:
        raise InputError(f"unknown objective {objective!r}; this version knows {', '.join(sorted(NETWORKS))}")
    return NETWORKS[network].from_json(record, functions)


# ---- what readers and validators share ----------------------------------------------------------------------------


def hexed(values: ArrayLike) -> Any:
    """Return numbers, nested as they are, as hexadecimal floats."""
    array = np.asarray(values, dtype=np.float64)
    return float(array).hex() if array.ndim == 0 else [hexed(entry) for entry in array]


def unhexed(record: Any) -> Any:
    """Return nested hexadecimal floats as numbers; anything else raises :class:`InputError`."""
    if isinstance(record, list):
        return [unhexed(entry) for entry in record]
    try:
        return float.fromhex(record)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"a problem's numbers must be hexadecimal floats ({error})") from None


def check_record(network: str, record: Any, required: set[str], optional: Set[str] = frozenset()) -> str:
    """Refuse a record of another network, or with other keys than its own; return what follows the network's name."""
    needed = required | {"objective"}
    if not isinstance(record, Mapping) or not needed <= set(record) <= needed | optional:
        more = f", and may have {sorted(optional)}" if optional else ""
        raise InputError(f"a problem of the network {network} needs the keys {sorted(required)}{more}")
    kind, _, detail = str(record["objective"]).partition("/")
    if kind != network:
        raise InputError(f"unknown objective {record['objective']!r}; the network {network} was expected")
    return detail


def reals(name: str, values: ArrayLike, rank: int) -> Array:
    """Return a read-only copy of real numbers: a vector or a matrix with at least one entry, all of them finite."""
    kind = ("vector", "matrix")[rank - 1]
    wanted = ("a vector, one number each", "a matrix (neurons, dimension), one a row")[rank - 1]
    try:
        if np.iscomplexobj(values):  # NumPy would only warn before it drops an imaginary part
            raise TypeError("complex numbers")
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: not a {kind} of real numbers ({error}); give {wanted}") from None
    if array.ndim != rank or 0 in array.shape:
        raise InputError(f"{name} has shape {array.shape}; give {wanted}")
    if not np.isfinite(array).all():
        place = np.argwhere(~np.isfinite(array))[0]
        where = f"entry {place[0]}" if rank == 1 else f"row {place[0]}, column {place[1]}"
        raise InputError(f"{name} has the value {array[tuple(place)]} in {where}; all must be finite")
    array.flags.writeable = False
    return array


def whole(what: str, value: Any, least: int, most: float = math.inf) -> int:
    """Return a whole number of this range, so many of these; true and false are none."""
    if not is_whole(value, least) or value > most:
        allowed = f"from {least} to {int(most)}" if math.isfinite(most) else f"from {least}"
        raise InputError(f"{value!r} {what} were asked for; use a whole number {allowed}")
    return int(value)
