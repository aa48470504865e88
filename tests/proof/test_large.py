"""Large networks of the symmetric family with one odd neuron: the Lanczos path, and how much work a proof may cost."""

import numpy as np
import pytest
import scipy.linalg

from earnshaw.problems import TwoLayer
from earnshaw.proof import Verdict, check, doubles, prove, relu, relu_claims

# k: a (diagonal), b (off it), c (odd column), d (odd row), e (corner), lambda_min and F of the family
FAMILY = {
    20: (1.00300375, -0.00365514, 0.09318741, 0.06371471, -0.81002058, 0.0550925, 0.01127558),
    40: (1.00105685, -8.79786061e-4, 0.0478642184, 0.0325767408, -0.890149535, 0.0684126, 0.00631564),
}


def weights(k):
    a, b, c, d, e, _, _ = FAMILY[k]
    matrix = np.full((k, k), b)
    np.fill_diagonal(matrix, a)
    matrix[:-1, -1], matrix[-1, :-1], matrix[-1, -1] = c, d, e
    return matrix


def counted(monkeypatch, module, name):
    """Count the calls of a function in the module that calls it."""
    calls, function = [], getattr(module, name)
    monkeypatch.setattr(module, name, lambda *a, **more: (calls.append(a), function(*a, **more))[1])
    return calls


@pytest.mark.parametrize("k", [20, pytest.param(40, marks=pytest.mark.slow)])
def test_large_minima_are_proved_with_little_work(k, monkeypatch):
    """One Hessian for the polish and one for the proof, a factorisation each, and no whole spectrum beyond 400 numbers."""
    hessians = counted(monkeypatch, relu, "double_hessian")
    bounds = counted(monkeypatch, relu_claims, "prove_least")
    spectra = counted(monkeypatch, scipy.linalg, "eigh")
    monkeypatch.setattr(relu_claims, "guesses", None)  # the ball Hessian of a saddle's proof is never formed
    proof = prove(TwoLayer(np.eye(k)), weights(k))
    assert len(hessians) == 2
    assert len(bounds) == 2  # the Hessian, and M
    assert all(len(matrix) <= doubles.DENSE for matrix, *_ in spectra)
    assert proof.verdict is Verdict.PROVED_MINIMUM
    assert FAMILY[k][5] <= proof.claim.lambda_min_ge < FAMILY[k][5] + 1e-6
    assert FAMILY[k][6] <= proof.claim.objective_ge < FAMILY[k][6] + 1e-7
    assert proof.claim.enclosure_radius < 1e-12
    assert proof.claim.unique_radius > 1.5e-3
    assert proof.claim.every_dimension


def test_twenty_neurons_are_checked():
    proof = prove(TwoLayer(np.eye(20)), weights(20))
    for certificate in proof.certificates.values():
        result = check(certificate)
        assert result.verified, result.reason


@pytest.mark.slow
@pytest.mark.nightly
def test_forty_neurons_are_checked():
    result = check(prove(TwoLayer(np.eye(40)), weights(40)))
    assert result.verified, result.reason
