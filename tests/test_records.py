"""Records: what a dataclass holds goes through JSON and through arrays, exactly."""

import dataclasses
import json
import math
from enum import Enum
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earnshaw.errors import InputError
from earnshaw.records import decode, encode, pack, unpack


class Colour(Enum):
    RED = "the first"
    BLUE = "the second"


@dataclasses.dataclass(frozen=True)
class Inner:
    ratio: float
    colour: Colour = Colour.RED


@dataclasses.dataclass(frozen=True)
class Outer:
    name: str
    count: int
    flag: bool
    size: float | None
    inner: Inner
    several: tuple[Inner, ...]
    numbers: np.ndarray

    def to_json(self) -> dict[str, Any]:
        return {entry.name: encode(getattr(self, entry.name)) for entry in dataclasses.fields(self)}


EXAMPLE = Outer("x", 3, True, None, Inner(1 / 3, Colour.BLUE), (Inner(math.inf), Inner(-0.1)), np.eye(2, 3))


def same(first, second):
    pairs = [(getattr(first, e.name), getattr(second, e.name)) for e in dataclasses.fields(first)]
    return all(np.array_equal(a, b) and type(a) is type(b) for a, b in pairs)


def test_a_dataclass_goes_through_json_and_arrays_exactly():
    assert same(EXAMPLE, decode(Outer, json.loads(json.dumps(encode(EXAMPLE), allow_nan=False))))
    arrays = pack(EXAMPLE)
    assert np.array_equal(arrays["numbers"], np.eye(2, 3))
    assert same(EXAMPLE, unpack(Outer, arrays))


@given(st.floats(allow_nan=False), st.integers(-(2**60), 2**60))
def test_no_number_is_rounded(x, n):
    inner = dataclasses.replace(EXAMPLE, inner=Inner(x), count=n)
    found = decode(Outer, json.loads(json.dumps(encode(inner))))
    assert (found.inner.ratio, found.count) == (x, n)
    assert math.copysign(1, found.inner.ratio) == math.copysign(1, x)


@pytest.mark.parametrize(
    "change",
    [
        {"name": 5},
        {"count": "3"},
        {"count": True},
        {"flag": 1},
        {"size": 0.5},
        {"size": "0xzz"},
        {"inner": {"ratio": "0x1p0"}},
        {"inner": {"ratio": "0x1p0", "colour": "green"}},
        {"inner": 3},
        {"several": 3},
        {"numbers": [1.0]},
        {"numbers": {"dtype": "<f8", "shape": [9], "base64": "AAAA"}},
        {"more": 1},
    ],
)
def test_bad_content_is_a_sentence(change):
    with pytest.raises(InputError):
        decode(Outer, encode(EXAMPLE) | change)


def test_arrays_of_something_else_are_a_sentence():
    with pytest.raises(InputError, match="hold no Outer"):
        unpack(Outer, {"name": np.array('"x"')})
