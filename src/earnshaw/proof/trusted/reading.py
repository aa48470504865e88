"""Reading a certificate file, trusting nothing in it.

A certificate is one JSON object without a single decimal number. Every real number is a *canonical hex float*, the
string that ``float.hex()`` prints for a finite double, so that what is checked is what is written, bit for bit. Every
object has an exact set of keys, which depends on ``kind`` alone. ``sha256`` is the hash of the canonical JSON of all
other keys: it guards against corruption, not against forgery, for anyone may reseal a file. A forged file is caught
because the checker recomputes everything from ``center`` and ``problem.target``.
"""

import hashlib
import json
from dataclasses import dataclass
from math import isfinite
from typing import NoReturn

FORMAT = "earnshaw-certificate/1"
OBJECTIVE = "two-layer/relu"
MAX_BYTES = 1 << 20
LARGE_BYTES = 1 << 25  # of a kind that carries a data set, as two long strings: it has few marks , : [ {
LARGE_KINDS = ("convexity",)
MAX_MARKS = 10_000
MAX_PAIRS = 1 << 25  # of (n + k)^2 pairs of rows, times the precision: what a check may cost by default, and
MAX_PRODUCTS = 1 << 41  # of (n d)^3 products of balls, times the precision
MIN_PRECISION, MAX_PRECISION = 64, 1024

_MINIMUM = ("grad_norm_le", "lambda_min_ge", "lambda_ext_ge", "hess_lipschitz_le", "mu_ge", "F_ge", "F_le")
_SADDLE = (
    "grad_norm_le",
    "newton_step_le",
    "defect_le",
    "inverse_norm_le",
    "hess_lipschitz_le",
    "curvature_le",
    "F_ge",
    "F_le",
)
_BASIN = ("radius", "lambda_max_le", "smoothness_le", "mu_ge", "step_lt")
_ROBUST = ("delta", "R_enclosure", "hess_lipschitz_le", "mu_ge", "F_ge")
_EVERY_N = ("neuron", "delta", "delta_ext")
_RADII = {"R_enclosure": None, "R_unique": None}
_SHIFTS = ("precision", "shift", "shift_ext")
# For each kind: the objects it holds besides `problem`, `center` and `meta`, with their exact keys; None is one number.
KINDS: dict[str, dict[str, tuple[str, ...] | None]] = {
    "minimum": {**_RADII, "claims": _MINIMUM, "hint": _SHIFTS},
    "basin": {**_RADII, "claims": _MINIMUM, "basin": _BASIN, "hint": _SHIFTS},
    "robust": {**_RADII, "claims": _MINIMUM, "robust": _ROBUST, "hint": _SHIFTS},
    "saddle": {"R_enclosure": None, "claims": _SADDLE, "hint": ("precision",)},
    "every_n": {**_RADII, "claims": _MINIMUM, "every_n": _EVERY_N, "hint": (*_SHIFTS, "shift_split")},
}
COMMON = ("format", "kind", "problem", "center", "meta", "sha256")
NULLABLE = ("lambda_ext_ge", "shift_ext")  # null: nothing is claimed about dimensions beyond d


class Rejected(Exception):
    """The certificate is not accepted; the message says why."""


@dataclass(frozen=True)
class Numbers:
    """The numbers of a certificate whose shape is right: all finite, but nothing about their truth is known yet."""

    kind: str
    numbers: dict[str, float | None]  # "claims.F_ge", "R_enclosure", "hint.shift", ...
    precision: int

    def real(self, name: str) -> float:
        """Return a number that must be there."""
        value = self.numbers[name]
        if value is None:
            raise Rejected(f"{name} is null")
        return value


@dataclass(frozen=True)
class Document(Numbers):
    """A certificate of the ReLU landscape."""

    center: list[list[float]]
    target: list[list[float]]


