"""The four signs of one start of the convolutional network."""

import numpy as np
import pytest

from earnshaw.descent import Outcome
from earnshaw.experiments.convnet import follow, four_fates
from earnshaw.landscapes import ConvNetLandscape
from earnshaw.problems import RandomConvNets
from earnshaw.starts import SphereAndBall

NETS = RandomConvNets(filter_size=4, patches=5, ratio=0.5)


@pytest.mark.slow
@pytest.mark.nightly
def test_four_fates_are_those_of_the_signs_of_a_sweeps_start():
    found = four_fates(NETS, seed=0, run=3, step=0.1, steps=300, every=3)
    np.testing.assert_array_equal(found.starts[0], SphereAndBall().draw(NETS, 0, np.array([3]))[0])
    np.testing.assert_array_equal(found.starts[3], -found.starts[0])
    assert found.problem.ratio == pytest.approx(0.5)
    assert found.path.step.tolist() == list(range(0, 301, 3))
    assert [outcome is Outcome.SPURIOUS for outcome in found.outcomes] == found.path.spurious.tolist()
    assert set(found.outcomes) == {Outcome.GLOBAL, Outcome.SPURIOUS}
    whole = follow(ConvNetLandscape.of(found.problem), found.starts, 0.1, 300, 300)  # in all coordinates
    np.testing.assert_allclose(found.path.value[-1], whole.value[-1], atol=1e-12)
    np.testing.assert_allclose(found.ends, whole.ends, atol=1e-10)
    good = found.outcomes.index(Outcome.GLOBAL)
    np.testing.assert_allclose(found.ends[good, 4:], found.problem.output_weights, atol=0.05)
