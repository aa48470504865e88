"""Everything that a checker of certificates must get right, as cases that can be put to any copy of it.

A case is a function of a checker (the package, as a module) that returns whether it answers rightly. What is right comes
from the theorems written once more (``truth.py``, ``edges.py``), from forgeries that are wrong by construction
(``adversaries*.py``), from exact rational arithmetic, and from the documents themselves; not from the checker.
"""

import contextlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from math import inf, nextafter
from pathlib import Path
from types import ModuleType

import adversaries
import adversaries_convexity
import adversaries_convnet
import edges
import mpmath as mp
import numpy as np
from flint import arb, arb_mat
from truth import DIGITS, Truth

from earnshaw.problems import TwoLayer
from earnshaw.proof import prove
from earnshaw.proof.trusted.reading import seal

Case = Callable[[ModuleType], bool]


def everything(walks=3) -> dict[str, Case]:
    """Return all cases by name, quick ones and sharp ones first."""
    cases: dict[str, Case] = {}
    cases |= enclosures()
    cases |= {f"edge: {name}": verdict(*case) for name, case in edges.edges(walks).items()}
    cases |= {f"equal: {name}": verdict(*case) for name, case in edges.equalities().items()}
    cases |= sentences()
    cases |= coarse()
    cases |= {f"hair: {name}": verdict(data, False) for name, data in edges.hairs().items()}
    cases |= halves_of_balls()
    cases |= adversarial()
    cases |= readings()
    cases |= sums()
    cases |= files()
    return cases


RELU = (
    "enclosure: ",
    "edge: ",
    "equal: ",
    "coarse: n",
    "coarse: saddle",
    "hair: ",
    "half: ",
    "sentence: n",
    "sentence: saddle",
    "relu ",
)
CONVEXITY, CONVNET = ("sentence: convexity", "coarse: convexity", "convexity"), ("sentence: convnet", "convnet")
ELSEWHERE = {
    "relu.py": (*CONVEXITY, *CONVNET),
    "relu_claims.py": (*CONVEXITY, *CONVNET),
    "convexity.py": (*RELU, *CONVNET),
    "sums.py": (*RELU, *CONVNET),
    "convnet.py": (*RELU, *CONVEXITY),
}


def concerning(file: str, cases: dict[str, Case]) -> dict[str, Case]:
    """Leave out the cases that cannot reach a file of the checker."""
    return {name: case for name, case in cases.items() if not name.startswith(ELSEWHERE.get(file, ("nothing",)))}


def verdict(data: bytes, accepted: bool) -> Case:
    """The certificate must be accepted, or rejected with a reason that is not the catch-all's."""

    def right(checker: ModuleType) -> bool:
        verified, kind, text = checker.check_bytes(data)
        if accepted:
            return verified is True and kind == json.loads(data)["kind"] and isinstance(text, str)
        return verified is False and kind is None and isinstance(text, str) and "the check stopped" not in text

    return right


def part(checker: ModuleType, name: str) -> ModuleType:
    """A module of the checker."""
    return sys.modules[f"{checker.__name__}.{name}"]


def adversarial() -> dict[str, Case]:
    """The forgeries of all kinds, and the true certificates with no room left."""
    cases: dict[str, Case] = {}
    for name, (bad, good) in {
        "relu": adversaries.all_cases(),
        "convnet": adversaries_convnet.everything(),
        "convexity": adversaries_convexity.everything(),
    }.items():
        cases |= {f"{name} good: {case}": verdict(data, True) for case, data in good.items()}
        cases |= {f"{name} bad: {case}": verdict(data, False) for case, data in bad.items()}
    return cases


# Enclosures: whatever the calculus returns must hold the true number, and say little more.

SHAPES = {
    "three dimensions": ([[1.0, 0.2, -0.3], [0.3, -0.9, 0.4]], [[0.5, 0.8, 0.1]]),
    "obtuse": ([[1.0, 0.2, -0.3], [-0.9, 0.1, 0.4], [0.2, -1.5, 0.3]], [[-0.5, -0.8, 0.1], [0.7, 0.7, -2.0]]),
    "a tilt of 2^-20": ([[1.0, 0.0, 0.5], [1.0, 2.0**-20, 0.5]], [[-2.0, 0.0, 2.0**-18]]),
    "a tilt of 2^-31": ([[1.0, 0.0, 0.5], [1.0, 2.0**-31, 0.5]], [[-2.0, 2.0**-30, -1.0]]),
    "a tilt of 2^-32": ([[1.0, 0.25, 0.5], [1.0, 0.25 + 2.0**-32, 0.5]], [[-2.0, -0.5, -1.0 + 2.0**-32]]),
    "a tilt of 2^-33": ([[1.0, 0.0, 0.5], [3.0, 2.0**-33, 1.5]], [[2.0, -(2.0**-33), 1.0]]),
    "a tilt of 2^-45": ([[1.0, 0.0, 0.5], [-1.0, 2.0**-45, -0.5]], [[-2.0, 2.0**-40, -1.0]]),
    "parallel": ([[1.0, 0.5], [2.0, 1.0]], [[-3.0, -1.5], [0.5, 0.25]]),
    "lengths far apart": ([[1e3, 2.0, 1e-3], [1e-3, 1e-3, -2e-3]], [[5.0, -7.0, 11.0]]),
    "one dimension": ([[1.0], [-2.0]], [[3.0]]),
    "one student": ([[100.0, 3.0]], [[1.0, 2.0]]),
    "short tilts": ([[0.5, 0.0, 0.25], [0.5, 2.0**-34, 0.25]], [[-0.25, 2.0**-36, -0.125], [0.125, 2.0**-35, 0.0625]]),
}


def enclosures() -> dict[str, Case]:
    """Value, gradient, Hessian, M, lengths and L at 64 and 128 bits against 60 digits."""
    return {
        f"enclosure: {name} at {bits} bits": _enclosed(name, *rows, bits)
        for name, rows in SHAPES.items()
        for bits in (64, 128)
    }


