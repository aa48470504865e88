"""What the walk of the kind `absence` must get right: enclosures hold what they should, bounds bound, covers cover.

Truth comes from points inside cells and the formulas of docs/absence.md for one network at a time (``truth_absence.py``). One case, `as it was`, compares numbers with those of the checker itself: it tells a changed guess, which no
truth can, for a worse guess is not wrong.
"""

from itertools import permutations, product

import adversaries_absence
import battery_walks
import numpy as np
from cases import Case, part, raises, verdict
from truth_absence import (
    SETTINGS,
    angle,
    curvature,
    force,
    images,
    inside,
    known_of,
    pair,
    phi,
    point_of,
    random_cells,
    root_of,
    teacher_of,
)

TINY = 2.0**-60


def absences() -> dict[str, Case]:
    """Return the cases by name."""
    bad, good = adversaries_absence.everything()
    cases = {
        "absence: as it was": battery_walks.as_it_was,
        "absence: angles": _angles,
        "absence: symmetries": _symmetries,
        "absence: cover": _cover,
        "absence: halves": _halves,
        "absence: patches": _patches,
        "absence: lengths": _lengths,
        "absence: forces": _forces,
        "absence: bends": _bends,
        "absence: curvatures": _curvatures,
        "absence: parallel pairs": _parallel,
        "absence: near": _near,
        "absence: documents": _documents,
        "absence: frames": battery_walks.frames,
        "absence: slacks": battery_walks.slacks,
        "absence: nearness": battery_walks.nearness,
        "absence: bases": battery_walks.bases,
        "absence: walks": battery_walks.walks,
    }
    cases |= {f"absence good: {name}": verdict(data, True) for name, data in good.items()}
    return cases | {f"absence bad: {name}": verdict(data, False) for name, data in bad.items()}


def _documents(checker) -> bool:
    """Sizes and counts at the ends of what is allowed; what a walk may cost; and the sentence."""
    absence, forged = part(checker, "absence"), adversaries_absence.forged
    true = adversaries_absence.document()
    counts = {**true["counts"], "cells": 1000}

    def sized(k, d):
        return forged(problem={**true["problem"], "n": k, "k": k, "d": d, "target": [[(1.0).hex()] * d] * k})

    bad = [forged(kind="minimum"), sized(1, 2), sized(4, 2), sized(2, 1), sized(2, 10_001)]
    bad.append(adversaries_absence.about(n=3))
    if not all(raises(checker, absence.parse, data, 1.0) for data in bad):
        return False
    absence.parse(sized(3, 860), 1.0)  # (3 * 860)^3 * 128 <= 2^41
    if not raises(checker, absence.parse, sized(3, 861), 1.0) or raises(checker, absence.parse, sized(3, 861), 2.0):
        return False
    if "would cost too much" not in checker.check_bytes(sized(3, 10_000), 1.0)[2]:
        return False
    if raises(checker, absence.parse, sized(3, 10_000), 1e6) or not raises(
        checker, absence.parse, sized(3, 10_001), 1e6
    ):
        return False
    given = []

    def walk(teacher, roots, most, smallest):
        given.append((most, smallest))
        return absence.Tally(open=[roots.take(slice(left))] if left else [])

    own, absence.walk = absence.walk, walk
    try:
        for left in (0, 1):
            if raises(checker, absence.verify, forged(counts=counts), 1.0) is not bool(left):
                return False
    finally:
        absence.walk = own
    if given != [(2000 + absence.BATCH, float.fromhex(true["rule"]["smallest"]))] * 2:
        return False
    said = absence.statement(absence.Document(np.eye(2, 5).tolist(), 2, 0.0123456789, 0.5, counts))
    return "n = 2, k = 2, every dimension D >= 2" in said and said.endswith("lies within 0.0123456 of it")


