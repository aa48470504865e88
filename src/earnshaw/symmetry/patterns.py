r"""Points with many equal entries: their value and spectrum from a handful of numbers, at a cost that does not grow with k.

A pattern puts the coordinates into groups. A row of the pattern is either one neuron, or a family of neurons, one for each
coordinate of a group, that differ by permutations of it. A point with the pattern is fixed by the group
:math:`G = \prod_c S_{q_c}`, which permutes the q_c coordinates of a group together with the neurons paired with them, and
so is given by few numbers: for each row and group the entry, and for a family and its own group the entry at the paired
coordinate and the one at the others.

The Hessian commutes with G and splits into blocks, one for each irreducible representation in the weights: the trivial one,
the standard one of each :math:`S_q` (of dimension q - 1), (q-2, 1, 1), (q-2, 2), and products of two standard ones. Every
one of them has exactly one vector, up to those with the same behaviour, that is fixed by :math:`\prod_c S_{q_c-2}` and is
written down here: an entry changes sign when the two coordinates singled out are exchanged, and so on. The block is the
Hessian on these vectors, which are patterns themselves, with two single coordinates in each group; docs/symmetry.md.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from earnshaw.errors import InputError
from earnshaw.problems.named import product_name
from earnshaw.symmetry.reduced import Reduced

Array = NDArray[np.float64]


class Entry(NamedTuple):
    """A number of a pattern: row ``row`` at coordinates of ``group``; ``paired`` if at the neuron's own coordinate."""

    row: int
    group: int
    paired: bool


