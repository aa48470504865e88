"""The real k at which a family turns: enclosures, against eigenvalues on both sides, and what is refused."""

import numpy as np
import pytest
from flint import arb

from earnshaw.errors import InputError
from earnshaw.problems.named import named_family
from earnshaw.proof import prove_family, turn
from earnshaw.proof import thresholds as module
from earnshaw.proof.blocks import corrected
from earnshaw.proof.trusted import Rejected
from earnshaw.proof.trusted.balls import floats, precision
from earnshaw.proof.trusted.blocks import Symmetric
from earnshaw.proof.trusted.parts import parts

KNOWN = {
    "A": (5.7638127349, "(q-2,1,1) of group 0", 6),
    "II": (5.5855052474, "standard of group 0", 6),
    "I": (6.7448306563, "(q-2,1,1) of group 0", 7),
    "B": (6.6653633542, "standard of group 0", 7),
}


def eigenvalue(family, k, block):
    """The smallest eigenvalue of a block at a real k, from the point of the next integer."""
    known, above = named_family(family), int(np.ceil(k))
    with precision(100):
        start = known.follow(above, corrected)
        sizes = (k,) if family == "A" else (k - 1, 1)
        site = Symmetric(list(sizes), list(known.rows), corrected(sizes, known.rows, start))
        blocks = {part.name: site.block(part) for part in parts(sizes, known.rows)}
        return np.linalg.eigvalsh(floats(blocks[block]))[0]


def agrees(family):
    k, block, first = KNOWN[family]
    found = turn(family)
    assert (found.block, found.first) == (block, first)
    assert found.k_ge < found.k_le < found.k_ge + 2e-10
    assert (found.k_ge, found.k_le) == pytest.approx((k, k), abs=3e-10)
    return found


@pytest.mark.parametrize("family", ["A", "II"])
def test_the_turn_is_enclosed(family):
    found = agrees(family)
    for k, sign in ((found.k_ge - 1e-4, -1), (found.k_le + 1e-4, 1)):
        assert np.sign(eigenvalue(family, k, found.block)) == sign
    assert prove_family(family, found.first).verdict.name == "PROVED_MINIMUM"
    assert prove_family(family, found.first - 1).verdict.name == "PROVED_SADDLE"


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("family", ["I", "B"])
def test_other_turns_are_enclosed(family):
    agrees(family)


def test_what_is_no_turn_is_refused():
    """An interval beside the turn, one so wide that the box does not hold the curve, and another block."""
    known = named_family("A")
    with precision(module.BITS):
        first, below, above, block = module._bracket(known)
        k = KNOWN["A"][0]
        module._prove(known, (k - 1e-9, k + 1e-9), below, above, first, block)
        for ends, reason in {
            (k + 1e-6, k + 1e-6 + 1e-10): "no proved negative direction",
            (k - 1e-6 - 1e-10, k - 1e-6): "not proved|not positive definite|no Cholesky",
            (k - 1e-2, k + 1e-2): "no unique critical point|too far apart",
        }.items():
            with pytest.raises(Rejected, match=reason):
                module._prove(known, ends, below, above, first, block)
        with pytest.raises(Rejected, match="no proved negative direction"):
            module._prove(known, (k - 1e-9, k + 1e-9), below, above, first, "trivial")
        far = [x + arb(0.01) for x in above]
        with pytest.raises(Rejected, match="no unique critical point"):
            module._unique(known, arb(k), far, module.WIDE, k)


@pytest.mark.nightly
@pytest.mark.slow
def test_families_that_do_not_turn():
    with pytest.raises(InputError, match=r"family C:1 ends between k = 18 and 19"):
        turn("C")
