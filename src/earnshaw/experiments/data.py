"""A user's own data: from files to rows, with one clear sentence for everything that can be wrong."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from earnshaw.errors import InputError
from earnshaw.landscapes.rows import Rows
from earnshaw.store import read_npz, regular


def read_data(data: Path, labels: Path | None = None) -> Rows:
    """Return the rows of an ``.npz`` with x and y, of two ``.npy`` files (memory-mapped), or of a CSV.

    A CSV has one row for each sample and the label in its last column; a first line that is not numbers is a header.
    """
    if labels is not None:
        return Rows.open(data, labels)
    if data.suffix == ".npz":
        return _from_npz(data)
    if data.suffix in (".csv", ".txt"):
        return _from_csv(data)
    if data.suffix == ".npy":
        raise InputError(f"{data} holds the inputs only; give the labels too: earnshaw fit x.npy y.npy")
    raise InputError(f"{data} has an unknown ending; give an .npz with x and y, two .npy files, or a .csv")


def _from_npz(path: Path) -> Rows:
    arrays = read_npz(path)
    missing = " and no array ".join(name for name in ("x", "y") if name not in arrays)
    if missing:
        held = ", ".join(arrays) or "nothing"
        raise InputError(f"{path} has no array {missing} (it holds {held}); save x (n, d) and y (n,)")
    return Rows.of(arrays["x"], arrays["y"])


def _from_csv(path: Path) -> Rows:
    try:
        with regular(path).open(newline="", encoding="utf-8-sig") as stream:
            lines = [(number, row) for number, row in enumerate(csv.reader(stream), start=1) if row]
    except OSError as error:
        raise InputError(f"cannot read {path} ({error.strerror})") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path} is not a CSV file ({error})") from None
    if lines and all(text.strip() and _number(text) is None for text in lines[0][1]):
        lines = lines[1:]  # a header, which has no numbers and no missing ones
    if not lines:
        raise InputError(f"{path} has no rows of numbers; give one row for each sample, the label last")
    width = len(lines[0][1])
    if width < 2:
        raise InputError(f"{path} has one column; give the inputs and, in the last column, the label")
    table = np.empty((len(lines), width))
    for index, (number, row) in enumerate(lines):
        if len(row) != width:
            found = f"line {number} of {path} has {len(row)} columns where the first has {width}"
            raise InputError(f"{found}; make them equal")
        for column, text in enumerate(row):
            where, value = f"line {number}, column {column + 1} of {path}", _number(text)
            if text.strip().lower() in ("", "na", "nan", "null", "none", "?"):
                raise InputError(f"{where} is missing; remove or fill such rows")
            if value is None:
                raise InputError(f"{where} is {text.strip()!r}, which is not a number")
            table[index, column] = value
    return Rows(table[:, :-1], table[:, -1])


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def looks_standard_normal(rows: Rows) -> bool:
    """Whether means and covariances are near those of standard normal inputs, which the tensor method assumes."""
    total, square = rows.total(lambda x, y: (x.sum(0), x.T @ x))
    if not np.isfinite(square).all():
        return True  # validation will say what is wrong with them
    mean = total / len(rows)
    covariance = square / len(rows) - np.outer(mean, mean)
    slack = 0.1 + 6 / np.sqrt(len(rows))
    return bool(np.abs(mean).max() < slack and np.abs(covariance - np.eye(len(mean))).max() < 2 * slack)
