"""Deep tanh teachers: the loss of a student of the same shape on fresh Gaussian inputs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import jax
import jax.numpy as jnp

from earnshaw.errors import InputError

Weights = tuple[jax.Array, ...]  # one matrix a layer, neurons as rows


@dataclass(frozen=True)
class DeepTanh:
    r"""Networks of tanh neurons, the output included: :math:`f(x) = \tanh(W_D \tanh(W_{D-1} \cdots \tanh(W_1 x)))`.

    Depth 2 has one hidden layer. There are no biases.

    Parameters
    ----------
    depth : int
        The number D of layers of weights, from 2.
    width : int
        Neurons in each hidden layer.
    dimension : int
        Dimension d of the inputs, :math:`x \sim N(0, I_d)`.
    dtype : str
        The precision of training.

    Reference: Panigrahy et al. (2018), section 5.
    """

    depth: int
    width: int
    dimension: int = 10
    dtype: str = "float32"

    def __post_init__(self) -> None:
        """Validate."""
        if self.depth < 2 or self.width < 1 or self.dimension < 1:
            raise InputError(
                f"depth {self.depth}, width {self.width}, dimension {self.dimension} were given; "
                "the depth must be at least 2, the others at least 1"
            )

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """The shape (out, in) of each layer."""
        sizes = [self.dimension, *[self.width] * (self.depth - 1), 1]
        return [(after, before) for before, after in pairwise(sizes)]

    def random(self, key: jax.Array, balanced: bool = False) -> Weights:
        r"""Return weights from N(0, 1), or from N(0, 1/inputs) where ``balanced``."""
        numbers = jax.random.normal(key, (sum(rows * columns for rows, columns in self.shapes),))
        weights, begin = [], 0
        for rows, columns in self.shapes:
            matrix = numbers[begin : begin + rows * columns].reshape(rows, columns)
            weights.append((matrix / math.sqrt(columns) if balanced else matrix).astype(self.dtype))
            begin += rows * columns
        return tuple(weights)

    def draw(self, key: jax.Array, samples: int) -> jax.Array:
        """Return inputs (samples, d)."""
        return jax.random.normal(key, (samples, self.dimension), dtype=self.dtype)

    def output(self, weights: Weights, inputs: jax.Array) -> jax.Array:
        """Return the network's outputs (samples,)."""
        signal = inputs
        for matrix in weights:
            signal = jnp.tanh(signal @ matrix.T)
        return signal[:, 0]

    def error(self, weights: Weights, teacher: Weights, inputs: jax.Array) -> jax.Array:
        """Return the mean squared error of a student against a teacher on inputs."""
        return jnp.mean((self.output(weights, inputs) - self.output(teacher, inputs)) ** 2)
