"""Forged certificates, each wrong in one way and sealed again: the checker must reject every one.

Claims are one-sided, so a forger may weaken a claim freely (a larger gradient bound, a larger Lipschitz constant) to
make one particular inequality the only one that fails. Each case below names the inequality it is aimed at.
`accepted` are the opposite: true certificates with no room left, which a checker that is too strict would reject.
"""

import copy
import json
from math import inf, nextafter

import numpy as np
from flint import arb

from earnshaw.problems import TwoLayer
from earnshaw.proof import prove
from earnshaw.proof.certificate import build
from earnshaw.proof.doubles import double_hessian, down, guess_least, up
from earnshaw.proof.relu_claims import prove_minimum
from earnshaw.proof.trusted.balls import exact, norm, precision
from earnshaw.proof.trusted.reading import seal
from earnshaw.proof.trusted.relu import Point

EYE = np.eye(6)
TINY = 1e-9


def symmetric_point(k, a, b, c, d, e):
    """A point of type S_{k-1}: `a` on the diagonal, `b` off it, `c` odd column, `d` odd row, `e` the corner."""
    weights = np.full((k, k), b)
    np.fill_diagonal(weights, a)
    weights[:-1, -1], weights[-1, :-1], weights[-1, -1] = c, d, e
    return weights


def minimum_point():
    """The published k = n = 6 minimum, to eight digits."""
    return symmetric_point(6, 0.98670382, -0.0504134, 0.30801099, 0.22451581, -0.60151192)


def small_saddle():
    """A saddle at k = n = 3 whose only negative eigenvalue is simple and nearly the smallest in modulus.

    With more negative eigenvalues |A| would be so large that Newton-Kantorovich alone implies the curvature condition,
    and a checker without that condition could not be told apart.
    """
    weights = np.full((3, 3), 0.659453093038095)
    np.fill_diagonal(weights, -0.31818006961015377)
    return prove(TwoLayer(np.eye(3)), weights)


class Forger:
    """Edits certificates and seals them again, as an adversary would."""

    def __init__(self, documents):
        self.documents = documents

    def edited(self, kind, **edits):
        """Return the document of `kind` with `claims__F_ge=...` style edits; floats become hex floats."""
        document = copy.deepcopy(dict(self.documents[kind]))
        for path, value in edits.items():
            place, *rest = path.split("__")
            new = value.hex() if isinstance(value, float) else value
            if rest:
                document[place] = {**document[place], rest[0]: new}
            else:
                document[place] = new
        return document

    def number(self, kind, path):
        section = self.documents[kind]
        for part in path.split("__"):
            section = section[part]
        return float.fromhex(section)

    @staticmethod
    def sealed(document):
        document = {**document, "sha256": seal(document)}
        return json.dumps(document).encode()

    def forged(self, kind, **edits):
        return self.sealed(self.edited(kind, **edits))


class _Base:
    """The numbers of the true certificates, and functions of the point."""

    def __init__(self, forger, weights):
        self.number = forger.number
        self.point = Point(weights.tolist(), EYE.tolist())
        self.value = self.point.value()
        self.eps = forger.number("minimum", "claims__grad_norm_le")
        self.lam = forger.number("minimum", "claims__lambda_min_ge")
        self.lip = forger.number("minimum", "claims__hess_lipschitz_le")
        self.outer = forger.number("minimum", "R_unique")
        self.inner = forger.number("minimum", "R_enclosure")

    def lipschitz(self, radius, delta=0.0):
        return up(self.point.lipschitz(arb(radius), arb(delta)))

    def tight(self, share):
        """A minimum whose claimed gradient is `share` of the largest that (d) allows at r = R_unique."""
        radius = arb(self.outer)
        eps = down((arb(self.lam) * radius - arb(self.lip) * radius**2 / 2) * arb(share))
        mu = down(arb(self.lam) - arb(self.lip) * radius)
        value = down(self.value - arb(eps) ** 2 / (2 * arb(mu)))
        return {
            "R_enclosure": self.outer,
            "claims__grad_norm_le": eps,
            "claims__mu_ge": mu,
            "claims__F_ge": value,
        }


