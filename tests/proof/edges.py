"""Certificates at the edge of the theorems: for every number the last that holds and the first that does not, by `truth`.

The points are displaced from their critical points, so that the gradient and the radius r count; n exceeds k, and no
matrix is symmetric. From the numbers of a proof a random walk goes to certificates that are true in many other ways, so
that each inequality is the first to fail somewhere; then every number moves up and down until `truth` says no.
"""

import json
from math import inf, nextafter

import mpmath as mp
import numpy as np
from truth import DIGITS, HOLDS, Truth

from earnshaw.problems import TwoLayer
from earnshaw.proof import prove
from earnshaw.proof.trusted.reading import seal

NEAR = 1e-8  # relative: how far inside and outside of what `truth` allows the two certificates of an edge are
# teacher, student, how far the centre is moved from the critical point
POINTS = {
    "n4 k3 d2": (
        [[-0.08, -0.74], [0.83, 0.42], [-0.74, 0.78]],
        [[-0.219, 0.419], [0.236, 0.778], [0.616, -0.47], [-0.633, -0.275]],
        3e-7,
    ),
    "n3 k3 d2": ([[1.08, -0.68], [-0.92, -0.68], [0.14, 0.87]], [[-0.693, 0.434], [1.11, 0.396], [-0.136, -1.296]], 1e-5),
    "n4 k3 d3": (
        [[-1.35, 0.41, -0.59], [-1.14, 0.28, 0.89], [1.64, -2.0, -0.24]],
        [[0.353, -0.279, 0.414], [-2.403, 0.775, 0.281], [0.256, -0.209, -0.491], [0.99, -1.567, -0.15]],
        1e-6,
    ),
    "saddle n3 k2 d3": (
        [[-1.07, -0.08, 1.05], [-0.6, -0.65, -2.63]],
        [[-0.5612, -1.0709, -1.0723], [-0.9016, 0.2421, -1.3191], [0.2573, 0.0692, 0.0131]],
        5e-7,
    ),
    "saddle n2 k2 d2": ([[1.09, 0.37], [-0.56, -0.87]], [[1.129, -0.1553], [-0.0796, 0.2839]], 1e-5),
}  # fmt: skip
# By how much the numbers of a proof are loosened before the walk, so that none is at its edge.
LOOSER = {
    "hint.shift": 1 - 1e-6,
    "hint.shift_ext": 1 - 1e-6,
    "claims.lambda_min_ge": 1 - 3e-6,
    "claims.lambda_ext_ge": 1 - 3e-6,
    "claims.grad_norm_le": 1 + 3e-4,
    "claims.newton_step_le": 1.01,
    "claims.inverse_norm_le": 1 + 1e-6,
    "claims.hess_lipschitz_le": 1 + 1e-6,
    "claims.curvature_le": 1 - 1e-6,
    "claims.mu_ge": 0.99,
    "claims.F_ge": 0.99,
    "claims.F_le": 1.01,
    "basin.radius": 0.9,
    "basin.mu_ge": 0.9,
    "basin.lambda_max_le": 1.01,
    "robust.delta": 0.9,
    "robust.hess_lipschitz_le": 1 + 1e-6,
    "robust.mu_ge": 0.9,
    "robust.F_ge": 0.9,
    "hint.shift_split": 1 - 1e-6,
    "every_n.delta": 0.9,
    "every_n.delta_ext": 0.9,
}
# Where the checker's own bound is no better than this, because it uses a guess: largest eigenvalue, approximate inverse.
LOOSE = {"basin.lambda_max_le": lambda truth: 1.001 * truth.reach, "claims.defect_le": lambda truth: 1e-12}
FIXED = (
    "hint.shift",
    "hint.shift_ext",
    "hint.shift_split",
    "every_n.neuron",
)  # guesses: the walk leaves them, and moves what they must bound