def _enclosed(name, center, target, bits) -> Case:
    truth = Truth(center, target)
    with mp.workdps(DIGITS):
        lipschitz = {
            (r, delta): _lipschitz(truth, r, delta) for r, delta in ((0.0, 0.0), (2.0**-12, 0.0), (2.0**-12, 0.25))
        }
    scale = max(truth.lengths) ** 2 / min(truth.lengths) ** 2
    # What a ball may cost: roundings, times a pair whose angle is small; half the digits where it is not told from 0.
    digits = {"three": bits, "obtuse": bits, "parallel": bits, "one": bits, "lengths": bits}.get(
        name.split()[0], bits / 2
    )
    flat = truth.hessian.tolist()

    def right(checker: ModuleType) -> bool:
        balls, relu = part(checker, "balls"), part(checker, "relu")
        with balls.precision(bits):
            point = relu.Point(center, target)
            hessian, slopes = point.hessian(), point.extension()
            wide = scale * 2.0 ** (6 - digits)
            steep = inf if (name, bits) == ("a tilt of 2^-31", 64) else wide  # this angle is hardly told from 0
            pairs = [
                (point.value(), truth.value, wide),
                *((x, y, wide) for x, y in zip(point.gradient().entries(), truth.gradient, strict=True)),
                *((hessian[a, b], y, steep) for a, row in enumerate(flat) for b, y in enumerate(row)),
                *((slopes[a, b], truth.extension[a, b], wide) for a in range(truth.n) for b in range(truth.n)),
            ]
            bounds = [(point.lipschitz(arb(r), arb(delta)), y) for (r, delta), y in lipschitz.items()]
            low = point.shortest()
            return (
                all(_holds(x, y) and x.rad() <= most for x, y, most in pairs)
                and all(x.is_exact() and _above(x, y, bits) for x, y in bounds)
                and low.is_exact()
                and 0
                <= _exactly(truth.shortest) - _fraction(low)
                <= Fraction(2) ** (10 - bits) * _exactly(truth.shortest)
            )

    return right


def _lipschitz(truth, radius, delta):
    """L at 60 digits."""
    lengths = [mp.norm(mp.matrix(row)) for row in truth.rows]
    found = []
    for i in range(truth.n):
        rest = mp.fsum(x + radius for j, x in enumerate(lengths[: truth.n]) if j != i) + mp.fsum(
            x + delta for x in lengths[truth.n :]
        )
        rho = lengths[i] - radius
        bend = 3 * mp.sqrt(3) / (4 * mp.pi) * rest / rho**2
        found.append(mp.sqrt(bend**2 + 9 * mp.mpf(truth.n - 1) / (mp.pi * rho) ** 2))
    return max(found)


def _fraction(ball) -> Fraction:
    """The midpoint of a ball as an exact fraction."""
    mantissa, exponent = ball.mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _exactly(number) -> Fraction:
    sign, mantissa, exponent, _ = number._mpf_
    return (-1) ** sign * Fraction(int(mantissa)) * Fraction(2) ** exponent


def _holds(ball, number) -> bool:
    """Whether a ball holds a number that is known to fifty digits."""
    return abs(_fraction(ball) - _exactly(number)) <= _fraction(ball.rad()) + Fraction(10) ** -50


def _above(ball, number, bits) -> bool:
    """Whether an exact ball is at least a number, and hardly larger."""
    gap = _fraction(ball) - _exactly(number)
    return -(Fraction(10) ** -50) <= gap <= abs(_exactly(number)) * Fraction(2) ** (10 - bits)


# At 64 bits a ball is wider than the gaps between doubles: a claim between the true number and the midpoint is false.


def halves_of_balls() -> dict[str, Case]:
    """Claims that are false, and that the midpoint or the wrong end of a ball at 64 bits would allow."""
    from earnshaw.proof.trusted.balls import norm, precision
    from earnshaw.proof.trusted.relu import Point

    cases: dict[str, Case] = {}
    rng = np.random.default_rng(5)
    for point, moved, kind in (("n4 k3 d2", 1e-7, "minimum"), ("saddle n3 k2 d3", 1e-7, "saddle")):
        teacher, student, _ = edges.POINTS[point]
        problem = TwoLayer(np.array(teacher), students=len(student))
        start = prove(problem, np.array(student)).point.weights
        for _ in range(12):
            center = start + moved * rng.standard_normal(start.shape)
            proof = prove(problem, center, polish=False)
            if not proof.certificates:
                continue
            document, truth = proof.certificates[kind].document, Truth(center.tolist(), teacher)
            x = edges.numbers(document)
            with precision(64):
                here = Point(center.tolist(), teacher)
                value, slope = _fraction(here.value()), _fraction(norm(here.gradient().entries()))
            with mp.workdps(DIGITS):
                exact, length = _exactly(truth.value), _exactly(mp.norm(truth.gradient, 2))
            loose = {name: x[name] * edges.LOOSER.get(name, 1.0) for name in x if x[name] is not None}
            for name, claim in (("F_le", _between(value, exact)), ("grad_norm_le", _between(slope, length))):
                if claim is not None:
                    forged = edges.forged(document, loose | {f"claims.{name}": claim}, **_bits(document))
                    cases[f"half: {kind} {name}"] = verdict(forged, False)
    assert {"half: minimum F_le", "half: minimum grad_norm_le", "half: saddle grad_norm_le"} <= set(cases)
    return cases


def _bits(document, bits=64):
    return {"hint": {**document["hint"], "precision": bits}}


def _between(low: Fraction, high: Fraction) -> float | None:
    """A double strictly between two fractions, or None."""
    double = nextafter(float(low), inf)
    for _ in range(3):
        if low < Fraction(double) < high:
            return double
        double = nextafter(double, inf)
    return None


def coarse() -> dict[str, Case]:
    """A false claim must be rejected at any precision: at 40 bits every ball is wider than the claim is false."""
    found = edges.coarse()
    cases = {}
    for name, data in found.items():
        kind = json.loads(data)["kind"]
        cases[f"coarse: {name}"] = _coarse(data, kind, name.endswith("as it is"))
    return cases | adversaries_convexity.coarse()


def _coarse(data, kind, true) -> Case:
    def right(checker: ModuleType) -> bool:
        claims, reading = part(checker, "relu_claims"), part(checker, "reading")
        with part(checker, "balls").precision(40):
            refused = _raises(checker, claims._CHECKS[kind], reading.parse(data, 1.0))
        return refused is not true

    return right


# Sentences: every number in them against the document, and the words around them.

NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.]*[A-Za-z_])")
# For each kind: the words with %s for numbers, and for each number what it is and whether it is a bound from above.
SHOWN = {
    "minimum": [("R_unique", False), ("R_enclosure", True), ("claims.mu_ge", False), ("claims.F_ge", False), ("claims.lambda_min_ge", False)],
    "basin": [("basin.step_lt", False), ("basin.radius", False)],
    "robust": [("robust.delta", False), ("robust.F_ge", False), ("robust.R_enclosure", True), ("robust.R_enclosure", False)],
    "saddle": [("R_enclosure", True), ("claims.curvature_le", True), ("claims.F_ge", False), ("claims.F_le", True)],
}  # fmt: skip
WORDS = {
    "minimum": "spurious local minimum ({shape}{every}): exactly one critical point within # of the center; it lies within #, is a "
    "strict local minimum with Hessian >= # I, and F >= # there while min F = 0; lambda_min >= # at the center",
    "basin": "basin of attraction: exact gradient descent with a fixed step below # from any point within # of the center "
    "converges to this ",
    "robust": "robust: every teacher whose neurons each lie within # of the given ones has a strict spurious minimum with F >= # "
    "within # of the center, and no other critical point within #; for the given teacher: ",
    "saddle": "saddle ({shape}, every dimension D >= d): a critical point within # of the center that is neither a minimum nor a "
    "maximum, with an eigenvalue <= # at the center and # <= F <= #",
}


def said(text: str, words: str, bounds: list[tuple[float, bool]]) -> bool:
    """Whether a sentence has these words, with these numbers at # rounded to the safe side at six digits."""
    pattern = re.escape(words).replace(r"\#", r"(-?[\d.]+(?:e[+-]\d+)?)")
    found = re.fullmatch(pattern, text)
    if found is None or len(found.groups()) != len(bounds):
        return False
    for shown, (number, up) in zip(map(Decimal, found.groups()), bounds, strict=True):
        exact = Decimal(number)
        if not (shown >= exact if up else shown <= exact) or abs(shown - exact) > abs(exact) * Decimal("1e-5"):
            return False
        if len(shown.normalize().as_tuple().digits) > 6:
            return False
    return True


def sentences() -> dict[str, Case]:
    """The sentence of a true certificate of each kind; and of those whose rounded radii would say too much."""
    cases: dict[str, Case] = {}
    for point, proof, _ in edges.proofs():
        for kind, certificate in proof.certificates.items():
            x = edges.numbers(certificate.document)
            cases[f"sentence: {point} {kind}"] = _sentence(
                kind, edges.forged(certificate.document, {}), x, certificate.document
            )
            if kind == "minimum":
                alone = {"claims.lambda_ext_ge": None, "hint.shift_ext": None}
                x = x | alone
                cases[f"sentence: {point} in d alone"] = _sentence(
                    kind, edges.forged(certificate.document, alone), x, certificate.document
                )
    cases |= _tight_radii()
    cases |= adversaries_convnet.sentences(said)
    cases |= adversaries_convexity.sentences(said)
    return cases


def _sentence(kind, data, x, document) -> Case:
    problem = document["problem"]
    shape = f"n = {problem['n']}, k = {problem['k']}, d = {problem['d']}"
    every = "" if x.get("claims.lambda_ext_ge") is None else ", every dimension D >= d"
    kinds = [kind] if kind in ("minimum", "saddle") else [kind, "minimum"]
    words = "".join(WORDS[part].format(shape=shape, every=every) for part in kinds)
    bounds = [(x[name], up) for part in kinds for name, up in SHOWN[part]]
    return lambda checker: said(checker.check_bytes(data)[2], words, bounds)


def _tight_radii() -> dict[str, Case]:
    """r = R: the sentence may not say that the one critical point lies within R rounded down."""
    cases = {}
    name, proof, truth = next(iter(edges.proofs()))
    document = proof.certificates["minimum"].document
    x = edges.numbers(document)
    for inner, outer in ((1.000001e-4, 1.000001e-4), (1.5e-4, 1.5e-4), (1.4999999e-4, 1.5000001e-4)):
        lam, lip = min(x["claims.lambda_min_ge"], x["claims.lambda_ext_ge"]), x["claims.hess_lipschitz_le"]
        mu = 0.9 * (lam - lip * outer)
        edit = {"R_unique": outer, "R_enclosure": inner, "claims.mu_ge": mu, "claims.F_ge": 0.9 * truth.f}
        data = edges.forged(document, edit)
        shape = f"spurious local minimum (n = {truth.n}, k = {truth.k}, d = {truth.d}, every dimension D >= d): "
        rest = "is a strict local minimum with Hessian >= # I, and F >= # there while min F = 0; lambda_min >= # at the center"
        tail = [(mu, False), (0.9 * truth.f, False), (x["claims.lambda_min_ge"], False)]
        if inner < outer:  # both are shown as 0.00015
            words, bounds = (
                "exactly one critical point within # of the center; it lies within #, ",
                [(outer, False), (inner, True)],
            )
        else:
            words, bounds = (
                "a critical point within # of the center, and no other within #; it ",
                [(inner, True), (outer, False)],
            )
        cases[f"sentence: n r = {inner}, R = {outer}"] = (
            lambda checker, data=data, words=shape + words + rest, bounds=[*bounds, *tail]: said(
                checker.check_bytes(data)[2], words, bounds
            )
        )
    assert name
    return cases


# Reading: what a document may look like, and what its check may cost.


def readings() -> dict[str, Case]:
    """Limits of size, cost and shape, each at the last that is allowed and the first that is not."""
    return {
        "reading: costs": _costs,
        "reading: large documents": _large,
        "reading: numbers": _numbers,
        "reading: nulls": _nulls,
        "reading: shapes": _shapes,
        "reading: exact costs": _exact_costs,
        "shown": _shown,
        "reading: nesting": _nesting,
        "catch-all": _catch_all,
        "precision is restored": _precision,
        "limit is passed on": _limit,
    }


def _raises(checker, function, *arguments) -> bool:
    try:
        function(*arguments)
    except checker.Rejected as rejected:
        return len(str(rejected)) > 5
    return False


