"""Proportions and means: intervals, errors and comparisons."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike


def proportion_interval(successes: int, trials: int) -> tuple[float, float]:
    """Return the exact (Clopper-Pearson) 95% interval of a proportion."""
    from scipy.special import betaincinv

    low = betaincinv(successes, trials - successes + 1, 0.025) if successes else 0.0
    high = betaincinv(successes + 1, trials - successes, 0.975) if successes < trials else 1.0
    return float(low), float(high)


def percentage(count: int, trials: int) -> tuple[float, tuple[float, float]]:
    """Return a proportion in percent, and its exact 95% interval."""
    low, high = proportion_interval(count, trials)
    return 100 * count / trials, (100 * low, 100 * high)


def two_proportions(first: float, first_trials: int, second: float, second_trials: int) -> float:
    r"""Return the pooled two-sample statistic :math:`z = (p_1 - p_2) / \sqrt{p(1-p)(1/m_1 + 1/m_2)}`; 0 when both are equal."""
    pooled = (first * first_trials + second * second_trials) / (first_trials + second_trials)
    if first == second:
        return 0.0
    return (first - second) / math.sqrt(pooled * (1 - pooled) * (1 / first_trials + 1 / second_trials))


def agreeing_proportions(first: float, first_trials: int, second_trials: int, limit: float) -> tuple[float, float]:
    r"""Return the second proportions :math:`p_2` for which the two-sample statistic is at most ``limit`` in absolute value.

    They are an interval around :math:`p_1`, whose ends solve a quadratic equation:

    .. math:: (p_1 - p_2)^2 = c\,p(1-p), \qquad c = z^2(1/m_1 + 1/m_2), \quad p = \frac{m_1 p_1 + m_2 p_2}{m_1 + m_2}

    An end that is no proportion, below 0 or above 1, is infinite: no second sample lies beyond it.
    """
    c = limit**2 * (1 / first_trials + 1 / second_trials)
    w = second_trials / (first_trials + second_trials)
    a = (1 - w) * first
    square, half, rest = 1 + c * w * w, first + c * w * (0.5 - a), first**2 - c * a * (1 - a)
    root = math.sqrt(max(half * half - square * rest, 0.0))
    low, high = (half - root) / square, (half + root) / square
    rounding = 1e-12
    return low if low > rounding else -math.inf, high if high < 1 - rounding else math.inf


def standard_error(values: ArrayLike) -> float:
    r"""Return the standard error of the mean of n values, :math:`s/\sqrt n` with :math:`s^2` over :math:`n - 1`."""
    values = np.asarray(values)
    return float(values.std(ddof=1) / math.sqrt(values.size))


def counted_covariance(values: ArrayLike, counts: ArrayLike) -> np.ndarray:
    r"""Return the covariance of vectors (n, m) that occur so many times, over :math:`\sum c_i`: (m, m)."""
    return np.atleast_2d(np.cov(np.asarray(values, dtype=float).T, fweights=np.asarray(counts, dtype=int), ddof=0))


def range_in_ellipse(covariance: ArrayLike, radius: float, first: tuple[float, float]) -> tuple[float, float]:
    r"""Return the least and the largest second coordinate in an ellipse, where the first one lies in an interval.

    .. math:: (x, y)\,C^{-1}(x, y)^\top \le R^2, \qquad y = \rho\frac{s_y}{s_x}x \pm s_y\sqrt{(1-\rho^2)(R^2 - x^2/s_x^2)}

    with :math:`s` the roots of the diagonal of C and :math:`\rho` the correlation. An interval that misses the ellipse is
    moved to its nearest point.
    """
    (xx, xy), (_, yy) = np.asarray(covariance, dtype=float)
    if xx == 0 or yy == 0:
        return -radius * math.sqrt(yy), radius * math.sqrt(yy)
    rho = max(-1.0, min(1.0, xy / math.sqrt(xx * yy)))
    low, high = (max(-radius, min(radius, end / math.sqrt(xx))) for end in first)

    def edge(sign: int) -> float:
        x = max(low, min(high, sign * radius * rho))
        return math.sqrt(yy) * (rho * x + sign * math.sqrt((1 - rho**2) * max(radius**2 - x**2, 0.0)))

    return edge(-1), edge(1)
