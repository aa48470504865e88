"""What a walk over cells must get right as a whole: frames of teachers, what is left open, and the same numbers as ever."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import numpy as np
from cases import part, raises
from truth_absence import SETTINGS, images, inside, known_of, teacher_of

import earnshaw.proof.trusted as original


def frames(checker) -> bool:
    """Rows of any dimension become rows of the same products, scaled; dependent ones are refused."""
    absence = part(checker, "absence")
    rng = np.random.default_rng(14)
    for k, d, scale in ((2, 2, 1.0), (2, 5, 3.0), (3, 3, 0.01), (3, 7, 1e6), (4, 2, 1.0), (4, 3, 0.2)):
        rows = rng.normal(size=(k, d)) * scale
        frame = absence.framed(rows.tolist(), 0.25)
        back = (frame.lengths[:, None] * frame.units) * (0.25 / frame.radius)
        ok = 0.5 <= frame.lengths.max() <= 1 and np.allclose(back @ back.T, rows @ rows.T, rtol=1e-12, atol=0)
        ok = ok and np.log2(frame.radius / 0.25) % 1 == 0 and frame.units.shape == (k, min(k, d))
        if not (ok and (len(frame.symmetries) == (1 if d <= k else 0))):
            return False
    for rows in (
        [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]],
        [[1.0], [2.0]],
        np.eye(5).tolist(),
        np.eye(4).tolist(),
        [[1.0, 0.0]],
        [[1.0, 0.0]] * 5,
    ):
        try:
            absence.framed(rows)
        except checker.Rejected:
            continue
        return False
    if absence.framed(np.eye(2).tolist()).radius != 0:
        return False
    if absence.isolated(np.eye(2).tolist(), 0.0961) is not True or absence.isolated(np.eye(2).tolist(), 0.0962):
        return False
    return not (absence.isolated(np.eye(2).tolist(), 0.0) or absence.isolated(np.eye(2).tolist(), -0.05))


def slacks(checker) -> bool:
    """Each bound is moved to the safe side by SLACK: with a large one nothing is closed, and bounds move by just that."""
    cells, exclusion = part(checker, "cells"), part(checker, "exclusion")
    square = teacher_of(cells, np.eye(2), 0.0961)
    tree = cells.roots(square, 2)
    if exclusion.judged(square, tree, exclusion.TESTS)[0].any() or not exclusion.judged(square, tree)[0].any():
        return False  # tests that are left out are left out
    own = exclusion.lengths
    exclusion.lengths = lambda *given: own(*given)._replace(none=np.ones(len(tree.depth), dtype=bool))
    try:
        if exclusion.judged(square, tree, exclusion.TESTS)[0].any() or (exclusion.judged(square, tree)[0] != 1).any():
            return False
    finally:
        exclusion.lengths = own
    at = cells.Cells(
        np.array([[0], [2]]), np.zeros((2, 1, 1)), np.full((2, 1, 1), 2.0**-8), np.zeros(1, dtype=np.int64)
    )
    alike = cells.Cells(
        np.array([[0], [0]]), np.full((2, 1, 1), 0.9), np.full((2, 1, 1), 2.0**-8), np.zeros(1, dtype=np.int64)
    )
    known = []
    for some in (at, alike):
        place = cells.placed(some)
        pairs = cells.paired(place.u, square)
        known.append((place, pairs, cells.lengths(place, pairs, square)))
    lone = cells.Place(*(array[:1] for array in known[0][0]))
    pairs = cells.paired(lone.u, square)
    alone = lone, pairs, cells.lengths(lone, pairs, square)
    if exclusion._near(square._replace(radius=10.0), *alone).any():
        return False  # one student is no teacher of two
    if exclusion._near(square._replace(radius=-0.5), *known[0]).any():
        return False
    z, before, found = np.full((2, 2, 1), 0.5), exclusion.SLACK, []
    try:
        for exclusion.SLACK in (before, 100.0):
            closed = [bool(exclusion._near(square, *known[0])[0]), bool(exclusion._parallel(square, *known[1])[0])]
            found.append(
                (closed, exclusion.least(square, z, *known[1])[0], exclusion.curvature(square, z, *known[1])[0])
            )
    finally:
        exclusion.SLACK = before
    (small, least, most), (large, lower, higher) = found
    return (small, large) == ([True, True], [False, False]) and np.allclose(
        [least - lower, higher - most], 100 - before
    )


def bases(checker) -> bool:
    """Eigenvectors that are not orthonormal to 2^-44 are not used, whatever LAPACK says."""
    cells = part(checker, "cells")
    own, kept = np.linalg.eigh, []
    try:
        for off in (2.0**-44, 1.5 * 2.0**-45):
            vectors = np.eye(2)
            vectors[0, 1] = off
            np.linalg.eigh = lambda x, v=vectors: (
                np.full((len(x), 2), np.pi),
                np.broadcast_to(v, (len(x), 2, 2)).copy(),
            )
            kept.append(known_of(checker, np.eye(2), 2, 5, 1)[-1].basis[0, 1])
    finally:
        np.linalg.eigh = own
    return isinstance(cells.SLACK, float) and (kept[0] == 0).all() and (kept[1] == 1.5 * 2.0**-45).all()


def walks(checker) -> bool:
    """Controls: what a walk leaves open, and what it must not close."""
    cells, absence = part(checker, "cells"), part(checker, "absence")
    square = cells.Teacher(np.ones(2), np.eye(2), 0.0961, cells.symmetries(np.eye(2).tolist()))
    whole = absence.walk(square, cells.roots(square, 2), 1e5, 2.0**-12)
    absence.BATCH, before = 7, absence.BATCH
    try:
        cut = absence.walk(square, cells.roots(square, 2), 1e5, 2.0**-12)
    except checker.Rejected:
        return False
    finally:
        absence.BATCH = before
    if (cut.tested, cut.closed, cut.leaves) != (whole.tested, whole.closed, whole.leaves):
        return False
    roots = cells.roots(square, 2)
    if absence.walk(square, roots, whole.tested, 2.0**-12).tested != whole.tested:
        return False
    if not raises(checker, absence.walk, square, roots, whole.tested - 1, 2.0**-12):
        return False  # it was to be given up
    own = cells.Cells.halves
    cells.Cells.halves = lambda some, rho: own(some, rho).take(slice(1, None))
    try:
        if not raises(checker, absence.walk, square, roots, 1e5, 2.0**-12):
            return False  # a cell was lost
    finally:
        cells.Cells.halves = own
    halved = absence.walk(square, roots.halves(cells.placed(roots).rho), 1e5, 2.0**-12)
    if halved.covered != len(roots.depth) or halved.open:
        return False  # a walk may begin anywhere in the tree
    if whole.open or whole.covered != len(cells.roots(square, 2).depth) or whole.tested < 100:
        return False
    if (
        sum(whole.closed.values()) != sum(whole.leaves.values())
        or min(whole.closed[test] for test in ("first order", "second order", "parallel", "near")) < 1
    ):
        return False
    smallest = 2.0**-7
    leaves = []
    for rows, n, without, wanted in CONTROLS:
        teacher = teacher_of(cells, rows, 0.09 if len(rows) == n else 0.0)
        tally = absence.walk(
            teacher, cells.roots(teacher, n), 1e5, smallest, without, lambda c, by: leaves.append((c, by))
        )
        left = cells.joined(tally.open) if tally.open else None
        if left is None or (cells.placed(left).rho > smallest).any():
            return False
        held = {target: False for target in range(len(wanted))}
        for index in range(len(left.depth)):
            places = [
                number
                for number, u in enumerate(wanted)
                for v in images(np.asarray(u, dtype=float), teacher.symmetries)
                if inside(left, index, v, 3 * smallest)
            ]
            if not places:
                return False  # something else is open
            for number, u in enumerate(wanted):
                held[number] |= any(
                    inside(left, index, v) for v in images(np.asarray(u, dtype=float), teacher.symmetries)
                )
        if not all(held.values()):
            return False
        told = sum(len(by) for _, by in leaves)
        if told != sum(tally.leaves.values()) or sum(int((by == 0).sum()) for _, by in leaves) != len(left.depth):
            return False
        leaves.clear()
    return True


# Teacher, students, tests left out, and the directions of all minima that must stay open.
CONTROLS = (
    (np.eye(2), 1, (), [[[1, 1]]]),
    (np.eye(2), 2, ("near",), [[[1, 0], [0, 1]]]),
    (np.eye(3), 1, (), [[[1, 1, 1]]]),
)


def as_it_was(checker) -> bool:
    """The numbers of the checker itself, bit by bit: enclosures, tests and tallies."""
    return all(number == own for number, own in zip(_numbers(checker), _own_numbers(), strict=True))


@cache
def _own_numbers():
    return list(_numbers(original))


@contextmanager
def _guesses(exclusion) -> Iterator[list[bytes]]:
    """The vectors that the tests try: what they are given as a guess, bit by bit."""
    found, own = [], {name: getattr(exclusion, name) for name in ("least", "curvature", "_forms")}

    def recorded(function, place):
        return lambda *given: found.append(given[place].tobytes()) or function(*given)

    for name, place in (("least", 1), ("curvature", 1), ("_forms", 0)):
        setattr(exclusion, name, recorded(own[name], place))
    try:
        yield found
    finally:
        for name, function in own.items():
            setattr(exclusion, name, function)


def _numbers(checker) -> Iterator[object]:
    cells, exclusion, absence = (part(checker, name) for name in ("cells", "exclusion", "absence"))
    tests = exclusion._first_order, exclusion._second_order, exclusion._parallel, exclusion._near
    for rows, n in SETTINGS:
        _, some, *known = known_of(checker, rows, n, 80, 15, (1, 6))
        teacher = teacher_of(cells, rows, 0.05)
        z = np.random.default_rng(16).normal(size=(n, len(rows[0]), 80))
        yield [array.tobytes() for part_of in known for array in part_of]
        with _guesses(exclusion) as guesses:
            yield [test(teacher, *known).tobytes() for test in tests]
            yield guesses
        yield [exclusion.least(teacher, z, *known).tobytes(), exclusion.curvature(teacher, z, *known).tobytes()]
        yield [array.tobytes() for array in exclusion.judged(teacher, some)]
    for rows, n, smallest in WALKS:
        teacher = teacher_of(cells, rows, 0.05)
        tally = absence.walk(teacher, cells.roots(teacher, n), 1e5, smallest)
        left = [array.tobytes() for opened in tally.open for array in opened]
        yield [tally.tested, tally.closed, sorted(tally.leaves.items()), left]


WALKS = ((np.eye(2), 2, 2.0**-6), ([[0.9, 0.1], [-0.3, 0.5]], 2, 0.1), ([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], 3, 0.3))
