"""Records: frozen dataclasses as exact JSON and back, and as arrays of a file and back.

In JSON a float is its hexadecimal form, so that nothing is rounded, an enum its name in small letters, and an array its
shape and the base64 of its little-endian bytes. What a class writes and reads by its own ``to_json`` and ``from_json`` is
left to it.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import types
import typing
from collections.abc import Mapping
from enum import Enum
from typing import Any, TypeVar

import numpy as np

from earnshaw.errors import InputError

T = TypeVar("T")


def encode(value: Any) -> Any:
    """Return a value as plain JSON data."""
    if hasattr(value, "to_json"):
        return value.to_json()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return fields_of(value)
    if isinstance(value, Enum):
        return value.name.lower()
    if isinstance(value, np.ndarray):
        exact = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
        text = base64.b64encode(exact.tobytes()).decode("ascii")
        return {"dtype": exact.dtype.str, "shape": list(value.shape), "base64": text}
    if isinstance(value, np.generic):
        return encode(value.item())
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, list | tuple):
        return [encode(entry) for entry in value]
    if isinstance(value, Mapping):
        return {str(key): encode(entry) for key, entry in value.items()}
    return value


def fields_of(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass as plain JSON data, by name."""
    return {entry.name: encode(getattr(value, entry.name)) for entry in dataclasses.fields(value)}


def decode(cls: type[T], record: Any, **given: Any) -> T:
    """Return the dataclass of a record of its fields; ``given`` are fields that the record leaves out.

    Bad content raises :class:`InputError`.
    """
    wanted = {entry.name for entry in dataclasses.fields(cls)} - set(given)  # type: ignore[arg-type]
    if not isinstance(record, Mapping) or set(record) != wanted:
        raise InputError(f"a record of {cls.__name__} needs exactly the keys {sorted(wanted)}")
    types_of = typing.get_type_hints(cls)
    return cls(**{name: _value(types_of[name], record[name], name) for name in wanted}, **given)


def _value(hint: Any, record: Any, name: str) -> Any:
    """Return a value of the hinted type from plain JSON data."""
    options = typing.get_args(hint) if typing.get_origin(hint) in (types.UnionType, typing.Union) else (hint,)
    if record is None and type(None) in options:
        return None
    hint = next(option for option in options if option is not type(None))
    origin: Any = typing.get_origin(hint) or hint
    content: Any = record
    try:
        if origin is np.ndarray:
            numbers = base64.b64decode(content["base64"], validate=True)
            return np.frombuffer(numbers, dtype=content["dtype"]).reshape(content["shape"]).copy()
        if origin is tuple:
            return tuple(_value(typing.get_args(hint)[0], entry, name) for entry in content)
        if origin in (dict, Mapping):
            return {key: float.fromhex(x) if str(x).startswith(("0x", "-0x")) else x for key, x in content.items()}
        if hasattr(origin, "from_json"):
            return origin.from_json(content)
        if isinstance(origin, type) and issubclass(origin, Enum):
            return origin[content.upper()]
        if dataclasses.is_dataclass(origin):
            return decode(origin, content)  # type: ignore[arg-type]
        if origin is float:
            return float.fromhex(content)
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name} cannot be read from {record!r:.60} ({type(error).__name__})") from None
    if isinstance(origin, type) and origin in (int, str, bool) and type(record) is not origin:
        raise InputError(f"{name} is {record!r:.60}; a value of type {origin.__name__} is needed")
    return record


# ---- as arrays ------------------------------------------------------------------------------------------------------


def pack(value: Any) -> dict[str, np.ndarray]:
    """Return a dataclass as the arrays of a file: its arrays as they are, everything else as JSON text."""
    held = {entry.name: getattr(value, entry.name) for entry in dataclasses.fields(value)}
    return {name: x if isinstance(x, np.ndarray) else np.array(json.dumps(encode(x))) for name, x in held.items()}


def unpack(cls: type[T], arrays: Mapping[str, np.ndarray]) -> T:
    """Return the dataclass of the arrays that :func:`pack` made."""
    hints = typing.get_type_hints(cls)
    try:
        held: dict[str, Any] = {entry.name: arrays[entry.name] for entry in dataclasses.fields(cls)}  # type: ignore[arg-type]
        for name, array in held.items():
            if array.dtype.kind == "U":
                held[name] = _value(hints[name], json.loads(str(array)), name)
    except (KeyError, ValueError) as error:
        what = f"these arrays hold no {cls.__name__} ({error})"
        raise InputError(f"{what}; the file is damaged or of another kind") from None
    return cls(**held)
