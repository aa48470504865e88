"""A network of one hidden layer that gives probabilities, and a data set drawn from it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from earnshaw.errors import InputError

Array = NDArray[np.float64]
MAX_SAMPLES = 10**10


class Labels(Enum):
    """How labels come from the network; the value is the sentence."""

    CLASSIFICATION = "labels are 0 or 1, drawn with the network's probability"
    REGRESSION = "labels are the network's values, exactly"


@dataclass(frozen=True, eq=False)
class Logistic:
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
    activation : str
        sigmoid, tanh for (1 + tanh z)/2, erf for (1 + erf z)/2, or a function of yours as ``module:function``.
    seed : int
        Root of the data set's random numbers; it does not touch the weights.

    Reference: Fu, Chi & Liang (2018), equations (1)-(6).
    """

    weights: Array
    samples: int
    labels: Labels = Labels.CLASSIFICATION
    activation: str = "sigmoid"
    seed: int = 0

    def __post_init__(self) -> None:
        """Validate everything once, so that no later code has to."""
        object.__setattr__(self, "weights", _weights(self.weights))
        if not 1 <= self.samples <= MAX_SAMPLES:
            raise InputError(f"{self.samples} samples were asked for; use 1 to {MAX_SAMPLES}")
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

    @cached_property
    def singular_values(self) -> Array:
        """The singular values of the weights, the largest first."""
        return np.asarray(np.linalg.svd(self.weights, compute_uv=False), dtype=np.float64)

    def replace(self, **changes: Any) -> Logistic:
        """Return the problem with some settings changed."""
        return dataclasses.replace(self, **changes)

    def to_json(self) -> dict[str, Any]:
        """Return the exact JSON form: numbers as hexadecimal floats, so that nothing is rounded."""
        return {
            "objective": f"logistic/{self.activation}",
            "labels": self.labels.name.lower(),
            "k": self.neurons,
            "d": self.dimension,
            "samples": self.samples,
            "seed": self.seed,
            "target": [[float(x).hex() for x in row] for row in self.weights],
        }

    def __eq__(self, other: object) -> bool:
        """Two problems are equal when their exact JSON is."""
        return isinstance(other, Logistic) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        """Hash consistently with equality."""
        return hash((self.samples, self.seed, self.labels, self.activation, self.weights.tobytes()))


def gaussian_weights(neurons: int, dimension: int, seed: int) -> Array:
    """Return weights (K, d) with independent standard normal entries."""
    _sizes(neurons, dimension)
    return np.random.default_rng([seed, 1]).normal(size=(neurons, dimension))


def orthogonal_weights(neurons: int, dimension: int, seed: int, norm: float = 1.0) -> Array:
    """Return weights (K, d): a uniformly random orthonormal frame, scaled."""
    _sizes(neurons, dimension)
    frame, upper = np.linalg.qr(np.random.default_rng([seed, 2]).normal(size=(dimension, neurons)))
    return norm * (frame * np.sign(np.diagonal(upper))).T


def unit_weights(neurons: int, dimension: int, seed: int, norm: float = 1.0) -> Array:
    """Return weights (K, d): independent uniformly random directions of one norm."""
    weights = gaussian_weights(neurons, dimension, seed)
    return norm * weights / np.linalg.norm(weights, axis=1, keepdims=True)


def _sizes(neurons: int, dimension: int) -> None:
    if not 1 <= neurons <= dimension:
        raise InputError(f"{neurons} neurons in {dimension} dimensions were asked for; use 1 <= neurons <= dimension")


def _weights(values: ArrayLike) -> Array:
    try:
        if np.iscomplexobj(values):
            raise TypeError("complex numbers")
        weights = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"the weights are not a matrix of real numbers ({error}); give K rows of d numbers") from None
    if weights.ndim != 2 or 0 in weights.shape:
        raise InputError(
            f"the weights have shape {weights.shape}; give a matrix (neurons, dimension), one neuron a row"
        )
    if not np.isfinite(weights).all():
        raise InputError("the weights hold NaN or infinite entries; all must be finite")
    _sizes(*weights.shape)
    weights.flags.writeable = False
    return weights
