"""Everything that a checker of certificates must get right, as cases that can be put to any copy of it.

A case is a function of a checker (the package, as a module) that returns whether it answers rightly. What is right comes
from the theorems written once more (``truth.py``, ``edges.py``), from forgeries that are wrong by construction
(``adversaries*.py``), from exact rational arithmetic, and from the documents themselves; not from the checker.
"""

import json
import re
from decimal import Decimal
from fractions import Fraction
from math import inf, nextafter
from types import ModuleType

import adversaries
import adversaries_convexity
import adversaries_convnet
import adversaries_every_n
import battery_absence
import battery_blocks
import battery_every_k
import battery_reading
import battery_sums
import edges
import mpmath as mp
import numpy as np
from cases import Case, above, exactly, fraction, holds, lipschitz, part, raises, verdict
from flint import arb
from truth import DIGITS, Truth

from earnshaw.problems import TwoLayer
from earnshaw.proof import prove


def everything(walks=3) -> dict[str, Case]:
    """Return all cases by name, quick ones and sharp ones first."""
    cases: dict[str, Case] = {}
    cases |= enclosures()
    cases |= {f"edge: {name}": verdict(*case) for name, case in edges.edges(walks).items()}
    cases |= {f"equal: {name}": verdict(*case) for name, case in edges.equalities().items()}
    cases |= sentences()
    cases |= coarse()
    cases |= {f"hair: {name}": verdict(data, False) for name, data in edges.hairs().items()}
    cases |= halves_of_balls()
    cases |= adversarial()
    cases |= battery_blocks.cases(said)
    cases |= battery_reading.readings()
    cases |= battery_sums.sums()
    cases |= battery_reading.files()
    cases |= battery_absence.absences()
    cases |= battery_every_k.cases()
    return cases


RELU = (
    "enclosure: ",
    "edge: ",
    "equal: ",
    "coarse: n",
    "coarse: saddle",
    "hair: ",
    "half: ",
    "sentence: n",
    "sentence: saddle",
    "relu ",
    "every_n ",
)
CONVEXITY, CONVNET = ("sentence: convexity", "coarse: convexity", "convexity"), ("sentence: convnet", "convnet")
ABSENCE, BLOCKS, EVERY_K = ("absence",), ("blocks",), ("every_k ",)
ELSEWHERE = {
    "relu.py": (*CONVEXITY, *CONVNET),
    "relu_claims.py": (*CONVEXITY, *CONVNET, *ABSENCE),
    "every_n.py": (*CONVEXITY, *CONVNET, *ABSENCE, *BLOCKS, *EVERY_K),
    "convexity.py": (*RELU, *CONVNET, *ABSENCE, *BLOCKS, *EVERY_K),
    "sums.py": (*RELU, *CONVNET, *ABSENCE, *BLOCKS, *EVERY_K),
    "convnet.py": (*RELU, *CONVEXITY, *ABSENCE, *BLOCKS, *EVERY_K),
}
LONG = ("absence.py", "cells.py", "exclusion.py")  # files whose cases walk over cells
ONLY = {  # the cases that can reach these files
    **dict.fromkeys(LONG, ABSENCE),
    **dict.fromkeys(("parts.py", "blocks.py", "blocks_claims.py"), BLOCKS),
    **dict.fromkeys(("models.py", "scaled.py", "singles.py", "every_k.py"), EVERY_K),
}


def concerning(file: str, cases: dict[str, Case]) -> dict[str, Case]:
    """Leave out the cases that cannot reach a file of the checker."""
    if file in ONLY:
        return {name: case for name, case in cases.items() if name.startswith(ONLY[file])}
    return {name: case for name, case in cases.items() if not name.startswith(ELSEWHERE.get(file, ("nothing",)))}


def adversarial() -> dict[str, Case]:
    """The forgeries of all kinds, and the true certificates with no room left."""
    cases: dict[str, Case] = {}
    for name, (bad, good) in {
        "relu": adversaries.all_cases(),
        "every_n": adversaries_every_n.everything(),
        "convnet": adversaries_convnet.everything(),
        "convexity": adversaries_convexity.everything(),
    }.items():
        cases |= {f"{name} good: {case}": verdict(data, True) for case, data in good.items()}
        cases |= {f"{name} bad: {case}": verdict(data, False) for case, data in bad.items()}
    return cases


# Enclosures: whatever the calculus returns must hold the true number, and say little more.

