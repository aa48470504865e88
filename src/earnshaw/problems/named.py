r"""Critical points that have a name: families of them, one for each k, that are given by a handful of numbers.

The teacher is the k coordinate vectors. A family's coordinates are in groups, and its rows are families of neurons, one for
each coordinate of a group, or single neurons (:mod:`earnshaw.symmetry.patterns`). Its numbers change smoothly with the
sizes of the groups, which need not be integers for that: so a point of any size is reached from one known point by
continuation. With c the number that a number tends to as k grows, the powers :math:`(x - c) \sim t^p` are extrapolated
from two sizes to the next, and whoever asks corrects the guess by Newton's method, in doubles or in balls.

========  ==========================================================  ===========  =======
family    what it looks like                                          group        n
========  ==========================================================  ===========  =======
II        one neuron near minus its coordinate vector                 S_{k-1}      k
I         all neurons but one near minus their coordinate vectors     S_{k-1}      k
A         all neurons near minus their coordinate vectors             S_k          k
B         II with its odd neuron split                                S_{k-1}      k + 1
M:q       q neurons near minus theirs, one along their sum            S_{k-q} S_q  k + 1
2B        two of B's pairs                                            S_{k-2} S_2  k + 2
3Bp       three pairs, into which the saddle B:3 drains               S_{k-3} S_3  k + 3
B:r       r of B's pairs                                              S_{k-r} S_r  k + r
P:q       q neurons near minus theirs, all others in +- pairs         S_{k-q} S_q  2k - q
P:m,q     the same with m +- pairs, and others near their own         S_m S_q, ... k + m
C:j       B with j small companions (C is C:1)                        S_j, ...     k + j + 1
========  ==========================================================  ===========  =======

II is Example 1 of Safran & Shamir; I and A are Arjevani & Field's. In P:m,q and C:j the remaining k - m - q and k - 1 - j
coordinates are one more group, and its symmetric group one more factor. In P:1 and P:m,1 one coordinate is flipped, and its
neuron is a single one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earnshaw.errors import InputError, is_whole

Array = NDArray[np.float64]
Rows = tuple[int | None, ...]
# From sizes of groups, rows and numbers near a critical point to its numbers; InputError when there is none near.
Corrector = Callable[[Sequence[float], Rows, Any], Any]
RATIO, LEAST_STEP, NEAR = 1.3, 1e-3, 0.25
LARGEST = 10**8


def product_name(sizes: Iterable[int]) -> str:
    """Return the name of a product of symmetric groups, larger factors first, trivial ones left out."""
    return " x ".join(f"S_{size}" for size in sorted(sizes, reverse=True) if size > 1) or "trivial"


@dataclass(frozen=True)
class NamedFamily:
    """A family of critical points.

    Attributes
    ----------
    name : what it is called, M:4 for example.
    rows : for each row the group that it is a family of, or None.
    flipped : how many coordinates the last group has; None: there is only one group, of all of them.
    between : how many the group before the last has, where there are three.
    least : the least k for which the family is known.
    base, numbers : the sizes of the groups at one point, and its numbers in the order of the pattern.
    limits : what the numbers tend to as k grows: 1, -1, or 0 for all that is none of these.
    """

    name: str
    rows: Rows
    flipped: int | None
    least: int
    base: tuple[int, ...]
    numbers: tuple[float, ...]
    limits: tuple[int, ...]
    between: int | None = None

    def sizes(self, k: int) -> tuple[int, ...]:
        """Return the sizes of the groups for k teacher neurons."""
        if not is_whole(k, self.least) or k > LARGEST:
            raise InputError(f"k is {k}; family {self.name} is known for integers from {self.least} to {LARGEST}")
        rest = [size for size in (self.between, self.flipped) if size is not None]
        return (int(k) - sum(rest), *rest)

    def label(self, k: int) -> str:
        """Return the name with that of the group that fixes the point: II (S_19)."""
        return f"{self.name} ({product_name(self.sizes(k))})"

    def neurons(self, k: int) -> int:
        """Return n, how many neurons the student has."""
        sizes = self.sizes(k)
        return sum(1 if row is None else sizes[row] for row in self.rows)

    def follow(self, k: int, correct: Corrector, known: tuple[int, Any] | None = None) -> Any:
        """Return the numbers for k, as `correct` has them, by continuation from the point at the base.

        ``known`` is another size and the corrected numbers there, if they are at hand: a nearer place to begin.
        """
        base = self.base if known is None else self.sizes(known[0])
        begin, end = np.log(base), np.log(self.sizes(k))
        limits = np.array(self.limits, dtype=np.float64)
        found = correct(self.base, self.rows, np.array(self.numbers)) if known is None else known[1]
        at, step = 0.0, math.log(RATIO) / max(float(np.abs(end - begin).max()), 1e-9)
        last = [(at, _doubles(found))]
        while at < 1.0:
            step = min(step, 1.0 - at)
            sizes = np.exp(begin + (at + step) * (end - begin)) if at + step < 1.0 else self.sizes(k)
            guess = _extrapolated(last, limits, at + step)
            room = np.abs(guess - limits) + 2.0 / sum(sizes) ** 2
            try:
                found = correct(tuple(float(size) for size in sizes), self.rows, guess)
                missed = float(np.max(np.abs(_doubles(found) - guess) / room))
            except InputError:
                missed = math.inf
            if missed > NEAR:  # another critical point, or none
                step /= 2
                if step < LEAST_STEP:
                    raise InputError(f"family {self.name} is lost on the way to k = {k}; try another k")
                continue
            at = min(at + step, 1.0)
            last = [*last[-1:], (at, _doubles(found))]
            step *= 1.5 if missed < NEAR / 8 else 1.0
        return found


def _doubles(numbers: Any) -> Array:
    return np.array([float(number) for number in numbers])


def _extrapolated(last: list[tuple[float, Array]], limits: Array, at: float) -> Array:
    """Return the numbers at `at`, each a power from its limit, by the last two places."""
    if len(last) < 2:
        return last[0][1]
    (before, old), (now, new) = last
    old, new = old - limits, new - limits
    ratio = np.where(old * new > 0, new / np.where(old == 0, 1.0, old), 1.0)
    return limits + new * np.clip(ratio, 0.1, 10.0) ** ((at - now) / (now - before))


_M = (
    1.002881434,
    -0.001540833752,
    0.0540585674,
    0.02154184639,
    -0.7082719031,
    0.1376699406,
    -0.07016690451,
    0.4052438204,
)
FIXED = {
    "II": NamedFamily(
        "II", (0, None), 1, 4, (9, 1), (1.004354823, -0.01581192581, 0.1823677558, 0.1260423608, -0.6990368175),
        (1, 0, 0, 0, -1),
    ),
    "I": NamedFamily(
        "I", (0, None), 1, 4, (9, 1), (-0.7745103399, 0.2178625868, -0.007876361661, 0.01940222927, 1.06456357),
        (-1, 0, 0, 0, 1),
    ),
    "A": NamedFamily("A", (0,), None, 3, (10,), (-0.8003040345, 0.1984765225), (-1, 0)),
    "B": NamedFamily(
        "B", (0, None, None), 1, 5, (9, 1),
        (0.9920290947, -0.01830990148, 0.1846383214, 0.09664207838, -0.1903053166, 0.057349347, -0.5307624795),
        (1, 0, 0, 0, 0, 0, -1),
    ),
    "2B": NamedFamily(
        "2B", (0, 1, 1), 2, 8, (13, 2),
        (0.9955093091, -0.01527876741, 0.1274514791, 0.05419174895, -0.1546177164, -0.04307242292, 0.03915101314,
         -0.6334463271, 0.1313849134),
        (1, 0, 0, 0, 0, 0, 0, -1, 0),
    ),
    "3Bp": NamedFamily(
        "3Bp", (0, 1, 1), 3, 9, (8, 3),
        (0.9720511682, -0.04883252332, 0.177254006, 0.04083812006, -0.5819076488, 0.1616818464, 0.08172059282, 0.03958799958,
         -0.1205041712),
        (1, 0, 0, 0, -1, 0, 0, 0, 0),
    ),
    "C": NamedFamily(
        "C:1", (0, None, None, None, None), 1, 10, (28, 1, 1),
        (0.9987105516, -0.001931496674, -0.001589509744, 0.06440571695, -0.002586269728, 0.976995424, 0.0687073413,
         0.01199650544, 0.05670099305, -0.07236004322, 0.0214173752, 0.02066069166, -0.7143639525, 0.02189065618,
         -0.01070087162, -0.1140775076),
        (1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, -1, 0, 0, 0), 1,
    ),
}  # fmt: skip
# Families with a number in their name, by the group's sizes and the numbers at one point.
_PAIRS = (
    (26, 4),
    (0.9989811331, -0.006714781388, 0.06456000768, 0.02355412806, -0.131864598, -0.02366647297, 0.01830950541, -0.747310161,
     0.08209363496),
)  # fmt: skip
_ALL_MIRRORED = (
    (10, 10),
    (0.7820826778, 0.005986092078, 0.0383238505, -0.2836387538, 0.01167377331, 0.05776555084, 0.03323049441, -0.8182426808,
     0.09291805346),
)  # fmt: skip
_SOME_MIRRORED = (
    (8, 12, 10),
    (0.9955467413, -0.0002123165442, 0.004985272383, 0.02742786861, -0.006173535985, 0.7922616258, 0.006175302152,
     0.03336002575, -0.006862243457, -0.2600403311, 0.01002320547, 0.04688578278, 0.01577639946, 0.02425943965, -0.8474431467,
     0.07206485208),
)  # fmt: skip
_ALL_MIRRORED_ONE = (
    (59, 1),
    (0.9471841275, 0.0008510104055, 0.01340484945, -0.05436982629, 0.0008424985019, 0.01605026786, 0.00814625455,
     -0.7427944929),
)  # fmt: skip
_SOME_MIRRORED_ONE = (
    (9, 50, 1),
    (0.9976538758, 0.0002805638819, 0.0008448685883, 0.008594925642, -0.0001078569064, 0.947423187, 0.0009333306375,
     0.01473746785, -7.707736869e-06, -0.05504418674, 0.000925477092, 0.01814035378, 0.005357363187, 0.008075132585,
     -0.7265152623),
)  # fmt: skip
_COMPANIONS = (
    (34, 9, 1),
    (0.9986709594, -0.0009488879857, -0.0008479619421, 0.0448309534, -0.001286948983, 0.9869924368, -0.001135418313,
     0.0474844584, 0.002675173918, 0.02287993658, 0.001783451457, -0.02094493594, 0.01395212266, 0.01369911865, -0.7481540577,
     0.005663561656, -0.0005042443511, -0.03552579063),
)  # fmt: skip


def named_family(name: str) -> NamedFamily:
    """Return a family by its name: II, I, A, B, 2B, 3Bp, C, or with integers M:q, B:r, P:q, P:m,q, C:j."""
    if name in FIXED:
        return FIXED[name]
    kind, _, given = name.partition(":")
    counts = [int(number) for number in given.split(",")] if re.fullmatch(r"\d{1,9}(,\d{1,9})?", given) else []
    if counts and min(counts) >= 1 and max(counts) <= LARGEST:
        match kind, counts:
            case (("B" | "C"), [1]):
                return FIXED[kind]
            case "P", [1]:
                return NamedFamily("P:1", (0, 0, None), 1, 3, *_ALL_MIRRORED_ONE, (0, 0, 0, 0, 0, 0, 0, -1))
            case "P", [m, 1] if m > 1:
                return NamedFamily(f"P:{m},1", (0, 1, 1, None), 1, m + 3, *_SOME_MIRRORED_ONE, (1, *[0] * 13, -1), m)
            case _, [*some] if 1 in some:
                pass
            case "M", [q]:
                return NamedFamily(f"M:{q}", (0, 1, None), q, q + 2, (16, 4), _M, (1, 0, 0, 0, -1, 0, 0, 0))
            case "B", [r]:
                return NamedFamily(f"B:{r}", (0, 1, 1), r, 2 * r + 4, *_PAIRS, (1, 0, 0, 0, 0, 0, 0, -1, 0))
            case "P", [q]:
                return NamedFamily(f"P:{q}", (0, 0, 1), q, q + 2, *_ALL_MIRRORED, (0, 0, 0, 0, 0, 0, 0, -1, 0))
            case "P", [m, q]:
                limits = (1, *[0] * 13, -1, 0)
                return NamedFamily(f"P:{m},{q}", (0, 1, 1, 2), q, m + q + 2, *_SOME_MIRRORED, limits, m)
            case "C", [j]:
                limits = (1, 0, 0, 0, 0, 1, *[0] * 8, -1, 0, 0, 0)
                return NamedFamily(f"C:{j}", (0, 1, 1, None, None), 1, j + 10, *_COMPANIONS, limits, j)
    known = ", ".join(FIXED)
    raise InputError(
        f"{name[:40]!r} is the name of no family; give {known}, or M:4, B:4, P:9, P:10,7 or C:9 with your numbers"
    )


def families_of(k: int, n: int) -> list[NamedFamily]:
    """Return the families that have n neurons for k teacher neurons, those that are minima most often first."""
    more = n - k
    names = {0: ["II", "A", "I"], 1: ["B"], 2: ["2B", "C"], 3: ["3Bp"]}.get(more, [])
    if more == 1:
        names += [f"M:{q}" for q in range(k - 2, 1, -1)]
    if 2 <= more < k:
        names += [f"P:{k - more}", *(f"P:{more},{q}" for q in range(k - more - 2, 0, -1))]
    if more > 2:
        names += [f"C:{more - 1}", f"B:{more}"]
    return [family for family in map(named_family, names) if family.least <= k]
