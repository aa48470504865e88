"""Fuzzing: whatever bytes arrive, the checker answers, quickly, and never says VERIFIED."""

import json
import random
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from earnshaw.proof.trusted import check_bytes, relu, relu_claims
from earnshaw.proof.trusted.reading import KINDS, seal

SETTINGS = settings(
    derandomize=True, deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

hexes = st.floats(allow_nan=True, allow_infinity=True).map(float.hex)
scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=12), hexes)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
)


@SETTINGS
@given(st.binary(max_size=400))
def test_bytes(data):
    assert not check_bytes(data)[0]


@SETTINGS
@given(values)
def test_any_json(value):
    assert not check_bytes(json.dumps(value).encode())[0]


@SETTINGS
@given(kind=st.sampled_from(sorted(KINDS)), place=st.integers(0, 10**6), value=values)
def test_one_value_replaced_and_resealed(forger, kind, place, value):
    """Replace one value anywhere; places where a true claim could stay true (weaker numbers, remarks) are spared."""
    document = forger.edited(kind)
    places = [
        (key, inner) for key in document for inner in ([None, *document[key]] if _is_dict(document[key]) else [None])
    ]
    key, inner = places[place % len(places)]
    if key in ("meta", "sha256"):
        return
    old = document[key] if inner is None else document[key][inner]
    if isinstance(value, str) and isinstance(old, str):
        return
    if type(value) is int and inner == "precision":
        return
    if inner is None:
        document[key] = value
    else:
        document[key] = {**document[key], inner: value}
    if value == old or (value is None and inner in ("lambda_ext_ge", "shift_ext")):
        return
    accepted, _, reason = check_bytes(forger.sealed(document))
    assert not accepted, (key, inner, value)
    assert "the check stopped" not in reason, reason


@SETTINGS
@given(number=st.floats(allow_nan=False, allow_infinity=False), place=st.integers(0, 10**6))
def test_a_coordinate_replaced_and_resealed(forger, number, place):
    """The center of a tight certificate may move by no more than rounding; a random double is never that close."""
    document = forger.edited("minimum")
    center = [row[:] for row in document["center"]]
    i, a = place % 6, place // 6 % 6
    if center[i][a] == number.hex():
        return
    center[i][a] = number.hex()
    accepted, _, reason = check_bytes(forger.sealed({**document, "center": center}))
    assert not accepted
    assert "the check stopped" not in reason, reason


def test_flipped_bytes(forger):
    """No flipped byte of the file, sealed or not, is ever verified unless the hash happens to be untouched JSON."""
    rng = random.Random(0)
    data = forger.forged("minimum")
    for _ in range(1500):
        damaged = bytearray(data)
        damaged[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        if json_equal(bytes(damaged), data):
            continue
        assert not check_bytes(bytes(damaged))[0]


def json_equal(one, two):
    """Whether two texts are the same JSON: whitespace may differ without harm."""
    try:
        return json.loads(one) == json.loads(two)
    except ValueError:
        return False


def _is_dict(value):
    return isinstance(value, dict)


def test_the_largest_allowed_document_is_answered_with_little_work(forger, monkeypatch):
    """A document of the largest size, far from critical, is rejected before any large matrix is built."""
    n = d = 50
    row = [(1.0).hex()] * d
    target = [[float(a == j).hex() for a in range(d)] for j in range(n)]
    problem = {"n": n, "k": n, "d": d, "target": target, "objective": "two-layer/relu"}
    monkeypatch.setattr(relu.Point, "hessian", None)  # to call it would stop the check with another sentence
    accepted, _, reason = check_bytes(forger.forged("minimum", problem=problem, center=[row] * n))
    assert not accepted
    assert "hess_lipschitz_le" in reason or "gradient" in reason


@SETTINGS
@given(place=st.integers(0, 10**6), value=values)
def test_one_value_of_a_data_set_replaced_and_resealed(convexity_verdicts, place, value):
    document = json.loads(convexity_verdicts[1]["sigmoid: tight"])
    places = [
        (key, inner) for key in document for inner in ([None, *document[key]] if _is_dict(document[key]) else [None])
    ]
    key, inner = places[place % len(places)]
    old = document[key] if inner is None else document[key][inner]
    if key in ("meta", "sha256", "hint") or (isinstance(value, str) and isinstance(old, str)) or value == old:
        return
    if inner == "minimiser_within" and value is None:
        return
    document[key] = value if inner is None else {**document[key], inner: value}
    accepted, _, reason = check_bytes(json.dumps({**document, "sha256": seal(document)}).encode())
    assert not accepted, (key, inner, value)
    assert "the check stopped" not in reason, reason


@pytest.mark.parametrize(("n", "d", "bits"), [(1000, 1, 128), (2500, 1, 64), (50, 50, 1024), (300, 8, 128)])
def test_what_costs_too_much_is_refused_before_any_arithmetic(forger, monkeypatch, n, d, bits):
    """Files of some kilobytes that cost minutes and gigabytes; a larger limit lets them go on."""
    monkeypatch.setattr(relu_claims, "Point", None)  # to build it would stop the check with another sentence
    rows = [[(1.0).hex()] * d] * n
    problem = {"n": n, "k": n, "d": d, "target": rows, "objective": "two-layer/relu"}
    hint = {**forger.documents["minimum"]["hint"], "precision": bits}
    data = forger.forged("minimum", problem=problem, center=rows, hint=hint)
    accepted, _, reason = check_bytes(data)
    assert not accepted
    assert "would cost too much" in reason
    factor = float(re.search(r"with a limit of (\d+) times", reason)[1])
    assert "the check stopped" in check_bytes(data, factor)[2]  # where there is no Point
    assert "would cost too much" in check_bytes(data, factor / 2)[2]
