"""More neurons do not remove a minimum with a split-stable neuron: the criterion, its certificate, and the networks themselves."""

import adversaries_every_n
import jax
import numpy as np
import pytest
from adversaries_every_n import STUDENT, TEACHER, smallest

from earnshaw.landscapes import landscape
from earnshaw.landscapes.two_layer import split_neuron
from earnshaw.problems import TwoLayer
from earnshaw.proof import check, explain, prove, splitting, splitting_table
from earnshaw.proof.doubles import double_hessian
from earnshaw.proof.splitting import split_block
from earnshaw.proof.trusted import check_bytes
from earnshaw.proof.trusted.balls import floats, precision
from earnshaw.proof.trusted.relu import Point
from earnshaw.symmetry import Pattern


@pytest.fixture(scope="module")
def proof():
    return smallest()


@pytest.fixture(scope="module")
def forged():
    return adversaries_every_n.everything()


def test_the_smallest_teacher_has_spurious_minima_for_every_n(proof):
    assert proof.claim.objective_ge >= 0.01716
    assert proof.claim.lambda_min_ge >= 0.04879
    assert (proof.claim.split_neuron, round(proof.claim.split_ge, 4)) == (1, 0.3473)
    assert proof.claim.split_ext_ge == pytest.approx(proof.claim.split_ge / 2), "tr D = d (M_ii - 1/2)"
    checked = check(proof.certificates["every_n"])
    assert checked.verified
    assert "for every n' >= 3 and every dimension D >= 2" in str(checked)
    assert "every n' >= n by splitting neuron 1" in proof.words
    told = explain(proof.certificates["every_n"])
    assert "for every n' >= 3" in told.words
    assert "none at neuron 1 (curvature 0.3473)" in told.words
    assert told.latex.count("{") == told.latex.count("}")
    assert told.latex.count("$") % 2 == 0


def test_the_certificate_holds_that_of_its_minimum_whole(proof):
    whole, minimum = (dict(proof.certificates[kind].document) for kind in ("every_n", "minimum"))
    hint = {key: value for key, value in whole["hint"].items() if key != "shift_split"}
    rest = {key: value for key, value in whole.items() if key not in ("every_n", "sha256")}
    assert {**rest, "kind": "minimum", "hint": hint} == {key: minimum[key] for key in rest}


def test_forgeries_are_rejected_with_a_reason_and_true_ones_accepted(forged):
    bad, good = forged
    for name, data in good.items():
        assert check_bytes(data)[0], (name, check_bytes(data))
    reasons = {
        "another neuron": "delta exceeds what D proves|no Cholesky factor",
        "a neuron too many": "counted from 0 to 2",
        "delta too large": "delta exceeds what D proves",
        "delta zero": "delta is not positive",
        "delta_ext too large": "delta_ext exceeds",
        "delta without its drift": "delta exceeds what D proves",
        "delta_ext without its drift": "delta_ext exceeds",
        "in dimension d alone": "needs lambda_ext_ge",
        "the teacher moved": "is below",
        "a saddle": "is below|exceeds|no Cholesky",
    }
    for name, data in bad.items():
        accepted, _, reason = check_bytes(data)
        assert not accepted, name
        assert "the check stopped" not in reason, name
        assert any(part in reason for part in reasons.get(name, reason).split("|")), (name, reason)


def test_a_minimum_without_a_split_stable_neuron_is_refused_with_the_way_down(minimum_point):
    proof = prove(TwoLayer(np.eye(6)), minimum_point, every_n=True)
    assert proof.verdict.name == "PROVED_MINIMUM"
    assert "every_n" not in proof.certificates
    assert "neurons 0-4 (curvature -0.1182), neuron 5 (curvature -0.09039)" in proof.reason
    assert "for neuron 5 along (0.343, 0.343, 0.343, 0.343, 0.343, 0.641)" in proof.reason
    assert "a way down at neurons 0-4" in explain(proof.main).words
    assert "way down (0.343" in splitting_table(proof.splitting)
    assert [row["stable"] for row in proof.report("x", 0, None)["splitting"]] == [False, False]


@pytest.mark.parametrize("k", [12, 20])
def test_family_ii_has_no_split_stable_neuron(k):
    pattern = Pattern.of((k - 1, 1), (0, None))
    numbers = pattern.settle(np.array([1 - 1.5 / k**2, -1.5 / k**2, 2 / k, 2 / k, -1 + 2.2 / k]))
    rows = splitting(TwoLayer(np.eye(k)), pattern.weights(numbers))
    assert sorted(len(row.neurons) for row in rows) == [1, k - 1]
    assert max(row.curvature for row in rows) < 0


def test_the_block_of_a_neuron_is_that_of_the_hessian(proof):
    rng = np.random.default_rng(0)
    weights, teacher = rng.normal(size=(4, 3)), rng.normal(size=(3, 3))
    hessian = np.asarray(landscape(TwoLayer(teacher, students=4)).hessian(weights)).reshape(4, 3, 4, 3)
    for neuron in range(4):
        block, beyond = split_block(weights, teacher, neuron)
        assert np.allclose(block, hessian[neuron, :, neuron] - np.eye(3) / 2, atol=1e-13)
        assert np.allclose(block @ weights[neuron], 0, atol=1e-13)
        assert np.trace(block) == pytest.approx(3 * beyond)
    (row,) = splitting(TwoLayer(np.eye(1)), [[-0.5]])
    assert (row.direction, row.is_stable) == ((), False)


