"""Forged certificates of the convolutional network: no number in one can be altered unnoticed."""

import copy
import json
import math
import sys

import mpmath as mp
import numpy as np
from flint import arb

from earnshaw.problems.convnet import ConvNet
from earnshaw.proof import prove
from earnshaw.proof.trusted.reading import seal


def threshold(k):
    return math.sqrt((k + math.pi - 1) / math.pi)


def instance(ratio, p=3, k=5, seed=0):
    """A teacher with a given S/|a*|."""
    rng = np.random.default_rng(seed)
    contrast = rng.normal(size=k)
    contrast -= contrast.mean()
    contrast *= math.sqrt(max(1 - ratio**2 / k, 0)) / np.linalg.norm(contrast)
    return ConvNet(0.8 * rng.normal(size=p), 1.2 * (ratio / k + contrast))


PROBLEMS = {
    "minimum": instance(0.7),
    "no minimum": instance(2.1),
    "one output weight": ConvNet([1.0, -2.0], [0.3]),
    "no sum": ConvNet([1.0, 0.0], [1.0, -1.0]),
    "just below": instance(threshold(5) - 1e-9),
    "just above": instance(threshold(5) + 1e-9),
}


def sealed(document):
    return json.dumps({**document, "sha256": seal(document)}).encode()


def reference(problem):
    """Solve the paper's system (Lemma 4.1) and evaluate the loss at the antipode, in mpmath."""
    with mp.workdps(60):
        k, b = problem.patches, [mp.mpf(float(x)) for x in problem.output_weights]
        size = mp.sqrt(mp.fsum(mp.mpf(float(x)) ** 2 for x in problem.filter))
        matrix = mp.ones(k, k) + (mp.pi - 1) * mp.eye(k)
        total = mp.fsum(b)
        a = list(mp.lu_solve(matrix, mp.matrix([size * (total - x) for x in b])))
        squares = mp.fsum(x * x for x in a) + size**2 * mp.fsum(x * x for x in b)
        loss = (mp.fsum(a) - size * total) ** 2 + (mp.pi - 1) * squares + 2 * size * mp.fdot(a, b)
        return a, loss / (4 * mp.pi)


def altered(number):
    """Doubles that are not this one: next to it, off by 1e-9, of the other sign, 0, 1."""
    value = float.fromhex(number)
    others = [math.nextafter(value, math.inf), math.nextafter(value, -math.inf), value * (1 + 1e-9), -value, 0.0, 1.0]
    return [other.hex() for other in others if other.hex() != number]


def forgeries(document):
    """Every number altered and the file sealed again, by name."""
    found = {}
    for key, value in document["claims"].items():
        for index, other in enumerate(altered(value) if value else ["0x0.0p+0", "0x1.0p+0", "0x1.8p+0"]):
            found[f"{key} {index}"] = {**document, "claims": {**document["claims"], key: other}}
        found[f"{key} null"] = {**document, "claims": {**document["claims"], key: None}} if value else None
    for index, other in enumerate(altered(document["R_enclosure"])):
        found[f"radius {index}"] = {**document, "R_enclosure": other}
    for place, value in enumerate(document["center"]):
        for index, other in enumerate(altered(value)):
            center = [*document["center"][:place], other, *document["center"][place + 1 :]]
            found[f"center {place} {index}"] = {**document, "center": center}
    for name in ("filter", "output_weights"):
        for place, value in enumerate(document["problem"][name]):
            number = float.fromhex(value)
            # no change of sign alone: the filter counts by its length, and -a* has the mirror image of a certificate
            for index, other in enumerate((number + 1e-6, number * 1.5 + 0.1, 0.0 if number else 2.0)):
                problem = copy.deepcopy(document["problem"])
                problem[name][place] = other.hex()
                found[f"{name} {place} {index}"] = {**document, "problem": problem}
    for name in ("p", "k"):
        for other in (0, 1, 2, 3, 5, True, "3", None, 10**8):
            if other != document["problem"][name] or other is True:
                found[f"{name} {other!r}"] = {**document, "problem": {**document["problem"], name: other}}
    return {name: sealed(forged) for name, forged in found.items() if forged is not None}


