r"""Proving the verdict on a convolutional network: which stationary points exist, and what they are.

``proof/trusted/convnet.py`` states the theorem. Everything depends on the sign of the margin

.. math:: (k + \pi - 1)|a^*|^2 - \pi S^2, \qquad S = \sum_i a^*_i :

positive, and the point with the filter against the teacher's is a spurious local minimum; otherwise it is none. The
formulas here are those of the mean and the contrast of the output weights, written apart from the checker's.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from math import inf, nextafter, pi
from pathlib import Path
from time import perf_counter

import numpy as np
from flint import arb

from earnshaw.errors import InputError
from earnshaw.problems.convnet import ConvNet
from earnshaw.proof.balls import down, precision, up
from earnshaw.proof.certificate import Certificate, hexed
from earnshaw.proof.explanation import Explanation
from earnshaw.proof.trusted.convnet import MAX_WEIGHTS, PRECISION, overlap, parse, statement
from earnshaw.proof.trusted.reading import FORMAT, Rejected, seal
from earnshaw.proof.trusted.relu_claims import shown
from earnshaw.proof.verdict import Verdict


@dataclass(frozen=True)
class ConvNetProof:
    """The result of :func:`prove_convnet`; pairs are the doubles next to the true number, on both sides.

    ``verdict`` is about the point with the filter against the teacher's: PROVED_MINIMUM, or PROVED_SADDLE when it is
    stationary but no minimum. ``center`` holds its output weights to rounding, ``value`` its loss, ``product`` its
    a . a*. ``barrier`` is the loss below which the sign of a . a* decides where gradient descent ends, for steps up to
    ``step_le``; ``saddle_angle`` that of the saddles, where there are any.
    """

    verdict: Verdict
    reason: str
    problem: ConvNet
    center: np.ndarray | None = field(default=None, repr=False)
    enclosure_radius: float | None = None
    margin: tuple[float, float] | None = None
    value: tuple[float, float] | None = None
    product: tuple[float, float] | None = None
    barrier: tuple[float, float] | None = None
    saddle_angle: tuple[float, float] | None = None
    step_le: float | None = None
    certificate: Certificate | None = field(default=None, repr=False)
    seconds: float = 0.0

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the certificate, atomically."""
        if self.certificate is None:
            raise InputError(f"there is no certificate to save: {self.reason}")
        return self.certificate.save(path)


class _Undecided(Exception):
    """A ball is too wide; the message says which."""


def prove_convnet(problem: ConvNet, bits: int = PRECISION) -> ConvNetProof:
    """Decide with ball arithmetic which stationary points the network has, and write the certificate.

    A filter of one weight cannot turn, so that nothing is to be decided; it raises InputError. INCONCLUSIVE says that
    ``bits`` of precision do not separate the margin from 0, or a number from a double next to it.
    """
    if problem.filter_size < 2:
        raise InputError(
            "the filter has one weight, which gradient descent cannot turn: both signs are minima; give p >= 2"
        )
    if max(problem.filter_size, problem.patches) > MAX_WEIGHTS:
        raise InputError(
            f"p = {problem.filter_size}, k = {problem.patches} is too large for a certificate; at most {MAX_WEIGHTS}"
        )
    if not 32 <= bits <= 4096:
        raise InputError(f"a precision of {bits} bits was asked for; use 32 to 4096")
    begun = perf_counter()
    try:
        with precision(bits):
            return _proved(problem, begun)
    except _Undecided as undecided:
        reason = f"{undecided} at {bits} bits; more precision would help"
        return ConvNetProof(Verdict.INCONCLUSIVE, reason, problem, seconds=perf_counter() - begun)


