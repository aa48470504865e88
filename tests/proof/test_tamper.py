"""Every forged certificate is rejected with a reason, and every true one at the edge is accepted."""

import adversaries
import numpy as np

from earnshaw.problems import TwoLayer
from earnshaw.proof import check, prove
from earnshaw.proof.trusted import balls, check_bytes, relu
from earnshaw.proof.trusted.reading import Rejected


def test_forgeries_are_rejected_with_a_reason(verdicts):
    bad, _ = verdicts
    assert len(bad) > 120
    for name, data in bad.items():
        accepted, kind, reason = check_bytes(data)
        assert not accepted, name
        assert kind is None
        assert len(reason) > 10, name
        assert "the check stopped" not in reason, (name, reason)


def test_true_certificates_are_accepted(verdicts):
    _, good = verdicts
    for name, data in good.items():
        accepted, _, sentence = check_bytes(data)
        assert accepted, (name, sentence)


def test_the_inequality_aimed_at_is_the_one_that_fails(verdicts):
    bad, _ = verdicts
    expected = {
        "minimum: gradient bound just too large": "eps - lambda r + L r^2/2 < 0 fails",
        "minimum: R_unique beyond lambda/L": "lambda - L R > 0 fails",
        "minimum: L at the centre": "hess_lipschitz_le is below",
        "minimum: lambda equal to the shift": "lambda_min_ge exceeds",
        "minimum: weak lambda of M is not used": "fails",
        "minimum: R_enclosure above R_unique": "R_enclosure exceeds R_unique",
        "minimum: F_ge at the centre with a large gradient": "F_ge exceeds",
        "minimum: mu negative": "mu_ge is not positive",
        "minimum: negative radii at a saddle": "R_enclosure is not positive",
        "minimum: F_le too small": "F_le is below",
        "basin: radius beyond R_unique - 2 r": "exceeds R_unique",
        "basin: smoothness without L R": "smoothness_le is below",
        "basin: step negative": "step_lt is not positive",
        "robust: delta too large, rest recomputed": "fails for the robust ball",
        "robust: delta negative": "robust.delta is not positive",
        "robust: L for the unmoved teacher": "robust.hess_lipschitz_le is below",
        "robust: mu for the unmoved teacher": "robust.mu_ge exceeds",
        "robust: mu negative": "robust.mu_ge is not positive",
        "robust: F_ge forgets the teacher's move": "robust.F_ge exceeds",
        "saddle: R negative": "R_enclosure is not positive",
        "saddle: inverse so large that the quadratic term decides": "Newton-Kantorovich",
        "saddle: L so large that the curvature may vanish": "negative curvature may vanish",
        "saddle: F_ge ignores the Hessian": "F_ge exceeds",
        "point: a genuine minimum with n < k": "n = 1 < k = 2",
        "point: a zero neuron": "zero",
        "text: meta edited without resealing": "sha256",
        "text: unknown version": "unknown format",
        "text: duplicate key": "occurs twice",
        "text: decimal float": "decimal number",
    }
    for name, fragment in expected.items():
        assert fragment in check_bytes(bad[name])[2], (name, check_bytes(bad[name])[2])


def test_a_permuted_point_needs_a_certificate_made_anew(minimum_proof, forger):
    order = [3, 1, 0, 5, 4, 2]
    center = [forger.documents["minimum"]["center"][i] for i in order]
    assert check_bytes(forger.forged("minimum", center=center))[0]  # permuting neurons changes no claim
    columns = [[row[i] for i in order] for row in forger.documents["minimum"]["center"]]
    assert check_bytes(forger.forged("minimum", center=columns))[0]  # nor does permuting this teacher's coordinates
    assert check(prove(TwoLayer(np.eye(6)), minimum_proof.point.weights[order]).main).verified


def test_the_calculus_passes_its_own_adversaries():
    assert adversaries.calculus_holds(balls, relu, Rejected) is None
