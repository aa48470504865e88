"""A convolutional student with one filter and an output layer, learning a teacher of the same form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from earnshaw.errors import InputError

Array = NDArray[np.float64]
OBJECTIVE = "convnet/relu"
MAX_WEIGHTS = 100_000


def _vector(name: str, values: ArrayLike) -> Array:
    """Return a validated read-only copy: a nonzero vector of finite numbers of a sane size."""
    if np.iscomplexobj(values):
        raise InputError(f"{name} holds complex numbers; give real ones")
    try:
        vector = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} is not a vector of real numbers ({error})") from None
    if vector.ndim != 1 or not 1 <= vector.size <= MAX_WEIGHTS:
        raise InputError(f"{name} has shape {vector.shape}; give a vector of 1 to {MAX_WEIGHTS} numbers")
    if not np.isfinite(vector).all():
        raise InputError(f"{name} holds NaN or infinite entries; all must be finite")
    size = np.abs(vector).max()
    if not 1e-70 <= size <= 1e70:
        raise InputError(f"{name} has largest entry {size:.3g}; it must not be zero: rescale to 1e-70..1e70")
    vector.flags.writeable = False
    return vector


@dataclass(frozen=True, eq=False)
class ConvNet:
    r"""Learn :math:`y = \sum_{i=1}^k a^*_i\,[Z_i\cdot w^*]_+` from k independent patches :math:`Z_i \sim N(0, I_p)`.

    The student has the same form with a normalised filter (weight normalisation), and the loss is half the mean
    squared error,

    .. math:: F(v, a) = \tfrac12\,E\Big[\Big(\sum_i a_i \frac{[Z_i\cdot v]_+}{|v|} - \sum_i a^*_i [Z_i\cdot w^*]_+\Big)^2\Big].

    Parameters
    ----------
    filter : (p,) array
        The teacher's filter w*, not normalised; not zero.
    output_weights : (k,) array
        The teacher's output weights a*, one for each patch; not all zero.

    Reference: Du, Lee, Tian, Poczos & Singh (2018), section 1, equations (1)-(2).
    """

    filter: Array
    output_weights: Array

    def __post_init__(self) -> None:
        """Validate everything once, so that no later code has to."""
        object.__setattr__(self, "filter", _vector("the filter", self.filter))
        object.__setattr__(self, "output_weights", _vector("the output weights", self.output_weights))

    @property
    def filter_size(self) -> int:
        """Size p of the filter and of a patch."""
        return self.filter.size

    @property
    def patches(self) -> int:
        """Number k of patches and of output weights."""
        return self.output_weights.size

    @cached_property
    def total(self) -> float:
        """The sum S of the teacher's output weights."""
        return fsum(self.output_weights)

    @cached_property
    def ratio(self) -> float:
        """The sum over the norm of the output weights, :math:`S/|a^*|`: what the fate of random runs depends on."""
        return self.total / float(np.linalg.norm(self.output_weights))

    @cached_property
    def scale(self) -> float:
        """The square scale of the loss: the square of the product of both norms."""
        return float((self.filter @ self.filter) * (self.output_weights @ self.output_weights))

    def to_json(self) -> dict[str, Any]:
        """Return the exact JSON form: numbers as hexadecimal floats, so that nothing is rounded."""
        return {
            "p": self.filter_size,
            "k": self.patches,
            "filter": [float(x).hex() for x in self.filter],
            "output_weights": [float(x).hex() for x in self.output_weights],
            "objective": OBJECTIVE,
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> ConvNet:
        """Read a problem back from :meth:`to_json`; bad content raises :class:`InputError`."""
        required = {"p", "k", "filter", "output_weights", "objective"}
        if not isinstance(record, Mapping) or set(record) != required:
            raise InputError(f"a convolutional problem needs exactly the keys {sorted(required)}")
        if record["objective"] != OBJECTIVE:
            raise InputError(f"unknown objective {record['objective']!r}; a convolutional problem has {OBJECTIVE!r}")
        try:
            filter, output = ([float.fromhex(x) for x in record[key]] for key in ("filter", "output_weights"))
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(f"a problem's numbers must be hexadecimal floats ({error})") from None
        problem = cls(filter, output)  # type: ignore[arg-type]
        if (problem.filter_size, problem.patches) != (record["p"], record["k"]):
            raise InputError(
                f"the filter has {problem.filter_size} and the output layer {problem.patches} weights, but p, k = "
                f"{record['p']}, {record['k']} are stated"
            )
        return problem

    def __eq__(self, other: object) -> bool:
        """Two problems are equal when their exact JSON is."""
        return isinstance(other, ConvNet) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        """Hash consistently with equality."""
        return hash((self.filter.tobytes(), self.output_weights.tobytes()))
