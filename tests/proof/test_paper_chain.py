"""The paper's own chain gives the paper's own numbers, and its eigenvalue algorithm holds here."""

import numpy as np
import pytest

from earnshaw.errors import InputError
from earnshaw.problems import ConvNet, TwoLayer
from earnshaw.proof import EXAMPLES, follow_paper, prove


def truncates_to(value, printed, digits):
    """Whether `value` shows as `printed` when cut or rounded to that many significant digits."""
    unit = 10.0 ** (np.floor(np.log10(abs(printed))) - digits + 1)
    return -1e-9 <= (value - printed) / unit <= 1


def test_printed_examples_are_reproduced(published):
    points = {name: weights for name, index, weights in published if index == 0}
    for example in EXAMPLES:
        weights = points[f"k{example.k}-n{example.n}"]
        chain = follow_paper(TwoLayer(np.eye(example.k)), weights, family_distance=example.family_distance)
        assert chain.holds
        assert truncates_to(chain.radius, example.radius, 3 if example.k == 6 else 2)
        assert truncates_to(chain.eigenvalue_printed, example.eigenvalue_ge, 4)
        assert truncates_to(chain.objective_ge, example.objective_ge, 4)
        ours = prove(TwoLayer(np.eye(example.k)), weights)
        assert ours.claim.enclosure_radius < 1e-6 * chain.radius
        assert ours.claim.lambda_min_ge >= chain.eigenvalue_printed
        assert ours.claim.objective_ge >= chain.objective_ge


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
