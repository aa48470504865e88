"""What `prove` decides, the numbers it reports, and what it must not decide."""

import dataclasses
import json
import os
from pathlib import Path

import numpy as np
import pytest

from earnshaw.errors import InputError
from earnshaw.problems import ConvNet, Data, DeepTanh, TwoLayer
from earnshaw.proof import (
    Certificate,
    ConvexityClaim,
    ConvNetClaim,
    MinimumClaim,
    Verdict,
    check,
    explain,
    prove,
    prove_many,
    prove_pairs,
)

EYE = np.eye(6)
RELU = TwoLayer(EYE)


def test_the_published_minimum_with_six_neurons(minimum_proof):
    proof = minimum_proof
    assert proof.verdict is Verdict.PROVED_MINIMUM
    assert 0.0047003 <= proof.claim.lambda_min_ge <= 0.0047004
    assert 0.02508058 <= proof.claim.objective_ge <= 0.02508059
    assert proof.claim.enclosure_radius < 1e-12
    assert 5e-4 < proof.claim.unique_radius < 6e-4
    assert (
        proof.claim.unique_radius - 3 * proof.claim.enclosure_radius
        < proof.claim.basin_radius
        < proof.claim.unique_radius
    )
    assert 1.8e-7 < proof.claim.teacher_radius < 1.9e-7
    assert proof.claim.every_dimension
    assert set(proof.certificates) == {"minimum", "basin", "robust"}
    assert 0 < proof.moved < 1e-7


def test_every_certificate_is_verified(minimum_proof, saddle_proof):
    for proof in (minimum_proof, saddle_proof):
        for kind, certificate in proof.certificates.items():
            result = check(certificate)
            assert result.verified, result.reason
            assert result.kind == kind
            assert "every dimension" in result.statement


def test_a_saddle_is_proved(saddle_proof):
    assert saddle_proof.verdict is Verdict.PROVED_SADDLE
    assert -0.00584 < saddle_proof.claim.curvature_le < -0.00582
    assert saddle_proof.claim.objective_ge == pytest.approx(0.047396, abs=1e-6)
    assert saddle_proof.claim.enclosure_radius < 1e-10
    assert set(saddle_proof.certificates) == {"saddle"}


def test_bounds_agree_with_an_independent_float_computation(minimum_proof):
    """F by Monte Carlo within 5 standard errors, lambda by differences of a gradient written from the definition."""
    weights = minimum_proof.point.weights
    x = np.random.default_rng(7).standard_normal((400_000, 6))
    error = 0.5 * (np.maximum(x @ weights.T, 0).sum(1) - np.maximum(x, 0).sum(1)) ** 2
    assert abs(error.mean() - minimum_proof.claim.objective_ge) < 5 * error.std() / np.sqrt(len(error))

    def gradient(flat):
        rows = flat.reshape(6, 6)

        def pull(others, skip_own):
            cosine = rows @ others.T / np.outer(np.linalg.norm(rows, axis=1), np.linalg.norm(others, axis=1))
            angle = np.arccos(np.clip(cosine, -1, 1))
            keep = 1 - np.eye(6) if skip_own else np.ones((6, 6))
            unit = rows / np.linalg.norm(rows, axis=1)[:, None]
            along = (keep * np.sin(angle) * np.linalg.norm(others, axis=1)).sum(1)
            return (along[:, None] * unit + (keep * (np.pi - angle)) @ others) / (2 * np.pi)

        return (rows / 2 + pull(rows, True) - pull(EYE, False)).ravel()

    flat, step = weights.ravel(), 1e-6
    hessian = np.array([(gradient(flat + step * e) - gradient(flat - step * e)) / (2 * step) for e in np.eye(36)])
    assert np.linalg.eigvalsh((hessian + hessian.T) / 2)[0] == pytest.approx(
        minimum_proof.claim.lambda_min_ge, abs=1e-8
    )