def accepted(forger, minimum_weights):
    """True certificates at the edge of what the theorems allow."""
    with precision(128):
        base = _Base(forger, minimum_weights)
        cases = {f"true {kind}": forger.forged(kind) for kind in ("minimum", "basin", "robust", "saddle")}
        cases["gradient bound just small enough"] = forger.forged("minimum", **base.tight(1 - TINY))
        cases["no claim beyond d"] = forger.forged("minimum", claims__lambda_ext_ge=None, hint__shift_ext=None)
        lipschitz = base.lip * (1 + 1e-6)
        mu = down(arb(base.lam) - arb(lipschitz) * arb(base.inner))
        cases["L a little larger"] = forger.forged("minimum", claims__hess_lipschitz_le=lipschitz, claims__mu_ge=mu)
        smooth = up(
            arb(forger.number("basin", "basin__lambda_max_le"))
            + arb(base.lip) * (arb(forger.number("basin", "basin__radius")) + 2 * arb(base.inner))
        )
        step = down(2 / arb(smooth))
        cases["largest step"] = forger.forged("basin", basin__smoothness_le=smooth, basin__step_lt=step)
    return cases


def minimum_cases(forger, minimum_weights):
    with precision(128):
        base = _Base(forger, minimum_weights)
        shift = forger.number("minimum", "hint__shift")
        shift_ext = forger.number("minimum", "hint__shift_ext")
        mu = forger.number("minimum", "claims__mu_ge")
        wide = _beyond(base)
        loose = base.tight(0.5)
        eps = loose["claims__grad_norm_le"]
        mid = {**loose, "claims__F_ge": down(base.value - 0.75 * arb(eps) ** 2 / (2 * arb(loose["claims__mu_ge"])))}
        edits = {
            "gradient bound too small": {"claims__grad_norm_le": base.eps * 0.999},
            "lambda equal to the shift": {"claims__lambda_min_ge": shift},
            "lambda and shift a millionth too large": {
                "claims__lambda_min_ge": base.lam * (1 + 1e-6),
                "hint__shift": base.lam * (1 + 2e-6),
            },
            "lambda of M equal to its shift": {"claims__lambda_ext_ge": shift_ext},
            "weak lambda of M is not used": {"claims__lambda_ext_ge": TINY},
            "L a millionth too small": {"claims__hess_lipschitz_le": base.lip * (1 - 1e-6)},
            "L one bit too small": {"claims__hess_lipschitz_le": nextafter(base.lip, 0.0)},
            "L at the centre": {"claims__hess_lipschitz_le": base.lipschitz(0.0)},
            "L on the small ball": {"claims__hess_lipschitz_le": base.lipschitz(base.inner)},
            "R_unique beyond lambda/L": wide,
            "R_unique beyond the shortest neuron": {"R_unique": 1e6, "claims__hess_lipschitz_le": 1e9},
            "R_enclosure below the bound": {"R_enclosure": base.eps / base.lam * 0.999},
            "R_enclosure zero": {"R_enclosure": 0.0},
            "R_enclosure negative": {"R_enclosure": -base.inner},
            "R_enclosure above R_unique": {
                "R_unique": 1e-12,
                "R_enclosure": 1e-4,
                "claims__hess_lipschitz_le": base.lipschitz(1e-12),
                "claims__mu_ge": down(arb(base.lam) - arb(base.lip) * arb(1e-4)),
            },
            "gradient bound just too large": base.tight(1 + TINY),
            "gradient bound too large": base.tight(1.4),
            "mu equal to lambda": {"claims__mu_ge": base.lam},
            "mu one bit too large": {"claims__mu_ge": nextafter(mu, inf)},
            "mu too large on a wide ball": {**loose, "claims__mu_ge": loose["claims__mu_ge"] * 1.01},
            "mu negative": {"claims__mu_ge": -1e-40, "claims__F_ge": 1.0},
            "mu zero": {"claims__mu_ge": 0.0},
            "F_ge at the centre with a large gradient": {**loose, "claims__F_ge": down(base.value)},
            "F_ge with too small a correction": mid,
            "F_ge a bit too large": {"claims__F_ge": up(base.value)},
            "F_ge negative": {"claims__F_ge": -1.0},
            "F_ge zero": {"claims__F_ge": 0.0},
            "F_le too small": {"claims__F_le": forger.number("minimum", "claims__F_le") * (1 - 1e-12)},
        }
        return {f"minimum: {name}": forger.forged("minimum", **edit) for name, edit in edits.items()}