def proofs(bits=128):
    """Yield a name and the certificates of each point, with their truth."""
    rng = np.random.default_rng(0)
    for name, (teacher, student, moved) in POINTS.items():
        problem = TwoLayer(np.array(teacher), students=len(student))
        center = prove(problem, np.array(student)).point.weights
        move = rng.standard_normal(center.shape)
        center = center + moved * move / np.linalg.norm(move)
        proof = prove(problem, center, polish=False, precision=bits, every_n=True)
        count = 1 if "saddle" in name else 4 if "d2" in name else 3  # at the point in R^3 every neuron has a way down
        assert len(proof.certificates) == count, (name, proof.reason)
        yield name, proof, Truth(center.tolist(), teacher)


def numbers(document):
    """The numbers of a certificate by name, None for null."""
    found = {}
    for section in ("R_enclosure", "R_unique", "claims", "basin", "robust", "every_n", "hint"):
        value = document.get(section)
        if isinstance(value, str):
            found[section] = float.fromhex(value)
        for key, entry in (value or {}).items() if isinstance(value, dict) else ():
            if key == "neuron":
                found[f"{section}.{key}"] = entry
            elif key != "precision":
                found[f"{section}.{key}"] = None if entry is None else float.fromhex(entry)
    return found


def forged(document, edits, **more):
    """The certificate with other numbers, sealed again."""
    changed = json.loads(json.dumps(dict(document))) | more
    for name, number in edits.items():
        section, _, key = name.partition(".")
        text = None if number is None else int(number) if key == "neuron" else float(number).hex()
        if key:
            changed[section][key] = text
        else:
            changed[section] = text
    changed["sha256"] = seal(changed)
    return json.dumps(changed).encode()


def limit(holds, start, direction):
    """The number farthest from `start` in a direction that still holds, and the next that does not; None if all do."""
    step, good = max(abs(start), 1e-300) * 2.0**-40, start
    while step < 1e300:
        bad = good + direction * step
        if not holds(bad):
            break
        good, step = bad, 2 * step
    else:
        return None
    for _ in range(1200):
        middle = 0.5 * (good + bad)
        if middle in (good, bad):
            return good, bad
        good, bad = (middle, bad) if holds(middle) else (good, middle)
    return None


def walks(kind, truth, x, count, rng):
    """Yield true numbers: those of the proof, and after each of some random steps within what is true."""
    holds = HOLDS[kind]
    x = {name: None if number is None else number * LOOSER.get(name, 1.0) for name, number in x.items()}
    if kind == "basin":
        x["basin.smoothness_le"] = x["basin.lambda_max_le"] * 1.01 + x["claims.hess_lipschitz_le"] * x["R_unique"]
        x["basin.step_lt"] = 1.9 / x["basin.smoothness_le"]
    if kind == "saddle":
        x["claims.defect_le"] = 1e-7
    assert holds(truth, x), (kind, x)
    yield dict(x)
    free = [name for name in x if name not in FIXED and name not in LOOSE and x[name] is not None]
    for _ in range(count):
        for name in rng.permutation(free):
            found = limit(lambda y, name=name: holds(truth, {**x, name: y}), x[name], rng.choice([-1.0, 1.0]))
            if found is not None and rng.random() < 0.6:
                x[name] += (found[0] - x[name]) * rng.choice([0.3, 0.9, 0.999])
        if holds(truth, x):
            yield dict(x)


def edges(count=3, seed=1):
    """Return {name: (certificate, whether it is true)} for every number of every certificate of every walk."""
    rng, cases = np.random.default_rng(seed), {}
    for point, proof, truth in proofs():
        for kind, certificate in proof.certificates.items():
            for step, x in enumerate(walks(kind, truth, numbers(certificate.document), count, rng)):
                cases |= {
                    f"{point} {kind} {step} {name}": case
                    for name, case in around(certificate.document, kind, truth, x).items()
                }
    return cases


