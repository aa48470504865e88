"""Proportions: intervals and comparisons."""

from __future__ import annotations

import math


def proportion_interval(successes: int, trials: int) -> tuple[float, float]:
    """Return the exact (Clopper-Pearson) 95% interval of a proportion."""
    from scipy.stats import binomtest  # a second of import that most commands do not need

    interval = binomtest(successes, trials).proportion_ci(0.95, method="exact")
    return float(interval.low), float(interval.high)


def two_proportions(first: float, first_trials: int, second: float, second_trials: int) -> float:
    r"""Return the pooled two-sample statistic :math:`z = (p_1 - p_2) / \sqrt{p(1-p)(1/m_1 + 1/m_2)}`; 0 when both are equal."""
    pooled = (first * first_trials + second * second_trials) / (first_trials + second_trials)
    if first == second:
        return 0.0
    return (first - second) / math.sqrt(pooled * (1 - pooled) * (1 / first_trials + 1 / second_trials))
