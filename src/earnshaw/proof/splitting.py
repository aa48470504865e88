r"""Does splitting a neuron into parallel parts open a way down?

At a critical point replace neuron i by parts :math:`s_1 w_i, \dots, s_p w_i`, :math:`s_j > 0`, :math:`\sum s_j = 1`: the
function that the network computes stays, and so does the gradient, 0. With perturbations :math:`u_j = s_j u + z_j` of the
parts, :math:`\sum z_j = 0`, the Hessian's form is

.. math:: H(u, \text{others}) + \sum_j z_j^T D_i z_j / s_j, \qquad D_i = H_{ii} - \tfrac12 I, \quad D_i w_i = 0,

so a way down is opened exactly where :math:`D_i` has a negative eigenvalue (Safran, Yehudai & Shamir 2021; the proof is in
docs/certificates.md). In each further dimension :math:`D_i` is the number :math:`M_{ii} - \frac12`, and
:math:`\operatorname{tr} D_i = d (M_{ii} - \frac12)`: it is positive where :math:`D_i` is, on the complement of :math:`w_i`.

This is floating point, for people and for searches; what is proved is in :mod:`earnshaw.proof.every_n`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from earnshaw.problems import TwoLayer

ALIKE = 1e-6  # neurons whose inner products agree to this are alike
PARALLEL = 1e-13  # of the length of a row: below it the part of one across another is rounding


@dataclass(frozen=True)
class Splitting:
    """What splitting one of some neurons that are alike does.

    Attributes
    ----------
    neurons : which ones, counted from 0.
    length : :math:`|w_i|`.
    curvature : the smallest eigenvalue of :math:`D_i` on the complement of :math:`w_i`; negative: a way down. In one
        dimension there is no such complement, and this is ``beyond``.
    beyond : :math:`M_{ii} - \\frac12`, the same in each further dimension.
    direction : a unit vector for ``curvature``: one part moves along it and another against it. Empty in one dimension.
    """

    neurons: tuple[int, ...]
    length: float
    curvature: float
    beyond: float
    direction: tuple[float, ...]

    @property
    def is_stable(self) -> bool:
        """Whether no way down is opened, in any dimension."""
        return self.curvature > 0 and self.beyond > 0

    @property
    def words(self) -> str:
        """The neurons and the curvature."""
        return f"{_counted(self.neurons)} (curvature {self.curvature:.4g})"

    @property
    def way(self) -> str:
        """The direction in a few digits, its middle left out if it is long."""
        numbers = [f"{x:.3g}" for x in self.direction]
        return f"({', '.join(numbers if len(numbers) <= 8 else [*numbers[:4], '...', *numbers[-3:]])})"

    def to_json(self) -> dict[str, Any]:
        """Return the record that ``prove --json`` shows."""
        return asdict(self) | {"stable": self.is_stable}


def splitting(problem: TwoLayer, weights: ArrayLike) -> tuple[Splitting, ...]:
    """Say for each kind of neurons of a critical point (n, d) what splitting one of them does.

    Neurons are of one kind when their inner products with the teacher's and with one another are the same numbers; those
    that a symmetry of the problem exchanges always are.
    """
    point, teacher = np.asarray(weights, dtype=np.float64), problem.teacher
    found = []
    for neurons in _kinds(point, teacher):
        block, beyond = split_block(point, teacher, neurons[0])
        size = float(np.linalg.norm(point[neurons[0]]))
        across = np.linalg.svd(point[neurons[0]][None])[2][1:]  # an orthonormal basis of the complement
        if len(across):
            values, vectors = np.linalg.eigh(across @ block @ across.T)
            direction = vectors[:, 0] @ across
            direction *= np.sign(direction[np.argmax(np.abs(direction))])
            found.append(Splitting(neurons, size, float(values[0]), beyond, tuple(direction.tolist())))
        else:
            found.append(Splitting(neurons, size, beyond, beyond, ()))
    return tuple(found)


def split_block(point: np.ndarray, teacher: np.ndarray, neuron: int) -> tuple[np.ndarray, float]:
    r"""Return :math:`D_i` (d, d) and :math:`M_{ii} - \frac12`.

    .. math:: D_i = \sum_{y \ne w_i} \frac{c(y)}{2 \pi |w_i|} \bigl(|m| P + m m^T/|m|\bigr), \qquad m = P y,\
              P = I - w_i w_i^T/|w_i|^2,

    over all other rows y, c(y) = 1 for students and -1 for teachers.
    """
    own = point[neuron] / np.linalg.norm(point[neuron])
    rows = np.concatenate([np.delete(point, neuron, axis=0), teacher])
    charges = np.concatenate([np.ones(len(point) - 1), -np.ones(len(teacher))])
    across = rows - np.outer(rows @ own, own)
    lengths = np.linalg.norm(across, axis=1)
    told = lengths > PARALLEL * np.linalg.norm(rows, axis=1)
    total = float(charges @ lengths)
    block = total * (np.eye(len(own)) - np.outer(own, own))
    block += (across[told].T * (charges[told] / lengths[told])) @ across[told]
    scale = 2 * np.pi * float(np.linalg.norm(point[neuron]))
    return block / scale, total / scale


def splitting_words(rows: Sequence[Splitting]) -> str:
    """Say in a sentence which neurons have a way down and which have none."""
    parts = []
    for sort, what in ((False, "a way down at"), (True, "none at")):
        some = [row.words for row in rows if row.is_stable == sort]
        parts += [f"{what} {', '.join(some)}"] if some else []
    return f"In floating point, splitting a neuron into parallel parts opens {'; '.join(parts)}."


def splitting_table(rows: Sequence[Splitting]) -> str:
    """Return the table of a point: a line for each kind of neurons."""
    lines = ["neurons           length    curvature  further dimensions  splitting"]
    for row in rows:
        what = "opens no way down" if row.is_stable else f"way down {row.way}"
        name = _counted(row.neurons).partition(" ")[2]
        lines.append(f"{name:<16}  {row.length:<8.5g}  {row.curvature:<+9.4g}  {row.beyond:<+18.4g}  {what}")
    return "\n".join(lines)


def _counted(neurons: tuple[int, ...]) -> str:
    """Name neurons: those in a row by the first and the last."""
    runs: list[list[int]] = []
    for neuron in neurons:
        if runs and neuron == runs[-1][1] + 1:
            runs[-1][1] = neuron
        else:
            runs.append([neuron, neuron])
    names = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
    return f"neuron{'s' * (len(neurons) > 1)} {names}"


def _kinds(point: np.ndarray, teacher: np.ndarray) -> list[tuple[int, ...]]:
    """Group neurons whose inner products, in order of size, agree."""
    marks = np.concatenate([np.sort(point @ teacher.T, axis=1), np.sort(point @ point.T, axis=1)], axis=1)
    room, left, found = ALIKE * float(np.abs(marks).max()), list(range(len(point))), []
    while left:
        alike = [i for i in left if np.abs(marks[i] - marks[left[0]]).max() <= room]
        left = [i for i in left if i not in alike]
        found.append(tuple(alike))
    return found
