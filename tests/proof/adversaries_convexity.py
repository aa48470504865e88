"""Forged certificates of the convexity of a data set, and true ones with no room left; all small.

Claims are one-sided, and the checker's own bounds are known here: `tight` certificates claim the doubles next to them, and
a forgery claims a bit or two more. So whatever makes a bound of the checker smaller accepts a forgery, and whatever makes
it larger rejects a tight certificate.
"""

import base64
import copy
import json
import sys
from types import SimpleNamespace

import mpmath as mp
import numpy as np
from cases import exactly, fraction
from flint import arb
from scipy.optimize import least_squares
from scipy.special import erf, expit

from earnshaw.problems import Data
from earnshaw.proof.certificate import build, hexed
from earnshaw.proof.doubles import down, up
from earnshaw.proof.trusted import convexity
from earnshaw.proof.trusted.balls import precision
from earnshaw.proof.trusted.reading import seal

ACTIVATIONS = {"sigmoid": expit, "unit-tanh": lambda z: expit(2 * z), "unit-erf": lambda z: (1 + erf(z)) / 2}
BITS = 2.0**-51


def problem_and_center(activation, rows=25, seed=0):
    """A data set with noisy labels, and the minimiser of its risk to rounding."""
    rng = np.random.default_rng(seed)
    phi, truth = ACTIVATIONS[activation], np.array([[1.5, 0.3], [-0.4, 1.2]])
    x = rng.normal(size=(rows, 2))
    y = np.clip(phi(x @ truth.T).mean(axis=1) + 0.05 * rng.normal(size=rows), 0, 1)
    found = least_squares(lambda w: phi(x @ w.reshape(2, 2).T).mean(axis=1) - y, truth.ravel(), xtol=1e-15, ftol=1e-15)
    return Data(x, y, 2, activation), found.x.reshape(2, 2)


def sealed(document):
    return json.dumps({**document, "sha256": seal(document)}).encode()


class Base:
    """The true certificate of one data set whose claims are the checker's own bounds."""

    def __init__(self, problem, center, shift=1.0):
        shift *= problem.samples * float(np.mean(problem.x**2)) ** 2
        nothing = {"claims": dict.fromkeys(convexity.CLAIMS, 1.0), "hint": {"shift": shift}}
        self.document = dict(build("convexity", problem.to_json(), center, nothing, {}).document)
        self.problem = problem
        read = convexity.Document(problem.activation.name, problem.x, problem.y, center.tolist(), {}, shift)
        with precision(convexity.PRECISION):
            self.sample = convexity.Sample(read)
            change, growth = self.sample.change()
            self.lam, self.eps = down(self.sample.curvature()), up(self.sample.gradient())
            self.change, self.growth = up(change), up(growth)
            self.outer = self.root(self.change, self.growth)
            self.inner = 2 * self.eps / self.lam
        self.good = self.claimed()

    def root(self, change, growth):
        """Nearly the largest R with lambda - L R - G R^2/2 >= 0."""
        lam, change, growth = arb(self.lam), arb(change), arb(growth)
        return down(2 * lam / (change + (change**2 + 2 * growth * lam).sqrt()))

    def gained(self, radius, change=None, growth=None):
        """lambda r - L r^2/2 - G r^3/6, for other L and G if given."""
        change, growth = self.change if change is None else change, self.growth if growth is None else growth
        r = arb(radius)
        return float(arb(self.lam) * r - arb(change) * r**2 / 2 - arb(growth) * r**3 / 6)

    def claimed(self, **edits):
        """The certificate with other claims, sealed."""
        claims = {
            "curvature_ge": self.lam,
            "change_le": self.change,
            "growth_le": self.growth,
            "gradient_le": self.eps,
            "radius": self.outer,
            "minimiser_within": self.inner,
        }
        return sealed({**self.document, "claims": hexed(claims | edits)})

    def edited(self, **edits):
        """The tight certificate with other sections, sealed."""
        return sealed({**json.loads(self.good), **edits})

    def about(self, **edits):
        """The tight certificate with another problem, sealed."""
        return self.edited(problem={**self.document["problem"], **edits})


def packed(numbers):
    return base64.b64encode(np.ascontiguousarray(numbers, dtype="<f8").tobytes()).decode("ascii")


