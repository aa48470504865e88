"""A minimum and a saddle of six students of six orthonormal teachers."""

import numpy as np


def symmetric_point(a, b, c, d, e):
    """A point of type S_5 at k = n = 6: `a` on the diagonal, `b` off it, `c` odd column, `d` odd row, `e` the corner."""
    weights = np.full((6, 6), b)
    np.fill_diagonal(weights, a)
    weights[:-1, -1], weights[-1, :-1], weights[-1, -1] = c, d, e
    return weights


MINIMUM = symmetric_point(0.98670382, -0.0504134, 0.30801099, 0.22451581, -0.60151192)
SADDLE = symmetric_point(-0.5877, 0.3912, -0.0138, 0.0168, 1.0684)
