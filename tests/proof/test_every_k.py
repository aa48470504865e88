"""One theorem for every k: what is proved of families II, A and B, what is refused, and that wrong formulas are noticed."""

import json
import random

import adversaries_every_k
import battery_every_k
import battery_models
import mutation
import numpy as np
import pytest
from flint import arb

from earnshaw.errors import InputError
from earnshaw.proof import Verdict, check, explain, prove_every_k, prove_family, trusted
from earnshaw.proof.every_k import PLANS
from earnshaw.proof.trusted import check_bytes

# lambda for all k, lambda in the tail, and the two ends of k F, or F for A.
REACHED = {
    "II": (0.0047, 0.067, 0.150, 0.298),
    "A": (0.0015, 0.048, 0.055, 0.182),
    "B": (0.0026, 0.0040, 0.155, 0.268),
}
FIRST = {"II": 6, "A": 6, "B": 7}


@pytest.fixture(scope="module", params=REACHED)
def proof(request):
    return prove_every_k(request.param)


def test_every_k_from_the_first_on_is_proved_and_verified(proof):
    least, far, low, high = REACHED[proof.family]
    assert proof.verdict is Verdict.PROVED_EVERY_K
    assert proof.claim.lambda_ge >= least
    assert proof.claim.lambda_tail_ge >= far
    assert low <= proof.claim.value_ge < proof.claim.value_le <= high
    result = check(proof)
    assert result.verified
    assert f"every k: for every k >= {FIRST[proof.family]} and every dimension D >= k" in result.statement
    assert f"with n = {'k + 1' if proof.family == 'B' else 'k'} neurons" in result.statement


def test_the_bounds_are_those_of_single_proofs(proof):
    """At the first k, which is the worst, and within the tail."""
    claim = proof.claim
    assert claim.lambda_ge == pytest.approx(prove_family(proof.family, FIRST[proof.family]).claim.mu_ge, rel=1e-6)
    for k in (100, 1000, 10**6):
        single = prove_family(proof.family, k).claim
        scale = 1 if proof.family == "A" else k
        assert claim.lambda_tail_ge <= single.mu_ge
        assert claim.value_ge <= scale * single.objective_ge
        assert scale * single.objective_le <= claim.value_le


def test_the_curve_is_where_single_proofs_find_the_point(proof):
    document = proof.certificate.document
    rows = [np.array([float.fromhex(x) for x in row]) for row in document["curve"]]
    for k in (101, 500, 20_000):
        numbers = [high + low for high, low in prove_family(proof.family, k).point.numbers]
        h = k**-0.5
        unknowns = [sum(c * h**i for i, c in enumerate(row)) for row in rows]
        expected = [float(x) for x in battery_every_k.numbers_at(proof.family, arb(h), [arb(x) for x in unknowns])]
        assert np.allclose(numbers, expected, rtol=0, atol=2e-5 * h**2)


def test_b_is_better_than_at_its_first_k():
    """From 8 to 99 its smallest eigenvalue is at least .0048; the proof from 8 on says so."""
    for k in (8, 30, 99):
        assert prove_family("B", k).claim.mu_ge >= 0.0048


@pytest.mark.nightly
@pytest.mark.slow
def test_b_from_8_on():
    claim = prove_every_k("B", np.int64(8)).claim
    assert claim.lambda_head_ge >= 0.0048
    assert claim.lambda_ge == claim.lambda_tail_ge >= 0.0040


@pytest.mark.nightly
@pytest.mark.slow
def test_models_contain_ten_thousand_numbers():
    assert battery_models.contained(10_000, 1)(trusted)


def test_limits(proof):
    """The numbers at infinity, that is h = 0, are Arjevani and Field's."""
    pi, rows = np.pi, [float.fromhex(row[0]) for row in proof.certificate.document["curve"]]
    d = 4 / pi
    e = (pi + 2 - d - d * d / 2) / (pi / 2 - 1)
    expected = {"II": [e - 2 - d * d / 2, -d, 2 * d / pi - e, d, e], "A": [2 * (d - 2), d - 2], "B": _limit_of_b()}
    assert rows == pytest.approx(expected[proof.family], abs=1e-9)
    end = {"II": 0.5 - 2 / pi**2, "A": 0.5 - 1 / pi, "B": 0.267255}[proof.family]
    assert proof.claim.value_le == pytest.approx(end, abs=1e-4)
    assert proof.claim.value_le >= end


def _limit_of_b():
    """The equations that B's numbers satisfy at infinity, at the length rho h and the angle f of the short neuron."""
    pi, rho, f = np.pi, 1.66432444336, 0.58416413506
    psi, d1, e1 = pi / 2 - f, rho * np.sin(f), -rho * np.cos(f)
    d2, e2 = (2 - psi * d1) / (pi / 2), rho * (psi * np.cos(f) - 1 + np.sin(f)) / (pi / 2 - 1)
    first = 2 * (np.sin(f) ** 2 - np.cos(f) ** 2) + psi * (d2 * np.cos(f) + e2 * np.sin(f)) - d2 * np.sin(f)
    second = (pi / 2 - 1) * rho + e2 * (1 - np.sin(f)) - np.sin(2 * f) + psi * (d2 * np.sin(f) - e2 * np.cos(f))
    assert (first, second) == pytest.approx((0, 0), abs=1e-9)
    return [e2 - rho, -d1 - d2, -e1 - e2, d1, e1, d2, e2]


