"""A network of probabilities to be fitted to a user's own data."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from earnshaw.errors import InputError
from earnshaw.problems.activations import recorded_activation, unit_activation
from earnshaw.problems.base import Array, Problem, Symmetry, check_record, exchangeable, reals, whole


@dataclass(frozen=True, eq=False)
class Data(Problem):
    r"""Fit :math:`\frac1K\sum_k \phi(w_k\cdot x)` to n labelled inputs, by the risk

    .. math:: f_n(W) = \frac1{2n}\sum_i \Big(y_i - \frac1K\sum_k \phi(w_k\cdot x_i)\Big)^2 .

    Parameters
    ----------
    x : (n, d) array
        The inputs.
    y : (n,) array
        The labels, numbers in [0, 1] or classes 0 and 1.
    neurons : int
        Number K of neurons, at most d; there must be at least K d rows.
    activation : str, callable or Activation
        A function with values in [0, 1]: sigmoid, unit-tanh, unit-erf, or one of yours; see
        :func:`earnshaw.problems.unit_activation`.

    Reference: Fu, Chi & Liang (2018), equations (5)-(6).
    """

    network: ClassVar[str] = "data"

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
            raise InputError(
                f"labels run from {y.min():g} to {y.max():g}; they must lie in [0, 1], or be the classes 0 and 1"
            )
        check_neurons(len(x), x.shape[1], self.neurons)
        object.__setattr__(self, "x", x)
        object.__setattr__(self, "y", y)
        object.__setattr__(self, "neurons", int(self.neurons))
        object.__setattr__(self, "activation", unit_activation(self.activation))

    @property
    def samples(self) -> int:
        """Number n of rows."""
        return len(self.x)

    @property
    def dimension(self) -> int:
        """Dimension d of the inputs."""
        return self.x.shape[1]

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (K, d) of a point."""
        return self.neurons, self.dimension

    @property
    def sizes(self) -> dict[str, Any]:
        """Neurons, dimension and samples."""
        return {"neurons": self.neurons, "d": self.dimension, "samples": self.samples}

    @property
    def symmetry(self) -> Symmetry:
        """Neurons may be exchanged; coordinates may not."""
        return exchangeable(*self.shape)

    @property
    def batch(self) -> int:
        """Few: all of them share the rows."""
        return 16

    @property
    def unprovable(self) -> str | None:
        """Proofs need bounds of the activation's derivatives, which are known for three of them."""
        known = ("sigmoid", "unit-tanh", "unit-erf")
        return None if self.activation.name in known else f"a proof needs one of the activations {', '.join(known)}"

    def to_json(self) -> dict[str, Any]:
        """Return the exact JSON form: the data as base64 of little-endian doubles, row by row."""
        digest = {} if self.activation.digest is None else {"activation_digest": self.activation.digest}
        return digest | {
            "objective": f"data/{self.activation}",
            "n": self.samples,
            "d": self.dimension,
            "k": self.neurons,
            "x": _packed(self.x),
            "y": _packed(self.y),
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any], functions: bool = False) -> Self:
        """Read a problem back from :meth:`to_json`; bad content raises :class:`InputError`."""
        phi = check_record(cls.network, record, {"n", "d", "k", "x", "y"}, {"activation_digest"})
        n, d = whole("samples", record["n"], 1), whole("dimensions", record["d"], 1)
        x, y = _unpacked(record["x"], n * d), _unpacked(record["y"], n)
        sigma = recorded_activation(phi, record.get("activation_digest"), functions)
        return cls(x.reshape(n, d), y, record["k"], sigma)


def check_neurons(samples: int, dimension: int, neurons: int) -> None:
    """Refuse a network that so many rows cannot determine."""
    whole("neurons", neurons, 1)
    if neurons > dimension:
        raise InputError(
            f"{neurons} neurons were asked for, but the inputs have {dimension} dimensions; the model needs at most as "
            "many neurons as dimensions: use fewer neurons"
        )
    if samples < neurons * dimension:
        raise InputError(
            f"{samples} samples cannot determine {neurons} neurons of {dimension} weights; give at least "
            f"{neurons * dimension} samples"
        )


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