def _beyond(base):
    """R_unique between lambda/L and 2 lambda/L, with L recomputed for it."""
    radius = 1.5 * base.lam / base.lip
    lip = base.lipschitz(radius)
    mu = down(arb(base.lam) - arb(lip) * arb(base.inner))
    return {"R_unique": radius, "claims__hess_lipschitz_le": lip, "claims__mu_ge": mu}


def basin_cases(forger, minimum_weights):
    with precision(128):
        base = _Base(forger, minimum_weights)
        get = {name: forger.number("basin", f"basin__{name}") for name in ("radius", "lambda_max_le", "smoothness_le")}
        reach = arb(base.outer) + 2 * arb(base.inner)
        top = get["lambda_max_le"]
        edits = {
            "radius negative": {"basin__radius": -1e-5},
            "radius zero": {"basin__radius": 0.0},
            "radius beyond R_unique - 2 r": {
                "basin__radius": base.outer,
                "basin__smoothness_le": up(arb(top) + arb(base.lip) * reach),
                "basin__mu_ge": down(arb(base.lam) - arb(base.lip) * reach),
                "basin__step_lt": 0.1,
            },
            "lambda_max too small": {"basin__lambda_max_le": top * (1 - 1e-5)},
            "lambda_max the true one, which the bound does not reach": {"basin__lambda_max_le": 2.0},
            "smoothness without L R": {"basin__smoothness_le": top, "basin__step_lt": down(2 / arb(top))},
            "mu equal to lambda": {"basin__mu_ge": base.lam},
            "mu zero": {"basin__mu_ge": 0.0},
            "mu negative": {"basin__mu_ge": -1.0},
            "step negative": {"basin__step_lt": -1.0},
            "step zero": {"basin__step_lt": 0.0},
            "step beyond 2/Lambda": {"basin__step_lt": 2.0 / get["smoothness_le"] * (1 + 1e-12)},
            "claims of the minimum are checked too": {"claims__F_ge": up(base.value)},
        }
        return {f"basin: {name}": forger.forged("basin", **edit) for name, edit in edits.items()}


def robust_cases(forger, minimum_weights):
    with precision(128):
        base = _Base(forger, minimum_weights)
        point = base.point
        delta, radius = forger.number("robust", "robust__delta"), forger.number("robust", "robust__R_enclosure")
        lip, mu = forger.number("robust", "robust__hess_lipschitz_le"), forger.number("robust", "robust__mu_ge")
        value = forger.number("robust", "robust__F_ge")

        def wider(factor):
            """Everything recomputed for a larger delta, so that only the enclosing inequality fails."""
            moved = 6 * arb(delta * factor)
            eps = arb(base.eps) + arb(6).sqrt() * moved / 2
            lam = arb(base.lam) - moved / (arb.pi() * point.shortest())
            lipschitz = base.lipschitz(radius, delta * factor)
            least = down(lam - arb(lipschitz) * arb(radius))
            left = (2 * base.value).sqrt() - moved
            return {
                "robust__delta": delta * factor,
                "robust__hess_lipschitz_le": lipschitz,
                "robust__mu_ge": least,
                "robust__F_ge": down(left * left / 2 - eps * eps / (2 * arb(least))),
            }

        edits = {
            "delta zero": {"robust__delta": 0.0},
            "delta negative": {"robust__delta": -TINY},
            "delta too large": {"robust__delta": delta * 1.01},
            "delta too large, rest recomputed": wider(1.001),
            "R zero": {"robust__R_enclosure": 0.0},
            "R negative": {"robust__R_enclosure": -radius},
            "R too small": {"robust__R_enclosure": radius * 0.9},
            "L for the unmoved teacher": {"robust__hess_lipschitz_le": base.lipschitz(radius)},
            "L at the centre": {"robust__hess_lipschitz_le": base.lipschitz(0.0, delta)},
            "mu for the unmoved teacher": {"robust__mu_ge": down(arb(base.lam) - arb(lip) * arb(radius))},
            "mu equal to lambda": {"robust__mu_ge": base.lam},
            "mu negative": {"robust__mu_ge": -1e-9},
            "mu one bit too large": {"robust__mu_ge": nextafter(mu, inf)},
            "F_ge zero": {"robust__F_ge": 0.0},
            "F_ge negative": {"robust__F_ge": -1e-12},
            "F_ge a millionth too large": {"robust__F_ge": value * (1 + 1e-6)},
            "F_ge of the unmoved teacher": {"robust__F_ge": forger.number("robust", "claims__F_ge")},
            "F_ge forgets the teacher's move": {
                "robust__F_ge": down(base.value - _epsilon(base, delta) ** 2 / (2 * arb(mu)))
            },
            "F_ge forgets the gradient": {"robust__F_ge": down(((2 * base.value).sqrt() - 6 * arb(delta)) ** 2 / 2)},
            "claims of the minimum are checked too": {"claims__F_ge": up(base.value)},
        }
        return {f"robust: {name}": forger.forged("robust", **edit) for name, edit in edits.items()}


