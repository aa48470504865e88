"""Certificates of the convolutional network: true ones verify, and no number in one can be altered unnoticed."""

import copy
import importlib
import json
import math
import shutil
import subprocess
import sys
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest

import earnshaw.proof.trusted as trusted
from earnshaw.errors import InputError
from earnshaw.problems.convnet import ConvNet
from earnshaw.proof import Verdict, check, explain, prove
from earnshaw.proof.trusted import check_bytes
from earnshaw.proof.trusted.reading import seal

FOLDER = Path(trusted.__file__).parent


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


@pytest.fixture(scope="module")
def documents():
    return {name: dict(prove(problem).main.document) for name, problem in PROBLEMS.items()}


def sealed(document):
    return json.dumps({**document, "sha256": seal(document)}).encode()


def test_true_certificates_are_verified():
    for name, problem in PROBLEMS.items():
        proof = prove(problem)
        result = check(proof)
        assert result.verified, (name, result.reason)
        assert result.kind == "convnet"
        expected = Verdict.PROVED_MINIMUM if name in ("minimum", "no sum", "just below") else Verdict.PROVED_SADDLE
        assert proof.verdict is expected, name
        assert result.statement.startswith("spurious" if expected is Verdict.PROVED_MINIMUM else "no spurious")


@pytest.mark.parametrize("k", [2, 5, 25])
def test_the_condition_on_a_grid_that_straddles_it(k):
    """Proofs on both sides, and the location and value against 60 digits of the paper's linear system."""
    for index, shift in enumerate((-0.5, -1e-2, -1e-6, -1e-12, 1e-12, 1e-6, 1e-2)):
        problem = instance(threshold(k) + shift, k=k, seed=index)
        proof = prove(problem)
        assert proof.verdict is (Verdict.PROVED_MINIMUM if shift < 0 else Verdict.PROVED_SADDLE), shift
        assert check(proof).verified
        assert (
            (proof.claim.margin[0] > 0)
            == (shift < 0)
            == (proof.claim.product[1] < 0)
            == (proof.claim.saddle_angle is not None)
        )
        if k < 25:
            location, value = reference(problem)
            assert [float(x) for x in location] == list(proof.point.weights)
            assert proof.claim.value[0] <= value <= proof.claim.value[1]


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


def test_the_saddle_angle_and_the_barrier():
    proof = prove(PROBLEMS["minimum"])
    low, high = proof.claim.saddle_angle
    assert math.nextafter(low, 4) == high
    problem = PROBLEMS["minimum"]
    k, S, A = 5, problem.total, float(problem.output_weights @ problem.output_weights)
    away = A - S**2 / k
    share = away / (math.pi - 1) + S**2 / (k * (k + math.pi - 1))
    assert (math.pi - low) * math.cos(low) + math.sin(low) == pytest.approx(
        1 - S**2 / (k + math.pi - 1) / share, rel=1e-13
    )
    W2 = float(problem.filter @ problem.filter)
    assert proof.claim.barrier[0] == pytest.approx(W2 * A**2 / (4 * math.pi * share), rel=1e-13)
    assert proof.claim.value[1] < proof.claim.barrier[0]


def test_too_little_precision_is_inconclusive():
    """Doubles next to the condition: 64 bits cannot tell, 256 can; what is undecided is never rounded up."""
    x = 0.16340454652043648  # (1 + x)^2 pi = (1 + pi)(1 + x^2), to rounding
    for weight in (x, math.nextafter(x, 0), math.nextafter(x, 1)):
        problem = ConvNet([1.0, 0.0], [1.0, weight])
        coarse = prove(problem, precision=48)
        assert coarse.verdict is Verdict.INCONCLUSIVE
        assert "margin" in coarse.reason
        assert "48 bits" in coarse.reason
        assert coarse.main is None
        with pytest.raises(InputError, match="no certificate"):
            coarse.save("nowhere.json")
        fine = prove(problem)
        assert fine.verdict is not Verdict.INCONCLUSIVE
        assert check(fine).verified


