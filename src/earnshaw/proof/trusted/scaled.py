r"""Points with many equal entries for all large k at once: regular neurons, and family A, as models in h = k^(-1/2).

The teacher is the k coordinate vectors. m regular neurons have a at the own coordinate, b at the other regular ones, and c at
the odd coordinate *, where there is one (singles.py). A point of family A has m = k regular neurons and no odd coordinate:
    a = -1 + 2 h^2 + A h^4,  b = 2 h^2 + B h^4,                                      a < 0, b > 0.
Write n for the length of a regular neuron, p for the cosine of two of them; s_x = (1 - x^2)^(1/2); beta = b/n for the cosine
with another's teacher; sigma = ((m-1) b^2 + c^2)^(1/2)/n for the sine of the angle to the own axis. For cosines x away from +-1
the share (pi - t)/(2 pi) of relu.py is 1/4 + asin(x)/(2 pi); at the own axis it is 1/2 - asin(sigma)/(2 pi) along it and
asin(sigma)/(2 pi) against it, which is where the signs are used. Everything is written so that what cancels, cancels exactly.

EQUATIONS. G_r = 2 pi g_r/h^e with g_r one entry of grad F in the class r, and e = 2 for A: G = 0 is grad F = 0, for F does not
change under the group that fixes the point, so that grad F is fixed by it, too.
HESSIAN. The quadratic form of F'' on each part of the weights (parts.py), at representatives with unit alpha:
    trivial      the numbers move by (da, db) = (h^2 u1, h^3 u2);
    standard     z1 alpha_i at the own coordinate of neuron i, z2 alpha_i + z3 alpha_r at the regular coordinate r, with
                 (z1, z2, z3) = (u1, h u2, h^2 u3);
    x, y         (q-2, 1, 1) and (q-2, 2), numbers;
    extra        M (relu.py), the Hessian in each dimension beyond k: sums, with the regular neurons' in units of h, and
                 differences.
Each comes with the square of the norm in the same coordinates. The dimensions add up: 2 + 3(m-1) + (m-1)(m-2)/2 + m(m-3)/2 = k^2,
m >= 4.
"""

# ruff: noqa: D105  operators are what they are

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from flint import arb

from .models import Model, Scope

Value = Any  # a Model, or a Slope where derivatives are asked for
Pair = tuple[str, "Form", "Form"]


class Form:
    """A polynomial in u_0, u_1, ... whose coefficients are models: a linear form, or a quadratic one."""

    def __init__(self, terms: dict[tuple[int, ...], Model]) -> None:
        self.terms = terms

    def __add__(self, other: Form) -> Form:
        terms = dict(self.terms)
        for key, value in other.terms.items():
            terms[key] = terms[key] + value if key in terms else value
        return Form(terms)

    def __sub__(self, other: Form) -> Form:
        return self + -1 * other

    def __mul__(self, other: Form) -> Form:
        total = Form({})
        for key, value in self.terms.items():
            total += Form({tuple(sorted((*key, *more))): value * factor for more, factor in other.terms.items()})
        return total

    def __rmul__(self, factor: Model | arb | int) -> Form:
        return Form({key: factor * value for key, value in self.terms.items()})

    def square(self) -> Form:
        """Return the form times itself."""
        return self * self


def variables(*scales: Model) -> list[Form]:
    """Return the forms scale_i u_i."""
    return [Form({(place,): scale}) for place, scale in enumerate(scales)]


def cosine(x: Value) -> Value:
    """Return (1 - x^2)^(1/2)."""
    return (1 - x * x).sqrt()