def _costs(checker) -> bool:
    reading, convexity, convnet = (part(checker, name) for name in ("reading", "convexity", "convnet"))
    allowed = [(54, 44, 44, 128), (256, 256, 1, 128), (20, 20, 20, 1024), (2, 1, 645, 1024), (1, 1, 2580, 128)]
    refused = [
        (1000, 1000, 1, 128),
        (2500, 2500, 1, 64),
        (50, 50, 50, 1024),
        (257, 256, 1, 128),
        (1, 1, 2581, 128),
        (20, 20, 20, 10**6),
    ]
    sets = [(100_000, 20, 3), (300_000, 1, 1), (150_000, 2, 2), (5_000, 30, 10)]
    heavy = [(300_001, 1, 1), (150_001, 2, 2), (52_000, 60, 1), (3_600, 60, 60)]

    def refuses(cost, factor=1.0):
        try:
            reading.afford(factor, *cost)
        except checker.Rejected as rejected:
            return "limit of" in str(rejected)
        return False

    told = ""
    try:
        reading.afford(1.0, ("n", 25, 10))
    except checker.Rejected as rejected:
        told = str(rejected)
    return (
        not any(refuses(reading.costs(*size)) for size in allowed)
        and all(refuses(reading.costs(*size)) for size in refused)
        and not any(refuses(convexity.costs(*size)) for size in sets)
        and all(refuses(convexity.costs(*size)) for size in heavy)
        and not refuses(reading.costs(1000, 1000, 1, 128), 16)
        and refuses(reading.costs(1000, 1000, 1, 128), 15)
        and refuses([("n", 11, 10)])
        and not refuses([("n", 10, 10)])
        and refuses([("n", 1, 10)], float("nan"))
        and refuses([("n", 10, 10), ("m", 11, 10)])
        and "n = 25 exceeds 10" in told
        and "a limit of 3 times" in told
        and convnet.MAX_WEIGHTS == 10_000
    )


def _document(**edits) -> bytes:
    """A document that is well formed and proves nothing."""
    whole = {"format": "earnshaw-certificate/1", "kind": "minimum", "meta": {}, **edits}
    return json.dumps({**whole, "sha256": seal(whole)}).encode()


def _large(checker) -> bool:
    reading = part(checker, "reading")

    def read(data):
        return not _raises(checker, reading.load, data)

    small, large = _document(), _document(kind="convexity")
    marks = sum(large.count(mark) for mark in b",:[{")
    pad = (1 << 20) - len(small)
    commas = _document(kind="convexity", meta={"a": "," * (10_000 - marks - 3), "b": " " * (1 << 20)})
    more = _document(kind="convexity", meta={"a": "," * (10_001 - marks - 3), "b": " " * (1 << 20)})
    return (
        read(small + b" " * pad)
        and not read(small + b" " * (pad + 1))
        and read(large + b" " * ((1 << 25) - len(large)))
        and not read(large + b" " * ((1 << 25) - len(large) + 1))
        and sum(commas.count(mark) for mark in b",:[{") <= 10_000 < sum(more.count(mark) for mark in b",:[{")
        and read(commas)
        and not read(more)
        and read(_document(meta={str(i): "" for i in range(32)}))
        and not read(_document(meta={str(i): "" for i in range(33)}))
    )


def _numbers(checker) -> bool:
    reading = part(checker, "reading")

    def refused(function, *arguments):
        return _raises(checker, function, *arguments)

    longest = (-1.1125369292536007e-308).hex()
    return (
        reading.hex_float("0x1.8000000000000p+0", "x") == 1.5
        and reading.hex_float(longest, "x") == -1.1125369292536007e-308
        and all(
            refused(reading.hex_float, value, "x")
            for value in (
                "1.5",
                "0x1.8p+0",
                "inf",
                "nan",
                "0x1.0000000000000p+9999",
                None,
                1.5,
                True,
                " 0x1.8000000000000p+0",
                "0x" + "0" * 40,
            )
        )
        and [reading.integer(value, "x", 1, 3) for value in (1, 2, 3)] == [1, 2, 3]
        and all(refused(reading.integer, value, "x", 1, 3) for value in (0, 4, True, "2", 2.0, None))
        and reading.matrix([["0x1.0000000000000p+0"] * 2], 1, 2, "m") == [[1.0, 1.0]]
        and all(
            refused(reading.matrix, value, 1, 2, "m")
            for value in (
                None,
                [],
                [["0x1.0000000000000p+0"]],
                ["ab"],
                [["0x1.0000000000000p+0"] * 3],
                [["0x1.0000000000000p+0"] * 2] * 2,
            )
        )
        and reading.exact_keys({"a": 1}, ("a",), "x") == {"a": 1}
        and all(refused(reading.exact_keys, value, ("a",), "x") for value in ({}, {"a": 1, "b": 2}, {"b": 1}, [], None))
        and _says(
            checker, reading.exact_keys, {"A\u00e9\u2028" + "x" * 60: 0, **{f"y{i}": 0 for i in range(20)}}, ("a",), "x"
        )
        and reading._small_int("123456789") == 123456789
        and refused(reading._small_int, "1234567890")
        and refused(reading._no_float, "1" * 90)
        and reading.canonical({"b": 1, "a": "\u00e9", "sha256": "x"}) == b'{"a":"\\u00e9","b":1}'
        and refused(reading.load, _document(format="earnshaw-certificate/2"))
        and refused(reading.load, _document(kind=1))
        and refused(reading.load, b'{"a": 1, "a": 2}')
        and refused(reading.load, b"[]")
        and refused(reading.load, b"\xff")
        and refused(reading.load, json.dumps({**json.loads(_document()), "sha256": "0" * 64}).encode())
        and refused(reading.load, json.dumps({**json.loads(_document()), "sha256": None}).encode())
        and refused(reading.load, _document(meta={"a": 1}))
        and refused(reading.load, _document(meta=[]))
    )


def _says(checker, function, *arguments) -> bool:
    """The reason names at most eight foreign keys, shortened, in ASCII."""
    try:
        function(*arguments)
    except checker.Rejected as rejected:
        text = str(rejected)
        return text.isascii() and len(text) < 200 and "missing ['a']" in text and "y14" in text and "y15" not in text
    return False