def parts(weights, more):
    """Split neuron 1 of the smallest example into 1 + `more` parts whose shares differ by a factor of up to three."""
    left = np.random.default_rng(more).uniform(1, 3, size=more + 1)
    left /= left.sum()
    for place in range(more, 0, -1):
        weights = split_neuron(weights, 1, left[place] / left[: place + 1].sum())
    return weights


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("more", [1, 5, 50])
def test_split_networks_have_the_kernel_that_is_predicted_and_a_positive_rest(proof, more, dimension):
    teacher = np.pad(TEACHER, ((0, 0), (0, dimension - 2)))
    weights = np.pad(parts(proof.point.weights, more), ((0, 0), (0, dimension - 2)))
    with precision(128):
        point = Point(weights.tolist(), teacher.tolist())
        assert np.linalg.norm(floats(point.gradient())) < 1e-12
        assert float(point.value()) == pytest.approx(proof.claim.objective_ge, abs=1e-13)
        hessian = double_hessian(point).entries
    values, vectors = np.linalg.eigh(hessian)
    assert np.abs(values[:more]).max() < 1e-12
    assert values[more] > 0.01
    kernel = vectors[:, :more].T.reshape(
        more, *weights.shape
    )  # tangent to the set: multiples of the neuron, with sum 0
    own = weights[1] / np.linalg.norm(weights[1])
    split = [1, *range(3, 3 + more)]
    assert np.allclose(kernel[:, [0, 2]], 0, atol=1e-9)
    assert np.allclose(kernel[:, split], (kernel[:, split] @ own)[..., None] * own, atol=1e-9)
    assert np.allclose(kernel[:, split].sum(axis=1), 0, atol=1e-9)


@pytest.mark.parametrize("more", [1, 5, 50])
def test_perturbed_descents_return_to_the_set_of_minima(proof, more):
    weights = parts(proof.point.weights, more)
    ground = landscape(TwoLayer(TEACHER, students=3 + more))
    noise = np.random.default_rng(1).standard_normal(weights.shape) * 0.02 * np.linalg.norm(weights, axis=1)[:, None]
    step = 1 / float(np.max(ground.spectrum(weights)))
    down = jax.jit(lambda start: jax.lax.fori_loop(0, 20_000, lambda _, x: x - step * ground.gradient(x), start))
    ended = np.asarray(down(weights + noise))
    assert float(ground.value(weights + noise)) > float(ground.value(weights)) + 1e-7
    assert float(ground.value(ended)) == pytest.approx(float(ground.value(weights)), abs=1e-13)
    split = [1, *range(3, 3 + more)]
    assert np.allclose(ended[split].sum(axis=0), proof.point.weights[1], atol=1e-6)
    assert np.allclose(ended[[0, 2]], proof.point.weights[[0, 2]], atol=1e-6)
    assert np.abs(ended[split, 1]).max() < 1e-6, "every part is a multiple of the neuron"


def test_a_neuron_that_is_not_stable_has_a_way_down_when_it_is_split():
    proof = prove(TwoLayer(TEACHER), STUDENT)
    row = next(row for row in proof.splitting if not row.is_stable)
    split = split_neuron(proof.point.weights, row.neurons[0])
    ground, move = landscape(TwoLayer(TEACHER, students=4)), np.zeros((4, 2))
    move[row.neurons[0]], move[3] = row.direction, -np.array(row.direction)
    hessian = np.asarray(ground.hessian(split)).reshape(8, 8)
    assert move.ravel() @ hessian @ move.ravel() == pytest.approx(4 * row.curvature)


@pytest.mark.nightly
@pytest.mark.slow
def test_the_orthonormal_teacher_with_44_neurons_has_them_for_every_n_from_54_on():
    """One coordinate flipped, 9 with a small companion, and one small mixture: S_34 x S_9. About a minute and 2.2 GB."""
    pattern = Pattern.of((34, 9, 1), (0, 1, 1, None, None))
    start = [
        0.99867,
        -0.00095,
        -0.00085,
        0.04483,
        -0.00129,
        0.98699,
        -0.00114,
        0.04748,
        0.00268,
        0.02288,
        0.00178,
        -0.02094,
    ]
    numbers = pattern.settle(np.array([*start, 0.01395, 0.0137, -0.74815, 0.00566, -0.0005, -0.03553]))
    problem = TwoLayer(np.eye(44), students=54)
    proof = prove(problem, pattern.weights(numbers), every_n=True, basin=False, robust=False)
    assert proof.claim.lambda_min_ge > 0.0039
    assert 2.6e-5 < proof.claim.split_ge < 2.7e-5
    assert proof.claim.split_ext_ge > 0.0039
    assert check(proof.certificates["every_n"]).verified
