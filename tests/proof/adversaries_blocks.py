"""Forged certificates of points with many equal entries, and true ones with no room left.

The sharp ones stand at the edge of the theorems (`edges.py`), by the truth about the full point at 60 digits; their centres
are displaced from the critical points, so that the gradient counts.
"""

import json
from functools import cache, cached_property
from math import inf, nextafter

import edges
import mpmath as mp
import numpy as np
from adversaries import TINY, Forger
from flint import arb
from truth import DIGITS, Truth

from earnshaw.proof import prove_family, prove_pattern
from earnshaw.proof.certificate import build
from earnshaw.proof.claims import PatternPoint
from earnshaw.proof.doubles import EigenBound, down, up
from earnshaw.proof.relu_claims import prove_radii, prove_saddle
from earnshaw.proof.trusted.balls import floats, least_eigenvalue, norm, precision
from earnshaw.proof.trusted.blocks import Symmetric

BITS = 128
ZERO = (0.0).hex()


class Fixed(Truth):
    """The truth about a point with a pattern: a saddle's critical point is looked for among the points with it."""

    def __init__(self, point):
        kinds = places(point)
        with mp.workdps(DIGITS):
            numbers = [mp.mpf(high) + mp.mpf(low) for high, low in point.numbers]
            super().__init__([[numbers[i] for i in row] for row in kinds.tolist()], np.eye(sum(point.sizes)).tolist())
        kinds = kinds.ravel()
        with mp.workdps(DIGITS):
            groups = [np.flatnonzero(kinds == i).tolist() for i in range(len(point.numbers))]
            self.trivial = mp.matrix(len(groups))
            for a, left in enumerate(groups):
                for b, right in enumerate(groups):
                    total = mp.fsum(self.hessian[i, j] for i in left for j in right)
                    self.trivial[a, b] = total / mp.sqrt(len(left) * len(right))
            self.size = mp.norm(self.trivial, 2)
        self.frobenius = float(self.size)

    @cached_property
    def newton(self):
        """(|T^-1 gradient|, |T^-1|), T the trivial block; the gradient lies in it."""
        with mp.workdps(DIGITS):
            column = mp.matrix([self.gradient[i, a] for i in range(self.n) for a in range(self.d)])
            step = mp.lu_solve(self.hessian, column)
            return float(mp.norm(step, 2)), float(mp.norm(self.trivial**-1, 2))


def places(point):
    """For each weight of the full point which of its numbers it is."""
    order = tuple((float(i), 0.0) for i in range(len(point.numbers)))
    return PatternPoint(point.sizes, point.rows, order).weights.astype(int)


def site(point):
    return Symmetric(list(point.sizes), list(point.rows), [arb(high) + arb(low) for high, low in point.numbers])


def pattern_document(point, kind, sections):
    """The certificate of a point with a pattern that has these sections."""
    rows = [1 if row is None else point.sizes[row] for row in point.rows]
    problem = {"n": sum(rows), "k": sum(point.sizes), "d": sum(point.sizes)}
    problem |= {"target": "coordinate vectors", "objective": "two-layer/relu"}
    pattern = {"sizes": list(point.sizes), "rows": list(point.rows)}
    return build(kind, problem, [list(pair) for pair in point.numbers], {"pattern": pattern, **sections}, {}).document


def proved(point, kind):
    """Certificate of a point as it is, without polishing."""
    with precision(BITS):
        here = site(point)
        if kind == "blocks_saddle":
            return pattern_document(point, kind, prove_saddle(here)[1])
        bounds = []
        for blocks in (list(here.hessians()), list(here.extensions())):
            shift = min(float(np.linalg.eigvalsh(floats(block))[0]) for block in blocks) * (1 - 1e-12)
            bounds.append(EigenBound(min(down(least_eigenvalue(block, shift)) for block in blocks), shift))
        return pattern_document(point, kind, prove_radii(here, *bounds)[1])


DISPLACED = {
    "A": ("A", 6, "blocks", 3e-9),
    "three": (None, 3, "blocks_saddle", 1e-6),
    "saddle II": ("II", 5, "blocks_saddle", 1e-7),
}


