"""What ``sweep`` and ``arena`` are asked for: problems, optimisers and starts, by option and by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from earnshaw.cli.sizes import paper_grid, student_sizes, teacher_sizes
from earnshaw.errors import InputError, nearest

if TYPE_CHECKING:
    from earnshaw.descent import Descent
    from earnshaw.problems import Activation, Problem
    from earnshaw.starts import Start

Found = TypeVar("Found")

# The groups of options in the help.
PROBLEM, RUNS, CONV, RESULTS = "The problem", "The runs", "With --network conv", "Proofs, results, speed"

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


def begins(choices: tuple[str, ...]) -> Callable[[str], list[str]]:
    """Return the function that completes a half-typed name."""
    return lambda incomplete: [name for name in choices if name.startswith(incomplete)]


class Grid(StrEnum):
    """The choices of ``--grid``."""

    paper = "paper"


class Network(StrEnum):
    """The choices of ``--network``."""

    two_layer = "two-layer"
    conv = "conv"


class Starts(StrEnum):
    """The choices of ``--starts``."""

    one = "one"
    four = "four"


class OutputWeights(StrEnum):
    """The choices of ``--output-weights``."""

    fixed = "fixed"
    trainable = "trainable"


Teachers = Annotated[
    str | None,
    typer.Option(
        "-k",
        metavar="K",
        rich_help_panel=PROBLEM,
        help="Teacher neurons, orthonormal and of length 1: 10, or a range 6..20.",
    ),
]
Students = Annotated[
    str,
    typer.Option(
        "-n",
        metavar="N",
        rich_help_panel=PROBLEM,
        help="Student neurons: 10, a range, or relative: k, k+1, k-2..k.",
    ),
]
Dimension = Annotated[
    int | None,
    typer.Option("-d", metavar="D", rich_help_panel=PROBLEM, help="Dimension of the inputs, k or more (default: k)."),
]
TeacherFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.npy", rich_help_panel=PROBLEM, help="Your own teacher, one neuron a row, in place of -k."
    ),
]
ActivationName = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        rich_help_panel=PROBLEM,
        autocompletion=begins(ACTIVATIONS),
        help="relu, leaky:0.1, sign, erf, hermite:3, sigmoid, tanh, softplus, gelu, unit-tanh, unit-erf, or your own: "
        "FILE.py:FUNCTION, MODULE:FUNCTION.",
    ),
]
Outputs = Annotated[
    OutputWeights,
    typer.Option(rich_help_panel=PROBLEM, help="Whether the student's output weights are 1, or learned too."),
]
StartName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        rich_help_panel=RUNS,
        autocompletion=begins(STARTS),
        help="Where runs begin: xavier (variance 1/k, the default), normal:SCALE, sphere, or points (runs, n, d) in FILE.npy.",
    ),
]
Seed = Annotated[int, typer.Option(rich_help_panel=RUNS, help="Root of all random numbers.")]


def two_layers(
    k: str | None,
    n: str,
    teacher: Path | None = None,
    grid: Grid | None = None,
    d: int | None = None,
    activation: str = "relu",
    output_weights: OutputWeights = OutputWeights.fixed,
) -> list[Problem]:
    """Return the two-layer problems that these options mean; what makes no sense raises :class:`InputError`."""
    from earnshaw.problems import TwoLayer, standard_teacher
    from earnshaw.store import read_npy

    if sum(choice is not None for choice in (k, teacher, grid)) != 1:
        raise InputError("give exactly one of -k (for example -k 10), --teacher FILE.npy and --grid paper")
    if d is not None and k is None:
        raise InputError(f"-d {d} goes with -k only; a teacher from a file has its own dimension")
    sigma, trained = named_activation(activation), output_weights is OutputWeights.trainable

    def problem(matrix, students: int) -> Problem:
        return TwoLayer(matrix, students=students, activation=sigma, trainable_output=trained)

    if grid is not None:
        return [problem(standard_teacher(a), b) for a, b in paper_grid()]
    if k is not None:
        return [problem(standard_teacher(a, d), b) for a in teacher_sizes(k) for b in student_sizes(n, a)]
    assert teacher is not None
    if teacher.suffix != ".npy":
        raise InputError(
            f"--teacher {teacher} was given; save the matrix with numpy.save, one neuron a row, as a .npy file"
        )
    matrix = read_npy(teacher, "the teacher")
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise InputError(
            f"the teacher {teacher} has shape {matrix.shape}; give a matrix (neurons, dimension), one neuron a row"
        )
    return [problem(matrix, b) for b in student_sizes(n, matrix.shape[0])]


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
    names = [name for name, present in given.items() if present]
    if names:
        raise InputError(
            f"{', '.join(names)} is for --network {network.value} only; leave it out, or give that network"
        )


def named_activation(given: str) -> Activation:
    """Return the activation of this name."""
    from earnshaw.problems import activation

    return _named(activation, given, ACTIVATIONS)


def named_optimizer(given: str) -> Descent:
    """Return the optimiser of this name."""
    from earnshaw.descent import optimizer

    return _named(optimizer, given, OPTIMIZERS)


def named_start(given: str) -> Start:
    """Return the start of this name."""
    from earnshaw.starts import start

    return _named(start, given, STARTS)


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
