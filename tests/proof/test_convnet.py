"""Certificates of the convolutional network: true ones verify, and no number in one can be altered unnoticed."""

import json
import math
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from adversaries_convnet import PROBLEMS, conspiracies, forgeries, instance, malformed, reference, sealed, threshold

import earnshaw.proof.trusted as trusted
from earnshaw.errors import InputError
from earnshaw.problems.convnet import ConvNet
from earnshaw.proof import Verdict, check, explain, prove
from earnshaw.proof.trusted import check_bytes

FOLDER = Path(trusted.__file__).parent


@pytest.fixture(scope="module")
def documents():
    return {name: dict(prove(problem).main.document) for name, problem in PROBLEMS.items()}


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
    assert explain(path).words.startswith("REJECTED sha256")


def test_the_inequality_of_the_theorem_on_the_second_derivative_of_g():
    """psi^2 + psi sin 2 psi + sin^2 psi <= pi^2 and psi sin psi <= pi^2/4 on [0, pi]: the constants of Theorem 2."""
    psi = np.linspace(0, math.pi, 100_001)
    assert (psi**2 + psi * np.sin(2 * psi) + np.sin(psi) ** 2).max() <= math.pi**2 + 1e-14
    assert (psi * np.sin(psi)).max() <= math.pi**2 / 4
    phi = math.pi - psi
    slope = np.gradient(psi * np.cos(phi) + np.sin(phi), psi)
    assert np.abs(slope - psi * np.sin(psi))[1:-1].max() < 1e-8
