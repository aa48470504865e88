"""Cases of models: against numbers, with the widths that the rules of models.py give, and refusals."""

import random

from cases import Case, part, raises
from flint import arb, arb_poly

from earnshaw.proof.trusted.balls import precision


def cases() -> dict[str, Case]:
    """All of them."""
    found: dict[str, Case] = {f"every_k model: {name}": _modelled(*pair) for name, pair in FUNCTIONS.items()}
    found |= {f"every_k width: {name}": case for name, case in WIDTHS.items()}
    return found | {
        "every_k model: refusals": _refusals,
        "every_k model: balls": contained(300, 0),
        "every_k model: slopes": _slopes,
        "every_k model: ranges": _ranges,
    }


def _curved(x):
    return 1 + 3 * x - 2 * x * x * x


FUNCTIONS = {
    "product": (lambda h: _curved(h) * _curved(h) * _curved(-h) * h, lambda x: _curved(x) ** 2 * _curved(-x) * x),
    "difference": (lambda h: 3 - (_curved(h) - h) - 1, lambda x: 2 - _curved(x) + x),
    "quotient": (lambda h: h / _curved(h), lambda x: x / _curved(x)),
    "inverse": (lambda h: 2 / (h * _curved(h)), lambda x: 2 / (x * _curved(x))),
    "inverse of a negative": (lambda h: h / (-_curved(h)), lambda x: -x / _curved(x)),
    "root": (lambda h: (h * h * _curved(h)).sqrt(), lambda x: x * _curved(x).sqrt()),
    "root of a large number": (lambda h: (100 * _curved(h)).sqrt(), lambda x: 10 * _curved(x).sqrt()),
    "root of a small number": (lambda h: (_curved(h) * arb(2) ** -12).sqrt(), lambda x: _curved(x).sqrt() / 64),
    "negative powers": (lambda h: (1 / h - 1) * (1 / h) - h, lambda x: (1 / x - 1) / x - x),
    "asin": (lambda h: (h * _curved(h)).asin(), lambda x: (x * _curved(x)).asin()),
    "asin of h^2": (lambda h: (h * h * _curved(h)).asin(), lambda x: (x * x * _curved(x)).asin()),
    "asin of a negative": (lambda h: (-(h * _curved(h))).asin(), lambda x: -(x * _curved(x)).asin()),
    "atan": (lambda h: (_curved(h) * arb(0.75)).atan(), lambda x: (_curved(x) * arb(0.75)).atan()),
    "atan of a negative": (lambda h: (h * h - arb(0.4)).atan(), lambda x: (x * x - arb(0.4)).atan()),
    "atan of h": (lambda h: (h * _curved(h)).atan(), lambda x: (x * _curved(x)).atan()),
    "atan of a number": (lambda h: (h - h + arb(0.7)).atan() + h, lambda x: arb(0.7).atan() + x),
    "xi": (lambda h: (h * _curved(h)).xi(), lambda x: _xi(x * _curved(x))),
    "psi": (lambda h: (h * _curved(h)).psi(), lambda x: _psi(x * _curved(x))),
    "chi": (lambda h: (h * _curved(h)).chi(), lambda x: _chi(x * _curved(x))),
    "xi of nothing": (lambda h: (h - h).xi() + h, lambda x: x),
}


def _xi(x):
    return x * (1 - x * x).sqrt() - x.asin()


def _psi(x):
    return x * x.asin() + (1 - x * x).sqrt() - 1


def _chi(x):
    return x.asin() * (1 - x * x).sqrt() - x


def _modelled(build, true) -> Case:
    """The value lies in the model at numbers and at balls; the width is that of the last power, and shrinks with h like it."""

    def right(checker) -> bool:
        models = part(checker, "models")
        with precision(200):
            for reach in (0.3, 0.02):
                for order in (5, 8, 9, 30):
                    model = build(models.Scope(order, arb(0).union(arb(reach))).power(1))
                    if model.poly.length() > order or model.poly[0].is_zero():
                        return False
                    for share in (0.01, 0.3, 0.77, 1.0):
                        x = arb(share * reach)
                        with precision(400):
                            value, beside = true(x).mid(), true(x * arb(0.993)).mid()
                        found, wide = model.at(x), model.at(x.union(x * arb(0.99)))
                        room = (
                            (abs(value) + 1) * ((arb(2.7) * x) ** (order - 1) + arb(2) ** -150) * x ** min(model.low, 0)
                        )
                        if not found.contains(value) or found.rad() > room:
                            return False
                        if not (wide.contains(value) and wide.contains(beside)):
                            return False
                        if not (model.leading(x) * x**model.low).overlaps(found):
                            return False
        return True

    return right


# Widths: the last coefficient, which has the remainder, is the interval that its rule gives.
H = arb(0.25)