def _nulls(checker) -> bool:
    """Nothing is claimed beyond d exactly when there is no shift for it."""
    _, proof, _ = next(iter(edges.proofs()))
    document = proof.certificates["minimum"].document
    both = {"claims.lambda_ext_ge": None, "hint.shift_ext": None}
    one = [edges.forged(document, {name: None}) for name in both]
    return checker.check_bytes(edges.forged(document, both))[0] and not any(
        checker.check_bytes(data)[0] for data in one
    )


def _shapes(checker) -> bool:
    """The smallest document, the ends of the precision, objects in place of lists, and kinds that do not fit their keys."""
    reading, convexity, convnet = (part(checker, name) for name in ("reading", "convexity", "convnet"))
    _, proof, _ = next(iter(edges.proofs()))
    document, one = dict(proof.certificates["minimum"].document), "0x1.0000000000000p+0"
    problem = {**document["problem"], "n": 1, "k": 1, "d": 1, "target": [[one]]}

    def sealed(**edits):
        whole = {**document, "problem": problem, "center": [[one]], **edits}
        return json.dumps({**whole, "sha256": seal(whole)}).encode()

    def bits(number):
        return sealed(hint={**document["hint"], "precision": number})

    def about(**edits):
        return sealed(problem={**problem, **edits})

    def refused(function, data):
        return _raises(checker, function, data, 1.0)

    data_set, net = json.loads(adversaries_convexity.a_true_one()), json.loads(adversaries_convnet.a_true_one())

    def again(whole, **edits):
        whole = {**whole, **edits}
        return json.dumps({**whole, "sha256": seal(whole)}).encode()

    null = reading.parse(
        sealed(claims={**document["claims"], "lambda_ext_ge": None}, hint={**document["hint"], "shift_ext": None}), 1.0
    )
    few = {**data_set, "problem": {**data_set["problem"]}}
    wide = {
        entry: 0
        for entry in (
            one,
            "0x1.8000000000000p+0",
            "0x1.4000000000000p+0",
            "0x1.2000000000000p+0",
            "0x1.1000000000000p+0",
        )
    }
    return (
        reading.parse(sealed(), 1.0).center == [[1.0]]
        and reading.parse(bits(64), 1.0).precision == 64
        and reading.parse(bits(1024), 1.0).precision == 1024
        and all(refused(reading.parse, bits(number)) for number in (63, 1025, 0, True, None))
        and all(refused(reading.parse, about(**{name: 0})) for name in ("n", "k", "d"))
        and refused(reading.parse, sealed(center=[{one: 0}]))
        and refused(reading.parse, sealed(claims={**document["claims"], "F_ge": None}))
        and refused(reading.parse, _document(kind="theorem"))
        and refused(reading.parse, again(data_set))
        and _raises(checker, null.real, "claims.lambda_ext_ge")
        and null.real("claims.F_ge") == float.fromhex(document["claims"]["F_ge"])
        and refused(convexity.parse, again(data_set, kind="minimum"))
        and refused(convnet.parse, again(net, kind="minimum"))
        and refused(convnet.parse, again(net, center=wide))
        and len(net["center"]) == len(wide)
        and _raises(checker, convexity.parse(again(few, claims={**few["claims"], "radius": None}), 1.0).real, "radius")
        and adversaries_convexity.limits_hold(checker, again)
    )


def _exact_costs(checker) -> bool:
    """The counts themselves, from their formulas."""
    reading, convexity = part(checker, "reading"), part(checker, "convexity")
    point = [(count, most) for _, count, most in reading.costs(7, 5, 3, 100)]
    data = [(count, most) for _, count, most in convexity.costs(1000, 7, 3)]
    sizes = (21, 28)
    products = sum(1000 * size * size + 16 * size * size * size for size in sizes)
    return point == [(144 * 100, 2**25), (9261 * 100, 2**41)] and data == [(3000, 300_000), (products, 2**37)]


def _shown(checker) -> bool:
    """Six digits to the safe side, plain from 1e-4 up to a million."""
    shown = part(checker, "balls").shown
    table = {
        (0.1, False): "0.1", (0.1, True): "0.100001", (0.0001234, True): "0.0001234", (0.00001234, False): "1.234e-5",
        (123456.5, False): "123456", (123456.5, True): "123457", (1234567.0, False): "1.23456e+6", (1e6, True): "1e+6",
        (5e-324, False): "4.94065e-324", (5e-324, True): "4.94066e-324", (0.0, True): "0", (-2.5, False): "-2.5",
        (-1 / 3, True): "-0.333333", (-1 / 3, False): "-0.333334", (1.7e308, True): "1.7e+308", (1e5, False): "100000",
    }  # fmt: skip
    return all(shown(number, up=up) == text for (number, up), text in table.items())


def _nesting(checker) -> bool:
    """However deep a document is, it is rejected for what it is, not by the catch-all."""
    for depth in (10, 980, 985, 988, 990, 992, 995, 5000):
        data = b'{"format": "earnshaw-certificate/1", "kind": "minimum", "meta": ' + b"[" * depth + b"]" * depth + b"}"
        verified, _, text = checker.check_bytes(data)
        if verified or "the check stopped" in text:
            return False
    return True


def _catch_all(checker) -> bool:
    """Whatever the check of a kind raises, nothing is verified, and the reason says so."""

    def broken(*_):
        raise ZeroDivisionError("on purpose")

    good = _document(kind="minimum")
    before = dict(checker.CHECKERS)
    checker.CHECKERS["minimum"] = broken
    try:
        verified, kind, text = checker.check_bytes(good)
    finally:
        checker.CHECKERS.update(before)
    unknown = checker.check_bytes(_document(kind="theorem"))
    return (
        (verified, kind) == (False, None)
        and "ZeroDivisionError" in text
        and "unknown kind" in unknown[2]
        and not unknown[0]
    )


def _precision(checker) -> bool:
    from flint import ctx

    balls = part(checker, "balls")
    before = ctx.prec
    with contextlib.suppress(KeyError), balls.precision(99):
        if ctx.prec != 99:
            return False
        raise KeyError
    return ctx.prec == before


