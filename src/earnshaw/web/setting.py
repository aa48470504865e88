"""What a sweep, a point and a proof are about: the problems that the command line makes, with bounds, and points of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from earnshaw.errors import InputError
from earnshaw.web.api import Asked
from earnshaw.web.limits import LIMITS

if TYPE_CHECKING:
    import numpy as np

# Those of the command line, without names of files and modules, which would be loaded.
ACTIVATIONS = (
    "relu",
    "leaky",
    "sign",
    "erf",
    "hermite",
    "sigmoid",
    "tanh",
    "softplus",
    "gelu",
    "unit-tanh",
    "unit-erf",
)
Size = Annotated[int, Field(ge=1, le=LIMITS.k)]
Row = Annotated[list[float], Field(min_length=1, max_length=LIMITS.n + 1)]


class Problem(Asked):
    """A problem of ``earnshaw sweep``: orthonormal teachers of two layers, or random convolutional ones."""

    network: Literal["two-layer", "conv"] = "two-layer"
    k: Size = 8
    n: Annotated[int, Field(ge=1, le=LIMITS.n)] = 8
    d: Annotated[int, Field(ge=0, le=LIMITS.n)] = 0  #: dimension of the inputs; 0: k
    activation: Annotated[str, Field(max_length=40)] = "relu"
    output_weights: Literal["fixed", "trainable"] = "fixed"
    p: Annotated[int, Field(ge=2, le=LIMITS.k)] = 6  #: size of the filter, for the convolutional network
    ratio: Annotated[float, Field(ge=0, le=10)] = 0.5  #: sum over norm of its output weights

    @property
    def options(self) -> str:
        """The options of the command line."""
        if self.network == "conv":
            return f"--network conv -p {self.p} -k {self.k} --ratio {self.ratio!r}"
        words = [f"-k {self.k} -n {self.n}"]
        words += [f"-d {self.d}"] if self.d not in (0, self.k) else []
        words += [f"--activation {self.activation}"] if self.activation != "relu" else []
        words += ["--output-weights trainable"] if self.output_weights == "trainable" else []
        return " ".join(words)

    def build(self) -> Any:
        """Return the problem; what makes no sense raises :class:`InputError`."""
        from earnshaw.problems import RandomConvNets, TwoLayer, standard_teacher

        if self.network == "conv":
            return RandomConvNets(filter_size=self.p, patches=self.k, ratio=self.ratio)
        if self.activation.partition(":")[0] not in ACTIVATIONS:
            names = ", ".join(ACTIVATIONS).replace("leaky", "leaky:SLOPE").replace("hermite", "hermite:DEGREE")
            raise InputError(f"the activation is {self.activation!r}; here choose {names}")
        if self.d and self.d < self.k:
            raise InputError(f"d is {self.d} with k = {self.k}; the dimension must be k or more, or 0 for k")
        trained = self.output_weights == "trainable"
        teacher = standard_teacher(self.k, self.d or None)
        return TwoLayer(teacher, students=self.n, activation=self.activation, trainable_output=trained)


class Point(Asked):
    """A point of a problem of two layers: one row of weights for each neuron."""

    problem: Problem
    weights: Annotated[list[Row], Field(min_length=1, max_length=LIMITS.n)]

    def matrix(self) -> np.ndarray:
        """Return the weights; those of another shape than the problem's raise :class:`InputError`."""
        import numpy as np

        if self.problem.network == "conv":
            raise InputError("each run of random convolutional networks has a teacher of its own; take two-layer")
        shape = self.problem.build().shape
        given = {len(row) for row in self.weights}
        if len(self.weights) != shape[0] or given != {shape[1]}:
            rows = " or ".join(str(length) for length in sorted(given))
            raise InputError(
                f"the point has {len(self.weights)} rows of {rows} numbers; this problem has points of shape {shape}"
            )
        return np.array(self.weights, dtype=np.float64)


def room(folder: Path, name: str) -> Path | None:
    """Return where a result of this name is kept; None when the folder has as many as it may, and this is not one of them."""
    place = folder / name
    full = not place.exists() and folder.is_dir() and sum(1 for _ in folder.iterdir()) >= LIMITS.kept
    return None if full else place
