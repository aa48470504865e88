"""Points with many equal entries: the blocks against the whole Hessian, the families against their tables and the full proof."""

import json

import adversaries_blocks
import numpy as np
import pytest
from flint import arb

from earnshaw.errors import InputError
from earnshaw.problems import TwoLayer
from earnshaw.proof import Verdict, prove, prove_family, prove_pattern
from earnshaw.proof.trusted import check_bytes
from earnshaw.proof.trusted.balls import floats, norm, precision
from earnshaw.proof.trusted.blocks import Symmetric
from earnshaw.proof.trusted.parts import parts
from earnshaw.proof.trusted.reading import seal
from earnshaw.proof.trusted.relu import Point
from earnshaw.symmetry import Pattern

NIGHTLY = [pytest.mark.slow, pytest.mark.nightly]

# The calculus, at points that are not critical.

PATTERNS = [
    *(((q,), (0,)) for q in (2, 3, 4, 5, 6)),
    ((3,), (0, 0)),
    ((2,), (0, 0, None)),
    ((5, 1), (None, 0, None)),
    ((5, 1), (0, None)),
    ((5, 1), (0, None, None)),
    ((4, 2), (0, 1, None)),
    ((3, 3), (0, 0, 1)),
    ((2, 4), (1, 0, None, None)),
    ((1, 5), (1, None)),
    ((4, 2, 1), (0, None)),
    ((2, 2, 2), (0, 1, 2)),
    ((3, 2, 2), (2, 0, 1, 1)),
    ((1, 1, 1), (None, None, None)),
    ((7,), (0, None)),
]
LARGER = [
    ((8, 2), (0, 1, 1)),
    ((9, 1), (0, None, None)),
    ((6, 4), (0, 1, None)),
    ((7, 4, 2), (0, 1, 2, None)),
    ((5, 5, 3), (0, 1, 2, 2)),
    ((18, 2), (0, 1, 1)),
    ((10, 7, 3), (0, 1, 2, None)),
    ((20,), (0, None)),
]


@pytest.mark.parametrize(("sizes", "rows"), [*PATTERNS, *(pytest.param(*case, marks=NIGHTLY) for case in LARGER)])
def test_blocks_are_the_whole_hessian(sizes, rows):
    """Value, gradient, L, the spectra of the Hessian and of M with their multiplicities, to 1e-12; and the float side's blocks."""
    pattern = Pattern.of(sizes, rows)
    numbers = np.random.default_rng([*sizes, len(rows)]).normal(size=len(pattern.entries))
    with precision(80):
        site = Symmetric(list(sizes), list(rows), [arb(x) for x in numbers.tolist()])
        full = Point(pattern.weights(numbers).tolist(), np.eye(sum(sizes)).tolist())
        assert (site.n, site.k, site.d) == (full.n, full.k, full.d)
        close(site.value(), full.value())
        close(norm(site.gradient().entries()), norm(full.gradient().entries()))
        close(site.shortest(), full.shortest())
        radius = full.shortest() / 3
        for delta in (arb(0), radius):
            close(site.lipschitz(radius, delta), full.lipschitz(radius, delta))
        found = [(part.copies, eigenvalues(site.block(part))) for part in parts(sizes, rows) if part.vectors]
        same(found, eigenvalues(full.hessian()))
        assert len(found) == len(list(site.hessians()))
        trivial, *rest = map(eigenvalues, site.extensions())
        groups = [c for c, size in enumerate(sizes) if size > 1 and c in rows]
        times = [(sizes[c] - 1, values) for c, values in zip(groups, rest, strict=True)]
        same([(1, trivial), *times], eigenvalues(full.extension()))
    other = [(block.multiplicity, np.linalg.eigvalsh(block.matrix)) for block in pattern.blocks(numbers)]
    scale = max(np.abs(values).max() for _, values in found)
    for (copies, values), (times, floating) in zip(found, other, strict=True):
        assert copies == times
        np.testing.assert_allclose(values, floating, rtol=0, atol=1e-12 * scale)


def close(one, two):
    assert float(one) == pytest.approx(float(two), rel=1e-12)


def eigenvalues(matrix):
    return np.linalg.eigvalsh(floats(matrix))


def same(parts_found, spectrum):
    union = np.sort(np.concatenate([np.repeat(values, times) for times, values in parts_found]))
    assert union.shape == spectrum.shape
    np.testing.assert_allclose(union, spectrum, rtol=0, atol=1e-12 * np.abs(spectrum).max())


# Named families: the tables that are known of them.

