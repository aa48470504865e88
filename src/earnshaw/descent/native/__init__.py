r"""Gradient descent by a small kernel in C: ReLU students of a coordinate teacher, all output weights 1, every lane to its fate.

XLA compiles a program for each shape of block and fills the vector units as well as that shape allows. Here a vector
holds one number of several lanes, so that every operation fills it whatever the sizes are; each symmetric pair is
computed once, its angle by one square root and one polynomial; and thousands of steps pass between two calls, for the
kernel itself sees when a lane needs a look (:class:`~earnshaw.descent.judges.newton.Wake`). What is decided then, and
how, is the judge's as ever. The bits of a lane depend on its start and step alone: not on its company, the number of
lanes or the width of the vectors (``kernel.c`` says why).

Newton's method is there a second time, too (:func:`polish`): a product with the Hessian needs no angle, and no size a program.

The library is built when the package is installed, if there is a C compiler; :func:`missing` says why it is not here.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import math
from collections.abc import Callable
from dataclasses import replace
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import numpy as np

from earnshaw.descent.base import Descent
from earnshaw.descent.judges.base import Look
from earnshaw.descent.judges.newton import NewtonJudge, Stationarity, papers_own
from earnshaw.descent.newton.polish import LANCZOS_STEPS, NEWTON_STEPS, RESIDUAL, SPARE, Polished
from earnshaw.descent.outcomes import Begun, Ledger, Stopping
from earnshaw.errors import InputError
from earnshaw.landscapes.two_layer import TwoLayerLandscape
from earnshaw.numerics import TOLERANCES
from earnshaw.problems import Problem

FOLDER = Path(__file__).parent
NARROW = {"avx2": 4}  # lanes of a set that is faster for so few than the widest, of which it would fill a part
CALL = 4e9  # multiplications of one call, a fraction of a second: an interruption is heard between two


class _Task(ctypes.Structure):
    """What is to be computed, and when a lane needs a look; as in ``kernel.c``."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("students", "teachers", "dimension")),
        *((name, ctypes.c_int64) for name in ("stride", "every", "max_steps", "creep", "budget")),
        *((name, ctypes.c_double) for name in ("constant", "low", "dead", "slow", "still", "steep")),
    )


class _Search(ctypes.Structure):
    """How Newton's method works; as in ``kernel.c``."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("newton_steps", "spare", "lanczos_steps")),
        *((name, ctypes.c_double) for name in ("residual", "floor", "contraction", "ball", "long_wait")),
        ("probe", ctypes.c_void_p),
    )


class _Book(ctypes.Structure):
    """Arrays over all lanes; as in ``kernel.c``."""

    _fields_ = tuple((name, ctypes.c_void_p) for name in ("points", "steps", "due", "length", "report", "woken"))


@functools.cache
def _library() -> ctypes.CDLL | str:
    """Return the library, or why it cannot be used."""
    files = [file for suffix in EXTENSION_SUFFIXES if (file := FOLDER / f"_kernel{suffix}").exists()]
    if not files:
        return "it was not built, for there was no C compiler when earnshaw was installed"
    try:
        library = ctypes.CDLL(str(files[0]))
    except OSError as error:
        return f"it cannot be loaded ({error})"
    library.earnshaw_source.restype = ctypes.c_char_p
    sources = sorted(FOLDER.glob("*.[ch]"))
    if sources and library.earnshaw_source().decode() != digest(sources):  # before more is asked than an older one has
        return "it was built from other sources than those beside it; install earnshaw again"
    library.earnshaw_set.restype = ctypes.c_char_p
    library.earnshaw_run.restype = library.earnshaw_polish.restype = ctypes.c_int64
    library.earnshaw_run.argtypes = [ctypes.c_char_p, *[ctypes.c_void_p] * 2, ctypes.c_int64, ctypes.c_void_p]
    library.earnshaw_polish.argtypes = [*library.earnshaw_run.argtypes, *[ctypes.c_void_p] * 2]
    if not library.earnshaw_fused():
        return "this CPU has no fused multiplication and addition, without which it would be slower than XLA"
    return library


def digest(sources: list[Path]) -> str:
    """Return what a library built from these sources calls itself."""
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]


def missing() -> str | None:
    """Return, in words, why there is no native kernel here; None where there is one."""
    library = _library()
    return library if isinstance(library, str) else None


def instruction_sets() -> list[str]:
    """Return the instruction sets that the kernel can use here, the widest, which is taken, first."""
    library = _library()
    if isinstance(library, str):
        return []
    found: list[str] = []
    while (name := library.earnshaw_set(len(found))) is not None:
        found.append(name.decode())
    return found


def _suiting(sets: list[str], lanes: int) -> str:
    """Return the instruction set for so many lanes: the widest, or one that they fill."""
    return next((name for name in sets if lanes <= NARROW.get(name, 0)), sets[0])


def obstacle(problem: Problem, descent: Descent, stopping: Stopping) -> str | None:
    """Return, in words, why the kernel, which is for the CPU, cannot compute this here; None where it can."""
    ours = papers_own(problem, descent) and all((charges == 1).all() for charges in problem.charges)
    if not ours or stopping.trace:
        return "it is for ReLU, a teacher of coordinate vectors, output weights 1 and gradient descent without a trace"
    return missing()


def require(problem: Problem, descent: Descent, stopping: Stopping) -> None:
    """Raise :class:`InputError` where the kernel cannot compute this."""
    if found := obstacle(problem, descent, stopping):
        instead = "use the kernel xla, and --mixed where a folder was begun with the native one"
        raise InputError(f"the native kernel cannot compute {problem.name}: {found}; {instead}")


def _sizes(landscape: TwoLayerLandscape) -> dict[str, float]:
    """Return the sizes of a coordinate teacher's landscape, and the loss of a student whose output is 0."""
    (n, d), k = landscape.shape, landscape.teacher.shape[0]
    constant = 0.25 * k + k * (k - 1) / (4 * math.pi)
    return {"students": n, "teachers": k, "dimension": d, "constant": constant}