def _angles(checker) -> bool:
    cells = part(checker, "cells")
    q = np.concatenate([np.linspace(0, 0.5, 2001), 10.0 ** np.linspace(-30, -1, 200)])
    if not np.abs(cells.arcsine(q) - np.arcsin(np.sqrt(q))).max() < 2.0**-45:
        return False
    for rows, n in SETTINGS:
        _, _, place, pairs, _ = known_of(checker, rows, n, 40, 1)
        every = np.concatenate(
            [place.u, np.broadcast_to(_units(rows), (40, len(rows), len(rows[0]))).transpose(1, 2, 0)]
        )
        for i, y, lane in product(range(n), range(len(every)), range(40)):
            a, b = place.u[i, :, lane], every[y, :, lane]
            t = angle(a, b)
            found = pairs.cos[i, y, lane], pairs.sin[i, y, lane], pairs.share[i, y, lane]
            m = b - (a @ b) * a
            if not np.abs(np.subtract(found, (np.cos(t), np.sin(t), np.pi - t))).max() < 2.0**-43:
                return False
            if not (np.abs(pairs.m[i, y, :, lane] - m).max() < 2.0**-43 and (pairs.rows[y, :, lane] == b).all()):
                return False
            if not abs(pairs.steep[i, y, lane] * (pairs.sin[i, y, lane] + 2.0**-40) - 1) < 1e-14:
                return False
    return True


def _units(rows):
    rows = np.asarray(rows, dtype=float)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def _symmetries(checker) -> bool:
    """All signed permutations that keep the rows, as a set, and no others."""
    cells = part(checker, "cells")
    for rows, sizes in (
        (np.eye(2), 2),
        (np.eye(3), 6),
        ([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], 2),
        ([[0.9, 0.1], [0.3, 0.5]], 1),
    ):
        rows = np.asarray(rows)
        found = cells.symmetries(rows.tolist())
        if len(set(found)) != sizes:
            return False
        for order, signs in found:
            moved = np.array(signs) * rows[:, list(order)]
            if sorted(moved.tolist()) != sorted(rows.tolist()):
                return False
    return True


def _cover(checker) -> bool:
    """Whatever the directions, an image of them lies in a root."""
    cells = part(checker, "cells")
    rng = np.random.default_rng(5)
    for rows, n in SETTINGS:
        teacher = teacher_of(cells, rows)
        roots = cells.roots(teacher, n)
        if not ((roots.half == 0.5).all() and (roots.depth == 0).all() and (np.abs(roots.middle) == 0.5).all()):
            return False
        keys = {_key(roots, index) for index in range(len(roots.depth))}
        true = [
            (o, s)
            for o, s in teacher.symmetries
            if sorted((np.array(s) * np.asarray(rows)[:, list(o)]).tolist()) == sorted(np.asarray(rows).tolist())
        ]
        for _ in range(60):
            u = rng.normal(size=(n, len(rows[0])))
            if not any(root_of(v) in keys for v in images(u, true)):
                return False
    return True


def _key(cells, index):
    return tuple((int(cells.face[i, index]), *cells.middle[i, :, index].tolist()) for i in range(len(cells.face)))


def _halves(checker) -> bool:
    """Two halves make up a cell: the widest patch, across its longer side."""
    cells = part(checker, "cells")
    rng = np.random.default_rng(6)
    for n, d in ((1, 2), (2, 2), (2, 3), (3, 3)):
        some = random_cells(cells, n, d, 30, n + d)
        some.half[0, 0, :10] /= 4
        rho = cells.placed(some).rho
        both = cells.Cells(*some).halves(rho)
        if not (len(both.depth) == 60 and (both.depth == 1).all()):
            return False
        for index in range(30):
            for _ in range(6):
                u = point_of(some, index, rng)
                if not 1 <= inside(both, index, u) + inside(both, index + 30, u) <= (1 if rng else 2):
                    return False
            for child in (index, index + 30):
                shrunk = some.half[:, :, index] != both.half[:, :, child]
                who, side = np.argwhere(shrunk)[0]
                ok = shrunk.sum() == 1 and both.half[who, side, child] == some.half[who, side, index] / 2
                ok &= (
                    rho[who, index] == rho[:, index].max()
                    and some.half[who, side, index] == some.half[who, :, index].max()
                )
                if not (ok and (both.face[:, child] == some.face[:, index]).all()):
                    return False
    return True


