"""Cases of one theorem for every k: models, scaled formulas against blocks.py, and forgeries."""

import random
import re

import adversaries_every_k
import battery_made_up
import battery_models
import numpy as np
from cases import Case, part, raises, verdict
from flint import arb, arb_mat

from earnshaw.proof.every_k import PLANS, numbers_at
from earnshaw.proof.trusted.balls import precision
from earnshaw.proof.trusted.blocks import Symmetric

NEAR = {  # not critical, but with the family's signs
    "II": (2.5, -1.3, -4.5, 1.3, 5.3),
    "A": (-1.4, -0.7),
    "B": (-0.6, -1.6, 0.3, 0.9, -1.4, 0.7, 1.1),
}
SINGLES = {"II": 1, "A": 0, "B": 2}
FAR = 2500  # a k at which models of order 48 have 40 digits


def cases() -> dict[str, Case]:
    """All of them, quick ones first."""
    found = battery_models.cases()
    for family in PLANS:
        found |= {f"every_k formulas: {family} {seed}": agrees(family, seed) for seed in range(2)}
        found |= {f"every_k tail: {family}": _tail(family), f"every_k head: {family}": _head(family)}
    found |= {"every_k cover": _cover, "every_k size": _size, "every_k limits": _limits, "every_k reach": _reach}
    found |= {"every_k signs": _signs, "every_k shape": _shape}
    found |= battery_made_up.cases()
    found |= {f"every_k bounds: {family}": _bounds(family) for family in PLANS}
    found |= {f"every_k hypothesis: {name}": _needed(*rest) for name, rest in HYPOTHESES.items()}
    bad, good = adversaries_every_k.everything("A")
    good["II as it is"] = adversaries_every_k.Forger.sealed(dict(adversaries_every_k.short("II").document))
    found |= {f"every_k good: {name}": verdict(data, True) for name, data in good.items()}
    found |= {f"every_k bad: {name}": verdict(data, False) for name, data in bad.items()}
    return found


# The scaled formulas, at points that are not critical.


def agrees(family, seed) -> Case:
    """Equations, derivatives, Hessian and value are those of blocks.py, to 25 digits and more."""

    def right(checker) -> bool:
        models, families = part(checker, "models"), part(checker, "every_k").FAMILIES
        rng = random.Random(seed)
        with precision(300):
            h = 1 / arb(FAR).sqrt()
            scope = models.Scope(48, arb(0).union(arb(0.021)))
            unknowns = [arb(value * rng.uniform(0.7, 1.3)) for value in NEAR[family]]
            one = scope.power(0)
            found = families[family](scope, [one * x for x in unknowns])
            site = _site(family, FAR, numbers_at(family, h, unknowns))
            errors = [found.value().at(h) - (1 if family == "A" else FAR) * site.value()]
            errors += [x.at(h) - y for x, y in zip(found.equations(), _gradient(family, site, h), strict=True)]
            errors += list(_block_errors(family, found, site, h))
            moved = families[family](scope, [models.Slope(one * x, {i: one}) for i, x in enumerate(unknowns)])
            errors += list(_slope_errors(family, moved.equations(), unknowns, h))
            sides = {name: side.at(h) for name, side in found.sides.items()}
            return all(abs(error) < arb(10) ** -25 for error in errors) and _sided(family, sides, h, unknowns)

    return right


def _site(family, k, numbers):
    singles = SINGLES[family]
    return Symmetric([k - 1, 1] if singles else [k], [0] + [None] * singles, numbers)


def _counts(family):
    """How many weights each number stands for."""
    m = FAR - 1
    return [FAR, FAR * m] if family == "A" else [m, m * (m - 1), m, *[m, 1] * SINGLES[family]]


def _gradient(family, site, h):
    """2 pi/h^p times an entry of each class, p = 2 except for B."""
    powers = (1, 2, 1, 2, 1, 2, 1) if family == "B" else (2,) * 5
    entries = zip(site.gradient().entries(), _counts(family), powers, strict=False)
    return [2 * arb.pi() * x / arb(count).sqrt() / h**power for x, count, power in entries]


