"""Absence of bad minima: what the walk proves, what it leaves open, and what would be noticed if it were wrong."""

import importlib.util
import json
import sys
from itertools import product
from pathlib import Path

import battery_absence
import mutation
import numpy as np
import pytest
from flint import arb
from scipy.optimize import least_squares, minimize
from test_absence_theory import gradient, hessian, kernel, loss
from truth_absence import images, inside

import earnshaw as es
from earnshaw.errors import InputError, Interrupted
from earnshaw.proof import absence, absence_map, explain, leaves, sphere_leaves, sphere_views
from earnshaw.proof import absence as front
from earnshaw.proof.absence import PIECES
from earnshaw.proof.absence_leaves import descend, holding
from earnshaw.proof.certificate import hexed
from earnshaw.proof.trusted import absence as trusted
from earnshaw.proof.trusted.cells import joined, placed, roots
from earnshaw.proof.trusted.exclusion import TESTS
from earnshaw.proof.trusted.reading import seal

TIE = 1e-12  # a network on the boundary of cells lies in all of them
NUDGE = 1e-6 * np.random.default_rng(0).normal(size=(3, 3))  # and one beside it in one of them
BAD_TEACHER = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
BAD_START = [[0.6, -1.2], [0.6, 1.2], [-0.3, 0.0]]


@pytest.fixture(scope="module")
def two():
    return absence(2)


def test_two_neurons_have_no_bad_minimum(two, tmp_path):
    assert two.proved
    assert two.verdict is es.Verdict.PROVED_ABSENT
    assert (len(two.left), sum(two.closed.values()) * 2 - two.tested) == (0, 20)  # binary trees with 20 roots
    assert two.seconds < 10
    checked = es.check(two.save(tmp_path / "two.json"))
    assert checked.verified
    assert checked.seconds < 10
    assert "no bad minimum (n = 2, k = 2, every dimension D >= 2)" in checked.statement
    told = explain(two.certificate)
    assert "Every local minimum of F is a global one" in told.words
    assert told.latex.count("$") % 2 == 0
    assert json.loads(json.dumps(two.report())) == two.report()
    assert es.absence is absence


def closers(w, teacher, without=(), smallest=2.0**-12):
    """The tests that close the leaves of the tree which hold a network: only cells that hold it are walked over."""
    u, tree, found = w / np.linalg.norm(w, axis=1, keepdims=True), roots(teacher, len(w)), set()
    for v in {v.round(12).tobytes(): v for v in images(u, teacher.symmetries)}.values():
        if holding(tree, list(v), TIE).any():
            _, by = descend(teacher, tree, list(v), smallest, without, TIE)
            found |= {"open" if number == 0 else TESTS[number - 1] for number in by}
    return found


def lowest(start, v):
    """A minimum, by descent."""
    shape = np.shape(start)
    found = minimize(
        lambda x: (loss(x.reshape(shape), v), gradient(x.reshape(shape), v).ravel()),
        np.ravel(start),
        jac=True,
        tol=1e-11,
    )
    return found.x.reshape(shape)


@pytest.mark.parametrize("start", [[[1.0, 0.9]], [[1.0, 0.8, 0.9]], [[1.0, 0.0, 1.0], [0.1, 1.0, 0.1]]])
def test_fewer_students_leave_exactly_the_orbit_of_their_minimum_open(start):
    """(n, k) = (1, 2), (1, 3), (2, 3)."""
    n, k = np.shape(start)
    smallest = 2.0**-10
    found = absence(k, n, smallest=smallest)
    assert not found.proved
    assert found.certificate is None
    assert "least value of F is not known" in found.reason
    w = lowest(start, np.eye(k))
    u = w / np.linalg.norm(w, axis=1, keepdims=True)
    teacher = trusted.framed(np.eye(k).tolist())
    assert len(found.left) >= 1
    for left in found.left:
        assert min(np.abs(left - v).max() for v in images(u, teacher.symmetries)) < 3 * smallest
    assert closers(w, teacher) == {"open"}
    with pytest.raises(InputError, match="there is no certificate"):
        found.save("nowhere.json")