def _coefficients(series, argument, order=6) -> Case:
    """The remainder of a power series at c h^low: the first term left out, over 1 - (c H^low)^2, times what is folded."""
    name, last = series
    c, low = arb(argument[0]), argument[1]

    def right(checker) -> bool:
        models = part(checker, "models")
        with precision(100):
            h = models.Scope(order, arb(0).union(H)).power(1)
            f = h * c if low == 1 else h * h * c
            found = getattr(f, name)()
            power, number = last(low)
            bound = number * c**power / (1 - (c * H**low) ** 2) * H ** (low * power - found.low - order + 1)
            end = found.poly[order - 1]
            # What is exact has been folded, too, where it goes beyond the last power.
            return _near(end.upper() - end.lower(), 2 * bound)

    return right


def _near(found, true) -> bool:
    return abs(found - true) < abs(true) * arb(2) ** -24


def _first_asin(low):
    """The first term that is left out with order 6: h, h^3, h^5 and h^2, h^6 are kept (j < 3 and j < 2)."""
    return (7, arb(5) / 112) if low == 1 else (5, arb(3) / 40)


def _first_xi(low):
    return (9, 2 * arb(5) / 16 / 9) if low == 1 else (7, 2 * arb(3) / 8 / 7)


def _inverse(checker) -> bool:
    """1/(1 - c h) = sum_{i<n} c^i h^i + h^n c^n/(1 - c h)."""
    models = part(checker, "models")
    with precision(100):
        h = models.Scope(5, arb(0).union(H)).power(1)
        end = (1 - 3 * h).inverse().poly[4]
        return _near(end.lower(), arb(81)) and _near(end.upper(), 81 / (1 - 3 * H))


def _root(checker) -> bool:
    """(u^2 + 2 u v h + w h^2)^(1/2) = u + v h + h^2 (w - v^2)/(root + u + v h)."""
    models = part(checker, "models")
    u, v, w = 10, 3, 17
    with precision(100):
        h = models.Scope(3, arb(0).union(H)).power(1)
        end = (2 * u * v * h + u * u + w * h * h).sqrt().poly[2]
        most = (u * u + 2 * u * v * H + w * H * H).sqrt() + u + v * H
        high, low = ((w - arb(v) ** 2) / length for length in (arb(2 * u), most))
        return end.contains(high.mid()) and end.contains(low.mid()) and 2 * end.rad() < 1.1 * (high - low)


def _folded(checker) -> bool:
    """c_{N-1} + c_N h + ... at the ball [0, H]; what has N coefficients stays as it is."""
    models = part(checker, "models")
    with precision(100):
        scope = models.Scope(3, arb(0).union(H))
        whole = models.Model(scope, 2, arb_poly([1, 2, 3]))
        cut = models.Model(scope, 0, arb_poly([0, 1, 2, 3, 4]))
        kept = whole.low == 2 and whole.poly.coeffs() == [1, 2, 3] and cut.low == 1 and cut.poly[1] == 2
        return kept and cut.poly.length() == 3 and cut.poly[2].lower() <= 3 and _near(cut.poly[2].upper(), 3 + 4 * H)


def _arc(checker) -> bool:
    """The remainder of atan(d + x), x = 3 h and 3 h^2: |x|^J/J with J = 6 and 3, of which one power of h is folded."""
    models = part(checker, "models")
    with precision(100):
        h = models.Scope(6, arb(0).union(H)).power(1)
        ends = [(f - arb(0.5)).atan().poly[5] for f in (h * 3, h * h * 3)]
        widths = arb(3) ** 6 / 6, arb(3) ** 3 / 3
        h = models.Scope(5, arb(0).union(H)).power(1)
        if not (1 + h * (2 * h - 3)).atan().poly[4].rad() > arb(3) ** 5 / 5 * H * arb(0.9999):
            return False
        return all(_near(end.upper() - end.lower(), 2 * width * H) for end, width in zip(ends, widths, strict=True))


WIDTHS: dict[str, Case] = {
    "asin": _coefficients(("asin", _first_asin), (3.5, 1)),
    "asin of h^2": _coefficients(("asin", _first_asin), (14, 2)),
    "xi": _coefficients(("xi", _first_xi), (3.5, 1)),
    "inverse": _inverse,
    "root": _root,
    "folded": _folded,
    "atan": _arc,
}