def conspiracies(document):
    """Several numbers altered together, so that they fit each other."""
    claims = document["claims"]
    for name in ("margin", "F", "product", "barrier", "angle"):
        if claims[f"{name}_ge"] is None:
            continue
        low, high = (float.fromhex(claims[f"{name}_{side}"]) for side in ("ge", "le"))
        for pair in ((math.nextafter(low, -math.inf), low), (high, math.nextafter(high, math.inf)), (low, low)):
            if pair != (low, high):
                pair = dict(zip((f"{name}_ge", f"{name}_le"), (x.hex() for x in pair), strict=True))
                yield sealed({**document, "claims": {**claims, **pair}})
    location, _ = reference(ConvNet.from_json(document["problem"]))
    for end in (-math.inf, math.inf):  # an entry of the center moved, and the radius with it
        center = [float.fromhex(x) for x in document["center"]]
        center[0] = math.nextafter(center[0], end)
        with mp.workdps(60):
            distance = mp.sqrt(mp.fsum((x - c) ** 2 for x, c in zip(location, center, strict=True)))
            radius = float(distance)
            radius = radius if radius >= distance else math.nextafter(radius, 1)
        yield sealed({**document, "center": [c.hex() for c in center], "R_enclosure": radius.hex()})
    # a filter of length 0 makes most numbers 0
    p, k, zero = document["problem"]["p"], document["problem"]["k"], "0x0.0p+0"
    step = 2 * math.pi / (k + math.pi - 1)
    for shorter in (step, math.nextafter(step, 0), math.nextafter(step, 9)):
        nothing = {f"{name}_{side}": zero for name in ("F", "product", "barrier") for side in ("ge", "le")}
        forged = {**document, "problem": {**document["problem"], "filter": [zero] * p}, "center": [zero] * k}
        yield sealed({**forged, "R_enclosure": zero, "claims": {**claims, **nothing, "step_le": shorter.hex()}})
    # true numbers, but a filter that cannot turn
    alone = ConvNet(
        [float.fromhex(document["problem"]["filter"][0]), 0.0], ConvNet.from_json(document["problem"]).output_weights
    )
    fixed = {**document["problem"], "p": 1, "filter": document["problem"]["filter"][:1]}
    yield sealed({**prove(alone).main.document, "problem": fixed})


def malformed(document):
    text = json.dumps({**document, "sha256": seal(document)})
    yield "not sealed again", text.replace("earnshaw.proof", "someone").encode()
    yield "truncated", text[:-20].encode()
    yield "decimal", sealed({**document, "R_enclosure": 0.5})
    yield "not canonical", sealed({**document, "R_enclosure": "0x2.0p+0"})
    yield "infinite", sealed({**document, "R_enclosure": "inf"})
    yield "another kind", sealed({**document, "kind": "minimum"})
    yield "unknown kind", sealed({**document, "kind": "theorem"})
    yield "another objective", sealed({**document, "problem": {**document["problem"], "objective": "two-layer/relu"}})
    yield "extra key", sealed({**document, "hint": {}})
    yield "extra claim", sealed({**document, "claims": {**document["claims"], "more": "0x1.0p+0"}})
    yield (
        "missing claim",
        sealed({**document, "claims": {key: x for key, x in document["claims"].items() if key != "F_ge"}}),
    )
    yield "missing center", sealed({key: value for key, value in document.items() if key != "center"})
    yield "center too short", sealed({**document, "center": document["center"][:-1]})
    yield "center no list", sealed({**document, "center": "0x1.0p+0"})
    yield (
        "filter too short",
        sealed({**document, "problem": {**document["problem"], "filter": document["problem"]["filter"][1:]}}),
    )
    zero = ["0x0.0p+0"] * document["problem"]["k"]
    yield "no output weights", sealed({**document, "problem": {**document["problem"], "output_weights": zero}})
    nothing = ["0x0.0p+0"] * document["problem"]["p"]
    yield "no filter", sealed({**document, "problem": {**document["problem"], "filter": nothing}})