def test_permuted_rotated_and_scaled_points_are_proved_alike(minimum_point, minimum_proof):
    rng = np.random.default_rng(1)
    rotation = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    order = rng.permutation(6)
    for teacher, point, scale in (
        (EYE, minimum_point[order], 1.0),
        (EYE @ rotation, minimum_point @ rotation, 1.0),
        (1024.0 * EYE, 1024.0 * minimum_point, 1024.0),
    ):
        proof = prove(TwoLayer(teacher), point)
        assert proof.verdict is Verdict.PROVED_MINIMUM
        assert proof.claim.lambda_min_ge == pytest.approx(minimum_proof.claim.lambda_min_ge, rel=1e-7)
        assert proof.claim.objective_ge == pytest.approx(scale**2 * minimum_proof.claim.objective_ge, rel=1e-9)
        assert proof.claim.unique_radius == pytest.approx(scale * minimum_proof.claim.unique_radius, rel=1e-6)
        for certificate in proof.certificates.values():
            assert check(certificate).verified


def test_a_teacher_that_is_no_basis_is_fine(minimum_point):
    teacher = EYE + 1e-5 * np.random.default_rng(2).standard_normal((6, 6))
    proof = prove(TwoLayer(teacher), minimum_point)
    assert proof.verdict is Verdict.PROVED_MINIMUM
    assert check(proof.main).verified


def test_robustness_holds_for_a_teacher_inside_the_radius(minimum_proof, minimum_point):
    move = np.random.default_rng(3).standard_normal((6, 6))
    move *= 0.99 * minimum_proof.claim.teacher_radius / np.linalg.norm(move, axis=1)[:, None]
    other = prove(TwoLayer(EYE + move), minimum_point)
    assert other.verdict is Verdict.PROVED_MINIMUM
    claimed = minimum_proof.certificates["robust"].document["robust"]
    distance = np.linalg.norm(other.point.weights - minimum_proof.point.weights)
    assert distance + other.claim.enclosure_radius < float.fromhex(claimed["R_enclosure"])
    assert other.claim.objective_ge > float.fromhex(claimed["F_ge"])


def test_gradient_descent_from_inside_the_basin_contracts_as_claimed(minimum_proof):
    from earnshaw.proof.trusted.balls import floats, precision
    from earnshaw.proof.trusted.relu import Point

    basin = {
        name: float.fromhex(value) for name, value in minimum_proof.certificates["basin"].document["basin"].items()
    }
    direction = np.random.default_rng(4).standard_normal((6, 6))
    start = minimum_proof.point.weights + 0.99 * basin["radius"] * direction / np.linalg.norm(direction)
    rate = max(1 - 0.5 * basin["mu_ge"], 0.5 * basin["smoothness_le"] - 1)
    current, distance = start, np.linalg.norm(start - minimum_proof.point.weights)
    with precision(128):
        for _ in range(20):
            current = current - 0.5 * floats(Point(current.tolist(), EYE.tolist()).gradient())
            new = np.linalg.norm(current - minimum_proof.point.weights)
            assert new <= rate * distance * (1 + 1e-9)
            distance = new


@pytest.mark.parametrize("polish", [True, False])
def test_points_that_must_stay_inconclusive(polish, minimum_point):
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((6, 6))
    near_zero = np.vstack([minimum_point, [1e-9, 0, 0, 0, 0, 0]])
    points = {
        "global minimum": EYE,
        "near the global minimum": EYE + 1e-6 * noise,
        "nearer": EYE + 1e-10 * noise,
        "not so near": EYE + 1e-3 * noise,
        "far from critical": noise,
        "short neuron": near_zero,
        "split neuron": np.vstack([minimum_point[:5], 0.5 * minimum_point[5], 0.5 * minimum_point[5]]),
        "fewer students": minimum_point[:5],
        "global, one too many": np.vstack([EYE[:5], 0.25 * EYE[5], 0.75 * EYE[5]]),
    }
    for name, point in points.items():
        proof = prove(RELU, point, polish=polish)
        assert proof.verdict is Verdict.INCONCLUSIVE, name
        assert len(proof.reason) > 40, name
        assert not proof.certificates
        assert proof.main is None
        assert proof.claim is None