def contained(trials, seed) -> Case:
    """Every number of a ball is enclosed, in any combination."""

    def right(checker) -> bool:
        models, rng = part(checker, "models"), random.Random(seed)
        with precision(100):
            scope = models.Scope(6, arb(0).union(arb(0.25)))
            f = models.Model(scope, 0, arb_poly([arb(1, 0.1), arb(0.5, 0.2), arb(0, 0.3)]))
            g = models.Model(scope, 1, arb_poly([arb(1, 0.2), arb(-0.3, 0.1)]))
            found = [
                f * g,
                f / g,
                f.sqrt(),
                (g * f).asin(),
                g.xi(),
                g.psi(),
                g.chi(),
                f - g,
                f.inverse(),
                g + f,
                f.atan(),
            ]
            wide = [0.2, 8, 0.2, 0.4, 0.05, 0.1, 0.05, 0.3, 0.4, 0.4, 0.5]
            for _ in range(trials):
                x = arb(rng.uniform(0.001, 0.25))
                u, v, w, y, z = (arb(rng.choice([-1, 1, rng.uniform(-1, 1)])) for _ in range(5))
                a = 1 + u * arb(0.1) + (arb(0.5) + v * arb(0.2)) * x + w * arb(0.3) * x * x
                b = x * (1 + y * arb(0.2) + (arb(-0.3) + z * arb(0.1)) * x)
                true = [a * b, a / b, a.sqrt(), (a * b).asin(), _xi(b), _psi(b), _chi(b), a - b, 1 / a, a + b, a.atan()]
                if not all(model.at(x).contains(value.mid()) for model, value in zip(found, true, strict=True)):
                    return False
            return all(model.at(arb(0.2)).rad() < most for model, most in zip(found, wide, strict=True))

    return right


def _ranges(checker) -> bool:
    """Over a ball of h, with the sign of the leading power: hardly wider than the values, and not finite at a pole."""
    models = part(checker, "models")
    with precision(100):
        h = models.Scope(6, arb(0).union(H)).power(1)
        f = h * h * (1 + h)
        x = arb(0.1).union(arb(0.2))
        value, lead = f.at(x), f.leading(x)
        tight = lead.lower() > 1.09 and lead.upper() < 1.21 and lead.contains(arb(1.1)) and lead.contains(arb(1.2))
        squares = value.contains(arb(0.0110001)) and value.contains(arb(0.04799)) and value.rad() < 0.025
        bent = (1 + h * h).leading(arb(0).union(arb(0.2)))  # the mean value theorem: 1.01 +- 0.1 * 0.4
        return (
            tight and squares and bent.contains(arb(1)) and bent.contains(arb(1.04)) and bent.rad() < 0.045
            and not (1 / h).at(arb(0).union(arb(0.1))).is_finite()
        )  # fmt: skip


def _refusals(checker) -> bool:
    """Divisions by 0, roots of negative numbers and of odd powers, series of numbers that are not small."""
    models = part(checker, "models")
    with precision(100):
        h = models.Scope(6, arb(0).union(arb(0.25))).power(1)
        outside = h - arb(0.2), h - h, 1 - 5 * h, 1 - 4 * h
        roots = h, h * h * (h - arb(0.1)), h - 1, 1 - 4 * h, 1 - 5 * h
        one = h.scope.power(0)
        series = 1 + h, 5 * h, 1 / h, 4 * h, -5 * h, h * arb(0.1) + arb(0.5), one - one
        return (
            all(raises(checker, f.inverse) for f in outside)
            and all(raises(checker, f.sqrt) for f in roots)
            and all(raises(checker, f.asin) for f in series)
            and raises(checker, (1 / h).atan)
            and (h * 3).asin().at(arb(0.25)).contains(arb(0.75).asin())
        )


def _slopes(checker) -> bool:
    """The derivatives of an expression with all operations, against differences."""
    models = part(checker, "models")

    def expression(x, y, h):
        small = h * x / (y + h * 2)
        total = 3 - (x * y - y).sqrt() * 2 + small.asin() - x / y + h * (-y)
        return total + small.xi() * x + (h - x * h) - arb(2) * y + (x * y + h).atan() * x

    def number(x, y, h):
        small = h * x / (y + h * 2)
        total = 3 - (x * y - y).sqrt() * 2 + small.asin() - x / y - h * y + _xi(small) * x + (h - x * h) - 2 * y
        return total + (x * y + h).atan() * x

    with precision(300):
        scope = models.Scope(40, arb(0).union(arb(0.01)))
        one, h = scope.power(0), scope.power(1)
        x, y, at, step = arb(2.5), arb(1.25), arb(0.0075), arb(2) ** -120
        slope = expression(models.Slope(one * x, {0: one}), models.Slope(one * y, {1: one}), h)
        ups = [(number(x + step, y, at) - number(x - step, y, at)) / (2 * step)]
        ups += [(number(x, y + step, at) - number(x, y - step, at)) / (2 * step)]
        errors = [abs(slope.slopes[by].at(at) - ups[by]) for by in range(2)] + [
            abs(slope.value.at(at) - number(x, y, at))
        ]
        plain = expression(one * x, one * y, h)
        return all(error < arb(10) ** -50 for error in [*errors, abs(plain.at(at) - number(x, y, at))])
