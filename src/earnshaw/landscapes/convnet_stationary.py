r"""All stationary points of the convolutional network, by their closed forms.

Minimised over a, the loss is a parabola in g alone, which opens downwards:

.. math::
    F(v, a) = \frac{W^2 K}{4\pi}(\pi - g)(\pi + g - 2 g_c) + \tfrac12 (a - a(g))^T H (a - a(g)), \qquad
    K = \frac{\kappa A - S^2}{(\pi - 1)\kappa}, \quad H = \frac{u u^T + (\pi - 1) I}{2\pi} .

Since g runs over [0, pi] and :math:`g_c \le 1`, the ends of the parabola are the global minimum (g = pi) and the
spurious point (g = 0), and its top, where it lies inside, is the family of saddles. docs/convnet.md has the proofs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike

from earnshaw.landscapes.convnet import ConvNetLandscape
from earnshaw.problems.convnet import ConvNet


class Stationarity(Enum):
    """What a stationary point is; the value is the sentence that explains it."""

    GLOBAL = "the global minimum: the filter points along the teacher's, and the loss is 0"
    SPURIOUS = "a spurious local minimum: the filter points against the teacher's"
    CUBIC_SADDLE = (
        "no minimum: the filter points against the teacher's, and turning it by t lowers the loss by order t^3"
    )
    SADDLES = "a family of strict saddles: every filter at this angle to the teacher's"


@dataclass(frozen=True)
class StationaryPoint:
    """A stationary set: all filters at ``angle`` to the teacher's, of any length, with these output weights (k,)."""

    kind: Stationarity
    angle: float
    output_weights: np.ndarray
    value: float  #: the loss
    product: float  #: a . a*

    def distance(self, problem: ConvNet, filter: np.ndarray, output_weights: np.ndarray) -> float:
        """Return how far a point is from this set: angle, and output weights relative to the teacher's scale."""
        energy = ConvNetLandscape.of(problem)
        angle = float(energy.angles(energy.point(filter, output_weights)).angle)
        away = np.linalg.norm(np.asarray(output_weights) - self.output_weights) / math.sqrt(problem.scale)
        return math.hypot(angle - self.angle, float(away))


def stationary_points(problem: ConvNet) -> tuple[StationaryPoint, ...]:
    r"""Return every stationary point: the global one, the spurious one, and the saddles if there are any.

    The spurious one is a local minimum iff :math:`g_c > 0`, that is :math:`S^2 < \frac{k + \pi - 1}{\pi}|a^*|^2`; the
    saddles exist in the same case. A filter of one weight cannot turn: then there are no saddles, and the spurious
    point is a minimum always. These are floats; :func:`earnshaw.proof.prove` proves the verdict.

    Reference: Du et al. (2018), Lemma 4.1, which does not say when the second point is a minimum.
    """
    energy = ConvNetLandscape.of(problem)
    turning = float(energy.turning)
    fixed = problem.filter_size == 1
    is_minimum = fixed or (turning > 0 and problem.patches > 1)  # for k = 1 it is 0, up to rounding

    def at(kind: Stationarity, overlap: float, angle: float, value: float) -> StationaryPoint:
        outputs = np.asarray(energy.best_outputs(overlap))
        return StationaryPoint(kind, angle, outputs, value, float(outputs @ problem.output_weights))

    other = Stationarity.SPURIOUS if is_minimum else Stationarity.CUBIC_SADDLE
    found = [at(Stationarity.GLOBAL, math.pi, 0.0, 0.0), at(other, 0.0, math.pi, float(energy.spurious_value))]
    if is_minimum and not fixed:
        found.append(at(Stationarity.SADDLES, turning, angle_of_overlap(turning), float(energy.barrier)))
    return tuple(found)


def spurious_limit(patches: int) -> float:
    r"""Return the ratio S/|a*| from which on the spurious point is no minimum: :math:`\sqrt{(k + \pi - 1)/\pi}`."""
    return math.sqrt((patches + math.pi - 1) / math.pi)


def spurious_approach(landscape: ConvNetLandscape, step: float, time: ArrayLike, length: ArrayLike) -> np.ndarray:
    r"""Return how far the filter still is from the spurious direction after t steps of gradient descent, for large t:

    .. math:: \pi - \varphi \approx \frac{2\pi |v|^2}{\eta\, |w^*|\, |a_s \cdot a^*|\, t} ,

    with the filter's length :math:`|v|`, the step :math:`\eta`, and :math:`a_s` the output weights of the spurious point.
    The landscape has one lane.
    """
    product = float(np.sum(landscape.best_outputs(0.0) * landscape.outputs))
    rate = step * float(np.squeeze(landscape.norm)) * abs(product)
    return 2 * math.pi * np.asarray(length) ** 2 / (rate * np.asarray(time))


def angle_of_overlap(overlap: float) -> float:
    r"""Return the angle at which :math:`g = (\pi - \varphi)\cos\varphi + \sin\varphi` has a value in [0, pi].

    Bisection on the supplement :math:`\psi`, in which :math:`g = \sin\psi - \psi\cos\psi` grows from 0.
    """
    low, high = 0.0, math.pi
    while (middle := 0.5 * (low + high)) not in (low, high):
        # below 1e-2 the two terms cancel; there the series is exact to 1e-16
        cube = middle**3 / 3 * (1 - middle**2 / 10 * (1 - middle**2 / 28))
        below = (cube if middle < 1e-2 else math.sin(middle) - middle * math.cos(middle)) < overlap
        low, high = (middle, high) if below else (low, middle)
    return math.pi - middle