def polish(
    landscape: TwoLayerLandscape,
    points: np.ndarray,
    probe: np.ndarray,
    lengths: np.ndarray,
    instructions: str | None = None,
) -> Polished:
    """Follow Newton's method from each of the points (lanes, n, d): :func:`earnshaw.descent.newton.polish.polish`, for what the
    kernel covers. ``smallest_at_start`` is known of those lanes alone that have more than ``long_wait`` steps before them."""
    library = _library()
    assert not isinstance(library, str)
    points, lengths = (np.array(array, dtype=np.float64, order="C") for array in (points, lengths))
    probe = np.ascontiguousarray(probe, dtype=np.float64)
    found, task = np.empty((len(points), len(Polished._fields) - 1)), _Task(**_sizes(landscape))
    limits = TOLERANCES.polish_floor, TOLERANCES.contraction, TOLERANCES.ball, TOLERANCES.long_wait
    search = _Search(NEWTON_STEPS, SPARE, LANCZOS_STEPS, RESIDUAL, *limits, probe.ctypes.data)
    name = (instructions or _suiting(instruction_sets(), len(points))).encode()
    arrays = (array.ctypes.data for array in (points, lengths, found))
    if library.earnshaw_polish(name, ctypes.byref(task), ctypes.byref(search), len(points), *arrays) < 0:
        raise MemoryError("the native kernel found no memory for Newton's method")
    value, norm, convex, *rest = found.T
    return Polished(points, value, norm, convex > 0, *rest)


def run(
    judge: NewtonJudge,
    descent: Descent,
    starts: np.ndarray,
    cancelled: Callable[[], bool] = lambda: False,
    instructions: str | None = None,
    begun: Begun | None = None,
) -> Ledger:
    """Follow gradient descent from every start (lanes, n, d), or from where lanes have ``begun``, until the judge has decided each.

    ``cancelled`` is asked between calls; when it says so, :class:`InterruptedError` is raised. ``instructions`` are one of
    :func:`instruction_sets`, the one that suits the number of lanes unless told, and change no bit.
    """
    judge = replace(judge, newton=polish, together=max(1, len(starts)))
    library, step, landscape = _library(), descent.step_length, judge.landscape
    assert not isinstance(library, str)
    assert isinstance(landscape, TwoLayerLandscape)
    assert step is not None
    stopping, every, sets = judge.stopping, descent.check_every, [instructions] if instructions else instruction_sets()
    book = Ledger(starts, begun)
    points = np.array(starts if begun is None else begun.points, dtype=np.float64, order="C")
    lanes, n, d = points.shape
    lengths, report, woken = step * book.scale, np.empty((lanes, 4)), np.full(lanes, begun is not None)
    if begun is not None:
        report[:] = begun.report.T
    arrays = (points, book.steps, book.next_test, lengths, report, woken)
    task = _Task(
        **_sizes(landscape),
        stride=math.gcd(every, stopping.max_steps),
        every=every,
        max_steps=stopping.max_steps,
        creep=TOLERANCES.creep_steps,
        budget=max(1, int(CALL / (8 * n * (n + landscape.teacher.shape[0]) * (d + 20)))),
        **judge.wake()._asdict(),
    )
    taken = _Book(*(array.ctypes.data for array in arrays))
    waiting = np.arange(lanes)
    while True:
        if cancelled():
            raise InterruptedError("the descent was cancelled")
        awake = waiting[woken[waiting]]
        attempts = book.steps[awake]
        decided, restarted = judge.decide(Look(book, awake, points[awake], Stationarity(*report[awake].T)))
        over = decided | restarted
        book.gradients[awake[over]] += attempts[over]
        again = awake[restarted]
        points[again], lengths[again] = starts[again], step * book.scale[again]
        woken[awake] = False
        waiting = waiting[~np.isin(waiting, awake[decided])]
        if not waiting.size:
            return book
        name = _suiting(sets, waiting.size).encode()
        if library.earnshaw_run(name, ctypes.byref(task), ctypes.byref(taken), waiting.size, waiting.ctypes.data) < 0:
            raise MemoryError("the native kernel found no memory for its lanes")
