"""A two-layer student learning a two-layer teacher from Gaussian inputs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from earnshaw.errors import InputError

Array = NDArray[np.float64]
ACTIVATIONS = ("relu",)
MAX_NEURONS = 100_000


def standard_teacher(num_neurons: int) -> Array:
    """Return the standard basis of R^k as a teacher: k orthonormal neurons in k dimensions."""
    if not 1 <= num_neurons <= MAX_NEURONS:
        raise InputError(f"a teacher of {num_neurons} neurons was asked for; use 1 to {MAX_NEURONS}")
    return np.eye(num_neurons)


def _matrix(name: str, values: ArrayLike) -> Array:
    try:
        matrix = _reals(values)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} is not a matrix of real numbers ({error}); give k rows of d numbers") from None
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise InputError(f"{name} has shape {matrix.shape}; give a matrix (neurons, dimension), one neuron a row")
    if not np.isfinite(matrix).all():
        row, column = np.argwhere(~np.isfinite(matrix))[0]
        raise InputError(
            f"{name} has the value {matrix[row, column]} in row {row}, column {column}; all must be finite"
        )
    sizes = np.abs(matrix).max(axis=1)
    if not sizes.all():
        raise InputError(
            f"{name} has a zero neuron in row {int(np.argmin(sizes))}; the loss is not differentiable there: remove the row"
        )
    if sizes.min() < 1e-140 or sizes.max() > 1e140:
        raise InputError(f"{name} has neurons of size {sizes.min():.3g} to {sizes.max():.3g}; rescale to 1e-140..1e140")
    matrix.flags.writeable = False
    return matrix


def _reals(values: ArrayLike) -> Array:
    """Return a new array of doubles; NumPy would only warn before it drops an imaginary part."""
    if np.iscomplexobj(values):
        raise TypeError("complex numbers")
    return np.array(values, dtype=np.float64)


def _charges(name: str, values: ArrayLike | None, count: int) -> Array | None:
    """Return a validated vector of output weights, or None when all of them are 1."""
    if values is None:
        return None
    try:
        vector = _reals(values)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} is not a vector of real numbers ({error}); give {count} numbers") from None
    if vector.shape != (count,):
        raise InputError(f"{name} has shape {vector.shape}; give one number for each of the {count} neurons")
    if not np.isfinite(vector).all() or not vector.all():
        raise InputError(f"{name} must be finite and nonzero, but holds {vector.tolist()}")
    if (vector == 1).all():
        return None
    vector.flags.writeable = False
    return vector


@dataclass(frozen=True, eq=False)
class TwoLayer:
    r"""Learn :math:`y = \sum_j b_j\,\sigma(v_j\cdot x)`, :math:`x \sim N(0, I_d)`, by a student of the same form.

    The loss is the population risk, half the mean squared error,

    .. math:: F(W) = \tfrac12\, E\Big[\Big(\sum_{i=1}^n a_i \sigma(w_i\cdot x) - \sum_{j=1}^k b_j \sigma(v_j\cdot x)\Big)^2\Big].

    Parameters
    ----------
    teacher : (k, d) array
        The teacher's weights v_j, one neuron a row; finite, no zero row.
    students : int, optional
        Number n of student neurons; k when not given.
    activation : str
        Name of sigma.
    output_weights : (k,) array, optional
        The teacher's output weights b_j (all 1 when not given).
    student_output_weights : (n,) array, optional
        The student's fixed output weights a_i (all 1 when not given).
    """

    teacher: Array
    students: int = None  # type: ignore[assignment]  # k, once validated
    activation: str = "relu"
    output_weights: Array | None = None
    student_output_weights: Array | None = None

    def __post_init__(self) -> None:
        """Validate everything once, so that no later code has to."""
        teacher = _matrix("the teacher", self.teacher)
        students = len(teacher) if self.students is None else self.students
        if isinstance(students, bool) or not isinstance(students, int | np.integer) or not 1 <= students <= MAX_NEURONS:
            raise InputError(
                f"{self.students!r} student neurons were asked for; use a whole number from 1 to {MAX_NEURONS}"
            )
        if self.activation not in ACTIVATIONS:
            raise InputError(f"unknown activation {self.activation!r}; choose one of {', '.join(ACTIVATIONS)}")
        object.__setattr__(self, "teacher", teacher)
        object.__setattr__(self, "students", int(students))
        object.__setattr__(self, "output_weights", _charges("output_weights", self.output_weights, len(teacher)))
        student_charges = _charges("student_output_weights", self.student_output_weights, int(students))
        object.__setattr__(self, "student_output_weights", student_charges)

    @property
    def teachers(self) -> int:
        """Number k of teacher neurons."""
        return self.teacher.shape[0]

    @property
    def dimension(self) -> int:
        """Dimension d of the inputs."""
        return self.teacher.shape[1]

    def with_students(self, students: int) -> TwoLayer:
        """Return the same teacher with another number of student neurons."""
        if students == self.students:
            return self
        if self.student_output_weights is not None:
            raise InputError(
                f"the student's {self.students} output weights do not fit {students} neurons; give new ones"
            )
        if students < 1:
            raise InputError(f"{students} student neurons were asked for; at least 1 is needed")
        return dataclasses.replace(self, students=students)

    @cached_property
    def scale(self) -> float:
        """The square scale of the loss: the sum of |b_j v_j|^2."""
        charges = np.ones(self.teachers) if self.output_weights is None else self.output_weights
        return float(np.sum((charges[:, None] * self.teacher) ** 2))

    @cached_property
    def is_orthonormal(self) -> bool:
        """Whether the teacher's rows are exactly orthonormal to rounding, with output weights 1 on both sides."""
        if self.output_weights is not None or self.student_output_weights is not None:
            return False
        if self.teachers > self.dimension:
            return False
        gram = self.teacher @ self.teacher.T
        return bool(np.abs(gram - np.eye(self.teachers)).max() < 1e-12)

    @cached_property
    def is_realisable(self) -> bool:
        """Whether a student of this size can surely equal the teacher, so that the smallest loss is 0.

        ReLU is positively homogeneous, so one student neuron can copy one teacher neuron whose output weight has
        the same sign. This counts neurons; a teacher with parallel rows may be realisable without being counted so.
        """
        teacher_signs = np.ones(self.teachers) if self.output_weights is None else np.sign(self.output_weights)
        student_signs = (
            np.ones(self.students) if self.student_output_weights is None else np.sign(self.student_output_weights)
        )
        return all(np.sum(student_signs == sign) >= np.sum(teacher_signs == sign) for sign in (1, -1))

    def to_json(self) -> dict[str, Any]:
        """Return the exact JSON form: numbers as hexadecimal floats, so that nothing is rounded."""
        record: dict[str, Any] = {
            "n": self.students,
            "k": self.teachers,
            "d": self.dimension,
            "target": [[float(x).hex() for x in row] for row in self.teacher],
            "objective": f"two-layer/{self.activation}",
        }
        if self.output_weights is not None:
            record["output_weights"] = [float(x).hex() for x in self.output_weights]
        if self.student_output_weights is not None:
            record["student_output_weights"] = [float(x).hex() for x in self.student_output_weights]
        return record

    def __eq__(self, other: object) -> bool:
        """Two problems are equal when their exact JSON is."""
        return isinstance(other, TwoLayer) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        """Hash consistently with equality."""
        return hash((self.students, self.activation, self.teacher.shape, self.teacher.tobytes()))


