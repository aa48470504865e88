"""What is proved of a point: one class for each kind of theorem, every number on the safe side.

``_ge`` is rounded down and ``_le`` up, radii within which something holds down, and radii that enclose something up. Pairs
are the two doubles next to a number.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from flint import arb
from numpy.typing import ArrayLike

from earnshaw.proof.trusted.balls import norm, precision, shown

Pair = tuple[float, float]


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


@dataclass(frozen=True)
class MinimumClaim:
    """A spurious minimum of a ReLU network: kinds `minimum`, `basin` and `robust`.

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

    @property
    def every_dimension(self) -> bool:
        """Whether the claim holds in every dimension from d on."""
        return self.lambda_ext_ge is not None

    @property
    def words(self) -> str:
        """The numbers in a line, rounded to the safe side."""
        return _line(
            ("smallest eigenvalue >=", self.lambda_min_ge, False),
            ("loss >=", self.objective_ge, False),
            ("within", self.enclosure_radius, True),
            ("unique within", self.unique_radius, False),
            ("basin", self.basin_radius, False),
            ("teacher may move", self.teacher_radius, False),
            more="in every dimension" if self.every_dimension else "",
        )


@dataclass(frozen=True)
class SaddleClaim:
    """A saddle of a ReLU network within ``enclosure_radius``, with an eigenvalue of at most ``curvature_le`` at the centre."""

    curvature_le: float
    gradient_le: float
    change_le: float
    objective_ge: float
    objective_le: float
    enclosure_radius: float
    every_dimension: bool = True

    @property
    def words(self) -> str:
        """The numbers in a line, rounded to the safe side."""
        return _line(
            ("a curvature <=", self.curvature_le, True),
            ("loss >=", self.objective_ge, False),
            ("within", self.enclosure_radius, True),
            more="in every dimension",
        )


@dataclass(frozen=True)
class ConvNetClaim:
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

    @property
    def words(self) -> str:
        """The numbers in a line, rounded to the safe side."""
        return _line(
            ("margin >=", self.margin[0], False),
            ("loss of the spurious point >=", self.value[0], False),
            ("barrier >=", self.barrier[0], False),
            ("saddles at the angle >=", None if self.saddle_angle is None else self.saddle_angle[0], False),
            ("steps up to", self.step_le, False),
        )


@dataclass(frozen=True)
class ConvexityClaim:
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

    @property
    def words(self) -> str:
        """The numbers in a line, rounded to the safe side."""
        return _line(
            ("smallest eigenvalue >=", self.curvature_ge, False),
            ("strictly convex within", self.radius, False),
            ("minimiser within", self.minimiser_within, True),
        )


Claim = MinimumClaim | SaddleClaim | ConvNetClaim | ConvexityClaim


def _line(*numbers: tuple[str, float | None, bool], more: str = "") -> str:
    parts = [f"{name} {shown(value, up=up)}" for name, value, up in numbers if value is not None]
    return ", ".join([*parts, more] if more else parts)
