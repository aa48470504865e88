"""Absence of bad minima: what the walk proves, what it leaves open, and what would be noticed if it were wrong."""

import json
from itertools import product

import battery_absence
import mutation
import numpy as np
import pytest
from battery_absence import images, inside
from flint import arb
from scipy.optimize import least_squares, minimize
from test_absence_theory import gradient, hessian, loss

import earnshaw as es
from earnshaw.errors import InputError
from earnshaw.proof import absence, absence_map, explain, leaves
from earnshaw.proof import absence as front
from earnshaw.proof.absence import PIECES
from earnshaw.proof.trusted import absence as trusted
from earnshaw.proof.trusted.cells import joined, placed, roots
from earnshaw.proof.trusted.exclusion import TESTS

BAD_TEACHER = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])


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


@pytest.mark.parametrize(("n", "k"), [(1, 2), (1, 3)])
def test_fewer_students_leave_the_orbit_of_their_minimum_open(n, k):
    found = absence(k, n, smallest=2.0**-9)
    assert not found.proved
    assert found.certificate is None
    assert "least value of F is not known" in found.reason
    middle = np.ones(k) / np.sqrt(k)
    assert len(found.left) >= 1
    assert all(np.linalg.norm(u[0] - middle) < 2.0**-8 for u in found.left)
    with pytest.raises(InputError, match="there is no certificate"):
        found.save("nowhere.json")


def test_two_students_of_three_teachers_leave_one_orbit_open():
    found = absence(3, 2, smallest=2.0**-10)
    start = np.array([[1.0, 0.0, 1.0], [0.1, 1.0, 0.1]])
    best = minimize(
        lambda x: (loss(x.reshape(2, 3), np.eye(3)), gradient(x.reshape(2, 3), np.eye(3)).ravel()),
        start.ravel(),
        jac=True,
        tol=1e-12,
    ).x.reshape(2, 3)
    u = best / np.linalg.norm(best, axis=1, keepdims=True)
    group = trusted.framed(np.eye(3).tolist()).symmetries
    for left in found.left:
        assert min(np.abs(left - v).max() for v in images(u, group)) < 2.0**-8
    assert len(found.left) >= 1


def test_without_the_test_near_the_teacher_its_cells_stay_open():
    teacher = trusted.framed(np.eye(2).tolist(), 0.09)
    tally = trusted.walk(teacher, roots(teacher, 2), smallest=2.0**-8, without=("near",))
    left = joined(tally.open)
    for index in range(len(left.depth)):
        assert any(inside(left, index, v, 2.0**-7) for v in images(np.eye(2), teacher.symmetries))
    assert any(
        inside(left, index, v) for index in range(len(left.depth)) for v in images(np.eye(2), teacher.symmetries)
    )


def leaves_of(rows, n, radius, smallest):
    """All leaves of a walk, and the numbers of the tests that closed them."""
    teacher, found = trusted.framed(np.asarray(rows).tolist(), radius), []
    trusted.walk(teacher, roots(teacher, n), smallest=smallest, seen=lambda cells, by: found.append((cells, by)))
    return teacher, joined([cells for cells, _ in found]), np.concatenate([by for _, by in found])


def closers(w, teacher, cells, by):
    """The tests that closed the leaves which hold a network."""
    u = w / np.linalg.norm(w, axis=1, keepdims=True)
    return {
        int(by[index]) for v in images(u, teacher.symmetries) for index in range(len(by)) if inside(cells, index, v)
    }


def test_critical_points_lie_in_cells_that_a_second_order_test_or_the_near_one_closed():
    teacher, cells, by = leaves_of(np.eye(2), 2, 0.0961, 2.0**-12)
    assert (by > 0).all()
    rng, seen = np.random.default_rng(2), set()
    for _ in range(30):
        found = least_squares(lambda x: gradient(x.reshape(2, 2), np.eye(2)).ravel(), rng.normal(size=4), xtol=1e-15)
        w = found.x.reshape(2, 2)
        if np.abs(found.fun).max() > 1e-10 or np.linalg.norm(w, axis=1).min() < 1e-2:
            continue
        tests = closers(w, teacher, cells, by)
        assert tests
        assert tests <= {TESTS.index(name) + 1 for name in ("second order", "parallel", "near")}
        assert (loss(w, np.eye(2)) < 1e-9) == (tests == {TESTS.index("near") + 1})
        seen |= tests
    assert len(seen) >= 2


def test_a_teacher_with_a_bad_minimum_keeps_it_open():
    rng, bad = np.random.default_rng(3), []
    for _ in range(30):
        found = minimize(
            lambda x: (loss(x.reshape(3, 2), BAD_TEACHER), gradient(x.reshape(3, 2), BAD_TEACHER).ravel()),
            rng.normal(size=6),
            jac=True,
        )
        if found.fun == pytest.approx(0.0172, abs=1e-4):
            bad.append(found.x.reshape(3, 2))
    assert bad
    assert np.linalg.eigvalsh(hessian(bad[0], BAD_TEACHER))[0] > 1e-3
    teacher, cells, by = leaves_of(BAD_TEACHER, 3, 0.05, 2.0**-6)
    assert closers(bad[0], teacher, cells, by) == {0}
    result = absence(teacher=BAD_TEACHER, smallest=2.0**-6)
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
    for rows in (np.diag([1.0, 0.1]), np.diag([1.0, 0.1]) @ turn):
        result = absence(teacher=rows, smallest=2.0**-8)
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


def test_the_tree_is_cut_where_it_should_be():
    """A batch that overflows is put back whole."""
    teacher = trusted.framed(np.eye(2).tolist(), 0.09)
    whole = trusted.walk(teacher, roots(teacher, 2))
    try:
        trusted.BATCH, before = 7, trusted.BATCH
        small = trusted.walk(teacher, roots(teacher, 2))
    finally:
        trusted.BATCH = before
    assert (small.tested, small.closed, small.leaves) == (whole.tested, whole.closed, whole.leaves)
    with pytest.raises(trusted.Rejected, match="more than 100 cells"):
        trusted.walk(teacher, roots(teacher, 2), most=100)


@pytest.mark.nightly
@pytest.mark.slow
def test_three_neurons_have_no_bad_minimum(tmp_path):
    result = front(3, out=tmp_path)
    assert result.proved
    assert result.seconds < 900
    checked = es.check(result.save(tmp_path / "three.json"))
    assert checked.verified
    assert checked.seconds < 900


def test_a_piece_of_the_walk_for_three_neurons_is_closed():
    """A few of its roots: far from the teacher, and with two students in one patch."""
    teacher = trusted.framed(np.eye(3).tolist(), 0.0644)
    every = roots(teacher, 3)
    some = every.take(np.array([5, 150, 300, 310, 450]))
    tally = trusted.walk(teacher, some, 20_000)
    assert not tally.open
    assert tally.covered == 5
    assert len(every.depth) == 466
    for low, high in product((0, 1), repeat=2):
        assert placed(every).rho[low, high] < 0.7