def test_reasons_say_what_missed_and_what_would_help(minimum_point):
    assert "global minimum" in prove(RELU, EYE).reason
    assert "n = 5 students for k = 6" in prove(RELU, minimum_point[:5]).reason
    assert "run gradient descent longer" in prove(RELU, minimum_point + 0.05).reason
    missed = prove(RELU, minimum_point + 1e-4, polish=False).reason
    assert "lambda^2 > 2 L eps missed" in missed
    assert "polish" in missed


@pytest.mark.parametrize(
    ("point", "sentence"),
    [
        (np.full((6, 6), np.nan), "NaN or infinite"),
        (np.full((6, 6), np.inf), "NaN or infinite"),
        (np.ones(6), "shape"),
        (np.ones((6, 5)), "shape"),
        (np.ones((0, 6)), "shape"),
        (np.vstack([EYE[:5], np.zeros(6)]), "neuron 5 is zero"),
        (np.ones((600, 6)), "too large for a certificate"),
    ],
)
def test_bad_points_are_refused_with_one_sentence(point, sentence):
    with pytest.raises(ValueError, match=sentence):
        prove(RELU, point)


def test_bad_problems_are_refused(minimum_point):
    with pytest.raises(InputError, match="output_weights"):
        prove(TwoLayer(EYE, output_weights=[1.0, 2.0, 1.0, 1.0, 1.0, 1.0]), minimum_point)
    with pytest.raises(InputError, match="trained"):
        prove(TwoLayer(EYE, trainable_output=True), minimum_point)
    with pytest.raises(InputError, match="the theorems cover relu only"):
        prove(TwoLayer(EYE, activation="sigmoid"), minimum_point)
    with pytest.raises(InputError, match="no proofs for the network deep-tanh"):
        prove(DeepTanh(2, 3), minimum_point)
    with pytest.raises(InputError, match=r"shape \(6, 6\) was given where a problem is needed.*TwoLayer"):
        prove(EYE, minimum_point)
    with pytest.raises(InputError, match="'str' was given"):
        prove("relu", minimum_point)
    with pytest.raises(InputError, match="precision"):
        prove(RELU, minimum_point, precision=16)
    with pytest.raises(InputError, match="the option bits is none of two-layer proofs; those are precision, polish"):
        prove(RELU, minimum_point, bits=128)
    with pytest.raises(InputError, match="the option basin is none of convnet proofs"):
        list(prove_many(ConvNet([1.0, 2.0], [1.0, 2.0]), [None], basin=False))
    with pytest.raises(InputError, match="all its stationary points"):
        prove(ConvNet([1.0, 2.0], [1.0, 2.0]), minimum_point)
    with pytest.raises(InputError, match="no array of numbers"):
        prove(RELU, "weights")
    with pytest.raises(InputError, match="shape"):
        prove(RELU)
    same = TwoLayer(EYE, output_weights=np.ones(6), student_output_weights=np.ones(6))
    assert prove(same, minimum_point).verdict is Verdict.PROVED_MINIMUM


def test_whatever_has_weights_is_a_point(minimum_point, minimum_proof):
    class Found:
        weights = minimum_point

    proof = prove(RELU, Found())
    assert proof.main == minimum_proof.main
    assert check(proof).verified
    assert str(explain(proof)) == explain(proof.main).words
    nothing = prove(RELU, EYE)
    for act in (check, explain):
        with pytest.raises(InputError, match="no certificate: F > 0 missed"):
            act(nothing)


