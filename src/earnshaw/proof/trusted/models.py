r"""Models: enclosures of functions of one variable h on all of 0 < h <= H at once, down to h = 0.

A model with the balls C_0, ..., C_t, t < order, and an integer `low` encloses f if for each h in (0, H] there are c_i in C_i
with f(h) = h^low (c_0 + c_1 h + ... + c_t h^t). The c_i may depend on h: so a bound on a remainder is one more ball, and a
number that is only known to lie in an interval is a model, too. Nothing is claimed at h = 0 itself.

SOUNDNESS. Fix h and c_i in C_i, d_i in D_i.
  Sum and product: coefficients are added and multiplied as balls; a common power of h is taken out first.
  Folding: c_{N-1} + c_N h + ... lies in the value of that polynomial at the ball [0, H]; it becomes the coefficient of
h^(N-1), N = order. Leading coefficients that are exactly 0 are taken out; so f h^-2 needs no rule of its own.
  Quotient: let r_0, ..., r_{n-1} be the first n = N - 1 coefficients of the power series 1/(c_0 + c_1 h + ...) in these c,
and r(h) their polynomial. In c r the coefficients of h^1, ..., h^(n-1) are 0 and the first is 1, so 1 - c r = -h^n e(h) with e
made of the other ones, and 1/c = r + h^n (-e(h)/c(h)). c(h) must not be 0 on [0, H].
  Root: the same with s the first n coefficients of the root's series: c - s^2 = h^n e(h), and
c^(1/2) = s + h^n e(h)/(c^(1/2) + s), where c > 0; a ball for c^(1/2) + s that holds 0 has a quotient that is not finite.
  Series sum_j a_j x^(first + 2j) with |a_j| decreasing, x = h^low X with low >= 1 and |x| < 1: what follows the first J terms is
at most |a_J| |x|^(first + 2J)/(1 - x^2), that is h^(low (first + 2J)) times a ball.
  Arc tangent of c_0 + x, x = h^low X with low >= 1: atan^(j)(y)/j! is Im of -(-1)^j (y - i)^-j/j, and with t = pi/2 - atan y, so that
1/(y - i) = sin(t) exp(i t), it is -(-1)^j sin(t)^j sin(j t)/j, at most 1/j. So by Taylor what follows the terms j < J is at most
|x|^J/J, that is h^(low J) times a ball.
"""

# ruff: noqa: D105  operators are what they are

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import comb
from typing import NamedTuple

from flint import arb, arb_poly, fmpq

from .balls import require

Coefficient = Callable[[int], Fraction]


class Scope(NamedTuple):
    """How many coefficients models have, and the ball [0, H] that h lies in."""

    order: int
    reach: arb

    def power(self, exponent: int) -> Model:
        """Return h^exponent."""
        return Model(self, exponent, arb_poly([1]))