@cache
def displaced():
    """Yield a name, a certificate and the truth of each point; the low doubles are not 0."""
    found = []
    for name, (family, k, kind, moved) in DISPLACED.items():
        point = (prove_family(family, k) if family else three()).point
        numbers = tuple((high + moved * (-1) ** i, low / 3) for i, (high, low) in enumerate(point.numbers))
        assert all(high + low == high != 0 != low for high, low in numbers)
        point = PatternPoint(point.sizes, point.rows, numbers)
        found.append((name, kind, dict(proved(point, kind)), Fixed(point)))
    return found


def three():
    """The saddle of type S_3 for three teachers."""
    return prove_pattern((3,), (0,), [-0.3182, 0.6595])


def sharp(walks=1):
    """Return {name: (certificate, whether it is true)}: every number at the last that holds and the first that does not."""
    rng, cases = np.random.default_rng(3), {}
    for name, kind, document, truth in displaced():
        rule = {"blocks": "minimum", "blocks_saddle": "saddle"}[kind]
        for step, x in enumerate(edges.walks(rule, truth, edges.numbers(document), walks, rng)):
            found = edges.around(document, rule, truth, x)
            cases |= {f"{name} {step} {edge}": case for edge, case in found.items()}
    return cases


@cache
def forger_of(family, k):
    certificates = prove_family(family, k).certificates
    return Forger({kind: json.loads(json.dumps(dict(entry.document))) for kind, entry in certificates.items()})


def loosened(forger):
    """Edits that leave each claim of a minimum some room, for another order of the same sums."""
    number = forger.number
    lam = number("blocks", "claims__lambda_min_ge") * (1 - 1e-9)
    eps, r = 1e-20, 1e-15
    return {
        "R_enclosure": r,
        "claims__grad_norm_le": eps,
        "claims__hess_lipschitz_le": number("blocks", "claims__hess_lipschitz_le") * (1 + 1e-9),
        "claims__lambda_min_ge": lam,
        "claims__lambda_ext_ge": number("blocks", "claims__lambda_ext_ge") * (1 - 1e-9),
        "claims__mu_ge": lam * (1 - 1e-9),
        "claims__F_ge": number("blocks", "claims__F_ge") * (1 - 1e-9),
        "claims__F_le": number("blocks", "claims__F_le") * (1 + 1e-9),
        "hint__shift": number("blocks", "hint__shift") * (1 - 1e-10),
        "hint__shift_ext": number("blocks", "hint__shift_ext") * (1 - 1e-10),
    }


def everything():
    """Return (must be rejected, must be accepted)."""
    bad, good = {}, {}
    for family, k in (("II", 6), ("B", 10), ("M:4", 20), ("2B", 11)):
        good[f"{family} as it is"] = forger_of(family, k).forged("blocks")
    for family, k in (("II", 5), ("A", 5), ("B", 6), ("2B", 10)):
        good[f"{family} saddle as it is"] = forger_of(family, k).forged("blocks_saddle")
    for family, k in (("II", 6), ("2B", 11)):
        forger = forger_of(family, k)
        good[f"{family} with room"] = forger.forged("blocks", **loosened(forger))
        bad |= {f"{family}: {name}": data for name, data in claims(forger).items()}
        bad |= {f"{family}: {name}": data for name, data in centres(forger).items()}
    for family, k in (("A", 5), ("2B", 10)):
        bad |= {f"{family} saddle: {name}": data for name, data in saddle_claims(forger_of(family, k)).items()}
    for cases, more in zip((bad, good), patterns(forger_of("II", 6)), strict=True):
        cases |= more
    for cases, more in zip((bad, good), orders(), strict=True):
        cases |= more
    bad |= kinds()
    bad |= texts(forger_of("II", 6))
    return bad, good


