"""Following minima: their ends are found again without continuation, stations are proved, and the work resumes."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

from earnshaw.descent.newton.continuation import Fate
from earnshaw.errors import InputError
from earnshaw.experiments import Followed, Following, families, follow, load, sweep, work_of
from earnshaw.experiments.follow import following
from earnshaw.experiments.views import Place
from earnshaw.landscapes import landscape
from earnshaw.problems import Charges, TwoLayer
from earnshaw.proof import check

TEACHER = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
STUDENT = np.array([[0.6334, 1.1758], [-0.3222, 0.0], [0.6334, -1.1758]])
FOLDED = [[1.0, 0.0], [0.0, 0.2], [0.0, -1.0]]
CROSSED = [[3.0, 0.0], [0.0, 1.0], [0.0, -1.0]]  # the path keeps the mirror symmetry that the minimum has
PLACE = Place(TwoLayer(TEACHER), STUDENT)


def newton(last, t, point, mirrored=False, steps=50):
    """Return where plain Newton's method ends at t, the gradient's norm and the Hessian's smallest eigenvalue there."""
    ground = landscape(TwoLayer((1 - t) * TEACHER + t * np.array(last)))
    for _ in range(steps):
        gradient, hessian = ground.gradient(jnp.asarray(point)), np.asarray(ground.hessian(jnp.asarray(point)))
        point = point - np.linalg.solve(hessian, np.ravel(gradient)).reshape(point.shape)
        point = (point + point[::-1] * [1, -1]) / 2 if mirrored else point
    gradient, hessian = ground.gradient(jnp.asarray(point)), np.asarray(ground.hessian(jnp.asarray(point)))
    return point, float(np.linalg.norm(gradient)), float(np.linalg.eigvalsh(hessian)[0])


def before(trail, t):
    """Return a point of the trail close to t."""
    return min(trail.stations, key=lambda station: abs(station.t - t)).weights


def test_a_fold_is_where_plain_newton_has_a_minimum_before_and_nothing_after():
    (trail,) = follow(PLACE, FOLDED, steps=40).trails
    end = float(trail.t[-1])
    assert trail.fate is Fate.FOLD
    assert end == pytest.approx(0.3018447542, abs=1e-9)
    assert abs(trail.least[-1]) < 1e-12
    assert (np.diff(trail.t) > 0).all()
    curvatures = []
    for distance in (1e-6, 4e-6, 16e-6):
        point, slope, least = newton(FOLDED, end - distance, trail.end + 1e-3 * (before(trail, end) - trail.end))
        if least < 0:  # the saddle that comes to meet it: the minimum is on the other side of the end
            point, slope, least = newton(FOLDED, end - distance, 2 * trail.end - point)
        assert slope < 1e-13
        curvatures.append(least)
    assert min(curvatures) > 0
    assert np.allclose(np.divide(curvatures[1:], curvatures[:-1]), 2, rtol=1e-2), "a square root of the distance"
    point, slope, _ = newton(FOLDED, end + 1e-4, trail.end)
    assert slope > 1e-13 or np.linalg.norm(point - trail.end) > 0.1
    assert trail.beyond == "GLOBAL"


def test_a_crossing_is_where_the_curvature_of_a_symmetric_point_changes_its_sign():
    (trail,) = follow(PLACE, CROSSED, steps=40).trails
    end = float(trail.t[-1])
    assert trail.fate is Fate.CROSSING
    assert np.allclose(trail.end, trail.end[::-1] * [1, -1], atol=1e-6), "it keeps its mirror symmetry"
    found = [newton(CROSSED, end + shift, trail.end, mirrored=True) for shift in (-1e-4, 1e-4)]
    assert max(slope for _, slope, _ in found) < 1e-13
    assert found[0][2] > 1e-6 > -1e-6 > found[1][2]
    assert found[0][2] == pytest.approx(-found[1][2], rel=5e-3), "in proportion to the distance"
    assert all(np.linalg.norm(point - trail.end) < 1e-2 for point, _, _ in found)
    assert trail.beyond == "GLOBAL"


