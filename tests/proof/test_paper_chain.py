"""The paper's own chain gives the paper's own numbers, and its eigenvalue algorithm holds here."""

import numpy as np
import pytest

from earnshaw.errors import InputError
from earnshaw.landscapes import landscape
from earnshaw.problems import ConvNet, TwoLayer
from earnshaw.proof import follow_paper, prove

# k, n; what the paper prints for its examples: radius, smallest eigenvalue and loss; how far its runs lay apart
EXAMPLES = (
    (6, 6, 1.12e-7, 0.004699, 0.02508, 1.2e-8),
    (8, 9, 7.8e-8, 0.005944, 0.02056, 0.0),
)


def truncates_to(value, printed, digits):
    """Whether `value` shows as `printed` when cut or rounded to that many significant digits."""
    unit = 10.0 ** (np.floor(np.log10(abs(printed))) - digits + 1)
    return -1e-9 <= (value - printed) / unit <= 1


def test_printed_examples_are_reproduced(published):
    points = {name: weights for name, index, weights in published if index == 0}
    for k, n, radius, eigenvalue_ge, objective_ge, family_distance in EXAMPLES:
        weights = points[f"k{k}-n{n}"]
        chain = follow_paper(TwoLayer(np.eye(k)), weights, family_distance=family_distance)
        assert chain.holds
        assert truncates_to(chain.radius, radius, 3 if k == 6 else 2)
        assert truncates_to(chain.eigenvalue_printed, eigenvalue_ge, 4)
        assert truncates_to(chain.objective_ge, objective_ge, 4)
        ours = prove(TwoLayer(np.eye(k)), weights)
        assert ours.claim.enclosure_radius < 1e-6 * chain.radius
        assert ours.claim.lambda_min_ge >= chain.eigenvalue_printed
        assert ours.claim.objective_ge >= chain.objective_ge


def test_published_runs_stopped_at_a_gradient_of_1e_9_over_2_pi(published):
    largest = []
    for _, _, weights in published:
        exact = landscape(TwoLayer(np.eye(weights.shape[1]), students=len(weights)))
        largest.append(float(np.linalg.norm(exact.gradient(exact.point(weights)), axis=-1).max()))
    assert 0.99 < max(largest) / (1e-9 / (2 * np.pi)) < 1


def test_the_chain_at_a_point_that_is_not_polished(minimum_point, minimum_proof):
    chain = follow_paper(TwoLayer(np.eye(6)), minimum_point)
    assert chain.holds
    assert np.linalg.norm(minimum_point - minimum_proof.point.weights) < chain.radius
    assert chain.eigenvalue_corrected <= chain.eigenvalue_printed <= minimum_proof.claim.lambda_min_ge + 1e-5
    assert chain.third_order > 50  # ours is 8: the printed constant sums over neurons where a maximum will do
    apart = follow_paper(TwoLayer(np.eye(6)), minimum_point, family_distance=1e-8)
    assert apart.eigenvalue_printed == pytest.approx(chain.eigenvalue_printed - chain.third_order * 1e-8, abs=1e-12)


def test_the_chain_fails_where_it_should(minimum_point, saddle_point):
    assert not follow_paper(TwoLayer(np.eye(6)), minimum_point + 1e-3).holds
    assert not follow_paper(TwoLayer(np.eye(6)), saddle_point).holds
    assert not follow_paper(TwoLayer(np.eye(6)), np.eye(6)).holds


def test_the_chain_is_about_relu_alone(minimum_point):
    for problem in (ConvNet([1.0, 2.0], [1.0]), TwoLayer(np.eye(6), activation="erf"), np.eye(6)):
        with pytest.raises(InputError, match="ReLU"):
            follow_paper(problem, minimum_point)