def claim_cases(base):
    """Each inequality and each bound missed, by little."""
    half, more = 0.5 * base.outer, 1 + BITS
    flat = {"growth_le": 8 * base.growth}  # so that the terms with G count
    steep = 1 + 2.0**-12
    with precision(convexity.PRECISION):
        wide, steeper = base.root(base.change, 8 * base.growth), base.root(4 * base.change, 8 * base.growth)
        thin = base.root(base.change, 8 * base.growth / 3)
        only, quarter = base.root(4 * base.change, 0.0), base.root(2 * base.change, 8 * base.growth)
        room = base.gained(half, growth=8 * base.growth)
    bends = {"change_le": 4 * base.change, **flat}
    return {
        "curvature too large": {"curvature_ge": base.lam * more},
        "curvature negative": {"curvature_ge": -base.lam},
        "curvature zero": {"curvature_ge": 0.0},
        "change too small": {"change_le": base.change / more},
        "growth too small": {"growth_le": base.growth / more},
        "gradient too small": {"gradient_le": base.eps / more, "minimiser_within": None},
        "change zero": {"change_le": 0.0},
        "growth zero": {"growth_le": 0.0},
        "change negative": {"change_le": -1.0},
        "growth negative": {"growth_le": -1.0},
        "gradient negative": {"gradient_le": -1.0},
        "radius zero": {"radius": 0.0, "minimiser_within": None},
        "radius negative": {"radius": -base.outer, "minimiser_within": None},
        "radius one bit too large": {"radius": np.nextafter(base.outer, 1)},
        "radius without L": {**bends, "radius": 1.5 * steeper, "minimiser_within": None},
        "radius without G": {**bends, "radius": only, "minimiser_within": None},
        "radius with L/2": {**bends, "radius": quarter, "minimiser_within": None},
        "radius with G/6": {**flat, "radius": thin, "minimiser_within": None},
        "minimiser at the radius": {**flat, "radius": wide, "minimiser_within": wide},
        "minimiser beyond the radius": {**flat, "radius": wide, "minimiser_within": 1.01 * wide},
        "minimiser at zero": {"minimiser_within": 0.0},
        "minimiser far on the other side": {"minimiser_within": -1e6},
        "gradient too large for the minimiser": {**flat, "radius": wide, "gradient_le": room * (1 + 1e-12), "minimiser_within": half},
        "minimiser without L": {
            **flat, "radius": wide, "gradient_le": base.gained(half, change=0.0, growth=8 * base.growth) / steep,
            "minimiser_within": half,
        },
        "minimiser with L/4": {
            **flat, "radius": wide, "minimiser_within": half,
            "gradient_le": base.gained(half, change=base.change / 2, growth=8 * base.growth) / (1 + 1e-9),
        },
        "minimiser without G": {
            **flat, "radius": wide, "gradient_le": base.gained(half, growth=0.0) / (1 + 1e-9), "minimiser_within": half,
        },
        "minimiser with G/12": {
            **flat, "radius": wide, "gradient_le": base.gained(half, growth=4 * base.growth) / (1 + 1e-9),
            "minimiser_within": half,
        },
        "minimiser too near": {"minimiser_within": 0.99 * base.eps / base.lam},
    }  # fmt: skip


def sound_claims(base):
    """Weaker than need be, or at the edge, and true."""
    half = 0.5 * base.outer
    with precision(convexity.PRECISION):
        wide, room = base.root(base.change, 8 * base.growth), base.gained(half, growth=8 * base.growth)
    flat = {"growth_le": 8 * base.growth, "radius": wide}
    return {
        "tight": {},
        "no minimiser": {"minimiser_within": None},
        "a large gradient and no minimiser": {"gradient_le": 1.0, "minimiser_within": None},
        "a weak curvature": {
            "curvature_ge": base.lam / 2,
            "radius": base.outer / 4,
            "minimiser_within": 4 * base.inner,
        },
        "gradient just small enough": {**flat, "gradient_le": room * (1 - 1e-12), "minimiser_within": half},
        "minimiser just inside": {"minimiser_within": base.outer * (1 - 1e-9)},
    }


