r"""The ReLU landscape at a point with many equal entries: value, gradient and all blocks of the Hessian, in balls.

The teacher is the k coordinate vectors of R^k, and the coordinates are put into groups of sizes q_0, q_1, ... . A row of
a pattern is a single neuron, or a family: one neuron for each coordinate of a group, its own. G, the product of the
symmetric groups S_q, permutes the coordinates of each group together with the neurons of its families, and the teacher's
with them; F does not change. A point fixed by G is given by few numbers: in each row one for each group, and in a family
first one for the own coordinate and then one for the others of its group. A row tied to a group needs q >= 2.

The weights fall into parts that the Hessian, which commutes with G, does not mix; parts.py lists them with vectors that stand
for them. In each dimension beyond k the Hessian is M (relu.py), and its parts are the sums of a row's neurons and their
differences.

EVALUATION. A vector above has one value at all coordinates of a group but a few, for all neurons but a few. So neurons and
coordinates fall into classes: the first `cut` of each group stand alone, the others are the rest. In a sum over pairs of
neurons (relu.py's formulas), a pair of classes counts as often as it has pairs, apart (with different own coordinates) or
of the same, and coordinates weigh as many as they are, own ones apart. No sum is longer for larger q.
"""

from collections.abc import Iterator
from typing import NamedTuple

from flint import arb, arb_mat

from .balls import require
from .parts import Part, parts
from .relu import lipschitz


class Neurons(NamedTuple):
    """A class of neurons: a row, and the place of the own coordinate in its group (0 for a single neuron)."""

    row: int
    place: int


class Coordinate(NamedTuple):
    """Coordinates of a group at a place, own to the first or the second of a pair of neurons, and how many they are."""

    group: int
    place: int
    first: bool
    second: bool
    weight: int


class Meeting(NamedTuple):
    """What a pair of neurons is to each other: x.y, |x||y| sin t, (pi - t)/(2 pi)."""

    dot: arb
    area: arb
    share: arb


