r"""Proving what ``proof/trusted/every_k.py`` states and checks: a family of spurious minima for every k from some k on.

Below some k0 a point for each k, by Newton's method in balls. From there on a polynomial in
:math:`h = k^{-1/2} \in [0, H]` for each scaled unknown, fitted to critical points at Chebyshev's nodes (of real k), with a
tube around it. All of this is a guess; the trusted checker decides whether it proves the theorem.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import cos, inf, nextafter, pi, sqrt
from time import perf_counter
from typing import Any

import numpy as np
from flint import arb, arb_mat

from earnshaw.errors import InputError, is_whole
from earnshaw.problems.named import named_family
from earnshaw.proof.blocks import corrected, pair
from earnshaw.proof.certificate import Certificate, build
from earnshaw.proof.claims import EveryKClaim
from earnshaw.proof.doubles import down, up
from earnshaw.proof.trusted import Rejected, every_k
from earnshaw.proof.trusted.balls import floats
from earnshaw.proof.trusted.balls import precision as working_precision
from earnshaw.proof.trusted.blocks_claims import TARGET
from earnshaw.proof.trusted.every_k import FAMILIES
from earnshaw.proof.trusted.reading import OBJECTIVE
from earnshaw.proof.verdict import Proof, Verdict
from earnshaw.threads import one_blas_thread

DEGREE, NODES, ORDER, PIECES = 14, 24, 26, 128
BITS = 128
BACKOFF = 1e-3  # of lambda_tail_ge, relatively


@dataclass(frozen=True)
class Plan:
    """How a family is proved: the least k for which it is a minimum, the first k of the tail, and the tube's radius there.

    Its numbers are limit + second h^2 + unknown h^power.
    """

    first: int
    start: int
    tube: float
    limits: tuple[int, ...]
    seconds: tuple[int, ...]
    powers: tuple[int, ...]


PLANS = {
    "II": Plan(6, 40, 2.0**-16, (1, 0, 0, 0, -1), (0, 0, 2, 0, 0), (4, 4, 4, 2, 2)),
    "A": Plan(6, 40, 2.0**-16, (-1, 0), (2, 2), (4, 4)),
    "B": Plan(7, 100, 2.0**-17, (1, 0, 0, 0, 0, 0, -1), (0, 0, 2, 0, 0, 0, 0), (3, 4, 3, 2, 1, 2, 1)),
}


def prove_every_k(family: str, first: int | None = None, *, meta: Mapping[str, str] | None = None) -> Proof:
    """Prove that a named family is a spurious minimum for every k from `first` to infinity, in every dimension.

    Parameters
    ----------
    family
        II, A or B; :mod:`earnshaw.problems.named` says what they are.
    first
        The least k of the claim, by default 6 for II and A and 7 for B. Below, these families are saddles, and the proof ends
        inconclusive with the block that fails.
    """
    begun = perf_counter()
    if family not in PLANS:
        raise InputError(f"family {family[:40]!r} is not proved for every k; give {', '.join(PLANS)}")
    plan, least = PLANS[family], FAMILIES[family].least
    first, start = plan.first if first is None else first, plan.start
    if not is_whole(first, least) or first >= start:
        raise InputError(f"the first k is {first}; give an integer from {least} to {start - 1}")
    first = int(first)
    shape = {"family": family, "first": first, "from": start}

    def undecided(reason: str) -> Proof:
        seconds = perf_counter() - begun
        return Proof(Verdict.INCONCLUSIVE, reason, "every-k", shape, family=family, seconds=seconds)

    with one_blas_thread(), working_precision(BITS):
        head, found = dict[int, list[arb]](), dict[int, list[arb]]()
        try:
            for k, point in _head(family, first):
                head[k], (_, *found[k]) = point, every_k.minimum(every_k.point(family, k, point), k)
        except Rejected as rejected:
            return undecided(str(rejected))
        bounds = [found[k] for k in range(first, start)]
        reach = nextafter(1 / sqrt(start), inf)
        curve = _curve(family, reach, head[start - 1])
        ends = np.linspace(0.0, reach, PIECES + 1)
        ends[-1] = reach
        try:
            tail = every_k.Tail(family, curve, plan.tube, ORDER, reach)
            far, values = _tail_bounds(tail, ends.tolist())
        except Rejected as rejected:
            return undecided(str(rejected))
        scale = FAMILIES[family].scale
        values += [arb(k) ** scale * side for k, (_, *sides) in enumerate(bounds, first) for side in sides]
        claims = {
            "lambda_head_ge": min(down(least) for least, *_ in bounds),
            "lambda_tail_ge": far,
            "value_ge": min(down(value) for value in values),
            "value_le": max(up(value) for value in values),
        }
        center = [[list(pair(number)) for number in point] for _, point in sorted(head.items())]
    sections = {
        "curve": curve,
        "tail": {"from": start, "order": ORDER, "tube": plan.tube, "ends": ends.tolist()},
        "claims": claims,
        "hint": {"precision": BITS},
    }
    problem = {"family": family, "first": first, "target": TARGET, "objective": OBJECTIVE}
    certificate = build(every_k.KIND, problem, center, sections, meta)
    try:
        with one_blas_thread():
            every_k.verify(certificate.to_text().encode(), 1.0)
    except Rejected as rejected:
        return undecided(str(rejected))
    reason = f"every k from {first} to {start - 1} by itself, and all real k >= {start} at once"
    claim = EveryKClaim(**claims)
    seconds = perf_counter() - begun
    certificates = {every_k.KIND: certificate}
    return Proof(
        Verdict.PROVED_EVERY_K, reason, "every-k", shape, None, claim, certificates, family=family, seconds=seconds
    )


def numbers_at(family: str, h: arb, unknowns: Sequence[Any]) -> list[arb]:
    """Return the numbers of a point from its scaled unknowns."""
    plan = PLANS[family]
    return [
        limit + second * h**2 + x * h**power
        for limit, second, power, x in zip(plan.limits, plan.seconds, plan.powers, unknowns, strict=True)
    ]


def unknowns_at(family: str, h: arb, numbers: Sequence[Any]) -> list[arb]:
    """Return the scaled unknowns of a point."""
    plan = PLANS[family]
    return [
        (x - limit - second * h**2) / h**power
        for limit, second, power, x in zip(plan.limits, plan.seconds, plan.powers, numbers, strict=True)
    ]


def _sizes(family: str, k: Any) -> tuple[Any, ...]:
    return (k - 1, 1) if FAMILIES[family].singles else (k,)


def _followed(family: str, begin: float, numbers: Sequence[Any], ks: Sequence[Any]) -> Iterator[tuple[Any, list[arb]]]:
    """Yield the critical points at `ks`, each found from the one before by keeping the scaled unknowns."""
    rows = named_family(family).rows
    h = 1 / arb(begin).sqrt()
    for k in ks:
        unknowns = unknowns_at(family, h, numbers)
        h = 1 / arb(k).sqrt()
        numbers = corrected(_sizes(family, k), rows, numbers_at(family, h, unknowns))
        yield k, numbers


def _head(family: str, first: int) -> Iterator[tuple[int, list[arb]]]:
    """Yield k and the critical point, rounded to pairs of doubles, for k from `first` to the tail's, in some order."""
    known = named_family(family)
    base = max(sum(known.base), first)
    begin = known.follow(base, corrected)
    for ks in (range(base, first - 1, -1), range(base + 1, PLANS[family].start)):
        for k, numbers in _followed(family, base, begin, ks):
            yield k, [arb(high) + arb(low) for high, low in map(pair, numbers)]