SHAPES = {
    "three dimensions": ([[1.0, 0.2, -0.3], [0.3, -0.9, 0.4]], [[0.5, 0.8, 0.1]]),
    "obtuse": ([[1.0, 0.2, -0.3], [-0.9, 0.1, 0.4], [0.2, -1.5, 0.3]], [[-0.5, -0.8, 0.1], [0.7, 0.7, -2.0]]),
    "a tilt of 2^-20": ([[1.0, 0.0, 0.5], [1.0, 2.0**-20, 0.5]], [[-2.0, 0.0, 2.0**-18]]),
    "a tilt of 2^-31": ([[1.0, 0.0, 0.5], [1.0, 2.0**-31, 0.5]], [[-2.0, 2.0**-30, -1.0]]),
    "a tilt of 2^-32": ([[1.0, 0.25, 0.5], [1.0, 0.25 + 2.0**-32, 0.5]], [[-2.0, -0.5, -1.0 + 2.0**-32]]),
    "a tilt of 2^-33": ([[1.0, 0.0, 0.5], [3.0, 2.0**-33, 1.5]], [[2.0, -(2.0**-33), 1.0]]),
    "a tilt of 2^-45": ([[1.0, 0.0, 0.5], [-1.0, 2.0**-45, -0.5]], [[-2.0, 2.0**-40, -1.0]]),
    "parallel": ([[1.0, 0.5], [2.0, 1.0]], [[-3.0, -1.5], [0.5, 0.25]]),
    "lengths far apart": ([[1e3, 2.0, 1e-3], [1e-3, 1e-3, -2e-3]], [[5.0, -7.0, 11.0]]),
    "one dimension": ([[1.0], [-2.0]], [[3.0]]),
    "one student": ([[100.0, 3.0]], [[1.0, 2.0]]),
    "short tilts": ([[0.5, 0.0, 0.25], [0.5, 2.0**-34, 0.25]], [[-0.25, 2.0**-36, -0.125], [0.125, 2.0**-35, 0.0625]]),
}


def enclosures() -> dict[str, Case]:
    """Value, gradient, Hessian, M, lengths and L at 64 and 128 bits against 60 digits."""
    return {
        f"enclosure: {name} at {bits} bits": _enclosed(name, *rows, bits)
        for name, rows in SHAPES.items()
        for bits in (64, 128)
    }


def _enclosed(name, center, target, bits) -> Case:
    truth = Truth(center, target)
    with mp.workdps(DIGITS):
        steepest = {
            (r, delta): lipschitz(truth, r, delta) for r, delta in ((0.0, 0.0), (2.0**-12, 0.0), (2.0**-12, 0.25))
        }
    scale = max(truth.lengths) ** 2 / min(truth.lengths) ** 2
    # What a ball may cost: roundings, times a pair whose angle is small; half the digits where it is not told from 0.
    digits = {"three": bits, "obtuse": bits, "parallel": bits, "one": bits, "lengths": bits}.get(
        name.split()[0], bits / 2
    )
    flat = truth.hessian.tolist()

    def right(checker: ModuleType) -> bool:
        balls, relu, lifted = part(checker, "balls"), part(checker, "relu"), part(checker, "every_n").lifted
        with balls.precision(bits):
            point = relu.Point(center, target)
            hessian, slopes = point.hessian(), point.extension()
            wide = scale * 2.0 ** (6 - digits)
            steep = inf if (name, bits) == ("a tilt of 2^-31", 64) else wide  # this angle is hardly told from 0
            pairs = [
                (point.value(), truth.value, wide),
                *((x, y, wide) for x, y in zip(point.gradient().entries(), truth.gradient, strict=True)),
                *((hessian[a, b], y, steep) for a, row in enumerate(flat) for b, y in enumerate(row)),
                *((slopes[a, b], truth.extension[a, b], wide) for a in range(truth.n) for b in range(truth.n)),
                *(
                    (block[a, b], exact[a, b], steep)
                    for block, exact in ((lifted(point, i), truth.lifted[i]) for i in range(truth.n))
                    for a in range(truth.d)
                    for b in range(truth.d)
                ),
            ]
            bounds = [(point.lipschitz(arb(r), arb(delta)), y) for (r, delta), y in steepest.items()]
            low = point.shortest()
            return (
                str(point.hessian()) == str(hessian)  # also when it is asked for again
                and all(holds(x, y) and x.rad() <= most for x, y, most in pairs)
                and all(x.is_exact() and above(x, y, bits) for x, y in bounds)
                and low.is_exact()
                and 0 <= exactly(truth.shortest) - fraction(low) <= Fraction(2) ** (10 - bits) * exactly(truth.shortest)
            )

    return right


