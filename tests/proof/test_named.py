"""Named families with more neurons than the teacher: minima where they are said to be, saddles where not, and their names."""

import pytest

from earnshaw.errors import InputError
from earnshaw.problems.named import named_family
from earnshaw.proof import check, prove_family
from earnshaw.symmetry.named import named

QUICK = [
    ("3Bp", 11, 14, 0.000766),
    ("B:4", 30, 34, 0.002710),
    ("P:9", 16, 23, 0.003061),
    ("P:10,7", 20, 30, 0.004295),
    ("C:9", 44, 54, 0.003918),
    ("P:1", 44, 87, 0.001281),
    ("P:50,1", 60, 110, 0.001785),
]
LONG = [
    ("3Bp", 200, 203, 0.003499),
    ("B:2", 20, 22, 0.001926),
    ("B:8", 60, 68, 0.002589),
    ("P:7", 16, 25, 0.000509),
    ("P:5", 20, 35, 0.002827),
    ("C", 19, 21, 0.001664),
    ("C:1", 1000, 1002, 0.004168),
    ("C:3", 22, 26, 0.000769),
    ("C:27", 40, 68, 0.000623),
    ("P:1", 1000, 1999, 0.000092),
    ("P:40,1", 55, 95, 0.001484),
]


def proved(family, k, n, least):
    proof = prove_family(family, k)
    assert proof.verdict.name == "PROVED_MINIMUM"
    assert (proof.sizes["n"], proof.sizes["k"]) == (n, k)
    assert proof.claim.lambda_min_ge == pytest.approx(least, abs=1e-6)
    assert check(proof).verified


@pytest.mark.parametrize(("family", "k", "n", "least"), QUICK)
def test_minima_with_many_more_neurons(family, k, n, least):
    proved(family, k, n, least)


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize(("family", "k", "n", "least"), LONG)
def test_minima_far_from_the_points_that_are_stored(family, k, n, least):
    proved(family, k, n, least)


def test_three_pairs_of_b_are_a_saddle():
    assert prove_family("B:3", 20).verdict.name == "PROVED_SADDLE"


def test_two_of_bs_pairs_have_two_names():
    numbers = [named(name, 20)[1] for name in ("2B", "B:2")]
    assert numbers[0] == pytest.approx(numbers[1], abs=1e-10)


def test_sizes_of_three_groups():
    assert named_family("P:10,7").sizes(20) == (3, 10, 7)
    assert named_family("C:9").sizes(44) == (34, 9, 1)
    assert named_family("C:1") is named_family("C")
    assert named_family("B:1") is named_family("B")
    assert (named_family("P:1").sizes(60), named_family("P:50,1").sizes(60)) == ((59, 1), (9, 50, 1))
    assert named_family("C").neurons(30) == 32
    with pytest.raises(InputError, match="from 19 to"):
        named_family("P:10,7").sizes(18)


@pytest.mark.parametrize(
    "name",
    ["P", "P:", "P:1,1", "P:2,3,4", "P:-2", "P:1,4", "M:1", "B:0", "C:0", "M:4,4", "C:2,2", "D", "P:9 ", "B:1e3"],
)
def test_other_names_are_refused(name):
    with pytest.raises(InputError, match="name of no family"):
        named_family(name)