class Symmetric:
    """A point with a pattern: `sizes` of the groups, for each of the `rows` its group or None, and its numbers in balls."""

    def __init__(self, sizes: list[int], rows: list[int | None], numbers: list[arb]) -> None:
        groups = len(sizes)
        self.sizes, self.students = sizes, len(rows)
        self.ties: list[int | None] = [*rows, *range(groups)]  # the teacher's rows come last, a family of each group
        self.copies = [1 if tie is None else sizes[tie] for tie in self.ties]
        self.charge = [1] * self.students + [-1] * groups
        self.n, self.k, self.d = sum(self.copies[: self.students]), sum(sizes), sum(sizes)
        self.own = [arb(1)] * len(self.ties)
        self.off = [[arb(0)] * groups for _ in self.ties]
        entries = iter(numbers)
        for row, tie in enumerate(rows):
            for group in range(groups):
                if group == tie:
                    self.own[row] = next(entries)
                self.off[row][group] = next(entries)
        self.square = [self._dot(row, row, True) for row in range(len(self.ties))]
        self.length = [square.sqrt() for square in self.square]
        self.meetings: dict[tuple[int, int, bool], Meeting] = {}
        for x in range(len(self.ties)):
            for y in range(x + 1):
                for same, _ in self._partners(Neurons(x, 0), Neurons(y, 0), self.copies[y]):
                    self.meetings[x, y, same] = self.meetings[y, x, same] = self._meet(x, y, same)
        self.slope = [self._slope(row) for row in range(self.students)]

    def _dot(self, x: int, y: int, same: bool) -> arb:
        spots = self._coordinates(Neurons(x, 0), Neurons(y, 0), same, {})
        return sum((c.weight * self._weight(x, c, c.first) * self._weight(y, c, c.second) for c in spots), arb(0))

    def _meet(self, x: int, y: int, same: bool) -> Meeting:
        dot = self._dot(x, y, same)
        gap = self.square[x] * self.square[y] - dot * dot
        # Two coordinate vectors are at right angles; a student that is zero or parallel to another neuron is refused.
        require(gap > 0, "a neuron is zero, or two are parallel, or too nearly so for the precision")
        area = gap.sqrt()
        return Meeting(dot, area, arb.atan2(area, -dot) / (2 * arb.pi()))  # pi - t, for the area is positive

    def _weight(self, row: int, spot: Coordinate, own: bool) -> arb:
        return self.own[row] if own else self.off[row][spot.group]

    def _count(self, group: int, place: int, cut: dict[int, int]) -> int:
        """Return how many coordinates of a group are at a place: one, or the rest."""
        alone = cut.get(group, 0)
        return 1 if place < alone else self.sizes[group] - alone

    def _classes(self, row: int, cut: dict[int, int]) -> list[tuple[Neurons, int]]:
        """Return the classes of a row's neurons, and how many neurons each has."""
        tie = self.ties[row]
        if tie is None:
            return [(Neurons(row, 0), 1)]
        found = [(Neurons(row, place), self._count(tie, place, cut)) for place in range(cut.get(tie, 0) + 1)]
        return [(neurons, count) for neurons, count in found if count]

    def _partners(self, x: Neurons, y: Neurons, count: int) -> Iterator[tuple[bool, int]]:
        """Yield how many of the `count` neurons of class y one neuron of class x meets, and whether they are alike.

        That is: of the same own coordinate, or both single.
        """
        if self.ties[x.row] == self.ties[y.row] and x.place == y.place:
            if x.row != y.row:
                yield True, 1
            count -= 1
        if count:
            yield False, count

    def _coordinates(self, x: Neurons, y: Neurons, same: bool, cut: dict[int, int]) -> Iterator[Coordinate]:
        """Yield all coordinates as two neurons see them: own ones, and all others of a group at a place."""
        for group in range(len(self.sizes)):
            for place in range(cut.get(group, 0) + 1):
                left = self._count(group, place, cut)
                first = self.ties[x.row] == group and x.place == place
                second = self.ties[y.row] == group and y.place == place
                if first and same:
                    yield Coordinate(group, place, True, True, 1)
                    left -= 1
                else:
                    if first:
                        yield Coordinate(group, place, True, False, 1)
                        left -= 1
                    if second:
                        yield Coordinate(group, place, False, True, 1)
                        left -= 1
                if left:
                    yield Coordinate(group, place, False, False, left)

    def _all_met(self, x: Neurons, cut: dict[int, int]) -> Iterator[tuple[Neurons, bool, int]]:
        """Yield the classes of neurons that one neuron of class x meets, alike or not, and how many of each."""
        for row in range(len(self.ties)):
            for y, count in self._classes(row, cut):
                for same, met in self._partners(x, y, count):
                    yield y, same, met

    def _slope(self, row: int) -> arb:
        """Enclose M_ii = 1/2 + sum_y c(y) s(w_i, y)/(2 pi |w_i|^2)."""
        pull = arb(0)
        for y, same, count in self._all_met(Neurons(row, 0), {}):
            pull += count * self.charge[y.row] * self.meetings[row, y.row, same].area
        return arb(1) / 2 + pull / (2 * arb.pi() * self.square[row])

    def shortest(self) -> arb:
        """Return a lower bound of min |w_i|, as an exact ball (so that < decides)."""
        return min(length.lower() for length in self.length[: self.students])

    def value(self) -> arb:
        """Enclose F at the centre: half the sum of c(x) c(y) f(x, y) over all pairs of neurons, f(x, x) = |x|^2/2."""
        total = arb(0)
        for x in range(len(self.ties)):
            inner = self.square[x] / 2
            for y, same, count in self._all_met(Neurons(x, 0), {}):
                dot, area, share = self.meetings[x, y.row, same]
                inner += count * self.charge[x] * self.charge[y.row] * (area / (2 * arb.pi()) + share * dot)
            total += self.copies[x] * inner
        return total / 2

    def gradient(self) -> arb_mat:
        """Enclose the gradient of F along the unit vectors of the trivial part: the square root of a count times an entry.

        Its norm is that of the full gradient, which G fixes.
        """
        found = []
        for row in range(self.students):
            x, tie = Neurons(row, 0), self.ties[row]
            for group, size in enumerate(self.sizes):
                for own in (True, False) if group == tie else (False,):
                    entry = self.slope[row] * (self.own[row] if own else self.off[row][group])
                    for y, same, count in self._all_met(x, {}):
                        entry += (
                            self.charge[y.row] * self.meetings[row, y.row, same].share
                            * self._total(y.row, group, count, same, own)
                        )  # fmt: skip
                    times = size if own else self.copies[row] * (size - (group == tie))
                    found.append(arb(times).sqrt() * entry)
        return arb_mat(len(found), 1, found)

    def _total(self, row: int, group: int, count: int, same: bool, own: bool) -> arb:
        """Sum the entries at one coordinate of a group over `count` neurons of a row that one neuron meets.

        `own`: it is that neuron's own coordinate. Those of the same own coordinate are one neuron; of those apart, one has
        this coordinate for its own, if it is not the first one's.
        """
        if self.ties[row] != group:
            return count * self.off[row][group]
        if same:
            return self.own[row] if own else self.off[row][group]
        if own:
            return count * self.off[row][group]
        return self.own[row] + (count - 1) * self.off[row][group]

    def blocks(self) -> Iterator[tuple[str, arb_mat]]:
        """Yield name and block of every part; require that they make up all n k weights."""
        left = self.n * self.k
        for part in parts(self.sizes, self.ties[: self.students]):
            left -= part.copies * len(part.vectors)
            if part.vectors:
                yield part.name, self.block(part)
        require(left == 0, "the blocks do not make up all weights")

    def hessians(self) -> Iterator[arb_mat]:
        """Yield all blocks, the trivial one first."""
        for _, block in self.blocks():
            yield block

    def block(self, part: Part) -> arb_mat:
        """Enclose the Hessian on the unit vectors of a part."""
        size, cut = len(part.vectors), part.cut
        form, square = arb_mat(size, size), [0] * size
        moved = [
            (neurons, count)
            for row in range(self.students)
            for neurons, count in self._classes(row, cut)
            if any(any(self._values(part, neurons, c, c.first)) for c in self._coordinates(neurons, neurons, True, cut))
        ]  # fmt: skip
        order = {neurons: place for place, (neurons, _) in enumerate(moved)}
        for x, count in moved:
            spots = list(self._coordinates(x, x, True, cut))
            values = [self._values(part, x, c, c.first) for c in spots]
            for a in range(size):
                square[a] += count * sum(c.weight * v[a] * v[a] for c, v in zip(spots, values, strict=True))
            here = _matrix(values, [c.weight for c in spots])
            along = here * _column([self._weight(x.row, c, c.first) for c in spots])
            slope, own = self.slope[x.row], self.square[x.row]
            form += count * (slope * (here * _matrix(values).transpose()))
            form += count * ((arb(1) / 2 - slope) / own * (along * along.transpose()))
            for y, same, met in self._all_met(x, cut):
                dot, area, share = self.meetings[x.row, y.row, same]
                bend = 1 / (2 * arb.pi() * area)
                spots = list(self._coordinates(x, y, same, cut))
                first = [self._values(part, x, c, c.first) for c in spots]
                here = _matrix(first, [c.weight for c in spots])
                toward = here * _column([self._weight(y.row, c, c.second) for c in spots])
                slant = toward - dot / own * along
                form += count * met * self.charge[y.row] * bend * (slant * slant.transpose())
                if y not in order or order[y] < order[x]:  # no vector is there, or it was counted from the other side
                    continue
                there = _matrix([self._values(part, y, c, c.second) for c in spots], [c.weight for c in spots])
                ahead = there * _column([self._weight(y.row, c, c.second) for c in spots])
                back = there * _column([self._weight(x.row, c, c.first) for c in spots])
                pair = share * (here * _matrix([self._values(part, y, c, c.second) for c in spots]).transpose())
                pair += bend * (slant * back.transpose())
                pair += bend * ((along - dot / self.square[y.row] * toward) * ahead.transpose())
                form += count * met * (pair if x == y else pair + pair.transpose())
        for value in square:
            require(value > 0, "a vector of a block is zero")
        scale = [1 / arb(value).sqrt() for value in square]
        entries = [scale[a] * form[a, b] * scale[b] for a in range(size) for b in range(size)]
        return arb_mat(size, size, entries)

    def _values(self, part: Part, neurons: Neurons, spot: Coordinate, own: bool) -> list[int]:
        """Return the values of all vectors of a part at a neuron of a class and a coordinate."""
        return [vector(neurons.row, neurons.place, spot.group, spot.place, own) for vector in part.vectors]

    def extensions(self) -> Iterator[arb_mat]:
        """Yield the blocks of M, the Hessian in each further dimension: on sums of a row's neurons, and on differences."""
        rows = range(self.students)
        shares = [[self._shares(x, y) for y in rows] for x in rows]
        counts = [arb(copies).sqrt() for copies in self.copies]
        yield arb_mat(
            [[(same + more) * counts[x] / counts[y] for y, (same, more, _) in enumerate(shares[x])] for x in rows]
        )
        for group in range(len(self.sizes)):
            mine = [row for row in rows if self.ties[row] == group]
            if mine:
                yield arb_mat([[shares[x][y][0] - shares[x][y][2] for y in mine] for x in mine])

    def _shares(self, x: int, y: int) -> tuple[arb, arb, arb]:
        """Return M between a neuron of row x and: that of row y with the same own coordinate, all others, one other."""
        same, more = self.slope[x] if x == y else arb(0), arb(0)
        one = more
        for alike, count in self._partners(Neurons(x, 0), Neurons(y, 0), self.copies[y]):
            share = self.meetings[x, y, alike].share
            if alike:
                same = share
            else:
                more, one = count * share, share
        return same, more, one

    def lipschitz(self, radius: arb, delta: arb) -> arb:
        """Bound from above how fast the Hessian varies on the ball of `radius` about the full point."""
        return lipschitz(self, radius, delta)


def _matrix(values: list[list[int]], weights: list[int] | None = None) -> arb_mat:
    """Return the vectors' values (one row for each vector), times the weights of the coordinates."""
    weights = [1] * len(values) if weights is None else weights
    entries = [arb(v[a] * w) for a in range(len(values[0])) for v, w in zip(values, weights, strict=True)]
    return arb_mat(len(values[0]), len(values), entries)


def _column(entries: list[arb]) -> arb_mat:
    return arb_mat(len(entries), 1, entries)
