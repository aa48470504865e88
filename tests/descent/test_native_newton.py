"""Newton's method of the native kernel: against the dense Hessian, against XLA's, and that no bit depends on company or width."""

import numpy as np
import pytest
from six_points import MINIMUM, SADDLE

from earnshaw.descent import native
from earnshaw.descent.newton.polish import Polished
from earnshaw.descent.newton.polish import polish as by_xla
from earnshaw.landscapes import landscape
from earnshaw.numerics import TOLERANCES
from earnshaw.problems import TwoLayer, standard_teacher

pytestmark = pytest.mark.skipif(native.missing() is not None, reason=f"there is no native kernel: {native.missing()}")

SIX = landscape(TwoLayer(standard_teacher(6)))


def probe_of(energy):
    return np.random.default_rng(0).normal(size=energy.shape)


def same(first, second, lanes=slice(None)):
    return all(np.array_equal(ours[lanes], theirs, equal_nan=True) for ours, theirs in zip(first, second, strict=True))


def test_ends_are_minima_with_the_spectrum_of_the_dense_hessian():
    rng = np.random.default_rng(1)
    starts = np.array(
        [
            MINIMUM + 1e-3 * rng.normal(size=(6, 6)),
            MINIMUM[:, [2, 0, 1, 5, 4, 3]] + 3e-3 * rng.normal(size=(6, 6)),
            np.eye(6)[[2, 0, 1, 5, 4, 3]] + 1e-2 * rng.normal(size=(6, 6)),
        ]
    )
    lengths = np.array([0.1, 1e-9, 0.1])  # of so short steps, many are before the second
    ends = native.polish(SIX, starts, probe_of(SIX), lengths)
    assert ends.convex.all()
    assert (np.linalg.norm(np.asarray(SIX.gradient(ends.point)), axis=(1, 2)) < 1e-14).all()
    np.testing.assert_allclose(ends.point[0], MINIMUM, atol=1e-7)
    np.testing.assert_allclose(ends.point[2], np.round(starts[2]), atol=1e-14)
    np.testing.assert_allclose(ends.value, SIX.value(ends.point), atol=1e-15)
    np.testing.assert_allclose(ends.distance, np.linalg.norm(ends.point - starts, axis=(1, 2)), rtol=1e-12)
    spectra, first = (np.linalg.eigvalsh(np.asarray(SIX.hessian(points))) for points in (ends.point, starts))
    np.testing.assert_allclose(ends.smallest, spectra[:, 0], atol=1e-10)
    np.testing.assert_allclose(ends.largest, spectra[:, -1], atol=1e-10)
    assert np.isnan(ends.smallest_at_start).tolist() == [True, False, True]
    assert ends.smallest_at_start[1] == pytest.approx(first[1, 0], abs=1e-10)
    bound = np.asarray(SIX.hessian_lipschitz(ends.point, ends.radius))
    np.testing.assert_allclose(ends.radius * bound, TOLERANCES.contraction * ends.smallest, rtol=1e-6)
    wait = np.log(ends.distance / (TOLERANCES.ball * ends.radius)) / (lengths * ends.smallest)
    np.testing.assert_allclose(ends.wait, wait, rtol=1e-12)


@pytest.mark.parametrize(("n", "k", "d"), [(1, 1, 1), (1, 2, 2), (2, 2, 2), (3, 2, 4), (3, 5, 6), (6, 6, 6), (7, 7, 7)])
def test_xla_finds_the_same(n, k, d):
    """From where some descent leads, and from two parallel neurons; odd sizes, further dimensions, fewer students."""
    energy, rng = landscape(TwoLayer(np.eye(k, d), students=n)), np.random.default_rng(n + k)
    starts = np.eye(n, d) + 0.05 * rng.normal(size=(5, n, d))
    for _ in range(200):
        starts -= 0.1 * np.asarray(energy.gradient(starts))
    starts[1, -1] = 1.5 * starts[1, 0]
    lengths = np.array([0.1, 0.1, 1e-9, 0.1, 1e-9])
    ours = native.polish(energy, starts, probe_of(energy), lengths)
    theirs = Polished(*map(np.asarray, by_xla(energy, starts, probe_of(energy), lengths)))
    assert np.array_equal(ours.convex, theirs.convex)
    convex = ours.convex & (theirs.smallest > 1e-6)  # with more students than teachers, minima are flat
    assert convex.any() == (n <= k)
    for name in ("point", "value", "gradient_norm", "smallest", "largest", "radius", "distance"):
        first, second = getattr(ours, name)[convex], getattr(theirs, name)[convex]
        np.testing.assert_allclose(first, second, rtol=1e-8, atol=1e-12, err_msg=name)
    far = convex & ~np.isnan(ours.smallest_at_start)
    assert np.array_equal(far, convex & ~(theirs.wait <= TOLERANCES.long_wait))
    np.testing.assert_allclose(ours.smallest_at_start[far], theirs.smallest_at_start[far], rtol=1e-6)


def test_negative_curvature_and_what_is_no_number_make_no_minimum():
    rng, broken = np.random.default_rng(0), MINIMUM.copy()
    broken[2] = 0.0
    starts = np.array([SADDLE + 1e-3 * rng.normal(size=(6, 6)), np.full((6, 6), np.nan), broken, MINIMUM])
    ends = native.polish(SIX, starts, probe_of(SIX), np.full(4, 0.1))
    assert ends.convex.tolist() == [False, False, False, True]
    assert np.isnan(ends.smallest).tolist() == np.isnan(ends.largest).tolist() == [True, True, True, False]
    assert (ends.radius > 0).tolist() == [False, False, False, True]
    assert same(ends, native.polish(SIX, starts[3:], probe_of(SIX), np.full(1, 0.1)), slice(3, None)), "of its company"


def test_no_bit_depends_on_the_company_or_the_width_of_a_vector():
    for energy in (SIX, landscape(TwoLayer(np.eye(4, 7), students=3))):
        n, d = energy.shape
        starts = np.eye(n, d) + 0.1 * np.random.default_rng(2).normal(size=(13, n, d))
        lengths = np.where(np.arange(13) % 3, 0.1, 1e-9)
        whole = native.polish(energy, starts, probe_of(energy), lengths)
        for instructions in native.instruction_sets():
            again = native.polish(energy, starts, probe_of(energy), lengths, instructions)
            assert same(whole, again), instructions
        some = np.array([11, 3, 4])
        assert same(whole, native.polish(energy, starts[some], probe_of(energy), lengths[some]), some)


def test_there_may_be_no_lane():
    ends = native.polish(SIX, np.zeros((0, 6, 6)), probe_of(SIX), np.zeros(0))
    assert ends.point.shape == (0, 6, 6)
    assert ends.value.shape == ends.wait.shape == (0,)