def everything():
    """Return (must be rejected, must be accepted), by name."""
    documents = {name: dict(prove(problem).main.document) for name, problem in PROBLEMS.items()}
    bad = {
        f"{which}: {name}": data for which, document in documents.items() for name, data in forgeries(document).items()
    }
    bad |= {
        f"{which}: together {i}": data
        for which, document in documents.items()
        for i, data in enumerate(conspiracies(document))
    }
    bad |= {f"malformed: {name}": data for name, data in malformed(documents["minimum"])}
    return bad, {name: sealed(document) for name, document in documents.items()}


def a_true_one():
    return sealed(dict(prove(PROBLEMS["minimum"]).main.document))


STEP = "gradient descent with a step of at most # from |v| >= 1 and F below "
POINT = "with filter against the teacher's and output weights within # of center"
NONE = (
    f"no spurious local minimum {{shape}}: the point {POINT} is stationary but no minimum, # <= F <= #; every other stationary "
    f"point is a global minimum; {STEP}# converges to one unless the filter starts exactly against the teacher's"
)
SOME = (
    f"spurious local minimum {{shape}}, {POINT}, # <= F <= # while min F = 0; strict saddles at the angle # to # with # <= "
    f"barrier <= #; {STEP}the barrier converges to the spurious minimum if a.a* < 0, and otherwise to a global one"
)


def sentences(said):
    """For each problem a case that compares its sentence, number by number, with its certificate."""
    cases = {}
    for name, problem in PROBLEMS.items():
        document = dict(prove(problem).main.document)
        claims = {key: None if x is None else float.fromhex(x) for key, x in document["claims"].items()}
        shape = f"of the convolutional network (p = {document['problem']['p']}, k = {document['problem']['k']})"
        start = [(float.fromhex(document["R_enclosure"]), True), (claims["F_ge"], False), (claims["F_le"], True)]
        if claims["angle_ge"] is None:
            words, numbers = NONE, [*start, (claims["step_le"], False), (claims["barrier_ge"], False)]
        else:
            pairs = [(claims[f"{key}_{side}"], side == "le") for key in ("angle", "barrier") for side in ("ge", "le")]
            words, numbers = SOME, [*start, *pairs, (claims["step_le"], False)]
        data, words = sealed(document), words.format(shape=shape)
        cases[f"sentence: convnet {name}"] = lambda c, d=data, w=words, n=numbers: said(c.check_bytes(d)[2], w, n)
    return cases


def few_bits(checker):
    """At any precision the numbers of a teacher are enclosed, and no altered certificate passes; 30 bits show a wrong side."""
    convnet, balls = (sys.modules[f"{checker.__name__}.{name}"] for name in ("convnet", "balls"))
    for problem in PROBLEMS.values():
        document = dict(prove(problem).main.document)
        true = {key: None if x is None else float.fromhex(x) for key, x in document["claims"].items()}
        location, _ = reference(problem)
        filter, outputs = problem.filter.tolist(), problem.output_weights.tolist()
        with balls.precision(30):
            teacher = convnet.Teacher(filter, outputs)
            found = {"F": teacher.spurious_value(), "product": teacher.product(), "barrier": teacher.barrier()}
            for name, ball in found.items():
                low, high = true[f"{name}_ge"], true[f"{name}_le"]
                if not (ball.lower() <= high and ball.upper() >= low and (low == high or ball.rad() > 0)):
                    return False
            for ball, number in zip(teacher.spurious_outputs(), location, strict=True):
                close = arb(mp.nstr(number, 40))
                if not (ball.lower() <= close and ball.upper() >= close and (ball.rad() > 0 or ball.is_zero())):
                    return False
            most = 1 / teacher.smoothness()
            if not (most.lower() <= true["step_le"] <= most.upper() and most.rad() > 0):
                return False
            for angle in (0.3, 1.7, 3.0):
                ball, number = convnet.overlap(arb(angle)), (mp.pi - angle) * mp.cos(angle) + mp.sin(angle)
                if not (abs(ball.mid() - float(number)) <= ball.rad() + 1e-14 and ball.rad() > 0):
                    return False
            for data in [*forgeries(document).values(), *conspiracies(document)]:
                try:
                    convnet._check(convnet.parse(data, 1.0))
                except checker.Rejected:
                    continue
                return False
    return True