def _epsilon(base, delta):
    return arb(base.eps) + arb(6).sqrt() * 6 * arb(delta) / 2


def saddle_cases(forger, saddle_weights):
    with precision(128):
        point = Point(saddle_weights.tolist(), np.eye(len(saddle_weights)).tolist())
        value = point.value()
        get = {
            name: forger.number("saddle", f"claims__{name}")
            for name in (
                "grad_norm_le",
                "newton_step_le",
                "defect_le",
                "inverse_norm_le",
                "hess_lipschitz_le",
                "curvature_le",
            )
        }
        bend = get["curvature_le"]
        wide = 1e-4
        lip = up(point.lipschitz(arb(wide), arb(0)))
        size = norm(point.hessian().entries())
        far = {"R_enclosure": wide, "claims__hess_lipschitz_le": lip}
        drift = (size + arb(lip) * arb(wide)) * arb(wide) ** 2 / 2
        low, high = down(value - 2 * drift), up(value + 2 * drift)
        edits = {
            "R negative": {
                "R_enclosure": -1e-6,
                "claims__defect_le": 2.0,
                "claims__F_ge": -1.0,
                "claims__F_le": 1.0,
            },
            "R zero": {"R_enclosure": 0.0},
            "R below the Newton step": {"R_enclosure": get["newton_step_le"] * 0.999},
            "L one bit too small": {"claims__hess_lipschitz_le": nextafter(get["hess_lipschitz_le"], 0.0)},
            "L at the centre": {
                **far,
                "claims__F_ge": low,
                "claims__F_le": high,
                "claims__hess_lipschitz_le": up(point.lipschitz(arb(0), arb(0))),
            },
            "gradient bound too small": {"claims__grad_norm_le": get["grad_norm_le"] * 0.999},
            "Newton step too small": {"claims__newton_step_le": get["newton_step_le"] / 20},
            "defect too small": {"claims__defect_le": get["defect_le"] / 20},
            "defect one": {"claims__defect_le": 1.0},
            "inverse too small": {"claims__inverse_norm_le": get["inverse_norm_le"] * 0.99},
            "inverse so large that the quadratic term decides": {
                **far,
                "claims__F_ge": low,
                "claims__F_le": high,
                "claims__inverse_norm_le": 2.01 / (lip * wide),
            },
            "curvature too negative": {"claims__curvature_le": bend * (1 + 1e-6)},
            "curvature positive": {"claims__curvature_le": -bend},
            "L so large that the curvature may vanish": {
                "R_enclosure": TINY,
                "claims__hess_lipschitz_le": -1.001 * bend / TINY,
                "claims__F_ge": low,
                "claims__F_le": high,
            },
            "F_ge ignores the gradient": {"claims__grad_norm_le": 1.0, "claims__F_ge": down(value)},
            "F_le ignores the gradient": {"claims__grad_norm_le": 1.0, "claims__F_le": up(value)},
            "F_ge ignores the Hessian": {**far, "claims__F_ge": down(value - drift / 2), "claims__F_le": high},
            "F_le ignores the Hessian": {**far, "claims__F_ge": low, "claims__F_le": up(value + drift / 2)},
        }
        cases = {f"saddle: {name}": forger.forged("saddle", **edit) for name, edit in edits.items()}
        sound = {**far, "claims__F_ge": low, "claims__F_le": high}
        return cases, forger.forged("saddle", **sound)


