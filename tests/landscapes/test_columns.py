"""Neurons as columns: the same gradient as with neurons as rows, in another order."""

import jax
import numpy as np
import pytest

from earnshaw.landscapes import landscape
from earnshaw.landscapes.columns import Columns
from earnshaw.problems import TwoLayer


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 12])
@pytest.mark.parametrize(("k", "d"), [(1, 1), (3, 3), (2, 5), (8, 8), (5, 9)])
def test_the_gradient_is_that_of_rows(n, k, d):
    random = np.random.default_rng(n + 20 * k)
    charges = {"output_weights": random.uniform(-1, 2, k), "student_output_weights": random.uniform(-1, 2, n)}
    rows = landscape(TwoLayer(np.eye(k, d), students=n, **charges))
    points = random.normal(size=(4, n, d))
    points[0] = 1e-3 * points[0]
    points[1, -1] = -points[1, 0]  # opposite, or a neuron alone
    found = Columns.turned(jax.jit(Columns.of(rows).gradient)(Columns.turned(points)))
    np.testing.assert_allclose(found, rows.gradient(points), rtol=0, atol=1e-14)


def test_padded_neurons_stay_and_are_not_noticed():
    rows = landscape(TwoLayer(np.eye(3, 5), students=2))
    points = np.random.default_rng(0).normal(size=(4, 2, 5))
    wide = rows.widened(4)
    found = np.asarray(Columns.turned(Columns.of(wide).gradient(Columns.turned(wide.room(points)))))
    np.testing.assert_allclose(found[:, :2, :5], rows.gradient(points), rtol=0, atol=1e-14)
    assert not found[:, 2:].any()
    assert not found[:, :, 5:].any()


def test_parallel_neurons_are_as_close_as_any():
    """Where sine and angle are badly known, and their errors cancel only if both come from one cosine."""
    rows = landscape(TwoLayer(np.eye(3), students=3))
    for angle in (1e-4, 1e-7, 1e-9, 0.0):
        points = np.array([[[1.0, 0.0, 0.0], [1.0, angle, 0.0], [-1.0, 0.0, angle]]])
        found = Columns.turned(Columns.of(rows).gradient(Columns.turned(points)))
        np.testing.assert_allclose(found, rows.gradient(points), rtol=0, atol=1e-14)
