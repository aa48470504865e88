"""Cases of points with many equal entries: every ball of the calculus against 60 digits, and what a document may look like."""

import json
from math import inf, nextafter

import adversaries_blocks
import edges
import mpmath as mp
import numpy as np
from adversaries_blocks import ZERO, places
from cases import Case, above, exactly, fraction, holds, lipschitz, part, raises, verdict
from flint import arb, arb_mat
from truth import DIGITS, Truth

from earnshaw.proof.claims import PatternPoint
from earnshaw.proof.trusted.reading import seal

# Sizes of the groups, and the rows. Two or three of the first kinds of vectors vanish or coincide in groups of 2 and 3.
SHAPES = [
    ([2], [0]),
    ([3], [0, None]),
    ([4], [0]),
    ([5], [0]),
    ([1, 1], [None, None]),
    ([2], [0, 0]),
    ([4, 1], [0, None]),
    ([1, 2], [1, None, None]),
    ([4, 1], [None, None]),
    ([3, 2], [0, 1, None]),
    ([2, 3], [0, 1, 1]),
    ([2, 2, 2], [2, 0, None]),
]


def cases(said) -> dict[str, Case]:
    """All of them, quick ones first."""
    found: dict[str, Case] = {}
    found |= {f"blocks enclosure: {sizes} {rows}": _enclosed(sizes, rows) for sizes, rows in SHAPES}
    for name, end in (("along", 1.0), ("against", -1.0)):
        found[f"blocks enclosure: nearly {name} a teacher"] = _enclosed(
            [2, 1], [0, None], [1.0, -0.5, 2.0, 2.0**-16, end], lost=40
        )
    found |= {
        "blocks: parallel": _parallel,
        "blocks: lost vectors": _lost,
        "blocks: curvature": _curved,
        "blocks: a ball for a number": _ball,
    }
    found |= {"blocks reading: shapes": _shapes, "blocks reading: costs": _costs, "blocks reading: limits": _limits}
    found |= {"blocks reading: pairs": _pairs, "blocks reading: groups": _groups}
    found |= {f"blocks sentence: {name}": case for name, case in _sentences(said).items()}
    found |= {f"blocks edge: {name}": verdict(*case) for name, case in adversaries_blocks.sharp().items()}
    bad, good = adversaries_blocks.everything()
    found |= {f"blocks good: {name}": verdict(data, True) for name, data in good.items()}
    found |= {f"blocks bad: {name}": verdict(data, False) for name, data in bad.items()}
    return found


# The vectors of every part, as the decomposition in parts.py says, written out over all weights.