def canonical(document: dict) -> bytes:
    """Return the bytes that the hash covers: canonical JSON of every key but `sha256`."""
    rest = {key: value for key, value in document.items() if key != "sha256"}
    return json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def seal(document: dict) -> str:
    """Return the sha256 that `document` must carry."""
    return hashlib.sha256(canonical(document)).hexdigest()


def load(data: bytes) -> dict:
    """Return the JSON object of a certificate of any kind: well formed, of this format, as it was sealed."""
    large = len(data) > MAX_BYTES
    if len(data) > LARGE_BYTES or (large and sum(data.count(mark) for mark in b",:[{") > MAX_MARKS):
        raise Rejected(
            f"the file has {len(data)} bytes, more than the limit of {MAX_BYTES}, or {LARGE_BYTES} with data"
        )
    try:
        raw = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_float=_no_float,
            parse_int=_small_int,
            parse_constant=_no_float,
        )
        sealed = seal(raw) if type(raw) is dict else ""
    except (ValueError, RecursionError) as error:  # UnicodeDecodeError and JSONDecodeError are ValueErrors
        raise Rejected(f"not a JSON document: {type(error).__name__}") from None
    if type(raw) is not dict:
        raise Rejected("the document is not a JSON object")
    if raw.get("format") != FORMAT:
        raise Rejected(f"unknown format; this checker reads {FORMAT!r} only")
    if type(raw.get("kind")) is not str:
        raise Rejected("kind must be a string")
    if large and raw["kind"] not in LARGE_KINDS:
        raise Rejected(f"the file has {len(data)} bytes, more than the limit of {MAX_BYTES}")
    if type(raw.get("sha256")) is not str or raw["sha256"] != sealed:
        raise Rejected("sha256 does not match the content: the file was corrupted or edited")
    _meta(raw.get("meta"))
    return raw


def afford(limit: float, *costs: tuple[str, int, int]) -> None:
    """Go on only when each cost (its formula, how many operations it comes to, how many are allowed) is within `limit`."""
    for formula, count, allowed in costs:
        if not count <= limit * allowed:
            raise Rejected(
                f"the check would cost too much: {formula} = {count:.3g} exceeds {limit * allowed:.3g}; with a limit of "
                f"{-(-count // allowed)} times the default it would be made"
            )


def costs(n: int, k: int, d: int, bits: int) -> list[tuple[str, int, int]]:
    """Return what the check of a point of the ReLU landscape costs, for `afford`."""
    pairs, products = (n + k) ** 2 * bits, (n * d) ** 3 * bits
    return [("(n + k)^2 * precision", pairs, MAX_PAIRS), ("(n d)^3 * precision", products, MAX_PRODUCTS)]


def parse(data: bytes, limit: float) -> Document:
    """Turn the bytes of a certificate of the ReLU landscape into a Document, or raise Rejected with a reason."""
    raw = load(data)
    kind = raw["kind"]
    if kind not in KINDS:
        raise Rejected(f"unknown kind; the ReLU landscape has {', '.join(KINDS)}")
    numbers, precision = sections(raw, KINDS[kind])
    center, target = _problem(raw["problem"], raw["center"], precision, limit)
    return Document(kind, numbers, precision, center, target)


def sections(
    raw: dict, shape: dict[str, tuple[str, ...] | None], more: tuple[str, ...] = ()
) -> tuple[dict[str, float | None], int]:
    """Read the numbers of a document's sections, which has no other keys than these and `more`, and the precision."""
    exact_keys(raw, (*COMMON, *more, *shape), "the document")
    numbers: dict[str, float | None] = {}
    precision = 0
    for section, keys in shape.items():
        if keys is None:
            numbers[section] = hex_float(raw[section], section)
            continue
        exact_keys(raw[section], keys, section)
        for key in keys:
            name, value = f"{section}.{key}", raw[section][key]
            if key == "precision":
                precision = integer(value, name, MIN_PRECISION, MAX_PRECISION)
            elif key == "neuron":
                numbers[name] = integer(value, name, 0, MAX_BYTES)
            elif key in NULLABLE and value is None:
                numbers[name] = None
            else:
                numbers[name] = hex_float(value, name)
    if "hint.shift_ext" in numbers and (numbers["claims.lambda_ext_ge"] is None) != (numbers["hint.shift_ext"] is None):
        raise Rejected("claims.lambda_ext_ge and hint.shift_ext must both be null, or neither")
    return numbers, precision