def _slope_errors(family, equations, unknowns, h):
    step = arb(2) ** -100
    for by in range(len(unknowns)):
        ends = []
        for sign in (1, -1):
            at = [x + sign * step * (i == by) for i, x in enumerate(unknowns)]
            ends.append(_gradient(family, _site(family, FAR, numbers_at(family, h, at)), h))
        for equation, high, low in zip(equations, *ends, strict=True):
            yield equation.slopes[by].at(h) - (high - low) / (2 * step)


def _sided(family, sides, h, unknowns) -> bool:
    a, b, c, *singles = [*numbers_at(family, h, unknowns), arb(0)][: 3 + 2 * SINGLES[family]]
    true = {"a < 0": -a, "b > 0": b} if family == "A" else {"a > 0": a}
    m = 1 / h**2 - 1
    for y, (d, e) in enumerate(zip(singles[::2], singles[1::2], strict=True), 1):
        length, n = (m * d * d + e * e).sqrt(), (a * a + (m - 1) * b * b + c * c).sqrt()
        turned = ((a * d + (m - 1) * b * d + c * e) / (n * length)).asin() - (d / length).asin()
        true |= {f"d{y} > 0": d, f"e{y} < 0": -e, f"cosine {y} > 0": turned.cos()}
    if family == "B":
        true["e1 d2 - d1 e2 > 0"] = singles[1] * singles[2] - singles[0] * singles[3]
    return sides.keys() == true.keys() and all(abs(sides[name] - true[name]) < arb(10) ** -25 for name in true)


def _eye(size):
    return arb_mat(np.eye(size, dtype=int).tolist())


def _mixed(family):
    """The vectors of parts.py for the standard part, as columns, in terms of the coordinates z of scaled.py and singles.py."""
    own, plus, minus, last = {0: 1}, {1: 1, 2: 1}, {1: 1, 2: -1}, {3: 1}
    singles = [{4 + y: 1} for y in range(SINGLES[family])]
    columns = [*singles, own, *([last] if singles else []), plus, minus]
    return arb_mat([[column.get(row, 0) for column in columns] for row in range(len(columns))])


def _block_errors(family, found, site, h):
    """Each form on the vectors of parts.py over their norms, minus the block; and the scalar products of those vectors."""
    blocks, beyond = dict(site.blocks()), list(site.extensions())
    count, singles, mixed = len(NEAR[family]), SINGLES[family], _mixed(family)
    names = {
        "trivial": ((2, 3, 2, 1, 0, 1, 0)[:count], _eye(count), blocks["trivial"]),
        "standard": ((0, 1, 2, 0, 0, 0)[: mixed.nrows()], mixed, blocks["standard of group 0"]),
        "(q-2,1,1)": ((0,), _eye(1), blocks["(q-2,1,1) of group 0"]),
        "(q-2,2)": ((0,), _eye(1), blocks["(q-2,2) of group 0"]),
        "sums in extra dimensions": ((1, *[0] * singles), _eye(1 + singles), beyond[0]),
        "differences in extra dimensions": ((0,), _eye(1), beyond[1]),
    }
    parts = {name: (form, square) for name, form, square in found.blocks()}
    yield arb(parts.keys() != names.keys())
    m = FAR - (family != "A")
    norms = {"trivial": _counts(family), "standard": [1] * (mixed.nrows() - 2) + [2 * m - 4, 2 * m]}
    for name, (powers, vectors, block) in names.items():
        form, square = (vectors.transpose() * _matrix(x, powers, h) * vectors for x in parts[name])
        for i in range(len(powers)):
            yield square[i, i] - norms.get(name, [1] * 3)[i]
            for j in range(len(powers)):
                yield form[i, j] / (square[i, i] * square[j, j]).sqrt() - block[i, j]
                yield square[i, j] / (square[i, i] * square[j, j]).sqrt() - (i == j)


def _matrix(form, powers, h):
    matrix = arb_mat(len(powers), len(powers))
    for (i, j), model in form.terms.items():
        matrix[i, j] = matrix[j, i] = model.at(h) / h ** (powers[i] + powers[j]) / (1 if i == j else 2)
    return matrix


# The tail and the head, number by number.