def claims(forger):
    """Each claim of a minimum just past its bound."""
    get = {name: forger.number("blocks", f"claims__{name}") for name in forger.documents["blocks"]["claims"]}
    shift, beyond = forger.number("blocks", "hint__shift"), forger.number("blocks", "hint__shift_ext")
    inner, outer = forger.number("blocks", "R_enclosure"), forger.number("blocks", "R_unique")
    with precision(BITS):
        numbers = [arb(float.fromhex(a)) + arb(float.fromhex(b)) for a, b in forger.documents["blocks"]["center"]]
        pattern = forger.documents["blocks"]["pattern"]
        point = Symmetric(pattern["sizes"], pattern["rows"], numbers)
        least = [float(np.linalg.eigvalsh(floats(block))[0]) for block in point.hessians()]
        further = [float(np.linalg.eigvalsh(floats(block))[0]) for block in point.extensions()]
        still = up(point.lipschitz(arb(0), arb(0)))
    rest = loosened(forger)
    between = {  # one block has a smaller eigenvalue, and no other
        "hint__shift": (min(least) + sorted(least)[1]) / 2,
        "claims__lambda_min_ge": min(least) + (sorted(least)[1] - min(least)) / 3,
    }
    between_ext = {
        "hint__shift_ext": (min(further) + sorted(further)[1]) / 2,
        "claims__lambda_ext_ge": min(further) + (sorted(further)[1] - min(further)) / 3,
    }
    edits = {
        "gradient bound too small": {"claims__grad_norm_le": get["grad_norm_le"] * 0.999},
        "lambda too large": {"claims__lambda_min_ge": nextafter(shift, inf)},
        "lambda equal to the shift": {"claims__lambda_min_ge": shift},
        "lambda of the other blocks": rest | between,
        "lambda beyond d too large": {"claims__lambda_ext_ge": nextafter(beyond, inf)},
        "lambda beyond d equal to the shift": {"claims__lambda_ext_ge": beyond},
        "lambda beyond d of the other blocks": rest | between_ext,
        "L one bit too small": {"claims__hess_lipschitz_le": nextafter(get["hess_lipschitz_le"], 0.0)},
        "L a millionth too small": {"claims__hess_lipschitz_le": get["hess_lipschitz_le"] * (1 - 1e-6)},
        "L at the centre": {"claims__hess_lipschitz_le": still},
        "mu too large": {"claims__mu_ge": get["lambda_min_ge"]},
        "mu negative": {"claims__mu_ge": -get["mu_ge"]},
        "F_ge too large": {"claims__F_ge": nextafter(get["F_le"], inf)},
        "F_ge zero": {"claims__F_ge": 0.0},
        "F_le too small": {"claims__F_le": nextafter(get["F_ge"], 0.0)},
        "R_unique beyond lambda/L": {"R_unique": outer * 1.01},
        "R_enclosure too small": {"R_enclosure": inner / 2},
        "R_enclosure above R_unique": {"R_enclosure": outer * (1 + TINY)},
        "radii negative": {"R_enclosure": -inner, "R_unique": -inner},
        "lambda null": {"claims__lambda_min_ge": None},
        "M without its shift": {"hint__shift_ext": None},
    }
    return {name: forger.forged("blocks", **edit) for name, edit in edits.items()}


def centres(forger):
    """The same claims with one number of the centre edited."""
    center, bad = forger.documents["blocks"]["center"], {}
    for place, (high, low) in enumerate(center):
        number = float.fromhex(high)
        off = float.fromhex(low)
        edits = {
            "its sign": [(-number).hex(), (-off).hex()],
            "1e-3": [(number + 1e-3).hex(), ZERO],
            "1e-12": [(number + 1e-12).hex(), ZERO],
            "the last bit": [nextafter(number, inf).hex(), low],
            "the low double's sign": [high, (-off).hex()],
            "the low double": [high, (off * (1 + 2.0**-20)).hex()],
            "no low double": [high, ZERO],
            "zero": [ZERO, ZERO],
        }
        for name, pair in edits.items():
            bad[f"number {place}: {name}"] = forger.forged(
                "blocks", center=[*center[:place], pair, *center[place + 1 :]]
            )
    bad["swapped numbers"] = forger.forged("blocks", center=[center[1], center[0], *center[2:]])
    return bad


def saddle_claims(forger):
    """Each claim of a saddle just past its bound."""
    claims = {
        name: forger.number("blocks_saddle", f"claims__{name}") for name in forger.documents["blocks_saddle"]["claims"]
    }
    radius = forger.number("blocks_saddle", "R_enclosure")
    edits = {
        "gradient bound too small": {"claims__grad_norm_le": claims["grad_norm_le"] / 20},
        "Newton step too small": {"claims__newton_step_le": claims["newton_step_le"] / 20},
        "defect too small": {"claims__defect_le": claims["defect_le"] / 20},
        "defect one": {"claims__defect_le": 1.0},
        "inverse too small": {"claims__inverse_norm_le": claims["inverse_norm_le"] / 20},
        "L too small": {"claims__hess_lipschitz_le": nextafter(claims["hess_lipschitz_le"], 0.0)},
        "curvature too negative": {"claims__curvature_le": claims["curvature_le"] * (1 + 1e-6)},
        "curvature positive": {"claims__curvature_le": -claims["curvature_le"]},
        "curvature zero": {"claims__curvature_le": 0.0},
        "R negative": {"R_enclosure": -radius, "claims__defect_le": 2.0},
        "R below the Newton step": {"R_enclosure": claims["newton_step_le"] / 2},
        "F_ge too large": {"claims__F_ge": nextafter(claims["F_le"], inf)},
        "F_le too small": {"claims__F_le": nextafter(claims["F_ge"], 0.0)},
    }
    bad = {name: forger.forged("blocks_saddle", **edit) for name, edit in edits.items()}
    center = forger.documents["blocks_saddle"]["center"]
    for place, (high, _) in enumerate(center):
        pair = [(float.fromhex(high) + 1e-9).hex(), ZERO]
        bad[f"number {place} moved"] = forger.forged(
            "blocks_saddle", center=[*center[:place], pair, *center[place + 1 :]]
        )
    return bad


