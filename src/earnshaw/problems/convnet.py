"""A convolutional student with one filter and an output layer, learning a teacher of the same form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import fsum, sqrt
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from earnshaw.errors import InputError
from earnshaw.problems.base import Array, Problem, check_record, hexed, reals, unhexed, whole

MAX_WEIGHTS = 100_000


def _vector(name: str, values: ArrayLike) -> Array:
    """Return a validated read-only copy: a nonzero vector of finite numbers of a sane size."""
    vector = reals(name, values, 1)
    if vector.size > MAX_WEIGHTS:
        raise InputError(f"{name} has {vector.size} entries; use at most {MAX_WEIGHTS}")
    size = np.abs(vector).max()
    if not 1e-70 <= size <= 1e70:
        raise InputError(f"{name} has largest entry {size:.3g}; it must not be zero: rescale to 1e-70..1e70")
    return vector


class Convolutional(Problem):
    """What one teacher and many random ones share: a filter of p weights, k patches and as many output weights."""

    batch = 1024  # many: a run is computed in five coordinates
    is_realisable = True  # the student has the teacher's size

    @property
    def shape(self) -> tuple[int]:
        """Shape (p + k,) of a point: the filter, then the output weights."""
        return (self.sizes["p"] + self.sizes["k"],)

    @property
    def sizes(self: Any) -> dict[str, Any]:
        """Filter size p, patches k, and the ratio of the output weights' sum and norm."""
        return {"p": self.filter_size, "k": self.patches, "ratio": self.ratio}


@dataclass(frozen=True, eq=False, repr=False)
class ConvNet(Convolutional):
    r"""Learn :math:`y = \sum_{i=1}^k a^*_i\,[Z_i\cdot w^*]_+` from k independent patches :math:`Z_i \sim N(0, I_p)`.

    The student has the same form with a normalised filter (weight normalisation), and the loss is half the mean
    squared error,

    .. math:: F(v, a) = \tfrac12\,E\Big[\Big(\sum_i a_i \frac{[Z_i\cdot v]_+}{|v|} - \sum_i a^*_i [Z_i\cdot w^*]_+\Big)^2\Big].

    Parameters
    ----------
    filter : (p,) array, the teacher's filter w*, not normalised; not zero.
    output_weights : (k,) array, the teacher's output weights a*, one for each patch; not all zero.

    Reference: Du, Lee, Tian, Poczos & Singh (2018), section 1, equations (1)-(2).
    """

    network: ClassVar[str] = "convnet"

    filter: Array
    output_weights: Array

    def __post_init__(self) -> None:
        """Validate everything once, so that no later code has to."""
        outputs = _vector("the output weights", self.output_weights)
        self._settle(filter=_vector("the filter", self.filter), output_weights=outputs)

    @property
    def filter_size(self) -> int:
        """Size p of the filter and of a patch."""
        return self.filter.size

    @property
    def patches(self) -> int:
        """Number k of patches and of output weights."""
        return self.output_weights.size

    @property
    def unprovable(self) -> str | None:
        """Everything is decided by the teacher, once the filter can turn."""
        fixed = "a filter of one weight cannot turn: both signs are minima; give p >= 2"
        return fixed if self.filter_size == 1 else None

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
        weights = {"filter": hexed(self.filter), "output_weights": hexed(self.output_weights)}
        return {"p": self.filter_size, "k": self.patches, **weights, "objective": "convnet/relu"}

    @classmethod
    def from_json(cls, record: Mapping[str, Any], functions: bool = False) -> Self:
        """Read a problem back from :meth:`to_json`; bad content raises :class:`InputError`."""
        check_record(cls.network, record, {"p", "k", "filter", "output_weights"})
        problem = cls(unhexed(record["filter"]), unhexed(record["output_weights"]))
        if (problem.filter_size, problem.patches) != (record["p"], record["k"]):
            found = f"the filter has {problem.filter_size} and the output layer {problem.patches} weights"
            raise InputError(f"{found}, but p, k = {record['p']}, {record['k']} are stated")
        return problem


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class RandomConvNets(Convolutional):
    r"""A new random :class:`ConvNet` for every run: unit filters and unit output weights whose sum is :math:`S = \text{ratio}`.

    With u the vector of ones, :math:`a^* = \frac{S}{k}u + \sqrt{1 - S^2/k}\;e`, e uniform among the unit vectors
    orthogonal to u. The loss of the spurious point is the same for all of them.
    """

    network: ClassVar[str] = "random-convnet"

    filter_size: int
    patches: int
    ratio: float

    def __post_init__(self) -> None:
        """Validate the sizes and the ratio."""
        if self.filter_size < 2:
            raise InputError(f"p = {self.filter_size} was asked for; a filter needs 2 weights or more to turn")
        whole("patches", self.patches, 1, MAX_WEIGHTS)
        most = sqrt(self.patches)
        if not abs(self.ratio) <= most * (1 + 1e-15):
            asked = f"the ratio S/|a*| = {self.ratio} is impossible with k = {self.patches} output weights"
            raise InputError(f"{asked}: use {-most:.6g} to {most:.6g}")
        if self.patches == 1 and abs(self.ratio) != 1:
            raise InputError(f"with one output weight S/|a*| is 1 or -1, not {self.ratio}")

    @property
    def unprovable(self) -> str:
        """A proof is about one teacher."""
        instead = "earnshaw prove --filter W.npy --outputs A.npy"
        return f"every run has a teacher of its own; prove one of them with {instead}"