class Model:
    """Functions h^low (c_0 + c_1 h + ...) of h in (0, H], with c_i in balls that may depend on h."""

    __slots__ = ("low", "poly", "scope")

    def __init__(self, scope: Scope, low: int, poly: arb_poly) -> None:
        zeros = next((place for place, entry in enumerate(poly.coeffs()) if not entry.is_zero()), 0)
        poly, low = poly.right_shift(zeros), low + zeros
        if poly.length() > scope.order:
            cut = scope.order - 1
            rest = poly.right_shift(cut)(scope.reach)
            poly = poly.truncate(cut) + arb_poly([rest]).left_shift(cut)
        self.scope, self.low, self.poly = scope, low, poly

    def at(self, h: arb) -> arb:
        """Enclose the values at all points of a ball of h; it is not finite where a negative power meets h = 0."""
        return self.leading(h) * h**self.low

    def leading(self, h: arb) -> arb:
        """Enclose f h^-low, which has the sign of f: by the mean value theorem, for c as it is at each h."""
        middle = h.mid()
        return self.poly(middle) + self.poly.derivative()(h) * (h - middle)

    def _with(self, other: Number) -> Model:
        return other if isinstance(other, Model) else Model(self.scope, 0, arb_poly([arb(other)]))

    def __add__(self, other: Number) -> Model:
        if not isinstance(other, Model | arb | int):
            return NotImplemented
        other = self._with(other)
        low = min(self.low, other.low)
        poly = self.poly.left_shift(self.low - low) + other.poly.left_shift(other.low - low)
        return Model(self.scope, low, poly)

    def __neg__(self) -> Model:
        return Model(self.scope, self.low, -self.poly)

    def __sub__(self, other: Number) -> Model:
        return self + -1 * other

    def __rsub__(self, other: Number) -> Model:
        return -self + other

    def __mul__(self, other: Number) -> Model:
        if not isinstance(other, Model | arb | int):
            return NotImplemented
        other = self._with(other)
        return Model(self.scope, self.low + other.low, self.poly * other.poly)

    __radd__ = __add__
    __rmul__ = __mul__

    def __truediv__(self, other: Number) -> Model:
        return self * self._with(other).inverse()

    def __rtruediv__(self, other: Number) -> Model:
        return self._with(other) * self.inverse()

    def _range(self) -> arb:
        """Enclose c_0 + c_1 h + ... on [0, H]."""
        return self.poly(self.scope.reach)

    def inverse(self) -> Model:
        """Return 1/f."""
        count, around = self.scope.order - 1, self._range()
        require(abs(around) > 0, "a division by 0 is not excluded")
        c, found = self.poly, [1 / self.poly[0]]
        for i in range(1, count):
            found.append(-found[0] * sum((c[j] * found[i - j] for j in range(1, min(i, c.degree()) + 1)), arb(0)))
        series = arb_poly(found)
        rest = (self.poly * series).right_shift(count)(self.scope.reach)
        return Model(self.scope, -self.low, series + arb_poly([-rest / around]).left_shift(count))

    def sqrt(self) -> Model:
        """Return the root of f > 0, which has an even leading power."""
        require(self.low % 2 == 0, "the leading power under a root is odd")
        count, around = self.scope.order - 1, self._range()
        require(around > 0, "a root of a negative number is not excluded")
        found = [self.poly[0].sqrt()]
        for i in range(1, count):
            known = sum((found[j] * found[i - j] for j in range(1, i)), arb(0))
            found.append((self.poly[i] - known) / (2 * found[0]))
        series = arb_poly(found)
        rest = (self.poly - series * series).right_shift(count)(self.scope.reach)
        rest = rest / (around.sqrt() + series(self.scope.reach))
        return Model(self.scope, self.low // 2, series + arb_poly([rest]).left_shift(count))

    def series(self, first: int, coefficient: Coefficient) -> Model:
        """Return sum_j a_j f^(first + 2j), with |a_j| decreasing."""
        size = self._range().abs_upper()
        square = (size * self.scope.reach.abs_upper() ** self.low) ** 2
        require(self.low >= 1 and square < 1, "a series needs an argument of size below 1 that vanishes with h")
        count = -(-self.scope.order // (2 * self.low))
        total, factor = self._with(0), self * self
        for j in reversed(range(count)):
            total = total * factor + _ball(coefficient(j))
        for _ in range(first):
            total = total * self
        last = first + 2 * count
        bound = (_ball(coefficient(count)) * size**last / (1 - square)).abs_upper()
        return total + Model(self.scope, self.low * last, arb_poly([arb(0, bound)]))

    def atan(self) -> Model:
        """Return atan f, where f may have a term h^0."""
        require(self.low >= 0, "an arc tangent needs an argument without negative powers of h")
        whole = self.poly.left_shift(self.low)
        start, small = whole[0], Model(self.scope, 1, whole.right_shift(1))
        count, value = -(-self.scope.order // small.low), start.atan()
        turn, total = arb.pi() / 2 - value, self._with(0)
        for j in reversed(range(1, count)):
            total = (total - (-1) ** j * turn.sin() ** j * (j * turn).sin() / j) * small
        bound = (small._range() ** count / count).abs_upper()
        return total + value + Model(self.scope, small.low * count, arb_poly([arb(0, bound)]))

    def asin(self) -> Model:
        """Return asin f = sum_j C(2j, j) 4^-j f^(2j+1)/(2j+1)."""
        return self.series(1, lambda j: _central(j) / (2 * j + 1))

    def xi(self) -> Model:
        """Return f (1 - f^2)^(1/2) - asin f, whose derivative in f is -2 f^2 (1 - f^2)^(-1/2)."""
        return self.series(3, lambda j: -2 * _central(j) / (2 * j + 3))

    def psi(self) -> Model:
        """Return f asin f + (1 - f^2)^(1/2) - 1, whose derivative in f is asin f."""
        return self.series(2, lambda j: _central(j) / ((2 * j + 1) * (2 * j + 2)))

    def chi(self) -> Model:
        """Return asin(f) (1 - f^2)^(1/2) - f; its derivative -f asin(f) (1 - f^2)^(-1/2) has the series 1/((2j+1) central_j)."""
        return self.series(3, lambda j: -1 / (_central(j) * (2 * j + 1) * (2 * j + 3)))


def _central(j: int) -> Fraction:
    """Return C(2j, j)/4^j, the coefficients of (1 - x^2)^(-1/2)."""
    return Fraction(comb(2 * j, j), 4**j)


def _ball(number: Fraction) -> arb:
    return arb(fmpq(number.numerator, number.denominator))


class Slope:
    """A model that depends on unknowns, and models of its derivatives by some of them (0 by the others)."""

    __slots__ = ("slopes", "value")

    def __init__(self, value: Model, slopes: dict[int, Model]) -> None:
        self.value, self.slopes = value, slopes

    def _with(self, other: Number | Slope) -> Slope:
        return other if isinstance(other, Slope) else Slope(self.value._with(other), {})

    def _chain(self, value: Model, derivative: Model) -> Slope:
        return Slope(value, {by: derivative * slope for by, slope in self.slopes.items()})

    def __add__(self, other: Number | Slope) -> Slope:
        other = self._with(other)
        slopes = dict(self.slopes)
        for by, slope in other.slopes.items():
            slopes[by] = slopes[by] + slope if by in slopes else slope
        return Slope(self.value + other.value, slopes)

    def __neg__(self) -> Slope:
        return Slope(-self.value, {by: -slope for by, slope in self.slopes.items()})

    def __sub__(self, other: Number | Slope) -> Slope:
        return self + -self._with(other)

    def __rsub__(self, other: Number | Slope) -> Slope:
        return -self + other

    def __mul__(self, other: Number | Slope) -> Slope:
        other = self._with(other)
        value = self.value * other.value
        total = self._chain(value, other.value) + other._chain(value, self.value)
        return Slope(value, total.slopes)

    __radd__ = __add__
    __rmul__ = __mul__

    def __truediv__(self, other: Number | Slope) -> Slope:
        inverse = self._with(other).inverse()
        return self * inverse

    def inverse(self) -> Slope:
        """Return 1/f."""
        value = self.value.inverse()
        return self._chain(value, -value * value)

    def sqrt(self) -> Slope:
        """Return the root."""
        value = self.value.sqrt()
        return self._chain(value, 1 / (2 * value))

    def asin(self) -> Slope:
        """Return asin f."""
        return self._chain(self.value.asin(), (1 - self.value * self.value).sqrt().inverse())

    def atan(self) -> Slope:
        """Return atan f."""
        return self._chain(self.value.atan(), (1 + self.value * self.value).inverse())

    def xi(self) -> Slope:
        """Return f (1 - f^2)^(1/2) - asin f."""
        square = self.value * self.value
        return self._chain(self.value.xi(), -2 * square / (1 - square).sqrt())


Number = Model | arb | int
