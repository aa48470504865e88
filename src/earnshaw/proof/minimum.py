r"""Proving a spurious minimum: the bounds, and the radii they allow.

With :math:`\epsilon \ge |\nabla F(W_0)|`, :math:`\lambda \le \lambda_{\min}` and :math:`L = L(R)` on the ball of
``unique_radius`` R, the theorem at the top of ``proof/trusted/relu_claims.py`` needs

.. math:: R L(R) < \lambda, \qquad \lambda^2 > 2 L \epsilon, \qquad
          \frac{2 \epsilon}{\lambda + \sqrt{\lambda^2 - 2 L \epsilon}} < r \le R, \qquad
          F(W_0) - \frac{\epsilon^2}{2 (\lambda - L r)} > 0 .
"""

from dataclasses import dataclass
from math import inf, pi, sqrt
from typing import Any

import numpy as np
from flint import arb

from earnshaw.proof.balls import down, up
from earnshaw.proof.doubles import DoubleMatrix, double_extension
from earnshaw.proof.eigen import EigenBound, guess_least, prove_least
from earnshaw.proof.trusted.balls import norm
from earnshaw.proof.trusted.relu import Point

BACKOFF = 2.0**-10  # R_unique stays this far, relatively, below the largest radius the inequality allows


class Missed(Exception):
    """An inequality of the theorem does not hold; the message says which, by how much, and what would help."""


@dataclass(frozen=True)
class Minimum:
    """The numbers of a proved minimum, each on the safe side; `lam` covers M when `extension` is there."""

    gradient: float
    value_ge: float
    value_le: float
    hessian: EigenBound
    extension: EigenBound | None
    lipschitz: float
    inner: float
    outer: float
    mu: float

    @property
    def lam(self) -> float:
        """The lambda of the theorem."""
        return self.hessian.lower if self.extension is None else min(self.hessian.lower, self.extension.lower)

    def sections(self, bits: int) -> dict[str, Any]:
        """Return the sections of a `minimum` certificate; `basin` and `robust` add theirs."""
        return {
            "R_enclosure": self.inner,
            "R_unique": self.outer,
            "claims": {
                "grad_norm_le": self.gradient,
                "lambda_min_ge": self.hessian.lower,
                "lambda_ext_ge": None if self.extension is None else self.extension.lower,
                "hess_lipschitz_le": self.lipschitz,
                "mu_ge": self.mu,
                "F_ge": self.value_ge,
                "F_le": self.value_le,
            },
            "hint": {
                "precision": bits,
                "shift": self.hessian.shift,
                "shift_ext": None if self.extension is None else self.extension.shift,
            },
        }


class LipschitzGuess:
    """L(radius, delta) in floats, for searching only; infinite when the ball reaches a zero neuron."""

    def __init__(self, point: Point) -> None:
        lengths = np.array([float(length) for length in point.length])
        self.students, self.k = lengths[: point.n], point.k
        self.others = np.sum(lengths) - self.students
        self.shortest = float(np.min(self.students))

    def __call__(self, radius: float, delta: float = 0.0) -> float:
        """Return L."""
        if radius >= self.shortest:
            return inf
        n, rho = self.students.size, self.students - radius
        bend = 3 * sqrt(3) / (4 * pi) * (self.others + ((n - 1) * radius + self.k * delta)) / (rho * rho)
        return float(np.max(np.hypot(bend, 3 * sqrt(n - 1) / pi / rho)))

    def widest(self, lam: float, delta: float = 0.0) -> float:
        """Return nearly the largest R with R L(R) < lam; 0 when lam is not positive."""
        low, high = 0.0, min(self.shortest, max(lam, 0.0) / self(0.0, delta))
        for _ in range(40):
            middle = 0.5 * (low + high)
            if middle * self(middle, delta) < lam:
                low = middle
            else:
                high = middle
        return low


def prove_minimum(point: Point, hessian: DoubleMatrix, guess: float, *, every_dimension: bool = True) -> Minimum:
    """Prove that a spurious minimum lies at `point`, whose Hessian's smallest eigenvalue is about `guess`.

    Raises Missed when an inequality fails. `every_dimension` asks for M as well; when M does not allow the proof, the
    minimum is proved in dimension d alone.
    """
    bound = prove_least(hessian, guess)
    if bound is None or not bound.lower > 0:
        raise Missed(
            f"lambda_min > 0 missed: the smallest eigenvalue is about {guess:.3g} and its proved bound "
            f"{'is missing' if bound is None else f'{bound.lower:.3g}'}; the point is a saddle or degenerate"
        )
    extension = _extension(point) if every_dimension else None
    if extension is None or not extension.lower > 0:
        return _radii(point, bound, None)
    try:
        return _radii(point, bound, extension)
    except Missed:
        if extension.lower >= bound.lower:
            raise
        return _radii(point, bound, None)


def _extension(point: Point) -> EigenBound | None:
    matrix = double_extension(point)
    return prove_least(matrix, guess_least(matrix.entries))


def _radii(point: Point, bound: EigenBound, extension: EigenBound | None) -> Minimum:
    """Choose the radii and check every inequality in balls."""
    eps = up(norm(point.gradient().entries()))
    lam = bound.lower if extension is None else min(bound.lower, extension.lower)
    outer = LipschitzGuess(point).widest(lam) * (1 - BACKOFF)
    if not outer > 0:
        raise Missed(
            f"R L(R) < lambda missed for every R: lambda >= {lam:.3g}, shortest neuron {float(point.shortest()):.3g}"
        )
    lip = up(point.lipschitz(arb(outer), arb(0)))
    slack = arb(lam) ** 2 - 2 * arb(lip) * arb(eps)
    if not slack > 0:
        raise Missed(
            f"lambda^2 > 2 L eps missed: lambda >= {lam:.3g}, L <= {lip:.3g}, |gradient| <= {eps:.3g}, which should be "
            f"below {lam * lam / (2 * lip):.3g}; polish the point, or run gradient descent longer"
        )
    least = 2 * arb(eps) / (arb(lam) + slack.sqrt())
    inner = max(up(least * (1 + arb(BACKOFF))), outer * 2.0**-200)
    if not (arb(eps) - arb(lam) * arb(inner) + arb(lip) * arb(inner) ** 2 / 2 < 0 and 4 * inner < outer):
        raise Missed(
            f"eps - lambda r + L r^2/2 < 0 missed with room to spare: r = {inner:.3g} against R_unique = {outer:.3g}; "
            f"the gradient at the point, {eps:.3g}, is too large: polish it"
        )
    if not arb(lam) - arb(lip) * arb(outer) > 0:
        raise Missed(
            f"lambda - L R > 0 missed by {lip * outer - lam:.3g} at R = {outer:.3g}; more precision would help"
        )
    mu = down(arb(lam) - arb(lip) * arb(inner))
    value = point.value()
    value_ge = down(value - arb(eps) ** 2 / (2 * arb(mu)))
    if not value_ge > 0:
        raise Missed(
            f"F > 0 missed: F at the point is {float(value):.3g} and F >= {value_ge:.3g} at the minimum; "
            f"this is the neighbourhood of a global minimum, so nothing spurious is there to prove"
        )
    return Minimum(eps, value_ge, up(value), bound, extension, lip, inner, outer, mu)