def _patches(checker) -> bool:
    """Radii hold every point of a patch and little more; the hull of the corners holds every initial velocity."""
    rng = np.random.default_rng(7)
    for rows, n in SETTINGS[:2]:
        _, some, place, *_ = known_of(checker, rows, n, 60, 3, (1, 7))
        for index in range(60):
            farthest = np.zeros(n)
            for trial in range(12):
                u = point_of(some, index, rng, corner=trial < 8)
                for i in range(n):
                    middle, x = place.u[i, :, index], u[i]
                    t = angle(middle, x)
                    farthest[i] = max(farthest[i], t)
                    xi = (x - (x @ middle) * middle) * t / np.sin(t)
                    direction = rng.normal(size=x.shape)
                    reach = (place.corners[i, :, :, index] @ direction).max()
                    if not (xi @ direction <= reach + 1e-12 and t <= place.rho[i, index]):
                        return False
            if not (place.rho[:, index] <= 1.02 * farthest + 1e-9).all() and len(rows[0]) == 2:
                return False
            if not np.abs((place.corners[:, :, :, index] * place.u[:, None, :, index]).sum(axis=2)).max() < 1e-14:
                return False
    return True


def _lengths(checker) -> bool:
    """The lengths of every critical network of a cell are enclosed, in all four ways; small cells enclose them closely."""
    rng = np.random.default_rng(8)
    seen = 0
    for rows, n in SETTINGS:
        for widths, most in (((1, 5), np.inf), ((9, 12), 0.6), ((18, 20), 2e-2)):
            teacher, some, _, _, norms = known_of(checker, rows, n, 40, 4, widths)
            for index, trial in product(range(40), range(4)):
                u = point_of(some, index, rng, corner=trial < 3)
                k = np.array([[phi(x, y) for y in u] for x in u])
                b = [sum(s * phi(x, y) for y, s in zip(teacher.units, teacher.lengths, strict=True)) for x in u]
                if np.linalg.cond(k) > 1e4 or not ((r := np.linalg.solve(k, b)) > 0).all():
                    continue
                seen += 1
                y = norms.basis[:, :, index].T @ (r - norms.middle[:, index])
                held = (norms.lo[:, index] <= r).all() and (r <= norms.hi[:, index]).all() and not norms.none[index]
                held = held and (np.abs(y) <= norms.reach[:, index]).all()
                held = held and all(r[i] + r[j] <= norms.sums[i, j, index] for i in range(n) for j in range(i))
                wide = norms.reach[:, index].max() <= most * np.linalg.norm(np.linalg.inv(k)) * 4
                if not (held and wide and (norms.lo[:, index] >= 0).all()):
                    return False
    return seen > 400


def _forces(checker) -> bool:
    """f is at least the bound, for directions of the cell and lengths of the set; and a small cell has a close bound."""
    cells, exclusion = part(checker, "cells"), part(checker, "exclusion")
    rng = np.random.default_rng(9)
    for rows, n in SETTINGS:
        for widths in ((2, 5), (5, 9), (14, 16)):
            teacher, some, place, pairs, norms = known_of(checker, rows, n, 12, 5, widths)
            guess = rng.normal(size=(n, len(rows[0]), 12)) * 10.0 ** rng.uniform(-3, 3, size=12)
            bound = exclusion.least(teacher, guess, place, pairs, norms)
            for index in range(12):
                a = guess[:, :, index] / np.linalg.norm(guess[:, :, index])
                at = force(place.u[:, :, index], norms.middle[:, index], teacher, a)
                a, lowest = a * (1 if at >= 0 else -1), abs(at)
                for trial in range(6):
                    y = rng.choice([-1.0, 1.0], size=n) * norms.reach[:, index]
                    r = norms.middle[:, index] + norms.basis[:, :, index] @ y
                    if (r < 0).any():
                        r = rng.uniform(norms.lo[:, index], norms.hi[:, index])
                        y = norms.basis[:, :, index].T @ (r - norms.middle[:, index])
                        if (np.abs(y) > norms.reach[:, index]).any():
                            continue
                    value = force(point_of(some, index, rng, corner=trial < 5), r, teacher, a)
                    lowest = min(lowest, value)
                    if not value >= bound[index]:
                        return False
                width = place.rho[:, index].max()
                if not bound[index] >= abs(at) - 60 * width - 40 * norms.reach[:, index].max() - 1e-8:
                    return False
    return isinstance(cells.SLACK, float)