def test_what_cannot_be_proved_is_refused():
    with pytest.raises(InputError, match="p >= 2"):
        prove(ConvNet([1.0], [1.0, 2.0]))
    with pytest.raises(InputError, match="32 to 4096"):
        prove(PROBLEMS["minimum"], precision=8)


def altered(number):
    """Doubles that are not this one: next to it, off by 1e-9, of the other sign, 0, 1."""
    value = float.fromhex(number)
    others = [math.nextafter(value, math.inf), math.nextafter(value, -math.inf), value * (1 + 1e-9), -value, 0.0, 1.0]
    return [other.hex() for other in others if other != value]


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


def test_conspiracies_are_rejected(documents):
    for which, document in documents.items():
        for index, data in enumerate(conspiracies(document)):
            accepted, _, reason = check_bytes(data)
            assert not accepted, (which, index)
            assert "the check stopped" not in reason


def test_no_number_can_be_altered(documents):
    count = 0
    for which, document in documents.items():
        for name, data in forgeries(document).items():
            accepted, kind, reason = check_bytes(data)
            assert not accepted, (which, name)
            assert kind is None
            assert len(reason) > 10
            assert "the check stopped" not in reason, (which, name, reason)
            count += 1
    assert count > 500


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


def test_malformed_documents_are_rejected(documents):
    for name, data in malformed(documents["minimum"]):
        accepted, _, reason = check_bytes(data)
        assert not accepted, name
        assert "the check stopped" not in reason, (name, reason)


def test_one_kind_does_not_pass_for_another(documents):
    """The claims of a teacher without a spurious minimum, put under one with it, and the other way round."""
    for first, second in (("minimum", "no minimum"), ("no minimum", "minimum"), ("just below", "just above")):
        swapped = {**documents[first], "problem": documents[second]["problem"]}
        assert not check_bytes(sealed(swapped))[0]


# Left out: the kind (the dispatcher looks at it first), nulls and zero output weights, each caught twice.
MUTANTS = {
    "any sign of the margin": ("if teacher.margin > 0:", "if True:"),
    "no margin is positive": ("if teacher.margin > 0:", "if False:"),
    "angles without saddles": ("require(angles == (None, None),", "require(True,"),
    "angles far apart": ("0 < low < high <= nextafter(low, inf) and arb(high) < arb.pi()", "True"),
    "angle_ge not compared": ("require(overlap(arb(low)) > teacher.turning,", "require(True,"),
    "angle_le not compared": ("require(overlap(arb(high)) < teacher.turning,", "require(True,"),
    "center not compared": ("        _nearest(exact, double)\n", ""),
    "center may be too large": ("require(2 * exact > below + double,", "require(True,"),
    "center may be too small": ("require(2 * exact < above + double,", "require(True,"),
    "radius not compared": ("    _radius(distance, document.radius)\n", ""),
    "radius may be negative": ("require(radius >= 0,", "require(True,"),
    "radius may be small": ("require(square <= arb(radius) ** 2,", "require(True,"),
    "radius may be large": ("require(arb(nextafter(radius, 0)) ** 2 < square,", "require(True,"),
    "step may be long": ("require(arb(step) <= most,", "require(True,"),
    "step may be short": ("require(arb(nextafter(step, inf)) > most,", "require(True,"),
    "margin not compared": ('    _tight(document, "margin", teacher.margin)\n', ""),
    "F not compared": ('    _tight(document, "F", teacher.spurious_value())\n', ""),
    "product not compared": ('    _tight(document, "product", teacher.product())\n', ""),
    "barrier not compared": ('    _tight(document, "barrier", teacher.barrier())\n', ""),
    "equal bounds pass": ("require(ball == arb(low),", "require(True,"),
    "lower bounds may be high": ("require(arb(low) < ball,", "require(True,"),
    "upper bounds may be low": ("require(ball < arb(high),", "require(True,"),
    "bounds may be loose": ("require(high <= nextafter(low, inf),", "require(True,"),
    "zero filter": ("require(length > 0,", "require(True,"),
    "any objective": ('require(problem["objective"] == OBJECTIVE,', "require(True,"),
    "p = 1 passes": ('"problem.p", 2, MAX_WEIGHTS', '"problem.p", 1, MAX_WEIGHTS'),
    "lists of any length": ("or len(value) != size", ""),
    "kappa": ("self.kappa = self.k - 1 + arb.pi()", "self.kappa = self.k + arb.pi()"),
    "margin": ("_ball(total * total - square)", "_ball(total * total)"),
    "curvature": ("(self.kappa * self.square - self.total**2) / ((", "(self.kappa * self.square) / (("),
    "g": ("angle.cos() + angle.sin()", "angle.cos() - angle.sin()"),
    "b": ("return -self.length * self.margin", "return self.length * self.margin"),
    "F_c": ("(4 * arb.pi() * self.curvature)", "(2 * arb.pi() * self.curvature)"),
    "F": ("self.curvature * self.turning**2", "self.curvature * self.turning"),
    "L without m": ("+ 4 * m**2", ""),
    "L without n": ("size**2\n", "arb(0)\n"),
}  # fmt: skip


