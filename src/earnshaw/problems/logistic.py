"""Networks of one hidden layer that give probabilities: drawn data sets, and a user's own."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, Self

import numpy as np

from earnshaw.errors import InputError, checked_seed
from earnshaw.problems.activations import recorded_activation, unit_activation
from earnshaw.problems.base import Array, Problem, Symmetry, check_record, classes, reals, whole
from earnshaw.problems.two_layer import TwoLayer

MAX_SAMPLES = 10**10


class Labels(Enum):
    """How labels come from the network; the value is the sentence."""

    CLASSIFICATION = "labels are 0 or 1, drawn with the network's probability"
    REGRESSION = "labels are the network's values, exactly"


class Probabilities(Problem):
    """What the two share: K neurons of d weights each, n labelled inputs, and neurons that may be exchanged."""

    @property
    def sizes(self: Any) -> dict[str, Any]:
        """Neurons, dimension and samples."""
        return {"neurons": self.neurons, "d": self.dimension, "samples": self.samples}

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (K, d) of a point."""
        return self.sizes["neurons"], self.sizes["d"]

    @property
    def symmetry(self) -> Symmetry:
        """Neurons may be exchanged; coordinates may not."""
        neurons, d = self.shape
        return Symmetry(classes([0] * neurons), np.arange(d), np.zeros((0, d)), classes([]))


@dataclass(frozen=True, eq=False, repr=False)
class Logistic(Probabilities):
    r"""Recover the neurons of :math:`\frac1K\sum_k \phi(w_k\cdot x)`, :math:`x \sim N(0, I_d)`, from n labelled inputs.

    In classification :math:`P(y = 1 | x)` is the network's value; in regression y is that value. What is minimised is

    .. math:: f_n(W) = \frac1{2n}\sum_i \Big(y_i - \frac1K\sum_k \phi(w_k\cdot x_i)\Big)^2 .

    Parameters
    ----------
    weights : (K, d) array, the neurons w_k that make the labels, one a row, K <= d.
    samples : number n of inputs.
    labels : classification or regression.
    activation : a function with values in [0, 1]: sigmoid, unit-tanh, unit-erf, or one of yours; see
        :func:`earnshaw.problems.unit_activation`.
    seed : root of the data set's random numbers; it does not touch the weights.

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
        self._settle(weights=weights, activation=unit_activation(self.activation))
        whole("samples", self.samples, 1, MAX_SAMPLES)
        if not isinstance(self.labels, Labels):
            raise InputError(f"labels={self.labels!r} was given; use Labels.CLASSIFICATION or Labels.REGRESSION")
        checked_seed(self.seed)

    @property
    def neurons(self) -> int:
        """Number K of neurons."""
        return self.weights.shape[0]

    @property
    def dimension(self) -> int:
        """Dimension d of the inputs."""
        return self.weights.shape[1]

    @property
    def population(self) -> TwoLayer:
        r"""The limit of infinitely many exact labels, a two-layer problem with output weights 1/K.

        In classification the risk is larger by the constant :math:`\tfrac12 E[p(1-p)]`, p the network's value.
        """
        share = np.full(self.neurons, 1.0 / self.neurons)
        return TwoLayer(self.weights, activation=self.activation, output_weights=share, student_output_weights=share)


@dataclass(frozen=True, eq=False, repr=False)
class Data(Probabilities):
    r"""Fit :math:`\frac1K\sum_k \phi(w_k\cdot x)` to n labelled inputs, by the risk of :class:`Logistic`.

    Parameters
    ----------
    x : (n, d) array, the inputs.
    y : (n,) array, the labels, numbers in [0, 1] or classes 0 and 1.
    neurons : number K of neurons, at most d; there must be at least K d rows.
    activation : as for :class:`Logistic`.

    Reference: Fu, Chi & Liang (2018), equations (5)-(6).
    """

    network: ClassVar[str] = "data"
    batch = 16  # few: all of them share the rows

    x: Array
    y: Array
    neurons: int
    activation: Any = "sigmoid"  # a name, a function or an Activation; an Activation, once validated

    def __post_init__(self) -> None:
        """Validate everything once, so that no later code has to."""
        x, y = reals("the inputs x", self.x, 2), reals("the labels y", self.y, 1)
        if len(y) != len(x):
            raise InputError(f"there are {len(x)} inputs and {len(y)} labels; give one label for each input")
        if y.min() < 0 or y.max() > 1:
            found = f"labels run from {y.min():g} to {y.max():g}"
            raise InputError(f"{found}; they must lie in [0, 1], or be the classes 0 and 1")
        check_neurons(len(x), x.shape[1], self.neurons)
        self._settle(x=x, y=y, neurons=int(self.neurons), activation=unit_activation(self.activation))

    @property
    def samples(self) -> int:
        """Number n of rows."""
        return len(self.x)

    @property
    def dimension(self) -> int:
        """Dimension d of the inputs."""
        return self.x.shape[1]

    @property
    def unprovable(self) -> str | None:
        """Proofs need bounds of the activation's derivatives, which are known for three of them."""
        known = ("sigmoid", "unit-tanh", "unit-erf")
        return None if self.activation.name in known else f"a proof needs one of the activations {', '.join(known)}"

    def to_json(self) -> dict[str, Any]:
        """Return the exact JSON form: the data as base64 of little-endian doubles, row by row."""
        digest = {} if self.activation.digest is None else {"activation_digest": self.activation.digest}
        sizes = {"n": self.samples, "d": self.dimension, "k": self.neurons}
        return digest | {"objective": f"data/{self.activation}", **sizes, "x": _packed(self.x), "y": _packed(self.y)}

    @classmethod
    def from_json(cls, record: Mapping[str, Any], functions: bool = False) -> Self:
        """Read a problem back from :meth:`to_json`; bad content raises :class:`InputError`."""
        phi = check_record(cls.network, record, {"n", "d", "k", "x", "y"}, {"activation_digest"})
        n, d = whole("samples", record["n"], 1), whole("dimensions", record["d"], 1)
        x, y = _unpacked(record["x"], n * d), _unpacked(record["y"], n)
        sigma = recorded_activation(phi, record.get("activation_digest"), functions)
        return cls(x.reshape(n, d), y, record["k"], sigma)


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


def check_neurons(samples: int, dimension: int, neurons: int) -> None:
    """Refuse a network that so many rows cannot determine."""
    whole("neurons", neurons, 1)
    if neurons > dimension:
        asked = f"{neurons} neurons were asked for, but the inputs have {dimension} dimensions"
        raise InputError(f"{asked}; the model needs at most as many neurons as dimensions: use fewer neurons")
    if samples < neurons * dimension:
        asked = f"{samples} samples cannot determine {neurons} neurons of {dimension} weights"
        raise InputError(f"{asked}; give at least {neurons * dimension} samples")


def _packed(array: Array) -> str:
    return base64.b64encode(np.ascontiguousarray(array, dtype="<f8").tobytes()).decode("ascii")


def _unpacked(text: Any, count: int) -> Array:
    try:
        content = base64.b64decode(text, validate=True)
    except (TypeError, ValueError) as error:
        raise InputError(f"a problem's data must be base64 of doubles ({error})") from None
    if len(content) != 8 * count:
        raise InputError(f"a problem's data has {len(content)} bytes where {8 * count} are stated")
    return np.frombuffer(content, dtype="<f8").astype(np.float64)