def data_cases(base):
    """The same claims for other data, another centre, another activation."""
    problem, center = base.problem, np.array([[float.fromhex(w) for w in row] for row in base.document["center"]])
    x, y = problem.x, problem.y

    def moved(array, place, change):
        array = np.array(array)
        array[place] += change
        return array

    others = [name for name in ACTIVATIONS if name != problem.activation.name]
    n, d, k = problem.samples, problem.dimension, problem.neurons
    cases = {
        "an input moved": base.about(x=packed(moved(x, (3, 1), 1e-6))),
        "a label moved": base.about(y=packed(moved(y, 5, 1e-6))),
        "a sign of an input": base.about(x=packed(np.where(np.arange(n * d).reshape(n, d) == 7, -x, x))),
        "labels in another order": base.about(y=packed(y[::-1])),
        "inputs in columns": base.about(x=packed(x.T)),
        "big-endian inputs": base.about(x=base64.b64encode(np.ascontiguousarray(x, dtype=">f8").tobytes()).decode()),
        "a row left out": base.about(n=n - 1, x=packed(x[1:]), y=packed(y[1:])),
        "all inputs zero": base.about(x=packed(np.zeros((n, d)))),
        "center moved": base.edited(center=hexed(center + 1e-6)),
        "center transposed": base.edited(center=hexed(center.T.copy())),
        "equal neurons": base.edited(center=hexed(np.stack([center[0], center[0]]))),
        "center far away": base.edited(center=hexed(1e25 * center)),
        "center too large": base.edited(center=hexed(2.0**101 * center)),
        "one neuron": base.edited(
            center=hexed(center[:1]), problem={**base.document["problem"], "k": 1}
        ),
        "not convex at all": sealed(
            {**json.loads(base.claimed(gradient_le=1.0, minimiser_within=None)), "center": hexed(np.stack([center[0]] * 2))}
        ),
        "a wild shift": base.edited(hint=hexed({"shift": 1e300})),
        "a wild negative shift": base.edited(hint=hexed({"shift": -1.7e308})),
    }  # fmt: skip
    for other in others:
        cases[f"as {other}"] = base.about(objective=f"data/{other}")
    for name, number in {"NaN": np.nan, "inf": np.inf, "huge": 2.0**101}.items():
        cases[f"{name} in x"] = base.about(x=packed(moved(x, (0, 0), number)))
        cases[f"{name} in y"] = base.about(y=packed(moved(y, 0, number)))
    assert k == 2
    return cases


def text_cases(base):
    """Files that are not certificates of this kind, or not quite."""
    document, problem = json.loads(base.good), base.document["problem"]
    text, claims = problem["x"], json.loads(base.good)["claims"]
    assert text.endswith("=")
    loose = text.rstrip("=")
    loose = (
        loose[:-1] + chr(ord(loose[-1]) + 1) + text[len(loose) :]
    )  # other bits behind the last byte, which are not read
    assert base64.b64decode(loose) == base64.b64decode(text)
    assert loose != text
    cases = {
        "base64 not canonical": base.about(x=loose),
        "base64 with a line break": base.about(x="\n" + text[1:]),
        "base64 of another alphabet": base.about(x="-" + text[1:]),
        "base64 without its end": base.about(x=text.rstrip("=")),
        "base64 of one number more": base.about(x=packed(np.append(base.problem.x.ravel(), 0.0))),
        "base64 padded within": base.about(y="====" + problem["y"][4:]),
        "y no string": base.about(y=[problem["y"]]),
        "x null": base.about(x=None),
        "n as a bool": base.about(n=True),
        "n as a string": base.about(n="25"),
        "n zero": base.about(n=0),
        "n too large": base.about(n=300_001),
        "n * k too large": base.about(n=200_000),
        "d too large": base.about(d=61),
        "d zero": base.about(d=0),
        "k beyond d": base.about(k=3),
        "an unknown activation": base.about(objective="data/relu"),
        "another network": base.about(objective="two-layer/relu"),
        "objective a list": base.about(objective=["data/sigmoid"]),
        "problem with a seed": base.about(seed=0),
        "problem without y": base.edited(problem={key: problem[key] for key in problem if key != "y"}),
        "another kind": base.edited(kind="minimum"),
        "kind convnet": base.edited(kind="convnet"),
        "no hint": sealed({key: document[key] for key in document if key != "hint"}),
        "hint empty": base.edited(hint={}),
        "hint with more": base.edited(hint={**document["hint"], "precision": 128}),
        "shift null": base.edited(hint={"shift": None}),
        "shift NaN": base.edited(hint={"shift": "nan"}),
        "extra key": base.edited(R_unique=claims["radius"]),
        "extra claim": base.edited(claims={**claims, "more": claims["radius"]}),
        "missing claim": base.edited(claims={key: claims[key] for key in claims if key != "growth_le"}),
        "center ragged": base.edited(center=[document["center"][0], document["center"][1][:1]]),
        "center not canonical": base.edited(center=[["0x1p+0", "0x0.0p+0"]] * 2),
        "not sealed again": base.good.replace(b"earnshaw.proof", b"someone"),
        "truncated": base.good[:-9],
        "longer than the large limit": base.good + b" " * (1 << 25),
        "large for its many parts": base.edited(meta={"remark": "," * (1 << 20)}),
    }  # fmt: skip
    for name in convexity.CLAIMS:
        if name != "minimiser_within":
            cases[f"{name} null"] = base.edited(claims={**claims, name: None})
        cases[f"{name} infinite"] = base.edited(claims={**claims, name: "inf"})
        cases[f"{name} decimal"] = base.edited(claims={**copy.deepcopy(claims), name: 0.5})
    return cases