def _tail(family) -> Case:
    """Krawczyk's number, the signs, the forms and the value around a curve, against numbers at points of the box."""
    document = adversaries_every_k.short(family).document
    curve = [[float.fromhex(x) for x in row] for row in document["curve"]]
    tube, reach = (float.fromhex(x) for x in (document["tail"]["tube"], document["tail"]["ends"][-1]))

    def right(checker) -> bool:
        module, rng = part(checker, "every_k"), random.Random(0)
        with precision(128):
            tail = module.Tail(family, curve, tube, 26, reach)
            shifted = module.Tail(family, [[row[0] + 0.4 * tube, *row[1:]] for row in curve], tube, 26, reach)
            whole = tail.energy.scope.reach
            if not (whole.contains(arb(reach)) and whole.contains(arb(0))) or len(list(tail.signs(arb(0.1)))) != len(
                tail.sides
            ):
                return False
            for k in (PLANS[family].start + 1, 250):
                h = 1 / arb(k).sqrt()
                if not (tail.krawczyk(h) < 0.1 and 0.39 < shifted.krawczyk(h) < 0.5):
                    return False
                middle = [sum((arb(x) * h**i for i, x in enumerate(row)), arb(0)) for row in curve]
                for _ in range(4):
                    at = [x + arb(rng.choice([-1, 1, 0.3])) * arb(tube) for x in middle]
                    site = _site(family, k, numbers_at(family, h, at))
                    value = site.value() * (1 if family == "A" else k)
                    if not (tail.value(h).contains(value) and tail.value(h).rad() < 1e-3):
                        return False
                    ends = dict(site.blocks())
                    parts = {name: (form, square) for name, form, square in tail.matrices(h)}
                    for name in ("(q-2,1,1)", "(q-2,2)"):
                        number = parts[name][0][0, 0]
                        if not (number.contains(ends[f"{name} of group 0"][0, 0]) and number.rad() < 1e-3):
                            return False
                if not all(side > 0 for _, side in tail.signs(h)):
                    return False
            wide = tail.krawczyk(arb(0.1, 0.1)) < 1
            tail.slopes = [[x * 0 for x in row] for row in tail.slopes]  # singular
            return not wide and not tail.krawczyk(arb(0.1)) < 1

    return right


def _head(family) -> Case:
    """The bounds at one k: those of the certificate of that point."""
    center = adversaries_every_k.short(family).document["center"][0]
    with precision(128):
        numbers = [arb(float.fromhex(x)) + arb(float.fromhex(y)) for x, y in center]
    k = adversaries_every_k.begin(family)

    def right(checker) -> bool:
        module = part(checker, "every_k")
        with precision(128):
            site, true = module.point(family, k, numbers), _site(family, k, numbers)
            around, least, low, high = module.minimum(site, k)
            small = min(float(np.linalg.eigvalsh(np.array(block.mid().tolist(), dtype=float))[0]) for block in [*true.hessians(), *true.extensions()])  # fmt: skip
            near = (
                abs(float(least) - small) < 1e-10
                and abs(float(high - true.value())) < 1e-25
                and abs(float(high - low)) < 1e-38
                and 0 <= float(around) < 1e-18
            )
            moved = module.point(family, k, [numbers[0] + arb(2) ** (-38 if family == "B" else -24), *numbers[1:]])
            _, far, under, over = module.minimum(moved, k)
            eps = float(sum(x * x for x in moved.gradient().entries()).sqrt())
            drop = eps * eps / 2 / float(far)
            return (
                near and float(far) < small - 1e-3 and abs(float(over - under) / drop - 1) < 1e-8
                and raises(checker, module.minimum, module.point(family, k, [numbers[0] + arb(2) ** -6, *numbers[1:]]), k)
            )  # fmt: skip

    return right


def _cover(checker) -> bool:
    covered, positive = (getattr(part(checker, "every_k"), name) for name in ("covered", "positive"))
    for ends in ([0.0, 0.5], [0.0, 0.25, 0.5], [0.0, 0.625]):
        covered(ends, 4)
    wrong = (
        [0.1, 0.5],
        [0.0, 0.25],
        [0.0, 0.5, 0.5],
        [0.0, 0.5, 0.25, 0.5],
        [0.0, 1.0],
        [0.0, 0.5, 1.0],
        [0.0, 0.49999999999999994],
    )
    positive(arb_mat([[2, 1], [1, 2]]), "")
    singular = (
        [[1, 1], [1, 1]],
        [[1, 2], [2, 1]],
        [[arb(1, 0.2), arb(0, 0.9)], [arb(0, 0.9), arb(1, 0.2)]],
        [[arb("nan")]],
    )
    return all(raises(checker, covered, ends, 4) for ends in wrong) and all(
        raises(checker, positive, arb_mat(rows), "it") for rows in singular
    )


