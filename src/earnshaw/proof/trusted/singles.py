r"""Families II and B for all large k at once: regular neurons (scaled.py) and single ones, as models in h = k^(-1/2).

There are m = k - 1 regular neurons, with a, b, and c at the odd coordinate *. A single neuron has d at each regular coordinate
and e at *; II has one, B two, of which the first is short, of a length like h:
    II    a = 1 + A h^4,  b = B h^4,  c = 2 h^2 + C h^4,  d = D h^2,  e = -1 + E h^2;
    B     a = 1 + A h^3,  b = B h^4,  c = 2 h^2 + C h^3,  d = D h^2,  e = E h;  d' = D' h^2,  e' = -1 + E' h.
SIGNS. a > 0, and d > 0, e < 0 for each single neuron. So the angle of a regular neuron to its own axis is asin(sigma), and that of
a single one to -e_* is f = atan(x/-e) = asin(S) in (0, pi/2), with x = m^(1/2) d, l its length and S = x/l; its share with the teacher
e_* is f/(2 pi). For B also e d' - d e' > 0: then f > f', and the angle of the two is t = f - f', with l l' sin t = e x' - x e'.

A SINGLE NEURON AND THE REGULAR ONES. q is the cosine with a regular neuron, delta = d/l with its teacher. Both are like h for the
short neuron, and nearly equal. So their differences are written with apart = q - delta = ((m-1) b d + c e - d (n - a))/(n l),
n - a = ((m-1) b^2 + c^2)/(n + a):
    drop = s_q - s_delta = -apart (q + delta)/(s_q + s_delta),          lift = n s_q - s_delta = (n - 1) s_q + drop,
    turn = asin q - asin delta = asin(apart s_delta - delta drop),      if its cosine s_q s_delta + q delta is positive,
    psi(q) - psi(delta) = apart asin q + delta turn + drop,             psi(x) = x asin x + s_x - 1.
The pull of all others on a single neuron along itself, l rho_y, is m lift + edge, where edge = l' sin t - S, l' the length of the other
one: (e x' - x (1 + e'))/l for the short neuron, and -S for II.

HESSIAN (scaled.py has x, y and what concerns regular neurons alone).
    trivial      (da, db, dc) = (h^2 u, h^3 u, h^2 u), (dd, de) = (h u, u) for each single neuron. It moves in the plane of e_* and the
                 sum of the regular coordinates: by `along` along itself, by `across` = m^(1/2) (d de - e dd)/l across. Teachers and
                 neurons in that plane meet only `across`, and so do the regular ones: with t = a + (m-1) b,
                     (own block) = |dy|^2/2 + R across^2/(2 pi),   R = (m lift + 2 edge + K/l^2)/l,
                     K = Z^2/(n s_q) - e^2/s_delta,   Z = t e - m c d,   Z - e = (t - 1) e - m c d,
                     (pair of B) = share dy.dy' + sin t (along along' - across across')/(2 pi);
    standard     as in scaled.py, z alpha_i at * in regular neurons (last), and z alpha_r in each single one;
    extra        sums and differences; single neurons count among the sums.
Dimensions: with s single neurons (3 + 2s) + (4 + s)(m-1) + (m-1)(m-2)/2 + m(m-3)/2 = k (k - 1 + s), m >= 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from flint import arb

from .models import Model, Scope
from .scaled import Form, Pair, Regular, Value, cosine, variables


class Single:
    """A single neuron and what it is to the regular ones; `edge`, and what follows from it, is set by the family."""

    def __init__(self, v: Regular, d: Value, e: Value) -> None:
        m, n, line = v.m, v.n, v.a + (v.m - 1) * v.b
        self.v, self.d, self.e, self.x = v, d, e, m.sqrt() * d
        self.square = m * d * d + e * e
        self.length = self.square.sqrt()
        self.sine, self.delta = self.x / self.length, d / self.length
        self.q = (line * d + v.c * e) / (n * self.length)
        self.sin_q, self.sin_delta, self.asin_q = cosine(self.q), cosine(self.delta), self.q.asin()
        self.apart = ((m - 1) * v.b * d + v.c * e - v.aside * d / (v.a + n)) / (n * self.length)
        self.drop = -(self.apart * (self.q + self.delta) / (self.sin_q + self.sin_delta))
        self.lift = (n - 1) * self.sin_q + self.drop
        self.turn = (self.apart * self.sin_delta - self.delta * self.drop).asin()
        self.near = self.sin_q * self.sin_delta + self.q * self.delta

    def met(self, edge: Value) -> None:
        """Set the pull of all others."""
        self.edge, self.rho = edge, (self.v.m * self.lift + edge) / self.length

    def equation(self) -> Value:
        """Return 2 pi times an entry of the gradient at a regular coordinate, but for the other single neuron."""
        v, pi = self.v, arb.pi()
        excess = v.a - 1 + (v.m - 1) * v.b
        return pi / 2 * excess + pi * self.d + self.rho * self.d + self.asin_q * excess + self.turn

    def prepare(self) -> None:
        """Set what the forms use."""
        v, tau = self.v, self.v.tau
        self.slope, self.share = tau * self.rho + arb(1) / 2, tau * self.asin_q + arb(1) / 4
        excess = (v.a - 1 + (v.m - 1) * v.b) * self.e - v.m * v.c * self.d
        bend = excess * (excess + 2 * self.e) - self.e * self.e * self.lift / self.sin_delta
        bend = bend / (v.n * self.sin_q * self.square)
        self.stiff = (v.m * self.lift + 2 * self.edge + bend) / self.length

    def on_regular(self, om: Form, toward: Form) -> Form:
        """Return what a regular neuron's block has from this neuron, times 2 pi n; toward is y.dw."""
        met = toward - self.q * self.length / self.v.n * om
        return 1 / (self.length * self.sin_q) * met.square()

    def trivial(self, da: Form, cross: Form, dc: Form, om: Form, dd: Form, de: Form) -> Form:
        """Return the own block and the pairs with all regular neurons."""
        v, m, tau = self.v, self.v.m, self.v.tau
        across, lone = self.across(dd, de), m * self.d * dd + self.e * de
        toward, facing = self.d * (da + cross) + self.e * dc, (v.a + (m - 1) * v.b) * dd + v.c * de
        form = arb(1) / 2 * (m * dd.square() + de.square()) + tau * self.stiff * m * across.square()
        turned = 1 / (v.n * self.length) * (om * lone + toward * facing)
        turned -= self.q / v.square * (om * facing) + self.q / self.square * (toward * lone)
        return form + 2 * m * (self.share * (da * dd + cross * dd + dc * de) + tau / self.sin_q * turned)

    def across(self, dd: Form, de: Form) -> Form:
        """Return how far it moves across itself, over m^(1/2)."""
        return 1 / self.length * (self.d * de - self.e * dd)

    def standard(self, lone: Form, total: Form, toward: Form, om: Form) -> Form:
        """Return the own block and the pairs with all regular neurons; total is the sum of their parts at a coordinate."""
        v, tau = self.v, self.v.tau
        bend = (v.g - 1) * (v.g + 1) * self.sin_delta - self.lift
        bend = bend / (v.n * self.sin_q * self.sin_delta * self.length)
        turned = v.g / (v.n * self.length) * (toward * lone) - self.q * v.g / v.square * (om * lone)
        return (self.slope + tau * bend) * lone.square() + 2 * (self.share * (total * lone) + tau / self.sin_q * turned)

    def value(self) -> Model:
        """Return psi of the regular neurons minus that of their teachers."""
        n = self.v.n
        return self.length * ((n - 1) * self.q.psi() + self.apart * self.asin_q + self.delta * self.turn + self.drop)