def around(document, kind, truth, x, near=NEAR):
    """One true certificate, and each of its numbers at the last that holds and the first that does not."""
    holds, cases = HOLDS[kind], {"as it is": (forged(document, x), True)}
    for name in x:
        if name in FIXED or x[name] is None:
            continue
        for direction in (-1.0, 1.0):
            found = limit(lambda y, name=name: holds(truth, {**x, name: y}), x[name], direction)
            end = "up" if direction > 0 else "down"
            if found is None:
                far = x[name] + direction * (10 * abs(x[name]) + 1)
                cases[f"{name} far {end}"] = forged(document, x | {name: far}), True
                continue
            inside, outside = found
            room = near * max(abs(inside), abs(inside - x[name]))
            if direction < 0 and name in LOOSE:
                inside = LOOSE[name](truth)
            if abs(inside - x[name]) > 4 * room:
                cases[f"{name} last {end}"] = forged(document, x | {name: inside - direction * room}), True
            cases[f"{name} beyond {end}"] = forged(document, x | {name: outside + direction * room}), False
    return cases


# What is compared with numbers of a guessed inverse or direction, which are off the true ones by some 1e-13.
GUESSED = [f"claims.{name} beyond down" for name in ("inverse_norm_le", "newton_step_le", "curvature_le", "defect_le")]


def coarse():
    """Return {name: certificate}: each false by a part in 10^13, for a check at so few bits that every ball is wider."""
    cases = {}
    for point, proof, truth in proofs():
        for kind, certificate in proof.certificates.items():
            x = next(walks(kind, truth, numbers(certificate.document), 0, np.random.default_rng(0)))
            found = around(certificate.document, kind, truth, x, near=1e-13)
            sharp = {name: data for name, (data, true) in found.items() if not (true or name in GUESSED)}
            cases |= {f"{point} {kind} {name}": data for name, data in sharp.items()}
            cases[f"{point} {kind} as it is"] = found["as it is"][0]
    return cases


# Equality: with numbers of few bits both sides of an inequality can be exactly equal, and "<" is told from "<=".

# Weaker than the truth at "n3 k3 d2" (|gradient| 8.1e-6, lambda .0286, L 4.01): with them, r = 2^-10 and R = 2^-9,
# lambda - L R = 0, lambda - L r = 2^-7 and lambda r - L r^2/2 = 3 2^-18.
SHORT = {
    "claims.grad_norm_le": 2.0**-17 + 2.0**-20,
    "claims.lambda_min_ge": 2.0**-6,
    "claims.lambda_ext_ge": 2.0**-5,
    "claims.hess_lipschitz_le": 8.0,
    "R_enclosure": 2.0**-10,
    "R_unique": 2.0**-9 - 2.0**-20,
    "claims.mu_ge": 2.0**-7,
    "claims.F_ge": 2.0**-8,
    "claims.F_le": 2.0**-7,
}
# For the basin lambda = 3 2^-7, L = 4.5, r = 2^-11 and rho = 2^-12: rho + 2 r = 5 2^-12.
BASIN = {
    "claims.lambda_min_ge": 3 * 2.0**-7,
    "claims.hess_lipschitz_le": 4.5,
    "R_enclosure": 2.0**-11,
    "R_unique": 2.0**-8,
    "claims.mu_ge": 2.0**-8,
    "basin.radius": 2.0**-12,
    "basin.lambda_max_le": 4.0,
    "basin.smoothness_le": 4.0 + 22.5 * 2.0**-12,
    "basin.mu_ge": 3 * 2.0**-7 - 22.5 * 2.0**-12,
    "basin.step_lt": 2.0**-2,
}