def patterns(forger):
    """Edits of II at k = 6: (5, 1), one family and one neuron, numbers a, b, c, d, e."""
    document = forger.documents["blocks"]
    problem, center = document["problem"], document["center"]
    a, b, c, d, e = center

    def shaped(sizes, rows, numbers=center, **shape):
        pattern = {"sizes": sizes, "rows": rows}
        return forger.forged(
            "blocks", pattern=pattern, center=numbers, problem={**problem, **shape}, **loosened(forger)
        )

    six, seven = {"n": 6, "k": 6, "d": 6}, {"n": 7, "k": 7, "d": 7}
    bad = {
        "one coordinate more": shaped([6, 1], [0, None], **seven),
        "one coordinate fewer": shaped([4, 1], [0, None], n=5, k=5, d=5),
        "sizes alone changed": shaped([6, 1], [0, None]),
        "another odd coordinate": shaped([5, 2], [0, None], n=6, k=7, d=7),
        "another odd coordinate and neuron": shaped([5, 2], [0, None, None], [*center, d, e], **seven),
        "a group merged": shaped([6], [0], [a, b], **six),
        "a group split": shaped([4, 1, 1], [0, None], [a, b, c, c, d, d, e], n=5, k=6, d=6),
        "a family left out": shaped([5, 1], [None], [d, e], n=1),
        "groups swapped without numbers": shaped([1, 5], [1, None]),
        "rows swapped without numbers": shaped([5, 1], [None, 0]),
        "rows and numbers swapped wrongly": shaped([5, 1], [None, 0], [e, d, a, b, c]),
        "a parallel neuron": shaped([5, 1], [0, None, None], [*center, d, e], n=7),
        "a parallel family": shaped([5, 1], [0, 0, None], [a, b, c, *center], n=11),
        "a neuron along a teacher": shaped([5, 1], [0, None], [a, b, c, [ZERO, ZERO], e]),
        "a family along the teacher": shaped(
            [5, 1], [0, None], [[(1.0).hex(), ZERO], [ZERO, ZERO], [ZERO, ZERO], d, e]
        ),
        "a zero neuron": shaped([5, 1], [0, None], [a, b, c, [ZERO, ZERO], [ZERO, ZERO]]),
        "a zero family": shaped([5, 1], [0, None], [[ZERO, ZERO]] * 3 + [d, e]),
        "a neuron of length 1e-9": shaped([5, 1], [0, None], [a, b, c, [(1e-9).hex(), ZERO], [(1e-10).hex(), ZERO]]),
        "the global minimum": shaped([6], [0], [[(1.0).hex(), ZERO], [ZERO, ZERO]], **six),
        "near the global minimum": shaped([6], [0], [[(1.0).hex(), ZERO], [(1e-9).hex(), ZERO]], **six),
        "a family of a group of one": shaped([5, 1], [0, 1], [a, b, c, d, e, e]),
        "a row of no group": shaped([5, 1], [0, 2], [a, b, c, d, e]),
        "a negative row": shaped([5, 1], [0, -1]),
        "a row as a bool": shaped([5, 1], [False, None]),
        "a row as a string": shaped([5, 1], ["0", None]),
        "a size as a bool": shaped([5, True], [0, None]),
        "a size zero": shaped([5, 1, 0], [0, None], [a, b, c, c, d, e, e]),
        "a negative size": shaped([7, -1], [0, None]),
        "a size as a string": shaped(["5", 1], [0, None]),
        "a huge size": shaped([10**8, 1], [0, None], n=10**8 + 1, k=10**8 + 1, d=10**8 + 1),
        "a size beyond the limit": shaped([10**8 + 1, 1], [0, None], n=10**8 + 2, k=10**8 + 2, d=10**8 + 2),
        "a size of ten digits": shaped([10**9, 1], [0, None], n=10**9 + 1, k=10**9 + 1, d=10**9 + 1),
        "no sizes": shaped([], [0, None]),
        "no rows": shaped([5, 1], []),
        "sizes as an object": shaped({"0": 5}, [0, None]),
        "sizes null": shaped(None, [0, None]),
        "sizes a number": shaped(5, [0, None]),
        "rows a number": shaped([5, 1], 2),
        "rows a string": shaped([5, 1], "0"),
        "wrong n": shaped([5, 1], [0, None], n=7),
        "wrong k": shaped([5, 1], [0, None], k=5),
        "wrong d": shaped([5, 1], [0, None], d=7),
        "n as a string": shaped([5, 1], [0, None], n="6"),
        "another target": shaped([5, 1], [0, None], target="orthonormal vectors"),
        "a target in full": shaped([5, 1], [0, None], target=[[(1.0).hex()]]),
        "another objective": shaped([5, 1], [0, None], objective="two-layer/erf"),
        "one number fewer": shaped([5, 1], [0, None], center[:4]),
        "one number more": shaped([5, 1], [0, None], [*center, e]),
        "no numbers": shaped([5, 1], [0, None], []),
        "n < k": fewer_students(),
    }
    cells = {
        "not canonical": [nextafter(float.fromhex(a[0]), inf).hex(), (float.fromhex(a[0]) - nextafter(float.fromhex(a[0]), inf)).hex()],
        "halves": [(float.fromhex(a[0]) / 2).hex(), (float.fromhex(a[0]) / 2).hex()],
        "NaN": ["nan", ZERO],
        "infinite": ["inf", ZERO],
        "NaN below": [a[0], "nan"],
        "decimal": ["0.98", ZERO],
        "null": [None, ZERO],
        "a number without its pair": a[0],
        "one double": [a[0]],
        "three doubles": [*a, ZERO],
        "an object": {"high": a[0], "low": a[1]},
    }  # fmt: skip
    bad |= {f"a number: {name}": shaped([5, 1], [0, None], [pair, *center[1:]]) for name, pair in cells.items()}
    good = {
        "in a finer pattern": shaped([2, 3, 1], [0, 1, None], [a, b, b, c, b, a, b, c, d, d, e], **six),
        "in a pattern with one pair": shaped(
            [1, 1, 1, 2, 1], [None, None, None, 3, None],
            [*(a, b, b, b, c), *(b, a, b, b, c), *(b, b, a, b, c), *(b, b, b, a, b, c), *(d, d, d, d, e)], **six,
        ),
        "groups and rows in another order": shaped([1, 5], [None, 1], [e, d, c, a, b], **six),
    }  # fmt: skip
    return bad, good