def _size(checker) -> bool:
    """What would cost too much is refused before any arithmetic: 129 ends * 26 * 128 of 2^21, and 3 points * 128 of 2^16."""
    document, parse = dict(adversaries_every_k.short("A").document), part(checker, "every_k").parse
    short = {**document, "tail": {**document["tail"], "ends": document["tail"]["ends"][:2]}}
    for edited, limit in ((document, 129 * 26 * 128 / 2**21), (short, 3 * 128 / 2**16)):
        data = adversaries_every_k.Forger.sealed(edited)
        parse(data, limit * 1.001)
        if "would cost too much" not in checker.check_bytes(data, limit * 0.999)[2]:
            return False
    return True


def _limits(checker) -> bool:
    """The last document that is read, and the first that is not, of each size."""
    parse = part(checker, "every_k").parse
    document = dict(adversaries_every_k.short("A").document)
    tail, curve, zero = document["tail"], document["curve"], (0.0).hex()

    def said(**edits) -> str:
        try:
            parse(adversaries_every_k.Forger.sealed({**document, **edits}), 1e9)
        except checker.Rejected as rejected:
            return str(rejected)
        return "read"

    many = [(0.1 * i).hex() for i in range(4098)]
    first = {**document["problem"], "first": 4}
    return (
        said() == "read"
        and said(tail={**tail, "from": 1000}).startswith("center must hold one point")
        and said(problem={**document["problem"], "family": ["A"]}).startswith("problem.family must be one of")
        and said(center="abc").startswith("center must hold one point")
        and said(tail={**tail, "from": 1001}).startswith("tail.from must be an integer from 38 to 1000")
        and said(tail={**tail, "from": 37}, center=[]).startswith("tail.from must be an integer from 38 to 1000")
        and said(problem=first).startswith("center must hold one point for each k from 4")
        and said(problem={**first, "first": 3}).startswith("problem.first must be an integer from 4 to 999")
        and said(problem={**first, "family": "II"}).startswith("problem.first must be an integer from 5 to 999")
        and said(tail={**tail, "order": 15}) == "read"
        and said(tail={**tail, "order": 8}, curve=[[zero] * 8] * 2) == "read"
        and said(tail={**tail, "order": 7}, curve=[[zero] * 7] * 2).startswith(
            "tail.order must be an integer from 8 to 64"
        )
        and said(tail={**tail, "order": 65}).startswith("tail.order")
        and said(tail={**tail, "order": 64}, curve=[[zero] * 64] * 2) == "read"
        and said(curve=[[zero] * 27, curve[1]]).startswith("curve must be a list of 2 to 26 numbers")
        and said(curve=[[zero] * 26, [zero] * 2]) == "read"
        and said(curve=[[zero] * 26, [zero]]).startswith("curve must be a list of 2 to 26 numbers")
        and said(curve="ab").startswith("curve must be a list of 2 polynomials")
        and said(curve=["abc", curve[1]]).startswith("curve must be a list of 2 to 26 numbers")
        and said(curve=[*curve, curve[0]]).startswith("curve must be a list of 2 polynomials")
        and said(tail={**tail, "ends": many[:-1]}) == "read"
        and said(tail={**tail, "ends": many}).startswith("tail.ends must be a list of 2 to 4097 numbers")
    )


# Each hypothesis about the tail, when it fails and nothing else does.
ONE = arb_mat([[1]])
HYPOTHESES = {
    "a sign is 0": ("signs", lambda _: [("a < 0", arb(0))], "the sign a < 0 is not proved"),
    "a sign is not known": ("signs", lambda _: [("a < 0", arb(1)), ("b > 0", arb(1, 2))], "the sign b > 0 is not proved"),
    "Krawczyk's number is 1": ("krawczyk", lambda _: arb(1), "no zero is proved"),
    "Krawczyk's number is not finite": ("krawczyk", lambda _: arb("nan"), "no zero is proved"),
    "a part is 0": ("matrices", lambda _: [("first", ONE, ONE), ("second", 0 * ONE, ONE)], "the part second minus lambda_tail_ge"),
    "a part is below lambda": ("matrices", lambda _: [("first", arb(0.04) * ONE, ONE)], "the part first minus lambda_tail_ge"),
    "the value is low": ("value", lambda _: arb(0.05), "value_ge is not proved"),
    "the value is high": ("value", lambda _: arb(0.3), "value_le is not proved"),
    "the value is not known": ("value", lambda _: arb(0.15, 0.1), "is not proved"),
    "only the last piece fails": ("krawczyk", lambda h: arb(h > 0.1565), "no zero is proved"),
}  # fmt: skip


