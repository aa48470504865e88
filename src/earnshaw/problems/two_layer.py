"""A two-layer student learning a two-layer teacher from Gaussian inputs."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from earnshaw.errors import InputError
from earnshaw.problems.activations import activation, recorded_activation
from earnshaw.problems.base import Array, Problem, Symmetry, check_record, classes, hexed, reals, unhexed, whole

MAX_NEURONS = 100_000
_VECTORS = ("output_weights", "student_output_weights")


def standard_teacher(num_neurons: int, dimension: int | None = None) -> Array:
    """Return the first k vectors of the standard basis of R^d (d = k when not given): k orthonormal neurons."""
    if not 1 <= num_neurons <= MAX_NEURONS:
        raise InputError(f"a teacher of {num_neurons} neurons was asked for; use 1 to {MAX_NEURONS}")
    if dimension is not None and not num_neurons <= dimension <= MAX_NEURONS:
        asked = f"{num_neurons} orthonormal neurons do not fit in dimension {dimension}"
        raise InputError(f"{asked}; use d >= k, or a teacher of your own")
    return np.eye(num_neurons, dimension)


def _neurons(name: str, values: ArrayLike) -> Array:
    """Return a validated matrix of neurons, none of them 0."""
    matrix = reals(name, values, 2)
    sizes = np.abs(matrix).max(axis=1)
    if not sizes.all():
        found = f"{name} has a zero neuron in row {int(np.argmin(sizes))}"
        raise InputError(f"{found}; the loss is not differentiable there: remove the row")
    if sizes.min() < 1e-140 or sizes.max() > 1e140:
        raise InputError(f"{name} has neurons of size {sizes.min():.3g} to {sizes.max():.3g}; rescale to 1e-140..1e140")
    return matrix


def _charges(name: str, values: ArrayLike | None, count: int) -> Array | None:
    """Return a validated vector of output weights, or None when all of them are 1."""
    if values is None:
        return None
    vector = reals(name, values, 1)
    if vector.shape != (count,):
        raise InputError(f"{name} has shape {vector.shape}; give one number for each of the {count} neurons")
    if not vector.all():
        raise InputError(f"{name} must be nonzero, but holds {vector.tolist()}")
    return None if (vector == 1).all() else vector


@dataclass(frozen=True, eq=False, repr=False)
class TwoLayer(Problem):
    r"""Learn :math:`y = \sum_j b_j\,\sigma(v_j\cdot x)`, :math:`x \sim N(0, I_d)`, by a student of the same form.

    The loss is the population risk, half the mean squared error,

    .. math:: F(W) = \tfrac12\, E\Big[\Big(\sum_{i=1}^n a_i \sigma(w_i\cdot x) - \sum_{j=1}^k b_j \sigma(v_j\cdot x)\Big)^2\Big].

    Parameters
    ----------
    teacher : (k, d) array, the teacher's weights v_j, one neuron a row; finite, no zero row.
    students : number n of student neurons; k when not given.
    activation : sigma, by name, or a function of your own; see :func:`earnshaw.problems.activation`.
    output_weights : (k,) array, the teacher's output weights b_j (all 1 when not given).
    student_output_weights : (n,) array, the student's fixed output weights a_i (all 1 when not given).
    trainable_output : whether the student learns its output weights too; a point then has a last column a_i: shape (n, d + 1).
    """

    network: ClassVar[str] = "two-layer"

    teacher: Array
    students: int = None  # type: ignore[assignment]  # k, once validated
    activation: Any = "relu"  # a name, a function or an Activation; an Activation, once validated
    output_weights: Array | None = None
    student_output_weights: Array | None = None
    trainable_output: bool = False

    def __post_init__(self) -> None:
        """Validate everything once, so that no later code has to."""
        teacher = _neurons("the teacher", self.teacher)
        students = whole("student neurons", len(teacher) if self.students is None else self.students, 1, MAX_NEURONS)
        if self.trainable_output and self.student_output_weights is not None:
            asked = "student_output_weights are fixed, but trainable_output asks for ones that are learned"
            raise InputError(f"{asked}; give one of the two")
        self._settle(
            teacher=teacher,
            students=students,
            activation=activation(self.activation),
            output_weights=_charges("output_weights", self.output_weights, len(teacher)),
            student_output_weights=_charges("student_output_weights", self.student_output_weights, students),
            trainable_output=bool(self.trainable_output),
        )

    @property
    def teachers(self) -> int:
        """Number k of teacher neurons."""
        return self.teacher.shape[0]

    @property
    def dimension(self) -> int:
        """Dimension d of the inputs."""
        return self.teacher.shape[1]

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of a student: (n, d), or (n, d + 1) with trainable output weights."""
        return self.students, self.dimension + self.trainable_output

    @property
    def charges(self) -> tuple[Array, Array]:
        """The output weights of the student (n,) and of the teacher (k,), 1 where none are given."""
        student, teacher = self.student_output_weights, self.output_weights
        ones = np.ones(self.students), np.ones(self.teachers)
        return ones[0] if student is None else student, ones[1] if teacher is None else teacher

    @property
    def sizes(self) -> dict[str, Any]:
        """Teacher neurons k, student neurons n and the dimension d."""
        return {"k": self.teachers, "n": self.students, "d": self.dimension}

    def _line(self) -> str:
        given = [name.replace("_", " ") for name in _VECTORS if getattr(self, name) is not None]
        given += ["trainable output"] * self.trainable_output
        return ", ".join([super()._line(), *given])

    @property
    def symmetry(self) -> Symmetry:
        """Neurons of equal output weight, and coordinates in a way that exchanges teacher neurons of equal output weight."""
        student, teacher = (classes(charges) for charges in self.charges)
        columns = np.zeros(self.dimension, dtype=np.int64)
        return Symmetry(student, columns, self.teacher, teacher, int(self.trainable_output))

    @property
    def batch(self) -> int:
        """Fewer runs together, where there are many pairs of neurons."""
        return 64 if self.students * (self.students + self.teachers) <= 300 else 32

    @property
    def effort(self) -> float:
        """Pairs of neurons, n (n + k), times steps, which on the paper's grid are as k^2 / n, mostly within a factor of 1.5."""
        return float((self.students + self.teachers) * self.teachers**2)

    @property
    def unprovable(self) -> str | None:
        """The theorems are about ReLU networks that sum their neurons."""
        if self.activation.kind != "relu":
            return f"the activation is {self.activation}, and the theorems cover relu only"
        if self.trainable_output:
            return "the student's output weights are trained, and the theorems cover fixed ones, all equal to 1"
        for name in _VECTORS:
            if getattr(self, name) is not None:
                return f"{name} differ from 1, and the theorems cover networks that sum their neurons: leave them out"
        return None

    def with_students(self, students: int) -> TwoLayer:
        """Return the same teacher with another number of student neurons."""
        if students == self.students:
            return self
        if self.student_output_weights is not None:
            given = f"the student's {self.students} output weights"
            raise InputError(f"{given} do not fit {students} neurons; give new ones")
        if students < 1:
            raise InputError(f"{students} student neurons were asked for; at least 1 is needed")
        return dataclasses.replace(self, students=students)

    @cached_property
    def scale(self) -> float:
        r"""The square scale of the loss: :math:`2\sum_j b_j^2 E[\sigma(v_j\cdot x)^2]`, or :math:`\sum_j|b_j v_j|^2`.

        The second for activations that are positively homogeneous of degree 1; for ReLU the two agree.
        """
        charges = self.charges[1]
        if self.activation.homogeneous == 1:
            return float(np.sum((charges[:, None] * self.teacher) ** 2))
        return float(2 * np.sum(charges**2 * self.activation.second_moment(np.linalg.norm(self.teacher, axis=1))))

    @cached_property
    def is_orthonormal(self) -> bool:
        """Whether this is the paper's problem: ReLU, rows orthonormal to rounding, output weights 1 on both sides.

        The value test of Safran & Shamir is about this problem alone.
        """
        if self.unprovable is not None or self.teachers > self.dimension:
            return False
        gram = self.teacher @ self.teacher.T
        return bool(np.abs(gram - np.eye(self.teachers)).max() < 1e-12)

    @cached_property
    def is_realisable(self) -> bool:
        """Whether a student of this size can surely equal the teacher, so that the smallest loss is 0.

        With trainable output weights, n >= k will do. With fixed ones, a neuron that is positively homogeneous of a
        degree p > 0 can copy any teacher neuron whose output weight has the same sign (any, if sigma is odd). Any
        other neuron needs the same output weight (up to its sign, if sigma is odd), and the neurons that are left over
        must be able to vanish. This counts neurons; a teacher with parallel rows may be realisable without being
        counted so.
        """
        if self.trainable_output:
            return self.students >= self.teachers
        (student, teacher), sigma = self.charges, self.activation
        if sigma.odd:
            teacher, student = np.abs(teacher), np.abs(student)
        if sigma.homogeneous:
            return all(np.sum(np.sign(student) == sign) >= np.sum(np.sign(teacher) == sign) for sign in (1, -1))
        wanted, offered = Counter(teacher.tolist()), Counter(student.tolist())
        return wanted <= offered and (sigma.vanishes_at_zero or wanted == offered)

    def to_json(self) -> dict[str, Any]:
        """Return the exact JSON form: numbers as hexadecimal floats, so that nothing is rounded."""
        record: dict[str, Any] = {"n": self.students, "k": self.teachers, "d": self.dimension}
        record |= {"target": hexed(self.teacher), "objective": f"two-layer/{self.activation}"}
        record |= {name: hexed(vector) for name in _VECTORS if (vector := getattr(self, name)) is not None}
        if self.trainable_output:
            record["trainable_output"] = True
        if self.activation.digest is not None:
            record["activation_digest"] = self.activation.digest
        return record

    @classmethod
    def from_json(cls, record: Mapping[str, Any], functions: bool = False) -> Self:
        """Read a problem back from :meth:`to_json`; bad content raises :class:`InputError`."""
        optional = {*_VECTORS, "trainable_output", "activation_digest"}
        sigma = check_record(cls.network, record, {"n", "k", "d", "target"}, optional)
        if record.get("trainable_output", True) is not True:
            raise InputError("a problem's trainable_output is true or left out")
        problem = cls(
            unhexed(record["target"]),
            students=whole("student neurons", record["n"], 1),
            activation=recorded_activation(sigma, record.get("activation_digest"), functions),
            trainable_output="trainable_output" in record,
            **{key: unhexed(record[key]) for key in _VECTORS if key in record},
        )
        if (problem.teachers, problem.dimension) != (record["k"], record["d"]):
            found = f"the target has shape {problem.teacher.shape}"
            raise InputError(f"{found}, but k, d = {record['k']}, {record['d']} are stated")
        return problem
