"""What ``sweep`` and ``arena`` are asked for: problems, optimisers and starts, by option and by name."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

from earnshaw.cli.console import say
from earnshaw.cli.helping import begins, option, options
from earnshaw.errors import InputError, nearest

if TYPE_CHECKING:
    from earnshaw.descent import Descent
    from earnshaw.experiments.parts import Part
    from earnshaw.problems import Problem
    from earnshaw.starts import Start

Found = TypeVar("Found")

# The groups of options in the help.
PROBLEM, RUNS, CONV = options("The problem"), options("The runs"), options("With --network conv")
RESULTS = options("Proofs, results, speed")

PART_HELP = "Compute the i-th of N shares, into DIR-partiofN; earnshaw runs merge joins them."
CLUSTER_HELP = "Who computes instead: local:4 for four processes, or a Dask scheduler, tcp://host:8786."
TIME_HELP = "Stop as Ctrl-C does after this time (90s, 10m, 1h30m); the same command goes on."
LOG_HELP = "Append lines with times: beginning, settings, warnings, end."

# Names without their numbers, to complete and to guess what was meant; any optimiser of optax works too.
ACTIVATIONS = (
    *("relu", "leaky", "sign", "erf", "hermite", "sigmoid", "tanh", "softplus", "gelu"),
    *("unit-tanh", "unit-erf"),
)
OPTIMIZERS = (
    *("gd", "momentum", "nesterov", "lbfgs", "newton-tr", "perturbed-gd", "flow", "stochastic"),
    *("second-gd", "hessian-descent", "projected"),
    *("adam", "adamw", "adagrad", "rmsprop", "sgd", "lion", "nadam"),
)
STARTS = ("xavier", "normal", "sphere")
FAMILIES = ("II", "I", "A", "B", "2B", "3Bp", "C", "M:4", "P:9")  # of critical points, to complete; there are more
FAMILY_NAMES = "II, I, A, B, 2B, 3Bp, C, or with your numbers M:q, B:r, P:q, P:m,q, C:j"
MAX_SIZE, MAX_SETTINGS = 4096, 1000  # of one sweep
MAX_POINTS = 100_000  # of one family
PAPER_GRID = [(k, n) for k in range(1, 21) for n in range(k, 21)]  # all (k, n) of Safran & Shamir


Grid = Literal["paper"]
Network = Literal["two-layer", "conv"]
OutputWeights = Literal["fixed", "trainable"]

K_HELP = "Teacher neurons, orthonormal and of length 1: 10, or a range 6..20."
N_HELP = "Student neurons: 10, a range, or relative: k, k+1, k-2..k, k..2k."
TEACHER_HELP = "Your own teacher, one neuron a row, in place of -k."
ACTIVATION_HELP = (
    "relu, leaky:0.1, sign, erf, hermite:3, sigmoid, tanh, softplus, gelu, unit-tanh, unit-erf, or your own: "
    "FILE.py:FUNCTION, MODULE:FUNCTION."
)
START_HELP = (
    "Where runs begin: xavier (variance 1/k, the default), normal:SCALE, sphere, or points (runs, n, d) in FILE.npy."
)
Teachers = Annotated[str | None, PROBLEM(K_HELP, "-k", metavar="K")]
Students = Annotated[str, PROBLEM(N_HELP, "-n", metavar="N")]
Dimension = Annotated[int | None, PROBLEM("Dimension of the inputs, k or more (default: k).", "-d", metavar="D")]
TeacherFile = Annotated[Path | None, PROBLEM(TEACHER_HELP, metavar="FILE.npy")]
ActivationName = Annotated[str, PROBLEM(ACTIVATION_HELP, metavar="NAME", autocompletion=begins(ACTIVATIONS))]
Outputs = Annotated[OutputWeights, PROBLEM("Whether the student's output weights are 1, or learned too.")]
StartName = Annotated[str | None, RUNS(START_HELP, metavar="NAME", autocompletion=begins(STARTS))]
ClusterName = Annotated[str | None, RESULTS(CLUSTER_HELP, "--cluster", metavar="WHERE")]
TimeLimit = Annotated[str | None, RESULTS(TIME_HELP, "--time-limit", metavar="TIME")]
LogFile = Annotated[Path | None, RESULTS(LOG_HELP, "--log", metavar="FILE")]
PartName = Annotated[str | None, RESULTS(PART_HELP, "--part", metavar="i/N")]
Seed = Annotated[int, RUNS("Root of all random numbers.")]
# The same, where the help has no groups.
ClusterOption = Annotated[str | None, option(CLUSTER_HELP, "--cluster", metavar="WHERE")]
TimeOption = Annotated[str | None, option(TIME_HELP, "--time-limit", metavar="TIME")]
LogOption = Annotated[Path | None, option(LOG_HELP, "--log", metavar="FILE")]


def teacher_sizes(text: str) -> list[int]:
    """Return the values of ``-k``: a number, or a range such as 6..20."""
    first, last = _ends(text)
    for end in (first, last):
        _size(f"-k {text}", end)
    return list(range(first, last + 1))


def family_sizes(text: str) -> range:
    """Return the values of ``-k`` for a family, which has points of any size."""
    first, last = _ends(text)
    if last - first >= MAX_POINTS:
        raise InputError(f"-k {text} was given; a range may have up to {MAX_POINTS} sizes")
    return range(first, last + 1)


def _ends(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d{1,18})(?:\.\.(\d{1,18}))?", text)
    if match is None:
        raise InputError(f"-k {text} was given; use a number such as 10, or a range such as 6..20")
    first, last = int(match[1]), int(match[2] or match[1])
    if not 1 <= first <= last:
        raise InputError(f"-k {text} was given; k must be at least 1, and a range must not be empty")
    return first, last


def _size(given: str, size: int) -> int:
    """Return a size that is not too large for anything to be made of it."""
    if size > MAX_SIZE:
        raise InputError(f"{given} was given; use at most {MAX_SIZE}")
    return size


def student_sizes(text: str, teachers: int) -> list[int]:
    """Return the values of ``-n`` for one k: a number, relative to k such as k+1 or 2k, or a range such as k-2..k."""
    size = r"(\d{0,18}k(?:[+-]\d{1,18})?|\d{1,18})"
    match = re.fullmatch(rf"{size}(?:\.\.{size})?", text)
    if match is None:
        raise InputError(
            f"-n {text} was given; use a number such as 10, k, k+1, k-2, 2k, or a range such as 6..20, k-2..k or k..2k"
        )
    ends = (match[1], match[2] or match[1])
    first, last = (_size(f"-n {text}", _number(end, teachers)) for end in ends)
    sizes = list(range(first, last + 1))
    if not sizes or sizes[0] < 1:
        raise InputError(
            f"-n {text} was given; for k = {teachers} it means {sizes or 'nothing'}, but n must be at least 1"
        )
    return sizes


def _number(text: str, teachers: int) -> int:
    """Return a number that may be relative to k: 10, k, 2k, k-2."""
    times, k, more = text.partition("k")
    return int(times or 1) * teachers + int(more or 0) if k else int(text)


def two_layers(
    k: str | None,
    n: str,
    teacher: Path | None,
    grid: Grid | None,
    d: int | None,
    activation: str,
    output_weights: OutputWeights,
) -> list[Problem]:
    """Return the two-layer problems that these options mean; what makes no sense raises :class:`InputError`."""
    from earnshaw.problems import TwoLayer, standard_teacher
    from earnshaw.problems import activation as find_activation
    from earnshaw.store import read_npy

    if sum(choice is not None for choice in (k, teacher, grid)) != 1:
        raise InputError("give exactly one of -k (for example -k 10), --teacher FILE.npy and --grid paper")
    if d is not None and k is None:
        raise InputError(f"-d {d} goes with -k only; a teacher from a file has its own dimension")
    sigma, trained = _named(find_activation, activation, ACTIVATIONS), output_weights == "trainable"
    if teacher is not None:
        if teacher.suffix != ".npy":
            raise InputError(
                f"--teacher {teacher} was given; save the matrix with numpy.save, one neuron a row, as a .npy file"
            )
        matrix = read_npy(teacher, "the teacher")
        if matrix.ndim != 2 or 0 in matrix.shape:
            raise InputError(
                f"the teacher {teacher} has shape {matrix.shape}; give a matrix (neurons, dimension), one neuron a row"
            )
        settings = [(matrix, b) for b in student_sizes(n, matrix.shape[0])]
    elif k is not None:
        d = d and _size(f"-d {d}", d)
        pairs = [*itertools.islice(((a, b) for a in teacher_sizes(k) for b in student_sizes(n, a)), MAX_SETTINGS + 1)]
        if len(pairs) > MAX_SETTINGS:
            raise InputError(f"-k {k} -n {n} are more than {MAX_SETTINGS} sizes; sweep them in several folders")
        settings = [(standard_teacher(a, d), b) for a, b in pairs]
    else:
        settings = [(standard_teacher(a), b) for a, b in PAPER_GRID]
    return [TwoLayer(matrix, students=b, activation=sigma, trainable_output=trained) for matrix, b in settings]


def convolutional(k: str | None, p: int | None, ratio: float | None) -> list[Problem]:
    """Return the random convolutional problems that these options mean."""
    from earnshaw.problems import RandomConvNets

    if p is None or ratio is None:
        raise InputError("--network conv needs -p and --ratio; for example -p 20 -k 25 --ratio 0.5")
    if k is None or not k.isdecimal():
        raise InputError(f"-k {k} was given; the convolutional network needs one number of patches, for example -k 25")
    return [RandomConvNets(filter_size=p, patches=int(k), ratio=ratio)]


def only_for(network: Network, given: Mapping[str, object]) -> None:
    """Refuse options (name -> something true if it was given) that mean something for this network alone."""
    names = ", ".join(name for name, present in given.items() if present)
    if names:
        raise InputError(f"{names} is for --network {network} only; leave it out, or give that network")


def named_optimizer(given: str) -> Descent:
    """Return the optimiser of this name."""
    from earnshaw.descent import optimizer

    return _named(optimizer, given, OPTIMIZERS)


def named_start(given: str | None) -> Start | None:
    """Return the start of this name, if one was given."""
    from earnshaw.starts import start

    return None if given is None else _named(start, given, STARTS)


def part_folder(folder: Path, part: str | None) -> tuple[Path, Part | None]:
    """Return the part that ``--part`` means, and its own folder beside that of the whole."""
    from earnshaw.experiments.parts import Part

    chosen = None if part is None else Part.of(part)
    return (folder if chosen is None else folder.with_name(f"{folder.name}-{chosen.label}")), chosen


def say_part(folder: Path, whole: Path, part: Part) -> None:
    """Say where a part is, and how all parts become one."""
    given = folder.with_name(f"{whole.name}-part*of{part.count}")
    say(f"\npart {part} is in {folder}; when all are there: earnshaw runs merge {given} --out {whole}")


def _named(find: Callable[[str], Found], given: str, choices: tuple[str, ...]) -> Found:
    """Return what has this name; for a name that is nearly one of the choices, say which was probably meant."""
    try:
        return find(given)
    except InputError as error:
        kind, colon, rest = given.partition(":")
        close = None if kind in choices or "." in kind else nearest(kind, choices)
        if close is None:
            raise
        raise InputError(f"{error}; did you mean {close}{colon}{rest}?") from None