def test_without_the_test_near_exactly_the_cells_at_the_teacher_stay_open():
    teacher = trusted.framed(np.eye(2).tolist(), 0.09)
    tally = trusted.walk(teacher, roots(teacher, 2), 1e5, 2.0**-8, without=("near",))
    left = joined(tally.open)
    for index in range(len(left.depth)):
        assert any(inside(left, index, v, 2.0**-7) for v in images(np.eye(2), teacher.symmetries))
    for k, radius in ((2, 0.09), (3, 0.064)):
        teacher = trusted.framed(np.eye(k).tolist(), radius)
        beside = np.eye(k) + NUDGE[:k, :k]
        assert closers(beside, teacher) == {"near"}
        assert closers(beside, teacher, ("near",)) == {"open"}


# Three students of three teachers: F at critical points that are not global, and their directions.
SADDLES = {
    0.02412: [[-0.323, 0.669, 0.669], [0.669, -0.323, 0.669], [0.669, 0.669, -0.323]],
    0.07207: [[0.016, 0.016, 1.0], [0.536, 0.536, -0.653], [0.695, 0.695, 0.186]],
    0.07457: [[0.908, 0.32, -0.272], [-0.272, 0.32, 0.908], [0.603, 0.523, 0.603]],
    0.07475: [[-0.603, -0.564, -0.564], [0.382, -0.104, 0.918], [0.382, 0.918, -0.104]],
    0.07659: [[0.746, -0.471, -0.471], [0.988, 0.111, 0.111], [-0.193, 0.694, 0.694]],
    0.07669: [[0.546, -0.189, 0.816], [-0.401, 0.626, -0.669], [0.249, 0.968, 0.029]],
    0.07683: [[0.068, 0.068, 0.995], [0.696, 0.696, -0.179], [0.696, 0.696, -0.179]],
    0.07766: [[0.92, 0.373, -0.12], [-0.12, 0.373, 0.92], [-0.12, 0.373, 0.92]],
}  # fmt: skip


def critical(start, k):
    """A critical point near a start, with the lengths that theorem B gives its directions, or None."""
    shape, v = np.shape(start), np.eye(k)
    start = np.linalg.lstsq(kernel(start, start), kernel(start, v).sum(axis=1))[0][:, None] * start
    found = least_squares(
        lambda x: gradient(x.reshape(shape), v).ravel(), np.ravel(start), xtol=1e-15, ftol=1e-15, gtol=1e-15
    )
    w = found.x.reshape(shape)
    return w if np.abs(found.fun).max() < 1e-10 and np.linalg.norm(w, axis=1).min() > 1e-2 else None


def test_critical_points_lie_in_cells_that_a_second_order_test_or_the_near_one_closed():
    rng, seen = np.random.default_rng(2), set()
    for k, radius, starts in (
        (2, 0.0961, rng.normal(size=(16, 2, 2))),
        (3, 0.064, np.array([*SADDLES.values(), np.eye(3) + 0.01])),
    ):
        teacher = trusted.framed(np.eye(k).tolist(), radius)
        for w in filter(lambda w: w is not None, (critical(start, k) for start in starts)):
            tests = closers(w if loss(w, np.eye(k)) > 1e-9 else w + NUDGE[:k, :k], teacher)
            assert tests
            assert tests <= {"second order", "parallel", "near"}
            assert (loss(w, np.eye(k)) < 1e-9) == (tests == {"near"})
            seen.add((k, round(loss(w, np.eye(k)), 5)))
    assert {F for k, F in seen if k == 3} == {0.0, *SADDLES}
    assert {F for k, F in seen if k == 2} > {0.0}