def _limit(checker) -> bool:
    """A limit given to `check_bytes`, `check_file` and `verify` reaches every kind; by default it is 1."""
    seen = []
    before = dict(checker.CHECKERS)
    checker.CHECKERS["minimum"] = lambda data, limit: seen.append(limit) or ("minimum", "so")
    try:
        data = _document()
        checker.check_bytes(data)
        checker.check_bytes(data, 7.0)
        checker.verify(data)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "c.json"
            path.write_bytes(data)
            checker.check_file(path, 5.0)
            checker.check_file(path)
    finally:
        checker.CHECKERS.update(before)
    _, proof, _ = next(iter(edges.proofs()))
    true = edges.forged(proof.certificates["minimum"].document, {})
    passed = [
        not checker.check_bytes(data, 1e-9)[0]
        for data in (true, adversaries_convnet.a_true_one(), adversaries_convexity.a_true_one())
    ]
    direct = [
        part(checker, name).verify(data, 1.0)[0]
        for name, data in (
            ("relu_claims", true),
            ("convnet", adversaries_convnet.a_true_one()),
            ("convexity", adversaries_convexity.a_true_one()),
        )
    ]
    return seen == [1.0, 7.0, 1.0, 5.0, 1.0] and all(passed) and direct == ["minimum", "convnet", "convexity"]


def files() -> dict[str, Case]:
    """Paths that are no certificates."""
    return {"files": _files}


def _files(checker) -> bool:
    def refused(path, words):
        verified, kind, text = checker.check_file(path)
        return (verified, kind) == (False, None) and words in text

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        os.mkfifo(place / "pipe")
        _, proof, _ = next(iter(edges.proofs()))
        data = edges.forged(proof.certificates["minimum"].document, {})
        (place / "good.json").write_bytes(data)
        large = adversaries_convexity.a_true_one()
        (place / "long.json").write_bytes(large + b" " * ((1 << 25) - len(large) + 1))
        (place / "full.json").write_bytes(large + b" " * ((1 << 25) - len(large)))
        return (
            checker.check_file(place / "good.json")[:2] == (True, "minimum")
            and refused(place / "long.json", "bytes, more than")
            and checker.check_file(place / "full.json")[:2] == (True, "convexity")
            and refused(place, "not a regular file")
            and refused(place / "pipe", "not a regular file")
            and refused(place / "absent", "No such file")
            and refused("a\0b", "null")
            and refused("/dev/zero", "not a regular file")
        )


# Sums in doubles: against exact fractions, where rounding really goes the wrong way.


def sums() -> dict[str, Case]:
    """The lemmas of sums.py on numbers that lose in every rounding, and the guesses of balls.py when they are bad."""
    return {
        "sums: old": lambda c: adversaries_convexity.sums_hold(part(c, "sums")) is None,
        "sums: roundings": lambda c: adversaries_convexity.rounding_counts(part(c, "convexity")) is None,
        "sums: lengths": _lengths,
        "sums: products": _products,
        "sums: eigenvalues": _eigenvalues,
        "sums: few bits": _few_bits,
        "sums: blocks that are lost": _lost_blocks,
        "relu: pairs that are not told from parallel": _slack,
        "relu: a long direction": _direction,
        "relu: numbers of a saddle": _saddle_norms(),
        "convnet: few bits": adversaries_convnet.few_bits,
        "balls: calculus": lambda c: adversaries.calculus_holds(part(c, "balls"), part(c, "relu"), c.Rejected) is None,
        "balls: roots and eigenvalues": _ball_eigenvalues,
        "convexity: quantities": adversaries_convexity.quantities_hold(),
    }


def _lengths(checker) -> bool:
    balls, module = part(checker, "balls"), part(checker, "sums")
    with balls.precision(128):
        for count in (2, 100, 4000):
            lost = np.concatenate([[1.0], np.full(count, 2.0**-27 * 0.99)])
            exact = 1 + count * Fraction(float(lost[1])) ** 2
            bound = _fraction(module.size(lost)) ** 2
            if not exact <= bound <= exact * (1 + Fraction(8 * count + 8) / 2**53):
                return False
        if not all(
            module.gamma(count).contains(arb(count) * arb(2) ** -53 / (1 - arb(count) * arb(2) ** -53))
            for count in (1, 5, 1000)
        ):
            return False
        x, factors = np.array([[1 + 2.0**-52, 3.0], [5.0, 1 / 3]]), np.array([1 / 3, 1 + 2.0**-52])
        exact = Fraction(0)
        for row, factor in zip(x, factors, strict=True):
            exact += sum((Fraction(float(factor * a)) - Fraction(float(factor)) * Fraction(float(a))) ** 2 for a in row)
        lengths = sum(Fraction(float(a)) ** 2 for a in x.ravel())
        largest = Fraction(float(np.abs(factors).max()))
        for off in (0.0, 2.0**-60, 2.0**-40):
            bound = _fraction(module.slip(x, factors, arb(off))) ** 2
            least = (Fraction(off) + largest / 2**53) ** 2 * lengths
            if not max(exact, least) <= bound <= least * (1 + Fraction(1, 2**40)):
                return False
        signed = _fraction(module.slip(x, -factors, arb(0)))
        return signed == _fraction(module.slip(x, factors, arb(0)))


