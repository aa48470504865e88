"""What is proved about a data set: held against sampling and many digits, forged, and what must stay unproved."""

import json

import adversaries_convexity
import mpmath as mp
import numpy as np
import pytest
from flint import arb

from earnshaw.errors import InputError
from earnshaw.landscapes.empirical import StreamedRisk
from earnshaw.landscapes.logistic_data import draw
from earnshaw.problems import Data
from earnshaw.problems.logistic import Labels, Logistic, gaussian_weights, orthogonal_weights
from earnshaw.proof import Certificate, Verdict, check, convexity, explain, prove
from earnshaw.proof.trusted import check_bytes
from earnshaw.proof.trusted import convexity as trusted
from earnshaw.proof.trusted.balls import precision, shown
from earnshaw.proof.trusted.reading import MAX_BYTES, Rejected, seal

PHI = {
    "sigmoid": lambda z: 1 / (1 + mp.exp(-z)),
    "unit-tanh": lambda z: (1 + mp.tanh(z)) / 2,
    "unit-erf": lambda z: (1 + mp.erf(z)) / 2,
}


def setting(labels=Labels.REGRESSION, n=3000, weights=None):
    weights = orthogonal_weights(2, 5, seed=0, norm=2.0) if weights is None else weights
    rows = draw(Logistic(weights, n, labels, seed=1))
    return weights, Data(rows.x, rows.y, len(weights)), StreamedRisk(rows, len(weights))


def risk_of(problem):
    """The risk of a data set as a function of a list of mpmath numbers, from its definition."""
    x = [[mp.mpf(float(a)) for a in row] for row in problem.x]
    y = [mp.mpf(float(a)) for a in problem.y]
    d, k, phi = problem.dimension, problem.neurons, PHI[problem.activation.name]

    def risk(flat):
        rows = [flat[j * d : j * d + d] for j in range(k)]
        errors = [mp.fsum(phi(mp.fdot(row, at)) for row in rows) / k - label for at, label in zip(x, y, strict=True)]
        return mp.fsum(e**2 for e in errors) / (2 * len(y))

    return risk


@pytest.mark.parametrize("activation", sorted(PHI))
def test_the_checkers_bounds_hold_against_many_digits(activation, precise):
    """Gradient and Hessian by differences at 130 digits, s2 and s4 by sampling: above or below, and by next to nothing."""
    problem, center = adversaries_convexity.problem_and_center(activation, rows=8, seed=3)
    base = adversaries_convexity.Base(problem, center + 0.01)
    risk, flat = risk_of(problem), (center + 0.01).ravel()
    norm = np.linalg.norm(precise.gradient(risk, flat))
    least = np.linalg.eigvalsh(precise.second(risk, flat))[0]
    assert norm * (1 - 1e-14) <= base.eps <= norm * (1 + 1e-12)
    assert least * (1 - 1e-9) <= base.lam <= least * (1 + 1e-12)
    turned = np.linspace(0, np.pi, 20_001)
    projected = problem.x @ np.stack([np.cos(turned), np.sin(turned)])
    with precision(128):
        fourth = float(base.sample.fourth_moment())
    sampled = (projected**4).mean(axis=0).max()
    assert sampled <= fourth <= 1.5 * sampled
    c1, c2, c3 = (float(c) for c in trusted.bounds(activation))
    second = (projected**2).mean(axis=0).max()
    errors = (risk_errors(problem, center + 0.01)[:, None] ** 2 * projected**2).mean(axis=0).max()
    change = 3 * c1 * c2 / 2**1.5 * np.sqrt(second * fourth) + c3 / 2 * np.sqrt(errors * fourth)
    assert change * (1 - 1e-12) <= base.change <= change * (1 + 1e-6)
    assert base.growth == pytest.approx(c1 * c3 / 2**1.5 * fourth, rel=1e-12)


def risk_errors(problem, weights):
    phi = PHI[problem.activation.name]
    values = [[float(phi(mp.mpf(float(z)))) for z in row] for row in problem.x @ weights.T]
    return np.mean(values, axis=1) - problem.y


@pytest.mark.parametrize("activation", sorted(PHI))
def test_derivatives_and_their_bounds(activation):
    """phi, phi', phi'' in balls hold the derivatives of phi, and c1, c2, c3 are their largest sizes."""
    with precision(128), mp.workdps(40):
        for z in (-30.0, -2.5, -0.3, 0.0, 0.7, 4.0, 50.0):
            for order, ball in enumerate(trusted.ACTIVATIONS[activation](arb(z))):
                digits = mp.nstr(mp.diff(PHI[activation], mp.mpf(z), order), 30)
                assert abs(ball - arb(digits)) < arb(2) ** -60, (z, order)
        grid = [mp.mpf(i) / 200 for i in range(-800, 801)]
        for order, bound in enumerate(trusted.bounds(activation), start=1):
            most = max(abs(mp.diff(PHI[activation], z, order)) for z in grid[::4])
            assert float(bound) * 0.999 < most <= float(bound) * (1 + 1e-12)