@pytest.mark.parametrize("bits", [64, 96, 256])
def test_other_precisions(bits, minimum_point):
    proof = prove(RELU, minimum_point, precision=bits)
    assert proof.verdict is Verdict.PROVED_MINIMUM
    assert all(check(certificate).verified for certificate in proof.certificates.values())


def test_claims_can_be_left_out(minimum_point):
    proof = prove(RELU, minimum_point, basin=False, robust=False, every_dimension=False)
    assert set(proof.certificates) == {"minimum"}
    assert proof.claim.basin_radius is None
    assert proof.claim.teacher_radius is None
    assert not proof.claim.every_dimension
    result = check(proof.main)
    assert result.verified
    assert "every dimension" not in result.statement


def test_saving_is_atomic_and_reports_are_complete(minimum_proof, tmp_path):
    path = minimum_proof.save(tmp_path / "deep" / "k6.json")
    assert check(path).verified
    assert check(path.read_text()).verified
    assert Certificate.load(path) == minimum_proof.main
    paths = minimum_proof.save_all(tmp_path / "all", "k6")
    assert sorted(os.listdir(tmp_path / "all")) == ["k6-basin.json", "k6-minimum.json", "k6-robust.json"]
    row = json.loads(json.dumps(minimum_proof.report("k6.npz", 0, paths["minimum"])))
    assert list(row) == [
        "source",
        "index",
        "n",
        "k",
        "d",
        "verdict",
        "reason",
        "family",
        "lambda_min_ge",
        "objective_ge",
        "enclosure_radius",
        "unique_radius",
        "basin_radius",
        "teacher_radius",
        "every_dimension",
        "split_neuron",
        "split_ge",
        "splitting",
        "seconds",
        "certificate",
    ]
    inconclusive = prove(RELU, EYE)
    with pytest.raises(ValueError, match="no certificate"):
        inconclusive.save(tmp_path / "none.json")
    assert inconclusive.save_all(tmp_path, "none") == {}
    with pytest.raises(dataclasses.FrozenInstanceError):
        inconclusive.reason = "other"