def _few_bits(checker) -> bool:
    """Every bound of sums.py and balls.py is one-sided at any precision; with 20 bits a wrong side shows."""
    balls, module, relu = (part(checker, name) for name in ("balls", "sums", "relu"))
    rng = np.random.default_rng(9)
    for _ in range(25):
        matrix = rng.standard_normal((3, 3)) / 3
        matrix, x, factors = matrix + matrix.T, rng.standard_normal((4, 2)) / 3, rng.standard_normal(4) / 3
        exact = sum(Fraction(float(a)) ** 2 for a in x.ravel())
        largest = Fraction(float(np.abs(factors).max()))
        with mp.workdps(40):
            values = [_exactly(value) for value in mp.eigsy(mp.matrix(matrix.tolist()), eigvals_only=True)]
        truth = Truth(rng.standard_normal((2, 2)).tolist(), rng.standard_normal((1, 2)).tolist())
        with mp.workdps(DIGITS):
            steep = _exactly(_lipschitz(truth, 2.0**-6, 2.0**-7))
        with balls.precision(20):
            near = module.Near(matrix, arb(1) / 3)
            size, slip = _fraction(module.size(x)), _fraction(module.slip(x, factors, arb(1) / 3))
            whole = module.weighted(x, factors, arb(1) / 3)
            gram = module.gram([x], arb(1) / 3, arb(1) / 3)
            point = relu.Point(truth.rows[:2], truth.rows[2:])
            third = Fraction(1, 3)
            low, high = module.least(near), module.greatest(near)
            top, shift = balls.greatest_eigenvalue(balls.exact(matrix.tolist())), float(values[0]) - 1e-3
            if not (
                all(ball.is_exact() for ball in (low, high, top, whole.error, gram.error, point.shortest()))
                and size**2 >= exact
                and slip**2 >= third**2 * exact
                and slip >= (third + largest / 2**53) * size * (1 - Fraction(1, 10**9)) - Fraction(1, 10**5)
                and _fraction(low) <= values[0] - third
                and _fraction(high) >= values[-1] + third
                and _fraction(whole.error) ** 2 >= third**2 * exact**2
                and _fraction(gram.error) >= third
                and _fraction(top) >= max(-values[0], values[-1])
                and _fraction(balls.least_eigenvalue(balls.exact(matrix.tolist()), shift)) <= values[0]
                and _fraction(point.shortest()) <= _exactly(truth.shortest)
                and _fraction(point.lipschitz(arb(2) ** -6, arb(2) ** -7)) >= steep
                and _holds(point.value(), truth.value)
            ):
                return False
    return True


def _slack(checker) -> bool:
    """Where the area's ball reaches 0 the fractions are bounded by their norms, which here are attained."""
    relu = part(checker, "relu")
    with part(checker, "balls").precision(64):
        point = relu.Point([[2.0, 0.0], [0.0, 3.0]], [[1.0, -5.0]])
        exact = {"pair": point.pair_block(0, 1), "own": point.diagonal_block(0, arb(1))}
        point.length = [arb(1, 0.25), arb(2), arb(3)]
        if not 0.74 < point.shortest() <= 0.75:
            return False
        point = relu.Point([[2.0, 0.0], [0.0, 3.0]], [[1.0, -5.0]])
        point.area[0][1] = point.area[1][0] = arb(0).union(point.area[0][1])
        wide = {"pair": point.pair_block(0, 1), "own": point.diagonal_block(0, arb(1))}
        most = {"pair": 1 / (2 * arb.pi()), "own": arb(6) / (2 * arb.pi() * 4)}
        return all(
            wide[name].contains(exact[name].mid())
            and all(entry.rad() <= most[name] * 1.0001 for entry in wide[name].entries())
            for name in wide
        )


def _saddle_norms() -> Case:
    """The numbers of the Newton-Kantorovich theorem for a given inverse and direction, each a hair beyond, at 40 bits."""
    _, proof, truth = next(entry for entry in edges.proofs() if entry[0] == "saddle n3 k2 d3")
    document = proof.certificates["saddle"].document
    x = next(edges.walks("saddle", truth, edges.numbers(document), 0, np.random.default_rng(0)))
    middle = np.array([[float(entry) for entry in row] for row in truth.hessian.tolist()])
    values, vectors = np.linalg.eigh(middle)
    guess, direction = (vectors / values) @ vectors.T * (1 + 1e-6), vectors[:, 0] * 1.5
    with mp.workdps(DIGITS):
        inverse, along = mp.matrix(guess.tolist()), mp.matrix(direction.tolist())
        column = mp.matrix([truth.gradient[i, a] for i in range(truth.n) for a in range(truth.d)])
        numbers = {
            "claims.newton_step_le": mp.norm(inverse * column, 2),
            "claims.defect_le": mp.norm(mp.eye(len(values)) - inverse * truth.hessian, 2),
            "claims.inverse_norm_le": mp.norm(inverse, 2),
            "claims.curvature_le": (along.T * truth.hessian * along)[0] / (along.T * along)[0],
        }
    numbers = {name: float(number) for name, number in numbers.items()}
    near = x | {name: number * (1.01 if number > 0 else 0.99) for name, number in numbers.items()}
    wrong = [near | {name: number * (1 - 1e-13 if number > 0 else 1 + 1e-13)} for name, number in numbers.items()]
    good, bad = edges.forged(document, near), [edges.forged(document, edit) for edit in wrong]

    def right(checker: ModuleType) -> bool:
        claims, reading = part(checker, "relu_claims"), part(checker, "reading")
        before, size = claims.guesses, len(values)
        given = arb_mat(size, size, guess.ravel().tolist()), arb_mat(size, 1, direction.tolist())
        claims.guesses = lambda hessian: given
        try:
            with part(checker, "balls").precision(42):
                claims._saddle(reading.parse(good, 1.0))
                return all(_raises(checker, claims._saddle, reading.parse(data, 1.0)) for data in bad)
        finally:
            claims.guesses = before

    return right


def _direction(checker) -> bool:
    """The direction of a saddle's negative curvature may have any length."""
    claims = part(checker, "relu_claims")
    proof = adversaries.small_saddle()
    document = proof.certificates["saddle"].document
    bend = edges.numbers(document)["claims.curvature_le"]
    guess = claims.guesses
    claims.guesses = lambda hessian: (guess(hessian)[0], 2 * guess(hessian)[1])
    try:
        return checker.check_bytes(edges.forged(document, {}))[0] and not any(
            checker.check_bytes(edges.forged(document, {"claims.curvature_le": factor * bend}))[0]
            for factor in (2.0, 3.9, 1.001)
        )
    finally:
        claims.guesses = guess


def _lost_blocks(checker) -> bool:
    """Rows that are added one by one to a large sum, and lost every time, are in the error of `gram`."""
    balls, module = part(checker, "balls"), part(checker, "sums")
    count, small = 3000, 2.0**-27 * 0.99
    rows = [np.array([[1.0, 1.0]])] + [np.array([[small, -small]])] * count
    with balls.precision(128):
        near, far = module.gram(rows, arb(0), arb(0)), module.gram([np.array([[3.0]])], arb(2), arb(0))
    if not 16 <= far.error <= 16.0001:  # rows that are 3 and may be 5: 25 - 9
        return False
    lost = Fraction(count) * Fraction(small) ** 2
    distance = sum(
        (Fraction(float(near.entries[a, b])) - (1 + (lost if a == b else -lost))) ** 2 for a in (0, 1) for b in (0, 1)
    )
    return distance <= _fraction(near.error) ** 2 <= 100 * (distance + Fraction(1, 2**80))


