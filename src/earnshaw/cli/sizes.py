"""Reading ``-k 6..20 -n k+1``."""

from __future__ import annotations

import re

from earnshaw.errors import InputError

_NUMBER = re.compile(r"\d+")
_RANGE = re.compile(r"(\d+)\.\.(\d+)")
_RELATIVE = re.compile(r"k(?:([+-])(\d+))?")
_BETWEEN = re.compile(r"(k(?:[+-]\d+)?|\d+)\.\.(k(?:[+-]\d+)?|\d+)")


def teacher_sizes(text: str) -> list[int]:
    """Return the values of ``-k``: a number, or a range such as 6..20."""
    if _NUMBER.fullmatch(text):
        sizes = [int(text)]
    elif match := _RANGE.fullmatch(text):
        sizes = list(range(int(match[1]), int(match[2]) + 1))
    else:
        raise InputError(f"-k {text} was given; use a number such as 10, or a range such as 6..20")
    if not sizes or sizes[0] < 1:
        raise InputError(f"-k {text} was given; k must be at least 1, and a range must not be empty")
    return sizes


def student_sizes(text: str, teachers: int) -> list[int]:
    """Return the values of ``-n`` for one k: a number, relative to k such as k+1, or a range of either such as k-2..k."""
    if match := _BETWEEN.fullmatch(text):
        sizes = list(range(_size(match[1], teachers), _size(match[2], teachers) + 1))
    elif _NUMBER.fullmatch(text) or _RELATIVE.fullmatch(text):
        sizes = [_size(text, teachers)]
    else:
        raise InputError(
            f"-n {text} was given; use a number such as 10, k, k+1, k-2, or a range such as 6..20 or k-2..k"
        )
    if not sizes or sizes[0] < 1:
        raise InputError(
            f"-n {text} was given; for k = {teachers} it means {sizes or 'nothing'}, but n must be at least 1"
        )
    return sizes


def _size(text: str, teachers: int) -> int:
    """Return what a number, or k+1, means for one k."""
    match = _RELATIVE.fullmatch(text)
    return teachers + int(f"{match[1] or '+'}{match[2] or 0}") if match else int(text)


def paper_grid(largest: int = 20) -> list[tuple[int, int]]:
    """Return all (k, n) of Safran & Shamir: 1 <= k <= n <= 20."""
    return [(k, n) for k in range(1, largest + 1) for n in range(k, largest + 1)]