def _proved(problem: ConvNet, begun: float) -> ConvNetProof:
    k, outputs = problem.patches, [arb(float(x)) for x in problem.output_weights]
    kappa, tail = k + arb.pi() - 1, arb.pi() - 1
    length = sum((arb(float(x)) ** 2 for x in problem.filter), arb(0)).sqrt()
    total, square = sum(outputs, arb(0)), sum((x * x for x in outputs), arb(0))
    # one output weight: the margin is 0, exactly
    margin = arb(0) if k == 1 else kappa * square - arb.pi() * total**2
    if not (margin > 0 or margin <= 0):
        raise _Undecided(f"the margin (k + pi - 1)|a*|^2 - pi S^2 = {margin.str(5)} is not separated from 0")
    contrast = square - total**2 / k
    bend = contrast / tail + total**2 / (k * kappa)
    turning = 1 - total**2 / (kappa * bend)
    spurious = [length * ((k - 1) * total / (k * kappa) - (x - total / k) / tail) for x in outputs]
    if k == 1:
        spurious = [arb(0)]
    mean = total**2 / k
    value = length**2 / 4 * (mean * (2 * k + arb.pi() - 2) / kappa + contrast * (arb.pi() - 2) / tail)
    product = sum((x * y for x, y in zip(spurious, outputs, strict=True)), arb(0))
    barrier = length**2 * bend * (arb.pi() - turning) ** 2 / (4 * arb.pi())

    center = np.array([_nearest(x) for x in spurious])
    radius = up(sum(((x - float(c)) ** 2 for x, c in zip(spurious, center, strict=True)), arb(0)).sqrt()) + 0.0
    pairs = {
        "margin": _neighbours("the margin", margin),
        "F": _neighbours("the spurious point's loss", value),
        "product": _neighbours("a . a*", product),
        "barrier": _neighbours("the barrier", barrier),
    }
    angle = _angle(turning) if margin > 0 else None
    scale = length * square.sqrt()
    half, cross, turn = kappa / (2 * arb.pi()), arb.pi() * scale / 8, scale**2
    step = down(2 / (half + turn + ((half - turn) ** 2 + 4 * cross**2).sqrt()))

    claims = {f"{name}_{side}": pair[i] for name, pair in pairs.items() for i, side in enumerate(("ge", "le"))}
    claims |= {"angle_ge": None if angle is None else angle[0], "angle_le": None if angle is None else angle[1]}
    document = {
        "format": FORMAT,
        "kind": "convnet",
        "problem": problem.to_json(),
        "center": hexed(center),
        "R_enclosure": hexed(radius),
        "claims": hexed({**claims, "step_le": step}),
        "meta": {"producer": "earnshaw.proof"},
    }
    document["sha256"] = seal(document)
    verdict = Verdict.PROVED_SADDLE if angle is None else Verdict.PROVED_MINIMUM
    low, high = pairs["margin"]
    return ConvNetProof(
        verdict=verdict,
        reason=f"the margin (k + pi - 1)|a*|^2 - pi S^2 lies between {low:.17g} and {high:.17g}",
        problem=problem,
        center=center,
        enclosure_radius=radius,
        margin=pairs["margin"],
        value=pairs["F"],
        product=pairs["product"],
        barrier=pairs["barrier"],
        saddle_angle=angle,
        step_le=step,
        certificate=Certificate("convnet", document),
        seconds=perf_counter() - begun,
    )


def _nearest(ball: arb) -> float:
    """Return the double nearest to every point of a ball."""
    guess = float(ball.mid())
    below, above = nextafter(guess, -inf), nextafter(guess, inf)
    if not (2 * ball > arb(below) + guess and 2 * ball < arb(above) + guess):
        raise _Undecided("an output weight is not separated from the middle of two doubles")
    return guess


def _neighbours(name: str, ball: arb) -> tuple[float, float]:
    """Return the doubles next to a number, one on each side; the number itself, twice, if it is a double."""
    low, high = down(ball) + 0.0, up(ball) + 0.0  # never -0
    if low == high or (arb(low) < ball and ball < arb(high) and nextafter(low, inf) == high):
        return low, high
    raise _Undecided(f"{name} is not separated from a double")


def _angle(turning: arb) -> tuple[float, float]:
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
            raise _Undecided("the saddles' angle is not separated from a double")
    if not overlap(arb(high)) < turning:
        raise _Undecided("the saddles' angle is too close to pi for doubles")
    return low, high


def explain_convnet(certificate: Certificate) -> Explanation:
    """Say what a certificate of kind `convnet` claims, in words and in LaTeX."""
    try:
        document = parse(certificate.to_text().encode())
    except Rejected as rejected:
        raise InputError(f"not a well-formed certificate: {rejected}") from None
    value, barrier, step = (_tex(document.real(name)) for name in ("F_ge", "barrier_ge", "step_le"))
    is_minimum = document.claims["angle_ge"] is not None
    kind = "is a local minimum, though not a global one" if is_minimum else "is not a local minimum"
    condition = r"\pi S^2 < (k + \pi - 1)|a^*|^2" if is_minimum else r"\pi S^2 \ge (k + \pi - 1)|a^*|^2"
    saddles = (
        rf"; the others are strict saddles, at the angle ${_tex(document.real('angle_ge'))}$ to $w^*$ (rounded down)"
        if is_minimum
        else ""
    )
    latex = (
        "\\begin{theorem}\n"
        rf"Let $w^* \in \mathbb{{R}}^{{{len(document.filter)}}}$ and $a^* \in \mathbb{{R}}^{{{len(document.outputs)}}}$ be the certificate's "
        "filter and output weights, $S = \\sum_i a^*_i$, and let\n"
        r"\[ F(v, a) = \tfrac12 \mathbb{E} \Bigl( \sum_i a_i [Z_i^\top v]_+ / |v| - \sum_i a^*_i [Z_i^\top w^*]_+ \Bigr)^2, "
        "\\qquad Z_i \\sim \\mathcal{N}(0, I) . \\]\n"
        rf"Then ${condition}$. The stationary point with $v$ against $w^*$, whose output weights are the certificate's "
        rf"center to rounding and where $F \ge {value}$, {kind}; those with $v$ along $w^*$ are the global minima{saddles}. "
        rf"Gradient descent with a step of at most ${step}$ from a point with $|v| \ge 1$, $v$ not against $w^*$, and "
        rf"$F < {barrier}$ converges to the former if $a^\top a^* < 0$ and to the latter if $a^\top a^* > 0$."
        "\n\\end{theorem}\n"
    )
    return Explanation("convnet", statement(document), latex)


def _tex(number: float) -> str:
    """Print a positive number rounded down to six digits, as LaTeX."""
    mantissa, _, exponent = shown(number, up=False).partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa
