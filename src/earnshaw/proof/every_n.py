r"""Proving what ``proof/trusted/every_n.py`` states and checks: a minimum whose neuron can be split for every larger n.

With r = ``R_enclosure`` the theorem needs a neuron i for which

.. math:: \lambda_{\min}\bigl(D_i + w_i w_i^T/|w_i|^2\bigr) - L r - r^2/|w_i|^2 > 0, \qquad M_{ii} - \tfrac12 - L r > 0 .

The neuron for which :mod:`earnshaw.proof.splitting` finds the largest curvature is taken.
"""

from collections.abc import Sequence
from dataclasses import replace

from flint import arb

from earnshaw.proof.claims import MinimumClaim
from earnshaw.proof.doubles import down, guess_least, prove_least, rounded
from earnshaw.proof.relu_claims import Sections
from earnshaw.proof.splitting import Splitting
from earnshaw.proof.trusted.every_n import lifted
from earnshaw.proof.trusted.relu import Point
from earnshaw.proof.verdict import Missed


def prove_every_n(
    point: Point, claim: MinimumClaim, sections: Sections, rows: Sequence[Splitting]
) -> tuple[MinimumClaim, Sections]:
    """Prove that a minimum gives one for every n' >= n; return claim and sections with it, or raise Missed."""
    if not claim.every_dimension:
        raise Missed("every n missed: the minimum is proved in dimension d alone")
    best = max(rows, key=lambda row: (row.is_stable, row.curvature))
    if not best.is_stable:
        raise Missed(
            f"every n missed: no neuron is split-stable; splitting opens a way down at {', '.join(row.words for row in rows)}; "
            f"for neuron {best.neurons[0]} along {best.way}"
        )
    neuron = best.neurons[0]
    slope, square = point.extension()[neuron, neuron], point.square[neuron]
    matrix = rounded(lifted(point, neuron))
    bound = prove_least(matrix, guess_least(matrix.entries))
    near = arb(claim.enclosure_radius)
    drift = arb(claim.change_le) * near
    delta = None if bound is None else down(arb(bound.lower) - drift - near * near / square)
    beyond = down(slope - arb(1) / 2 - drift)
    if bound is None or delta is None or not (delta > 0 and beyond > 0):
        raise Missed(
            f"every n missed: D of neuron {neuron} is about {best.curvature:.3g} across it, and {float(drift):.3g} is lost to "
            f"the distance from the centre to the minimum, so that it is not proved positive; more precision might help"
        )
    found = {"neuron": neuron, "delta": delta, "delta_ext": beyond}
    hint = {**sections["hint"], "shift_split": bound.shift}
    claim = replace(claim, split_neuron=neuron, split_ge=delta, split_ext_ge=beyond)
    return claim, sections | {"every_n": found, "hint": hint}
