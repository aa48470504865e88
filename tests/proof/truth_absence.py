"""What docs/absence.md says of one network, in plain formulas with angles by arctan2; and cells, with points inside them."""

from itertools import permutations

import numpy as np
from cases import part

# One network at a time, in plain formulas.


def angle(x, y):
    return 2 * np.arctan2(np.linalg.norm(x - y), np.linalg.norm(x + y))


def gamma(x, y):
    t = angle(x, y)
    return np.sin(t) * x + (np.pi - t) * y


def phi(x, y):
    t = angle(x, y)
    return np.sin(t) + (np.pi - t) * np.cos(t)


def force(u, r, teacher, a):
    """f for one network: sum of a_i.N_i."""
    students = [(y, s) for y, s in zip(u, r, strict=True)]
    teachers = [(y, -s) for y, s in zip(teacher.units, teacher.lengths, strict=True)]
    return sum(a[i] @ sum(s * gamma(x, y) for y, s in students + teachers) for i, x in enumerate(u))


def second(x, y, z):
    """B(z): 2 pi d2f/dx2 at unit vectors, as the derivative of the gradient."""
    t = angle(x, y)
    m = y - (x @ y) * x
    return np.sin(t) * (z @ z - (x @ z) ** 2) + ((m @ z) ** 2 / np.sin(t) if np.sin(t) > 1e-12 else 0)


def mixed(x, y, z, w):
    """2 pi z.d2f/dxdy w at unit vectors."""
    t = angle(x, y)
    if np.sin(t) < 1e-9:
        return (np.pi - t) * (z @ w)
    fraction = np.outer(x, y) + np.outer(y, x) - (x @ y) * (np.outer(x, x) + np.outer(y, y))
    return (np.pi - t) * (z @ w) + z @ fraction @ w / np.sin(t)


def curvature(u, r, teacher, z):
    """Q for one network."""
    total = 0.0
    for i, x in enumerate(u):
        total += np.pi * r[i] * (z[i] @ z[i])
        total += sum(r[j] * second(x, y, z[i]) for j, y in enumerate(u) if j != i)
        total -= sum(s * second(x, y, z[i]) for y, s in zip(teacher.units, teacher.lengths, strict=True))
        total += 2 * sum(np.sqrt(r[i] * r[j]) * mixed(x, u[j], z[i], z[j]) for j in range(i))
    return total


def pair(u, r, teacher):
    """2 pi times the Hessian along (e, -e), as a matrix."""
    eye = np.eye(u.shape[1])
    total = -2 * np.array([[mixed(u[0], u[1], e, f) for f in eye] for e in eye])
    for i in (0, 1):
        total += np.pi * eye + r[1 - i] / r[i] * block(u[i], u[1 - i])
        total -= sum(s * block(u[i], y) for y, s in zip(teacher.units, teacher.lengths, strict=True)) / r[i]
    return total


def block(x, y):
    """The matrix of B."""
    m, sin = y - (x @ y) * x, np.sin(angle(x, y))
    return sin * (np.eye(len(x)) - np.outer(x, x)) + (np.outer(m, m) / sin if sin > 1e-12 else 0)


# Cells and points in them.


def teacher_of(cells, rows, radius=0.0):
    rows = np.asarray(rows, dtype=float)
    sizes = np.linalg.norm(rows, axis=1)
    return cells.Teacher(sizes, rows / sizes[:, None], radius, cells.symmetries(rows.tolist()))


def random_cells(cells, n, d, count, seed, widths=(1, 9)):
    rng = np.random.default_rng(seed)
    half = 2.0 ** -rng.integers(*widths, size=(n, d - 1, count))
    middle = np.floor(rng.uniform(-1, 1, size=half.shape) / (2 * half)) * 2 * half + half
    return cells.Cells(rng.integers(0, 2 * d, size=(n, count)), middle, half, np.zeros(count, dtype=np.int64))


def point_of(cell, index, rng, corner=False):
    """A network's directions inside one cell: (n, d)."""
    n, free, _ = cell.middle.shape
    u = np.empty((n, free + 1))
    for i in range(n):
        offset = rng.choice([-1.0, 1.0], size=free) if corner else rng.uniform(-1, 1, size=free)
        x = list(cell.middle[i, :, index] + offset * cell.half[i, :, index])
        x.insert(int(cell.face[i, index]) // 2, 1.0 - 2.0 * (cell.face[i, index] % 2))
        u[i] = np.array(x) / np.linalg.norm(x)
    return u


def inside(cell, index, u, slack=1e-12):
    """Whether a cell holds directions."""
    for i, x in enumerate(u):
        axis, sign = int(cell.face[i, index]) // 2, 1.0 - 2.0 * (cell.face[i, index] % 2)
        if sign * x[axis] <= 0:
            return False
        free = np.delete(x / abs(x[axis]), axis)
        if not (np.abs(free - cell.middle[i, :, index]) <= cell.half[i, :, index] + slack).all():
            return False
    return True


def images(u, symmetries):
    """All that a walk may take for u: permuted students, symmetries of the teacher."""
    for order, signs in [(tuple(range(u.shape[1])), (1,) * u.shape[1]), *symmetries]:
        moved = np.array(signs) * u[:, list(order)]
        for students in permutations(range(len(u))):
            yield moved[list(students)]


def root_of(u):
    """The root that would hold directions."""
    found = []
    for x in u:
        axis = int(np.abs(x).argmax())
        free = np.delete(x / abs(x[axis]), axis)
        found.append((2 * axis + int(x[axis] < 0), *np.where(free < 0, -0.5, 0.5).tolist()))
    return tuple(found)


SETTINGS = (  # teacher, students
    (np.eye(2), 2),
    (np.eye(3), 3),
    ([[0.9, 0.1], [-0.3, 0.5]], 1),
    ([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], 3),
    ([[0.6, 0.3, 0.1], [-0.2, 0.5, 0.7]], 2),
    ([[0.0, 0.0, 1.0], [0.3, -0.5, 0.1]], 1),
)


def known_of(checker, rows, n, count, seed, widths=(1, 9)):
    """Cells of a setting, and all that is known of them."""
    cells = part(checker, "cells")
    teacher = teacher_of(cells, rows)
    some = random_cells(cells, n, len(rows[0]), count, seed, widths)
    place = cells.placed(some)
    pairs = cells.paired(place.u, teacher)
    return teacher, some, place, pairs, cells.lengths(place, pairs, teacher)