class FamilyII:
    """Family II: unknowns A, B, C, D, E; F k is of size 1."""

    unknowns, singles, scale, least = 5, 1, 1, 5

    def __init__(self, scope: Scope, unknowns: list[Value]) -> None:
        h2, h4 = scope.power(2), scope.power(4)
        a, b, c = unknowns[0] * h4 + 1, unknowns[1] * h4, unknowns[2] * h4 + 2 * h2
        self._build(scope, a, b, c, [(unknowns[3] * h2, unknowns[4] * h2 - 1)])
        (odd,) = self.odd
        odd.met(-odd.sine)

    def _build(self, scope: Scope, a: Value, b: Value, c: Value, singles: list[tuple[Value, Value]]) -> None:
        self.scope, self.k = scope, scope.power(-2)
        self.m = m = self.k - 1
        self.point = v = Regular(scope, m, a, b, c)
        self.odd = [Single(v, d, e) for d, e in singles]
        self.gamma = c / v.n
        self.sin_gamma = cosine(self.gamma)
        self.sides = self.signs([a, b, c, *chain.from_iterable(singles)])
        rest = v.pull - self.sin_gamma - v.sigma
        for y, odd in enumerate(self.odd, 1):
            self.sides[f"cosine {y} > 0"] = odd.near
            rest = rest + odd.length * odd.sin_q
        self.rho = rest / v.n

    @staticmethod
    def signs(numbers: list[Any]) -> dict[str, Any]:
        """Return what is positive of the numbers a, b, c, and d, e of each single neuron, of a point of the family."""
        found = {"a > 0": numbers[0]}
        for y, place in enumerate(range(3, len(numbers), 2), 1):
            found |= {f"d{y} > 0": numbers[place], f"e{y} < 0": -numbers[place + 1]}
        return found

    def _regular(self) -> list[Value]:
        """Return 2 pi times the gradient at regular neurons."""
        m, v, half = self.m, self.point, arb.pi() / 2
        a, b, c, asin_p = v.a, v.b, v.c, v.asin_p
        flat = [2 * a - 2 + (m - 1) * b, m * b + a - 1, (m + 1) * c - 1]
        found = [
            self.rho * a + asin_p * (m - 1) * b + v.sigma.asin(),
            self.rho * b + asin_p * (a + (m - 2) * b) - v.beta.asin(),
            self.rho * c + asin_p * (m - 1) * c - self.gamma.asin(),
        ]
        for odd in self.odd:
            entries = (odd.d, odd.d, odd.e)
            flat = [total + x for total, x in zip(flat, entries, strict=True)]
            found = [total + odd.asin_q * x for total, x in zip(found, entries, strict=True)]
        return [half * x + y for x, y in zip(flat, found, strict=True)]

    def equations(self) -> list[Value]:
        """Return G_a, ..., G_e, all over h^2."""
        m, c, half, (odd,) = self.m, self.point.c, arb.pi() / 2, self.odd
        last = half * (2 * odd.e + m * c) + odd.e / odd.length * m * odd.lift + odd.sine.xi() + odd.asin_q * m * c
        return [self.k * entry for entry in [*self._regular(), odd.equation(), last]]

    def blocks(self) -> Iterator[Pair]:
        """Yield the Hessian: part, form, squared norm."""
        m, v, one, count = self.m, self.point, self.scope.power, len(self.odd)
        v.prepare(self.rho)
        for odd in self.odd:
            odd.prepare()
        yield from v.ends()
        inner, *outer = variables(one(1), *[one(0)] * count)
        form, square = (v.slope + (m - 1) * v.share) * inner.square(), inner.square()
        for odd, other in zip(self.odd, outer, strict=True):
            form += odd.slope * other.square() + 2 * m.sqrt() * odd.share * (inner * other)
            square += other.square()
        yield "sums in extra dimensions", form + self._flat(outer), square
        da, db, dc, *ds = variables(one(2), one(3), one(2), *[one(1), one(0)] * count)
        cross, off = (m - 1) * db, (m - 1) * db.square()
        line = v.b * (da + cross) + v.c * dc
        om = v.along(da, line)
        form = m * v.own_block(da, off, cross, dc, line, self._met(da + cross, dc, om))
        form += m * (m - 1) * v.trivial_pair(da, db, dc, line) + self._pair(ds)
        square = m * (da.square() + off + dc.square())
        for odd, dd, de in zip(self.odd, ds[::2], ds[1::2], strict=True):
            form += odd.trivial(da, cross, dc, om, dd, de)
            square += m * dd.square() + de.square()
        yield "trivial", form, square
        own, here, there, last, *lone = variables(one(0), one(1), one(2), one(0), *[one(0)] * count)
        off = (m - 1) * (here.square() + there.square()) - 2 * (here * there)
        cross, total = (m - 1) * here - there, own - here + (m - 1) * there
        line, square = v.b * (own + cross) + v.c * last, own.square() + off + last.square()
        om = v.along(own, line)
        form = v.own_block(own, off, cross, last, line, self._met(own + cross, last, om))
        form += v.standard_pair(own, here, there, square, line) + self._flat(lone)
        for odd, z in zip(self.odd, lone, strict=True):
            form += odd.standard(z, total, odd.d * (own + cross) + odd.e * last, om)
            square += z.square()
        yield "standard", form, square

    def _met(self, whole: Form, last: Form, om: Form) -> Form:
        """Return what a regular neuron's block has from the single neurons and the odd teacher; whole is its sum."""
        v = self.point
        form = -1 / self.sin_gamma * (last - v.c / v.square * om).square()
        for odd in self.odd:
            form += odd.on_regular(om, odd.d * whole + odd.e * last)
        return form

    def _flat(self, moved: list[Form]) -> Form:
        """Return the share of the pair of single neurons, if there are two, on motions at right angles to both."""
        return Form({})

    def _pair(self, moved: list[Form]) -> Form:
        """Return the trivial block of the pair of single neurons, if there are two."""
        return Form({})

    def value(self) -> Model:
        """Return k F."""
        m, (odd,) = self.m, self.odd
        alone = arb.pi() / 4 * (m * odd.d * odd.d + (odd.e + 1) * (odd.e + 1)) + odd.length * odd.sine.chi()
        return self._value(alone)

    def _value(self, alone: Model) -> Model:
        m, v = self.m, self.point
        a, b, c, n = v.a, v.b, v.c, v.n
        away, last, long, lengths = a + (m - 1) * b - 1, m * c - 1, n - 1, -1
        total = alone + m * n * ((m - 1) * (n * v.p.psi() / 2 - v.beta.psi()) - self.gamma.psi() + v.sigma.chi())
        for odd in self.odd:
            away, last, lengths = away + odd.d, last + odd.e, odd.length + lengths
            total += m * odd.value()
        square = m * away * away + last * last + m * ((a - 1) * (a - 1) + (m - 1) * b * b + c * c)
        total += arb.pi() / 4 * square + (m * m - m) * long * long / 2 + m * long * lengths
        return self.k * total / (2 * arb.pi())


