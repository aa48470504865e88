"""How many cells would the walk of ``earnshaw absence`` test? An estimate for sizes that cannot be walked through.

Run it with ``python benchmarks/absence.py N K [ROUNDS [VARIANT]]``; docs/absence.md, section 5, holds what it printed. The
variants are no proofs: they say what a sharper test would save. ``lengths`` takes the lengths in the middle of their enclosure for
the only ones, ``remainder`` halves the remainder of the first-order test, and ``both`` does both.

The tree of cells is sampled level by level (Knuth 1975, with the resampling of Chen 1992). At each depth a random sample of
the cells is tested, with weights that say how many cells each stands for; both halves of those that stay open go on, and
when there are too many, some are drawn in proportion to their weights. The sum of all weights is an unbiased estimate of the
number of cells, whatever the sample's size. Rounds are independent, and the interval is that of their mean (two standard
errors). A round misses what is rare, so that the estimate is more likely too low than too high.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from itertools import permutations, product
from time import process_time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from earnshaw.proof.absence import radius_of
from earnshaw.proof.trusted import exclusion
from earnshaw.proof.trusted.cells import (
    Cells,
    Lengths,
    Pairs,
    Place,
    Teacher,
    image,
    lengths,
    paired,
    placed,
    symmetries,
)
from earnshaw.proof.trusted.exclusion import TESTS, judged

SAMPLE = 800
DEEPEST = 150


@dataclass
class Round:
    """What one round has seen: cells by depth and by test, seconds of the processor and cells tested, and where open cells lie."""

    cells: list[float] = field(default_factory=list)
    closed: dict[str, float] = field(default_factory=lambda: dict.fromkeys(TESTS, 0.0))
    radii: list[float] = field(default_factory=list)
    angles: list[float] = field(default_factory=list)
    trace: list[float] = field(default_factory=list)
    left: float = 0.0
    tested: int = 0
    seconds: float = 0.0


def orthonormal(k: int, n: int) -> Teacher:
    """The teacher e_1, ..., e_k, in as many dimensions."""
    rows = np.eye(k).tolist()
    return Teacher(np.ones(k), np.eye(k), radius_of(rows) if n == k else 0.0, symmetries(rows))


def drawn(teacher: Teacher, n: int, count: int, rng: np.random.Generator) -> tuple[Cells, np.ndarray]:
    """Draw roots, and how many roots of the walk each stands for: one over the size of its orbit, of all there are."""
    d = teacher.units.shape[1]
    patches = [(face, *middle) for face in range(2 * d) for middle in product((-0.5, 0.5), repeat=d - 1)]
    images = [{patch: image(patch, symmetry) for patch in patches} for symmetry in teacher.symmetries]
    chosen = [tuple(patches[place] for place in row) for row in rng.integers(0, len(patches), size=(count, n))]
    orders = list(permutations(range(n)))
    orbits = []
    for cell in chosen:
        seen = {tuple(move[patch] for patch in cell) for move in images}
        orbits.append(len({tuple(moved[i] for i in order) for moved in seen for order in orders}))
    numbers = np.array(chosen, dtype=float).transpose(1, 2, 0)
    middle = np.ascontiguousarray(numbers[:, 1:])
    cells = Cells(numbers[:, 0].astype(np.int64), middle, np.full_like(middle, 0.5), np.zeros(count, dtype=np.int64))
    return cells, len(patches) ** n / count / np.array(orbits, dtype=float)


def one_round(teacher: Teacher, n: int, sample: int, smallest: float, seed: int) -> Round:
    """Go down the tree once."""
    rng, result, begun = np.random.default_rng(seed), Round(), process_time()
    cells, weights = drawn(teacher, n, sample, rng)
    while len(weights) and len(result.cells) < DEEPEST:
        by, rho = judged(teacher, cells)
        result.tested += len(by)
        result.cells.append(float(weights.sum()))
        for number, test in enumerate(TESTS, 1):
            result.closed[test] += float(weights[by == number].sum())
        small = (by == 0) & (rho.max(axis=0) < smallest)
        result.left += float(weights[small].sum())
        go = (by == 0) & ~small
        cells, weights, rho = cells.take(go), weights[go], rho[:, go]
        if len(weights):
            place = placed(cells)
            pairs = paired(place.u, teacher)
            apart = np.pi - pairs.share[:, :n] + 10 * np.eye(n)[:, :, None]
            result.radii.append(float(np.median(rho.max(axis=0))))
            result.angles.append(float(np.median(apart.min(axis=(0, 1)))) if n > 1 else np.nan)
            result.trace.append(float(weights[by_trace(teacher, cells)].sum() / weights.sum()))
            cells, weights = cells.halves(rho), np.concatenate([weights, weights])
        if (
            len(weights) > sample
        ):  # systematic resampling: each goes on once for each multiple of total/sample that it covers
            ends, total = np.cumsum(weights), float(weights.sum())
            marks = (np.arange(sample) + rng.uniform()) * total / sample
            cells, weights = cells.take(np.searchsorted(ends, marks)), np.full(sample, total / sample)
    result.seconds = process_time() - begun
    return result


def pretend(variant: str) -> None:
    """Put the variant's tests in the place of the walk's, in this process."""
    enclosed, least = exclusion.lengths, exclusion.least
    if variant in ("lengths", "both"):

        def known(place: Place, pairs: Pairs, teacher: Teacher) -> Lengths:
            norms = enclosed(place, pairs, teacher)
            return norms._replace(lo=norms.middle, hi=norms.middle, reach=0 * norms.reach)

        exclusion.lengths = known
    if variant in ("remainder", "both"):
        exclusion.least = lambda teacher, guess, place, *rest: least(
            teacher, guess, place._replace(rho=place.rho * np.sqrt(0.5)), *rest
        )


def by_trace(teacher: Teacher, cells: Cells) -> np.ndarray:
    """Which cells the necessary condition M >= 0 (theorem C) would close, along sqrt(r_i) z_i with the least eigenvector z.

    2 pi c'Mc = sum_i z_i^2 (pi r_i + sum_j r_j sin t_ij - sum_l a_l sin t_il) + 2 sum_{i<j} sqrt(r_i r_j) z_i z_j (pi - t_ij), and
    angles change by at most rho_i + rho_j on the cell.
    """
    place = placed(cells)
    pairs = paired(place.u, teacher)
    norms = lengths(place, pairs, teacher)
    n, rho, lo, hi = len(place.u), place.rho, norms.lo, norms.hi
    middle, a = np.maximum(norms.middle, 0), teacher.lengths[:, None]
    own = np.pi * middle + (pairs.sin[:, :n] * middle).sum(axis=1) - (a * pairs.sin[:, n:]).sum(axis=1)
    matrix = pairs.share[:, :n] * np.sqrt(middle[:, None] * middle)
    for i in range(n):
        matrix[i, i] = own[i]
    z = np.linalg.eigh(np.moveaxis(matrix, 2, 0))[1][:, :, 0].T
    apart = (rho[:, None] + rho) * (1 - np.eye(n)[:, :, None])
    most = np.pi * hi + (np.minimum(pairs.sin[:, :n] + apart, 1) * hi).sum(axis=1)
    most = most - (a * np.maximum(pairs.sin[:, n:] - rho[:, None], 0)).sum(axis=1)
    total = (z**2 * most).sum(axis=0)
    for i in range(n):
        for j in range(i):
            both = z[i] * z[j]
            share = pairs.share[i, j] + np.where(both > 0, apart[i, j], -apart[i, j])
            total += (
                2 * both * np.where(both > 0, np.sqrt(hi[i] * hi[j]), np.sqrt(lo[i] * lo[j])) * np.maximum(share, 0)
            )
    return total < 0


def main() -> None:
    n, k = int(sys.argv[1]), int(sys.argv[2])
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 8
    variant = sys.argv[4] if len(sys.argv) > 4 else "as it is"
    if variant not in ("as it is", "lengths", "remainder", "both"):
        raise SystemExit(f"{variant} is no variant; give lengths, remainder or both, or nothing")
    pretend(variant)
    teacher = orthonormal(k, n)
    with np.errstate(all="ignore"):
        found = [one_round(teacher, n, SAMPLE, 2.0**-12, seed) for seed in range(rounds)]
    report(f"n = {n}, k = {k}, {variant}", found)


def report(what: str, found: list[Round]) -> None:
    """Print the estimate and what the open cells look like, by depth."""
    totals = np.array([sum(one.cells) for one in found])
    speed = sum(one.tested for one in found) / sum(one.seconds for one in found)
    error = totals.std(ddof=1) / np.sqrt(len(totals))
    print(
        f"{what}: {totals.mean():.3g} cells (standard error {error:.2g}, rounds from {totals.min():.3g} to {totals.max():.3g})"
    )
    print(
        f"    {speed:.0f} cells a second on one core: {totals.mean() / speed / 3600:.3g} hours; left open {np.mean([one.left for one in found]):.3g}"
    )
    shares = {test: np.mean([one.closed[test] for one in found]) / totals.mean() * 2 for test in TESTS}
    print("    closed by " + ", ".join(f"{test} {share:.2%}" for test, share in shares.items()))
    print("depth     cells   still open: radius   nearest pair   closed by M >= 0")
    for depth in range(0, max(len(one.cells) for one in found), 4):
        cells = np.mean([one.cells[depth] if depth < len(one.cells) else 0.0 for one in found])
        rest = [
            np.mean([getattr(one, name)[depth] for one in found if depth < len(getattr(one, name))] or [np.nan])
            for name in ("radii", "angles", "trace")
        ]
        print(f"{depth:5} {cells:9.3g} {rest[0]:20.3f} {rest[1]:14.2f} {rest[2]:18.1%}")


if __name__ == "__main__":
    main()
