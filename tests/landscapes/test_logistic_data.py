import itertools
from dataclasses import replace

import numpy as np

from earnshaw.landscapes.logistic_data import BLOCK, draw, draw_files, draw_rows, network
from earnshaw.problems.logistic import Labels, Logistic, gaussian_weights

PROBLEM = Logistic(gaussian_weights(2, 5, seed=0), samples=3 * BLOCK + 100, seed=4)


def test_rows_do_not_depend_on_how_they_are_cut():
    x, y = draw_rows(PROBLEM)
    assert x.shape == (PROBLEM.samples, 5)
    for cuts in ([0, 1, 4095, 4096, 4097, PROBLEM.samples], [0, 9000, PROBLEM.samples]):
        parts = [draw_rows(PROBLEM, a, b) for a, b in itertools.pairwise(cuts)]
        assert np.array_equal(np.concatenate([part[0] for part in parts]), x)
        assert np.array_equal(np.concatenate([part[1] for part in parts]), y)
    shorter = draw_rows(replace(PROBLEM, samples=5000))
    assert np.array_equal(shorter[0], x[:5000])
    assert not np.array_equal(draw_rows(replace(PROBLEM, seed=5), 0, 10)[0], x[:10])


def test_labels_are_what_the_model_says():
    x, y = draw_rows(PROBLEM)
    value = network(PROBLEM, x)
    expected = np.mean([1 / (1 + np.exp(-x @ w)) for w in PROBLEM.weights], axis=0)
    np.testing.assert_allclose(value, expected, rtol=1e-13)
    assert set(np.unique(y)) == {0.0, 1.0}
    score = (y - value) / np.sqrt(value * (1 - value))
    for moment in (score, score * np.sign(value - 0.5), score**2 - 1):
        assert abs(moment.mean()) < 5 * moment.std() / np.sqrt(len(y))
    exact = draw(replace(PROBLEM, labels=Labels.REGRESSION))
    assert np.array_equal(exact.x, x)
    np.testing.assert_allclose(exact.y, value, rtol=1e-13)
    assert abs(x.mean()) < 5 / np.sqrt(x.size)
    assert abs(x.var() - 1) < 5 * np.sqrt(2 / x.size)


def test_files_hold_the_same_rows(tmp_path):
    rows = draw_files(PROBLEM, tmp_path)
    assert isinstance(rows.x, np.memmap)
    x, y = draw_rows(PROBLEM)
    assert np.array_equal(rows.x, x)
    assert np.array_equal(rows.y, y)