def test_many_points_in_processes_come_back_in_order(minimum_point, saddle_point, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    points = [minimum_point, saddle_point, EYE, np.full((6, 6), np.nan)]
    serial = list(prove_many(RELU, points, workers=1))
    spawned = list(prove_many(RELU, points, workers=2))
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert [proof.verdict.name for proof in serial] == ["PROVED_MINIMUM", "PROVED_SADDLE"] + 2 * ["INCONCLUSIVE"]
    for one, two in zip(serial, spawned, strict=True):
        assert one.verdict is two.verdict
        assert one.reason == two.reason
        assert one.main == two.main
        assert one.claim == two.claim
        assert one.sizes == two.sizes
    assert "NaN" in serial[3].reason


def test_problems_of_all_kinds_are_proved_in_one_batch(minimum_point):
    """Each goes to a worker as its JSON and a point, and comes back with the claim of its kind."""
    rng = np.random.default_rng(0)
    weights = np.array([[2.0, 0.0], [0.0, 1.5]])
    x = rng.normal(size=(40, 2))
    data = Data(x, (1 / (1 + np.exp(-x @ weights.T))).mean(axis=1), 2)
    conv = ConvNet([1.0, 2.0], [1.0, -0.5])
    pairs = [(RELU, minimum_point), (conv, None), (data, weights), (data, weights[:1])]
    proofs = list(prove_pairs(pairs, workers=2))
    assert [type(proof.claim) for proof in proofs] == [MinimumClaim, ConvNetClaim, ConvexityClaim, type(None)]
    assert [proof.verdict.name for proof in proofs][1:] == ["PROVED_MINIMUM", "PROVED_CONVEX", "INCONCLUSIVE"]
    assert all(check(proof).verified for proof in proofs[:3])
    alone = [prove(*pair) for pair in pairs[:3]]
    for one, two in zip(proofs, alone, strict=False):
        assert one.main == two.main
    rows = [proof.report("here", 0, None) for proof in proofs]
    assert {"p", "margin", "barrier", "step_le"} <= set(rows[1])
    assert {"samples", "radius", "minimiser_within"} <= set(rows[2])
    assert list(rows[2]) == list(rows[3])
    assert rows[3]["radius"] is None
    assert all(json.loads(json.dumps(row)) for row in rows)
    assert [proof.words for proof in proofs[1:]] != ["", "", ""]
    with pytest.raises(InputError, match="deep-tanh"):
        list(prove_pairs([(RELU, minimum_point), (DeepTanh(2, 3), minimum_point)]))


def test_the_saddle_among_the_published_points():
    """Its certificate is kept here, so that the claim of docs/errata.md needs no downloaded file."""
    file = Path(__file__).parent / "k15-n16-saddle.json"
    result, document = check(file), json.loads(file.read_text())
    assert result.verified
    assert (result.kind, document["problem"]["k"], document["problem"]["n"]) == ("saddle", 15, 16)
    assert float.fromhex(document["claims"]["curvature_le"]) < -0.0027


def test_all_published_points_are_decided(published):
    proofs = [prove(TwoLayer(np.eye(weights.shape[1])), weights) for _, _, weights in published]
    names = [proof.verdict.name for proof in proofs]
    assert names.count("PROVED_SADDLE") == 1
    assert names.count("PROVED_MINIMUM") == len(published) - 1
    for (name, index, _), proof in zip(published, proofs, strict=True):
        assert proof.claim.every_dimension, (name, index)
        assert check(proof.main).verified, (name, index)
        if proof.verdict is Verdict.PROVED_MINIMUM:
            assert set(proof.certificates) == {"minimum", "basin", "robust"}, (name, index)


@pytest.mark.nightly  # and every time without the further ones, below and above
@pytest.mark.slow
def test_the_further_certificates_of_all_published_points(published):
    for name, index, weights in published:
        for kind, certificate in prove(TwoLayer(np.eye(weights.shape[1])), weights).certificates.items():
            assert check(certificate).verified, (name, index, kind)


def test_a_minimum_that_is_about_to_become_a_saddle(minimum_point):
    """As the teacher's neurons tilt toward each other the smallest eigenvalue falls to 8e-6, then below 0."""
    weights, least = minimum_point, []
    for tilt in (0.02, 0.04, 0.06, 0.0725, 0.0735):
        teacher = EYE + tilt * (np.ones((6, 6)) - EYE)
        proof = prove(TwoLayer(teacher), weights, reach=0.2)
        assert all(check(certificate).verified for certificate in proof.certificates.values())
        weights = proof.point.weights
        least.append(proof.claim.lambda_min_ge if proof.verdict is Verdict.PROVED_MINIMUM else proof.claim.curvature_le)
    assert proof.verdict is Verdict.PROVED_SADDLE
    assert least == sorted(least, reverse=True)
    assert 0 < least[3] < 1e-5
    assert least[4] < 0


def test_runs_inside_a_proved_basin(minimum_proof):
    center, radius, step = minimum_proof.point.weights, minimum_proof.claim.basin_radius, minimum_proof.claim.step_lt
    direction = np.random.default_rng(9).standard_normal((6, 6))
    direction /= np.linalg.norm(direction)
    assert minimum_proof.basin_holds(center, 0.1)
    assert minimum_proof.basin_holds(center + 0.999 * radius * direction, 0.1)
    assert not minimum_proof.basin_holds(center + 1.001 * radius * direction, 0.1)
    assert not minimum_proof.basin_holds(center, step)
    assert not minimum_proof.basin_holds(center, 0.0)
    assert not minimum_proof.basin_holds(center[:5], 0.1)
    assert not minimum_proof.basin_holds(np.full((6, 6), np.nan), 0.1)
    assert not prove(RELU, EYE).basin_holds(EYE, 0.1)