@dataclass(frozen=True)
class Pattern:
    """Groups of coordinates, and rows: single neurons, or families of one neuron for each coordinate of a group.

    Attributes
    ----------
    sizes : how many coordinates each group has.
    rows : for each row the group that it is a family of; None for a single neuron.
    taught : for each group whether the teacher has a unit vector along each of its coordinates.
    """

    sizes: tuple[int, ...]
    rows: tuple[int | None, ...]
    taught: tuple[bool, ...]

    @classmethod
    def of(cls, sizes: tuple[int, ...], rows: tuple[int | None, ...], untaught: int = 0) -> Pattern:
        """Return a pattern whose groups are all taught, with so many further coordinates that are not."""
        every, taught = (*sizes, *[1] * untaught), (*[True] * len(sizes), *[False] * untaught)
        if not every or min(every) < 1 or not rows or not all(row is None or 0 <= row < len(sizes) for row in rows):
            raise InputError(
                f"groups of sizes {sizes} and rows {rows} are no pattern; a row is a group's number or None"
            )
        return cls(every, rows, taught)

    @property
    def name(self) -> str:
        """The group, larger factors first: S_17 x S_2; trivial ones are left out."""
        return product_name(self.sizes)

    @property
    def neurons(self) -> int:
        """How many neurons a point has."""
        return sum(self._copies(row) for row in self.rows)

    @property
    def dimension(self) -> int:
        """How many coordinates a point has."""
        return sum(self.sizes)

    def _copies(self, row: int | None) -> int:
        return 1 if row is None else self.sizes[row]

    @functools.cached_property
    def entries(self) -> tuple[Entry, ...]:
        """The numbers that give a point, in order."""
        found = []
        for row, own in enumerate(self.rows):
            for group, size in enumerate(self.sizes):
                found += [Entry(row, group, True)] * (group == own) + [Entry(row, group, False)] * (
                    group != own or size > 1
                )
        return tuple(found)

    @functools.cached_property
    def counts(self) -> Array:
        """How many entries of the weights each number stands for."""

        def count(entry: Entry) -> int:
            own, size = self.rows[entry.row], self.sizes[entry.group]
            return size if entry.paired else self._copies(own) * (size - (entry.group == own))

        return np.array([count(entry) for entry in self.entries], dtype=np.float64)

    def _places(self) -> Iterator[tuple[int, int, Entry]]:
        """Yield neuron, coordinate and entry of every weight."""
        begins, neuron = np.cumsum([0, *self.sizes]), 0
        for row, own in enumerate(self.rows):
            for copy in range(self._copies(own)):
                for group, size in enumerate(self.sizes):
                    for place in range(size):
                        yield neuron, int(begins[group]) + place, Entry(row, group, group == own and place == copy)
                neuron += 1

    def weights(self, numbers: Array) -> Array:
        """Return the point (n, d) that has these numbers."""
        by_entry, full = dict(zip(self.entries, numbers, strict=True)), np.empty((self.neurons, self.dimension))
        for neuron, coordinate, entry in self._places():
            full[neuron, coordinate] = by_entry[entry]
        return full

    def numbers(self, weights: Array) -> Array:
        """Return the means of the entries that a point with the pattern has in common."""
        total = dict.fromkeys(self.entries, 0.0)
        for neuron, coordinate, entry in self._places():
            total[entry] += weights[neuron, coordinate]
        return np.array([total[entry] for entry in self.entries]) / self.counts

    def value(self, numbers: Array) -> float:
        """Return the loss F."""
        return self._reduced.value(numbers)

    def gradient(self, numbers: Array) -> Array:
        """Return the derivatives of F by the numbers; one entry of the weights' gradient is this over ``counts``."""
        return self._reduced.gradient(numbers)

    def hessian(self, numbers: Array) -> Array:
        """Return the second derivatives of F by the numbers."""
        return self._reduced.hessian(numbers)

    @functools.cached_property
    def _reduced(self) -> Reduced:
        return Reduced(self.sizes, self.rows, self.taught, self.entries)

    def settle(self, numbers: Array, steps: int = 30) -> Array:
        """Return the critical point that Newton's method reaches; where it reaches none, :class:`InputError`."""
        scale = np.sqrt(self.counts)
        for _ in range(steps):
            gradient = self.gradient(numbers) / scale
            if not np.isfinite(gradient).all():
                break
            if np.linalg.norm(gradient) < 1e-14 * math.sqrt(self.dimension):
                return numbers
            step = np.linalg.lstsq(self.hessian(numbers) / np.outer(scale, scale), gradient, rcond=None)[0] / scale
            numbers = numbers - step * min(1.0, 0.5 / float(np.abs(step).max()))
        norm = float(np.linalg.norm(self.gradient(numbers) / scale))
        if norm < 1e-11 * math.sqrt(self.dimension):
            return numbers
        raise InputError(f"Newton's method finds no critical point of type {self.name} there; start nearer to one")

    def blocks(self, numbers: Array) -> list[Block]:
        """Return all blocks of the Hessian at the point with these numbers."""
        fine, owner = self._split()
        coarse = dict(zip(self.entries, numbers, strict=True))
        copied = [coarse[Entry(owner.rows[e.row][0], owner.groups[e.group][0], e.paired)] for e in fine.entries]
        form, count = fine.hessian(np.array(copied)), fine.counts
        found = []
        for name, multiplicity, functions in self._representations():
            vectors = np.array([[f(*_look(owner, e)) for e in fine.entries] for f in functions]).T
            vectors = vectors[:, _independent(vectors * np.sqrt(count)[:, None])]
            if multiplicity and vectors.size:
                unit = np.linalg.qr(vectors * np.sqrt(count)[:, None])[0] / np.sqrt(count)[:, None]
                found.append(Block(name, multiplicity, unit.T @ form @ unit))
        return found

    def spectrum(self, numbers: Array) -> tuple[Array, NDArray[np.int64]]:
        """Return the Hessian's eigenvalues in ascending order, and how often the full Hessian has each."""
        parts = [
            (value, block.multiplicity) for block in self.blocks(numbers) for value in np.linalg.eigvalsh(block.matrix)
        ]
        values, times = np.array(parts).T
        order = np.argsort(values, kind="stable")
        return values[order], times[order].astype(np.int64)

    def _split(self) -> tuple[Pattern, Owner]:
        """Return the pattern in which two coordinates of each group stand alone, and where its groups and rows come from."""
        groups: list[tuple[int, str]] = []
        for group, size in enumerate(self.sizes):
            groups += [(group, label) for label, room in (("0", size > 0), ("1", size > 1), ("r", size > 2)) if room]
        rows: list[tuple[int, str]] = []
        ties: list[int | None] = []
        for row, own in enumerate(self.rows):
            if own is None:
                rows.append((row, ""))
                ties.append(None)
            else:
                mine = [index for index, (group, _) in enumerate(groups) if group == own]
                rows += [(row, groups[index][1]) for index in mine]
                ties += mine
        sizes = tuple(self.sizes[group] - 2 if label == "r" else 1 for group, label in groups)
        fine = Pattern(sizes, tuple(ties), tuple(self.taught[group] for group, _ in groups))
        return fine, Owner(tuple(groups), tuple(rows))

    def _representations(self) -> Iterator[tuple[str, int, list[Vector]]]:
        """Yield each irreducible representation: its name, its dimension, and functions of an entry that span its vectors."""
        yield "trivial", 1, [_indicator(entry) for entry in self.entries]
        for c, q in enumerate(self.sizes):
            if q > 1:
                yield f"standard of group {c}", q - 1, list(self._standard(c))
            families = [row for row, own in enumerate(self.rows) if own == c]
            if q > 2:
                odd = {pair: s if "r" not in pair else s / (q - 2) for pair, s in _SIGNS.items()}
                yield f"(q-2, 1, 1) of group {c}", (q - 1) * (q - 2) // 2, [_inside(row, c, odd) for row in families]
            if q > 3:
                even = {pair: -1.0 / (q - 2) if "r" in pair else 1.0 for pair in _SIGNS}
                even["rr"] = 2.0 / ((q - 2) * (q - 3))
                yield f"(q-2, 2) of group {c}", q * (q - 3) // 2, [_inside(row, c, even) for row in families]
            for other in range(c + 1, len(self.sizes)):
                pairs = [
                    (row, far)
                    for row, own in enumerate(self.rows)
                    for near, far in ((c, other), (other, c))
                    if own == near
                ]
                if q > 1 and self.sizes[other] > 1:
                    dimension = (q - 1) * (self.sizes[other] - 1)
                    yield f"standard of groups {c} and {other}", dimension, [_product(row, far) for row, far in pairs]

    def _standard(self, c: int) -> Iterator[Vector]:
        for row, own in enumerate(self.rows):
            if own == c:
                yield _alpha(row, c, paired=True, by_row=True)
                yield _alpha(row, c, paired=False, by_row=True)
                for group in range(len(self.sizes)):
                    if group != c:
                        yield _alpha(row, group, paired=False, by_row=True)
            yield _alpha(row, c, paired=False, by_row=False)


