"""The problems that ``sweep`` and ``arena`` are asked for."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from earnshaw.cli.sizes import paper_grid, student_sizes, teacher_sizes
from earnshaw.errors import InputError

if TYPE_CHECKING:
    from earnshaw.experiments import Setting


class Grid(StrEnum):
    """The choices of ``--grid``."""

    paper = "paper"


class OutputWeights(StrEnum):
    """The choices of ``--output-weights``."""

    fixed = "fixed"
    trainable = "trainable"


Teachers = Annotated[
    str | None, typer.Option("-k", help="Teacher neurons, orthonormal and of length 1: 10, or a range 6..20.")
]
Students = Annotated[str, typer.Option("-n", help="Student neurons: 10, a range, or relative: k, k+1, k-2..k.")]
Dimension = Annotated[int | None, typer.Option("-d", help="Dimension of the inputs, at least k (default: k).")]
TeacherFile = Annotated[
    Path | None, typer.Option(metavar="FILE.npy", help="Your own teacher, one neuron a row, in place of -k.")
]
ActivationName = Annotated[
    str,
    typer.Option(
        help="relu, leaky:0.1, sign, erf, hermite:3, sigmoid, tanh, softplus, gelu, or your own: FILE.py:FUNCTION, MODULE:FUNCTION."
    ),
]
Outputs = Annotated[OutputWeights, typer.Option(help="Whether the student's output weights are 1, or learned too.")]


def settings(
    k: str | None,
    n: str,
    teacher: Path | None = None,
    grid: Grid | None = None,
    d: int | None = None,
    activation: str = "relu",
    output_weights: OutputWeights = OutputWeights.fixed,
) -> list[Setting]:
    """Return the settings that these options mean; what makes no sense raises :class:`InputError`."""
    from earnshaw.experiments import Setting
    from earnshaw.problems import TwoLayer, standard_teacher
    from earnshaw.problems import activation as named_activation
    from earnshaw.store import read_npy

    if sum(choice is not None for choice in (k, teacher, grid)) != 1:
        raise InputError("give exactly one of -k (for example -k 10), --teacher FILE.npy and --grid paper")
    if d is not None and k is None:
        raise InputError(f"-d {d} goes with -k only; a teacher from a file has its own dimension")
    sigma, trained = named_activation(activation), output_weights is OutputWeights.trainable

    def setting(matrix, students: int) -> Setting:
        return Setting(TwoLayer(matrix, students=students, activation=sigma, trainable_output=trained))

    if grid is not None:
        return [setting(standard_teacher(a), b) for a, b in paper_grid()]
    if k is not None:
        return [setting(standard_teacher(a, d), b) for a in teacher_sizes(k) for b in student_sizes(n, a)]
    assert teacher is not None
    matrix = read_npy(teacher, "the teacher")
    rows = matrix.shape[0] if matrix.ndim else 0
    return [setting(matrix, b) for b in student_sizes(n, rows)]
