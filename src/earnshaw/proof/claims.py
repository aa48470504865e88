"""What is proved of a point: one class for each kind of theorem, every number on the safe side.

``_ge`` is rounded down and ``_le`` up, radii within which something holds down, and radii that enclose something up. Pairs
are the two doubles next to a number.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from flint import arb
from numpy.typing import ArrayLike

from earnshaw.errors import InputError
from earnshaw.proof.trusted.balls import norm, precision, shown

Pair = tuple[float, float]
DENSE = 10**7  # weights that a point with a pattern is written out with
_ROUNDED_UP = {"curvature_le", "enclosure_radius", "minimiser_within", "value_le"}  # of the numbers that are shown


@dataclass(frozen=True, eq=False)
class DensePoint:
    """A point given by its whole array of exact doubles."""

    weights: np.ndarray = field(repr=False)

    def is_within(self, radius: float, weights: ArrayLike) -> bool:
        """Say whether `weights`, exact doubles, provably lie within `radius` of this point; NaN never does."""
        other = np.asarray(weights, dtype=np.float64)
        if other.shape != self.weights.shape or not np.all(np.isfinite(other)):
            return False
        with precision(128):
            gaps = (arb(float(x)) - arb(float(y)) for x, y in zip(other.ravel(), self.weights.ravel(), strict=True))
            return bool(norm(gaps) <= arb(radius))


@dataclass(frozen=True, eq=False)
class PatternPoint:
    """A point given by a pattern (sizes of groups; rows) and numbers, each the sum of two doubles."""

    sizes: tuple[int, ...]
    rows: tuple[int | None, ...]
    numbers: tuple[Pair, ...] = field(repr=False)

    @property
    def weights(self) -> np.ndarray:
        """All weights (n, k) as doubles, rows and coordinates in the pattern's order; refused when there are too many."""
        k, counts = sum(self.sizes), [1 if row is None else self.sizes[row] for row in self.rows]
        if sum(counts) * k > DENSE:
            raise InputError(f"the point has {sum(counts)} x {k} weights; use its numbers, or a smaller k")
        entries, begins = iter(high for high, _ in self.numbers), np.cumsum([0, *self.sizes])
        blocks = []
        for row, count in zip(self.rows, counts, strict=True):
            block = np.empty((count, k))
            for group in range(len(self.sizes)):
                own = next(entries) if group == row else None
                block[:, begins[group] : begins[group + 1]] = next(entries)
                if own is not None:
                    np.fill_diagonal(block[:, begins[group] : begins[group + 1]], own)
            blocks.append(block)
        return np.vstack(blocks)


class Claim:
    """The numbers of a theorem; ``line`` is how they are shown, its parts apart from those of numbers that are None."""

    line: ClassVar[str]

    @property
    def words(self) -> str:
        """The numbers in a line, rounded to the safe side; the lower one of a pair."""
        parts = []
        for text, name in (part.rstrip("}").split("{") for part in self.line.split(", ")):
            value = getattr(self, name)
            number = value[0] if isinstance(value, tuple) else value
            parts += [] if number is None else [f"{text}{shown(number, up=name in _ROUNDED_UP)}"]
        return ", ".join(parts + ["in every dimension"] * getattr(self, "every_dimension", False))