def _curve(family: str, reach: float, near: list[arb]) -> list[list[float]]:
    """Return the coefficients of polynomials in h that fit the unknowns on [0, reach], by increasing power."""
    hs = [reach * (1 + cos(pi * (j + 0.5) / NODES)) / 2 for j in range(NODES)]
    ks = [1 / (h * h) for h in hs]
    with working_precision(2 * BITS):
        found = [
            [float(x) for x in unknowns_at(family, 1 / arb(k).sqrt(), numbers)]
            for k, numbers in _followed(family, PLANS[family].start - 1, near, ks)
        ]
    places = np.array([1 / sqrt(k) for k in ks])
    fits = np.polynomial.chebyshev.chebfit(2 * places / reach - 1, np.array(found), DEGREE)
    plain: dict[str, Any] = {"kind": np.polynomial.Polynomial, "domain": [0.0, 1.0], "window": [0.0, 1.0]}
    return [np.polynomial.Chebyshev(fit, domain=[0.0, reach]).convert(**plain).coef.tolist() for fit in fits.T]


def _tail_bounds(tail: every_k.Tail, ends: list[float]) -> tuple[float, list[arb]]:
    """Return a guess of the least eigenvalue on all pieces, and enclosures of the value on each."""
    least, values = inf, list[arb]()
    for begin, end in pairwise(ends):
        h = arb(begin).union(arb(end))
        values.append(tail.value(h))
        for name, form, square in tail.matrices(h):
            try:
                least = min(least, _least(form, square))
            except np.linalg.LinAlgError:
                raise Rejected(f"the part {name} is not positive definite for h in [{begin:.4g}, {end:.4g}]") from None
    return least * (1 - BACKOFF), values