def _bends(checker) -> bool:
    """The bound of second derivatives holds, and its constants are nearly attained: each alone, by lengths made up for it."""
    cells, exclusion = part(checker, "cells"), part(checker, "exclusion")
    if not (np.pi**2 + 4 - 1e-14 <= exclusion.BENT**2 and exclusion.STEEPEST**2 >= 27 / 4 - 1e-14):
        return False
    wide = 2.0**-6

    def made(first, second, r, a, teacher):
        """Two students at slopes first and second of the first side of the square; one of them moves, or both."""
        half = np.full((2, 1, 1), TINY)
        half[list(moving)] = wide
        some = cells.Cells(
            np.zeros((2, 1), dtype=np.int64),
            np.array([first, second]).reshape(2, 1, 1),
            half,
            np.zeros(1, dtype=np.int64),
        )
        place = cells.placed(some)
        pairs = cells.paired(place.u, teacher)
        r = np.array(r).reshape(2, 1)
        none = np.zeros(1, dtype=bool)
        norms = cells.Lengths(r, r, r, np.eye(2)[:, :, None], np.zeros((2, 1)), r[:, None] + r, none)
        bound = exclusion.least(teacher, np.array(a).reshape(2, 2, 1), place, pairs, norms)[0]
        sign = 1 if force(place.u[:, :, 0], r[:, 0], teacher, np.reshape(a, (2, 2))) >= 0 else -1
        ends = list(product(*[np.linspace(-1, 1, 3) * h for h in half[:, 0, 0]]))
        values = []
        for shifts in ends:
            x = np.stack([np.ones(2), some.middle[:, 0, 0] + np.array(shifts)], axis=1)
            u = x / np.linalg.norm(x, axis=1, keepdims=True)
            values.append(sign * force(u, r[:, 0], teacher, np.reshape(a, (2, 2)) / np.linalg.norm(a)))
        rho = place.rho.max()
        return (min(values) - bound) / rho**2  # what the bound gives away, in squares of the radius

    nobody = cells.Teacher(np.array([0.0]), np.array([[1.0, 0.0]]), 0.0, ())
    someone = cells.Teacher(np.array([1.0]), np.array([[0.6, 0.8]]), 0.0, ())
    close = []
    for moving, r, teacher in (((0,), (0.0, 1.0), nobody), ((1,), (0.0, 1.0), nobody), ((0,), (1.0, 0.0), nobody), ((0,), (0.0, 0.0), someone), ((0, 1), (0.0, 1.0), nobody)):  # fmt: skip
        best = np.inf
        for t in np.linspace(0, 2 * np.pi, 25):
            away = made(0.1, 0.12 if moving == (1,) else 0.5, r, [np.cos(t), np.sin(t), 0.0, 0.0], teacher)
            if not away >= -1e-6:
                return False
            best = min(best, away)
        close.append(best)
    return max(close[:4]) < 0.03 and close[4] < 2.3


def _curvatures(checker) -> bool:
    """Q is at most the bound on the cell; and a small cell has a close bound."""
    exclusion = part(checker, "exclusion")
    rng = np.random.default_rng(10)
    for rows, n in SETTINGS:
        for widths in ((2, 6), (6, 10), (16, 18)):
            teacher, some, place, pairs, norms = known_of(checker, rows, n, 12, 6, widths)
            lo = rng.uniform(0.1, 1, size=norms.lo.shape)
            norms = norms._replace(lo=lo, hi=lo * (1 + (0 if widths[0] > 9 else 0.2)))
            z = rng.normal(size=(n, len(rows[0]), 12))
            z /= np.linalg.norm(z, axis=(0, 1))
            bound = exclusion.curvature(teacher, z, place, pairs, norms)
            for index in range(12):
                most = -np.inf
                for trial in range(6):
                    u = point_of(some, index, rng, corner=trial < 5)
                    r = rng.choice([norms.lo[:, index], norms.hi[:, index]])
                    most = max(most, curvature(u, r, teacher, z[:, :, index]))
                if not most <= bound[index]:
                    return False
                if widths[0] > 9 and not bound[index] - most < 60 * place.rho[:, index].max() + 1e-8:
                    return False
    return True