def test_an_arrival_is_proved_at_every_station_and_the_work_resumes(tmp_path):
    last = TEACHER + 0.1 * np.random.default_rng(1).normal(size=TEACHER.shape)
    found = follow(PLACE, last, steps=2, out=tmp_path / "way")
    (trail,) = found.trails
    assert trail.fate is Fate.ARRIVES
    assert [station.t for station in trail.stations] == [0.0, 0.5, 1.0]
    assert (trail.proved, trail.t[0], trail.t[-1]) == (3, 0.0, 1.0)
    for station in trail.stations:
        ground = landscape(TwoLayer((1 - station.t) * TEACHER + station.t * last))
        assert np.linalg.norm(ground.gradient(jnp.asarray(station.weights))) < 1e-13
        assert station.lambda_ge <= station.least
        assert station.least == pytest.approx(float(ground.spectrum(jnp.asarray(station.weights), True)[0]), abs=1e-12)
    files = sorted((tmp_path / "way" / "certificates").glob("*.json"))
    assert len(files) == 3
    assert all(check(file).verified for file in files)
    assert load(tmp_path / "way").to_json() == found.to_json()
    assert isinstance(work_of(tmp_path / "way"), Following)
    (files[0]).unlink()
    assert follow(PLACE, last, steps=2, out=tmp_path / "way").to_json() == found.to_json()
    assert files[0].exists()
    assert "1 trails: 1 ARRIVES" in repr(found)
    assert "proved at 3 of 3" in found._repr_html_()


def test_what_cannot_be_followed_is_said():
    wrong = [
        (TEACHER[:2], "shape"),
        (TEACHER, "give another"),
        (-TEACHER, "neuron 1 is 0 at t = 0.5"),
        (np.full((3, 2), np.nan), "value nan"),
    ]
    for last, words in wrong:
        with pytest.raises(InputError, match=words):
            following([PLACE], last)
    with pytest.raises(InputError, match="several problems"):
        following([PLACE, Place(TwoLayer(2 * TEACHER), STUDENT)], CROSSED)
    with pytest.raises(InputError, match="no minimum"):
        following([], CROSSED)
    with pytest.raises(InputError, match="two-layer"):
        following([Place(Charges(np.eye(2)), np.eye(2))], CROSSED)
    trained = dataclasses.replace(PLACE.problem, trainable_output=True)
    with pytest.raises(InputError, match="fixed output weights"):
        following([Place(trained, np.column_stack([STUDENT, np.ones(3)]))], CROSSED)


def test_a_point_that_is_no_minimum_has_no_trail():
    saddle = Place(TwoLayer(np.eye(2)), np.full((2, 2), 0.6))
    (trail,) = follow(saddle, np.diag([1.0, 2.0])).trails
    assert trail.fate is Fate.NONE
    assert trail.stations == ()
    assert "no strict minimum" in trail.words


@pytest.mark.slow
@pytest.mark.nightly
def test_of_eight_copies_of_ii_one_reaches_the_teacher_of_the_readme():
    (family,) = families(sweep(TwoLayer(np.eye(8)), runs=200, seed=0).spurious)
    last = np.eye(8) + 0.2 * np.random.default_rng(0).normal(size=(8, 8))
    found = follow(family, last)
    assert isinstance(found, Followed)
    fates = [trail.fate for trail in found.trails]
    assert (fates.count(Fate.FOLD), fates.count(Fate.ARRIVES)) == (7, 1)
    ends = sorted(float(trail.t[-1]) for trail in found.trails)
    shown = [0.1811972379, 0.2086860597, 0.2442980391, 0.2762510641, 0.3649002210, 0.4004990572, 0.8029443109, 1.0]
    assert np.allclose(ends, shown, atol=1e-9)
    assert all(trail.proved == len(trail.stations) for trail in found.trails)
    assert all(trail.beyond == "GLOBAL" for trail in found.trails if trail.fate is Fate.FOLD)
    (met,) = families(sweep(TwoLayer(last), runs=200, seed=0).spurious)
    ((arrived,),) = found.arrivals
    rows = [np.linalg.norm(met.weights - row, axis=1).min() for row in arrived.end]
    assert max(rows) < 1e-6, "it is the one that runs meet there"