def point_cases(forger, minimum_weights):
    """The same claims for another point, another teacher, or another problem."""
    rows = minimum_weights
    edits = {}

    def center(name, weights):
        edits[name] = {"center": [[float(x).hex() for x in row] for row in np.asarray(weights)]}

    flipped, nudged, slightly = rows.copy(), rows.copy(), rows.copy()
    flipped[0, 1] *= -1
    nudged[2, 3] += 1e-3
    slightly[2, 3] += 1e-12
    double = rows.copy()
    double[1] = double[0]
    zero = rows.copy()
    zero[4] = 0.0
    for name, weights in {
        "a sign flipped": flipped,
        "moved by 1e-3": nudged,
        "moved by 1e-12": slightly,
        "transposed": rows.T,
        "a duplicate neuron": double,
        "a zero neuron": zero,
        "the global minimum": EYE,
        "near the global minimum": EYE + 1e-9 * np.arange(36).reshape(6, 6),
        "a neuron of norm 1e-9": np.vstack([rows[:5], 1e-9 * EYE[0]]),
        "scaled": 1.000001 * rows,
    }.items():
        center(name, weights)
    problem = forger.documents["minimum"]["problem"]
    target = [row[:] for row in problem["target"]]
    target[0][0] = (1.0 + 1e-9).hex()
    swapped = [*target[1:], [(0.0).hex()] * 6]
    edits |= {
        "another teacher": {"problem": {**problem, "target": target}},
        "a zero teacher": {"problem": {**problem, "target": swapped}},
        "wrong n": {"problem": {**problem, "n": 7}},
        "wrong k": {"problem": {**problem, "k": 5}},
        "wrong d": {"problem": {**problem, "d": 7}},
        "one student fewer": {"problem": {**problem, "n": 5}, "center": forger.documents["minimum"]["center"][:5]},
        "k as a string": {"problem": {**problem, "k": "6"}},
        "n as a bool": {"problem": {**problem, "n": True}},
        "another objective": {"problem": {**problem, "objective": "two-layer/erf"}},
    }
    cases = {f"point: {name}": forger.forged("minimum", **edit) for name, edit in edits.items()}
    saddle, minimum = forger.edited("saddle"), forger.edited("minimum")
    places = ("problem", "center")
    cases["point: a saddle called a minimum"] = forger.sealed({**minimum, **{key: saddle[key] for key in places}})
    cases["point: a minimum called a saddle"] = forger.sealed({**saddle, **{key: minimum[key] for key in places}})
    cases["point: a genuine minimum with n < k"] = fewer_students()
    return cases


def negative_radii(forger, saddle_weights):
    """A saddle dressed as a minimum: with r = R < 0 and lambda < 0 every other inequality of the theorem holds."""
    with precision(128):
        point = Point(saddle_weights.tolist(), np.eye(len(saddle_weights)).tolist())
        least = guess_least(double_hessian(point).entries) - 1e-9
        lip = up(point.lipschitz(arb(0), arb(0)))
        radius = 1.5 * (least - 1e-9) / lip
        eps = up(norm(point.gradient().entries()))
        mu = down(arb(least - 1e-9) - arb(lip) * arb(radius))
        saddle = forger.edited("saddle")
        return forger.forged(
            "minimum",
            problem=saddle["problem"],
            center=saddle["center"],
            R_enclosure=radius,
            R_unique=radius,
            claims__grad_norm_le=eps,
            claims__lambda_min_ge=least - 1e-9,
            claims__lambda_ext_ge=None,
            claims__hess_lipschitz_le=lip,
            claims__mu_ge=mu,
            claims__F_ge=down(point.value() - arb(eps) ** 2 / (2 * arb(mu))),
            claims__F_le=up(point.value()),
            hint__shift=least,
            hint__shift_ext=None,
        )