def _problem(problem: object, center: object, bits: int, limit: float) -> tuple[list[list[float]], list[list[float]]]:
    """Read `problem` and `center`: n rows and k rows of d numbers, n >= k, small enough to check at so many bits."""
    problem = exact_keys(problem, ("n", "k", "d", "target", "objective"), "problem")
    if problem["objective"] != OBJECTIVE:
        raise Rejected(f"problem.objective must be {OBJECTIVE!r}")
    n, k, d = (integer(problem[name], f"problem.{name}", 1, MAX_BYTES) for name in ("n", "k", "d"))
    afford(limit, *costs(n, k, d, bits))
    if n < k:
        raise Rejected(f"n = {n} < k = {k}: the least value of F is not known to be 0")
    return matrix(center, n, d, "center"), matrix(problem["target"], k, d, "problem.target")


def matrix(value: object, rows: int, columns: int, name: str) -> list[list[float]]:
    """Read a list of `rows` lists of `columns` hex floats."""
    if type(value) is not list or len(value) != rows:
        raise Rejected(f"{name} must be a list of {rows} rows")
    for row in value:
        if type(row) is not list or len(row) != columns:
            raise Rejected(f"every row of {name} must be a list of {columns} numbers")
    return [[hex_float(entry, name) for entry in row] for row in value]


def hex_float(value: object, name: str) -> float:
    """Read one canonical hex float."""
    if type(value) is not str or len(value) > 32:
        raise Rejected(f"{name} must be a hex float in a string")
    try:
        number = float.fromhex(value)
    except (ValueError, OverflowError):
        raise Rejected(f"{name} is not a hex float") from None
    if not isfinite(number):
        raise Rejected(f"{name} is not finite")
    if number.hex() != value:
        raise Rejected(f"{name} is not in canonical form: {number.hex()} is")
    return number


def integer(value: object, name: str, least: int, most: int) -> int:
    """Read an integer; true and false are not integers."""
    if type(value) is not int or not least <= value <= most:
        raise Rejected(f"{name} must be an integer from {least} to {most}")
    return value


def exact_keys(value: object, keys: tuple[str, ...], name: str) -> dict:
    """Require an object with exactly `keys`."""
    if type(value) is not dict:
        raise Rejected(f"{name} must be an object")
    missing, extra = sorted(set(keys) - set(value)), sorted(set(value) - set(keys))
    if missing or extra:
        wrong = ascii([key[:40] for key in extra[:8]])  # whatever the terminal is
        raise Rejected(f"{name} has wrong keys: missing {missing[:8]}, not allowed {wrong}")
    return value


def _meta(value: object) -> None:
    """Require a flat object of at most 32 strings: untrusted remarks."""
    if type(value) is not dict or len(value) > 32 or any(type(entry) is not str for entry in value.values()):
        raise Rejected("meta must be an object of at most 32 strings")


def _unique(pairs: list[tuple[str, object]]) -> dict:
    """Build an object, refusing a key that occurs twice."""
    result = dict(pairs)
    if len(result) != len(pairs):
        raise Rejected("a key occurs twice in one object")
    return result


def _small_int(text: str) -> int:
    """Read an integer of at most nine digits."""
    if len(text) > 9:
        raise Rejected("an integer has more than nine characters")
    return int(text)


def _no_float(text: str) -> NoReturn:
    """Refuse decimal floats, NaN and Infinity."""
    raise Rejected(f"the decimal number {text[:40]} is not allowed: numbers are hex floats in strings")