@dataclass(frozen=True)
class Block:
    """A block of the Hessian: the matrix, of which the full Hessian has as many copies as the representation has dimensions."""

    name: str
    multiplicity: int
    matrix: Array


class Owner(NamedTuple):
    """Which group or row each of the split pattern comes from, and which of its parts it is: "0", "1" or the rest, "r"."""

    groups: tuple[tuple[int, str], ...]
    rows: tuple[tuple[int, str], ...]


# The row and its part, the group and its part, and whether the neuron is at its own coordinate.
Vector = Callable[[int, str, int, str, bool], float]
_ALPHA = {"0": 1.0, "1": -1.0}
_SIGNS = {"01": 1.0, "10": -1.0, "0r": -1.0, "r0": 1.0, "1r": 1.0, "r1": -1.0}


def _look(owner: Owner, entry: Entry) -> tuple[int, str, int, str, bool]:
    return *owner.rows[entry.row], *owner.groups[entry.group], entry.paired


def _indicator(entry: Entry) -> Vector:
    return lambda row, _, group, __, paired: float(Entry(row, group, paired) == entry)


def _alpha(row: int, group: int, paired: bool, by_row: bool) -> Vector:
    def vector(at: int, part: str, where: int, place: str, own: bool) -> float:
        return _ALPHA.get(part if by_row else place, 0.0) * ((at, where, own) == (row, group, paired))

    return vector


def _inside(row: int, group: int, entries: dict[str, float]) -> Vector:
    def vector(at: int, part: str, where: int, place: str, own: bool) -> float:
        return entries.get(part + place, 0.0) * ((at, where, own) == (row, group, False))

    return vector


def _product(row: int, group: int) -> Vector:
    def vector(at: int, part: str, where: int, place: str, own: bool) -> float:
        return _ALPHA.get(part, 0.0) * _ALPHA.get(place, 0.0) * ((at, where, own) == (row, group, False))

    return vector


def _independent(vectors: Array) -> list[int]:
    """Return columns that span them all: in small groups some coincide."""
    chosen: list[int] = []
    for column in range(vectors.shape[1]):
        if np.linalg.matrix_rank(vectors[:, [*chosen, column]]) == len(chosen) + 1:
            chosen.append(column)
    return chosen