MINIMA = {
    ("II", 6): (0.025081, 0.00470),
    ("II", 8): (0.021508, 0.02135),
    ("II", 10): (0.018702, 0.03196),
    ("II", 20): (0.011276, 0.05509),
    ("I", 7): (0.055322, 0.00166),
    ("I", 8): (0.061835, 0.00710),
    ("I", 10): (0.072057, 0.01488),
    ("I", 20): (0.099287, 0.03367),
    ("A", 6): (0.055669, 0.00150),
    ("A", 8): (0.067732, 0.01106),
    ("A", 10): (0.076637, 0.01749),
    ("A", 20): (0.101505, 0.03447),
    ("B", 7): (0.022147, 0.00261),
    ("B", 8): (0.020561, 0.00594),
    ("B", 10): (0.017893, 0.00567),
    ("B", 20): (0.010731, 0.00519),
    ("B", 100): (0.0025475, 0.00483),
    ("M:4", 20): (0.0239469, 0.0090),
    ("2B", 11): (0.0307565, 0.00196),
    ("2B", 20): (0.0203348, 0.00193),
}
SADDLES = {
    ("II", 5): (0.026970, -0.00770),
    ("I", 6): (0.047396, -0.00583),
    ("A", 5): (0.047708, -0.00583),
    ("B", 6): (0.023866, -0.0060),
    ("2B", 10): (0.032498, -0.00026),
}
HUGE = {
    ("II", 10**4): (2.9613e-5, 0.0898),
    ("II", 10**6): (2.9725e-7, 0.0907),
    ("A", 10**4): (0.177472, 0.0877),
    ("A", 10**6): (0.181266, 0.0905),
}
SLOW = {
    ("B", 10**4): (2.6713e-5, 0.00448),
    ("B", 10**6): (2.67255e-7, 0.00443),
    ("M:4", 300): (0.00303653, 0.0140),
}
TABLE = [*(MINIMA | SADDLES | HUGE).items(), *(pytest.param(*case, marks=NIGHTLY) for case in SLOW.items())]


def accepted(certificate):
    return check_bytes(json.dumps(dict(certificate.document)).encode())


@pytest.mark.parametrize(("name", "known"), TABLE)
def test_families_have_the_values_of_the_tables(name, known):
    (family, k), (value, least) = name, known
    proof = prove_family(family, k)
    saddle = least < 0
    assert proof.verdict is (Verdict.PROVED_SADDLE if saddle else Verdict.PROVED_MINIMUM)
    claim = proof.claim
    assert claim.objective_ge <= claim.objective_le
    for bound in (claim.objective_ge, claim.objective_le):
        assert bound == pytest.approx(value, rel=1e-4)
    found = claim.curvature_le if saddle else claim.lambda_min_ge
    assert found == pytest.approx(least, abs=6e-5)
    kind = "blocks_saddle" if saddle else "blocks"
    assert list(proof.certificates) == [kind]
    verified, said, sentence = accepted(proof.main)
    assert (verified, said) == (True, kind), sentence
    assert f"k = {k}, d = {k}, every dimension D >= d" in sentence
    if not saddle:
        assert claim.lambda_ext_ge > claim.lambda_min_ge
        assert 0 < claim.enclosure_radius < claim.unique_radius / 4
        assert claim.enclosure_radius < 1e-15


# The second route: the same point without its symmetry.

ROUTES = [("II", 6), ("I", 7), ("A", 8), ("B", 7), ("M:8", 11), ("2B", 11), ("II", 5), ("A", 5), ("B", 6)]
FAR = [("II", 40), ("I", 25), ("A", 33), ("B", 30), ("M:4", 18), ("M:7", 20), ("M:20", 30), ("2B", 14), ("2B", 20)]
MIDDLE = [(family, k) for family in ("II", "I", "A", "B") for k in range(6, 13)] + [("2B", k) for k in range(8, 13)]