def orders():
    """M:4 at k = 20 has two families and a neuron: other orders of its rows."""
    forger = forger_of("M:4", 20)
    document = forger.documents["blocks"]
    center, room = document["center"], loosened(forger)
    first, second, last = center[:3], center[3:6], center[6:]
    rows, turned = {"sizes": [16, 4], "rows": [1, None, 0]}, {"sizes": [4, 16], "rows": [0, None, 1]}
    other = [*second, *last, *first]
    # in a row: at group 0 (its own coordinate first, where it is its own group), then at group 1
    swapped = [second[1], second[2], second[0], last[1], last[0], first[2], first[0], first[1]]
    bad = {
        "rows in another order without numbers": forger.forged("blocks", pattern=rows, **room),
        "groups in another order without numbers": forger.forged("blocks", pattern=turned, center=other, **room),
        "a size moved between groups": forger.forged(
            "blocks", pattern={**document["pattern"], "sizes": [15, 5]}, **room
        ),
    }
    good = {
        "rows in another order": forger.forged("blocks", pattern=rows, center=other, **room),
        "groups in another order": forger.forged("blocks", pattern=turned, center=swapped, **room),
    }
    return bad, good


def fewer_students():
    """A strict minimum of one student against two teachers: everything is true except that F could be 0."""
    low, high = 0.1, 3.0
    with precision(BITS):
        for _ in range(200):
            a = 0.5 * (low + high)
            slope = float(Symmetric([2], [None], [arb(a)]).gradient()[0, 0])
            low, high = (a, high) if slope < 0 else (low, a)
    return Forger.sealed(dict(proved(PatternPoint((2,), (None,), ((low, 0.0),)), "blocks")))