@pytest.mark.parametrize(
    ("family", "k", "part"),
    [("II", 5, "standard of group 0"), ("A", 5, "(q-2,1,1) of group 0"), ("B", 6, "standard of group 0")],
)
def test_one_k_less_is_refused_with_the_block_that_fails(family, k, part):
    refused = prove_every_k(family, k)
    assert refused.verdict is Verdict.INCONCLUSIVE
    assert refused.reason.startswith(f"k = {k}: the part {part} is not positive definite")
    assert refused.main is None


def test_what_is_asked_wrongly():
    for wrong in ("C", "I", "nothing"):
        with pytest.raises(InputError, match="is not proved for every k; give II, A, B"):
            prove_every_k(wrong)
    for first in (4, 3, 40, True, 6.0):
        with pytest.raises(InputError, match="give an integer from"):
            prove_every_k("II", first)


@pytest.mark.parametrize("family", REACHED)
def test_forgeries_are_rejected_with_a_reason(family):
    bad, good = adversaries_every_k.everything(family)
    start, first = PLANS[family].start, adversaries_every_k.begin(family)
    reasons = {
        "a gap at h0: the last piece is missing": f"leaves a gap before k = {start}",
        "a gap at h0 of one unit in the last place": f"leaves a gap before k = {start}",
        "a gap at 0: the first piece is missing": "does not begin at 0",
        "a piece out of order": "out of order",
        "tube of radius 0": "tail.tube is not positive",
        "k0 lowered by one": f"center must hold one point for each k from {first} to {start - 2}",
        "k0 lowered by one with its point": f"leaves a gap before k = {start - 1}",
        "coefficient 0 of curve 0 moved by 3 tubes": "no zero is proved in the tube",
        "coefficient 3 of curve 0 edited": "no zero is proved in the tube",
        "lambda_tail_ge too large": "minus lambda_tail_ge",
        "lambda_head_ge too large": "lambda_head_ge exceeds what is proved at k = ",
        "value_ge too large": "claims.value_ge",
        "value_le too small": "claims.value_le",
    }
    assert check_bytes(good["a wider tube"])[0]  # the battery has all others, of A
    for name, fragment in reasons.items():
        assert fragment in check_bytes(bad[name])[2], (name, check_bytes(bad[name])[2])


def _formula_mutants(family, count):
    """Evenly chosen mutants of the formulas of a family: signs, factors, dropped terms."""
    places = (f"Family{family}.", "Regular.") if family == "A" else (f"Family{family}.", "FamilyII.", "Single.")
    found = [mutant for mutant in mutation.mutants(("scaled.py", "singles.py")) if mutant.function.startswith(places)]
    found = [mutant for mutant in found if not mutant.function.endswith("__init__")]
    return random.Random(0).sample(found, count)


def _agreeing(family, count):
    more = {"II": ["B"], "B": ["II"]}.get(family, [])  # a pair of single neurons; what is another of B
    case = {f"formulas {name}": battery_every_k.agrees(name, 0) for name in (family, *more)}
    assert mutation.noticed_by(None, case) is None
    return [mutant.name for mutant in _formula_mutants(family, count) if mutation.noticed_by(mutant, case) is None]


@pytest.mark.parametrize("family", REACHED)
def test_wrong_formulas_do_not_agree_with_blocks(family):
    """A sign, a factor or a term that is wrong in the equations, the Hessian or the value is noticed at random points."""
    assert _agreeing(family, 4) == []


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("family", REACHED)
def test_many_wrong_formulas_do_not_agree_with_blocks(family):
    assert _agreeing(family, 60) == []


def test_words_and_latex(proof):
    explanation = explain(proof)
    assert explanation.verified
    first = FIRST[proof.family]
    assert f"For every integer k >= {first} and in R^D for every D >= k" in explanation.words
    assert "at least 0.00" in explanation.words
    assert rf"For every integer $k \ge {first}$" in explanation.latex
    assert (r"W \in \mathbb{R}^{(k+1) \times D}" in explanation.latex) == (proof.family == "B")
    assert explanation.latex.count("$") % 2 == 0


def test_the_row_of_a_report(proof, tmp_path):
    row = proof.report(proof.family, 0, tmp_path / "x.json")
    assert row["verdict"] == "PROVED_EVERY_K"
    assert (row["first"], row["from"]) == (FIRST[proof.family], 100 if proof.family == "B" else 40)
    assert json.loads(json.dumps(row))["lambda_ge"] == proof.claim.lambda_ge