@pytest.mark.parametrize("activation", sorted(PHI))
def test_the_hessian_changes_no_faster_than_claimed(activation, precise):
    problem, center = adversaries_convexity.problem_and_center(activation, rows=10, seed=1)
    claim = prove(problem, center).claim
    risk, rng = risk_of(problem), np.random.default_rng(0)
    here = precise.second(risk, center.ravel())
    for distance in (1e-3, 0.5):
        direction = rng.normal(size=4)
        direction *= distance / np.linalg.norm(direction)
        there = precise.second(risk, center.ravel() + direction)
        change = np.linalg.norm(there - here, 2)
        assert 0.01 * claim.change_le * distance < change
        assert change <= claim.change_le * distance + claim.growth_le * distance**2 / 2


def test_bounds_hold_and_say_something():
    weights, problem, risk = setting(Labels.CLASSIFICATION)
    proof = prove(problem, weights)
    claim, eigenvalue = proof.claim, np.linalg.eigvalsh(risk.hessian(weights))[0]
    assert proof.verdict is Verdict.PROVED_CONVEX
    assert eigenvalue * (1 - 1e-6) < claim.curvature_ge <= eigenvalue
    norm = np.linalg.norm(risk.gradient(weights))
    assert norm <= claim.gradient_le < norm * 1.0001
    generator = np.random.default_rng(0)
    rates = []
    for _ in range(30):
        direction = generator.normal(size=weights.shape)
        direction /= np.linalg.norm(direction)
        inside = risk.hessian(weights + 0.999 * claim.radius * direction)
        assert np.linalg.eigvalsh(inside)[0] > 0
        change = np.linalg.norm(risk.hessian(weights + 1e-4 * direction) - risk.hessian(weights), 2) / 1e-4
        rates.append(change)
    assert 0.015 * claim.change_le < max(rates) < claim.change_le


def test_the_minimiser_is_where_the_proof_says():
    weights, problem, risk = setting(labels=Labels.CLASSIFICATION, n=20_000)
    for _ in range(12):
        step = np.linalg.solve(risk.hessian(weights), risk.gradient(weights).ravel())
        weights = weights - step.reshape(weights.shape)
    off = weights + 1e-5
    claim = prove(problem, off).claim
    assert claim.minimiser_within is not None
    assert np.linalg.norm(weights - off) <= claim.minimiser_within < 0.1 * claim.radius
    far = prove(problem, weights + 0.05)
    assert far.claim.minimiser_within is None
    nearer = prove(problem, weights)
    assert nearer.claim.minimiser_within < 1e-8
    text = nearer.main.to_text()
    assert len(text) > MAX_BYTES  # the data make it large; other kinds of that size are not read
    assert check(text).verified
    document = {**nearer.main.document, "kind": "minimum"}
    assert "more than the limit" in check_bytes(json.dumps({**document, "sha256": seal(document)}).encode())[2]


def test_exact_labels_have_their_network_as_minimiser():
    weights, problem, _ = setting(n=300)
    proof = prove(problem, weights)
    assert proof.claim.minimiser_within < 1e-11
    assert f"a strict minimum lies within {shown(proof.claim.minimiser_within, up=True)}" in check(proof).statement
    assert f"positive definite nearer than {shown(proof.claim.radius, up=False)}" in check(proof).statement
    text = explain(proof)
    assert "n = 300 inputs in R^5" in str(text)
    assert "strict local minimum, within" in text.words
    assert text.latex.count("{") == text.latex.count("}")
    assert text.latex.count("$") % 2 == 0
    nowhere = prove(problem, weights + 0.02)
    assert "minimum" not in explain(nowhere).words
    assert "minimum" not in check(nowhere).statement


def test_what_is_not_convex_stays_unproved():
    weights, problem, _ = setting()
    twice = [*range(8), *range(8)]  # 8 different rows cannot fix 10 numbers
    few = prove(Data(problem.x[twice], problem.y[twice], 2), weights)
    assert few.verdict is Verdict.INCONCLUSIVE
    assert few.claim is None
    assert "smallest eigenvalue" in few.reason
    twins = np.stack([weights[0], weights[0]])  # exchanging two equal neurons leaves a flat or falling direction
    assert prove(problem, twins).verdict is Verdict.INCONCLUSIVE
    noise = Data(problem.x, np.random.default_rng(0).random(len(problem.y)), 2)
    random = prove(noise, gaussian_weights(2, 5, 3))
    assert random.claim is None or random.claim.minimiser_within is None
    assert prove(problem, 1e300 * weights).reason == "the numbers are too large to be enclosed; rescale the data"
    assert prove(problem, 1e25 * weights).verdict is Verdict.INCONCLUSIVE


