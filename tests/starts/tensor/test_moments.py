"""Contracted moments against full tensors, and against exact means by quadrature."""

import itertools

import numpy as np
import pytest

from earnshaw.landscapes.logistic_theory import neuron_moment
from earnshaw.landscapes.rows import Rows
from earnshaw.potentials import derivatives
from earnshaw.problems import activation
from earnshaw.starts.tensor.moments import LinearFit, Moments, quadratic_residual

D, K, N = 4, 2, 300
ID = np.eye(D)


def hermite_tensors(x):
    """The third and fourth Hermite tensors at one x, from the definition with explicit placements."""
    third, fourth = np.einsum("a,b,c->abc", x, x, x), np.einsum("a,b,c,d->abcd", x, x, x, x)
    for axis in range(3):
        rest = [a for a in range(3) if a != axis]
        for a in itertools.product(range(D), repeat=3):
            third[a] -= x[a[axis]] * ID[a[rest[0]], a[rest[1]]]
    for pair in itertools.combinations(range(4), 2):
        rest = [a for a in range(4) if a not in pair]
        for a in itertools.product(range(D), repeat=4):
            fourth[a] -= x[a[pair[0]]] * x[a[pair[1]]] * ID[a[rest[0]], a[rest[1]]]
            fourth[a] += 0.5 * ID[a[pair[0]], a[pair[1]]] * ID[a[rest[0]], a[rest[1]]]
    return third, fourth


@pytest.fixture(scope="module")
def setting():
    generator = np.random.default_rng(0)
    x, y = generator.normal(size=(N, D)), generator.random(N)
    tensors = [hermite_tensors(row) for row in x]
    return Rows(x, y, chunk=70), np.array([t[0] for t in tensors]), np.array([t[1] for t in tensors])


@pytest.mark.parametrize("kind", ["raw", "linear", "quadratic"])
def test_every_contraction_against_the_full_tensors(setting, kind):
    rows, thirds, fourths = setting
    label = Moments(rows).label if kind == "raw" else LinearFit.of(rows)
    label = quadratic_residual(rows, label) if kind == "quadratic" else label
    r = label(rows.x, rows.y)
    generator = np.random.default_rng(1)
    frame = np.linalg.qr(generator.normal(size=(D, K)))[0]
    a, b = generator.normal(size=(2, D))
    second = np.einsum("n,na,nb->ab", r, rows.x, rows.x) / N - r.mean() * ID
    third, fourth = np.einsum("n,nabc->abc", r, thirds) / N, np.einsum("n,nabcd->abcd", r, fourths) / N
    moments = Moments(rows, label)
    pairs = [
        (moments.first(), r @ rows.x / N),
        (moments.second(), second),
        (moments.third_matrices(np.stack([a, b])), np.stack([third @ a, third @ b])),
        (moments.third_core(frame), np.einsum("abc,ai,bj,ck->ijk", third, frame, frame, frame)),
        (moments.third_vector(a), third @ a @ a),
        (moments.fourth_matrices(np.stack([a, b])), np.stack([fourth @ a @ a, fourth @ b @ b])),
        (moments.fourth_core(frame, a), np.einsum("abcd,ai,bj,ck,d->ijk", fourth, frame, frame, frame, a)),
        (moments.fourth_vector(a), fourth @ a @ a @ a),
    ]
    for ours, expected in pairs:
        np.testing.assert_allclose(ours, expected, atol=1e-13)
    if kind != "raw":
        assert np.abs(moments.first()).max() < 1e-15 or kind == "quadratic"


def quadrature_rows(function):
    """Rows on a grid of the plane whose labels carry the weights, so that means over rows are exact Gaussian means."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()
    x = np.stack(np.meshgrid(nodes, nodes), -1).reshape(-1, 2)
    return Rows(x, len(x) * np.outer(weights, weights).ravel() * function(x))


TEACHER = np.array([[0.9, 0.3], [-0.4, 0.8]])


def exact(activation, order):
    norms = np.linalg.norm(TEACHER, axis=1)
    return neuron_moment(activation, order, norms) / len(TEACHER), TEACHER / norms[:, None]


def test_the_fourth_moment_needs_one_half_where_the_paper_prints_one():
    constant = quadrature_rows(lambda x: np.ones(len(x)))
    frame, a = np.eye(2), np.array([0.6, 0.8])
    assert np.abs(Moments(constant).fourth_core(frame, a)).max() < 1e-10
    assert np.abs(Moments(constant, pairings=1.0).fourth_core(frame, a)).max() > 1
    bump = activation(lambda z: 0.1 + 0.8 * 2.718281828459045 ** (-z * z))
    rows = quadrature_rows(lambda x: derivatives(bump, x @ TEACHER.T, 0)[0].mean(1))
    charges, units = exact(bump, 4)
    expected = np.einsum("i,ia,ib,ic->abc", charges * (units @ a), units, units, units)
    assert np.abs(expected).max() > 0.05
    np.testing.assert_allclose(Moments(rows).fourth_core(frame, a), expected, atol=1e-9)
    assert np.abs(Moments(rows, pairings=1.0).fourth_core(frame, a) - expected).max() > 0.2
    np.testing.assert_allclose(Moments(rows).fourth_vector(a), np.einsum("abc,b,c->a", expected, a, a), atol=1e-9)


def test_moments_of_a_network_are_those_of_its_neurons():
    sigmoid = activation("sigmoid")
    rows = quadrature_rows(lambda x: derivatives(sigmoid, x @ TEACHER.T, 0)[0].mean(1))
    a = np.array([0.6, 0.8])
    charges, units = exact(sigmoid, 3)
    np.testing.assert_allclose(
        Moments(rows).third_core(np.eye(2)), np.einsum("i,ia,ib,ic->abc", charges, units, units, units), atol=1e-10
    )
    charges, units = exact(sigmoid, 1)
    np.testing.assert_allclose(Moments(rows).first(), charges @ units, atol=1e-10)
    assert np.abs(Moments(rows).second()).max() < 1e-10
    assert np.abs(Moments(rows).fourth_core(np.eye(2), a)).max() < 1e-9