def test_a_teacher_with_a_bad_minimum_keeps_it_open():
    bad = lowest(BAD_START, BAD_TEACHER)
    assert loss(bad, BAD_TEACHER) == pytest.approx(0.0172, abs=1e-4)
    assert np.linalg.eigvalsh(hessian(bad, BAD_TEACHER))[0] > 1e-3
    assert closers(bad, trusted.framed(BAD_TEACHER.tolist(), 0.05)) == {"open"}
    result = absence(teacher=BAD_TEACHER, smallest=2.0**-5)
    assert not result.proved
    assert result.verdict is es.Verdict.PROVED_MINIMUM
    assert result.minimum.claim.objective_ge == pytest.approx(0.0172, abs=1e-4)
    assert es.check(result.minimum).verified


@pytest.mark.parametrize(
    "rows",
    [
        [[3.0, 0.0], [2.0, 2.0]],
        [[0.6, 0.8], [-0.8, 0.6]],
        [[1.0, 2.0, 0.5, 0.0], [0.0, -1.0, 1.0, 1e-3]],
    ],
)
def test_two_vectors_of_any_angle_and_dimension(rows, tmp_path):
    result = absence(teacher=rows)
    assert result.proved
    assert es.check(result.save(tmp_path / "any.json")).verified


def test_two_neurons_of_very_different_lengths_have_a_bad_minimum():
    """Ten to one, at right angles, in the plane and turned in space; with one to two there is none."""
    turn = np.linalg.qr(np.random.default_rng(4).normal(size=(4, 4)))[0][:2]
    result = absence(teacher=np.diag([1.0, 0.1]) @ turn, smallest=2.0**-8)
    assert result.verdict is es.Verdict.PROVED_MINIMUM
    assert result.minimum.claim.objective_ge == pytest.approx(0.00143775, abs=1e-7)
    assert "there is a bad minimum" in result.reason
    found = absence_map([90.0], [0.5, 0.1])
    assert found.proved.tolist() == [[True], [False]]
    assert found.bad.tolist() == [[False], [True]]
    for wrong in ({"angles": [0.0]}, {"ratios": [1.5]}):
        with pytest.raises(InputError, match="the map takes"):
            absence_map(**wrong)


def test_the_leaves_cover_the_plane_of_angles():
    found = leaves()
    rng = np.random.default_rng(0)
    for point in rng.uniform(-45, 315, size=(300, 2)):
        held = ((found.low <= point) & (point <= found.high)).all(axis=1)
        assert held.any()
    assert (found.closed_by > 0).all()
    assert found.teacher.tolist() == [0.0, 90.0]
    at = ((found.low <= (0, 90)) & (found.high >= (0, 90))).all(axis=1)
    assert set(found.closed_by[at]) == {found.tests.index("near") + 1}
    with pytest.raises(InputError, match="in the plane"):
        leaves(np.eye(3), 0.5)


def test_the_leaves_cover_the_sphere():
    """Each direction of the first student in one patch, whatever the others; one student alone is open at its minimum."""
    for found in (*sphere_views(np.eye(3), 2, 2.0**-3).values(), sphere_views(np.eye(3), 1, 2.0**-6)["One student"]):
        cube = found.outlines / np.abs(found.outlines).max(axis=2, keepdims=True)
        for x in np.random.default_rng(0).normal(size=(60, 3)):
            x /= np.abs(x).max()
            held = (cube.min(axis=1) <= x + 1e-12) & (x - 1e-12 <= cube.max(axis=1))
            assert held.all(axis=1).sum() == 1
        assert np.linalg.norm(found.outlines, axis=2) == pytest.approx(1)
    opened = found.outlines[found.closed_by == 0].reshape(-1, 3)
    assert len(opened) > 0
    assert (np.linalg.norm(opened - np.sqrt(1 / 3), axis=1) < 2.0**-4).all()
    for wrong in (lambda: sphere_views(np.eye(2), 2), lambda: sphere_leaves([[0.0, 0.0, 0.0]])):
        with pytest.raises(InputError, match=r"R\^3|is 0"):
            wrong()