def test_a_bold_guess_is_not_believed(monkeypatch):
    """The verdict is the checker's: a producer that exaggerates ends inconclusive, with the checker's reason."""
    weights, problem, _ = setting(n=300)
    monkeypatch.setattr(convexity, "_most", lambda matrix, rows, size: 0.9 * np.linalg.eigvalsh(matrix)[-1] / rows)
    proof = prove(problem, weights)
    assert proof.verdict is Verdict.INCONCLUSIVE
    assert "change_le is below the bound L" in proof.reason


def test_the_fourth_moment_bound_is_above_every_sample_and_near_three():
    x = np.random.default_rng(0).normal(size=(20_000, 6))
    bound, _ = convexity._fourth_moment(x)
    directions = np.random.default_rng(1).normal(size=(500, 6))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    sampled = np.mean((x @ directions.T) ** 4, axis=0).max()
    assert sampled < bound < 3.7
    assert convexity._fourth_moment(10 * x)[0] < 10**4 * 3.7
    spike = np.zeros((4, 3))
    spike[0, 1] = 2.0
    assert abs(convexity._fourth_moment(spike)[0] - 4.0) < 1e-9  # one row: max (p.x)^4 / 4


def steep(z):
    return 0.5 + 0.5 * np.tanh(3.0 * np.asarray(z))


def test_mistakes_are_explained():
    weights, problem, _ = setting(n=50)
    with pytest.raises(InputError, match="sigmoid, unit-tanh, unit-erf"):
        prove(Data(problem.x, problem.y, 2, steep), weights)
    with pytest.raises(InputError, match="give 2 rows of 5 numbers"):
        prove(problem, weights[:1])
    with pytest.raises(InputError, match="NaN"):
        prove(problem, np.full_like(weights, np.nan))
    with pytest.raises(InputError, match="precision is none of data proofs; those are meta"):
        prove(problem, weights, precision=128)
    assert "too large for a certificate" in convexity.too_large(200_000, 2, 5)
    assert "too large for a certificate" in convexity.too_large(100_000, 1, 61)
    assert "numbers of the data set" in convexity.too_large(290_000, 1, 14)
    assert convexity.too_large(100_000, 3, 20) is None


def test_forgeries_are_rejected_with_a_reason(convexity_verdicts):
    bad, good = convexity_verdicts
    assert len(bad) > 150
    for name, data in bad.items():
        accepted, kind, reason = check_bytes(data)
        assert not accepted, name
        assert kind is None
        assert len(reason) > 10, name
        assert "the check stopped" not in reason, (name, reason)
    for name, data in good.items():
        accepted, kind, statement = check_bytes(data)
        assert accepted, (name, statement)
        assert kind == "convexity"
    expected = {
        "sigmoid: curvature too large": "curvature_ge exceeds",
        "sigmoid: change too small": "change_le is below",
        "unit-erf: growth too small": "growth_le is below",
        "unit-tanh: gradient too small": "gradient_le is below",
        "sigmoid: radius negative": "radius is not positive",
        "sigmoid: radius without G": "lambda - L R - G R^2/2",
        "sigmoid: minimiser at the radius": "not below radius",
        "sigmoid: minimiser with G/12": "lambda r - L r^2/2",
        "data: not convex at all": "curvature_ge exceeds",
        "data: NaN in x": "not finite",
        "text: base64 not canonical": "canonical base64",
        "text: n * k too large": "n k = 4e+05 exceeds 3e+05",
        "outsized: huge inputs": "too large",
    }
    for name, fragment in expected.items():
        assert fragment in check_bytes(bad[name])[2], (name, check_bytes(bad[name])[2])


def test_a_document_is_read_back_bit_for_bit():
    weights, problem, _ = setting(n=50)
    proof = prove(problem, weights + 0.01, meta={"made": "here"})
    assert proof.main is not None
    document = trusted.parse(proof.main.to_text().encode(), 1.0)
    assert document.center == (weights + 0.01).tolist()
    assert np.array_equal(document.x, problem.x)
    assert np.array_equal(document.y, problem.y)
    assert document.claims == vars(proof.claim)
    assert proof.main.document["meta"]["made"] == "here"
    broken = {**proof.main.document, "claims": {**proof.main.document["claims"], "radius": None}}
    broken["sha256"] = seal(broken)
    assert explain(Certificate("convexity", broken)).words == "REJECTED claims.radius is null"
    with pytest.raises(Rejected, match="null"):
        trusted.parse(json.dumps(broken).encode(), 1.0).real("radius")
