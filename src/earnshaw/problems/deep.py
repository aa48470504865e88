"""Deep tanh networks: students of a teacher of the same shape."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

from earnshaw.errors import InputError
from earnshaw.problems.base import Problem, whole


@dataclass(frozen=True, eq=False, repr=False)
class DeepTanh(Problem):
    r"""Networks of tanh neurons, the output included: :math:`f(x) = \tanh(W_D \tanh(W_{D-1} \cdots \tanh(W_1 x)))`.

    Depth 2 has one hidden layer. There are no biases, and the teacher is another random one for every run.

    Reference: Panigrahy et al. (2018), section 5.
    """

    network: ClassVar[str] = "deep-tanh"
    is_realisable = True  # the student has the teacher's shape

    depth: int  #: the number D of layers of weights, from 2
    width: int  #: neurons in each hidden layer
    dimension: int = 10  #: dimension d of the inputs, :math:`x \sim N(0, I_d)`
    dtype: str = "float32"  #: the precision of training, float32 or float64

    def __post_init__(self) -> None:
        """Validate the sizes."""
        whole("layers", self.depth, 2)
        whole("neurons a layer", self.width, 1)
        whole("dimensions", self.dimension, 1)
        if self.dtype not in ("float32", "float64"):
            raise InputError(f"the precision is {self.dtype!r}; use float32 or float64")

    @property
    def layers(self) -> list[tuple[int, int]]:
        """The shape (out, in) of each layer."""
        sizes = [self.dimension, *[self.width] * (self.depth - 1), 1]
        return [(after, before) for before, after in pairwise(sizes)]

    @property
    def detail(self) -> str:
        """The precision."""
        return self.dtype

    @property
    def sizes(self) -> dict[str, Any]:
        """Depth, width and dimension."""
        return {"depth": self.depth, "width": self.width, "d": self.dimension}