def equalities():
    """Return {name: (certificate, whether it is true)} in which one inequality is an equality, or a last bit beyond it."""
    _, proof, truth = next(entry for entry in proofs() if entry[0] == "n3 k3 d2")
    up, down = 1 + 2.0**-50, 1 - 2.0**-50
    minimum = {
        "as short": ({}, True),
        "(d) is 0": ({"claims.grad_norm_le": 3 * 2.0**-18}, False),
        "(d) is below 0": ({"claims.grad_norm_le": 3 * 2.0**-18 * down}, True),
        "(e) is 0": ({"R_unique": 2.0**-9}, False),
        "(e) is above 0": ({"R_unique": 2.0**-9 * down}, True),
        "mu beyond": ({"claims.mu_ge": 2.0**-7 * up}, False),
        "r = R": ({"R_unique": 2.0**-10}, True),
        "r > R": ({"R_unique": 2.0**-10 * down}, False),
        "M is the smaller": ({"claims.lambda_ext_ge": 2.0**-7}, False),
        "M is a little smaller": ({"claims.lambda_ext_ge": 2.0**-6 * down, "claims.mu_ge": 2.0**-8}, True),
    }
    basin = {
        "as short": ({}, True),
        "reach = R": ({"R_unique": 5 * 2.0**-12}, True),
        "reach > R": ({"R_unique": 5 * 2.0**-12 * down}, False),
        "smoothness beyond": ({"basin.smoothness_le": BASIN["basin.smoothness_le"] * down}, False),
        "nu beyond": ({"basin.mu_ge": BASIN["basin.mu_ge"] * up}, False),
        "nu of M": ({"claims.lambda_ext_ge": 3 * 2.0**-7 * down}, False),
        "step = 2/smoothness": ({"basin.smoothness_le": 8.0, "basin.step_lt": 0.25}, True),
        "step > 2/smoothness": ({"basin.smoothness_le": 8.0, "basin.step_lt": 0.25 * up}, False),
    }
    saddle = {  # kappa + L R = 0
        "as short": ({"claims.curvature_le": -(2.0**-5) * up}, True),
        "curvature is L R": ({}, False),
        "curvature below L R": ({"claims.curvature_le": -(2.0**-5) * down}, False),
    }
    documents = {kind: certificate.document for kind, certificate in proof.certificates.items()}
    _, other, _ = next(entry for entry in proofs() if entry[0] == "saddle n2 k2 d2")
    documents["saddle"] = other.certificates["saddle"].document
    level = {
        "R_enclosure": 2.0**-12,
        "claims.hess_lipschitz_le": 128.0,
        "claims.curvature_le": -(2.0**-5),
        "claims.F_ge": 0.2,
        "claims.F_le": 0.3,
    }
    cases = {}
    for kind, table, base in (("minimum", minimum, SHORT), ("basin", basin, SHORT | BASIN), ("saddle", saddle, level)):
        for name, (edit, true) in table.items():
            cases[f"{kind} {name}"] = forged(documents[kind], base | edit), true
    assert truth.slope < SHORT["claims.grad_norm_le"]
    return cases


# A hair's breadth: false by less than a ball of 64 bits is wide, so that only a comparison of whole balls can tell.


def hairs():
    """Return {name: certificate}: each false by a few parts in 10^20, at 64 bits."""
    cases = {}
    for point, proof, truth in proofs():
        if point in ("n4 k3 d2", "saddle n3 k2 d3"):
            for kind, certificate in proof.certificates.items():
                x = next(walks(kind, truth, numbers(certificate.document), 0, np.random.default_rng(0)))
                for name, (margin, free, claim) in MARGINS[kind].items():
                    found = _hair(truth, x, margin, free, claim)
                    if found is not None:
                        hint = {**certificate.document["hint"], "precision": 64}
                        edited = forged(
                            {**certificate.document, "hint": hint},
                            {key: found[key] for key in found if key not in FIXED},
                        )
                        cases[f"{point} {kind} {name}"] = edited
    return cases


def _hair(truth, x, margin, free, claim):
    """Vary `free` a little until the double next to the true limit of `claim`, on its false side, is a hair away from it."""
    x = {name: None if number is None else mp.mpf(number) for name, number in x.items()}
    with mp.workdps(DIGITS):
        start = float(x[free])
        for step in range(15_000):
            x[free] = mp.mpf(start * (1 + step * 2.0**-28))
            here, there = margin(truth, x, mp.mpf(0)), margin(truth, x, mp.mpf(1))  # linear in the claim
            limit = here / (here - there)
            rises = there > here
            double = float(limit)
            while (mp.mpf(double) > limit) == rises or mp.mpf(double) == limit:
                double = nextafter(double, -inf if rises else inf)
            if abs(mp.mpf(double) / limit - 1) < mp.mpf(2) ** -65:
                return {name: None if number is None else float(number) for name, number in x.items()} | {claim: double}
    return None


