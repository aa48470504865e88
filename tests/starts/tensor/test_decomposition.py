import numpy as np
import pytest

from earnshaw.starts.tensor.decomposition import decompose
from earnshaw.symmetry.assignment import aligned_error


def tensor(vectors):
    return np.einsum("ia,ib,ic->abc", vectors, vectors, vectors)


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_vectors_that_are_not_orthogonal_are_found(size):
    vectors = np.random.default_rng(size).normal(size=(size, size))
    found = decompose(tensor(vectors))
    assert found.misfit < 1e-8
    assert aligned_error(found.vectors, vectors) < 1e-6
    np.testing.assert_allclose(np.linalg.norm(found.directions, axis=1), 1)


def test_noise_moves_the_vectors_no_more_than_itself():
    generator = np.random.default_rng(0)
    vectors = np.linalg.qr(generator.normal(size=(3, 3)))[0]
    noise = generator.normal(size=(3, 3, 3))
    noise = sum(noise.transpose(p) for p in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))) / 6
    found = decompose(tensor(vectors) + 1e-3 * noise)
    assert 1e-4 < aligned_error(found.vectors, vectors) < 5e-3
    assert found.misfit < 2e-3


def test_nothing_can_be_found_in_nothing():
    assert decompose(np.zeros((2, 2, 2))).misfit == 1
    assert not decompose(np.full((2, 2, 2), np.nan)).vectors.any()