def fewer_students():
    """A strict minimum of one student against two teachers: everything is true except that F could be 0."""
    teacher = np.eye(2)
    with precision(128):
        # By symmetry the student is (a, a); its gradient a/2 ... vanishes for one a, found by bisection.
        low, high = 0.1, 3.0
        for _ in range(200):
            a = 0.5 * (low + high)
            slope = float(Point([[a, a]], teacher.tolist()).gradient()[0, 0])
            low, high = (a, high) if slope < 0 else (low, a)
        center = np.array([[low, low]])
        point = Point(center.tolist(), teacher.tolist())
        hessian = double_hessian(point)
        _, sections = prove_minimum(point, hessian, guess_least(hessian.entries))
        problem = TwoLayer(teacher, students=1)
        document = dict(build("minimum", problem.to_json(), center, sections, {}).document)
    return json.dumps(document).encode()


def text_cases(forger):
    """Files that are not certificates at all, or not quite."""
    document = forger.edited("minimum")
    good = forger.forged("minimum")
    text = good.decode()
    claims = document["claims"]
    nan, infinite = {**claims, "F_ge": "nan"}, {**claims, "F_le": "inf"}
    resealed = {
        "NaN in hex": {**document, "claims": nan},
        "infinity in hex": {**document, "claims": infinite},
        "null claim": {**document, "claims": {**claims, "F_ge": None}},
        "decimal in a string": {**document, "R_unique": "0.0005"},
        "not canonical hex": {**document, "R_unique": "0x1p-11"},
        "upper-case hex": {**document, "R_unique": document["R_unique"].upper()},
        "space in hex": {**document, "R_unique": " " + document["R_unique"]},
        "extra key": {**document, "remark": "x"},
        "extra claim": {**document, "claims": {**claims, "more": claims["F_ge"]}},
        "extra hint": {**document, "hint": {**document["hint"], "factor": []}},
        "missing key": {key: value for key, value in document.items() if key != "R_unique"},
        "missing claim": {**document, "claims": {key: claims[key] for key in claims if key != "F_le"}},
        "missing hint": {**document, "hint": {"precision": 128}},
        "unknown version": {**document, "format": "earnshaw-certificate/2"},
        "unknown kind": {**document, "kind": "theorem"},
        "kind of another key set": {**document, "kind": "basin"},
        "kind not a string": {**document, "kind": ["minimum"]},
        "precision as a bool": {**document, "hint": {**document["hint"], "precision": True}},
        "precision too low": {**document, "hint": {**document["hint"], "precision": 2}},
        "precision too high": {**document, "hint": {**document["hint"], "precision": 10**8}},
        "meta not strings": {**document, "meta": {"a": 1}},
        "meta a list": {**document, "meta": []},
        "meta too long": {**document, "meta": {str(i): "" for i in range(40)}},
        "center of strings of rows": {**document, "center": ["0x0.0p+0"] * 6},
        "ragged center": {**document, "center": [*document["center"][:5], document["center"][5][:5]]},
        "claims a list": {**document, "claims": list(claims.values())},
        "one coordinate too many for the limit": {
            **document,
            "problem": {**document["problem"], "n": 2500, "d": 2500},
        },
        "more students than rows": {**document, "problem": {**document["problem"], "n": 10**6}},
    }
    cases = {f"text: {name}": forger.sealed(edit) for name, edit in resealed.items()}
    radius = document["R_unique"]
    raw = {
        "empty": b"",
        "not UTF-8": b"\xff\xfe" + good,
        "a list": b"[]",
        "a number": b"1",
        "null": b"null",
        "truncated": good[: len(good) // 2],
        "one byte short": good[:-1],
        "trailing text": good + b"{}",
        "decimal float": text.replace(f'"{radius}"', "0.0005").encode(),
        "bare NaN": text.replace(f'"{radius}"', "NaN").encode(),
        "bare Infinity": text.replace(f'"{radius}"', "Infinity").encode(),
        "huge integer": text.replace('"precision": 128', '"precision": ' + "1" * 5000).encode(),
        "duplicate key": text.replace('"kind": "minimum"', '"kind": "minimum", "kind": "minimum"').encode(),
        "duplicate claim": text.replace('"claims": {', '"claims": {"F_ge": "0x1.0p-1", ').encode(),
        "hash wrong": text.replace(json.loads(text)["sha256"], "0" * 64).encode(),
        "hash missing": json.dumps(document | {"sha256": None}).encode(),
        "meta edited without resealing": text.replace('"producer": "earnshaw.proof"', '"producer": "me"').encode(),
        "deep nesting": b"[" * 100_000,
        "deep meta": text.replace('"meta": {', '"meta": {"x": ' + "[" * 2000 + "]" * 2000 + ", ").encode(),
        "longer than the limit": good + b" " * (1 << 20),
    }
    for name, data in raw.items():
        assert data != good, name
        cases[f"text: {name}"] = data
    return cases


def everything(forger, minimum_weights, saddle_weights):
    """Return (must be rejected, must be accepted)."""
    saddles, sound = saddle_cases(forger, saddle_weights)
    bad = {
        **minimum_cases(forger, minimum_weights),
        **basin_cases(forger, minimum_weights),
        **robust_cases(forger, minimum_weights),
        **saddles,
        "minimum: negative radii at a saddle": negative_radii(forger, saddle_weights),
        **point_cases(forger, minimum_weights),
        **text_cases(forger),
    }
    return bad, {**accepted(forger, minimum_weights), "saddle in a wide ball": sound}


def all_cases():
    """Return (must be rejected, must be accepted) of the ReLU landscape, proved anew."""
    minimum, saddle = prove(TwoLayer(EYE), minimum_point()), small_saddle()
    certificates = {**minimum.certificates, **saddle.certificates}
    forger = Forger({kind: certificate.document for kind, certificate in certificates.items()})
    return everything(forger, minimum.point.weights, saddle.point.weights)


def calculus_holds(balls, relu, rejected):
    """Call the calculus of a (mutated) checker where certificates cannot reach; say what is wrong, or None."""
    with balls.precision(64):
        # w and v differ by an angle that 64 bits cannot see, but the Hessian must still be enclosed.
        tilt = 2.0**-40
        point = relu.Point([[1.0, 0.0], [1.0, tilt]], [[3.0, 0.0]])
        own = point.diagonal_block(1, point.extension()[1, 1])
        mixed = point.pair_block(0, 1)
    with balls.precision(256):
        fine = relu.Point([[1.0, 0.0], [1.0, tilt]], [[3.0, 0.0]])
        slope = fine.extension()[1, 1]
        if not own.contains(fine.diagonal_block(1, slope).mid()) or not mixed.contains(fine.pair_block(0, 1).mid()):
            return "a nearly parallel pair is not enclosed"
        if not relu.Point([[1.0, 0.0], [-1.0, 0.0]], [[1.0, 0.0]]).value().contains(arb(1) / 4):
            return "an antiparallel pair is wrong"
        for radius in (1.5, 4.0, 1.0):
            try:
                relu.Point([[1.0, 0.0], [0.0, 2.0]], [[1.0, 1.0]]).lipschitz(arb(radius), arb(0))
            except rejected:
                continue
            return "the Lipschitz bound allows a zero neuron in the ball"
        for rows in (([[0.0, 0.0]], [[1.0, 0.0]]), ([[1.0, 0.0]], [[0.0, 0.0]])):
            try:
                relu.Point(*rows)
            except rejected:
                continue
            return "a zero neuron is allowed"
        if not balls.greatest_eigenvalue(exact([[0.0, 1.0], [1.0, -5.0]])) >= 5:
            return "a negative eigenvalue is overlooked"
    return None


def reading_holds(reading, forger):
    """Call the reader of a (mutated) checker on a document that is wrong only in a place that no theorem uses."""
    problem = forger.documents["minimum"]["problem"]
    one = {**problem, "n": True, "k": 1, "target": problem["target"][:1]}
    try:
        reading.parse(forger.forged("minimum", problem=one, center=forger.documents["minimum"]["center"][:1]), 1.0)
    except reading.Rejected:
        return None
    return "true is read as 1"