def problem_from_json(record: Mapping[str, Any]) -> TwoLayer:
    """Read a problem back from :meth:`TwoLayer.to_json`; bad content raises :class:`InputError`."""
    required = {"n", "k", "d", "target", "objective"}
    optional = {"output_weights", "student_output_weights"}
    if not isinstance(record, Mapping) or not required <= set(record) <= required | optional:
        raise InputError(f"a problem needs the keys {sorted(required)}, and may have {sorted(optional)}")
    network, _, activation = str(record["objective"]).partition("/")
    if network != "two-layer":
        raise InputError(f"unknown objective {record['objective']!r}; this version knows two-layer/relu")
    if isinstance(record["n"], bool) or not isinstance(record["n"], int):
        raise InputError(f"a problem's n must be a whole number, not {record['n']!r}")
    try:
        teacher = [[float.fromhex(x) for x in row] for row in record["target"]]
        charges = {key: [float.fromhex(x) for x in record[key]] for key in optional if key in record}
    except (TypeError, ValueError) as error:
        raise InputError(f"a problem's numbers must be hexadecimal floats ({error})") from None
    problem = TwoLayer(teacher, students=record["n"], activation=activation, **charges)  # type: ignore[arg-type]
    if (problem.teachers, problem.dimension) != (record["k"], record["d"]):
        raise InputError(
            f"the target has shape {problem.teacher.shape}, but k, d = {record['k']}, {record['d']} are stated"
        )
    return problem
