"""Graphs: refinement sees what it can, the search decides the rest, and orders are followed once per orbit."""

import itertools

import numpy as np

from earnshaw.symmetry.graphs import Graphs, clusters


def graphs(*edges):
    edges = np.array(edges, dtype=np.uint64)
    count, rows, columns = edges.shape
    return Graphs(edges, np.zeros((count, rows), dtype=np.uint64), np.zeros((count, columns), dtype=np.uint64))


HEXAGON = np.eye(6) + np.roll(np.eye(6), 1, axis=1)  # a cycle of 12 vertices
TRIANGLES = np.kron(np.eye(2), np.eye(3) + np.roll(np.eye(3), 1, axis=1))  # two cycles of 6


def test_values_in_a_chain_of_small_gaps_share_a_colour():
    assert clusters(np.array([[5.0, 0.9], [0.0, 1.8]]), 1.0).tolist() == [[1, 0], [0, 0]]
    assert clusters(np.array([0.0, 1.0, 2.0]), 0.5).tolist() == [0, 1, 2]
    assert clusters(np.zeros((0, 3)), 1.0).shape == (0, 3)


def test_refinement_tells_apart_what_has_other_neighbours():
    path = np.eye(4) + np.eye(4, k=1)
    assert graphs(path, path[::-1]).refined() is not None
    assert graphs(path, HEXAGON[:4, :4] + np.eye(4)).refined() is None
    refined = graphs(path).refined()
    assert refined is not None
    assert refined.cell() is None  # the two ends differ: one is a row, one a column


def test_the_search_decides_what_refinement_cannot():
    """All vertices have two edges of one kind, so that all look alike."""
    both = graphs(HEXAGON, TRIANGLES).refined()
    assert both is not None
    for whole_cells in (True, False):
        for rows, columns in both.isomorphisms(whole_cells):
            assert not np.array_equal(HEXAGON[rows][:, columns], TRIANGLES)
    rng = np.random.default_rng(0)
    moved = TRIANGLES[rng.permutation(6)][:, rng.permutation(6)]
    same = graphs(moved, TRIANGLES).refined()
    assert same is not None
    assert any(np.array_equal(moved[r][:, c], TRIANGLES) for r, c in same.isomorphisms(whole_cells=False))


def test_one_order_is_followed_for_each_orbit():
    """By hand: an automorphism exists exactly where trying all permutations finds one."""

    def same(first, second):
        (edges, *one), (_, *other) = first, second
        return any(
            np.array_equal(edges[0][list(rows)][:, list(columns)], edges[0])
            and np.array_equal(one[0][0][list(rows)], other[0][0])
            and np.array_equal(one[1][0][list(columns)], other[1][0])
            for rows in itertools.permutations(range(3))
            for columns in itertools.permutations(range(3))
        )

    cycle = graphs(np.eye(3) + np.roll(np.eye(3), 1, axis=1))
    assert len(list(cycle.orders(same))) == 1
    assert len(list(cycle.orders(lambda first, second: False))) == 6  # all automorphisms: three columns, two ways round
    for rows, columns in cycle.orders(same):
        assert sorted(rows) == sorted(columns) == [0, 1, 2]