def _parallel(checker) -> bool:
    """A pair that the test closes has a direction (e, -e) of negative curvature, whatever the lengths; some pairs are closed."""
    exclusion = part(checker, "exclusion")
    rng = np.random.default_rng(11)
    closed = 0
    for rows in (np.eye(2), np.eye(3), [[1.0, 0.0], [0.6, 0.8]]):
        cells = part(checker, "cells")
        teacher = teacher_of(cells, rows)
        some = random_cells(cells, 2, len(rows[0]), 400, 12, (4, 7))
        some.face[1], some.middle[1] = (
            some.face[0],
            some.middle[0] + rng.choice([0, 0.125, 0.25], size=some.middle[1].shape),
        )
        place = cells.placed(some)
        pairs = cells.paired(place.u, teacher)
        norms = cells.lengths(place, pairs, teacher)
        found = exclusion._parallel(teacher, place, pairs, norms)
        closed += found.sum()
        for index in np.flatnonzero(found)[:25]:
            for trial in range(3):
                u = point_of(some, index, rng, corner=trial < 2)
                r = rng.uniform(0.02, 1, size=2)
                r *= norms.sums[0, 1, index] / r.sum()
                if not np.linalg.eigvalsh(pair(u, r, teacher))[0] < 0:
                    return False
    return bool(closed > 20)


def _near(checker) -> bool:
    """A cell is near if its networks all are, and only then."""
    cells, exclusion = part(checker, "cells"), part(checker, "exclusion")
    rng = np.random.default_rng(13)
    for rows in (np.eye(2), np.array([[0.0, 0.6], [-0.8, 0.1]]), np.eye(3)):
        n, d = rows.shape
        counts = set()
        for radius in (0.02, 0.05, 0.2):
            teacher = teacher_of(cells, rows, radius)
            order = rng.permutation(n)
            axis = np.abs(rows[order]).argmax(axis=1)
            value = rows[order, axis]
            face = np.repeat((2 * axis + (value < 0))[:, None], 40, axis=1)
            free = np.stack([np.delete(row / abs(row[a]), a) for row, a in zip(rows[order], axis, strict=True)])
            middle = free[:, :, None] + rng.normal(size=(n, d - 1, 40)) * radius * rng.uniform(0, 1, size=40)
            some = cells.Cells(face, middle, np.full(middle.shape, radius / 40), np.zeros(40, dtype=np.int64))
            place = cells.placed(some)
            pairs = cells.paired(place.u, teacher)
            norms = cells.lengths(place, pairs, teacher)
            size = np.linalg.norm(rows[order], axis=1)[:, None] + rng.normal(size=(n, 40)) * radius / 4
            lo, hi = size - radius / 50, size + radius / 50
            norms = norms._replace(lo=lo, hi=hi, middle=size)
            found = exclusion._near(teacher, place, pairs, norms)
            if exclusion._near(teacher._replace(radius=0.0), place, pairs, norms).any():
                return False
            for index in range(40):
                u, far = place.u[:, :, index], 0.0
                for _trial in range(6):
                    w = point_of(some, index, rng, corner=True) * rng.choice([lo[:, index], hi[:, index]])[:, None]
                    far = max(far, min(np.linalg.norm(w - rows[list(p)]) for p in permutations(range(n))))
                if found[index] and not far < radius:
                    return False
                if not found[index] and far < 0.8 * radius - n * radius / 10:
                    return False
                counts.add(bool(found[index]))
                assert u.shape == (n, d)
        if counts != {True, False}:
            return False
    return True