@pytest.mark.parametrize(
    ("family", "k"), [*ROUTES, *(pytest.param(*case, marks=NIGHTLY) for case in [*MIDDLE, *FAR] if case not in ROUTES)]
)
def test_the_full_proof_agrees(family, k):
    proof = prove_family(family, k)
    weights = proof.point.weights
    full = prove(TwoLayer(np.eye(k), students=len(weights)), weights)
    assert full.verdict is proof.verdict
    assert full.verdict in (Verdict.PROVED_MINIMUM, Verdict.PROVED_SADDLE)
    few, all_of_them = proof.claim, full.claim
    assert few.objective_ge <= all_of_them.objective_le
    assert all_of_them.objective_ge <= few.objective_le
    assert few.objective_ge == pytest.approx(all_of_them.objective_ge, rel=1e-9)
    if full.verdict is Verdict.PROVED_SADDLE:
        assert few.curvature_le == pytest.approx(all_of_them.curvature_le, rel=1e-6)
        return
    assert few.lambda_min_ge == pytest.approx(all_of_them.lambda_min_ge, rel=1e-6)
    assert few.lambda_ext_ge == pytest.approx(all_of_them.lambda_ext_ge, rel=1e-6)
    assert few.change_le == pytest.approx(all_of_them.change_le, rel=1e-3)
    assert few.unique_radius == pytest.approx(all_of_them.unique_radius, rel=1e-3)
    assert few.enclosure_radius < all_of_them.enclosure_radius  # doubles are rounded to 53 bits, pairs of them to 106


# A wrong value fails.


@pytest.mark.parametrize(("family", "k"), [("II", 10), ("A", 6), ("B", 12), ("M:4", 20), ("2B", 13), ("B", 6)])
def test_numbers_that_are_off_do_not_pass_with_the_old_claims(family, k):
    document = json.loads(json.dumps(dict(prove_family(family, k).main.document)))
    for place in range(len(document["center"])):
        for off in (1e-9, -1e-9):
            center = [pair[:] for pair in document["center"]]
            center[place] = [(float.fromhex(center[place][0]) + off).hex(), (0.0).hex()]
            moved = {**document, "center": center}
            verified, _, reason = check_bytes(json.dumps({**moved, "sha256": seal(moved)}).encode())
            assert not verified
            assert "the check stopped" not in reason


# The producer.


def test_a_pattern_that_has_no_name():
    """Three teachers, a saddle of type S_3; numbers given to four digits are polished."""
    proof = prove_pattern((3,), (0,), [-0.3182, 0.6595])
    assert proof.verdict is Verdict.PROVED_SADDLE
    assert proof.family is None
    assert accepted(proof.main)[0]
    assert "S_3" in accepted(proof.main)[2]


def test_what_is_no_pattern_is_refused():
    for sizes, rows, numbers in (((), (None,), []), ((3,), (), []), ((3, 1), (0, 1), [1.0] * 6), ((3,), (0,), [1.0])):
        with pytest.raises(InputError):
            prove_pattern(sizes, rows, numbers)


def test_inconclusive_points_say_why():
    fewer = prove_pattern((2, 1), (0,), [1.0, 0.1, 0.2])
    assert fewer.verdict is Verdict.INCONCLUSIVE
    assert "n = 2 students for k = 3" in fewer.reason
    teacher = prove_pattern((4,), (0,), [1.0 + 1e-3, 1e-3])
    assert teacher.verdict is Verdict.INCONCLUSIVE
    parallel = prove_pattern((2, 1), (None, None, None), [0.5, 0.2, 1.0, 0.4, -0.3, 0.7])
    assert parallel.verdict is Verdict.INCONCLUSIVE
    assert "parallel" in parallel.reason


# Forgeries: that all are rejected is a matter of the battery (test_mutation.py); here, that they are for the reason aimed at.


def test_the_inequality_aimed_at_is_the_one_that_fails():
    bad, _ = adversaries_blocks.everything()
    expected = {
        "II: gradient bound too small": "grad_norm_le is below",
        "II: lambda equal to the shift": "lambda_min_ge exceeds",
        "II: lambda of the other blocks": "no Cholesky factor",
        "2B: lambda beyond d of the other blocks": "no Cholesky factor",
        "II: L at the centre": "hess_lipschitz_le is below",
        "II: R_unique beyond lambda/L": "hess_lipschitz_le is below",
        "II: R_enclosure above R_unique": "R_enclosure exceeds R_unique",
        "II: F_le too small": "F_le is below",
        "II: number 4: the low double": "grad_norm_le is below",
        "A saddle: curvature too negative": "curvature_le is below",
        "2B saddle: curvature positive": "negative curvature may vanish",
        "a parallel neuron": "parallel",
        "a neuron along a teacher": "parallel",
        "a zero neuron": "zero",
        "a family of a group of one": "tied to a group of one coordinate",
        "a number: not canonical": "not in canonical form",
        "n < k": "n = 1 < k = 2",
        "wrong n": "problem.n is not the 6",
        "a huge size": "hess_lipschitz_le is below",
        "negative radii at a saddle": "R_enclosure is not positive",
        "near the global minimum": "is below",
        "meta edited without resealing": "sha256",
    }
    for name, fragment in expected.items():
        assert fragment in check_bytes(bad[name])[2], (name, check_bytes(bad[name])[2])