@dataclass(frozen=True)
class MinimumClaim(Claim):
    """A spurious minimum of a ReLU network: kinds `minimum`, `basin`, `robust` and `every_n`.

    Attributes
    ----------
    lambda_min_ge, lambda_ext_ge : the Hessian's smallest eigenvalue at the centre, and that of each further dimension (None
        where only dimension d is claimed).
    mu_ge : the Hessian's smallest eigenvalue at the minimum.
    gradient_le, change_le : the gradient's norm at the centre, and the Hessian's rate of change around it.
    objective_ge, objective_le : the loss at the minimum.
    enclosure_radius, unique_radius : the minimum is this near to the centre; no other critical point is.
    basin_radius, step_lt : exact gradient descent with such a step from this near converges to the minimum.
    teacher_radius : for every teacher whose neurons move by no more than this there is such a minimum.
    split_neuron, split_ge, split_ext_ge : splitting this neuron gives spurious minima for every larger n; the smallest
        eigenvalue of D across it, and in each further dimension.
    """

    lambda_min_ge: float
    lambda_ext_ge: float | None
    mu_ge: float
    gradient_le: float
    change_le: float
    objective_ge: float
    objective_le: float
    enclosure_radius: float
    unique_radius: float
    basin_radius: float | None = None
    step_lt: float | None = None
    teacher_radius: float | None = None
    split_neuron: int | None = None
    split_ge: float | None = None
    split_ext_ge: float | None = None
    line = (
        "smallest eigenvalue >= {lambda_min_ge}, loss >= {objective_ge}, within {enclosure_radius}, unique within "
        "{unique_radius}, basin {basin_radius}, teacher may move {teacher_radius}, every n' >= n by splitting neuron {split_neuron}, with D >= {split_ge}"
    )

    @property
    def every_dimension(self) -> bool:
        """Whether the claim holds in every dimension from d on."""
        return self.lambda_ext_ge is not None

    @property
    def lambda_ge(self) -> float:
        """The theorem's lambda: the smallest eigenvalue at the centre in all dimensions claimed."""
        return self.lambda_min_ge if self.lambda_ext_ge is None else min(self.lambda_min_ge, self.lambda_ext_ge)


@dataclass(frozen=True)
class SaddleClaim(Claim):
    """A saddle of a ReLU network within ``enclosure_radius``, with an eigenvalue of at most ``curvature_le`` at the centre."""

    curvature_le: float
    gradient_le: float
    change_le: float
    objective_ge: float
    objective_le: float
    enclosure_radius: float
    every_dimension: bool = True
    line = "a curvature <= {curvature_le}, loss >= {objective_ge}, within {enclosure_radius}"


@dataclass(frozen=True)
class ConvNetClaim(Claim):
    """All stationary points of a convolutional network; the proof's point is the spurious one's output weights.

    Attributes
    ----------
    margin : (k + pi - 1)|a*|^2 - pi S^2; positive where the spurious point is a minimum.
    value, product : the spurious point's loss and its a . a*.
    enclosure_radius : how far the doubles of the proof's point are from the exact output weights.
    barrier, step_le : from below this loss, and with steps up to this, the sign of a . a* decides where descent ends.
    saddle_angle : the angle of the saddles' filter and the teacher's; None where there are no saddles.
    """

    margin: Pair
    value: Pair
    product: Pair
    barrier: Pair
    saddle_angle: Pair | None
    enclosure_radius: float
    step_le: float
    line = (
        "margin >= {margin}, loss of the spurious point >= {value}, barrier >= {barrier}, saddles at the angle >= "
        "{saddle_angle}, steps up to {step_le}"
    )


@dataclass(frozen=True)
class ConvexityClaim(Claim):
    """A ball in which the risk of a data set is strictly convex.

    Attributes
    ----------
    curvature_ge, gradient_le : the Hessian's smallest eigenvalue and the gradient's norm at the centre.
    change_le, growth_le : the Hessian changes by at most change_le + growth_le t per distance, at distance t.
    radius : the Hessian is positive definite nearer than this to the centre.
    minimiser_within : a minimiser is this near, the only stationary point within ``radius``; None where that is not proved.
    """

    curvature_ge: float
    change_le: float
    growth_le: float
    gradient_le: float
    radius: float
    minimiser_within: float | None
    line = "smallest eigenvalue >= {curvature_ge}, strictly convex within {radius}, minimiser within {minimiser_within}"


@dataclass(frozen=True)
class EveryKClaim(Claim):
    """A family of spurious minima, one for each k of the claim, in every dimension.

    Attributes
    ----------
    lambda_head_ge, lambda_tail_ge : the Hessian's smallest eigenvalue below the tail's first k, and from there on.
    value_ge, value_le : k F for families II and B, F for family A.
    """

    lambda_head_ge: float
    lambda_tail_ge: float
    value_ge: float
    value_le: float
    every_dimension: ClassVar[bool] = True
    line = "smallest eigenvalue >= {lambda_head_ge}, in the tail >= {lambda_tail_ge}, scaled loss >= {value_ge}, scaled loss <= {value_le}"

    @property
    def lambda_ge(self) -> float:
        """The Hessian's smallest eigenvalue, for every k."""
        return min(self.lambda_head_ge, self.lambda_tail_ge)