# At 64 bits a ball is wider than the gaps between doubles: a claim between the true number and the midpoint is false.


def halves_of_balls() -> dict[str, Case]:
    """Claims that are false, and that the midpoint or the wrong end of a ball at 64 bits would allow."""
    from earnshaw.proof.trusted.balls import norm, precision
    from earnshaw.proof.trusted.relu import Point

    cases: dict[str, Case] = {}
    rng = np.random.default_rng(5)
    for point, moved, kind in (("n4 k3 d2", 1e-7, "minimum"), ("saddle n3 k2 d3", 1e-7, "saddle")):
        teacher, student, _ = edges.POINTS[point]
        problem = TwoLayer(np.array(teacher), students=len(student))
        start = prove(problem, np.array(student)).point.weights
        for _ in range(12):
            center = start + moved * rng.standard_normal(start.shape)
            proof = prove(problem, center, polish=False)
            if not proof.certificates:
                continue
            document, truth = proof.certificates[kind].document, Truth(center.tolist(), teacher)
            x = edges.numbers(document)
            with precision(64):
                here = Point(center.tolist(), teacher)
                value, slope = fraction(here.value()), fraction(norm(here.gradient().entries()))
            with mp.workdps(DIGITS):
                exact, length = exactly(truth.value), exactly(mp.norm(truth.gradient, 2))
            loose = {name: x[name] * edges.LOOSER.get(name, 1.0) for name in x if x[name] is not None}
            for name, claim in (("F_le", _between(value, exact)), ("grad_norm_le", _between(slope, length))):
                if claim is not None:
                    forged = edges.forged(document, loose | {f"claims.{name}": claim}, **_bits(document))
                    cases[f"half: {kind} {name}"] = verdict(forged, False)
    assert {"half: minimum F_le", "half: minimum grad_norm_le", "half: saddle grad_norm_le"} <= set(cases)
    return cases


def _bits(document, bits=64):
    return {"hint": {**document["hint"], "precision": bits}}


def _between(low: Fraction, high: Fraction) -> float | None:
    """A double strictly between two fractions, or None."""
    double = nextafter(float(low), inf)
    for _ in range(3):
        if low < Fraction(double) < high:
            return double
        double = nextafter(double, inf)
    return None


def coarse() -> dict[str, Case]:
    """A false claim must be rejected at any precision: at 40 bits every ball is wider than the claim is false."""
    found = edges.coarse()
    cases = {}
    for name, data in found.items():
        kind = json.loads(data)["kind"]
        cases[f"coarse: {name}"] = _coarse(data, kind, name.endswith("as it is"))
    return cases | adversaries_convexity.coarse()


def _coarse(data, kind, true) -> Case:
    def right(checker: ModuleType) -> bool:
        claims, reading = part(checker, "relu_claims"), part(checker, "reading")
        check = part(checker, "every_n")._check if kind == "every_n" else claims._CHECKS[kind]
        with part(checker, "balls").precision(40):
            refused = raises(checker, check, reading.parse(data, 1.0))
        return refused is not true

    return right


# Sentences: every number in them against the document, and the words around them.

NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.]*[A-Za-z_])")
# For each kind: the words with %s for numbers, and for each number what it is and whether it is a bound from above.
SHOWN = {
    "minimum": [("R_unique", False), ("R_enclosure", True), ("claims.mu_ge", False), ("claims.F_ge", False), ("claims.lambda_min_ge", False)],
    "basin": [("basin.step_lt", False), ("basin.radius", False)],
    "robust": [("robust.delta", False), ("robust.F_ge", False), ("robust.R_enclosure", True), ("robust.R_enclosure", False)],
    "every_n": [("claims.F_ge", False), ("every_n.delta", False), ("every_n.delta_ext", False)],
    "saddle": [("R_enclosure", True), ("claims.curvature_le", True), ("claims.F_ge", False), ("claims.F_le", True)],
}  # fmt: skip
WORDS = {
    "minimum": "spurious local minimum ({shape}{every}): exactly one critical point within # of the center; it lies within #, is a "
    "strict local minimum with Hessian >= # I, and F >= # there while min F = 0; lambda_min >= # at the center",
    "basin": "basin of attraction: exact gradient descent with a fixed step below # from any point within # of the center "
    "converges to this ",
    "robust": "robust: every teacher whose neurons each lie within # of the given ones has a strict spurious minimum with F >= # "
    "within # of the center, and no other critical point within #; for the given teacher: ",
    "every_n": "every n: for every n' >= {n} and every dimension D >= {d} this teacher has spurious local minima with n' neurons "
    "and F >= #: neuron {neuron} (from 0) of the minimum below, split into parallel parts in any proportion; D >= # across it "
    "and >= # in further dimensions. The minimum: ",
    "saddle": "saddle ({shape}, every dimension D >= d): a critical point within # of the center that is neither a minimum nor a "
    "maximum, with an eigenvalue <= # at the center and # <= F <= #",
}


