"""What the cases of the battery share: how one is put to a checker, and exact numbers to hold its balls against."""

import json
import sys
from collections.abc import Callable
from fractions import Fraction
from types import ModuleType

import mpmath as mp

Case = Callable[[ModuleType], bool]


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


def raises(checker, function, *arguments) -> bool:
    try:
        function(*arguments)
    except checker.Rejected as rejected:
        return len(str(rejected)) > 5
    return False


def fraction(ball) -> Fraction:
    """The midpoint of a ball as an exact fraction."""
    mantissa, exponent = ball.mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def exactly(number) -> Fraction:
    sign, mantissa, exponent, _ = number._mpf_
    return (-1) ** sign * Fraction(int(mantissa)) * Fraction(2) ** exponent


def holds(ball, number) -> bool:
    """Whether a ball holds a number that is known to fifty digits."""
    return abs(fraction(ball) - exactly(number)) <= fraction(ball.rad()) + Fraction(10) ** -50


def above(ball, number, bits) -> bool:
    """Whether an exact ball is at least a number, and hardly larger."""
    gap = fraction(ball) - exactly(number)
    return -(Fraction(10) ** -50) <= gap <= abs(exactly(number)) * Fraction(2) ** (10 - bits)


def lipschitz(truth, radius, delta):
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
