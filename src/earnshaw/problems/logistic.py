"""A network of one hidden layer that gives probabilities, and a data set drawn from it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from earnshaw.errors import InputError
from earnshaw.problems.activations import unit_activation
from earnshaw.problems.base import Array, Problem, Symmetry, exchangeable, reals, whole
from earnshaw.problems.two_layer import TwoLayer

MAX_SAMPLES = 10**10


class Labels(Enum):
    """How labels come from the network; the value is the sentence."""

    CLASSIFICATION = "labels are 0 or 1, drawn with the network's probability"
    REGRESSION = "labels are the network's values, exactly"


@dataclass(frozen=True, eq=False)
class Logistic(Problem):
    r"""Recover the neurons of :math:`\frac1K\sum_k \phi(w_k\cdot x)`, :math:`x \sim N(0, I_d)`, from n labelled inputs.

    In classification :math:`P(y = 1 | x)` is the network's value; in regression y is that value. What is minimised is

    .. math:: f_n(W) = \frac1{2n}\sum_i \Big(y_i - \frac1K\sum_k \phi(w_k\cdot x_i)\Big)^2 .

    Parameters
    ----------
    weights : (K, d) array
        The neurons w_k that make the labels, one a row, K <= d.
    samples : int
        Number n of inputs.
    labels : Labels
        Classification or regression.
    activation : str, callable or Activation
        A function with values in [0, 1]: sigmoid, unit-tanh, unit-erf, or one of yours; see
        :func:`earnshaw.problems.unit_activation`.
    seed : int
        Root of the data set's random numbers; it does not touch the weights.

    Reference: Fu, Chi & Liang (2018), equations (1)-(6).
    """

    network: ClassVar[str] = "logistic"

    weights: Array
    samples: int
    labels: Labels = Labels.CLASSIFICATION
    activation: Any = "sigmoid"  # a name, a function or an Activation; an Activation, once validated
    seed: int = 0

    def __post_init__(self) -> None:
        """Validate everything once, so that no later code has to."""
        weights = reals("the weights", self.weights, 2)
        _sizes(*weights.shape)
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "activation", unit_activation(self.activation))
        whole("samples", self.samples, 1, MAX_SAMPLES)
        if not isinstance(self.labels, Labels):
            raise InputError(f"labels={self.labels!r} was given; use Labels.CLASSIFICATION or Labels.REGRESSION")
        if not 0 <= self.seed < 2**63:
            raise InputError(f"the seed {self.seed} was given; use a whole number from 0 to 2^63 - 1")

    @property
    def neurons(self) -> int:
        """Number K of neurons."""
        return self.weights.shape[0]

    @property
    def dimension(self) -> int:
        """Dimension d of the inputs."""
        return self.weights.shape[1]

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (K, d) of a point."""
        return self.neurons, self.dimension

    @property
    def detail(self) -> str:
        """The activation."""
        return str(self.activation)

    @property
    def sizes(self) -> dict[str, Any]:
        """Neurons, dimension and samples."""
        return {"neurons": self.neurons, "d": self.dimension, "samples": self.samples}

    @property
    def symmetry(self) -> Symmetry:
        """Neurons may be exchanged; coordinates may not."""
        return exchangeable(*self.shape)

    @property
    def population(self) -> TwoLayer:
        r"""The limit of infinitely many exact labels, a two-layer problem with output weights 1/K.

        In classification the risk is larger by the constant :math:`\tfrac12 E[p(1-p)]`, p the network's value.
        """
        share = np.full(self.neurons, 1.0 / self.neurons)
        return TwoLayer(self.weights, activation=self.activation, output_weights=share, student_output_weights=share)

    @cached_property
    def singular_values(self) -> Array:
        """The singular values of the weights, the largest first."""
        return np.asarray(np.linalg.svd(self.weights, compute_uv=False), dtype=np.float64)

    def replace(self, **changes: Any) -> Logistic:
        """Return the problem with some settings changed."""
        return dataclasses.replace(self, **changes)


def gaussian_weights(neurons: int, dimension: int, seed: int) -> Array:
    """Return weights (K, d) with independent standard normal entries."""
    _sizes(neurons, dimension)
    return np.random.default_rng([seed, 1]).normal(size=(neurons, dimension))


def orthogonal_weights(neurons: int, dimension: int, seed: int, norm: float = 1.0) -> Array:
    """Return weights (K, d): a uniformly random orthonormal frame, scaled."""
    _sizes(neurons, dimension)
    frame, upper = np.linalg.qr(np.random.default_rng([seed, 2]).normal(size=(dimension, neurons)))
    return norm * (frame * np.sign(np.diagonal(upper))).T


def _sizes(neurons: int, dimension: int) -> None:
    if not 1 <= neurons <= dimension:
        raise InputError(f"{neurons} neurons in {dimension} dimensions were asked for; use 1 <= neurons <= dimension")
