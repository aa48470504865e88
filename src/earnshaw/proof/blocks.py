r"""Proving points with many equal entries, of any size: a handful of numbers, Newton's method in balls, and small blocks.

With :math:`N_r` how many weights the number :math:`x_r` stands for, the unknowns are :math:`y_r = \sqrt{N_r} x_r`, in which
the distance of two points is that of their weights. With the gradient g and the Hessian T in them (the trivial block),

.. math:: y \leftarrow y - T(y)^{-1} g(y),

at the midpoints of balls. What is proved is the end point, rounded to sums of two doubles: at k = 1,000,000 a double is
not enough, for a row's neurons are as many, and the Hessian changes k times as fast as it is at its smallest. Nothing of
this is trusted; the certificate is checked by ``proof/trusted/blocks_claims.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx

from earnshaw.errors import InputError
from earnshaw.problems.named import named_family
from earnshaw.proof.certificate import Certificate, affordable, build
from earnshaw.proof.claims import Claim, Pair, PatternPoint
from earnshaw.proof.doubles import EigenBound, down
from earnshaw.proof.relu_claims import prove_radii, prove_saddle
from earnshaw.proof.trusted import Rejected
from earnshaw.proof.trusted.balls import floats, least_eigenvalue, norm
from earnshaw.proof.trusted.balls import precision as working_precision
from earnshaw.proof.trusted.blocks import Symmetric
from earnshaw.proof.trusted.blocks_claims import TARGET, costs, parse, site
from earnshaw.proof.trusted.parts import parts
from earnshaw.proof.trusted.reading import MAX_PRECISION, MIN_PRECISION, OBJECTIVE
from earnshaw.proof.verdict import Missed, Proof, Verdict
from earnshaw.threads import one_blas_thread

STEPS = 30


def prove_family(family: str, k: int, *, precision: int | None = None, meta: Mapping[str, str] | None = None) -> Proof:
    """Prove the point of a named family for k teacher neurons: a spurious minimum, or a saddle, in every dimension.

    Parameters
    ----------
    family
        II, I, A, B, 2B, 3Bp, M:q, B:r, P:q, P:m,q or C:j; :mod:`earnshaw.problems.named` says what they are.
    k
        How many teacher neurons, up to 100,000,000; the cost does not depend on it.
    precision
        Bits of the ball arithmetic; None chooses by k.
    """
    return next(prove_families(family, [k], precision=precision, meta=meta))


def prove_families(
    family: str, sizes: Iterable[int], *, precision: int | None = None, meta: Mapping[str, str] | None = None
) -> Iterator[Proof]:
    """Prove the points of a named family at several sizes, as :func:`prove_family` does, each reached from the one before.

    A size at which the family is lost comes back as INCONCLUSIVE, with the reason.
    """
    named, known = named_family(family), None
    for k in sizes:
        begun, groups, bits = perf_counter(), named.sizes(k), _bits(precision, k)
        try:
            with working_precision(bits):
                numbers = named.follow(k, corrected, known)
        except InputError as lost:
            shape = {"n": named.neurons(k), "k": k, "d": k}
            proof = Proof(Verdict.INCONCLUSIVE, str(lost), "two-layer", shape, family=named.label(k))
        else:
            known = (k, numbers)
            proof = prove_pattern(groups, named.rows, numbers, precision=bits, family=named.label(k), meta=meta)
        yield _timed(proof, begun)


def prove_pattern(
    sizes: Sequence[int],
    rows: Sequence[int | None],
    numbers: Sequence[Any],
    *,
    precision: int | None = None,
    family: str | None = None,
    meta: Mapping[str, str] | None = None,
) -> Proof:
    """Prove what lies at a point with a pattern: `sizes` of the groups, `rows` (a group, or None), its numbers in order.

    The teacher is the coordinate vectors. `numbers` are polished by Newton's method first.
    """
    begun = perf_counter()
    sizes, rows = tuple(int(size) for size in sizes), tuple(rows)
    expected = sum(len(sizes) + (row is not None) for row in rows)
    if not sizes or not rows or min(sizes) < 1 or any(row is not None and sizes[row] < 2 for row in rows):
        raise InputError(f"groups of sizes {sizes} and rows {rows} are no pattern of families of two neurons or more")
    if len(numbers) != expected:
        raise InputError(f"{len(numbers)} numbers were given; this pattern has {expected}")
    n, k = sum(1 if row is None else sizes[row] for row in rows), sum(sizes)
    bits, shape = _bits(precision, k), {"n": n, "k": k, "d": k}
    affordable(costs(len(sizes), len(rows)))
    point = None
    try:
        if n < k:
            raise Missed(f"n = {n} students for k = {k} teachers: the least value of F is then unknown")
        with one_blas_thread(), working_precision(bits):
            pairs = tuple(pair(number) for number in corrected(sizes, rows, list(numbers)))
            point = PatternPoint(sizes, rows, pairs)
            balls = [arb(high) + arb(low) for high, low in pairs]
            verdict, reason, claim, kind, sections = _decide(Symmetric(list(sizes), list(rows), balls))
    except (Missed, InputError, Rejected) as missed:
        return _timed(Proof(Verdict.INCONCLUSIVE, str(missed), "two-layer", shape, point, family=family), begun)
    problem = {**shape, "target": TARGET, "objective": OBJECTIVE}
    pattern = {"pattern": {"sizes": list(sizes), "rows": list(rows)}}
    center = [list(pair) for pair in pairs]
    named = {} if family is None else {"family": family}
    certificate = build(kind, problem, center, {**pattern, **sections}, {**named, **(meta or {})})
    proof = Proof(verdict, reason, "two-layer", shape, point, claim, {kind: certificate}, family=family)
    return _timed(proof, begun)


def _timed(proof: Proof, begun: float) -> Proof:
    return replace(proof, seconds=perf_counter() - begun)


def _bits(precision: int | None, k: int) -> int:
    """Return the precision asked for, or 128 bits and as many as the sum over k^4 pairs of weights may lose."""
    bits = 128 + 4 * int(k).bit_length() if precision is None else precision
    if not MIN_PRECISION <= bits <= MAX_PRECISION:
        raise InputError(f"precision is {precision} bits; give {MIN_PRECISION} to {MAX_PRECISION}")
    return bits


def corrected(sizes: Sequence[float], rows: Sequence[int | None], numbers: Sequence[Any]) -> list[arb]:
    """Return the numbers of the critical point that Newton's method reaches, in balls of radius 0."""
    current = [number if isinstance(number, arb) else arb(float(number)) for number in numbers]
    best, least = None, np.inf
    for _ in range(STEPS):
        try:
            site = Symmetric(list(sizes), list(rows), current)  # type: ignore[arg-type]  sizes on the way are no integers
        except Rejected as rejected:
            raise InputError(str(rejected)) from None
        gradient = site.gradient()
        size = float(norm(gradient.entries()))
        if not size < least:
            break
        best, least = current, size
        trivial = site.block(next(parts(sizes, rows)))  # type: ignore[arg-type]
        try:
            step = trivial.mid().solve(gradient.mid()).mid().entries()
        except ZeroDivisionError:
            raise InputError("the trivial block is singular") from None
        counted = counts(sizes, rows)
        current = [(x - dy / count.sqrt()).mid() for x, dy, count in zip(current, step, counted, strict=True)]
    if best is None or least > 2.0 ** (-ctx.prec // 2):
        raise InputError("Newton's method finds no critical point near these numbers")
    return best


def counts(sizes: Sequence[float], rows: Sequence[int | None]) -> list[arb]:
    """Return how many weights each number stands for."""
    found = []
    for row in rows:
        copies = 1 if row is None else sizes[row]
        for group, size in enumerate(sizes):
            found += [arb(size)] * (group == row) + [arb(copies) * (arb(size) - (group == row))]
    return found


def pair(number: arb) -> Pair:
    """Return the nearest double, and the double nearest to what is left."""
    high = float(number.mid())
    low = float((number.mid() - arb(high)).mid())
    return high, low


def _decide(site: Symmetric) -> tuple[Verdict, str, Claim, str, dict[str, Any]]:
    """Return the verdict on a polished point, its reason, the claim, the kind of certificate and its sections."""
    blocks = dict(site.blocks())
    least = {name: float(np.linalg.eigvalsh(floats(block))[0]) for name, block in blocks.items()}
    worst = min(least, key=lambda name: least[name])
    if least[worst] < 0:
        claim, sections = prove_saddle(site)
        reason = f"a critical point with this symmetry is enclosed and a block has a negative direction: {worst}"
        return Verdict.PROVED_SADDLE, reason, claim, "blocks_saddle", sections
    bound = _bound(list(blocks.values()), least[worst])
    further = list(site.extensions())
    extension = _bound(further, min(float(np.linalg.eigvalsh(floats(block))[0]) for block in further))
    claim, sections = prove_radii(site, bound, extension)
    reason = f"every inequality of the theorem holds, in every dimension; the least eigenvalue is in the block: {worst}"
    return Verdict.PROVED_MINIMUM, reason, claim, "blocks", sections


def _bound(blocks: list[arb_mat], guess: float) -> EigenBound:
    """Bound the eigenvalues of all blocks from below."""
    largest = max(float(np.abs(floats(block)).max()) for block in blocks)
    shift = guess - 1e-13 * largest
    try:
        lower = min(down(least_eigenvalue(block, shift)) for block in blocks)
    except Rejected as rejected:
        raise Missed(str(rejected)) from None
    return EigenBound(lower, shift)


def block_spectra(certificate: Certificate) -> dict[str, tuple[int, np.ndarray]]:
    """Return, for each part of the weights, how many copies the Hessian has of its block, and the block's eigenvalues.

    They are those at the center of a certificate of kind blocks or blocks_saddle, in doubles: to look at, no bounds.
    """
    try:
        document = parse(certificate.to_text().encode(), 1.0)
        with working_precision(document.precision):
            found = dict(site(document).blocks())
    except Rejected as rejected:
        raise InputError(f"the certificate has no blocks: {rejected}") from None
    copies = {part.name: part.copies for part in parts(document.sizes, document.rows)}
    return {name: (copies[name], np.linalg.eigvalsh(floats(block))) for name, block in found.items()}