def _needed(method, answer, reason) -> Case:
    data = adversaries_every_k.Forger.sealed(dict(adversaries_every_k.short("A").document))

    def right(checker) -> bool:
        tail = part(checker, "every_k").Tail
        before = getattr(tail, method)
        setattr(tail, method, lambda self, h: answer(h))
        try:
            accepted, _, text = checker.check_bytes(data)
        finally:
            setattr(tail, method, before)
        return accepted is False and reason in text

    return right


def _patched(checker, data, **functions):
    """What the checker says with some functions of every_k.py replaced."""
    module = part(checker, "every_k")
    before = {name: getattr(module, name) for name in functions}
    try:
        for name, function in functions.items():
            setattr(module, name, function)
        return checker.check_bytes(data)
    finally:
        for name, function in before.items():
            setattr(module, name, function)


class _Easy:
    """A tail about which everything holds, and the value is what it is told."""

    def __init__(self, value):
        self.energy = value

    def signs(self, _):
        return [("a", arb(1))]

    def krawczyk(self, _):
        return arb(0)

    def matrices(self, _):
        return [("first", ONE, ONE)]

    def value(self, _):
        return self.energy


def _bounds(family) -> Case:
    """Equality is enough for each bound on a value or an eigenvalue, of the tail and of the head; overlapping balls are not."""
    document = dict(adversaries_every_k.short(family).document)
    data = adversaries_every_k.Forger.sealed(document)
    least, _, low, high = (float.fromhex(document["claims"][name]) for name in ("lambda_head_ge", "lambda_tail_ge", "value_ge", "value_le"))  # fmt: skip
    under, over = "value_ge is not proved", "value_le is not proved"
    inside = arb(2.0**-20)  # how far the minimum is: the numbers keep their signs
    tail = [(arb(low), None), (arb(high), None), (arb(low, 1e-3), under), (arb(high, 1e-3), over)]
    head = [
        ((arb(least), 0, 0), None),
        ((arb(least, 1e-4), 0, 0), "lambda_head_ge exceeds"),
        ((arb(least / 2), 0, 0), "lambda_head_ge exceeds"),
        ((arb(1), arb(0, 1e-5), 0), "value_ge exceeds"),
        ((arb(1), 0, arb(0, 1e-5)), "value_le is below"),
    ]

    def right(checker) -> bool:
        with precision(128):
            scales = {k: arb(1 if family == "A" else k) for k in range(PLANS[family].start)}

            def at(k, one, two, three):
                room = arb(0) if family == "A" else arb(2) ** -100
                return inside, one, arb(low) / scales[k] * (1 + room) + two, arb(high) / scales[k] * (1 - room) + three

            answers = [
                (_patched(checker, data, Tail=lambda *_, value=value: _Easy(value), minimum=lambda _, k: at(k, arb(1), 0, 0)), reason)
                for value, reason in tail
            ] + [
                (_patched(checker, data, Tail=lambda *_: _Easy(arb(low)), minimum=lambda _, k, moved=moved: at(k, *moved)), reason)
                for moved, reason in head
            ]  # fmt: skip
        said = [answer[2] for answer, reason in answers if reason is None and answer[0]]
        refused = all(not answer[0] and reason in answer[2] for answer, reason in answers if reason is not None)
        return refused and len(said) == 3 and all(_worded(family, document["claims"], text) for text in said)

    return right


