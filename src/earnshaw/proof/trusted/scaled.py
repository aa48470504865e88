r"""Families II and A for all large k at once: equations, Hessian and value as models in h = k^(-1/2).

The teacher is the k coordinate vectors. A point of family II has m = k - 1 regular neurons, with a at the own coordinate, b
at the other regular ones and c at the odd coordinate *, and one odd neuron with d at the regular coordinates and e at *:
    a = 1 + A h^4,  b = B h^4,  c = 2 h^2 + C h^4,  d = D h^2,  e = -1 + E h^2,      a > 0, d > 0, e < 0.
A point of family A has m = k regular neurons and no odd coordinate:
    a = -1 + 2 h^2 + A h^4,  b = 2 h^2 + B h^4,                                      a < 0, b > 0.
Write n for the length of a regular neuron, n_* for that of the odd one, p for the cosine of two regular neurons, q of a
regular and the odd one; s_x = (1 - x^2)^(1/2); beta = b/n, gamma = c/n, delta = d/n_* for cosines with teachers;
sigma = ((m-1) b^2 + c^2)^(1/2)/n and S = m^(1/2) d/n_* for the sines of the angles to the own axis. For cosines x away from +-1
the share (pi - t)/(2 pi) of relu.py is 1/4 + asin(x)/(2 pi); at the own axis it is 1/2 - asin(sigma)/(2 pi) along it and
asin(S)/(2 pi) against it, which is where the signs are used. Everything is written so that what cancels, cancels exactly.

EQUATIONS. G_r = 2 pi g_r/h^2 with g_r one entry of grad F in the class r: G = 0 is grad F = 0, for F does not change under
the group that fixes the point, so that grad F is fixed by it, too.
HESSIAN. The quadratic form of F'' on each part of the weights (parts.py), at representatives with unit alpha:
    trivial      the numbers move by (da, db, dc, dd, de) = (h^2 u1, h^3 u2, h^2 u3, h u4, u5);
    standard     z1 alpha_i at the own coordinate of neuron i, z2 alpha_i + z3 alpha_r at the regular coordinate r, z5 alpha_i at
                 *, and z4 alpha_r in the odd neuron, with (z1, z2, z3, z4, z5) = (u1, h u2, h^2 u3, u4, u5);
    x, y         (q-2, 1, 1) and (q-2, 2), numbers;
    extra        M (relu.py), the Hessian in each dimension beyond k: sums, with the regular neurons' in units of h, and
                 differences.
Each comes with the square of the norm in the same coordinates. The dimensions add up: 5 + 5(m-1) + (m-1)(m-2)/2 + m(m-3)/2 = k^2
for II, 2 + 3(m-1) + (m-1)(m-2)/2 + m(m-3)/2 = k^2 for A, m >= 4.
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


def _variables(*scales: Model) -> list[Form]:
    return [Form({(place,): scale}) for place, scale in enumerate(scales)]


def _cosine(x: Value) -> Value:
    return (1 - x * x).sqrt()


class Regular:
    """The regular neurons of a point, and the forms of the Hessian that concern them alone.

    `odd` is the odd neuron's part: the sum over what a regular neuron meets beyond regular neurons and their teachers.
    """

    def __init__(self, scope: Scope, m: Model, a: Value, b: Value, c: Value) -> None:
        self.scope, self.m, self.a, self.b, self.c = scope, m, a, b, c
        aside = (m - 1) * b * b + c * c
        self.square = a * a + aside
        self.n = self.square.sqrt()
        self.p = (2 * a * b + (m - 2) * b * b + c * c) / self.square
        self.beta, self.sigma = b / self.n, aside.sqrt() / self.n
        self.sin_p, self.sin_beta = _cosine(self.p), _cosine(self.beta)
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
        """Return H_i: off is the sum of squares at other regular coordinates, cross their sum, last the part at *."""
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

    unknowns, scale, least = 2, 0, 4  # F k^scale is what is bounded; the parts are as listed from this k on

    def __init__(self, scope: Scope, unknowns: list[Value]) -> None:
        h2, h4 = scope.power(2), scope.power(4)
        self.scope, self.k = scope, scope.power(-2)
        a = unknowns[0] * h4 + 2 * h2 - 1
        b = unknowns[1] * h4 + 2 * h2
        self.point = Regular(scope, self.k, a, b, scope.power(0) * 0)
        self.sides = {"a < 0": -a, "b > 0": b}
        self.rho = (self.point.pull - self.point.sigma) / self.point.n

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
        da, db = _variables(one(2), one(3))
        off, line = (k - 1) * db.square(), v.b * (da + (k - 1) * db)
        form = k * v.own_block(da, off, (k - 1) * db, none, line, none)
        form += k * (k - 1) * v.trivial_pair(da, db, none, line)
        yield "trivial", form, k * (da.square() + off)
        own, here, there = _variables(one(0), one(1), one(2))
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


class FamilyII:
    """Family II: unknowns A, B, C, D, E; F k is of size 1."""

    unknowns, scale, least = 5, 1, 5

    def __init__(self, scope: Scope, unknowns: list[Value]) -> None:
        h2, h4 = scope.power(2), scope.power(4)
        self.scope, self.k = scope, scope.power(-2)
        self.m = m = self.k - 1
        a, b, c = unknowns[0] * h4 + 1, unknowns[1] * h4, unknowns[2] * h4 + 2 * h2
        self.d, self.e = d, e = unknowns[3] * h2, unknowns[4] * h2 - 1
        self.point = v = Regular(scope, m, a, b, c)
        self.sides = {"a > 0": a, "d > 0": d, "e < 0": -e}
        self.length2 = m * d * d + e * e
        self.length = self.length2.sqrt()
        self.q = (a * d + (m - 1) * b * d + c * e) / (v.n * self.length)
        self.sine = m.sqrt() * d / self.length
        self.gamma, self.delta = c / v.n, d / self.length
        self.sin_q, self.sin_gamma, self.sin_delta = _cosine(self.q), _cosine(self.gamma), _cosine(self.delta)
        self.asin_q = self.q.asin()
        self.pull = m * (v.n * self.sin_q - self.sin_delta)
        self.rho = (v.pull + self.length * self.sin_q - self.sin_gamma - v.sigma) / v.n
        self.rho_odd = (self.pull - self.sine) / self.length

    def equations(self) -> list[Value]:
        """Return G_a, ..., G_e."""
        m, v, d, e, half = self.m, self.point, self.d, self.e, arb.pi() / 2
        a, b, c, asin_p, asin_q = v.a, v.b, v.c, v.asin_p, self.asin_q
        found = [
            half * (2 * a - 2 + (m - 1) * b + d) + self.rho * a + asin_p * (m - 1) * b + asin_q * d + v.sigma.asin(),
            half * (m * b + a - 1 + d) + self.rho * b + asin_p * (a + (m - 2) * b) + asin_q * d - v.beta.asin(),
            half * ((m + 1) * c + e - 1) + self.rho * c + asin_p * (m - 1) * c + asin_q * e - self.gamma.asin(),
            half * (2 * d + a - 1 + (m - 1) * b) + self.rho_odd * d + asin_q * (a + (m - 1) * b) - self.delta.asin(),
            half * (2 * e + m * c) + e / self.length * self.pull + self.sine.xi() + asin_q * m * c,
        ]
        return [self.k * entry for entry in found]

    def blocks(self) -> Iterator[Pair]:
        """Yield the Hessian: part, form, squared norm."""
        m, v, one = self.m, self.point, self.scope.power
        v.prepare(self.rho)
        tau, self.slope, self.share = v.tau, v.tau * self.rho_odd + arb(1) / 2, v.tau * self.asin_q + arb(1) / 4
        yield from v.ends()
        inner, outer = _variables(one(1), one(0))
        form = (v.slope + (m - 1) * v.share) * inner.square() + self.slope * outer.square()
        form += 2 * m.sqrt() * self.share * (inner * outer)
        yield "sums in extra dimensions", form, inner.square() + outer.square()
        da, db, dc, dd, de = _variables(one(2), one(3), one(2), one(1), one(0))
        cross, off = (m - 1) * db, (m - 1) * db.square()
        whole = da + cross
        line, toward = v.b * whole + v.c * dc, self.d * whole + self.e * dc
        lone, facing = m * self.d * dd + self.e * de, (v.a + (m - 1) * v.b) * dd + v.c * de
        om, n, length = v.along(da, line), v.n, self.length
        form = m * v.own_block(da, off, cross, dc, line, self._odd(om, toward, dc))
        form += m * (m - 1) * v.trivial_pair(da, db, dc, line)
        bent = m / (n * self.sin_q) * (facing - self.q * n / length * lone).square()
        bent -= m / self.sin_delta * (dd - self.d / self.length2 * lone).square()
        bent -= 1 / self.sine * (de - self.e / self.length2 * lone).square()
        form += self.slope * (m * dd.square() + de.square()) - tau * self.rho_odd / self.length2 * lone.square()
        form += tau / length * bent
        turned = 1 / (n * length) * (om * lone + toward * facing)
        turned -= self.q / v.square * (om * facing) + self.q / self.length2 * (toward * lone)
        form += 2 * m * (self.share * (da * dd + cross * dd + dc * de) + tau / self.sin_q * turned)
        yield "trivial", form, m * (da.square() + off + dc.square() + dd.square()) + de.square()
        yield self._standard()

    def _odd(self, om: Form, toward: Form, last: Form) -> Form:
        """Return what a regular neuron's block has from the odd neuron and its teacher."""
        v = self.point
        met = (toward - self.q * self.length / v.n * om).square()
        return 1 / (self.length * self.sin_q) * met - 1 / self.sin_gamma * (last - v.c / v.square * om).square()

    def _standard(self) -> Pair:
        m, v, one, tau = self.m, self.point, self.scope.power, self.point.tau
        own, here, there, lone, last = _variables(one(0), one(1), one(2), one(0), one(0))
        off = (m - 1) * (here.square() + there.square()) - 2 * (here * there)
        cross = (m - 1) * here - there
        line, toward = v.b * (own + cross) + v.c * last, self.d * (own + cross) + self.e * last
        square, om = own.square() + off + last.square(), v.along(own, line)
        form = v.own_block(own, off, cross, last, line, self._odd(om, toward, last))
        form += v.standard_pair(own, here, there, square, line)
        bend = tau / self.length * (v.g * v.g / (v.n * self.sin_q) - 1 / self.sin_delta)
        form += (self.slope + bend) * lone.square()
        turned = v.g / (v.n * self.length) * (toward * lone) - self.q * v.g / v.square * (om * lone)
        total = own - here + (m - 1) * there
        form += 2 * (self.share * (total * lone) + tau / self.sin_q * turned)
        return "standard", form, square + lone.square()

    def value(self) -> Model:
        """Return k F."""
        m, v, d, e = self.m, self.point, self.d, self.e
        a, b, c, n = v.a, v.b, v.c, v.n
        away, odd, long, lone = a + (m - 1) * b + d - 1, m * c + e - 1, n - 1, self.length - 1
        total = m * away * away + odd * odd + m * ((a - 1) * (a - 1) + (m - 1) * b * b + c * c)
        total = arb.pi() / 4 * (total + m * d * d + (e + 1) * (e + 1))
        total += (m * m - m) * long * long / 2 + m * long * lone
        total += m * n * (self.length * self.q.psi() + (m - 1) * (n * v.p.psi() / 2 - v.beta.psi()) - self.gamma.psi())
        total += m * (n * v.sigma.chi() - self.length * self.delta.psi()) + self.length * self.sine.chi()
        return self.k * total / (2 * arb.pi())


FAMILIES = {"II": FamilyII, "A": FamilyA}