def outsized():
    """Honest claims about data that a certificate may not hold: numbers too large, or too few rows for the weights."""
    problem, center = problem_and_center("sigmoid")
    few = Data(np.array([[1.0, 0.2], [0.3, 1.0], [1.0, 1.0], [0.8, 0.4]]), np.ones(4), 2)
    weights, huge = np.array([[1.0, 0.1], [0.1, 1.0]]), 2.0**101
    object.__setattr__(few, "x", few.x[:3])  # which Data itself refuses
    object.__setattr__(few, "y", few.y[:3])
    return {
        "huge inputs": Base(Data(huge * problem.x, problem.y, 2), center / huge).claimed(minimiser_within=None),
        "huge weights": Base(Data(problem.x / huge, problem.y, 2), huge * center).claimed(minimiser_within=None),
        "fewer rows than weights": Base(few, weights).claimed(minimiser_within=None),
    }


def everything():
    """Return (must be rejected, must be accepted), by name."""
    bad, good = {}, {}
    for activation in ACTIVATIONS:
        base = Base(*problem_and_center(activation))
        bad |= {f"{activation}: {name}": base.claimed(**edit) for name, edit in claim_cases(base).items()}
        good |= {f"{activation}: {name}": base.claimed(**edit) for name, edit in sound_claims(base).items()}
        if activation == "sigmoid":
            bad |= {f"data: {name}": data for name, data in data_cases(base).items()}
            bad |= {f"text: {name}": data for name, data in text_cases(base).items()}
    shifted = Base(*problem_and_center("sigmoid"), shift=1e6)
    good["shifted: tight"] = shifted.good
    bad["shifted: growth too small"] = shifted.claimed(growth_le=shifted.growth / (1 + BITS))
    bad |= {f"outsized: {name}": data for name, data in outsized().items()}
    return bad, good


class Misled:
    """NumPy with bad guesses: an eigenvalue that is too large, and a factor that is none."""

    def __init__(self):
        self.linalg = SimpleNamespace(
            eigvalsh=lambda matrix: np.linalg.eigvalsh(matrix) + 1.0,
            cholesky=lambda matrix: np.eye(len(matrix)),
            LinAlgError=np.linalg.LinAlgError,
        )

    def __getattr__(self, name):
        return getattr(np, name)


def sums_hold(sums):
    """Call the sums of a (mutated) checker where certificates cannot reach; say what is wrong, or None."""
    with precision(128):
        tiny = np.array([[2.0**-540, 2.0**-530]])
        if not sums.size(tiny) ** 2 >= arb(2) ** -1060 + arb(2) ** -1080:
            return "an underflow is overlooked in a length"
        if not sums.slip(tiny, np.array([2.0**-600]), arb(0)) >= arb(2) ** -1130:
            return "an underflow is overlooked in a product"
        matrix = sums.Near(np.array([[2.0, 1.0], [1.0, 2.0]]), arb(0.25))
        if not (arb(0.7) < sums.least(matrix) <= 0.75 and arb(3.25) <= sums.greatest(matrix) < 3.3):
            return "an eigenvalue is wrong"
        sums.np = Misled()
        try:
            if not sums.least(matrix) <= 0.75:
                return "a guess is believed"
        finally:
            sums.np = np
    return None


