"""Intervals and comparisons of proportions against published and independently computed values."""

import mpmath as mp
import numpy as np
import pytest
import scipy.stats

from earnshaw.numerics import agreeing_proportions, percentage, proportion_interval, two_proportions
from earnshaw.numerics.statistics import counted_covariance, range_in_ellipse, standard_error


@pytest.mark.parametrize(("successes", "trials"), [(0, 10), (3, 1000), (346, 1000), (10, 10), (1, 1)])
def test_the_interval_inverts_the_binomial_tails(successes, trials):
    """Clopper-Pearson: at the lower end the upper tail is 2.5%, at the upper end the lower tail."""
    low, high = proportion_interval(successes, trials)
    assert 0 <= low <= successes / trials <= high <= 1
    if successes:
        assert scipy.stats.binom.sf(successes - 1, trials, low) == pytest.approx(0.025, rel=1e-6)
    else:
        assert low == 0
    if successes < trials:
        assert scipy.stats.binom.cdf(successes, trials, high) == pytest.approx(0.025, rel=1e-6)
    else:
        assert high == 1


def test_the_rule_of_three():
    assert proportion_interval(0, 1000)[1] == pytest.approx(1 - 0.025 ** (1 / 1000))


def test_two_proportions_is_the_root_of_the_chi_square_statistic():
    table = np.array([[346, 654], [290, 710]])
    statistic = scipy.stats.chi2_contingency(table, correction=False).statistic
    z = two_proportions(0.346, 1000, 0.290, 1000)
    assert z**2 == pytest.approx(statistic)
    assert z > 0
    assert two_proportions(0.290, 1000, 0.346, 1000) == pytest.approx(-z)
    uneven = two_proportions(0.5, 40, 0.25, 400)
    p = mp.mpf(120) / 440
    assert uneven == pytest.approx(float(mp.mpf("0.25") / mp.sqrt(p * (1 - p) * (mp.mpf(1) / 40 + mp.mpf(1) / 400))))


def test_equal_proportions_are_no_difference_also_at_the_ends():
    assert two_proportions(0.0, 10, 0.0, 1000) == 0.0
    assert two_proportions(1.0, 10, 1.0, 1000) == 0.0
    assert two_proportions(0.0, 1000, 1.0, 1000) == pytest.approx(-np.sqrt(2000))


@pytest.mark.parametrize(
    ("first", "trials", "others"), [(0.346, 1000, 1000), (0.003, 200, 1000), (0.0, 50, 9), (1.0, 8, 8)]
)
@pytest.mark.parametrize("limit", [1.0, 3.5])
def test_proportions_agree_up_to_where_the_statistic_is_at_its_limit(first, trials, others, limit):
    low, high = agreeing_proportions(first, trials, others, limit)
    assert low < first < high
    for end, beyond in ((low, -1e-6), (high, 1e-6)):
        if np.isfinite(end):
            assert abs(two_proportions(first, trials, end, others)) == pytest.approx(limit)
            assert abs(two_proportions(first, trials, end + beyond, others)) > limit
        else:
            assert abs(two_proportions(first, trials, float(end > 0), others)) <= limit


def test_a_percentage_is_a_proportion_with_its_interval():
    percent, (low, high) = percentage(3, 8)
    assert percent == 37.5
    assert (low / 100, high / 100) == pytest.approx(proportion_interval(3, 8))


def test_the_standard_error_of_a_mean():
    values = np.random.default_rng(0).normal(size=12)
    assert standard_error(values) == pytest.approx(scipy.stats.sem(values))


def test_values_with_counts_vary_like_the_values_written_out():
    values, counts = np.array([[0.0187, 0.032], [0.035, 0.016], [0.07, 0.015]]), [300, 46, 1]
    written = np.repeat(values, counts, axis=0)
    np.testing.assert_allclose(counted_covariance(values, counts), np.cov(written.T, ddof=0))
    assert not counted_covariance([[0.02, 0.03]], [5]).any()


@pytest.mark.parametrize("first", [(-9, 9), (0.2, 0.5), (-1.0, -0.9), (0.0, 0.0)])
@pytest.mark.parametrize("rho", [-0.98, 0.0, 0.5])
def test_the_range_in_an_ellipse_is_that_of_its_points(first, rho):
    """Against points on and in the ellipse: the image of a disc under a root of the covariance."""
    covariance = np.array([[1.0, rho * 0.5], [rho * 0.5, 0.25]])
    angles, radii = np.linspace(0, 2 * np.pi, 2001), np.linspace(0, 3, 301)
    disc = radii[:, None, None] * np.stack([np.cos(angles), np.sin(angles)], -1)
    x, y = np.moveaxis(disc @ np.linalg.cholesky(covariance).T, -1, 0)
    inside = (x >= first[0] - 1e-3) & (x <= first[1] + 1e-3)
    expected = y[inside].min(), y[inside].max()
    assert range_in_ellipse(covariance, 3.0, first) == pytest.approx(expected, abs=0.02)


def test_ranges_in_ellipses_that_are_lines_or_are_missed():
    line = np.array([[1.0, -1.0], [-1.0, 1.0]])
    assert range_in_ellipse(line, 3.0, (0.5, 1.0)) == pytest.approx((-1.0, -0.5))
    assert range_in_ellipse(line, 3.0, (4.0, 5.0)) == pytest.approx((-3.0, -3.0))
    assert range_in_ellipse(np.zeros((2, 2)), 3.0, (0.5, 1.0)) == (0.0, 0.0)