class Regular:
    """The regular neurons of a point, and the forms of the Hessian that concern them alone."""

    def __init__(self, scope: Scope, m: Model, a: Value, b: Value, c: Value) -> None:
        self.scope, self.m, self.a, self.b, self.c = scope, m, a, b, c
        self.aside = (m - 1) * b * b + c * c
        self.square = a * a + self.aside
        self.n = self.square.sqrt()
        self.p = (2 * a * b + (m - 2) * b * b + c * c) / self.square
        self.beta, self.sigma = b / self.n, self.aside.sqrt() / self.n
        self.sin_p, self.sin_beta = cosine(self.p), cosine(self.beta)
        self.asin_p = self.p.asin()
        self.pull = (m - 1) * (self.n * self.sin_p - self.sin_beta)

    def prepare(self, rho: Model) -> None:
        """Set what the forms use."""
        self.tau = 1 / (2 * arb.pi())
        self.rho, self.g = rho, self.a - self.b
        self.slope = self.tau * rho + arb(1) / 2
        self.share = self.tau * self.asin_p + arb(1) / 4
        self.eta = self.g * self.g / (self.n * self.sin_p) - 1 / self.sin_beta

    def ends(self) -> Iterator[Pair]:
        """Yield the parts x and y, and the differences in extra dimensions."""
        one, bend = Form({(0, 0): self.scope.power(0)}), self.tau * self.g * self.g / (self.square * self.sin_p)
        common = self.slope + self.tau * self.eta / self.n - self.share
        yield "(q-2,1,1)", Form({(0, 0): common - bend}), one
        yield "(q-2,2)", Form({(0, 0): common + bend}), one
        yield "differences in extra dimensions", Form({(0, 0): self.slope - self.share}), one

    def along(self, own: Form, line: Form) -> Form:
        """Return w.dw of a regular neuron from its parts at the own coordinate and elsewhere."""
        return line + self.g * own

    def own_block(self, own: Form, off: Form, cross: Form, last: Form, line: Form, odd: Form) -> Form:
        """Return H_i: off is the sum of squares at other regular coordinates, cross their sum, last the part at *.

        `odd` is the sum over what a regular neuron meets beyond regular neurons and their teachers.
        """
        m, n, b = self.m, self.n, self.b / self.square
        om, miss = self.along(own, line), (1 - self.p) * line - self.p * self.g * own
        inner = self.eta * off + odd
        inner += 1 / (n * self.sin_p) * (2 * self.g * (miss * cross) + (m - 1) * miss.square())
        inner += 1 / self.sin_beta * (2 * b * (om * cross) - (m - 1) * b * b * om.square())
        inner -= 1 / self.sigma * (own - self.a / self.square * om).square()
        square = own.square() + off + last.square()
        return self.slope * square - self.tau * self.rho / self.square * om.square() + self.tau / n * inner

    def trivial_pair(self, da: Form, db: Form, dc: Form, line: Form) -> Form:
        """Return H_ij on the trivial part."""
        om, other = self.along(da, line), line + self.g * db
        flat = 2 * (da * db) + (self.m - 2) * db.square() + dc.square()
        bent = om.square() + other.square() - 2 * self.p * (om * other)
        return self.share * flat + self.tau / (self.square * self.sin_p) * bent

    def standard_pair(self, own: Form, here: Form, there: Form, square: Form, line: Form) -> Form:
        """Return H_ij on the standard part, for z1, z2, z3."""
        m, om, total = self.m, self.along(own, line), own - here + (self.m - 1) * there
        first, second = line + self.g * here, self.g * there
        bent = 2 * self.p * (om * first) - om.square() - first.square() - second.square()
        bent += 2 * (m - 1) * (first * second) - 2 * (m - 1) * self.p * (om * second)
        return self.share * (total.square() - square) + self.tau / (self.square * self.sin_p) * bent


class FamilyA:
    """Family A: unknowns A, B; F itself is of size 1."""

    # F k^scale is what is bounded; the parts are as listed from k = least on.
    unknowns, singles, scale, least = 2, 0, 0, 4

    def __init__(self, scope: Scope, unknowns: list[Value]) -> None:
        h2, h4 = scope.power(2), scope.power(4)
        self.scope, self.k = scope, scope.power(-2)
        a = unknowns[0] * h4 + 2 * h2 - 1
        b = unknowns[1] * h4 + 2 * h2
        self.point = Regular(scope, self.k, a, b, scope.power(0) * 0)
        self.sides = self.signs([a, b])
        self.rho = (self.point.pull - self.point.sigma) / self.point.n

    @staticmethod
    def signs(numbers: list[Any]) -> dict[str, Any]:
        """Return what is positive of the numbers a, b of a point of the family."""
        a, b = numbers
        return {"a < 0": -a, "b > 0": b}

    def equations(self) -> list[Value]:
        """Return G_a, G_b."""
        k, v, half = self.k, self.point, arb.pi() / 2
        found = [
            half * (2 * v.a + (k - 1) * v.b) + v.a / v.n * v.pull + v.sigma.xi() + v.asin_p * (k - 1) * v.b,
            half * (k * v.b + v.a - 1) + self.rho * v.b + v.asin_p * (v.a + (k - 2) * v.b) - v.beta.asin(),
        ]
        return [k * entry for entry in found]

    def blocks(self) -> Iterator[Pair]:
        """Yield the Hessian: part, form, squared norm."""
        k, v, one = self.k, self.point, self.scope.power
        v.prepare(self.rho)
        none = Form({})
        yield from v.ends()
        sums, unit = Form({(0, 0): one(2) * (v.slope + (k - 1) * v.share)}), Form({(0, 0): one(2)})
        yield "sums in extra dimensions", sums, unit
        da, db = variables(one(2), one(3))
        off, line = (k - 1) * db.square(), v.b * (da + (k - 1) * db)
        form = k * v.own_block(da, off, (k - 1) * db, none, line, none)
        form += k * (k - 1) * v.trivial_pair(da, db, none, line)
        yield "trivial", form, k * (da.square() + off)
        own, here, there = variables(one(0), one(1), one(2))
        off = (k - 1) * (here.square() + there.square()) - 2 * (here * there)
        cross = (k - 1) * here - there
        line, square = v.b * (own + cross), own.square() + off
        form = v.own_block(own, off, cross, none, line, none)
        yield "standard", form + v.standard_pair(own, here, there, square, line), square

    def value(self) -> Model:
        """Return F."""
        k, v = self.k, self.point
        a, b, n = v.a, v.b, v.n
        away, long = a + (k - 1) * b - 1, n - 1
        total = arb.pi() / 4 * k * (away * away + (a + 1) * (a + 1) + (k - 1) * b * b)
        total += (k * k - k) * long * long / 2 + k * (k - 1) * n * (n * v.p.psi() / 2 - v.beta.psi())
        return (total + k * n * v.sigma.chi()) / (2 * arb.pi())
