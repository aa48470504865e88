r"""Proving the verdict on a convolutional network: which stationary points exist, and what they are.

``proof/trusted/convnet.py`` states the theorem. Everything depends on the sign of the margin

.. math:: (k + \pi - 1)|a^*|^2 - \pi S^2, \qquad S = \sum_i a^*_i :

positive, and the point with the filter against the teacher's is a spurious local minimum; otherwise it is none. The
formulas here are those of the mean and the contrast of the output weights, written apart from the checker's.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from math import inf, nextafter, pi

import numpy as np
from flint import arb

from earnshaw.errors import InputError
from earnshaw.problems import ConvNet
from earnshaw.proof.certificate import build
from earnshaw.proof.claims import ConvNetClaim, DensePoint, Pair
from earnshaw.proof.doubles import down, up
from earnshaw.proof.trusted.balls import precision as working_precision
from earnshaw.proof.trusted.convnet import MAX_WEIGHTS, PRECISION, overlap
from earnshaw.proof.verdict import Missed, Proof, Verdict


def prove_convnet(
    problem: ConvNet, weights: None = None, *, precision: int = PRECISION, meta: Mapping[str, str] | None = None
) -> Proof:
    """Decide with ball arithmetic which stationary points the network has, and write the certificate.

    The verdict is about the point with the filter against the teacher's: PROVED_MINIMUM, or PROVED_SADDLE when it is
    stationary but no minimum. INCONCLUSIVE says that ``precision`` bits do not separate the margin from 0, or a number
    from a double next to it.
    """
    if weights is not None:
        raise InputError(
            "a point was given, but the proof of a convolutional network is about all its stationary points"
        )
    if max(problem.filter_size, problem.patches) > MAX_WEIGHTS:
        raise InputError(
            f"p = {problem.filter_size}, k = {problem.patches} is too large for a certificate; at most {MAX_WEIGHTS}"
        )
    if not 32 <= precision <= 4096:
        raise InputError(f"a precision of {precision} bits was asked for; use 32 to 4096")
    try:
        with working_precision(precision):
            center, claim = _proved(problem)
    except Missed as missed:
        return Proof.undecided(problem, f"{missed} at {precision} bits; more precision would help")
    pairs = (claim.margin, claim.value, claim.product, claim.barrier, claim.saddle_angle or (None, None))
    names = (f"{name}_{side}" for name in ("margin", "F", "product", "barrier", "angle") for side in ("ge", "le"))
    claims = {**dict(zip(names, chain(*pairs), strict=True)), "step_le": claim.step_le}
    sections = {"R_enclosure": claim.enclosure_radius, "claims": claims}
    low, high = claim.margin
    reason = f"the margin (k + pi - 1)|a*|^2 - pi S^2 lies between {low:.17g} and {high:.17g}"
    certificates = {"convnet": build("convnet", problem.to_json(), center, sections, meta)}
    verdict = Verdict.PROVED_SADDLE if claim.saddle_angle is None else Verdict.PROVED_MINIMUM
    return Proof(verdict, reason, problem.network, problem.sizes, DensePoint(center), claim, certificates)


def _proved(problem: ConvNet) -> tuple[np.ndarray, ConvNetClaim]:
    """Return the doubles nearest to the spurious point's output weights, and the claim."""
    k, outputs = problem.patches, [arb(float(x)) for x in problem.output_weights]
    kappa, tail = k + arb.pi() - 1, arb.pi() - 1
    length = sum((arb(float(x)) ** 2 for x in problem.filter), arb(0)).sqrt()
    total, square = sum(outputs, arb(0)), sum((x * x for x in outputs), arb(0))
    # one output weight: the margin is 0, exactly
    margin = arb(0) if k == 1 else kappa * square - arb.pi() * total**2
    if not (margin > 0 or margin <= 0):
        raise Missed(f"the margin (k + pi - 1)|a*|^2 - pi S^2 = {margin.str(5)} is not separated from 0")
    contrast = square - total**2 / k
    bend = contrast / tail + total**2 / (k * kappa)
    turning = 1 - total**2 / (kappa * bend)
    spurious = (
        [length * ((k - 1) * total / (k * kappa) - (x - total / k) / tail) for x in outputs] if k > 1 else [arb(0)]
    )
    mean = total**2 / k
    value = length**2 / 4 * (mean * (2 * k + arb.pi() - 2) / kappa + contrast * (arb.pi() - 2) / tail)
    product = sum((x * y for x, y in zip(spurious, outputs, strict=True)), arb(0))
    barrier = length**2 * bend * (arb.pi() - turning) ** 2 / (4 * arb.pi())

    center = np.array([_nearest(x) for x in spurious])
    radius = up(sum(((x - float(c)) ** 2 for x, c in zip(spurious, center, strict=True)), arb(0)).sqrt()) + 0.0
    scale = length * square.sqrt()
    half, cross, turn = kappa / (2 * arb.pi()), arb.pi() * scale / 8, scale**2
    return center, ConvNetClaim(
        margin=_neighbours("the margin", margin),
        value=_neighbours("the spurious point's loss", value),
        product=_neighbours("a . a*", product),
        barrier=_neighbours("the barrier", barrier),
        saddle_angle=_angle(turning) if margin > 0 else None,
        enclosure_radius=radius,
        step_le=down(2 / (half + turn + ((half - turn) ** 2 + 4 * cross**2).sqrt())),
    )


def _nearest(ball: arb) -> float:
    """Return the double nearest to every point of a ball."""
    guess = float(ball.mid())
    below, above = nextafter(guess, -inf), nextafter(guess, inf)
    if not (2 * ball > arb(below) + guess and 2 * ball < arb(above) + guess):
        raise Missed("an output weight is not separated from the middle of two doubles")
    return guess


def _neighbours(name: str, ball: arb) -> Pair:
    """Return the doubles next to a number, one on each side; the number itself, twice, if it is a double."""
    low, high = down(ball) + 0.0, up(ball) + 0.0  # never -0
    if low == high or (arb(low) < ball and ball < arb(high) and nextafter(low, inf) == high):
        return low, high
    raise Missed(f"{name} is not separated from a double")


def _angle(turning: arb) -> Pair:
    """Return the doubles next to the angle at which g = turning; g falls from pi at 0 to 0 at pi."""
    low, high = 0.0, pi  # the double pi lies below the number
    while nextafter(low, inf) < high:
        middle = (low + high) / 2
        g = overlap(arb(middle))
        if g > turning:
            low = middle
        elif g < turning:
            high = middle
        else:
            raise Missed("the saddles' angle is not separated from a double")
    if not overlap(arb(high)) < turning:
        raise Missed("the saddles' angle is too close to pi for doubles")
    return low, high