class FamilyB(FamilyII):
    """Family B: unknowns A, B, C, D, E, D', E'; F k is of size 1."""

    unknowns, singles, scale, least = 7, 2, 1, 5

    def __init__(self, scope: Scope, unknowns: list[Value]) -> None:
        h, h2, h3 = scope.power(1), scope.power(2), scope.power(3)
        a, b, c = unknowns[0] * h3 + 1, unknowns[1] * scope.power(4), unknowns[2] * h3 + 2 * h2
        short, long = (unknowns[3] * h2, unknowns[4] * h), (unknowns[5] * h2, unknowns[6] * h - 1)
        self._build(scope, a, b, c, [short, long])
        one, two = self.odd
        self.area = one.e * two.x - one.x * two.e
        one.met((one.e * two.x - one.x * (two.e + 1)) / one.length)
        two.met((self.area - two.x) / two.length)
        self.tilt = two.sine.asin()
        self.angle = (-one.x / one.e).atan() - self.tilt

    @staticmethod
    def signs(numbers: list[Any]) -> dict[str, Any]:
        """Return what is positive of the numbers of a point of the family: the short neuron is further from -v_k than the long one."""
        d1, e1, d2, e2 = numbers[3:]
        return FamilyII.signs(numbers) | {"e1 d2 - d1 e2 > 0": e1 * d2 - d1 * e2}

    def equations(self) -> list[Value]:
        """Return G, over h^2 at coordinates b, d, d', and over h at the others."""
        m, pi, (one, two) = self.m, arb.pi(), self.odd
        wide, full = pi - self.angle, m * self.point.c
        lean = one.rho * one.e + pi * one.e + (two.e + 1) * wide - self.tilt
        ends = [
            pi / 2 * (full - 2) + lean + one.asin_q * full,
            pi / 2 * (2 * two.e + full) + two.rho * two.e - self.tilt + one.e * wide + two.asin_q * full,
        ]
        a, b, c = self._regular()
        d1, d2 = one.equation() + two.d * wide, two.equation() + one.d * wide
        h1 = self.scope.power(-1)
        return [h1 * a, self.k * b, h1 * c, self.k * d1, h1 * ends[0], self.k * d2, h1 * ends[1]]

    def _flat(self, moved: list[Form]) -> Form:
        first, second = moved
        return 2 * (arb(1) / 2 - self.point.tau * self.angle) * (first * second)

    def _pair(self, moved: list[Form]) -> Form:
        m, (one, two) = self.m, self.odd
        d1, e1, d2, e2 = moved
        along = 1 / one.length * (m * one.d * d1 + one.e * e1) * (1 / two.length * (m * two.d * d2 + two.e * e2))
        bent = along - m * (one.across(d1, e1) * two.across(d2, e2))
        sine = self.area / (one.length * two.length)
        return m * self._flat([d1, d2]) + self._flat([e1, e2]) + 2 * self.point.tau * sine * bent

    def value(self) -> Model:
        """Return k F."""
        m, half, (one, two) = self.m, arb.pi() / 2, self.odd
        up = two.e + 1
        alone = half / 2 * (one.square + m * two.d * two.d + up * up) + one.e * two.x - one.x * up
        alone += (half - self.angle) * (one.x * two.x + one.e * up) - self.tilt * one.e + two.length * two.sine.chi()
        return self._value(alone)
