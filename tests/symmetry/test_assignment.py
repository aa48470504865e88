import itertools

import numpy as np

from earnshaw.symmetry.assignment import align_neurons, aligned_error, relative_error, spread


def test_the_best_of_all_permutations_is_found():
    generator = np.random.default_rng(0)
    weights, target = generator.normal(size=(2, 5, 3))
    best = min(np.linalg.norm(weights[list(p)] - target) for p in itertools.permutations(range(5)))
    aligned, permutation = align_neurons(weights, target)
    assert np.array_equal(aligned, weights[permutation])
    assert abs(np.linalg.norm(aligned - target) - best) < 1e-12
    assert abs(aligned_error(weights, target) - best) < 1e-12
    assert relative_error(2 * target[::-1], target) == 1


def test_spread_sees_through_permutations_and_nothing_else():
    generator = np.random.default_rng(1)
    weights = generator.normal(size=(3, 4))
    same = np.stack([weights[list(p)] for p in itertools.permutations(range(3))])
    assert spread(same) < 1e-14
    shifts = np.array([-1.0, 1.0])[:, None, None] * 0.01 * np.eye(3, 4)
    assert abs(spread(np.stack([weights, weights]) + shifts) - 0.01 * np.sqrt(3)) < 1e-12
    assert spread(np.stack([weights, np.full_like(weights, np.nan)])) == np.inf