def rounding_counts(convexity):
    """Make the roundings that a (mutated) checker remembers large: every bound must become worse."""
    problem, center = problem_and_center("sigmoid")
    read = convexity.Document("sigmoid", problem.x, problem.y, center.tolist(), {}, 0.0)
    with precision(128):
        sample = convexity.Sample(read)
        curvature, change = sample.curvature(), sample.change()[0]
        for kind in (0, 1, 2):
            sample.off = [arb(1e-3) if other == kind else arb(0) for other in (0, 1, 2)]
            if not (sample.change()[0] > change * 1.0001 if kind == 2 else sample.curvature() < curvature * 0.99):
                return f"roundings of kind {kind} do not count"
    return None


def a_true_one():
    return Base(*problem_and_center("sigmoid")).good


WORDS = (
    "strictly convex risk of a data set (n = 25, d = 2, K = 2, {activation}): the Hessian is >= # I at the center and positive "
    "definite nearer than # to it, where there is at most one stationary point"
)


def sentences(said):
    """For each activation cases that compare the sentence, number by number, with its certificate."""
    cases = {}
    for activation in ACTIVATIONS:
        base = Base(*problem_and_center(activation))
        words, numbers = WORDS.format(activation=activation), [(base.lam, False), (base.outer, False)]
        inside, within = [*numbers, (base.inner, True)], "; a strict minimum lies within # of the center"
        alone = base.claimed(minimiser_within=None)
        cases[f"sentence: convexity {activation}"] = lambda c, d=base.good, w=words + within, n=inside: said(
            c.check_bytes(d)[2], w, n
        )
        cases[f"sentence: convexity {activation}, no minimiser"] = lambda c, d=alone, w=words, n=numbers: said(
            c.check_bytes(d)[2], w, n
        )
    return cases


PHI = {
    "sigmoid": lambda z: 1 / (1 + mp.exp(-z)),
    "unit-tanh": lambda z: (1 + mp.tanh(z)) / 2,
    "unit-erf": lambda z: (1 + mp.erf(z)) / 2,
}
SIZES = {
    "sigmoid": (2 / mp.mpf(8), 1 / (6 * mp.sqrt(3)), mp.mpf(1) / 8),
    "unit-tanh": (mp.mpf(1) / 2, 2 / (3 * mp.sqrt(3)), mp.mpf(1)),
    "unit-erf": (1 / mp.sqrt(mp.pi), mp.sqrt(2 / (mp.e * mp.pi)), 2 / mp.sqrt(mp.pi)),
}


class Precise:
    """The numbers of the theorem for one data set, from their definitions at 30 digits."""

    def __init__(self, activation, x, y, center, shift):
        n, d, k = len(x), x.shape[1], len(center)
        rows = mp.matrix(x.tolist())
        inputs = rows * mp.matrix(center.tolist()).T
        towers = [
            [[mp.diff(PHI[activation], inputs[i, j], order) for order in (0, 1, 2)] for j in range(k)] for i in range(n)
        ]
        errors = [mp.fsum(t[0] for t in tower) / k - mp.mpf(float(y[i])) for i, tower in enumerate(towers)]
        gradient, hessian = mp.matrix(k * d, 1), mp.matrix(k * d)
        for i, tower in enumerate(towers):
            pull = mp.matrix([t[1] * rows[i, a] for t in tower for a in range(d)])
            gradient += errors[i] * pull / (n * k)
            hessian += pull * pull.T / (n * k**2)
            for j, t in enumerate(tower):
                for a in range(d):
                    for b in range(d):
                        hessian[j * d + a, j * d + b] += errors[i] * t[2] * rows[i, a] * rows[i, b] / (n * k)
        self.slopes = [[t[1] for t in tower] for tower in towers]
        self.bends = [[errors[i] * t[2] for t in tower] for i, tower in enumerate(towers)]
        self.squares = [[e**2] for e in errors]
        self.gradient, self.curvature = mp.norm(gradient, 2), mp.eigsy(hessian, eigvals_only=True)[0]
        second, weighted = mp.matrix(d), mp.matrix(d)
        size = d * (d + 1) // 2
        fourth = mp.matrix(size)
        for i in range(n):
            row = rows[i, :]
            second += row.T * row / n
            weighted += errors[i] ** 2 * (row.T * row) / n
            pairs = [(row[a] * row[b] * (1 if a == b else mp.sqrt(2))) for a in range(d) for b in range(a, d)]
            fourth += mp.matrix(pairs) * mp.matrix(pairs).T
        unit = mp.matrix([1 if a == b else 0 for a in range(d) for b in range(a, d)])
        top = mp.eigsy(fourth - mp.mpf(shift) * unit * unit.T, eigvals_only=True)[size - 1]
        self.fourth = (top + mp.mpf(shift)) / n
        s2, se = (mp.eigsy(matrix, eigvals_only=True)[d - 1] for matrix in (second, weighted))
        c1, c2, c3 = SIZES[activation]
        self.change = 3 * c1 * c2 * mp.sqrt(s2 * self.fourth) / mp.mpf(k) ** 1.5 + c3 * mp.sqrt(se * self.fourth) / k
        self.growth = c1 * c3 * self.fourth / mp.mpf(k) ** 1.5