def _least(form: arb_mat, square: arb_mat) -> float:
    """Return about the largest l for which form - l square is positive definite for all matrices in these balls."""
    loss = sqrt(sum(float(entry.rad()) ** 2 for entry in [*form.entries(), *square.entries()]))
    root = np.linalg.inv(np.linalg.cholesky(floats(form) - 1.1 * loss * np.eye(form.nrows())))
    return 1 / float(np.linalg.eigvalsh(root @ floats(square) @ root.T)[-1])


@dataclass(frozen=True)
class Course:
    """A family along h = k^(-1/2), as a certificate has it: to look at, in doubles; only the four bounds are proved.

    Attributes
    ----------
    family, first, start : the family, the first k of the claim and the first of the tail.
    h, least, value : at each k of the head, then at the middle of each piece of the tail: the smallest eigenvalue and the
        scaled loss, k F or F. The limit k to infinity is h = 0.
    claim : what is proved.
    """

    family: str
    first: int
    start: int
    h: np.ndarray
    least: np.ndarray
    value: np.ndarray
    claim: EveryKClaim


def course(certificate: Certificate) -> Course:
    """Return how smallest eigenvalue and loss run along a certificate of kind every_k."""
    try:
        document = every_k.parse(certificate.to_text().encode(), inf)
    except Rejected as rejected:
        raise InputError(f"this is no certificate for every k: {rejected}") from None
    rows, scale = list[tuple[float, float, float]](), FAMILIES[document.family].scale
    with one_blas_thread(), working_precision(document.precision):
        for k, center in enumerate(document.center, document.first):
            site = every_k.point(document.family, k, [arb(high) + arb(low) for high, low in center])
            blocks = [*site.hessians(), *site.extensions()]
            least = min(float(np.linalg.eigvalsh(floats(block))[0]) for block in blocks)
            rows.append((k**-0.5, least, float(site.value()) * k**scale))
        tail = every_k.Tail(
            document.family, document.curve, document.real("tail.tube"), document.order, document.ends[-1]
        )
        for begin, end in pairwise(document.ends[::-1]):
            h = arb((begin + end) / 2)
            least = min(_least(form, square) for _, form, square in tail.matrices(h))
            rows.append((float(h), least, float(tail.value(h))))
    claim = EveryKClaim(*(document.real(f"claims.{name}") for name in every_k.SHAPE["claims"]))
    h, least, value = np.array(rows).T
    return Course(document.family, document.first, document.start, h, least, value, claim)