def _products(checker) -> bool:
    """Gram matrices and weighted sums must be within the error that comes with them, which must be about as small as can be."""
    balls, module = part(checker, "balls"), part(checker, "sums")
    rng = np.random.default_rng(3)
    x = rng.standard_normal((40, 3)) * 10.0 ** rng.integers(-3, 3, (40, 1))
    factors = rng.standard_normal(40)

    def exact(weights):
        rows = [[Fraction(float(a)) for a in row] for row in x]
        return [
            [sum((w * r[a] * r[b] for w, r in zip(weights, rows, strict=True)), Fraction(0)) for b in range(3)]
            for a in range(3)
        ]

    def distance(near, truth):
        square = sum((Fraction(float(near.entries[a, b])) - truth[a][b]) ** 2 for a in range(3) for b in range(3))
        return float(square) ** 0.5

    with balls.precision(128):
        size = float(np.sum(x**2))
        slipped = factors * (1 + 2.0**-30)
        off = arb(float(np.abs(slipped - factors).max()))
        whole = module.weighted(x, factors, arb(0))
        moved = module.weighted(x, slipped, off)
        blocks = module.gram((x[a : a + 7] for a in range(0, 40, 7)), arb(0), arb(0))
        wide = module.gram([x * (1 + 2.0**-30)], arb(0), arb(2) ** -30)
        apart = module.gram([x + 2.0**-30], arb(2) ** -30 * arb(120).sqrt(), arb(0))
        truth, ones = exact([Fraction(float(f)) for f in factors]), exact([Fraction(1)] * 40)
        checks = [
            (whole, truth, 200 * 2.0**-53 * size * np.abs(factors).max()),
            (moved, truth, 1.1 * 2.0**-30 * size * np.abs(factors).max()),
            (blocks, ones, 100 * 2.0**-53 * size),
            (wide, ones, 2.1 * 2.0**-30 * size),
            (apart, ones, 2.1 * 2.0**-30 * (120 * size) ** 0.5),
        ]
        return (
            all(
                np.array_equal(near.entries, near.entries.T) and distance(near, true) <= float(near.error) <= most
                for near, true, most in checks
            )
            and float(blocks.error) >= 40 * 2.0**-53 * size * 0.9
        )


def _eigenvalues(checker) -> bool:
    """Eigenvalue bounds of symmetric doubles: below the least, above the greatest, and near them; the error counts in full."""
    balls, module = part(checker, "balls"), part(checker, "sums")
    rng = np.random.default_rng(4)
    for count in (1, 2, 6, 30):
        matrix = rng.standard_normal((count, count))
        matrix = matrix + matrix.T
        with mp.workdps(40):
            values = mp.eigsy(mp.matrix(matrix.tolist()), eigvals_only=True)
        with balls.precision(128):
            for error in (0.0, 0.25):
                near = module.Near(matrix, arb(error))
                low, high = module.least(near), module.greatest(near)
                slack = Fraction(300 * count * count) / 2**53
                if not (low.is_exact() and high.is_exact()):
                    return False
                if not 0 <= _exactly(values[0]) - Fraction(error) - _fraction(low) <= slack:
                    return False
                if not 0 <= _fraction(high) - _exactly(values[count - 1]) - Fraction(error) <= slack:
                    return False
    return True


def _ball_eigenvalues(checker) -> bool:
    """The bounds of balls.py on matrices of wide balls, with good and bad guesses."""
    balls = part(checker, "balls")
    rng = np.random.default_rng(6)
    with balls.precision(64):
        for count in (1, 2, 5):
            middle = rng.standard_normal((count, count))
            middle = middle + middle.T
            with mp.workdps(40):
                values = mp.eigsy(mp.matrix(middle.tolist()), eigvals_only=True)
                sizes = mp.eigsy(mp.matrix(np.abs(middle).tolist()), eigvals_only=True)
            low = float(values[0])
            for radius in (0.0, 1e-3):
                matrix = arb_mat(count, count, [arb(float(x), radius) for x in middle.ravel()])
                for shift in (low - 1e-6, low - 1e-2):
                    bound = balls.least_eigenvalue(matrix, shift)
                    if not (bound.is_exact() and Fraction(shift) - _fraction(bound) >= Fraction(radius) * count):
                        return False
                    if not Fraction(shift) - _fraction(bound) <= Fraction(radius) * count * Fraction(
                        1001, 1000
                    ) + Fraction(1, 10**13):
                        return False
                top = balls.greatest_eigenvalue(matrix)
                if not (top.is_exact() and _exactly(sizes[count - 1]) <= _fraction(top)):
                    return False
                if radius == 0.0 and not _fraction(top) <= _exactly(sizes[count - 1]) * Fraction(102, 100) + Fraction(
                    1, 10**6
                ):
                    return False
                if radius and not _fraction(top) >= _exactly(sizes[count - 1]) + Fraction(radius) * Fraction(1, 2):
                    return False
        little = balls.greatest_eigenvalue(arb_mat(2, 2, [0.01, 0, 0, -0.02]))
        if not 0.02 <= little <= 0.021:
            return False
        wide = [arb(3, 0.5), arb(-4, 0.25)]
        length, square = balls.norm(wide), arb(0.25, 0.5)
        third = arb(1) / 3
        return (
            length.contains(balls.norm([arb(2.5), arb(-3.75)]))
            and length.contains(balls.norm([arb(3.5), arb(-4.25)]))
            and balls.norm([]).is_zero()
            and balls.root(square).contains(arb(0))
            and balls.root(square).contains(arb(0.75).sqrt())
            and balls.root(arb(9)) == 3
            and balls.root(third) ** 2 > 0.333
            and balls.root(third).overlaps(arb(3).sqrt() / 3)
            and balls.root(third).rad() < 1e-18
            and not balls.root(arb(-1e-9, 2e-9)).contains(arb(1e-4))
            and balls.exact([[1.5, -2.0]]) == arb_mat(1, 2, [1.5, -2])
            and balls.floats(arb_mat(1, 2, [third, 2])).tolist() == [[1 / 3, 2.0]]
        )