def exact_sizes(activation):
    """c1, c2, c3 at 60 digits."""
    with mp.workdps(60):
        if activation == "unit-erf":
            return 1 / mp.sqrt(mp.pi), mp.sqrt(2 / (mp.e * mp.pi)), 2 / mp.sqrt(mp.pi)
        rate = mp.mpf(2 if activation == "unit-tanh" else 1)
        return rate / 4, rate**2 / (6 * mp.sqrt(3)), rate**3 / 8


def _side(ball, number):
    """An exact ball less a number of mpmath."""
    return fraction(ball) - exactly(number)


def coarse():
    """Cases: a radius and a minimiser that are a little too far, at so few bits that only whole balls tell."""
    base = Base(*problem_and_center("sigmoid"))
    lam, change, growth, eps = 0.9 * base.lam, 1.1 * base.change, 1.1 * base.growth, 1.1 * base.eps + 1e-9
    outer = 2 * lam / (change + (change**2 + 2 * growth * lam) ** 0.5)
    inner = outer / 2
    gained = lam * inner - change * inner**2 / 2 - growth * inner**3 / 6
    claims = {"curvature_ge": lam, "change_le": change, "growth_le": growth, "gradient_le": eps}
    edits = {
        "true": {**claims, "radius": 0.999 * outer, "minimiser_within": inner},
        "radius": {**claims, "radius": outer * (1 + 1e-13), "minimiser_within": None},
        "minimiser": {
            **claims,
            "gradient_le": gained * (1 + 1e-13),
            "radius": 0.999 * outer,
            "minimiser_within": inner,
        },
    }

    def case(name, data):
        def right(checker):
            convexity = sys.modules[f"{checker.__name__}.convexity"]
            with sys.modules[f"{checker.__name__}.balls"].precision(40):
                try:
                    convexity._check(convexity.parse(data, 1.0))
                except checker.Rejected:
                    return name != "true"
            return name == "true"

        return right

    return {f"coarse: convexity {name}": case(name, base.claimed(**edit)) for name, edit in edits.items()}


def limits_hold(checker, again):
    """Numbers at the ends of what a data set may hold, and the smallest one."""
    convexity = sys.modules[f"{checker.__name__}.convexity"]

    def refused(function, *arguments):
        try:
            function(*arguments)
        except checker.Rejected:
            return True
        return False

    whole = json.loads(a_true_one())
    most = 2.0**100
    beyond = float(np.nextafter(most, np.inf))
    line = {**whole["problem"], "n": 1, "d": 1, "k": 1, "x": packed(np.array([1.0])), "y": packed(np.array([0.5]))}
    small = convexity.parse(again(whole, problem=line, center=[[most.hex()]]), 1.0)
    return (
        convexity.doubles(packed(np.array([most, -most])), 2, "x").tolist() == [most, -most]
        and refused(convexity.doubles, packed(np.array([beyond])), 1, "x")
        and refused(convexity.doubles, packed(np.array([-beyond])), 1, "x")
        and refused(convexity.doubles, packed(np.array([1.0, 2.0])), 1, "x")
        and refused(convexity.doubles, "\u00e9" * 12, 1, "x")
        and small.center == [[most]]
        and refused(convexity.parse, again(whole, problem=line, center=[[beyond.hex()]]), 1.0)
        and refused(convexity.parse, again(whole, problem=line, center=[[(-beyond).hex()]]), 1.0)
        and all(
            refused(convexity.parse, again(whole, problem={**line, name: 0}, center=[["0x1.0000000000000p+0"]]), 1.0)
            for name in "ndk"
        )
    )