def kinds():
    """Minima called saddles, saddles called minima, and certificates of the whole point by another name."""
    minimum, saddle = forger_of("II", 6), forger_of("II", 5)
    places = ("problem", "pattern", "center")
    full, part = minimum.edited("blocks"), saddle.edited("blocks_saddle")
    bad = {
        "a saddle called a minimum": {**full, **{key: part[key] for key in places}},
        "a minimum called a saddle": {**part, **{key: full[key] for key in places}},
        "a minimum of another kind": {**full, "kind": "blocks_saddle"},
        "a saddle of another kind": {**part, "kind": "blocks"},
        "called a minimum of all weights": {**full, "kind": "minimum"},
        "called a saddle of all weights": {**part, "kind": "saddle"},
        "called a basin": {**full, "kind": "basin"},
        "an unknown kind": {**full, "kind": "block"},
        "a kind that is no string": {**full, "kind": ["blocks"]},
    }
    found = {name: Forger.sealed(document) for name, document in bad.items()}
    found["negative radii at a saddle"] = negative_radii(minimum, saddle)
    return found


def negative_radii(minimum, saddle):
    """With r = R < 0 and lambda < 0 every other inequality of the theorem holds at a saddle."""
    document = saddle.documents["blocks_saddle"]
    numbers = [(float.fromhex(high), float.fromhex(low)) for high, low in document["center"]]
    with precision(BITS):
        here = site(
            PatternPoint(tuple(document["pattern"]["sizes"]), tuple(document["pattern"]["rows"]), tuple(numbers))
        )
        least = min(float(np.linalg.eigvalsh(floats(block))[0]) for block in here.hessians()) - 1e-9
        lip, eps = up(here.lipschitz(arb(0), arb(0))), up(norm(here.gradient().entries()))
        radius = 1.5 * (least - 1e-9) / lip
        mu = down(arb(least - 1e-9) - arb(lip) * arb(radius))
        return minimum.forged(
            "blocks",
            **{key: document[key] for key in ("problem", "pattern", "center")},
            R_enclosure=radius,
            R_unique=radius,
            claims__grad_norm_le=eps,
            claims__lambda_min_ge=least - 1e-9,
            claims__lambda_ext_ge=None,
            claims__hess_lipschitz_le=lip,
            claims__mu_ge=mu,
            claims__F_ge=down(here.value() - arb(eps) ** 2 / (2 * arb(mu))),
            claims__F_le=up(here.value()),
            hint__shift=least,
            hint__shift_ext=None,
        )


def texts(forger):
    """Keys that are missing or too many, and a file edited without sealing it again."""
    document = forger.edited("blocks")
    pattern, problem, claims = document["pattern"], document["problem"], document["claims"]
    resealed = {
        "no pattern": {key: value for key, value in document.items() if key != "pattern"},
        "a pattern without rows": {**document, "pattern": {"sizes": pattern["sizes"]}},
        "a pattern with more": {**document, "pattern": {**pattern, "names": []}},
        "a pattern as a list": {**document, "pattern": [pattern["sizes"], pattern["rows"]]},
        "an extra key": {**document, "remark": "x"},
        "an extra claim": {**document, "claims": {**claims, "more": claims["F_ge"]}},
        "a missing claim": {**document, "claims": {key: claims[key] for key in claims if key != "F_le"}},
        "an extra key of the problem": {**document, "problem": {**problem, "m": 5}},
        "no target": {**document, "problem": {key: problem[key] for key in problem if key != "target"}},
        "center as an object": {**document, "center": {}},
        "center as a string": {**document, "center": "12345"},
        "precision too low": {**document, "hint": {**document["hint"], "precision": 63}},
        "another format": {**document, "format": "earnshaw-certificate/2"},
    }
    text = forger.forged("blocks").decode()
    return {
        **{name: forger.sealed(edit) for name, edit in resealed.items()},
        "meta edited without resealing": text.replace('"producer": "earnshaw.proof"', '"producer": "me"').encode(),
        "the hash of another": text.replace(document["sha256"], "0" * 64).encode(),
    }