def said(text: str, words: str, bounds: list[tuple[float, bool]]) -> bool:
    """Whether a sentence has these words, with these numbers at # rounded to the safe side at six digits."""
    pattern = re.escape(words).replace(r"\#", r"(-?[\d.]+(?:e[+-]\d+)?)")
    found = re.fullmatch(pattern, text)
    if found is None or len(found.groups()) != len(bounds):
        return False
    for shown, (number, up) in zip(map(Decimal, found.groups()), bounds, strict=True):
        exact = Decimal(number)
        if not (shown >= exact if up else shown <= exact) or abs(shown - exact) > abs(exact) * Decimal("1e-5"):
            return False
        if len(shown.normalize().as_tuple().digits) > 6:
            return False
    return True


def sentences() -> dict[str, Case]:
    """The sentence of a true certificate of each kind; and of those whose rounded radii would say too much."""
    cases: dict[str, Case] = {}
    for point, proof, _ in edges.proofs():
        for kind, certificate in proof.certificates.items():
            x = edges.numbers(certificate.document)
            cases[f"sentence: {point} {kind}"] = _sentence(
                kind, edges.forged(certificate.document, {}), x, certificate.document
            )
            if kind == "minimum":
                alone = {"claims.lambda_ext_ge": None, "hint.shift_ext": None}
                x = x | alone
                cases[f"sentence: {point} in d alone"] = _sentence(
                    kind, edges.forged(certificate.document, alone), x, certificate.document
                )
    cases |= _tight_radii()
    cases |= adversaries_convnet.sentences(said)
    cases |= adversaries_convexity.sentences(said)
    return cases


def _sentence(kind, data, x, document) -> Case:
    problem = document["problem"]
    shape = f"n = {problem['n']}, k = {problem['k']}, d = {problem['d']}"
    every = "" if x.get("claims.lambda_ext_ge") is None else ", every dimension D >= d"
    kinds = [kind] if kind in ("minimum", "saddle") else [kind, "minimum"]
    sizes = {"n": problem["n"], "d": problem["d"], "neuron": x.get("every_n.neuron")}
    words = "".join(WORDS[part].format(shape=shape, every=every, **sizes) for part in kinds)
    bounds = [(x[name], up) for part in kinds for name, up in SHOWN[part]]
    return lambda checker: said(checker.check_bytes(data)[2], words, bounds)


def _tight_radii() -> dict[str, Case]:
    """r = R: the sentence may not say that the one critical point lies within R rounded down."""
    cases = {}
    name, proof, truth = next(iter(edges.proofs()))
    document = proof.certificates["minimum"].document
    x = edges.numbers(document)
    for inner, outer in ((1.000001e-4, 1.000001e-4), (1.5e-4, 1.5e-4), (1.4999999e-4, 1.5000001e-4)):
        lam, lip = min(x["claims.lambda_min_ge"], x["claims.lambda_ext_ge"]), x["claims.hess_lipschitz_le"]
        mu = 0.9 * (lam - lip * outer)
        edit = {"R_unique": outer, "R_enclosure": inner, "claims.mu_ge": mu, "claims.F_ge": 0.9 * truth.f}
        data = edges.forged(document, edit)
        shape = f"spurious local minimum (n = {truth.n}, k = {truth.k}, d = {truth.d}, every dimension D >= d): "
        rest = "is a strict local minimum with Hessian >= # I, and F >= # there while min F = 0; lambda_min >= # at the center"
        tail = [(mu, False), (0.9 * truth.f, False), (x["claims.lambda_min_ge"], False)]
        if inner < outer:  # both are shown as 0.00015
            words, bounds = (
                "exactly one critical point within # of the center; it lies within #, ",
                [(outer, False), (inner, True)],
            )
        else:
            words, bounds = (
                "a critical point within # of the center, and no other within #; it ",
                [(inner, True), (outer, False)],
            )
        cases[f"sentence: n r = {inner}, R = {outer}"] = (
            lambda checker, data=data, words=shape + words + rest, bounds=[*bounds, *tail]: said(
                checker.check_bytes(data)[2], words, bounds
            )
        )
    assert name
    return cases