@pytest.fixture(scope="module")
def everything(documents):
    bad = [data for document in documents.values() for data in forgeries(document).values()]
    bad += [data for document in documents.values() for data in conspiracies(document)]
    bad += [data for _, data in malformed(documents["minimum"])]
    return [sealed(document) for document in documents.values()], bad


@pytest.mark.slow
def test_every_mutant_of_the_checker_is_noticed(everything, tmp_path, monkeypatch):
    good, bad = everything
    assert all(check_bytes(data)[0] for data in good)
    assert not any(check_bytes(data)[0] for data in bad)
    monkeypatch.syspath_prepend(str(tmp_path))
    survivors = []
    for index, (name, (old, new)) in enumerate(MUTANTS.items()):
        folder = tmp_path / f"mutated_convnet_{index}"
        shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("__pycache__"))
        source = (folder / "convnet.py").read_text()
        assert source.count(old) == 1, f"{old!r} occurs {source.count(old)} times"
        (folder / "convnet.py").write_text(source.replace(old, new))
        mutant = importlib.import_module(folder.name).check_bytes
        if all(mutant(data)[0] for data in good) and not any(mutant(data)[0] for data in bad):
            survivors.append(name)
    for name in list(sys.modules):
        if name.startswith("mutated_convnet_"):
            del sys.modules[name]
    assert not survivors


def test_a_copied_checker_runs_on_its_own(tmp_path):
    shutil.copytree(FOLDER, tmp_path / "checker", ignore=shutil.ignore_patterns("__pycache__"))
    prove(PROBLEMS["minimum"]).save(tmp_path / "good.json")
    command = [sys.executable, "-m", "checker", "good.json"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("VERIFIED spurious local minimum of the convolutional network (p = 3, k = 5)")


def test_it_is_explained_in_words_and_latex(tmp_path):
    for name, fragments in {
        "minimum": ("spurious local minimum", "strict saddles"),
        "no minimum": ("no spurious local minimum", "every other stationary point is a global minimum"),
    }.items():
        path = prove(PROBLEMS[name]).save(tmp_path / "certificate.json")
        explanation = explain(path)
        assert explanation.kind == "convnet"
        assert all(fragment in explanation.words for fragment in fragments)
        assert explanation.latex.count("{") == explanation.latex.count("}")
        assert ("strict saddles" in explanation.latex) == (name == "minimum")
    broken = json.loads(path.read_text())
    broken["claims"]["F_ge"] = None
    path.write_text(json.dumps(broken))
    with pytest.raises(InputError, match="well-formed"):
        explain(path)


def test_the_inequality_of_the_theorem_on_the_second_derivative_of_g():
    """psi^2 + psi sin 2 psi + sin^2 psi <= pi^2 and psi sin psi <= pi^2/4 on [0, pi]: the constants of Theorem 2."""
    psi = np.linspace(0, math.pi, 100_001)
    assert (psi**2 + psi * np.sin(2 * psi) + np.sin(psi) ** 2).max() <= math.pi**2 + 1e-14
    assert (psi * np.sin(psi)).max() <= math.pi**2 / 4
    phi = math.pi - psi
    slope = np.gradient(psi * np.cos(phi) + np.sin(phi), psi)
    assert np.abs(slope - psi * np.sin(psi))[1:-1].max() < 1e-8