def quantities():
    """Data sets with one, two and three neurons, some with more rows than a block, and their numbers."""
    rng = np.random.default_rng(8)
    for activation, n, d, k in (
        ("sigmoid", 9, 3, 3),
        ("unit-tanh", 12, 2, 1),
        ("unit-erf", 1040, 2, 2),
        ("sigmoid", 30, 1, 1),
    ):
        x, center = rng.normal(size=(n, d)) * 2.0, rng.normal(size=(k, d))
        y, shift = rng.random(n), 0.7 * n
        with mp.workdps(30):
            yield activation, x, y, center, shift, Precise(activation, x, y, center, shift)


def quantities_hold():
    """A case: every bound of a sample is on its side of the number, and near it."""
    known = list(quantities())

    def right(checker):
        convexity = sys.modules[f"{checker.__name__}.convexity"]
        balls = sys.modules[f"{checker.__name__}.balls"]
        for bits in (24, 30, 64):  # at any precision a bound is on its side; with few bits a wrong side shows
            with balls.precision(bits):
                for activation, x, y, center, shift, true in known:
                    sample = convexity.Sample(convexity.Document(activation, x, y, center.tolist(), {}, shift))
                    change, growth = sample.change()
                    rounded = (sample.slopes, sample.bends, sample.squares[:, None])
                    exact = (true.slopes, true.bends, true.squares)
                    for kind, (doubles, numbers) in enumerate(zip(rounded, exact, strict=True)):
                        miss = max(
                            abs(_side(arb(float(doubles[i, j])), row[j]))
                            for i, row in enumerate(numbers)
                            for j in range(len(row))
                        )
                        if not miss <= fraction(sample.off[kind]):
                            return False
                    above = [(sample.gradient(), true.gradient), (change, true.change), (growth, true.growth)]
                    if not all(ball.is_exact() and _side(ball, number) >= 0 for ball, number in above):
                        return False
                    if not (
                        _side(sample.fourth_moment(), true.fourth) >= 0 >= _side(sample.curvature(), true.curvature)
                    ):
                        return False
                    for c, bound in zip(exact_sizes(activation), convexity.bounds(activation), strict=True):
                        if not abs(_side(bound.mid(), c)) <= fraction(bound.rad()):
                            return False
        with balls.precision(128):
            for activation, x, y, center, shift, true in known:
                sample = convexity.Sample(convexity.Document(activation, x, y, center.tolist(), {}, shift))
                change, growth = sample.change()
                pairs = [
                    (sample.gradient(), true.gradient, 1, 1e-15),
                    (sample.curvature(), true.curvature, -1, 1e-11),
                    (sample.fourth_moment(), true.fourth, 1, 1e-11),
                    (change, true.change, 1, 1e-11),
                    (growth, true.growth, 1, 1e-11),
                ]
                for ball, number, side, room in pairs:
                    truth = arb(mp.nstr(number, 26))
                    gap, scale = side * (ball - truth), abs(truth) + (1 if room > 1e-12 else 0)
                    if not (ball.is_exact() and gap >= -1e-22 * scale and gap <= room * scale):
                        return False
                for z in (-30.0, -2.5, -0.3, 0.0, 0.7, 4.0, 50.0):
                    tower = convexity.ACTIVATIONS[activation](arb(z, 1e-3))
                    for order, ball in enumerate(tower):
                        for at in (z - 1e-3, z, z + 1e-3):
                            with mp.workdps(30):
                                number = arb(mp.nstr(mp.diff(PHI[activation], mp.mpf(at), order), 25))
                            if not abs(number - ball.mid()) <= ball.rad() + 1e-18:
                                return False
                        exact = convexity.ACTIVATIONS[activation](arb(z))[order]
                        if not exact.rad() < 1e-30 + 1e-30 * abs(exact):
                            return False
                for c, bound in zip(SIZES[activation], convexity.bounds(activation), strict=True):
                    with mp.workdps(40):
                        if not (abs(arb(mp.nstr(c, 36)) - bound) < 1e-15 and bound.rad() < 1e-30):
                            return False
        return True

    return right