def _signs(checker) -> bool:
    """What the numbers of a point of each family are like: for any numbers, which need not be balls."""
    families, one = part(checker, "every_k").FAMILIES, {"a > 0": 2, "d1 > 0": 11, "e1 < 0": -13}
    return (
        families["A"].signs([2, 3]) == {"a < 0": -2, "b > 0": 3}
        and families["II"].signs([2, 3, 5, 11, 13]) == one
        and families["B"].signs([2, 3, 5, 11, 13, 17, 19])
        == one | {"d2 > 0": 17, "e2 < 0": -19, "e1 d2 - d1 e2 > 0": 13 * 17 - 11 * 19}
    )


def _shape(checker) -> bool:
    """A head whose numbers may have another sign where the minimum is: each number on its own, to its side of the point, at each k."""
    document = dict(adversaries_every_k.short("II").document)
    data, start = adversaries_every_k.Forger.sealed(document), PLANS["II"].start
    least, low, high = (float.fromhex(document["claims"][name]) for name in ("lambda_head_ge", "value_ge", "value_le"))
    numbers = [[sum(map(float.fromhex, pair)) for pair in row] for row in document["center"]]
    families = part(checker, "every_k").FAMILIES

    def refused(side, at, near) -> bool:
        """Whether the checker asks for this side of the numbers, where the minimum is within ``near`` at one k, and elsewhere there."""

        def minimum(_, k):
            bounds = arb(least), arb(low) / k * (1 + arb(2) ** -100), arb(high) / k * (1 - arb(2) ** -100)
            return arb(near if k == at else 0), *bounds

        signs = staticmethod(lambda numbers: {"one before it": arb(1), "side": side(numbers)})
        asked = type("Asked", (families["II"],), {"signs": signs})
        made_up = {"FAMILIES": {**families, "II": asked}, "Tail": lambda *_: _Easy(arb(low)), "minimum": minimum}
        found = _patched(checker, data, **made_up)
        return not found[0] and f"the sign side is not proved at k = {at}" in found[2]

    with precision(128):
        for place, row in enumerate(numbers[:3:2]):
            k = start - 3 + 2 * place
            for index, number in enumerate(row):

                def side(numbers, index=index, number=number):
                    return numbers[index] if number > 0 else -numbers[index]

                if not refused(side, k, 1.001 * abs(number)) or refused(side, k, 0.999 * abs(number)):
                    return False
        return refused(lambda numbers: arb(0), start - 3, 0)


def _worded(family, claims, text) -> bool:
    """Whether a sentence has the right words, and numbers that are rounded to the safe side."""
    start = PLANS[family].start
    neurons, group, value = {"II": ("k", "S_{k-1}", "k F"), "A": ("k", "S_k", "F"), "B": ("k + 1", "S_{k-1}", "k F")}[
        family
    ]
    words = (
        f"every k: for every k >= {start - 3} and every dimension D >= k the teacher of k orthonormal neurons has a strict "
        f"spurious local minimum with n = {neurons} neurons, of family {family}, fixed by {group}: smallest eigenvalue of the Hessian >= "
        f"(.*) for k < {start}, and >= (.*) for k >= {start}; (.*) <= {value} <= (.*)"
    )
    found = re.fullmatch(words.replace("{k-1}", r"\{k-1\}").replace("k + 1", r"k \+ 1"), text)
    if found is None:
        return False
    numbers = [float.fromhex(claims[name]) for name in ("lambda_head_ge", "lambda_tail_ge", "value_ge", "value_le")]
    signs = (1, 1, 1, -1)
    return all(0 <= sign * (x - float(y)) < 1e-5 * x for x, y, sign in zip(numbers, found.groups(), signs, strict=True))


def _reach(checker) -> bool:
    """The models reach as far as the pieces do, with the tube and the order of the certificate; a tube of 0 is refused as such."""
    document = dict(adversaries_every_k.short("A").document)
    tail, seen = document["tail"], []

    def noted(*given):
        seen.append(given)
        raise checker.Rejected("enough")

    said = _patched(checker, adversaries_every_k.Forger.sealed(document), Tail=noted)[2]
    curve = [[float.fromhex(x) for x in row] for row in document["curve"]]
    expected = ("A", curve, float.fromhex(tail["tube"]), tail["order"], float.fromhex(tail["ends"][-1]))
    narrow = adversaries_every_k.Forger.sealed({**document, "tail": {**tail, "tube": (0.0).hex()}})
    return said == "enough" and seen == [expected] and "tail.tube is not positive" in checker.check_bytes(narrow)[2]
