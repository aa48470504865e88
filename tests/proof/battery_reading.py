"""Cases of reading and of files: what a document may look like, what its check may cost, and what is no certificate."""

import contextlib
import decimal
import json
import os
import tempfile
from pathlib import Path

import adversaries_convexity
import adversaries_convnet
import edges
from cases import Case, part, raises

from earnshaw.proof.trusted.reading import seal


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
        return not raises(checker, reading.load, data)

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
        return raises(checker, function, *arguments)

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
        return raises(checker, function, data, 1.0)

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
        and raises(checker, null.real, "claims.lambda_ext_ge")
        and null.real("claims.F_ge") == float.fromhex(document["claims"]["F_ge"])
        and refused(convexity.parse, again(data_set, kind="minimum"))
        and refused(convnet.parse, again(net, kind="minimum"))
        and refused(convnet.parse, again(net, center=wide))
        and len(net["center"]) == len(wide)
        and raises(checker, convexity.parse(again(few, claims={**few["claims"], "radius": None}), 1.0).real, "radius")
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
    right = all(shown(number, up=up) == text for (number, up), text in table.items())
    for rounding in ("ROUND_CEILING", "ROUND_FLOOR"):  # whatever the program around it does with decimals
        with decimal.localcontext(prec=2, rounding=rounding):
            right = right and all(shown(number, up=up) == text for (number, up), text in table.items())
    return right


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