def test_the_walk_goes_on_where_it_was_interrupted(tmp_path):
    class Enough(Exception):
        pass

    done = []

    def stop(share, what):
        done.append(share)
        if len(done) == 5:
            raise Enough

    with pytest.raises(Enough):
        absence(2, out=tmp_path, progress=stop)
    (folder,) = tmp_path.iterdir()
    assert len(list(folder.iterdir())) == 5
    for file in folder.iterdir():
        record = json.loads(file.read_text())
        file.write_text(json.dumps(record | {"tested": record["tested"] + 1000}))
    again = absence(2, out=tmp_path)
    assert again.tested == absence(2).tested + 5000, "what was finished is not done again"
    assert again.proved
    assert not list(tmp_path.iterdir())
    assert PIECES[2] > 5


def test_a_time_limit_keeps_what_is_walked(tmp_path):
    for many in (1, 2):
        with pytest.raises(Interrupted, match=f"stopped at {many} of {PIECES[2]} pieces"):
            absence(2, out=tmp_path, time_limit=1e-9)
    assert absence(2, out=tmp_path, time_limit=3600).proved


def test_what_processes_are_walking_at_an_interruption_is_kept_too(tmp_path):
    class Enough(Exception):
        pass

    def stop(share, what):
        raise Enough

    with pytest.raises(Enough):
        absence(2, out=tmp_path, workers=2, progress=stop)
    (folder,) = tmp_path.iterdir()
    assert len([*folder.glob("*.json")]) > 1, "two or three are with the processes when the first one is told of"


def test_pieces_with_open_cells_come_back_as_they_were(tmp_path):
    first = absence(2, 1, out=tmp_path)
    again = absence(2, 1, out=tmp_path)
    assert np.array_equal(first.left, again.left)
    assert first.report() | {"seconds": 0} == again.report() | {"seconds": 0}


def test_processes_find_the_same(two):
    assert absence(2, workers=2).report() | {"seconds": 0} == two.report() | {"seconds": 0}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "one of the two"),
        ({"k": 2, "teacher": np.eye(2)}, "one of the two"),
        ({"k": 1}, "theorem E"),
        ({"k": 2, "n": 3}, "n = 3 > k = 2"),
        ({"k": 4}, "too large"),
        ({"k": 2, "n": 0}, "at least 1"),
        ({"k": 2, "smallest": 0.0}, "smallest"),
        ({"teacher": np.eye(5)}, "too large"),
        ({"teacher": [[1.0], [2.0]]}, "not covered"),
        ({"teacher": [[1.0, 1.0, 0.0], [2.0, 2.0, 0.0]]}, "independent"),
    ],
)
def test_mistakes_are_sentences(given, words):
    with pytest.raises(InputError, match=words):
        absence(**given)


def test_parallel_teachers_are_inconclusive():
    result = absence(teacher=[[1.0, 0.0], [2.0, 0.0]], smallest=2.0**-4)
    assert not result.proved
    assert result.radius == 0
    assert "parallel" in result.reason


def test_the_radius_of_the_teacher_is_nearly_the_largest(two):
    target = np.eye(2).tolist()
    assert trusted.isolated(target, two.radius)
    assert not trusted.isolated(target, two.radius * 1.001)
    assert arb(two.radius) > 0.096


