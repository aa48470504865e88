"""What the tests of several packages share: published points, and a calculus that is slow, precise and independent."""

import os
import shutil
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=25, database=None)
settings.load_profile("fixed")

REPOSITORY = Path(__file__).resolve().parents[1]
DATA = REPOSITORY / ".." / "shared" / "data" / "safran-shamir"
# One compilation cache for the run and all its subprocesses: a program is compiled once, by whoever needs it first.
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(REPOSITORY / ".pytest_cache" / "xla"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")
# The files that take longest, which begin first (see the Makefile): so that the end is not one of them on one core.
LONGEST = (
    "docs/test_blocks.py",
    "proof/test_mutation.py",
    "docs/test_examples.py",
    "landscapes/test_exactness.py",
    "cli/test_commands.py",
    "experiments/test_rebuild.py",
    "docs/test_notebooks.py",
    "descent/test_lanes.py",
    "descent/optimizers/test_optimizers.py",
    "landscapes/test_charges.py",
    "landscapes/test_activations.py",
    "docs/test_site.py",
    "descent/optimizers/test_second_order.py",
    "papers/test_spurious.py",
    "cli/test_folders.py",
    "proof/test_absence.py",
    "descent/newton/test_endings.py",
    "papers/test_electrostatics.py",
    "experiments/test_sweep.py",
    "experiments/test_charges.py",
    "proof/test_producer.py",
)
DIGITS = 130
STEP = mp.mpf(10) ** -35  # differences of order STEP^2 / angle^3 off, rounded at 10^(2 * 35 - 130)


def pytest_collection_modifyitems(items):
    places = {Path(__file__).parent / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))


class Precise:
    """The arc-cosine kernel at 130 digits by its textbook formula, and derivatives by differences of it.

    Nothing is taken from the library: no derivative formula, no trick for small angles. A pair at an angle of 1e-9 is
    still 1e26 differences away from being parallel.
    """

    @staticmethod
    def vector(values):
        return [mp.mpf(float(x)) for x in values]

    @staticmethod
    def kernel(first, second):
        """E[max(0, u.x) max(0, v.x)] for vectors of mpmath numbers."""
        u, v = mp.sqrt(mp.fdot(first, first)), mp.sqrt(mp.fdot(second, second))
        cosine = max(mp.mpf(-1), min(mp.mpf(1), mp.fdot(first, second) / (u * v)))
        return u * v * (mp.sqrt(1 - cosine**2) + (mp.pi - mp.acos(cosine)) * cosine) / (2 * mp.pi)

    @classmethod
    def energy(cls, students, teachers, student_charges=None, teacher_charges=None):
        """The loss of rows of mpmath numbers."""
        charges = [*(student_charges or [1] * len(students)), *(-b for b in teacher_charges or [1] * len(teachers))]
        rows = [*students, *teachers]
        pairs = [
            charges[i] * charges[j] * cls.kernel(rows[i], rows[j]) * (1 if i == j else 2)
            for i in range(len(rows))
            for j in range(i + 1)
        ]
        return mp.fsum(pairs) / 2

    @staticmethod
    def value(function, values):
        """The function of a list of numbers, as a double."""
        with mp.workdps(DIGITS):
            return float(function(Precise.vector(values)))

    @staticmethod
    def gradient(function, values):
        """Central differences of a function of a list of numbers, as doubles."""
        with mp.workdps(DIGITS):
            point, slopes = Precise.vector(values), []
            for a in range(len(point)):
                up, down = point.copy(), point.copy()
                up[a] += STEP
                down[a] -= STEP
                slopes.append(float((function(up) - function(down)) / (2 * STEP)))
        return np.array(slopes)

    @staticmethod
    def second(function, values, first=None, second=None):
        """Second differences: the entries (a, b), a of ``first`` and b of ``second`` (all by default), as doubles."""
        with mp.workdps(DIGITS):
            point = Precise.vector(values)
            rows = range(len(point)) if first is None else first
            columns = range(len(point)) if second is None else second

            def shifted(a, b, s, t):
                moved = point.copy()
                moved[a] += s * STEP
                moved[b] += t * STEP
                return function(moved)

            def entry(a, b):
                corners = ((1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1))
                return float(mp.fsum(sign * shifted(a, b, s, t) for s, t, sign in corners) / (4 * STEP**2))

            found = {}
            for a in rows:
                for b in columns:
                    found[a, b] = found[b, a] if (b, a) in found else entry(a, b)
        return np.array([[found[a, b] for b in columns] for a in rows])


@pytest.fixture(scope="session")
def precise():
    return Precise


@pytest.fixture(scope="session")
def published():
    """The published end points by name: an array (families, n, k) each; the teacher is the standard basis."""
    files = sorted(DATA.glob("*.npz"))
    if not files:
        pytest.skip("the published points (../shared/data/safran-shamir) are not at hand")
    points = {}
    for file in files:
        with np.load(file) as arrays:
            points[file.stem] = arrays["weights"]
    return points


@pytest.fixture(scope="module")
def browser():
    """A headless Chromium, driven by Playwright; where one of them is missing the test is skipped with a reason.

    One for a file: while Playwright runs, no other test in the process can have an event loop of its own.
    """
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        pytest.skip("there is no Chromium here, in which a page could be opened")
    api = pytest.importorskip("playwright.sync_api", reason="Playwright (the extra browser) is not installed")
    with api.sync_playwright() as play:
        opened = play.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()