def vectors(sizes, rows):
    """Return (how many copies, how many coordinates of each group it tells apart, vectors) of every part, in order.

    Vectors are over all weights; there are parts without any.
    """
    begins, counts = np.cumsum([0, *sizes]), [1 if row is None else sizes[row] for row in rows]
    starts, k = np.cumsum([0, *counts]), sum(sizes)

    def filled(row, group, entry):
        """The vector that is entry(i, r) in a row at a group: i the neuron, r the place."""
        whole = np.zeros((sum(counts), k), dtype=int)
        for i in range(counts[row]):
            for r in range(sizes[group]):
                whole[starts[row] + i, begins[group] + r] = entry(i, r)
        return whole

    def alpha(i):
        return (i == 0) - (i == 1)

    trivial = []
    for row, tie in enumerate(rows):
        for group in range(len(sizes)):
            if group == tie:
                trivial += [filled(row, group, lambda i, r: i == r), filled(row, group, lambda i, r: i != r)]
            else:
                trivial += [filled(row, group, lambda i, r: 1)]
    found = [(1, {}, trivial)]
    for c, q in enumerate(sizes):
        families = [row for row, tie in enumerate(rows) if tie == c]
        if q == 1:
            continue
        standard = [filled(row, c, lambda i, r: alpha(r)) for row, tie in enumerate(rows) if tie != c]
        for row in families:
            standard += [filled(row, c, lambda i, r: alpha(i) * (i == r))]
            standard += [filled(row, e, lambda i, r: alpha(i)) for e in range(len(sizes)) if e != c]
            both = filled(row, c, lambda i, r: (alpha(i) + alpha(r)) * (i != r))
            standard += [both] if q > 2 else []
            standard += [filled(row, c, lambda i, r: (alpha(i) - alpha(r)) * (i != r))]
        found.append((q - 1, {c: 2}, standard))
        if q >= 3:
            turn = np.zeros((q, q), dtype=int)
            turn[[0, 1, 2], [1, 2, 0]], turn[[1, 2, 0], [0, 1, 2]] = 1, -1
            found.append(
                (
                    (q - 1) * (q - 2) // 2,
                    {c: 3},
                    [filled(row, c, lambda i, r, turn=turn: turn[i, r]) for row in families],
                )
            )
        if q >= 4:
            one, two = np.zeros(q, dtype=int), np.zeros(q, dtype=int)
            one[:2], two[2:4] = (1, -1), (1, -1)
            cross = np.outer(one, two) + np.outer(two, one)
            found.append(
                (q * (q - 3) // 2, {c: 4}, [filled(row, c, lambda i, r, cross=cross: cross[i, r]) for row in families])
            )
        for e in range(c + 1, len(sizes)):
            if sizes[e] > 1:
                pairs = [(row, e) for row in families] + [(row, c) for row, tie in enumerate(rows) if tie == e]
                product = [filled(row, far, lambda i, r: alpha(i) * alpha(r)) for row, far in pairs]
                found.append(((q - 1) * (sizes[e] - 1), {c: 2, e: 2}, product))
    return found


def _forms(matrix, units):
    """<u, matrix v>/(|u||v|) for all vectors, at 60 digits."""
    sparse = [[(int(at), int(unit[at])) for at in np.flatnonzero(unit)] for unit in units]
    lengths = [mp.sqrt(sum(value**2 for _, value in unit)) for unit in sparse]
    return [
        [mp.fsum(x * y * matrix[a, b] for a, x in one for b, y in two) / (first * second) for two, second in zip(sparse, lengths, strict=True)]
        for one, first in zip(sparse, lengths, strict=True)
    ]  # fmt: skip


def _enclosed(sizes, rows, numbers=None, lost=11) -> Case:
    """Value, gradient, blocks, M, lengths and L at 64 and 128 bits, of which so many may be lost."""
    count = sum(len(sizes) + (row is not None) for row in rows)
    if numbers is None:
        numbers = np.random.default_rng([*sizes, len(rows)]).normal(size=count).tolist()
    point = PatternPoint(tuple(sizes), tuple(rows), tuple((x, 0.0) for x in numbers))
    weights, k = np.array(numbers)[places(point)].tolist(), sum(sizes)
    truth = Truth(weights, np.eye(k).tolist())
    whole = vectors(sizes, rows)
    assert sum(copies * len(units) for copies, _, units in whole) == truth.n * k
    with mp.workdps(DIGITS):
        flat = mp.matrix([truth.gradient[i, a] for i in range(truth.n) for a in range(k)])
        slopes = [
            sum(int(x) * flat[at] for at, x in enumerate(u.ravel()) if x) / mp.sqrt(int((u**2).sum()))
            for u in whole[0][2]
        ]
        blocks = [_forms(truth.hessian, [u.ravel() for u in units]) for *_, units in whole]
        starts = np.cumsum([0, *(1 if row is None else sizes[row] for row in rows)])
        sums = [[int(starts[x] <= i < starts[x + 1]) for i in range(truth.n)] for x in range(len(rows))]
        further = [_forms(truth.extension, [np.array(u) for u in sums])]
        for group, size in enumerate(sizes):
            units = [
                np.eye(truth.n, dtype=int)[starts[x]] - np.eye(truth.n, dtype=int)[starts[x] + 1]
                for x, tie in enumerate(rows)
                if tie == group
            ]
            further += [_forms(truth.extension, units)] if size > 1 and units else []
        steepest = {
            (r, delta): lipschitz(truth, r, delta) for r, delta in ((0.0, 0.0), (2.0**-12, 0.0), (2.0**-12, 0.25))
        }

    def right(checker) -> bool:
        module, listed = part(checker, "blocks"), part(checker, "parts").parts
        for bits in (64, 128):
            with part(checker, "balls").precision(bits):
                site, wide = (
                    module.Symmetric(list(sizes), list(rows), [arb(x) for x in numbers]),
                    2.0 ** (lost - bits),
                )
                known = list(listed(sizes, rows))
                pairs = [(site.value(), truth.value), *zip(site.gradient().entries(), slopes, strict=True)]
                for one, two in ((site.hessians(), [block for block in blocks if block]), (site.extensions(), further)):
                    for block, exact in zip(one, two, strict=True):
                        assert block.nrows() == block.ncols() == len(exact)
                        pairs += zip(block.entries(), [x for line in exact for x in line], strict=True)
                bounds = [(site.lipschitz(arb(r), arb(delta)), y) for (r, delta), y in steepest.items()]
                low = site.shortest()
                if not (
                    [(piece.copies, piece.cut, len(piece.vectors)) for piece in known]
                    == [(copies, cut, len(units)) for copies, cut, units in whole]
                    and all(holds(x, y) and x.rad() <= wide for x, y in pairs)
                    and all(x.is_exact() and above(x, y, bits) for x, y in bounds)
                    and low.is_exact()
                    and 0 <= exactly(truth.shortest) - fraction(low) <= exactly(truth.shortest) / 2 ** (bits - 10)
                    and (site.n, site.k, site.d) == (truth.n, k, k)
                ):
                    return False
        return True

    return right


def _parallel(checker) -> bool:
    """Parallel or zero neurons are refused, whichever pair they are of."""
    make, one = part(checker, "blocks").Symmetric, [1.0, 0.25, 0.5]
    wrong = [
        ([2, 1], [0, None], [0.0, 0.0, 0.0, 0.5, 0.25]),
        ([2, 1], [0, None], [*one, 0.0, 0.0]),
        ([2, 1], [0, None, None], [*one, 0.5, 0.25, 1.0, 0.5]),
        ([2, 1], [0, None, None], [*one, 0.5, 0.25, -1.0, -0.5]),
        ([2, 1], [0, None], [*one, 0.0, 2.0]),
        ([2, 1], [0, None], [*one, 0.0, -2.0]),
        ([2, 1], [0, None], [0.5, 0.5, 0.25, 0.5, 0.75]),
        ([2, 1], [0, None], [0.5, 0.0, 0.0, 0.5, 0.75]),
        ([2, 1], [0, None], [0.0, 0.5, 0.0, 0.5, 0.75]),
        ([2, 1], [0, None, None], [*one, 0.1, 0.3, 0.2, 0.6]),
        ([3], [0, 0], [1.0, 0.25, 2.0, 0.5]),
        ([2], [0, 0], [1.0, 0.25, 0.25, 1.0]),
    ]
    fine = ([2, 1], [0, None], [*one, 0.5, 0.75])
    with part(checker, "balls").precision(64):
        make(*fine[:2], [arb(x) for x in fine[2]])
        return all(raises(checker, make, sizes, rows, [arb(x) for x in numbers]) for sizes, rows, numbers in wrong)


def _curved(checker) -> bool:
    """u.H u < kappa |u|^2, for all points of a ball, with u of length 2 and 1."""
    bends, two, one = part(checker, "relu_claims")._bends, arb_mat([[2]]), arb_mat([[1]])
    return (
        bends(arb_mat([[-1]]), two, arb(-1) / 2)
        and not bends(arb_mat([[-1]]), two, arb(-1))
        and not bends(arb_mat([[-1]]), two, arb(-2))
        and not bends(arb_mat([[arb(-1, 0.5)]]), one, arb(-1))
    )


def _lost(checker) -> bool:
    """A list of parts that leaves some weights out, or has a vector that is zero, proves nothing."""
    module, Part = part(checker, "blocks"), part(checker, "parts").Part
    kept = module.parts
    with part(checker, "balls").precision(64):
        site = module.Symmetric([3], [0], [arb(1), arb(1) / 4])
        try:
            for change in (-1, 1):
                module.parts = lambda sizes, ties, change=change: [
                    Part(p.name, p.copies + change * (p.copies > 1), p.cut, p.vectors) for p in kept(sizes, ties)
                ]
                if not raises(checker, list, site.blocks()):
                    return False
        finally:
            module.parts = kept
        zero = Part("", 1, {}, [lambda *_: 0])
        both = Part("", 1, {}, [lambda *_: 1, lambda *_: 0])
        return raises(checker, site.block, zero) and raises(checker, site.block, both)


def _ball(checker) -> bool:
    """Numbers that are balls give balls of all their points."""
    module = part(checker, "blocks")
    with part(checker, "balls").precision(128):
        middle = [arb(1), arb(1) / 4, arb(1) / 2, arb(1) / 3, arb(-1)]
        wide = module.Symmetric([3, 1], [0, None], [x + arb(0, 2.0**-20) for x in middle])
        meets = [
            (0, 0, 1, True, True),
            (0, 0, 1, True, False),
            (0, 0, 2, False, True),
            (0, 0, 2, False, False),
            (1, 0, 1, False, False),
        ]
        if not module._column([arb(0, 1)])[0, 0].rad() >= 1:
            return False
        lengths = [length.lower() for length in wide.length[: wide.students]]
        if not (wide.shortest().is_exact() and all(wide.shortest() <= length for length in lengths)):
            return False
        if not all(wide._total(*pair).rad() >= 2.0**-20 for pair in meets):
            return False
        for corner in range(4):
            signs = [(corner >> (i % 2)) % 2 * 2 - 1 for i in range(5)]
            one = module.Symmetric(
                [3, 1], [0, None], [x + s * arb(2.0**-20) for x, s in zip(middle, signs, strict=True)]
            )
            if not (wide.value().contains(one.value().mid()) and wide.gradient().contains(one.gradient().mid())):
                return False
            for outer, inner in ((wide.hessians(), one.hessians()), (wide.extensions(), one.extensions())):
                if not all(x.contains(y.mid()) for x, y in zip(outer, inner, strict=True)):
                    return False
    return True


# Reading.


def _document(sizes=(5, 1), rows=(0, None), center=None, n=None, k=None, **edits) -> bytes:
    """A document of the right shape that proves nothing."""
    counts = [1 if row is None else sizes[row] for row in rows]
    total = sum(len(sizes) + (row is not None) for row in rows)
    problem = {"n": sum(counts) if n is None else n, "k": sum(sizes) if k is None else k, "d": sum(sizes)}
    claims = ("grad_norm_le", "lambda_min_ge", "lambda_ext_ge", "hess_lipschitz_le", "mu_ge", "F_ge", "F_le")
    hint = {"precision": 128, "shift": ZERO, "shift_ext": ZERO}
    whole = {
        "format": "earnshaw-certificate/1", "kind": "blocks", "meta": {}, "R_enclosure": ZERO, "R_unique": ZERO,
        "pattern": {"sizes": list(sizes), "rows": list(rows)}, "center": [[ZERO, ZERO]] * total if center is None else center,
        "problem": {**problem, "target": "coordinate vectors", "objective": "two-layer/relu"},
        "claims": dict.fromkeys(claims, ZERO), "hint": hint, **edits,
    }  # fmt: skip
    return json.dumps({**whole, "sha256": seal(whole)}).encode()


def _shapes(checker) -> bool:
    parse = part(checker, "blocks_claims").parse
    plain = parse(_document(), 1.0)
    pairs = [[(float(i)).hex(), (i * 2.0**-60).hex()] for i in range(5)]
    other = parse(_document(center=pairs, hint={"precision": 64, "shift": ZERO, "shift_ext": ZERO}), 1.0)
    return (
        (plain.kind, plain.sizes, plain.rows, plain.n, plain.k, plain.precision)
        == ("blocks", [5, 1], [0, None], 6, 6, 128)
        and other.center == [(float(i), i * 2.0**-60) for i in range(5)]
        and other.precision == 64
        and len(plain.numbers) == 11
        and not raises(checker, parse, _document([1], [None]), 1.0)
        and raises(checker, parse, _document([1], [None], n=True), 1.0)
        and raises(checker, parse, _document([1], [None], k=True), 1.0)
        and raises(checker, parse, _document([2, 1], [0]), 1.0)
        and raises(checker, parse, _document([2, 2], [0, -1]), 1.0)
        and raises(checker, parse, _document([2, 1], [0, 1]), 1.0)
        and not raises(checker, parse, _document([2, 1], [0, 0]), 1.0)
        and not raises(checker, parse, _document([2, 2], [1, 1]), 1.0)
        and not raises(checker, parse, _document([3], [None, None, None]), 1.0)
        and raises(checker, parse, _document(kind="minimum"), 1.0)
        and raises(checker, parse, _document(kind="convnet"), 1.0)
    )


def _limits(checker) -> bool:
    parse, huge = part(checker, "blocks_claims").parse, 10**8
    return (
        not raises(checker, parse, _document([huge], [0]), 1.0)
        and not raises(checker, parse, _document([huge], [0, 0]), 1.0)
        and not raises(checker, parse, _document([huge, huge], [0, 1]), 1.0)
        and raises(checker, parse, _document([huge + 1], [0]), 1.0)
        and raises(checker, parse, _document([2, 0], [0]), 1.0)
    )


def _costs(checker) -> bool:
    claims = part(checker, "blocks_claims")
    for groups, rows in ((2, 3), (3, 2), (1, 1), (4, 4), (1, 5)):
        ((formula, count, allowed),) = claims.costs(groups, rows)
        if (count, allowed) != (((rows + groups) * rows * (groups + 3)) ** 2, 2**22) or "rows" not in formula:
            return False

    def read(groups, rows, limit=1.0):
        sizes = [2] * groups
        return not raises(checker, claims.parse, _document(sizes, [i % groups for i in range(rows)]), limit)

    return read(1, 22) and not read(1, 23) and not read(1, 23, 1.16) and read(1, 23, 1.17)


def _pairs(checker) -> bool:
    """A number is the sum of two doubles, the first the nearest (to even, where there are two)."""
    read, one, bit = part(checker, "blocks_claims")._pair, 1.0, 2.0**-52

    def taken(high, low):
        return not raises(checker, read, [high.hex(), low.hex()])

    return (
        read([(1.5).hex(), (-(2.0**-60)).hex()]) == (1.5, -(2.0**-60))
        and taken(0.0, 0.0)
        and taken(one, bit / 2)
        and not taken(one + bit, bit / 2)
        and not taken(one, nextafter(bit / 2, inf))
        and not taken(one, bit)
        and not taken(0.0, 2.0**-1074)
        and not taken(2.0**-1074, one)
        and taken(one, -bit / 4)
        and not taken(one, -nextafter(bit / 4, inf))
        and all(
            raises(checker, read, entry)
            for entry in ([], [ZERO], [ZERO] * 3, ZERO, (ZERO, ZERO), {ZERO: ZERO}, None, ["0", ZERO], [ZERO, "inf"])
        )
    )


def _groups(checker) -> bool:
    claims = part(checker, "blocks_claims")
    names = {
        (5, 1): "S_5",
        (2, 1, 4): "S_4 x S_2",
        (1, 1): "the trivial group",
        (3, 3): "S_3 x S_3",
        (2,): "S_2",
    }
    return all(
        claims.group(claims.parse(_document(sizes, [None] * sum(sizes)), 9.0)) == name for sizes, name in names.items()
    ) and set(claims.BLOCK_KINDS) == {"blocks", "blocks_saddle"}


# Sentences.


def _sentences(said) -> dict[str, Case]:
    import battery

    found = {}
    for family, k, kind in (
        ("II", 6, "blocks"),
        ("2B", 11, "blocks"),
        ("A", 5, "blocks_saddle"),
        ("B", 6, "blocks_saddle"),
    ):
        document = adversaries_blocks.forger_of(family, k).documents[kind]
        rule = {"blocks": "minimum", "blocks_saddle": "saddle"}[kind]
        x, problem, sizes = edges.numbers(document), document["problem"], document["pattern"]["sizes"]
        shape = f"n = {problem['n']}, k = {k}, d = {k}"
        words = battery.WORDS[rule].format(shape=shape, every=", every dimension D >= d")
        words += "; fixed by " + " x ".join(f"S_{size}" for size in sizes if size > 1)
        bounds = [(x[name], up) for name, up in battery.SHOWN[rule]]
        data = edges.forged(document, {})
        found[f"{family} {k}"] = lambda c, d=data, w=words, b=bounds: said(c.check_bytes(d)[2], w, b)
    return found