MUTANTS = {  # the file, what stands there, what stands there instead, and the case that must notice
    "a Lipschitz constant lowered": ("exclusion.py", "BENT = 3.724191778237174", "BENT = 3.0", "bends"),
    "another one lowered": ("exclusion.py", "rho[:, None] ** 2 + 2 * rho", "rho[:, None] ** 2 / 2 + 2 * rho", "bends"),
    "that of the Hessian lowered": ("exclusion.py", "STEEPEST = 2.598", "STEEPEST = 0.598", "bends"),
    "a sign flipped": ("exclusion.py", "return worst - SLACK", "return SLACK - worst", "forces"),
    "another sign flipped": ("exclusion.py", "return total + SLACK", "return -total - SLACK", "curvatures"),
    "that of parallel pairs": ("exclusion.py", "closed |= -worst > ", "closed |= worst > ", "parallel pairs"),
    "a cell dropped from the cover": ("cells.py", "_replacement(patches, n)", "_replacement(patches[1:], n)", "cover"),
    "a cell dropped from the tree": ("absence.py", "take(slice(BATCH, None))", "take(slice(BATCH + 1, None))", "walks"),
    "half of a cell dropped": ("cells.py", "for middle in (low, high)]", "for middle in (low, low)]", "halves"),
    "a symmetry that is none": ("cells.py", "== wanted", "!= []", "symmetries"),
    "lengths enclosed too closely": ("cells.py", "(b_hi[i] - least) / PI", "(b_lo[i] - least) / PI", "lengths"),
    "a radius too large": ("absence.py", "* arb(radius) / 2 > 0", "* arb(radius) / 4 > 0", "frames"),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_what_makes_the_walk_wrong_is_noticed_by_truth(name):
    """Not by the case that compares with the checker itself."""
    file, old, new, case = MUTANTS[name]
    text = (mutation.FOLDER / file).read_text()
    assert text.count(old) == 1

    class Changed(mutation.Mutant):
        def code(self):
            return compile(text.replace(old, new), str(mutation.FOLDER / file), "exec")

    truth = {case: battery_absence.absences()[f"absence: {case}"]}
    assert mutation.noticed_by(Changed(file, 0, "", 0, old, new), truth) is not None


def test_a_walk_that_grows_too_large_is_given_up():
    teacher = trusted.framed(np.eye(2).tolist(), 0.09)
    with pytest.raises(trusted.Rejected, match="more than 100 cells"):
        trusted.walk(teacher, roots(teacher, 2), 100, 2.0**-12)


@pytest.mark.nightly
@pytest.mark.slow
def test_three_neurons_have_no_bad_minimum(tmp_path):
    result = front(3, out=tmp_path)
    assert result.proved
    assert result.seconds < 900
    checked = es.check(result.save(tmp_path / "three.json"))
    assert checked.verified
    assert checked.seconds < 900


def test_the_estimate_of_the_tree_is_that_of_the_walk(two):
    """That of benchmarks/absence.py, for a tree that can be walked through: 214 cells, 20 of them roots."""
    path = Path(__file__).parents[2] / "benchmarks" / "absence.py"
    spec = importlib.util.spec_from_file_location("benchmark_of_absence", path)
    benchmark = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    teacher = benchmark.orthonormal(2, 2)
    found = [benchmark.one_round(teacher, 2, 200, 2.0**-12, seed) for seed in range(4)]
    assert np.mean([sum(one.cells) for one in found]) == pytest.approx(two.tested, rel=0.1)
    assert np.mean([one.cells[0] for one in found]) == pytest.approx(20, rel=0.05)


def test_the_certificate_of_three_neurons_is_within_what_a_check_may_cost(two):
    """Without a limit of one's own: 8.35 million cells."""
    document = json.loads(two.certificate.to_text())
    problem = {**document["problem"], "n": 3, "k": 3, "d": 3, "target": hexed(np.eye(3))}
    document |= {"problem": problem, "counts": {**document["counts"], "cells": 8_349_792}}
    document["sha256"] = seal(document)
    assert trusted.parse(json.dumps(document).encode(), 1.0).n == 3
    with pytest.raises(trusted.Rejected, match="cost too much"):
        trusted.parse(json.dumps(document).encode(), 0.5)


def test_a_piece_of_the_walk_for_three_neurons_is_closed():
    """A few of its roots: far from the teacher, and with two students in one patch."""
    teacher = trusted.framed(np.eye(3).tolist(), 0.0644)
    every = roots(teacher, 3)
    some = every.take(np.array([5, 150, 300, 310, 450]))
    tally = trusted.walk(teacher, some, 20_000, 2.0**-12)
    assert not tally.open
    assert tally.covered == 5
    assert len(every.depth) == 466
    for low, high in product((0, 1), repeat=2):
        assert placed(every).rho[low, high] < 0.7