def _least(x):
    return x["claims.lambda_min_ge"]


def _reach(x):
    return x["basin.radius"] + 2 * x["R_enclosure"]


# For each kind: an inequality as a number that must be >= 0 (or > 0), linear in one claim; what varies; the claim.
MARGINS = {
    "minimum": {
        "(d)": (lambda t, x, c: _least(x) * x["R_enclosure"] - x["claims.hess_lipschitz_le"] * x["R_enclosure"] ** 2 / 2 - c, "R_enclosure", "claims.grad_norm_le"),
        "(e)": (lambda t, x, c: _least(x) - c * x["R_unique"], "R_unique", "claims.hess_lipschitz_le"),
        "(f)": (lambda t, x, c: _least(x) - x["claims.hess_lipschitz_le"] * x["R_enclosure"] - c, "R_enclosure", "claims.mu_ge"),
        "(g)": (lambda t, x, c: t.value - x["claims.grad_norm_le"] ** 2 / (2 * x["claims.mu_ge"]) - c, "claims.mu_ge", "claims.F_ge"),
    },
    "basin": {
        "smoothness": (lambda t, x, c: c - x["basin.lambda_max_le"] - x["claims.hess_lipschitz_le"] * _reach(x), "basin.radius", "basin.smoothness_le"),
        "nu": (lambda t, x, c: _least(x) - x["claims.hess_lipschitz_le"] * _reach(x) - c, "basin.radius", "basin.mu_ge"),
        "step": (lambda t, x, c: 2 - c * x["basin.smoothness_le"], "basin.smoothness_le", "basin.step_lt"),
    },
    "robust": {
        "(d)": (
            lambda t, x, c: _moved_least(t, x) * x["robust.R_enclosure"] - c * x["robust.R_enclosure"] ** 2 / 2 - _moved_slope(t, x),
            "robust.R_enclosure", "robust.hess_lipschitz_le",
        ),
        "(f)": (
            lambda t, x, c: _moved_least(t, x) - x["robust.hess_lipschitz_le"] * x["robust.R_enclosure"] - c,
            "robust.R_enclosure", "robust.mu_ge",
        ),
        "F": (
            lambda t, x, c: (mp.sqrt(2 * t.value) - t.k * x["robust.delta"]) ** 2 - _moved_slope(t, x) ** 2 / x["robust.mu_ge"] - 2 * c,
            "robust.mu_ge", "robust.F_ge",
        ),
    },
    "every_n": {
        "beyond": (
            lambda t, x, c: t.splits[int(x["every_n.neuron"])][1] - x["claims.hess_lipschitz_le"] * x["R_enclosure"] - c,
            "R_enclosure", "every_n.delta_ext",
        ),
    },
    "saddle": {
        "Newton": (
            lambda t, x, c: (1 - x["claims.defect_le"]) * x["R_enclosure"]
            - x["claims.inverse_norm_le"] * x["claims.hess_lipschitz_le"] * x["R_enclosure"] ** 2 / 2 - c,
            "R_enclosure", "claims.newton_step_le",
        ),
        "curvature": (lambda t, x, c: -c - x["claims.hess_lipschitz_le"] * x["R_enclosure"], "R_enclosure", "claims.curvature_le"),
        "F_ge": (lambda t, x, c: t.value - _drift(t, x) - c, "R_enclosure", "claims.F_ge"),
        "F_le": (lambda t, x, c: c - t.value - _drift(t, x), "R_enclosure", "claims.F_le"),
    },
}  # fmt: skip


def _moved_slope(t, x):
    return x["claims.grad_norm_le"] + mp.sqrt(t.n) * t.k * x["robust.delta"] / 2


def _moved_least(t, x):
    return _least(x) - t.k * x["robust.delta"] / (mp.pi * t.shortest)


def _drift(t, x):
    r = x["R_enclosure"]
    return x["claims.grad_norm_le"] * r + (t.size + x["claims.hess_lipschitz_le"] * r) * r**2 / 2
