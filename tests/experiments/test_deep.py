import numpy as np
import pytest

from earnshaw.errors import InputError
from earnshaw.experiments.deep import DeepTraining, train_grid
from earnshaw.store import read_npz

SMALL = DeepTraining(teachers=2, steps=400, samples=32, records=2, dimension=4, tests=256)


def test_mistakes_are_explained():
    with pytest.raises(InputError, match="do not divide"):
        DeepTraining(steps=10, records=3)
    with pytest.raises(InputError, match="teachers is 0"):
        DeepTraining(teachers=0)


@pytest.mark.slow
def test_training_learns_resumes_and_refuses_another_plan(tmp_path):
    (whole,) = train_grid([(2, 3)], SMALL, tmp_path / "a")
    assert whole.errors.shape == (2, 2)
    assert (whole.final > 0).all()
    assert whole.final.max() < 0.1  # a random guess has about 1
    before = (tmp_path / "a" / "depth2-width3.npz").read_bytes()
    both = train_grid([(2, 3), (3, 3)], SMALL, tmp_path / "a")
    assert (tmp_path / "a" / "depth2-width3.npz").read_bytes() == before
    assert np.array_equal(both[0].errors, whole.errors)
    train_grid([(3, 3)], SMALL, tmp_path / "b")
    names = [tmp_path / name / "depth3-width3.npz" for name in "ab"]
    assert np.array_equal(read_npz(names[0])["errors"], read_npz(names[1])["errors"])
    with pytest.raises(InputError, match="another computation"):
        train_grid([(2, 3)], DeepTraining(teachers=3, steps=400, records=2), tmp_path / "a")
